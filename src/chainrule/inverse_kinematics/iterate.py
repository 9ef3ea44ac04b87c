"""Iterations on a batch of starts: one loop of the robot's backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from chainrule.arguments import Array
from chainrule.compile.backend import Caller, LoopShape, active
from chainrule.inverse_kinematics.methods import SUMMARY_SIZE, Problem, iteration, unknown_summary
from chainrule.spatial import Scalar

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

INITIAL_DAMPING_SHARE = 0.3
"""The ratio of damping and cost for starts that may be far off."""

VISITS_PER_PAIR = 2.5
"""Visits of a body that the elimination of one pair of unknowns costs: of 40 unknowns, what is still compiled."""

Scalars = Sequence[Scalar]
Text = Callable[[Scalars, Scalars], list[Scalar]]
"""One iteration: the state after it, from the state and the parameters."""


class Iterate(Protocol):
    """A loop of iterations."""

    def __call__(self, state: Array, parameters: Array, steps: int) -> None:
        """Move states (rows, state) on by `steps` iterations, in place, with parameters (rows, count)."""


def iteration_cost(problem: Problem) -> float:
    """Visits of bodies in one iteration."""
    return VISITS_PER_PAIR * problem.n**2


def iterations(problem: Problem, text: Text, state: int, parameters: int, name: str, robot: Mechanism) -> Iterate:
    """The loop of a text, compiled or interpreted as the robot is."""

    def repeat(_: Caller, given: Scalars, before: Scalars, __: Scalars) -> list[Scalar]:
        return text(before, given)

    backend = active(robot.backend)
    key = (robot.merged_fingerprint, problem.goals, name) if backend.compiles else None
    shape = LoopShape(parameters, state)
    return backend.loop(repeat, shape, key, problem.model.name, name=name, cost=iteration_cost(problem))


def solver(problem: Problem, robot: Mechanism) -> Iterate:
    """The loop of the problem's method."""

    def text(state: Scalars, parameters: Scalars) -> list[Scalar]:
        return iteration(problem, state, parameters)

    return iterations(problem, text, problem.state_size, problem.parameter_size, problem.method, robot)


def initial_state(problem: Problem, q: Array) -> Array:
    """States before the first iteration, from configurations (rows, nq)."""
    nq = problem.model.nq
    state = np.zeros((len(q), problem.state_size))
    state[:, :nq] = q
    state[:, nq : nq + SUMMARY_SIZE] = unknown_summary(INITIAL_DAMPING_SHARE)
    if problem.method != "lm":
        state[:, nq + SUMMARY_SIZE :] = q
    return state
