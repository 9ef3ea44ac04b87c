"""Iterations on a batch of starts, each until it is solved or given up: one loop of the robot's backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from chainrule.arguments import Array
from chainrule.compile.backend import LoopShape, OutlinedCall, Traceable, WhileLoop, active
from chainrule.core.derived import backend_of
from chainrule.inverse_kinematics.methods import (
    SUMMARY_SIZE,
    UNKNOWN_COST,
    IterateSummary,
    SearchProblem,
    iteration,
    unknown_summary,
)
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import maximum, where

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

INITIAL_DAMPING_SHARE = 0.3
"""The ratio of damping and cost for starts that may be far off."""
ITERATIONS_TO_FIRST_CHECK, ITERATIONS_BETWEEN_CHECKS = 9, 5
"""Iterations before the first check of what is solved, and between later checks."""
MAX_COST_RATIO = 0.3
"""A start is given up when its cost is more than this part of the cost at the check before."""
ANY_COST_RATIO = 1e300
"""The same for starts that are not given up."""
VISITS_PER_PAIR = 2.5
"""Visits of a body that the elimination of one pair of unknowns costs: of 40 unknowns, what is still compiled."""

Scalars = Sequence[Scalar]
Text = Callable[[Scalars, Scalars], list[Scalar]]
"""One iteration: the state after it, from the state and the parameters."""


class IterateProgress(NamedTuple):
    """The last numbers of the state: when a start is looked at, and whether it has ended."""

    left: Any
    """Iterations that are left."""
    to_check: Any
    """Iterations until the next check."""
    cost: Any
    """The cost at the check before."""
    max_ratio: Any
    """The ratio of costs at two checks beyond which the start is given up."""
    ended: Any
    """1 once it is solved, 2 once it is given up or out of iterations, else 0."""


class Iterate(Protocol):
    """A loop of iterations."""

    def __call__(self, state: Array, parameters: Array, steps: int) -> None:
        """Move states (rows, state) on by `steps` iterations, in place, with parameters (rows, count)."""


def iteration_cost(problem: SearchProblem) -> float:
    """Visits of bodies in one iteration."""
    return VISITS_PER_PAIR * problem.n**2


def iterations(problem: SearchProblem, text: Text, state: int, parameters: int, name: str, robot: Mechanism) -> Iterate:
    """The loop of a text, compiled or interpreted as the robot is."""

    def repeat(_: OutlinedCall, given: Scalars, before: Scalars, __: Scalars) -> list[Scalar]:
        return text(before, given)

    backend = active(backend_of(robot))
    key = (problem.key(robot), name) if backend.compiles else None
    shape = LoopShape(parameters, state)
    return backend.scan(Traceable(repeat, key, problem.model.name, name, iteration_cost(problem)), shape)


def solver(problem: SearchProblem, robot: Mechanism) -> WhileLoop:
    """The loop of the problem's method, which ends each start by itself; its states are those of `initial_state`."""

    def repeat(_: OutlinedCall, parameters: Scalars, state: Scalars, __: Scalars) -> list[Scalar]:
        return checked_iteration(problem, state, parameters)

    backend = active(backend_of(robot))
    key = (problem.key(robot), problem.method) if backend.compiles else None
    shape = LoopShape(problem.parameter_size, problem.state_size + len(IterateProgress._fields))
    source = Traceable(repeat, key, problem.model.name, problem.method, iteration_cost(problem))
    return backend.while_loop(source, shape)


def checked_iteration(problem: SearchProblem, state: Scalars, parameters: Scalars) -> list[Scalar]:
    """The state after one iteration, which is looked at after the 9th, the 14th, the 19th, and the last."""
    size, nq = problem.state_size, problem.model.nq
    after = iteration(problem, state[:size], parameters)
    summary, progress = IterateSummary(*after[nq : nq + SUMMARY_SIZE]), IterateProgress(*state[size:])
    left, to_check = progress.left - 1, progress.to_check - 1
    is_last = where(left > 0, 0.0, 1.0)
    is_due = maximum(is_last, where(to_check > 0, 0.0, 1.0)) > 0
    stalls = where(summary.cost > progress.max_ratio * progress.cost, 1.0, 0.0)
    ends = where(summary.miss <= 1, 1.0, 2 * maximum(is_last, stalls))
    now = IterateProgress(
        left,
        where(is_due, float(ITERATIONS_BETWEEN_CHECKS), to_check),
        where(is_due, summary.cost, progress.cost),
        progress.max_ratio,
        where(is_due, ends, 0.0),
    )
    return [*after, *now]


def blank_state(problem: SearchProblem, max_iterations: int, patient: bool = False) -> Array:
    """The state before the first iteration (state,), but for its start.

    Starts of the method "lm" are given up where they stall, unless patient.
    """
    nq, size = problem.model.nq, problem.state_size
    ratio = MAX_COST_RATIO if problem.method == "lm" and not patient else ANY_COST_RATIO
    state = np.zeros(size + len(IterateProgress._fields))
    state[nq : nq + SUMMARY_SIZE] = unknown_summary(INITIAL_DAMPING_SHARE)
    state[size:] = IterateProgress(max_iterations, ITERATIONS_TO_FIRST_CHECK, UNKNOWN_COST, ratio, 0.0)
    return state


def set_starts(problem: SearchProblem, state: Array, q: Array) -> None:
    """Write configurations (..., nq) into blank states (..., state); the textbook's methods remember them as well."""
    state[..., : problem.model.nq] = q
    if problem.method != "lm":
        state[..., problem.model.nq + SUMMARY_SIZE : problem.state_size] = q
