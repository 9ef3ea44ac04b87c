"""Least squares over more samples than memory holds: triangular factors of the torques' equations, joint by joint.

The rows of one joint have a factor R of their own, so that weights of joints, and gains of their motors, cost nothing
anew. Rows come in blocks, whose factors are stacked and factored again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.algorithms.regressor import axes
from chainrule.arguments import Array
from chainrule.identification.unknowns import Unknowns
from chainrule.parameters.regressor import regressor
from chainrule.parameters.vector import names

BLOCK = 1000
"""States whose regressor is in memory at once."""

PIECE = 125
"""Rows that are factored at once: so few that OpenBLAS does it in one thread. With several, on a machine that has other
work, it was 20 to 300 times slower (two cores, 45 columns)."""

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
        self.offsets = [unknowns.offset_of[x] for x in columns]
        robot = unknowns.robot
        q = np.random.default_rng(1).uniform(-1, 1, (20, robot.nq))
        for _, i in robot.model.quaternions:
            q[:, i : i + 4] /= np.linalg.norm(q[:, i : i + 4], axis=-1, keepdims=True)
        qd, qdd = np.random.default_rng(2).normal(size=(2, 20, robot.nv))
        Y = regressor(robot, q, qd, qdd)
        acts = abs(unknowns.columns(Y)[..., list(columns)]).max(axis=0) > 0
        self.of_joint = [np.flatnonzero(row) for row in acts]
        self.buffer = np.empty((BLOCK, robot.nv, len(unknowns.known)))

    @cached_property
    def _picked(self) -> list[Array | None]:
        """Of each joint the columns of the regressor that are taken as they are; None where they are combined."""
        is_unit = ((self.matrix != 0).sum(axis=0) == 1) & (self.matrix.max(axis=0, initial=0) == 1)
        first = self.matrix.argmax(axis=0)
        return [first[own] if is_unit[own].all() else None for own in self.of_joint]

    def rows(self, block: RecordedSamples, joints: Sequence[int] | None = None) -> tuple[list[Array], Array]:
        """X of each joint (T, columns) for a block, and the torques (T, nv) of what is known."""
        unknowns = self.unknowns
        Y = self.buffer[: len(block.q)]
        regressor(unknowns.robot, block.q, block.qd, block.qdd, out=Y)
        for velocity, speed in self.speeds.items():
            self.put_stribeck(Y, velocity, speed, block.qd)
        X = []
        for k, own in enumerate(self.of_joint):
            picked = self._picked[k]
            rows = Y[:, k] @ self.matrix[:, own] if picked is None else Y[:, k, picked]
            rows[:, [self.offsets[b] == k for b in own]] = 1.0
            X.append(rows)
        known = Y @ unknowns.known if unknowns.known.any() else np.zeros(block.qd.shape)
        return X, known

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
