"""`chainrule show`: a robot on a page that computes, in one HTML file."""

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
@click.option("--dark/--light", default=None, help="A dark or a light page; as the browser wishes unless given.")
@degrees_option
@json_option
@robot_options
@click.argument("page", type=OutputFile(".html"))
def show(robot: Robot, page: str, q: JointValues | None, dark: bool | None, degrees: bool, as_json: bool) -> None:
    """Write a robot to one HTML file without server and network: joints dragged, torques, a simulation."""
    robot.show(positions(robot, q, degrees=degrees), page, dark=dark)
    if as_json:
        print_json({"robot": robot.name, "written": [page]})
    report_files(page)
