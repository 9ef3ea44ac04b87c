"""`chainrule table`: the steps of a recursion link by link, as textbooks print them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from chainrule.cli.console import Numbers, OneOf, command, echo, json_option, print_json, robot_options
from chainrule.cli.joints import CONFIGURATION, JOINT_VALUES, JointValues, describe_positions, positions, velocities

if TYPE_CHECKING:
    from chainrule.arguments import Array
    from chainrule.robot.robot import Robot

FORMS: dict[str, Callable[..., Any]] = {
    "newton-euler": lambda robot, q, qd, qdd, wrench: robot.textbook.newton_euler_table(q, qd, qdd, tip_wrench=wrench),
    "rnea": lambda robot, q, qd, qdd, wrench: robot.textbook.rnea_table(q, qd, qdd, tip_wrench=wrench),
    "velocities": lambda robot, q, qd, qdd, wrench: robot.textbook.velocity_table(q, qd),
    "exponentials": lambda robot, q, qd, qdd, wrench: robot.textbook.exponential_table(q),
}
"""Form -> the table of a robot at a state."""


@command(
    "chainrule table planar_2r --q 0.3,0.6 --qd 1,2            # Craig's outward and inward iterations",
    "chainrule table panda --q ready --form rnea               # the same in twists and wrenches",
    "chainrule table planar_2r --q 30,60 --degrees --form velocities --json",
)
@click.option("--q", type=CONFIGURATION, help="Positions in rad or m: numbers, names, or a configuration's name.")
@click.option("--qd", type=JOINT_VALUES, help="Velocities in rad/s or m/s; zero if left out.")
@click.option("--qdd", type=JOINT_VALUES, help="Accelerations in rad/s^2 or m/s^2; zero if left out.")
@click.option(
    "--form",
    default="newton-euler",
    show_default=True,
    type=OneOf("form", FORMS),
    metavar="FORM",
    help="newton-euler, in vectors; rnea, in twists and wrenches; velocities; exponentials, at home and at q.",
)
@click.option(
    "--tip-wrench",
    type=Numbers(6),
    help="Moment (N m) and force (N) of the end-effector on its surroundings, base axes: 6 numbers.",
)
@click.option("--degrees", is_flag=True, help="Angles and their rates are typed in degrees; the table is in radians.")
@json_option
@robot_options
def table(
    robot: Robot,
    q: JointValues | None,
    qd: JointValues | None,
    qdd: JointValues | None,
    form: str,
    tip_wrench: Array | None,
    degrees: bool,
    as_json: bool,
) -> None:
    """Table of a recursion, link by link: velocities, accelerations, forces, moments and torques at a state."""
    if tip_wrench is not None and form not in ("newton-euler", "rnea"):
        raise click.UsageError(f"--tip-wrench belongs to the forms newton-euler and rnea, not to {form}")
    if (qd is not None or qdd is not None) and form == "exponentials":
        raise click.UsageError("--qd and --qdd are no part of the form exponentials")
    at = positions(robot, q, degrees=degrees)
    v, a = (velocities(robot, values, degrees=degrees) for values in (qd, qdd))
    found = FORMS[form](robot, at, v, a, tip_wrench)
    if as_json:
        parts = {name: value for name, value in vars(found).items() if not name.startswith("_")}
        units = parts.pop("units", {})
        facts = {"robot": robot.name, "form": form, **describe_positions(robot, at, degrees=degrees)}
        print_json({**facts, "column_units": dict(units), **parts})
    else:
        echo(found)
