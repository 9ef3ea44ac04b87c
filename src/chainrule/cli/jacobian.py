"""`chainrule jacobian`: the Jacobian of a link at a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from chainrule.algorithms.jacobians import FRAMES
from chainrule.cli.console import (
    ConsoleTable,
    OneOf,
    command,
    echo,
    json_option,
    link_option,
    print_json,
    robot_options,
    terminal,
)
from chainrule.cli.joints import CONFIGURATION, JointValues, describe_positions, positions
from chainrule.core.reading import find_link
from chainrule.errors import visible

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

ROWS = ("wx", "wy", "wz", "vx", "vy", "vz")
"""Rows of a Jacobian: angular and linear velocity."""


@command(
    "chainrule jacobian panda                                # at home",
    "chainrule jacobian planar_2r --q 0,90 --degrees",
    "chainrule jacobian ur5 --q home --frame body --link wrist_3_link --json",
)
@click.option("--q", type=CONFIGURATION, help="Positions in rad or m: numbers, names, or a configuration's name.")
@link_option
@click.option(
    "--frame",
    default="world",
    show_default=True,
    type=OneOf("frame", FRAMES),
    metavar="FRAME",
    help="world, of the link's origin in base axes; body, in its own axes; space, about the base's origin.",
)
@click.option("--degrees", is_flag=True, help="Angles are typed and printed in degrees; the Jacobian is in radians.")
@json_option
@robot_options
def jacobian(robot: Robot, q: JointValues | None, link: str | None, frame: str, degrees: bool, as_json: bool) -> None:
    """Jacobian of the end-effector, or of a link or frame: a row for each velocity, a column for each joint."""
    at = positions(robot, q, degrees=degrees)
    J, name = robot.jacobian(at, link, frame=frame), find_link(robot, link)
    joints = [velocity.name for velocity in robot.model.layout.velocities]
    if as_json:
        facts = {"robot": robot.name, "link": name, "frame": frame, **describe_positions(robot, at, degrees=degrees)}
        print_json({**facts, "rows": ROWS, "dofs": joints, "jacobian": J})
        return
    echo(f'Jacobian of {visible(name)} of {visible(robot.name)}, frame "{frame}"')
    table = ConsoleTable("row", "unit", *joints, names=2)
    for row, values in zip(ROWS, J, strict=True):
        table.add_row(row, "rad/s" if row[0] == "w" else "m/s", *(f"{round(x, 6) + 0.0: .6f}" for x in values))
    terminal().print(table)
