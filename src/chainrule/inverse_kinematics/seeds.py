"""Random starts: of many random configurations, the one whose links come nearest to their targets.

Distances are computed in whole numbers, which a matrix product adds without rounding: a target's choice does not depend
on how many others are looked at together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.compile.backend import active
from chainrule.compile.runtime import memory_cache
from chainrule.core.derived import backend_of, merged_fingerprint
from chainrule.core.sampling import random_configurations
from chainrule.inverse_kinematics.goals import Goal
from chainrule.inverse_kinematics.measure import Measure
from chainrule.inverse_kinematics.methods import SearchProblem
from chainrule.lazy import cached_property

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

CANDIDATES_PER_START = 192
"""Random configurations that each start is chosen from."""
DISTANCES_AT_ONCE = 1 << 15
"""Distances computed at once, which stay in the cache of a processor."""
SETS_KEPT_JOINED = 112
"""Sets that are also kept side by side, as they are needed together: those of a hundred restarts."""
EXACT_BITS = 51
"""Bits of a sum of products that a double holds exactly, with two to spare."""


class Candidates(NamedTuple):
    """Random configurations, and what their distances from targets are computed from; sets side by side."""

    q: Array
    """Configurations (sets, count, nq)."""
    features: Array
    """Minus twice the numbers of their poses, as those of a target, in whole units; then the sum of their squares.

    (numbers + 1, sets * count); times a target's numbers and a one, its squared distances but for a constant.
    """


class Seeds:
    """Sets of random configurations, drawn when they are first needed."""

    def __init__(
        self,
        goals: tuple[Goal, ...],
        draw: Callable[[np.random.Generator, int], Array],
        numbers: Callable[[Array], Array],
        seed: int,
    ) -> None:
        self.goals, self.seed = goals, seed
        self._draw, self._numbers = draw, numbers
        self._sets: dict[int, tuple[Array, Array]] = {}
        self._joined: dict[tuple[int, int], Candidates] = {}

    def _set(self, k: int) -> tuple[Array, Array]:
        """Configurations of the k-th set (count, nq), and the numbers of their poses (count, numbers)."""
        if k not in self._sets:
            q = self._draw(np.random.default_rng((self.seed, k)), CANDIDATES_PER_START)
            self._sets[k] = q, self._numbers(q)
        return self._sets[k]

    def sets(self, first: int, count: int) -> tuple[Array, Array]:
        """Configurations of so many sets (sets, count, nq), and the numbers of their poses (sets, count, numbers)."""
        q, numbers = zip(*(self._set(k) for k in range(first, first + count)), strict=True)
        return np.stack(q), np.stack(numbers)

    def _candidates(self, first: int, count: int) -> Candidates:
        """So many sets, beginning with one of them."""
        if (first, count) in self._joined:
            return self._joined[first, count]
        q, numbers = self.sets(first, count)
        whole = self._whole(numbers.reshape(-1, numbers.shape[-1]))[:, :-1]
        found = Candidates(q, np.vstack([-2 * whole.T, (whole**2).sum(axis=1)]))
        if first + count <= SETS_KEPT_JOINED:
            self._joined[first, count] = found
        return found

    @cached_property
    def _largest(self) -> float:
        """The largest of the whole numbers, so that sums of their products are exact."""
        count = sum(goal.size for goal in self.goals)
        return float(2 ** ((EXACT_BITS - math.ceil(math.log2(count))) // 2))

    @cached_property
    def scales(self) -> Array:
        """Factors of the numbers, such that squared differences are about the cost.

        Entries of a rotation change twice for each angle.
        """
        scales: list[float] = []
        for goal in self.goals:
            rotation, position = max(goal.weights[:3]), max(goal.weights[3:])
            scales += {"full": [rotation / 2**0.5] * 9, "axis": [rotation] * 3, None: []}[goal.orientation]
            scales += [position] * 3 * goal.has_position
        return np.array(scales)

    @cached_property
    def _units(self) -> Array:
        """Whole numbers for one unit of each number; twice the largest numbers of the first set still fit."""
        size = np.abs(self._set(0)[1] * self.scales).max()
        return self.scales * (self._largest / 2 / (size if 0 < size < np.inf else 1.0))

    @cached_property
    def _range(self) -> tuple[Array, Array]:
        """The least and the greatest numbers that fit."""
        with np.errstate(divide="ignore"):
            most = self._largest / self._units
        return -most, most

    def _whole(self, numbers: Array) -> Array:
        """Numbers (..., numbers) in whole units, those beyond all sets at the largest, then 1: (..., numbers + 1)."""
        whole = np.ones((*numbers.shape[:-1], numbers.shape[-1] + 1))
        inside = np.minimum(numbers, self._range[1], out=whole[..., :-1])
        np.maximum(inside, self._range[0], out=inside)
        inside *= self._units
        np.rint(inside, out=inside)
        return whole

    def nearest_to_one(self, target: Array, count: int) -> Array:
        """Configurations nearest to one target (numbers,), one of each of so many first sets: (count, nq)."""
        q, features = self._candidates(0, count)
        distances = (self._whole(target) @ features).reshape(count, CANDIDATES_PER_START)
        return q[np.arange(count), distances.argmin(axis=1)]

    def nearest(self, targets: Array, first: int, count: int = 1) -> Array:
        """Configurations nearest to the targets (rows, numbers), one of each of so many sets: (count, rows, nq)."""
        q, features = self._candidates(first, count)
        size = max(1, DISTANCES_AT_ONCE // features.shape[1])
        if len(targets) > size:
            blocks = range(0, len(targets), size)
            return np.concatenate([self.nearest(targets[i : i + size], first, count) for i in blocks], axis=1)
        distances = self._whole(targets) @ features
        chosen = distances.reshape(-1, count, CANDIDATES_PER_START).argmin(axis=-1)
        return q[np.arange(count)[:, None], chosen.T]


def seeds_of(robot: Mechanism, problem: SearchProblem, seed: int) -> Seeds:
    """Random starts for the goals of a problem, of the robot's own numbers: good enough for starts."""

    def seeds() -> Seeds:
        measure = Measure(replace(problem, whole=None, opened=()), robot)
        anything = np.zeros((1, measure.problem.parameter_size))
        return Seeds(
            problem.goals,
            lambda rng, count: random_configurations(robot.model.layout, rng, (count,)),  # loops are closed on the way
            lambda q: measure(q, np.broadcast_to(anything, (len(q), anything.shape[1]))).numbers,
            seed,
        )

    compiles = active(backend_of(robot)).compiles
    return memory_cache.get_or_build((merged_fingerprint(robot), problem.goals, "seeds", seed, compiles), seeds)
