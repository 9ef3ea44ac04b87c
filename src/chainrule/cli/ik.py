"""`chainrule ik`: joint positions for a pose, a point or an orientation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
import numpy as np
from rich.table import Table

from chainrule.arguments import Array
from chainrule.cli.console import (
    Numbers,
    OneOf,
    command,
    degrees_option,
    json_option,
    plain,
    print_json,
    robot_options,
    terminal,
)
from chainrule.cli.joints import (
    CONFIGURATION,
    JointValues,
    coordinate_units,
    describe_positions,
    in_shown_units,
    positions,
)
from chainrule.inverse_kinematics.methods import METHODS
from chainrule.inverse_kinematics.result import REASONS, InverseKinematics
from chainrule.spatial import Rotation

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

EXIT_NOT_SOLVED = 1


@command(
    "chainrule ik panda --xyz 0.4,0.1,0.5",
    "chainrule ik panda --xyz 0.4,0.1,0.5 --rpy 180,0,0 --degrees",
    "chainrule ik ur5 --xyz 0.3,0.2,0.4 --rpy 0,1.5,0 --all --json      # every solution in closed form",
    failure="the target was not reached, and the nearest place is printed",
    keywords={
        "limits=False": "--ignore-limits",
        "robot.inverse_kinematics solves it numerically": "leave out --all to solve it numerically",
    },
)
@click.option("--xyz", type=Numbers(3), help="Where to, in m, in the base frame.")
@click.option("--rpy", type=Numbers(3), help="Roll, pitch and yaw to reach, in rad; any orientation if left out.")
@click.option("--q0", type=CONFIGURATION, help="Where the search begins: numbers, names, or a configuration's name.")
@click.option("--link", help="A link or frame; the end-effector if left out.")
@click.option("--method", default="lm", show_default=True, type=OneOf("method", METHODS), help="How to search.")
@click.option("--all", "every_branch", is_flag=True, help="All solutions in closed form, for arms that have one.")
@click.option("--ignore-limits", is_flag=True, help="Let joints go beyond their limits.")
@degrees_option
@json_option
@robot_options
def ik(
    robot: Robot,
    xyz: Array | None,
    rpy: Array | None,
    q0: JointValues | None,
    link: str | None,
    method: str,
    every_branch: bool,
    ignore_limits: bool,
    degrees: bool,
    as_json: bool,
) -> None:
    """Joint positions that bring the end-effector, or a link or frame, where it is wanted."""
    target, task = target_of(xyz, rpy, degrees)
    if every_branch:
        if task != "pose":
            raise click.UsageError("--all lists the solutions for a whole pose: give --xyz and --rpy")
        solved = _print_branches(robot, target, link, degrees=degrees, as_json=as_json)
    else:
        start = positions(robot, q0, degrees=degrees)
        answer = robot.inverse_kinematics(target, start, link, method, limits=not ignore_limits, task=task)
        solved = bool(answer.success)
        _print_solution(robot, answer, link, degrees=degrees, as_json=as_json)
    if not solved:
        sys.exit(EXIT_NOT_SOLVED)


def target_of(xyz: Array | None, rpy: Array | None, degrees: bool) -> tuple[Array, str]:
    """The pose, point or orientation to reach, and the name of the task."""
    if xyz is None and rpy is None:
        raise click.UsageError("say where to: --xyz for a position in m, --rpy for an orientation, or both")
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
        facts = {"robot": robot.name, "link": robot.link(link), "success": len(solutions) > 0}
        print_json({**facts, **describe_positions(robot, solutions, degrees=degrees)})
    elif len(solutions):
        terminal().print(_table(robot, solutions, degrees))
    else:
        terminal().print("no solution")
    return len(solutions) > 0


def _print_solution(robot: Robot, answer: InverseKinematics, link: str | None, *, degrees: bool, as_json: bool) -> None:
    """Print the joint positions that an iteration reached, and how far from the target they are."""
    distance, angle = (float(x) for x in answer.error)
    turned = float(np.degrees(angle)) if degrees else angle
    if as_json:
        facts = {
            "robot": robot.name, "link": robot.link(link), "success": bool(answer.success),
            **describe_positions(robot, answer.q, degrees=degrees), "error": [distance, turned],
            "error_units": ["m", "deg" if degrees else "rad"], "iterations": int(answer.iterations),
            "reason": str(answer.reason),
        }  # fmt: skip
        print_json(facts)
        return
    console = terminal()
    console.print(_table(robot, answer.q[None], degrees))
    unit = "deg" if degrees else "rad"
    apart = f"{distance:.2g} m and {turned:.2g} {unit} away, {int(answer.iterations)} iterations"
    failure = f"not solved, {REASONS[str(answer.reason)]}; this is the nearest: {apart}"
    console.print(f"solved: {apart}" if answer.success else failure)


def _table(robot: Robot, solutions: Array, degrees: bool) -> Table:
    """A row for each coordinate, a column for each solution."""
    numbers = [f"solution {k + 1}" for k in range(len(solutions))] if len(solutions) > 1 else ["q"]
    table = Table("joint", "unit", *numbers, box=None, padding=(0, 1, 0, 0))
    shown = in_shown_units(robot, solutions, degrees=degrees)
    units = coordinate_units(robot, degrees=degrees)
    for k, (name, unit) in enumerate(zip(robot.layout.coordinate_names, units, strict=True)):
        table.add_row(plain(name), unit, *(f"{x: .6f}" for x in shown[:, k]))
    return table
