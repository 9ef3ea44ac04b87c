"""What is lost in a singular configuration, and which joints have lined up."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from chainrule.arguments import Array
from chainrule.kinematics.tasks import decomposed

MOST = 20_000
"""Sets of joints that are tried in search of those that have lined up."""


@dataclass(frozen=True)
class Singularity:
    """A configuration, and what can not be done in it.

    `rank` directions are left of the `full_rank` that the frame has nearly everywhere. `lost` (k, 6) are unit twists
    (omega, v), in base axes at the frame's origin, that no joint velocity makes here; the same numbers as wrenches are
    those that the structure carries without any torque. `joints` are the fewest whose screws depend on each other, and
    `motion` (n) the joint velocities, the largest one 1, with which they move nothing.
    """

    singular: bool
    part: str
    rank: int
    full_rank: int
    singular_values: Array
    lost: Array
    joints: tuple[str, ...]
    motion: Array

    def __str__(self) -> str:
        if not self.singular:
            least = self.singular_values[self.full_rank - 1]
            return f"not singular: rank {self.rank}, smallest singular value {least:.4g}"
        lines = [f"singular: rank {self.rank} instead of {self.full_rank}"]
        for twist in self.lost:
            numbers = ", ".join(f"{x:.4g}" for x in twist + 0.0)
            lines.append(f"lost twist (omega, v): ({numbers})")
        ratios = ", ".join(f"{rate + 0.0:.4g}" for rate in self.motion)
        return "\n".join(
            [*lines, f"joints that have lined up: {', '.join(self.joints)}", f"no motion at qd = ({ratios})"]
        )


def lost_directions(J: Array, rate: Array, rank: int, missing: int) -> Array:
    """Directions (missing, m) that J does not have and that a small move, at which J changes by `rate`, gives back."""
    U, _, _ = decomposed(J)
    outside = U[:, rank:]
    back, _, _ = decomposed(outside.T @ rate)
    return _signed((outside @ back[:, :missing]).T)


def dependent_columns(J: Array, tolerance: float) -> tuple[tuple[int, ...], Array]:
    """The fewest columns of J that depend on each other, and the coefficients (n) with which they cancel."""
    n = J.shape[1]
    largest = float(np.linalg.norm(J, 2))
    for size in range(1, n + 1):
        if comb(n, size) > MOST:
            break
        for columns in combinations(range(n), size):
            _, s, Vt = np.linalg.svd(J[:, columns])
            if size > len(s) or s[-1] <= tolerance * largest:
                return columns, _spread(Vt[-1], columns, n)
    _, _, Vt = decomposed(J)
    return tuple(int(i) for i in np.flatnonzero(np.abs(Vt[-1]) > tolerance)), _spread(Vt[-1], range(n), n)


def _spread(coefficients: Array, columns: tuple[int, ...] | range, n: int) -> Array:
    motion = np.zeros(n)
    motion[list(columns)] = coefficients / coefficients[np.abs(coefficients).argmax()]
    return motion


def _signed(rows: Array) -> Array:
    """Each row with its largest entry positive, and dust swept off."""
    largest = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
    return np.where(np.abs(rows) < 1e-14, 0.0, rows * np.sign(largest)[:, None])
