"""Inverse kinematics as the command line asks for it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ShapeError
from chainrule.inverse_kinematics.result import REASONS
from chainrule.spatial import Rotation

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot


def target_of(xyz: Array | None, rpy: Array | None, degrees: bool) -> tuple[Array, str]:
    """The pose, point or orientation that is asked for, and the task that it makes."""
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


def report(
    robot: Robot,
    xyz: Array | None,
    rpy: Array | None,
    q0: Array | None,
    link: str | None,
    method: str,
    every_branch: bool,
    ignore_limits: bool,
    degrees: bool,
    as_json: bool,
) -> bool:
    """Solve and print; whether it was solved."""
    from chainrule.cli.console import in_radians

    target, task = target_of(xyz, rpy, degrees)
    if every_branch:
        if task != "pose":
            raise ShapeError("--all lists the solutions for a whole pose: give --xyz and --rpy")
        branches = robot.analytic_inverse_kinematics(target, link)
        found = branches.q[branches.valid]
        print(json.dumps(found.tolist()) if as_json else _lines(robot, found, degrees))
        return len(found) > 0
    start = None if q0 is None else in_radians(robot, q0) if degrees else q0
    answer = robot.inverse_kinematics(target, start, link, method, limits=not ignore_limits, task=task)
    solved = bool(answer.success)
    if as_json:
        facts = {
            "success": solved, "q": answer.q.tolist(), "error": answer.error.tolist(),
            "iterations": int(answer.iterations), "reason": str(answer.reason),
        }  # fmt: skip
        print(json.dumps(facts))
        return solved
    print(_lines(robot, answer.q[None], degrees))
    apart = f"{answer.error[0]:.2g} m and {answer.error[1]:.2g} rad away, {int(answer.iterations)} iterations"
    print(f"solved: {apart}" if solved else f"not solved, {REASONS[str(answer.reason)]}; this is the nearest: {apart}")
    return solved


def _lines(robot: Robot, solutions: Array, degrees: bool) -> str:
    if not len(solutions):
        return "no solution"
    flat = [joint.kind.nq == joint.kind.nv for joint in robot.model.moving for _ in range(joint.kind.nq)]
    units = [u for joint in robot.model.moving for u in (*joint.kind.units, *[""] * (joint.kind.nq - joint.kind.nv))]
    turned = [degrees and plain and unit == "rad" for plain, unit in zip(flat, units, strict=True)]
    shown = np.where(turned, np.degrees(solutions), solutions)
    return "\n".join(" ".join(f"{x: .6f}" for x in row) for row in shown)
