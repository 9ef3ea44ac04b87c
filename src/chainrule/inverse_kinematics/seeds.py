"""Where to start from: of a few random configurations, the one whose links come nearest to their targets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.inverse_kinematics.goals import Goal

CHOICE = 192
"""Configurations to choose from, for each start."""
BLOCK = 64
"""Targets compared at once: always as many, so that a target's choice does not depend on its neighbours."""


class Seeds:
    """Sets of random configurations, drawn when they are first needed, with what tells how near a target is."""

    def __init__(
        self,
        goals: tuple[Goal, ...],
        draw: Callable[[np.random.Generator, int], Array],
        pose: Callable[[Array, str], Array],
        seed: int,
    ) -> None:
        self.goals, self.seed = goals, seed
        self._draw, self._pose = draw, pose
        self._sets: dict[int, tuple[Array, NDArray[np.float32], NDArray[np.float32]]] = {}

    def _set(self, k: int) -> tuple[Array, NDArray[np.float32], NDArray[np.float32]]:
        if k not in self._sets:
            q = self._draw(np.random.default_rng((self.seed, k)), CHOICE)
            parts = []
            for goal in self.goals:
                T = self._pose(q, goal.link)
                R = T[:, :3, :3]
                turned = {"whole": [R.reshape(-1, 9)], "axis": [R @ np.array(goal.axis)], None: []}[goal.turn]
                parts += [*turned, *([T[:, :3, 3]] if goal.places else [])]
            features = self._scaled(np.concatenate(parts, axis=-1))
            self._sets[k] = q, features.T.copy(), (features**2).sum(axis=1) / 2
        return self._sets[k]

    def _scaled(self, numbers: Array) -> NDArray[np.float32]:
        """Numbers whose squared differences are about the cost: entries of a rotation change twice for each angle."""
        scales: list[float] = []
        for goal in self.goals:
            turn, place = max(goal.weights[:3]), max(goal.weights[3:])
            scales += {"whole": [turn / 2**0.5] * 9, "axis": [turn] * 3, None: []}[goal.turn] + [
                place
            ] * 3 * goal.places
        with np.errstate(over="ignore"):
            return (numbers * scales).astype(np.float32)

    def nearest(self, targets: Array, k: int) -> Array:
        """The configurations of the k-th set that are nearest to the targets (rows, numbers): (rows, nq)."""
        q, features, squares = self._set(k)
        rows = -(-len(targets) // BLOCK) * BLOCK
        wanted = np.zeros((rows, targets.shape[1]), dtype=np.float32)
        wanted[: len(targets)] = self._scaled(targets)
        chosen = np.empty(rows, dtype=np.int64)
        for start in range(0, rows, BLOCK):
            part = slice(start, start + BLOCK)
            chosen[part] = (squares - wanted[part] @ features).argmin(axis=1)
        return q[chosen[: len(targets)]]
