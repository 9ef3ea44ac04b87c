"""`chainrule manipulability`: how well a link can be moved from a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from chainrule.cli.console import (
    ConsoleTable,
    OneOf,
    command,
    degrees_option,
    echo,
    json_option,
    link_option,
    print_json,
    robot_options,
    terminal,
)
from chainrule.cli.joints import CONFIGURATION, JointValues, describe_positions, joint_lines, positions
from chainrule.core.reading import find_link
from chainrule.errors import visible

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

TASKS = ("pose", "position", "orientation")


@command(
    "chainrule manipulability panda                         # at home",
    "chainrule manipulability planar_2r --q 0,90 --degrees",
    "chainrule manipulability puma560 --q neutral --task position --json",
)
@click.option("--q", type=CONFIGURATION, help="Positions in rad or m: numbers, names, or a configuration's name.")
@link_option
@click.option(
    "--task",
    type=OneOf("task", TASKS),
    metavar="TASK",
    help="pose, position or orientation; what the robot's joints span if left out.",
)
@degrees_option
@json_option
@robot_options
def manipulability(
    robot: Robot, q: JointValues | None, link: str | None, task: str | None, degrees: bool, as_json: bool
) -> None:
    """Manipulability at a configuration: Yoshikawa's measure, singular values, and the ellipsoid of velocities."""
    at = positions(robot, q, degrees=degrees)
    name = find_link(robot, link)
    w, singular = float(robot.manipulability(at, link, task=task)), bool(robot.is_singular(at, link, task=task))
    values = robot.singular_values(at, link, task=task)
    shown = "orientation" if task == "orientation" else "position"
    ellipsoid = robot.analysis.ellipsoid(at, link, task=shown)
    if as_json:
        print_json({
            "robot": robot.name, "link": name, "task": task, **describe_positions(robot, at, degrees=degrees),
            "manipulability": w, "singular": singular, "singular_values": values,
            "ellipsoid": {"task": shown, "axes": ellipsoid.axes.T, "lengths": ellipsoid.lengths},
        })  # fmt: skip
        return
    echo(f"{visible(name)} of {visible(robot.name)}, at")
    echo(joint_lines(robot, at, degrees=degrees))
    echo(f"manipulability {w:.6g}{', singular' if singular else ''}")
    echo("singular values " + ", ".join(f"{x:.6g}" for x in values))
    unit = "rad/s" if shown == "orientation" else "m/s"
    table = ConsoleTable("axis", f"length, {unit}", "x", "y", "z", title=f"Ellipsoid of velocities, {shown}, base axes")
    for k, (axis, length) in enumerate(zip(ellipsoid.axes.T, ellipsoid.lengths, strict=True)):
        table.add_row(str(k + 1), f"{length:.6g}", *(f"{round(x, 6) + 0.0: .6f}" for x in axis))
    terminal().print(table)
