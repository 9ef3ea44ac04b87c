"""`chainrule plan`: a motion through configurations and poses, within limits, around what is in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from chainrule.arguments import Array
from chainrule.cli.console import (
    MOTION,
    Numbers,
    OneOf,
    PositiveNumber,
    command,
    degrees_option,
    json_option,
    link_option,
    plot_option,
    print_json,
    report_files,
    robot_options,
    terminal,
)
from chainrule.cli.ik import target_of
from chainrule.cli.joints import (
    CONFIGURATION,
    JointValues,
    coordinate_units,
    in_shown_units,
    joint_table,
    positions,
    velocities_in_shown_units,
    velocity_units,
)
from chainrule.control.motions import planning
from chainrule.control.motions.curves import METHODS
from chainrule.robot.library import load
from chainrule.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from chainrule.control.motions.references import Reference
    from chainrule.robot.robot import Robot


DIGITS = 12
"""Decimals of saved positions: those of joints that stand still are all the same then."""


@command(
    "chainrule plan panda --to 0.5,-0.5,0,-2,0,1.8,0.5",
    "chainrule plan panda --from home --to panda_joint1=0.5 --to panda_joint4=-1.5 --method time_optimal",
    "chainrule plan panda --xyz 0.5,0.2,0.4 --rpy 3.14,0,0 --clearance 0.01 --seed 1 --json",
    "chainrule plan panda --to panda_joint1=0.5 --world scene.urdf --time-limit 20",
    "chainrule plan ur5 --to shoulder_pan_joint=90 --degrees --acceleration 2 --save motion.csv",
    keywords={
        "time_limit=...": "--time-limit",
        "limits=False": "--ignore-limits",
        "clearance=...": "--clearance",
        "world=...": "--world",
        "seed=...": "--seed",
        "turns=True": "--turns",
        "turns=...": "--turns",
        "acceleration=...": "--acceleration",
        "method=...": "--method",
    },
)
@click.option("--from", "start", type=CONFIGURATION, help="Where it begins: numbers, names, or a configuration's name.")
@click.option("--to", "through", type=CONFIGURATION, multiple=True, help="Where it goes; given again, what comes next.")
@click.option("--xyz", type=Numbers(3), help="A pose to go to in the end: its position in m, with --rpy.")
@click.option("--rpy", type=Numbers(3), help="Its roll, pitch and yaw.")
@link_option
@click.option("--world", "scene", metavar="FILE", help="Obstacles: the bodies of a URDF, SDF or MJCF file.")
@click.option(
    "--clearance",
    type=float,
    metavar="M",
    help="The smallest distance of the robot from itself and from --world, in m.",
)
@click.option(
    "--method",
    type=OneOf("method", (*METHODS, "time_optimal")),
    metavar="NAME",
    help=f"The shape in time: {', '.join(METHODS)}, time_optimal.",
)
@click.option(
    "--duration", type=PositiveNumber("seconds"), help="Seconds it takes; as few as the limits allow if left out."
)
@click.option("--acceleration", type=float, metavar="LIMIT", help="The largest acceleration, in rad/s^2 or m/s^2.")
@click.option("--jerk", type=float, metavar="LIMIT", help="The largest jerk, in rad/s^3 or m/s^3.")
@click.option("--ignore-limits", is_flag=True, help="Do not look at the limits of positions and speeds.")
@click.option("--turns", is_flag=True, help="Joints may arrive whole turns away, where poses are the same.")
@click.option("--seed", type=int, default=0, show_default=True, help="Chooses what the search tries.")
@click.option(
    "--time-limit", type=PositiveNumber("seconds"), help="Seconds to search for a way, at most. [default: 10]"
)
@click.option(
    "--dt", default=0.01, show_default=True, type=PositiveNumber("seconds"), help="Seconds between two saved samples."
)
@degrees_option
@plot_option
@click.option("--save", type=MOTION, help="A file for the motion: .npz, .csv or .parquet.")
@json_option
@robot_options
def plan(
    robot: Robot,
    start: JointValues | None,
    through: tuple[JointValues, ...],
    xyz: Array | None,
    rpy: Array | None,
    link: str | None,
    scene: str | None,
    clearance: float | None,
    plot: str | None,
    save: str | None,
    dt: float,
    duration: float | None,
    ignore_limits: bool,
    degrees: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Plan a motion through configurations or to a pose, within limits, and around what is in the way."""
    points = [positions(robot, values, degrees=degrees) for values in (start, *through)]
    if xyz is not None or rpy is not None:
        if xyz is None or rpy is None:
            raise click.UsageError("a pose has a position and an orientation: give --xyz and --rpy")
        options["poses"] = target_of(xyz, rpy, degrees)[0][None]
        options["link"] = link
        clearance = 0.0 if clearance is None else clearance
    elif not through:
        raise click.UsageError("say where to: --to for a configuration, --xyz and --rpy for a pose")
    elif link is not None:
        raise click.UsageError("--link is the one that --xyz and --rpy are for")
    if clearance is None and scene is None and options["time_limit"] is not None:
        raise click.UsageError("--time-limit is for plans that keep clear: give --clearance or --world")
    world = None if scene is None else load(scene).bodies.as_world()
    motion = planning.plan(
        robot, np.stack(points), times=duration, limits=not ignore_limits, world=world, clearance=clearance, **options
    )
    _print(robot, motion, degrees=degrees, as_json=as_json)
    if plot or save:
        sampled = motion.sample(dt)
        recorded = Trajectory.from_samples(robot, sampled.t, sampled.q.round(DIGITS), smoothing=None)
        if plot:
            recorded.plot(plot)
        if save:
            recorded.save(save)
    report_files(plot, save)


def _print(robot: Robot, motion: Reference, *, degrees: bool, as_json: bool) -> None:
    """Print when the motion is where, and its largest speeds and accelerations."""
    layout = robot.model.layout
    q = in_shown_units(robot, motion.waypoints, degrees=degrees)
    speed, acceleration = (
        velocities_in_shown_units(robot, x, degrees=degrees) for x in (motion.peak.velocity, motion.peak.acceleration)
    )
    if as_json:
        print_json({
            "robot": robot.name, "duration": motion.duration, "times": motion.times,
            "coordinates": layout.coordinate_names, "units": coordinate_units(robot, degrees=degrees), "q": q,
            "dofs": layout.velocity_names, "velocity_units": velocity_units(robot, degrees=degrees),
            "largest_velocity": speed, "largest_acceleration": acceleration,
        })  # fmt: skip
        return
    console = terminal()
    console.print(f"a motion of {motion.duration:.6g} s")
    when = {f"{t:.4g} s": [f"{x: .6g}" for x in row] for t, row in zip(motion.times, q, strict=True)}
    console.print(joint_table("coordinate", layout.coordinate_names, coordinate_units(robot, degrees=degrees), when))
    largest = {"largest velocity": speed, "largest acceleration (/s)": acceleration}
    columns = {name: [f"{x:.6g}" for x in row] for name, row in largest.items()}
    console.print(joint_table("velocity", layout.velocity_names, velocity_units(robot, degrees=degrees), columns))
