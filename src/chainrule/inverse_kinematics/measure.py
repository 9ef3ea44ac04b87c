"""Forward kinematics of a problem: errors of configurations, their limits, and the poses of their links as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.algorithms.kinematics import pose
from chainrule.arguments import Array
from chainrule.compile.backend import LoopShape, OutlinedCall, Scan, Traceable, active
from chainrule.core.derived import backend_of
from chainrule.inverse_kinematics.goals import goal_errors, goal_numbers
from chainrule.inverse_kinematics.methods import SearchProblem
from chainrule.inverse_kinematics.result import Truths
from chainrule.inverse_kinematics.rigid import bind_one_repetition
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import where

if TYPE_CHECKING:
    from collections.abc import Callable

    from chainrule.core.mechanism import Mechanism

Scalars = Sequence[Scalar]


class PoseErrors(NamedTuple):
    """Errors and poses of configurations (rows, nq)."""

    errors: Array
    """Errors of position and orientation of each goal, in m and rad: (rows, goals, 2)."""
    inside: Truths
    """Whether every coordinate is within its bounds: (rows,)."""
    numbers: Array
    """The numbers of targets where the links are: (rows, numbers)."""


class Measure:
    """The forward kinematics of a problem's goals; its parameters are those of an iteration."""

    def __init__(self, problem: SearchProblem, robot: Mechanism) -> None:
        self.problem = problem
        self.nq, self.goals = problem.model.nq, len(problem.goals)
        self.size = self.nq + 2 * self.goals + 1 + problem.goal_size
        backend = active(backend_of(robot))
        key = (problem.key(robot), "measure") if backend.compiles else None
        shape = LoopShape(problem.parameter_size, self.size)
        self.loop: Scan = backend.scan(Traceable(self._text, key, problem.model.name, "measure"), shape)

    def _text(self, _: OutlinedCall, parameters: Scalars, state: Scalars, ___: Scalars) -> list[Scalar]:
        q = state[: self.nq]
        problem = self.problem.at(parameters)
        __, lower, upper, targets = problem.split_parameters(parameters)
        inside: Scalar = 1.0
        for x, least, most in zip(q, lower, upper, strict=True):
            inside = where(x >= least, where(x <= most, inside, 0.0), 0.0)
        errors: list[Scalar] = []
        numbers: list[Scalar] = []
        for goal, target in zip(problem.goals, targets, strict=True):
            T = pose(problem.model, q, goal.link)
            errors += goal_errors(goal, T, target)
            numbers += goal_numbers(goal, T)
        return [*q, *errors, inside, *numbers]

    def __call__(self, q: Array, parameters: Array) -> PoseErrors:
        """Measure configurations (rows, nq), with parameters (rows, count)."""
        state = np.zeros((len(q), self.size))
        state[:, : self.nq] = q
        self.loop(state, parameters, 1)
        return self._split(state)

    def bind(self, state: Array, parameters: Array) -> Callable[[], None]:
        """A function that measures states (rows, size) where they are, with parameters that are read where they are."""
        return bind_one_repetition(self.loop, state, parameters)

    def _split(self, state: Array) -> PoseErrors:
        end = self.nq + 2 * self.goals
        return PoseErrors(state[:, self.nq : end].reshape(-1, self.goals, 2), state[:, end] > 0, state[:, end + 1 :])
