"""`chainrule pose`: the pose of a link, and how near a singularity is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import numpy as np

from chainrule.arguments import Array
from chainrule.cli.console import NUMBERS, echo, in_radians, load_robot, print_json, report_file
from chainrule.errors import ModelError, visible

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot


@click.command()
@click.argument("robot")
@click.option("--q", type=NUMBERS, help="Positions, rad or m; zero if left out.")
@click.option("--link", help="A link or frame; the end-effector if left out.")
@click.option("--order", default="rpy", show_default=True, help="Of the angles: rpy, or moving axes such as zyz.")
@click.option("--degrees", is_flag=True, help="Angles are in degrees, those that are printed too.")
@click.option("--plot", type=click.Path(dir_okay=False), help="A picture of the posture to write: .png, .pdf or .svg.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def pose(
    robot: str,
    q: Array | None,
    link: str | None,
    order: str,
    degrees: bool,
    plot: str | None,
    as_json: bool,
) -> None:
    """Pose of the end-effector, or of a link or frame: matrix, position and angles, and how near a singularity is."""
    loaded = load_robot(robot)
    at = loaded.neutral() if q is None else in_radians(loaded, q) if degrees else q
    print_pose(loaded, at, link, order, degrees=degrees, as_json=as_json)
    if plot:
        loaded.plot(at, plot, link=link, ellipsoids=("velocity",))
        report_file(plot)


def print_pose(robot: Robot, q: Array, link: str | None, order: str, *, degrees: bool, as_json: bool) -> None:
    """Print a pose as a matrix and as six numbers, and the manipulability there."""
    T, x = robot.pose(q, link), robot.pose_vector(q, link, order=order)
    name = robot.link(link)
    angles = np.degrees(x[3:]) if degrees else x[3:]
    unique = None if not np.isfinite(q).all() else not robot.angles_are_singular(q, link, order=order)
    w, singular = _manipulability(robot, q, link)
    if as_json:
        facts = {
            "robot": robot.name, "link": name, "pose": T.tolist(), "position": x[:3].tolist(), "order": order,
            "angles": angles.tolist(), "unit": "deg" if degrees else "rad", "angles_unique": unique,
            "manipulability": w, "singular": singular,
        }  # fmt: skip
        print_json(facts)
        return
    echo(f"{visible(name)} of {visible(robot.name)}, in the base frame")
    for row in T:
        echo("  " + _numbers(row, 11))
    echo("position  " + _numbers(x[:3]) + "  m")
    echo(f"{order:<9} " + _numbers(angles) + ("  deg" if degrees else "  rad"))
    if unique is False:
        echo(f"          these angles are not unique here; another order than {order!r} has no such place here")
    if w is not None:
        echo(f"manipulability {w:.6g}{', singular' if singular else ''}")


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
