"""`chainrule show`: a robot in 3-D, in one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from chainrule.cli.console import (
    OutputFile,
    command,
    degrees_option,
    json_option,
    print_json,
    report_files,
    robot_options,
)
from chainrule.cli.joints import CONFIGURATION, JointValues, positions

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot


@command(
    "chainrule show panda panda.html                             # at home",
    "chainrule show panda panda.html --q panda_joint4=-90 --degrees --dark",
    "chainrule show panda panda.html --json",
)
@click.option("--q", type=CONFIGURATION, help="Positions in rad or m: numbers, names, or a configuration's name.")
@click.option("--dark", is_flag=True, help="A dark page.")
@degrees_option
@json_option
@robot_options
@click.argument("page", type=OutputFile(".html"))
def show(robot: Robot, page: str, q: JointValues | None, dark: bool, degrees: bool, as_json: bool) -> None:
    """Write a robot in 3-D, to be turned and zoomed, to one HTML file that needs no server."""
    robot.show(positions(robot, q, degrees=degrees), page, dark=dark)
    if as_json:
        print_json({"robot": robot.name, "written": [page]})
    report_files(page)
