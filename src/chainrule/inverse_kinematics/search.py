"""The search for configurations over a batch of targets: starts, iterations, and other starts for what is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.inverse_kinematics.bounds import Bounds
from chainrule.inverse_kinematics.iterate import Iterate, initial_state
from chainrule.inverse_kinematics.methods import SUMMARY_SIZE, UNKNOWN_COST, Problem, Summary
from chainrule.inverse_kinematics.request import Tolerances
from chainrule.inverse_kinematics.result import Truths
from chainrule.inverse_kinematics.seeds import Seeds

Rows = NDArray[np.int64]

ITERATIONS_TO_FIRST_CHECK, ITERATIONS_BETWEEN_CHECKS = 9, 5
"""Iterations before the first check of what is solved, and between later checks."""
FINAL_ITERATIONS_FACTOR = 5
"""How many times as many iterations the best of all starts gets in the end."""
MAX_COST_RATIO = 0.3
"""A start is given up when its cost is more than this part of the cost at the check before."""
MAX_STARTS_AT_ONCE = 16
"""Starts from which a target is tried side by side, at most."""
AIMED_TOLERANCE_RATIO = 0.9
"""The part of the tolerance that is aimed at, so that rounding does not undo a solution."""
UNSOLVED_PENALTY = 1e6
"""Added to the cost of what is not solved, so that any solution ranks before it."""


def iteration_parameters(bounds: Bounds, tolerances: Tolerances, targets: Array) -> Array:
    """The parameters of an iteration for each row of the targets, in the order of `Problem.split_parameters`."""
    ratio = AIMED_TOLERANCE_RATIO
    squared = (ratio * tolerances.distance) ** 2, (2 * ratio * np.sin(min(tolerances.angle, np.pi) / 2)) ** 2
    fixed = np.concatenate([squared, *bounds])
    return np.concatenate([np.broadcast_to(fixed, (len(targets), len(fixed))), targets], axis=1)


@dataclass(frozen=True)
class Search:
    """The search for the configurations of a request: its goals, loop, starts, bounds and effort."""

    problem: Problem
    iterate: Iterate
    seeds: Seeds
    home: Array
    """The configuration (nq,) of joints that move no link with a target."""
    bounds: Bounds
    tolerances: Tolerances
    restarts: int
    max_iterations: int
    """Iterations from one start."""

    def run(self, targets: Array, q0: Array | None) -> BestSoFar:
        """The best configuration found for each row of the targets (rows, numbers)."""
        rows = len(targets)
        best = BestSoFar.empty(rows, self.problem.model.nq)
        parameters = iteration_parameters(self.bounds, self.tolerances, targets)
        first = self.random_starts(targets, None, 0) if q0 is None else q0
        best.improve(np.arange(rows), self._iterate(first, parameters, self.max_iterations, patient=not self.restarts))
        tried = 1
        while tried <= self.restarts:
            unsolved = np.flatnonzero(~best.solved)
            if not len(unsolved):
                return best
            count = min(MAX_STARTS_AT_ONCE, tried, self.restarts + 1 - tried)
            near = None if q0 is None else q0[unsolved]
            starts = [self.random_starts(targets[unsolved], near, k) for k in range(tried, tried + count)]
            blocks = self._iterate(
                np.concatenate(starts), np.tile(parameters[unsolved], (count, 1)), self.max_iterations
            )
            best.improve(unsolved, blocks.best_of_blocks(count, near))
            tried += count
        unsolved = np.flatnonzero(~best.solved)
        if self.restarts:
            longer = FINAL_ITERATIONS_FACTOR * self.max_iterations
            best.improve(unsolved, self._iterate(best.q[unsolved], parameters[unsolved], longer, patient=True))
        return best

    def record(self, target: Array, start: Array) -> Array:
        """Every iterate (K + 1, nq) on the way to one target (numbers,) from one start (nq,), without restarts."""
        nq = self.problem.model.nq
        parameters = iteration_parameters(self.bounds, self.tolerances, target[None])
        state, iterates = initial_state(self.problem, start[None]), []
        for _ in range(self.max_iterations):
            # the textbook's methods remember where the next step begins; the configuration of "lm" is there itself
            place = state[0, nq + SUMMARY_SIZE :].copy()
            self.iterate(state, parameters, 1)
            iterates.append(state[0, :nq].copy() if self.problem.method == "lm" else place)
            if Summary(*state[0, nq : nq + SUMMARY_SIZE]).miss <= 1:
                break
        return np.array(iterates)

    def random_starts(self, targets: Array, near: Array | None, k: int) -> Array:
        """The k-th random start of each row; joints that move no link with a target stay."""
        q = np.tile(self.home, (len(targets), 1)) if near is None else near.copy()
        moved = list(self.problem.coordinates)
        q[:, moved] = self.seeds.nearest(targets, k)[:, moved]
        return q

    def _iterate(self, starts: Array, parameters: Array, max_iterations: int, patient: bool = False) -> BestSoFar:
        """Iterations from one start for each row; those of method "lm" stop where they stall, unless patient."""
        nq = self.problem.model.nq
        done = BestSoFar.empty(len(starts), nq)
        active = np.arange(len(starts))
        state, taken = initial_state(self.problem, starts), 0
        cost_before = np.full(len(active), UNKNOWN_COST)
        while len(active) and taken < max_iterations:
            count = min(ITERATIONS_BETWEEN_CHECKS if taken else ITERATIONS_TO_FIRST_CHECK, max_iterations - taken)
            self.iterate(state, parameters, count)
            taken += count
            summary = Summary(*state[:, nq : nq + SUMMARY_SIZE].T)
            ends = (summary.miss <= 1) | (taken >= max_iterations)
            if not patient and self.problem.method == "lm":
                ends |= summary.cost > MAX_COST_RATIO * cost_before
            miss, cost, _, iterations = (values[ends] for values in summary)
            done.set_rows(active[ends], state[ends, :nq], miss, cost, iterations)
            stays = ~ends
            cost_before = summary.cost[stays]
            active, state, parameters = active[stays], state[stays], parameters[stays]
        return done


@dataclass
class BestSoFar:
    """The best configuration of each row so far: q (rows, nq), its miss and cost, and iterations spent (rows,)."""

    q: Array
    miss: Array
    cost: Array
    iterations: Array

    @staticmethod
    def empty(rows: int, nq: int) -> BestSoFar:
        """Before anything is known."""
        return BestSoFar(np.zeros((rows, nq)), np.full(rows, UNKNOWN_COST), np.full(rows, np.inf), np.zeros(rows))

    @property
    def solved(self) -> Truths:
        """Whether each row is within the tolerances."""
        return np.asarray(self.miss <= 1)

    def set_rows(self, rows: Rows, q: Array, miss: Array, cost: Array, iterations: Array) -> None:
        """Write some rows anew."""
        self.q[rows], self.miss[rows], self.cost[rows], self.iterations[rows] = q, miss, cost, iterations

    def improve(self, rows: Rows, other: BestSoFar) -> None:
        """Take over for these rows whatever is better in another result, and add its iterations."""
        self.iterations[rows] += other.iterations
        better = np.where((other.miss <= 1) == (self.miss[rows] <= 1), other.cost < self.cost[rows], other.miss <= 1)
        into = rows[better]
        self.q[into], self.miss[into], self.cost[into] = other.q[better], other.miss[better], other.cost[better]

    def best_of_blocks(self, count: int, near: Array | None) -> BestSoFar:
        """One of `count` results in blocks for each row: a solved one, the nearest to `near` or the first."""
        q, miss, cost = (a.reshape(count, -1, *a.shape[1:]) for a in (self.q, self.miss, self.cost))
        rank = np.where(miss > 1, UNSOLVED_PENALTY + cost, 0.0)
        if near is not None:
            rank = np.where(miss > 1, rank, np.abs(q - near).max(axis=-1))
        place = (rank.argmin(axis=0), np.arange(q.shape[1]))
        iterations = self.iterations.reshape(count, -1).sum(axis=0)
        return BestSoFar(q[place], miss[place], cost[place], iterations)
