"""Iterations on a batch of starts: compiled into one loop, or the same text on NumPy arrays."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from chainrule.arguments import Array
from chainrule.compile.load import engine
from chainrule.compile.program import Outliner
from chainrule.compile.rollout import Rollout
from chainrule.functions.reference import scalars_of
from chainrule.inverse_kinematics.methods import FAR, SUMMARY, Problem, iteration
from chainrule.spatial import Scalar

SHARE_AT_FIRST = 0.3
"""The damping's share of the cost, for starts that may be far off."""


Scalars = Sequence[Scalar]
Text = Callable[[Scalars, Scalars], list[Scalar]]
"""One iteration: the state after it, from the state and the parameters."""


class Iterate(Protocol):
    """What iterates."""

    def __call__(self, state: Array, parameters: Array, iterations: int) -> None:
        """Move states (rows, state) on by so many iterations, in place, with parameters (rows, count)."""


class Compiled:
    """The loop over iterations and rows as machine code."""

    def __init__(self, text: Text, state: int, parameters: int, label: str) -> None:
        outliner = Outliner((parameters, state, 0))
        given, before, _ = outliner.inputs
        self.rollout = Rollout(outliner.finished(text(before, given)), 0, engine.vector_bits() // 64, label)

    def __call__(self, state: Array, parameters: Array, iterations: int) -> None:
        """In place, as machine code."""
        if len(state):
            nothing = np.zeros((len(state), 1, 0))
            self.rollout(state, np.ascontiguousarray(parameters), nothing, iterations, iterations, nothing)


class Inline:
    """The same text on NumPy arrays, iteration by iteration."""

    def __init__(self, text: Text) -> None:
        self.text = text

    def __call__(self, state: Array, parameters: Array, iterations: int) -> None:
        """In place, on arrays."""
        given = scalars_of(parameters)
        with np.errstate(all="ignore"):
            for _ in range(iterations if len(state) else 0):
                for i, value in enumerate(self.text(scalars_of(state.copy()), given)):
                    state[:, i] = value


LARGEST = 40
"""Velocities beyond which straight-line code would take too long to make."""
KEPT = 16
_built: OrderedDict[Any, Any] = OrderedDict()
_building = threading.Lock()


def kept(key: Any, build: Callable[[], Any]) -> Any:
    """What was built for this key; the last few stay at hand."""
    with _building:
        if key not in _built:
            _built[key] = build()
        _built.move_to_end(key)
        while len(_built) > KEPT:
            _built.popitem(last=False)
        return _built[key]


def iterating(problem: Problem, text: Text, state: int, parameters: int, name: str, print_: str | None) -> Iterate:
    """What iterates with a text: compiled for the robot of this fingerprint, or, without one, inline."""
    if print_ is None or problem.n > LARGEST:
        return Inline(text)
    label = problem.model.name
    built: Compiled = kept((print_, problem.goals, name), lambda: Compiled(text, state, parameters, label))
    return built


def solver(problem: Problem, print_: str | None) -> Iterate:
    """What iterates with the problem's method."""

    def text(state: Scalars, parameters: Scalars) -> list[Scalar]:
        return iteration(problem, state, parameters)

    return iterating(problem, text, problem.state, problem.parameters, problem.method, print_)


def started(problem: Problem, q: Array) -> Array:
    """States before the first iteration, from configurations (rows, nq)."""
    nq = problem.model.nq
    state = np.zeros((len(q), problem.state))
    state[:, :nq] = q
    state[:, nq : nq + SUMMARY] = FAR, FAR, SHARE_AT_FIRST, 0.0
    if problem.method != "lm":
        state[:, nq + SUMMARY :] = q
    return state
