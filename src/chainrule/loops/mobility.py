"""What closed loops leave of a robot's degrees of freedom: ranks, redundant equations, independent joints."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from chainrule.arguments import Array

RANK = 1e-7
"""A row counts as independent when more than so much of it, relative to its length, is new."""


@dataclass(frozen=True)
class Mobility:
    """How a mechanism can move in one configuration.

    `dof` degrees of freedom are left of those of the `joints`, `rank` being the number of independent equations among
    the `equations` of its constraints. `redundant` has the name of a constraint for each equation that the others
    imply; `independent_joints` are joints whose velocities can be chosen and settle all others.
    """

    dof: int
    rank: int
    joints: int
    equations: int
    redundant: tuple[str, ...]
    independent_joints: tuple[str, ...]

    def __str__(self) -> str:
        plural = "degree" if self.dof == 1 else "degrees"
        lines = [f"{self.dof} {plural} of freedom: the joints have {self.joints}, less {self.rank} equations"]
        if self.redundant:
            counts = ", ".join(f"{count} of {name!r}" for name, count in Counter(self.redundant).items())
            lines.append(f"redundant equations: {counts}")
        lines.append(f"independent joints: {', '.join(self.independent_joints)}" if self.dof else "it cannot move")
        return "\n".join(lines)


def independent_rows(A: Array, order: list[int] | None = None) -> tuple[int, ...]:
    """Rows of a matrix that are independent, chosen greedily in the given order (Gram-Schmidt, each row twice)."""
    basis: list[Array] = []
    rows: list[int] = []
    lengths = np.linalg.norm(A, axis=1)
    for k in range(len(A)) if order is None else order:
        if lengths[k] <= RANK * lengths.max(initial=0.0):
            continue
        rest = A[k] / lengths[k]
        for _ in range(2):
            for b in basis:
                rest = rest - (rest @ b) * b
        left = np.linalg.norm(rest)
        if left > RANK:
            basis.append(rest / left)
            rows.append(k)
    return tuple(sorted(rows))


def motions(G: Array) -> Array:
    """A basis of the velocities that keep the loops closed, G v = 0: its columns."""
    _, s, Vt = np.linalg.svd(G) if len(G) else (None, np.zeros(0), np.eye(G.shape[1]))
    rank = int((s > RANK * s.max(initial=0.0)).sum())
    return Vt[rank:].T


def mobility(G: Array, owners: list[str], velocities: list[str], preferred: list[int]) -> Mobility:
    """From G, the constraint of each of its rows, the name of each of its columns, and the columns to prefer."""
    rows = independent_rows(G)
    N = motions(G[list(rows)])
    others = [i for i in range(len(velocities)) if i not in preferred]
    settled = independent_rows(N, [*preferred, *others]) if N.shape[1] else ()
    redundant = tuple(owner for k, owner in enumerate(owners) if k not in rows)
    names = tuple(velocities[i] for i in settled)
    return Mobility(N.shape[1], len(rows), len(velocities), len(owners), redundant, names)
