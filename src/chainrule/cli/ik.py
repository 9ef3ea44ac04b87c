"""`chainrule ik`: joint positions for a pose, a point or an orientation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
import numpy as np

from chainrule.arguments import Array
from chainrule.cli.console import NUMBERS, echo, in_degrees, in_radians, load_robot, print_json
from chainrule.errors import ShapeError
from chainrule.inverse_kinematics.result import REASONS, InverseKinematics
from chainrule.spatial import Rotation

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

EXIT_NOT_SOLVED = 2


@click.command()
@click.argument("robot")
@click.option("--xyz", type=NUMBERS, help="Where to, in m, in the base frame.")
@click.option("--rpy", type=NUMBERS, help="Roll, pitch and yaw to reach; any orientation if left out.")
@click.option("--q0", type=NUMBERS, help="Where the search begins; anywhere if left out.")
@click.option("--link", help="A link or frame; the end-effector if left out.")
@click.option("--method", default="lm", show_default=True, help="lm, newton, pseudo_inverse or transpose.")
@click.option("--all", "every_branch", is_flag=True, help="All solutions in closed form, for arms that have one.")
@click.option("--ignore-limits", is_flag=True, help="Let joints go beyond their limits.")
@click.option("--degrees", is_flag=True, help="Angles are in degrees, those that are printed too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def ik(
    robot: str,
    xyz: Array | None,
    rpy: Array | None,
    q0: Array | None,
    link: str | None,
    method: str,
    every_branch: bool,
    ignore_limits: bool,
    degrees: bool,
    as_json: bool,
) -> None:
    """Joint positions that bring the end-effector, or a link or frame, where it is wanted. Exits with 2 if none do."""
    loaded = load_robot(robot)
    target, task = target_of(xyz, rpy, degrees)
    if every_branch:
        if task != "pose":
            raise ShapeError("--all lists the solutions for a whole pose: give --xyz and --rpy")
        solved = _print_branches(loaded, target, link, degrees=degrees, as_json=as_json)
    else:
        start = None if q0 is None else in_radians(loaded, q0) if degrees else q0
        answer = loaded.inverse_kinematics(target, start, link, method, limits=not ignore_limits, task=task)
        solved = bool(answer.success)
        _print_solution(loaded, answer, degrees=degrees, as_json=as_json)
    if not solved:
        sys.exit(EXIT_NOT_SOLVED)


def target_of(xyz: Array | None, rpy: Array | None, degrees: bool) -> tuple[Array, str]:
    """The pose, point or orientation to reach, and the name of the task."""
    for name, value in (("--xyz", xyz), ("--rpy", rpy)):
        if value is not None and len(value) != 3:
            raise ShapeError(f"{name} takes three numbers, got {len(value)}")
    if xyz is None and rpy is None:
        raise ShapeError("say where to: --xyz for a position in m, --rpy for an orientation, or both")
    if rpy is None:
        return np.asarray(xyz), "position"
    angles = np.radians(rpy) if degrees else rpy
    T = np.eye(4)
    T[:3, :3] = [list(row) for row in Rotation.from_rpy(*(float(a) for a in angles))]
    if xyz is None:
        return T[:3, :3], "orientation"
    T[:3, 3] = xyz
    return T, "pose"


def _print_branches(robot: Robot, target: Array, link: str | None, *, degrees: bool, as_json: bool) -> bool:
    """Print all solutions in closed form; whether there are any."""
    branches = robot.analytic_inverse_kinematics(target, link)
    solutions = branches.q[branches.valid]
    if as_json:
        print_json(solutions.tolist())
    else:
        echo(_lines(robot, solutions, degrees))
    return len(solutions) > 0


def _print_solution(robot: Robot, answer: InverseKinematics, *, degrees: bool, as_json: bool) -> None:
    """Print the joint positions that an iteration reached, and how far from the target they are."""
    if as_json:
        facts = {
            "success": bool(answer.success), "q": answer.q.tolist(), "error": answer.error.tolist(),
            "iterations": int(answer.iterations), "reason": str(answer.reason),
        }  # fmt: skip
        print_json(facts)
        return
    echo(_lines(robot, answer.q[None], degrees))
    apart = f"{answer.error[0]:.2g} m and {answer.error[1]:.2g} rad away, {int(answer.iterations)} iterations"
    failure = f"not solved, {REASONS[str(answer.reason)]}; this is the nearest: {apart}"
    echo(f"solved: {apart}" if answer.success else failure)


def _lines(robot: Robot, solutions: Array, degrees: bool) -> str:
    """A line of numbers for each solution."""
    if not len(solutions):
        return "no solution"
    shown = in_degrees(robot, solutions) if degrees else solutions
    return "\n".join(" ".join(f"{x: .6f}" for x in row) for row in shown)
