"""`chainrule plot`: a picture of a robot in a posture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from chainrule.cli.console import (
    PICTURE,
    command,
    degrees_option,
    json_option,
    link_option,
    print_json,
    report_files,
    robot_options,
)
from chainrule.cli.joints import CONFIGURATION, JointValues, positions

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot


@command(
    "chainrule plot panda panda.png                              # at home",
    "chainrule plot panda panda.svg --q panda_joint4=-90 --degrees",
    "chainrule plot panda panda.png --json",
)
@click.option("--q", type=CONFIGURATION, help="Positions in rad or m: numbers, names, or a configuration's name.")
@link_option
@degrees_option
@json_option
@robot_options
@click.argument("picture", type=PICTURE)
def plot(robot: Robot, picture: str, q: JointValues | None, link: str | None, degrees: bool, as_json: bool) -> None:
    """Picture of a robot in a posture: .png, .pdf or .svg."""
    robot.plot(positions(robot, q, degrees=degrees), picture, link=link)
    if as_json:
        print_json({"robot": robot.name, "written": [picture]})
    report_files(picture)
