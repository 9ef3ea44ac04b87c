"""One iteration of Levenberg and Marquardt's method that remembers no Jacobian, for devices with few registers.

It is the method of `methods`, but for two things. Where a step does not lower the cost, a shorter one in the same
direction is tried next, so that the last place and the step are all that an iteration needs to know. And where there
are fewer equations than unknowns, the step comes from the smaller system

    d = J^T y,  (J J^T + damping 1) y = e

which has full rank where J^T J has not: in single precision the damping alone would not make up for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.inverse_kinematics.bounds import Bounds
from chainrule.inverse_kinematics.iterate import INITIAL_DAMPING_SHARE, MAX_COST_RATIO
from chainrule.inverse_kinematics.methods import (
    DAMPING_DECREASE,
    DAMPING_INCREASE,
    MIN_DAMPING_SHARE,
    SearchProblem,
    free_to_move,
    residual,
)
from chainrule.inverse_kinematics.request import Tolerances
from chainrule.spatial import Scalar
from chainrule.spatial.linear import dot, solve_symmetric, transpose
from chainrule.spatial.scalar import maximum, where

Scalars = Sequence[Scalar]

MIN_DAMPING = {32: 1e-7, 64: 1e-11}
"""The smallest damping, by the bits of a number: it keeps a singular system solvable."""
STEP_DECREASE = 0.25
"""The factor of a step that did not lower the cost."""
UNKNOWN_COST = 1e30
"""The cost before anything is known: a number in single precision too, and so are its products with others."""
MAX_SQUARED_TOLERANCE = 1e30
"""The largest squared tolerance, for the same reason."""
ANY_COST_RATIO = 1e6
"""The ratio of costs at two checks beyond which starts are given up that are not given up."""
AIMED_TOLERANCE_RATIO = {32: 0.5, 64: 0.9}
"""The part of the tolerance that is aimed at, by the bits of a number, so that rounding does not undo a solution."""
ITERATIONS_TO_FIRST_CHECK, ITERATIONS_BETWEEN_CHECKS = 6, 4
"""Iterations before the first check of whether a start stalls, and between later checks."""


class DescentProgress(NamedTuple):
    """The last numbers of a state: the damping, when a start is looked at, and whether it has ended."""

    damping_share: Any
    """The ratio of damping and cost."""
    left: Any
    """Iterations that are left."""
    to_check: Any
    """Iterations until the next check."""
    checked_cost: Any
    """The cost at the check before."""
    ended: Any
    """1 once it is solved, 2 once it is given up or out of iterations, else 0."""


def lengths(problem: SearchProblem) -> tuple[int, int, int]:
    """Numbers of the three arguments of `descent`: those that all targets share, a target's own, and the state."""
    nq = problem.model.nq
    return 3 + 2 * nq, problem.goal_size, nq + 2 + problem.n + len(DescentProgress._fields)


def shared_numbers(bounds: Bounds, tolerances: Tolerances, patient: bool, bits: int) -> Array:
    """Squared tolerances, bounds as of `inner_bounds`, and the ratio of costs beyond which a start is given up."""
    distance, angle = tolerances
    ratio = AIMED_TOLERANCE_RATIO[bits]
    squared = (ratio * distance) ** 2, (2 * ratio * np.sin(min(angle, np.pi) / 2)) ** 2
    least = np.minimum(squared, MAX_SQUARED_TOLERANCE)
    return np.concatenate([least, *bounds, [ANY_COST_RATIO if patient else MAX_COST_RATIO]])


def inner_bounds(bounds: Bounds, bits: int) -> Bounds:
    """Bounds in numbers of so many bits, rounded inwards."""
    if bits == 64:
        return bounds
    lower, upper = (b.astype(np.float32) for b in bounds)
    lower = np.where(lower < bounds.lower, np.nextafter(lower, np.float32(np.inf)), lower)
    upper = np.where(upper > bounds.upper, np.nextafter(upper, np.float32(-np.inf)), upper)
    return Bounds(lower.astype(float), upper.astype(float))


def blank_state(problem: SearchProblem, max_iterations: int) -> Array:
    """The state before the first iteration, but for its start."""
    nq = problem.model.nq
    progress = DescentProgress(INITIAL_DAMPING_SHARE, max_iterations, ITERATIONS_TO_FIRST_CHECK, UNKNOWN_COST, 0.0)
    return np.array([*np.zeros(nq), UNKNOWN_COST, 0.0, *np.zeros(problem.n), *progress])


def descent(problem: SearchProblem, bits: int, shared: Scalars, target: Scalars, state: Scalars) -> list[Scalar]:
    """The state after one iteration: the configuration, its cost, iterations so far, next step, `DescentProgress`."""
    nq, n = problem.model.nq, problem.n
    tolerances, lower, upper, max_ratio = shared[:2], shared[2 : 2 + nq], shared[2 + nq : 2 + 2 * nq], shared[-1]
    q, cost, iterations = state[:nq], state[nq], state[nq + 1]
    step, progress = state[nq + 2 : nq + 2 + n], DescentProgress(*state[nq + 2 + n :])
    targets, at = [], 0
    for goal in problem.goals:
        targets.append(target[at : at + goal.size])
        at += goal.size
    tried = problem.step(q, step, lower, upper)
    there = residual(problem, tried, tolerances, targets)
    better = there.cost < cost
    share = where(
        better,
        maximum(progress.damping_share * DAMPING_DECREASE, MIN_DAMPING_SHARE),
        progress.damping_share * DAMPING_INCREASE,
    )
    columns = transpose(there.rows)
    g = [dot(column, there.error) for column in columns]
    free = free_to_move(problem, tried, g, lower, upper)
    columns = [[x * f for x in column] for column, f in zip(columns, free, strict=True)]
    g = [x * f for x, f in zip(g, free, strict=True)]
    next_step = damped_step(columns, there.error, g, share * there.cost + MIN_DAMPING[bits])
    lowest = where(better, there.cost, cost)
    left, to_check = progress.left - 1, progress.to_check - 1
    is_last = where(left > 0, 0.0, 1.0)
    is_due = to_check <= 0
    stalls = where(is_due, where(lowest > max_ratio * progress.checked_cost, 1.0, 0.0), 0.0)
    solved = where(better, where(there.miss <= 1, 1.0, 0.0), 0.0)
    return [
        *(where(better, b, a) for a, b in zip(q, tried, strict=True)),
        lowest,
        iterations + 1,
        *(where(better, b, STEP_DECREASE * a) for a, b in zip(step, next_step, strict=True)),
        share,
        left,
        where(is_due, float(ITERATIONS_BETWEEN_CHECKS), to_check),
        where(is_due, lowest, progress.checked_cost),
        where(solved > 0, 1.0, 2 * maximum(is_last, stalls)),
    ]


def damped_step(columns: list[list[Scalar]], error: Scalars, g: Scalars, damping: Scalar) -> list[Scalar]:
    """The step d of Levenberg and Marquardt for the columns of J, the error e, and g = J^T e."""
    rows = transpose(columns)
    if len(rows) < len(columns):
        A = [[dot(a, b) for b in rows] for a in rows]
        y = solve_symmetric(_with_damping(A, damping), error)
        return [dot(column, y) for column in columns]
    return solve_symmetric(_with_damping([[dot(a, b) for b in columns] for a in columns], damping), g)


def _with_damping(A: list[list[Scalar]], damping: Scalar) -> list[list[Scalar]]:
    return [[x + damping if i == j else x for j, x in enumerate(row)] for i, row in enumerate(A)]
