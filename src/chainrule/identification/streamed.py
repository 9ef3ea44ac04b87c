"""Least squares over more samples than memory holds: triangular factors of the torques' equations, joint by joint.

The rows of one joint have a factor R of their own, so that weights of joints, and gains of their motors, cost nothing
anew. Rows come in blocks, whose factors are stacked and factored again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.algorithms.regressor import axes
from chainrule.arguments import Array
from chainrule.core.evaluation import evaluate
from chainrule.identification.unknowns import Unknowns
from chainrule.parameters.regressor import regressor
from chainrule.parameters.vector import names

BLOCK = 1000
"""States whose regressor is in memory at once."""

PIECE = 125
"""Rows that are factored or multiplied at once: so few that OpenBLAS does it in one thread. With several, on a machine
that has other work, it was 20 to 300 times slower (two cores, 45 columns)."""

ROUNDING = 1e-13
"""The share of the longest direction of a sample below which a direction is rounding."""

STACKED = 16
"""Factors of blocks that are stacked before they are factored again."""


class RecordedSamples(NamedTuple):
    """A stretch of a recording: states and torques (T, n), and where torques count (T, nv)."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    counts: NDArray[np.bool_]
    """True where a torque is to be explained."""
    motion: int
    """The number of the recording."""

    def blocks(self, size: int = BLOCK) -> Iterator[RecordedSamples]:
        """The stretch in pieces."""
        for i in range(0, len(self.q), size):
            yield self.at(slice(i, i + size))

    def at(self, rows: Any) -> RecordedSamples:
        """Some of the samples."""
        return RecordedSamples(
            self.q[rows], self.qd[rows], self.qdd[rows], self.tau[rows], self.counts[rows], self.motion
        )


class TorqueEquations:
    """The equations of torques in base parameters b: tau = known + X b, with the columns that each joint has."""

    def __init__(self, unknowns: Unknowns, speeds: Sequence[float] = ()) -> None:
        self.unknowns = unknowns
        self.speeds = dict(zip(unknowns.stribeck, speeds, strict=True))
        columns, self.B = unknowns.base
        self.matrix = unknowns.matrix[:, columns]
        offsets = [unknowns.offset_of[x] for x in columns]
        robot = unknowns.robot
        q = np.random.default_rng(1).uniform(-1, 1, (20, robot.nq))
        for _, i in robot.model.quaternions:
            q[:, i : i + 4] /= np.linalg.norm(q[:, i : i + 4], axis=-1, keepdims=True)
        qd, qdd = np.random.default_rng(2).normal(size=(2, 20, robot.nv))
        Y = regressor(robot, q, qd, qdd)
        acts = abs(unknowns.columns(Y)[..., list(columns)]).max(axis=0) > 0
        self.of_joint = [np.flatnonzero(row) for row in acts]
        ends = np.cumsum([len(own) + 1 for own in self.of_joint]).tolist()
        self.slices = [slice(end - len(own) - 1, end) for end, own in zip(ends, self.of_joint, strict=True)]
        columns_of = [
            (k, column) for k, own in enumerate(self.of_joint) for column in (*self.matrix[:, own].T, unknowns.known)
        ]
        self.entries = tuple(
            tuple((k, int(p), float(column[p])) for p in np.flatnonzero(column)) for k, column in columns_of
        )
        self.ones = [
            self.slices[k].start + i
            for k, own in enumerate(self.of_joint)
            for i, b in enumerate(own)
            if offsets[b] == k
        ]

    def rows(self, block: RecordedSamples) -> list[Array]:
        """The columns X of each joint for a block, and behind them the torques of what is known (T, columns + 1)."""
        robot, state = self.unknowns.robot, {"q": block.q, "qd": block.qd, "qdd": block.qdd}
        if self.speeds:
            Y = self.with_stribeck(block)
            every = np.column_stack([*self.matrix.T, self.unknowns.known])
            rows = np.concatenate([Y[:, k] @ every[:, [*own, -1]] for k, own in enumerate(self.of_joint)], axis=-1)
        else:
            rows = evaluate(robot, "parameters.regressor", **state, entries=self.entries)[:, 0]
        rows[:, self.ones] = 1.0
        return [rows[:, place] for place in self.slices]

    def with_stribeck(self, block: RecordedSamples) -> Array:
        """The regressor for a block, with the Stribeck speeds of now."""
        Y = regressor(self.unknowns.robot, block.q, block.qd, block.qdd)
        for velocity, speed in self.speeds.items():
            self.put_stribeck(Y, velocity, speed, block.qd)
        return Y

    def put_stribeck(self, Y: Array, velocity: int, speed: float, qd: Array) -> None:
        """Put the columns of dry friction for another Stribeck speed into a regressor, those of one velocity."""
        for dry, static in self.friction_columns(velocity):
            both = Y[:, velocity, dry] + Y[:, velocity, static]
            share = np.exp(-((qd[:, velocity] / speed) ** 2))
            Y[:, velocity, dry], Y[:, velocity, static] = both * (1 - share), both * share

    def friction_columns(self, velocity: int) -> list[tuple[int, int]]:
        """The columns of Coulomb and break-away friction of one velocity, for each direction that has both."""
        robot = self.unknowns.robot
        (owner,) = (axis.name for axis in axes(robot.model) if axis.place == velocity)
        places = {name: i for i, name in enumerate(names(robot))}
        pairs = [(f"{owner}.coulomb{way}", f"{owner}.static{way}") for way in ("", "_negative")]
        return [(places[a], places[b]) for a, b in pairs if b in places]


class OrthogonalSums:
    """The factor of many rows [A r] by sums of products, which are faster than QR, to QR's digits.

    A sample has told the factor of A before. With T A's columns are nearly orthonormal, Z = A T, so that Z^T Z loses
    nothing; a direction that the sample hardly shows is made as long as the others, but not one that is rounding.
    """

    def __init__(self, sample: Array) -> None:
        size = np.linalg.norm(sample, axis=0)
        size[size == 0] = 1.0
        _, s, V = np.linalg.svd(sample / size)
        s = np.maximum(s, ROUNDING * s[0]) if s[0] else s + 1.0
        self.to, self.back = (V.T / s) / size[:, None], s[:, None] * V * size
        self.total = np.zeros((len(s) + 1, len(s) + 1))

    def products(self, A: Array, r: Array) -> Array:
        """The sums of products of more rows: what they add to `total`."""
        total = np.zeros_like(self.total)
        for columns, right in zip(pieces(A), pieces(r[:, None]), strict=True):
            Z = np.empty((*columns.shape[:2], len(total)))
            np.matmul(columns, self.to, out=Z[..., :-1])
            Z[..., -1:] = right
            total += (np.swapaxes(Z, -1, -2) @ Z).sum(axis=0)
        return total

    @property
    def factor(self) -> Array:
        """F with F^T F the sum for rows [A r]."""
        size = np.sqrt(np.diag(self.total))
        size[size == 0] = 1.0
        w, V = np.linalg.eigh(self.total / np.outer(size, size))
        F = np.sqrt(np.maximum(w, 0.0))[:, None] * V.T * size
        return np.column_stack([F[:, :-1] @ self.back, F[:, -1]])


def pieces(rows: Array) -> tuple[Array, Array]:
    """Rows (T, w) in pieces (k, PIECE, w), and the rest as one (1, T - k PIECE, w)."""
    k = len(rows) // PIECE
    return rows[: k * PIECE].reshape(k, PIECE, rows.shape[1]), rows[None, k * PIECE :]


class TriangularFactor:
    """The triangular factor R of rows [X t] of equations, to which rows are added: R^T R is the sum of theirs."""

    def __init__(self, width: int) -> None:
        self.width, self.rows = width, 0
        self.parts: list[Array] = []

    def add(self, rows: Array) -> None:
        """Add rows of equations (T, width)."""
        self.rows += len(rows)
        height = max(PIECE, 2 * self.width)
        whole = len(rows) // height * height
        self.parts.append(rows[whole:])
        if whole:
            self.parts.append(_merge(_factors(rows[:whole].reshape(-1, height, self.width))))
        if len(self.parts) >= STACKED:
            self.parts = [self.R]

    @property
    def R(self) -> Array:
        """The factor of all rows (width, width)."""
        padded = np.zeros((len(self.parts), max((len(part) for part in self.parts), default=0), self.width))
        for place, part in enumerate(self.parts):
            padded[place, : len(part)] = part
        return _merge(_factors(padded))


def _factors(pieces: Array) -> Array:
    """The triangular factors (k, width, width) of pieces of rows (k, T, width)."""
    width = pieces.shape[-1]
    if pieces.shape[1] < width:
        pieces = np.concatenate([pieces, np.zeros((len(pieces), width - pieces.shape[1], width))], axis=1)
    return np.asarray(np.linalg.qr(pieces, mode="r"))


def _merge(factors: Array) -> Array:
    """One factor of all rows, by pairs."""
    if not len(factors):
        return np.zeros(factors.shape[1:])
    while len(factors) > 1:
        odd = factors[len(factors) // 2 * 2 :]
        pairs = factors[: len(factors) // 2 * 2].reshape(-1, 2 * factors.shape[1], factors.shape[2])
        factors = np.concatenate([_factors(pairs), odd])
    return np.asarray(factors[0])
