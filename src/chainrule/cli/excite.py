"""`chainrule excite`: a motion from which a robot's parameters can be found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from chainrule.cli.console import (
    MOTION,
    OneOf,
    PositiveNumber,
    command,
    echo,
    json_option,
    print_json,
    progress,
    report_files,
    robot_options,
)
from chainrule.identification import excitation as library
from chainrule.robot.library import load
from chainrule.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot


@command(
    "chainrule excite planar_3r --duration 5 --velocity 2 --starts 1        # compared with random motions",
    "chainrule excite planar_2r --velocity 2 --acceleration 10 --starts 1 --save excite.csv --rate 100",
    "chainrule excite planar_2r --velocity 2 --starts 1 --harmonics 3 --json",
    keywords={"velocity=...": "--velocity", "acceleration=...": "--acceleration", "torque=False": "--no-torque-limits"},
)
@click.option("--duration", default=10.0, show_default=True, type=PositiveNumber("seconds"), help="Seconds in all.")
@click.option("--periods", default=1, show_default=True, type=click.IntRange(1), help="Whole periods in that time.")
@click.option("--harmonics", default=5, show_default=True, type=click.IntRange(2), help="Frequencies in a period.")
@click.option("--shape", default="fourier", show_default=True, type=OneOf("shape", library.SHAPES))
@click.option("--criterion", default="condition", show_default=True, type=OneOf("criterion", library.CRITERIA))
@click.option("--velocity", type=PositiveNumber("rad/s"), help="A limit besides the robot's own, in rad/s or m/s.")
@click.option("--acceleration", type=PositiveNumber("rad/s^2"), help="A limit in rad/s^2 or m/s^2.")
@click.option("--no-torque-limits", is_flag=True, help="Let torques exceed the joints' effort limits.")
@click.option("--world", "scene", metavar="FILE", help="Obstacles: the bodies of a URDF, SDF or MJCF file.")
@click.option(
    "--clearance",
    type=float,
    metavar="M",
    help="The smallest distance of the robot from itself and from --world, in m.",
)
@click.option("--starts", default=8, show_default=True, type=click.IntRange(1), help="Random motions to begin from.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Chooses them.")
@click.option("--save", type=MOTION, help="A file for the motion: .npz, .csv or .parquet.")
@click.option("--rate", default=1000.0, show_default=True, type=PositiveNumber("Hz"), help="Samples a second in it.")
@json_option
@robot_options
def excite(
    robot: Robot, save: str | None, rate: float, no_torque_limits: bool, scene: str | None, as_json: bool,
    **options: object,
) -> None:  # fmt: skip
    """Find a periodic motion within limits that shows masses, inertias and friction best."""
    world = None if scene is None else load(scene).bodies.as_world()
    torque = False if no_torque_limits else None
    with progress("searching"):
        motion = library.excite(robot, torque=torque, world=world, **options)  # type: ignore[arg-type]
    if save:
        sampled = motion.sample(1 / rate)
        Trajectory.from_samples(robot, sampled.t, sampled.q, smoothing=None).save(save)
    if as_json:
        print_json(
            {
                "robot": robot.name, "duration": motion.duration, "period": motion.period,
                "condition": motion.condition, "log_determinant": motion.log_determinant,
                "random_conditions": [c for c, _ in motion.random],
                "share_of_limits": dict(zip(("position", "speed", "acceleration", "torque"), motion.use, strict=True)),
            }
        )  # fmt: skip
    else:
        echo(str(motion))
    report_files(save)
