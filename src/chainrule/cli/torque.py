"""`chainrule torque`: joint torques of a state by their causes, or of a recorded motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import numpy as np

from chainrule.algorithms.loads import WRENCH_FRAMES
from chainrule.arguments import Array
from chainrule.cli.console import (
    MOTION,
    PICTURE,
    ConsoleTable,
    Numbers,
    OneOf,
    command,
    degrees_option,
    json_option,
    print_json,
    robot_options,
    terminal,
)
from chainrule.cli.joints import (
    CONFIGURATION,
    JOINT_VALUES,
    JointValues,
    describe_positions,
    force_units,
    positions,
    velocities,
)

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

ROUNDING = 1e-13
"""Terms below this share of the largest term are printed as zero."""


@command(
    "chainrule torque panda                                # what holds it at home",
    "chainrule torque planar_2r --q 30,45 --degrees --qd 10,0 --qdd 0,90",
    "chainrule torque panda --q panda_joint4=-2 --qd panda_joint1=1",
    "chainrule torque ur5 --tip-wrench 0,0,0,0,0,-20 --json",
    "chainrule torque ur5 --tip-wrench 0,0,0,0,0,-20 --frame world   # presses down on a table",
    "chainrule torque panda --motion run.csv --degrees     # a column for each joint, and one of times",
)
@click.option("--q", type=CONFIGURATION, help="Positions in rad or m: numbers, names, or a configuration's name.")
@click.option("--qd", type=JOINT_VALUES, help="Velocities in rad/s or m/s; zero if left out.")
@click.option("--qdd", type=JOINT_VALUES, help="Accelerations in rad/s^2 or m/s^2; zero if left out.")
@click.option(
    "--tip-wrench", type=Numbers(6),
    help="Moment (N m) and force (N) of the end-effector on its surroundings, about its origin: 6 numbers.",
)  # fmt: skip
@click.option(
    "--frame", default="world", show_default=True, type=OneOf("frame", WRENCH_FRAMES), metavar="FRAME",
    help="The axes of that wrench: world, the base's; body, the end-effector's own; space, about the base's origin.",
)  # fmt: skip
@click.option("--motion", type=click.Path(dir_okay=False), help="A recorded motion: .csv, .txt, .mot, .parquet, .npz.")
@click.option("--column", "columns", multiple=True, metavar="JOINT=COLUMN", help="The column of a joint in --motion.")
@click.option(
    "--constant",
    multiple=True,
    metavar="JOINT=NUMBER",
    help="A joint without column in --motion: rad or m; or home, neutral: all of them.",
)
@click.option("--cutoff", type=float, help="Frequency in Hz above which a recorded motion is noise; found if left out.")
@click.option("--plot", type=PICTURE, help="A picture of a recorded motion to write.")
@click.option("--save", type=MOTION, help="A file for a recorded motion with its torques.")
@degrees_option
@json_option
@robot_options
def torque(
    robot: Robot,
    q: JointValues | None,
    qd: JointValues | None,
    qdd: JointValues | None,
    tip_wrench: Array | None,
    frame: str,
    motion: str | None,
    columns: tuple[str, ...],
    constant: tuple[str, ...],
    cutoff: float | None,
    plot: str | None,
    save: str | None,
    degrees: bool,
    as_json: bool,
) -> None:
    """Joint torques of a state, by their causes: inertial, centrifugal, Coriolis, gravity, friction.

    With --motion, the torques that a recorded motion takes: positions are smoothed and differentiated, and the notes
    say how. Angles without a unit in their heading are radians, unless --degrees says otherwise or limits contradict
    it.
    """
    if motion is not None:
        if any(value is not None for value in (q, qd, qdd)):
            raise click.UsageError("--motion has its own positions; leave out --q, --qd and --qdd")
        from chainrule.cli.motion_torques import DescribedMotion, report

        recording = DescribedMotion(motion, columns, constant, degrees or None, cutoff, tip_wrench, frame)
        report(robot, recording, save=save, plot=plot, as_json=as_json)
        return
    if columns or constant or any(value is not None for value in (cutoff, plot, save)):
        raise click.UsageError("--column, --constant, --cutoff, --plot and --save belong to --motion")
    at = positions(robot, q, degrees=degrees)
    v, a = (velocities(robot, values, degrees=degrees) for values in (qd, qdd))
    terms = _terms(robot, at, v, a, tip_wrench, frame)
    if as_json:
        names = list(robot.model.layout.velocity_names)
        place = describe_positions(robot, at, degrees=degrees)
        print_json({"robot": robot.name, **place, "dofs": names, "torque_units": force_units(robot), **terms})
    else:
        terminal().print(torque_table(robot, terms))


def _terms(robot: Robot, q: Array, qd: Array, qdd: Array, tip_wrench: Array | None, frame: str) -> dict[str, Array]:
    """The torque terms, with that of a wrench at the tip by its name."""
    terms = robot.torque_terms(q, qd, qdd, tip_wrench=tip_wrench, frame=frame)
    return {"tip wrench" if term == "external" else term: values for term, values in terms.items()}


def torque_table(robot: Robot, terms: dict[str, Array]) -> ConsoleTable:
    """A row for each degree of freedom, a column for each cause."""
    columns = [term for term, values in terms.items() if term != "spring" or values.any()]
    table = ConsoleTable("joint", "unit", *columns)
    smallest = ROUNDING * max((np.abs(values).max(initial=0.0) for values in terms.values()), default=0.0)
    for i, (name, unit) in enumerate(zip(robot.model.layout.velocity_names, force_units(robot), strict=True)):
        values = (f"{terms[term][i]: .5g}" if not abs(terms[term][i]) <= smallest else " 0" for term in columns)
        table.add_row(name, unit, *values)
    return table
