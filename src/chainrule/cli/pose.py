"""`chainrule pose`: the pose of a link, and how near a singularity is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from chainrule.algorithms.euler import ORDERS
from chainrule.arguments import Array
from chainrule.cli.console import (
    OneOf,
    command,
    degrees_option,
    echo,
    json_option,
    link_option,
    plot_option,
    print_json,
    report_files,
    robot_options,
)
from chainrule.cli.joints import CONFIGURATION, JointValues, describe_positions, joint_lines, positions
from chainrule.core.reading import find_link
from chainrule.errors import ModelError, visible

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot


@command(
    "chainrule pose panda                                     # at home",
    "chainrule pose panda --q 0,-0.5,0,-2.2,0,1.7,0.8",
    "chainrule pose panda --q panda_joint4=-90 --degrees      # the other joints at home",
    "chainrule pose planar_2r --q 0.3,0.6 --link link1 --json",
    "chainrule pose panda --plot panda.png",
)
@click.option("--q", type=CONFIGURATION, help="Positions in rad or m: numbers, names, or a configuration's name.")
@link_option
@click.option("--order", default="rpy", show_default=True, type=OneOf("order", ORDERS), metavar="ORDER",
              help="Of the angles: rpy, or moving axes such as zyz.")  # fmt: skip
@degrees_option
@plot_option
@json_option
@robot_options
def pose(
    robot: Robot,
    q: JointValues | None,
    link: str | None,
    order: str,
    degrees: bool,
    plot: str | None,
    as_json: bool,
) -> None:
    """Pose of the end-effector, or of a link or frame: matrix, position and angles, and how near a singularity is."""
    at = positions(robot, q, degrees=degrees)
    facts = describe(robot, at, link, order, degrees=degrees)
    if as_json:
        print_json(facts)
    else:
        print_pose(robot, at, facts, degrees=degrees)
    if plot:
        robot.plot(at, plot, link=link, ellipsoids=("velocity",))
        report_files(plot)


def describe(robot: Robot, q: Array, link: str | None, order: str, *, degrees: bool) -> dict[str, Any]:
    """The pose as a matrix and as six numbers, and the manipulability there."""
    T, x = robot.pose(q, link), robot.textbook.pose_vector(q, link, order=order)
    unique = None if not np.isfinite(q).all() else not robot.textbook.angles_are_singular(q, link, order=order)
    w, singular = _manipulability(robot, q, link)
    return {
        "robot": robot.name, "link": find_link(robot, link), **describe_positions(robot, q, degrees=degrees), "pose": T,
        "position": x[:3], "order": order, "angles": np.degrees(x[3:]) if degrees else x[3:],
        "unit": "deg" if degrees else "rad", "angles_unique": unique, "manipulability": w, "singular": singular,
    }  # fmt: skip


def print_pose(robot: Robot, q: Array, facts: dict[str, Any], *, degrees: bool) -> None:
    """Print a pose as a matrix and as six numbers, and the manipulability there."""
    order = facts["order"]
    echo(f"{visible(facts['link'])} of {visible(robot.name)}, in the base frame, at")
    echo(joint_lines(robot, q, degrees=degrees))
    echo("pose, position in m")
    for row in facts["pose"]:
        echo("  " + _numbers(row, 11))
    echo("position  " + _numbers(facts["position"]) + "  m")
    echo(f"{order:<9} " + _numbers(facts["angles"]) + f"  {facts['unit']}")
    if facts["angles_unique"] is False:
        echo(f"          these angles are not unique here; another order than {order!r} has no such place here")
    if facts["manipulability"] is not None:
        echo(f"manipulability {facts['manipulability']:.6g}{', singular' if facts['singular'] else ''}")


def _numbers(values: Array, width: int = 9) -> str:
    """Numbers with six digits, and no minus before what rounds to zero."""
    return " ".join(f"{round(float(value), 6) + 0.0: {width}.6f}" for value in values)


def _manipulability(robot: Robot, q: Array, link: str | None) -> tuple[float | None, bool | None]:
    """Manipulability of a link and whether it is singular; None where no joint moves it, or it is not finite."""
    try:
        w = float(robot.manipulability(q, link))
        return w, None if not np.isfinite(q).all() else bool(robot.is_singular(q, link))
    except ModelError:
        return None, None
