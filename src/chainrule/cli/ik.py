"""`chainrule ik`: joint positions for a pose, a point or an orientation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from chainrule.arguments import Array
from chainrule.cli.console import (
    NUMBERS,
    PICTURE,
    ConsoleTable,
    Numbers,
    OneOf,
    command,
    degrees_option,
    json_option,
    link_option,
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
    joint_table,
    positions,
    velocities_in_shown_units,
)
from chainrule.core.reading import find_link
from chainrule.inverse_kinematics.goals import TASKS
from chainrule.inverse_kinematics.history import IterationHistory
from chainrule.inverse_kinematics.methods import METHODS
from chainrule.inverse_kinematics.result import REASONS, InverseKinematics
from chainrule.spatial import Rotation

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

EXIT_NOT_SOLVED = 1


@command(
    "chainrule ik panda --xyz 0.4,0.1,0.5",
    "chainrule ik panda --xyz 0.4,0.1,0.5 --rpy 180,0,0 --degrees",
    "chainrule ik planar_2r --xyz 0,1.6,0 --q0 0.1,1 --method newton --history --plot newton.png",
    "chainrule ik ur5 --xyz 0.3,0.2,0.4 --rpy 0,1.5,0 --all --json      # every solution in closed form",
    failure="the target was not reached, and the nearest pose is printed",
    keywords={
        "limits=False": "--ignore-limits",
        "robot.inverse_kinematics solves it numerically": "leave out --all to solve it numerically",
        "history=True": "--history",
        "posture=...": "--posture",
        "weights": "--weights",
    },
)
@click.option("--xyz", type=Numbers(3), help="Where to, in m, in the base frame.")
@click.option("--rpy", type=Numbers(3), help="Roll, pitch and yaw to reach, in rad; any orientation if left out.")
@click.option(
    "--pose", type=Numbers(6), help="Both at once: x, y, z, roll, pitch, yaw, as `chainrule pose` prints them."
)
@click.option("--direction", type=Numbers(3), help="Where --axis is to point, in the base frame.")
@click.option("--axis", type=Numbers(3), help="The axis of the link that counts of its orientation; z if left out.")
@click.option("--task", type=OneOf("task", TASKS), help="What counts of the target; all of what is given, if left out.")
@click.option("--q0", type=CONFIGURATION, help="Where the search begins: numbers, names, or a configuration's name.")
@link_option
@click.option("--method", default="lm", show_default=True, type=OneOf("method", METHODS), help="How to search.")
@click.option("--weights", type=Numbers(6), help="How much each error counts: three of the rotation, three of xyz.")
@click.option("--tolerance", type=NUMBERS, help="The largest error, in m and rad: one number or two. [default: 1e-6]")
@click.option("--posture", type=CONFIGURATION, help="What a redundant arm comes near: a configuration, or center.")
@click.option("--restarts", type=int, help="Random starts after the first. [default: 100]")
@click.option("--max-iterations", type=int, help="Iterations from one start. [default: 60]")
@click.option("--seed", type=int, help="Chooses the random starts. [default: 0]")
@click.option("--history", is_flag=True, help="Print every iterate from --q0, with its error and step; no restarts.")
@click.option("--plot", type=PICTURE, help="Draw those iterates to a .png, .pdf or .svg file.")
@click.option("--all", "every_branch", is_flag=True, help="All solutions in closed form, for arms that have one.")
@click.option("--ignore-limits", is_flag=True, help="Let joints go beyond their limits.")
@degrees_option
@json_option
@robot_options
def ik(
    robot: Robot,
    xyz: Array | None,
    rpy: Array | None,
    pose: Array | None,
    direction: Array | None,
    axis: Array | None,
    task: str | None,
    q0: JointValues | None,
    link: str | None,
    method: str,
    weights: Array | None,
    tolerance: Array | None,
    posture: JointValues | None,
    restarts: int | None,
    max_iterations: int | None,
    seed: int | None,
    history: bool,
    plot: str | None,
    every_branch: bool,
    ignore_limits: bool,
    degrees: bool,
    as_json: bool,
) -> None:
    """Joint positions that bring the end-effector, or a link or frame, where it is wanted."""
    target, given = _target(xyz, rpy, pose, direction, degrees)
    chosen = task or given
    if chosen not in SUITABLE[given]:
        raise click.UsageError(f"--task {chosen} needs more of a target: give --xyz and --rpy, or --pose")
    if every_branch:
        if chosen != "pose":
            raise click.UsageError("--all lists the solutions for a whole pose: give --xyz and --rpy")
        solved = _print_branches(robot, target, link, degrees=degrees, as_json=as_json)
    else:
        options: dict[str, Any] = {
            "axis": axis, "weights": weights, "restarts": restarts, "max_iterations": max_iterations, "seed": seed,
            "tolerance": None if tolerance is None else tolerance if len(tolerance) > 1 else tolerance[0],
            "posture": _posture(robot, posture, degrees),
        }  # fmt: skip
        answer = robot.inverse_kinematics(
            target, positions(robot, q0, degrees=degrees), link, method=method, limits=not ignore_limits, task=chosen,
            history=history or plot is not None, **{name: x for name, x in options.items() if x is not None},
        )  # fmt: skip
        solved = bool(answer.success)
        if plot is not None and answer.history is not None:
            answer.history.plot(plot)
        _print_solution(robot, answer, link, degrees=degrees, as_json=as_json, history=history)
    if not solved:
        sys.exit(EXIT_NOT_SOLVED)


SUITABLE = {
    "pose": tuple(TASKS),
    "position": ("position",),
    "orientation": ("orientation", "pointing"),
    "pointing": ("pointing",),
}
"""What may count of a target, by what is given of it."""


def _target(
    xyz: Array | None, rpy: Array | None, pose: Array | None, direction: Array | None, degrees: bool
) -> tuple[Array, str]:
    """What is to be reached, and the name of the task."""
    if pose is not None:
        if xyz is not None or rpy is not None or direction is not None:
            raise click.UsageError("--pose has position and orientation: leave out --xyz, --rpy and --direction")
        return target_of(pose[:3], pose[3:], degrees)
    if direction is not None:
        if xyz is not None or rpy is not None:
            raise click.UsageError("--direction is a target of its own: leave out --xyz and --rpy")
        return direction, "pointing"
    return target_of(xyz, rpy, degrees)


def target_of(xyz: Array | None, rpy: Array | None, degrees: bool) -> tuple[Array, str]:
    """The pose, point or orientation to reach, and the name of the task."""
    if xyz is None and rpy is None:
        raise click.UsageError("say where to: --xyz for a position in m, --rpy for an orientation, or both")
    if rpy is None:
        return np.asarray(xyz), "position"
    angles = np.radians(rpy) if degrees else rpy
    largest = float(np.abs(angles).max())
    if not degrees and largest > 2 * np.pi:
        raise click.UsageError(
            f"--rpy: an angle is {largest:g} rad, more than one turn; if it is in degrees, give --degrees"
        )
    T = np.eye(4)
    T[:3, :3] = [list(row) for row in Rotation.from_rpy(*(float(a) for a in angles))]
    if xyz is None:
        return T[:3, :3], "orientation"
    T[:3, 3] = xyz
    return T, "pose"


def _posture(robot: Robot, posture: JointValues | None, degrees: bool) -> Array | str | None:
    """The posture to come near: a configuration, or the center of the limits."""
    if posture is None:
        return None
    if posture.configuration == "center" and not posture.named:
        return "center"
    return positions(robot, posture, degrees=degrees)


def _print_branches(robot: Robot, target: Array, link: str | None, *, degrees: bool, as_json: bool) -> bool:
    """Print all solutions in closed form; whether there are any."""
    branches = robot.ik.branches(target, link)
    solutions = branches.q[branches.valid]
    free = [
        [name for name, yes in zip(robot.coordinate_names, row, strict=True) if yes]
        for row in branches.free[branches.valid]
    ]
    if as_json:
        facts = {"robot": robot.name, "link": find_link(robot, link), "success": len(solutions) > 0, "free": free}
        print_json({**facts, **describe_positions(robot, solutions, degrees=degrees)})
    elif len(solutions):
        terminal().print(_table(robot, solutions, degrees))
        for number, names in enumerate(free, 1):
            if names:
                terminal().print(f"free in solution {number}: {plain(', '.join(names))}")
    else:
        terminal().print("no solution")
    return len(solutions) > 0


def _print_solution(
    robot: Robot, answer: InverseKinematics, link: str | None, *, degrees: bool, as_json: bool, history: bool
) -> None:
    """Print the joint positions that an iteration reached, how far from the target they are, and the way there."""
    distance, angle = (float(x) for x in answer.error)
    turned = float(np.degrees(angle)) if degrees else angle
    if as_json:
        facts = {
            "robot": robot.name, "link": find_link(robot, link), "success": bool(answer.success),
            **describe_positions(robot, answer.q, degrees=degrees), "error": [distance, turned],
            "error_units": ["m", "deg" if degrees else "rad"], "iterations": int(answer.iterations),
            "reason": str(answer.reason), "rank": answer.rank, "equations": answer.equations,
        }  # fmt: skip
        if history and answer.history is not None:
            facts["history"] = _history_facts(robot, answer.history, degrees)
        print_json(facts)
        return
    console = terminal()
    if history and answer.history is not None:
        console.print(_history_table(robot, answer.history, degrees))
    console.print(_table(robot, answer.q[None], degrees))
    unit = "deg" if degrees else "rad"
    apart = f"{distance:.2g} m and {turned:.2g} {unit} away, {int(answer.iterations)} iterations"
    failure = f"not solved, {REASONS[str(answer.reason)]}; this is the nearest: {apart}"
    console.print(f"solved: {apart}" if answer.success else failure)
    if answer.rank < answer.equations:
        console.print(f"of the task's {answer.equations} equations, {answer.rank} are independent on this robot")


def _history_facts(robot: Robot, history: IterationHistory, degrees: bool) -> dict[str, Any]:
    """Iterates, errors (m, rad or deg) and steps, for JSON."""
    scale = [1.0, 180.0 / np.pi if degrees else 1.0]
    q = in_shown_units(robot, history.q, degrees=degrees)
    steps = velocities_in_shown_units(robot, history.step, degrees=degrees)
    return {"q": q.tolist(), "error": (history.error * scale).tolist(), "step": steps.tolist()}


def _history_table(robot: Robot, history: IterationHistory, degrees: bool) -> ConsoleTable:
    """A row for each iterate: errors, size of the step that follows, joints."""
    facts = _history_facts(robot, history, degrees)
    unit = "deg" if degrees else "rad"
    names = robot.model.layout.coordinate_names
    table = ConsoleTable("iteration", "error, m", f"error, {unit}", "step", *names)
    sizes = [*(f"{np.linalg.norm(step):.3g}" for step in facts["step"]), ""]
    for k, (q, error) in enumerate(zip(facts["q"], facts["error"], strict=True)):
        table.add_row(str(k), *(f"{x:.3g}" for x in error), sizes[k], *(f"{x: .6f}" for x in q))
    return table


def _table(robot: Robot, solutions: Array, degrees: bool) -> ConsoleTable:
    """A row for each coordinate, a column for each solution."""
    numbers = [f"solution {k + 1}" for k in range(len(solutions))] if len(solutions) > 1 else ["q"]
    shown = in_shown_units(robot, solutions, degrees=degrees)
    columns = {number: [f"{x: .6f}" for x in q] for number, q in zip(numbers, shown, strict=True)}
    return joint_table("joint", robot.coordinate_names, coordinate_units(robot, degrees=degrees), columns)
