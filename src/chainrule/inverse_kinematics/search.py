"""The search for configurations over a batch of targets: starts, iterations, and other starts for what is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.inverse_kinematics.iterate import Iterate, started
from chainrule.inverse_kinematics.methods import COST, COUNT, FAR, MISS, Problem
from chainrule.inverse_kinematics.seeds import Seeds

Rows = NDArray[np.int64]

FIRST, NEXT = 9, 5
"""Iterations before looking for the first time at what is solved, and between later looks."""
LAST = 5
"""How many times as many iterations the best of all starts is given in the end."""
WORTHWHILE = 0.3
"""A start is given up when the cost falls by less than this factor between two looks."""
MOST_AT_ONCE = 16
"""Starts from which a target is tried side by side, at most."""
MARGIN = 0.9
"""The part of the tolerance that is aimed at, so that rounding does not undo what was found."""


@dataclass(frozen=True)
class Search:
    """What stays the same for all targets of a call."""

    problem: Problem
    iterate: Iterate
    seeds: Seeds
    home: Array
    """Where joints stay that move no link with a target (nq,)."""
    lower: Array
    upper: Array
    tolerances: tuple[float, float]
    restarts: int
    most: int
    """Iterations from one start."""

    def parameters(self, targets: Array) -> Array:
        """What the iteration reads, for each row."""
        metres, radians = self.tolerances
        aimed = (MARGIN * metres) ** 2, (2 * MARGIN * np.sin(min(radians, np.pi) / 2)) ** 2
        fixed = np.concatenate([aimed, self.lower, self.upper])
        return np.concatenate([np.broadcast_to(fixed, (len(targets), len(fixed))), targets], axis=1)

    def found(self, targets: Array, q0: Array | None) -> Found:
        """For every row of the targets (rows, numbers) a configuration, the best that was found."""
        rows = len(targets)
        best = Found.nothing(rows, self.problem.model.nq)
        parameters = self.parameters(targets)
        first = self._drawn(targets, None, 0) if q0 is None else q0
        best.take(np.arange(rows), self._run(first, parameters, self.most, patient=not self.restarts))
        tried = 1
        while tried <= self.restarts:
            open_ = np.flatnonzero(best.miss > 1)
            if not len(open_):
                return best
            count = min(MOST_AT_ONCE, tried, self.restarts + 1 - tried)
            resting = None if q0 is None else q0[open_]
            starts = np.concatenate([self._drawn(targets[open_], resting, k) for k in range(tried, tried + count)])
            found = self._run(starts, np.tile(parameters[open_], (count, 1)), self.most)
            best.take(open_, found.chosen(count, resting))
            tried += count
        open_ = np.flatnonzero(best.miss > 1)
        if self.restarts:
            best.take(open_, self._run(best.q[open_], parameters[open_], LAST * self.most, patient=True))
        return best

    def _drawn(self, targets: Array, resting: Array | None, k: int) -> Array:
        """The k-th random start of each row; joints that move no link with a target rest."""
        q = np.tile(self.home, (len(targets), 1)) if resting is None else resting.copy()
        moved = sorted(self.problem.coordinates)
        q[:, moved] = self.seeds.nearest(targets, k)[:, moved]
        return q

    def _run(self, starts: Array, parameters: Array, most: int, patient: bool = False) -> Found:
        """Iterations from one start each; Levenberg's and Marquardt's are given up where they stall, unless patient."""
        nq = self.problem.model.nq
        done = Found.nothing(len(starts), nq)
        going = np.arange(len(starts))
        state, taken = started(self.problem, starts), 0
        before = np.full(len(going), FAR)
        while len(going) and taken < most:
            count = min(NEXT if taken else FIRST, most - taken)
            self.iterate(state, parameters, count)
            taken += count
            miss, cost = state[:, nq + MISS], state[:, nq + COST]
            ends = (miss <= 1) | (taken >= most)
            if not patient and self.problem.method == "lm":
                ends |= cost > WORTHWHILE * before
            q = state[ends, :nq]
            done.put(going[ends], q, miss[ends], cost[ends], state[ends, nq + COUNT])
            stays = ~ends
            going, state, parameters, before = going[stays], state[stays], parameters[stays], cost[stays]
        return done


@dataclass
class Found:
    """The best configuration of each row so far: q (rows, nq), how far it misses, its cost, iterations spent."""

    q: Array
    miss: Array
    cost: Array
    iterations: Array

    @staticmethod
    def nothing(rows: int, nq: int) -> Found:
        """Before anything is known."""
        return Found(np.zeros((rows, nq)), np.full(rows, FAR), np.full(rows, np.inf), np.zeros(rows))

    def put(self, rows: Rows, q: Array, miss: Array, cost: Array, iterations: Array) -> None:
        """These findings for these rows."""
        self.q[rows], self.miss[rows], self.cost[rows], self.iterations[rows] = q, miss, cost, iterations

    def take(self, rows: Rows, other: Found) -> None:
        """Whatever is better in another finding for these rows."""
        self.iterations[rows] += other.iterations
        better = np.where((other.miss <= 1) == (self.miss[rows] <= 1), other.cost < self.cost[rows], other.miss <= 1)
        into = rows[better]
        self.q[into], self.miss[into], self.cost[into] = other.q[better], other.miss[better], other.cost[better]

    def chosen(self, count: int, q0: Array | None) -> Found:
        """One of `count` findings for each row, that lie in blocks: a solved one, the nearest to q0 or the first."""
        q, miss, cost = (a.reshape(count, -1, *a.shape[1:]) for a in (self.q, self.miss, self.cost))
        rank = np.where(miss > 1, 1e6 + cost, 0.0)
        if q0 is not None:
            rank = np.where(miss > 1, rank, np.abs(q - q0).max(axis=-1))
        place = (rank.argmin(axis=0), np.arange(q.shape[1]))
        iterations = self.iterations.reshape(count, -1).sum(axis=0)
        return Found(q[place], miss[place], cost[place], iterations)
