"""Random starts: of many random configurations, the one whose links come nearest to their targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.inverse_kinematics.goals import Goal

Singles = NDArray[np.float32]

CANDIDATES_PER_START = 192
"""Random configurations that each start is chosen from."""
TARGETS_PER_BLOCK = 64
"""Targets compared at once: always as many, so that a target's choice does not depend on its neighbors."""


class Candidates(NamedTuple):
    """Random configurations, and what their distances from targets are computed from."""

    q: Array
    """Configurations (count, nq)."""
    features: Singles
    """Scaled numbers of their poses, as those of a target: (numbers, count)."""
    half_squares: Singles
    """Half the squared length of each column of the features: (count,)."""


class Seeds:
    """Sets of random configurations, drawn when they are first needed."""

    def __init__(
        self,
        goals: tuple[Goal, ...],
        draw: Callable[[np.random.Generator, int], Array],
        pose: Callable[[Array, str], Array],
        seed: int,
    ) -> None:
        self.goals, self.seed = goals, seed
        self._draw, self._pose = draw, pose
        self._sets: dict[int, Candidates] = {}

    def _candidates(self, k: int) -> Candidates:
        """The k-th set."""
        if k not in self._sets:
            q = self._draw(np.random.default_rng((self.seed, k)), CANDIDATES_PER_START)
            poses = [self._pose(q, goal.link) for goal in self.goals]
            numbers = [
                goal.target_numbers(T[:, :3, :3], T[:, :3, 3]) for goal, T in zip(self.goals, poses, strict=True)
            ]
            features = self._scale(np.concatenate(numbers, axis=-1))
            self._sets[k] = Candidates(q, features.T.copy(), (features**2).sum(axis=1) / 2)
        return self._sets[k]

    def _scale(self, numbers: Array) -> Singles:
        """Numbers whose squared differences are about the cost: entries of a rotation change twice for each angle."""
        scales: list[float] = []
        for goal in self.goals:
            rotation, position = max(goal.weights[:3]), max(goal.weights[3:])
            scales += {"full": [rotation / 2**0.5] * 9, "axis": [rotation] * 3, None: []}[goal.orientation]
            scales += [position] * 3 * goal.has_position
        with np.errstate(over="ignore"):
            return (numbers * scales).astype(np.float32)

    def nearest(self, targets: Array, k: int) -> Array:
        """The configurations of the k-th set that are nearest to the targets (rows, numbers): (rows, nq)."""
        q, features, half_squares = self._candidates(k)
        rows = -(-len(targets) // TARGETS_PER_BLOCK) * TARGETS_PER_BLOCK
        padded = np.zeros((rows, targets.shape[1]), dtype=np.float32)
        chosen = np.empty(rows, dtype=np.int64)
        with np.errstate(over="ignore", invalid="ignore"):  # targets beyond single precision: any start will do
            padded[: len(targets)] = self._scale(targets)
            for start in range(0, rows, TARGETS_PER_BLOCK):
                block = slice(start, start + TARGETS_PER_BLOCK)
                chosen[block] = (half_squares - padded[block] @ features).argmin(axis=1)
        return q[chosen[: len(targets)]]
