"""The search for configurations over a batch of targets: starts, iterations, and other starts for what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.compile.backend import WhileLoop
from chainrule.inverse_kinematics.bounds import Bounds
from chainrule.inverse_kinematics.iterate import blank_state, set_starts
from chainrule.inverse_kinematics.measure import Measure
from chainrule.inverse_kinematics.methods import SUMMARY_SIZE, IterateSummary, SearchProblem
from chainrule.inverse_kinematics.periods import shift_by
from chainrule.inverse_kinematics.request import Tolerances
from chainrule.inverse_kinematics.result import Truths
from chainrule.inverse_kinematics.seeds import Seeds
from chainrule.lazy import cached_property

Rows = NDArray[np.int64]

FINAL_ITERATIONS_FACTOR = 5
"""How many times as many iterations the best of all starts gets in the end."""
MAX_STARTS_AT_ONCE = 16
"""Starts from which a target is tried side by side, at most."""
AIMED_TOLERANCE_RATIO = 0.9
"""The part of the tolerance that is aimed at, so that rounding does not undo a solution."""


def iteration_parameters(bounds: Bounds, tolerances: Tolerances, targets: Array) -> Array:
    """The parameters of an iteration for each row of the targets, in the order of `SearchProblem.split_parameters`."""
    ratio = AIMED_TOLERANCE_RATIO
    squared = (ratio * tolerances.distance) ** 2, (2 * ratio * np.sin(min(tolerances.angle, np.pi) / 2)) ** 2
    fixed = np.concatenate([squared, *bounds])
    return np.concatenate([np.broadcast_to(fixed, (len(targets), len(fixed))), targets], axis=1)


@dataclass(frozen=True)
class Search:
    """The search for the configurations of a request: its goals, loop, starts, bounds and effort."""

    problem: SearchProblem
    iterate: WhileLoop
    measure: Measure
    seeds: Seeds
    home: Array
    """The configuration (nq,) of joints that move no link with a target."""
    bounds: Bounds
    periods: Array
    """The period of each coordinate (nq,), infinite where the pose never repeats."""
    tolerances: Tolerances
    restarts: int
    max_iterations: int
    """Iterations from one start."""
    _workspaces: list[SearchArrays] = field(default_factory=list, init=False, repr=False)
    """Workspaces that nobody uses."""
    _blank_states: dict[tuple[int, bool], Array] = field(default_factory=dict, init=False, repr=False)
    """States before the first iteration, by the number of iterations and whether they are patient."""

    @cached_property
    def _reach(self) -> Array | None:
        """How far a coordinate (nq,) may be from another before a shift by its period brings it nearer.

        None where no range is as long as the coordinate's period.
        """
        has_room = self.bounds.upper - self.bounds.lower >= self.periods
        return np.where(has_room, self.periods / 2, np.inf) if has_room.any() else None

    def shift(self, q: Array, near: Array) -> Array:
        """The same poses with q (..., nq), within the bounds, as close to `near` as periods and bounds allow."""
        if self._reach is None or (np.abs(near - q) <= self._reach).all():
            return q
        return shift_by(self.periods, q, near, self.bounds)

    @cached_property
    def _fixed_parameters(self) -> Array:
        return iteration_parameters(self.bounds, self.tolerances, np.zeros((1, 0)))[0]

    def parameters(self, targets: Array) -> Array:
        """The parameters of an iteration for each row of the targets (rows, numbers)."""
        own = len(self._fixed_parameters)
        parameters = np.empty((len(targets), own + targets.shape[1]))
        parameters[:, :own] = self._fixed_parameters
        parameters[:, own:] = targets
        return parameters

    def targets(self, parameters: Array) -> Array:
        """The targets (rows, numbers) in the parameters of iterations."""
        return parameters[:, len(self._fixed_parameters) :]

    def are_within_tolerances(self, errors: Array) -> bool:
        """Whether errors (goals, 2) of one configuration are within the tolerances."""
        most = self.tolerances
        return all(distance <= most.distance and angle <= most.angle for distance, angle in errors.tolist())

    def within_tolerances(self, errors: Array) -> Truths:
        """Whether errors (rows, goals, 2) are within the tolerances: (rows,)."""
        flat = errors.reshape(len(errors), 2 * errors.shape[1])
        return np.asarray((flat <= np.array(self.tolerances * errors.shape[1])).all(axis=1))

    def take_workspace(self) -> SearchArrays:
        """Arrays for one target, to be given back; other threads get others."""
        try:
            return self._workspaces.pop()
        except IndexError:
            return SearchArrays(self)

    def give_back(self, work: SearchArrays) -> None:
        """Keep a workspace for the next target."""
        self._workspaces.append(work)

    def run(self, parameters: Array, q0: Array | None) -> BestSoFar:
        """The best configuration found for each row of the parameters."""
        targets, rows, patient = self.targets(parameters), len(parameters), not self.restarts
        if q0 is not None or not self.restarts:
            starts = self.random_starts(targets, None, 0) if q0 is None else q0
            best = self._iterate(starts, parameters, self.max_iterations, patient)
            tried = 1
        else:  # the second start is at hand for those whose first one fails
            both = self._iterate(self.random_starts(targets, None, 0, 2), parameters, self.max_iterations)
            best = both.part(slice(rows))
            if not best.solved.all():
                failed = np.flatnonzero(~best.solved)
                best.improve(failed, both.part(failed + rows))
            tried = 2
        if not best.solved.all():
            self.restart(best, parameters, q0, tried)
        return best

    def restart(self, best: BestSoFar, parameters: Array, q0: Array | None, tried: int) -> None:
        """Improve what is not solved from the starts that have been tried, from other ones."""
        targets = self.targets(parameters)
        while tried <= self.restarts:
            unsolved = np.flatnonzero(~best.solved)
            if not len(unsolved):
                return
            rounds = self._next_rounds(tried, len(unsolved))
            count = sum(rounds)
            near = None if q0 is None else q0[unsolved]
            starts = self.random_starts(targets[unsolved], near, tried, count)
            found = self._iterate(starts, np.tile(parameters[unsolved], (count, 1)), self.max_iterations)
            best.improve(unsolved, found.best_of_rounds(rounds, near))
            tried += count
        unsolved = np.flatnonzero(~best.solved)
        if self.restarts and len(unsolved):
            longer = FINAL_ITERATIONS_FACTOR * self.max_iterations
            best.improve(unsolved, self._iterate(best.q[unsolved], parameters[unsolved], longer, patient=True))

    def _next_rounds(self, tried: int, rows: int) -> list[int]:
        """How many starts are compared together next, and in the rounds after it that take no longer."""
        rounds: list[int] = []
        while tried <= self.restarts:
            count = min(MAX_STARTS_AT_ONCE, tried, self.restarts + 1 - tried)
            if rounds and rows * (sum(rounds) + count) > self.iterate.rows_at_once:
                break
            rounds.append(count)
            tried += count
        return rounds

    def record(self, target: Array, start: Array) -> Array:
        """Every iterate (K + 1, nq) on the way to one target (numbers,) from one start (nq,), without restarts."""
        nq, size = self.problem.model.nq, self.problem.state_size
        parameters = self.parameters(target[None])
        state, iterates = blank_state(self.problem, 1)[None], []
        progress = state[0, size:].copy()
        set_starts(self.problem, state, start)
        for _ in range(self.max_iterations):
            # the textbook's methods remember where the next step begins; the configuration of "lm" is there itself
            place = state[0, nq + SUMMARY_SIZE : size].copy()
            state[0, size:] = progress
            self.iterate(state, parameters)
            iterates.append(state[0, :nq].copy() if self.problem.method == "lm" else place)
            if IterateSummary(*state[0, nq : nq + SUMMARY_SIZE]).miss <= 1:
                break
        return np.array(iterates)

    def random_starts(self, targets: Array, near: Array | None, first: int, count: int = 1) -> Array:
        """The first and following random starts of each row, one block after the other: (count * rows, nq).

        Joints that move no link with a target stay.
        """
        nearest = self.seeds.nearest(targets[:, : self.problem.goal_size], first, count)
        q = self._move(nearest, self.home if near is None else near)
        return q.reshape(-1, q.shape[-1])

    def first_starts(self, target: Array) -> Array:
        """The first two random starts (2, nq) of one target (numbers,)."""
        return self._move(self.seeds.nearest_to_one(target[: self.problem.goal_size], 2), self.home)

    def solutions(self, targets: Array, near: Array | None, first: int, count: int) -> tuple[Array, Truths]:
        """Configurations from so many random starts of each row (count, rows, nq), and which are solutions."""
        starts = self.random_starts(targets, near, first, count)
        parameters = np.tile(self.parameters(targets), (count, 1))
        found = self._iterate(starts, parameters, self.max_iterations)
        q = found.q.reshape(count, len(targets), -1)
        return self.shift(q, self.home if near is None else near), found.solved.reshape(count, -1)

    def _move(self, to: Array, near: Array) -> Array:
        """Configurations `to`, but `near` for joints that move no link with a target."""
        return to if self._is_moved is None else np.where(self._is_moved, to, near)

    @cached_property
    def _is_moved(self) -> Truths | None:
        """Whether each coordinate moves a link with a target (nq,); None where all do."""
        moved = np.zeros(len(self.home), dtype=bool)
        moved[list(self.problem.coordinates)] = True
        return None if moved.all() else moved

    def _iterate(self, starts: Array, parameters: Array, max_iterations: int, patient: bool = False) -> BestSoFar:
        """Iterations from one start for each row; those of method "lm" stop where they stall, unless patient."""
        blank = self._blank_states.get((max_iterations, patient))
        if blank is None:
            blank = self._blank_states[max_iterations, patient] = blank_state(self.problem, max_iterations, patient)
        state = np.empty((len(starts), len(blank)))
        state[:] = blank
        set_starts(self.problem, state, starts)
        self.iterate(state, parameters)
        return BestSoFar.of_states(state, self.problem.model.nq)


class SearchArrays:
    """Arrays for one target that compiled code reads and writes where they are; one thread uses them at a time."""

    def __init__(self, search: Search) -> None:
        problem = search.problem
        nq, count = problem.model.nq, len(problem.goals)
        self.search = search
        self._parameters = search.parameters(np.zeros((1, problem.target_size)))
        self._target = self._parameters[0, -problem.target_size :]
        self._blank = blank_state(problem, search.max_iterations, patient=not search.restarts)
        self._states = np.tile(self._blank, (2, 1))
        self._summaries = self._states[:, nq : nq + SUMMARY_SIZE]
        self._run_one = search.iterate.bind(self._states[:1], self._parameters)
        self._run_two = search.iterate.bind(self._states, self._parameters)
        self._measured = np.zeros((1, search.measure.size))
        self._measured_q = self._measured[0, :nq]
        self._errors = self._measured[0, nq : nq + 2 * count].reshape(count, 2)
        self._inside = self._measured[0, nq + 2 * count :]
        self._measure = search.measure.bind(self._measured, self._parameters)

    def iterate(self, target: Array, near: Array | None) -> tuple[Array, float]:
        """The configuration (nq,) found for one target (numbers,) from near (nq,), and the iterations spent."""
        search, states, nq = self.search, self._states, len(self._measured_q)
        self._target[:] = target
        states[:] = self._blank
        if near is not None:
            set_starts(search.problem, states[:1], near)
            self._run_one()
        else:
            set_starts(search.problem, states, search.first_starts(target))
            self._run_two() if search.restarts else self._run_one()
        (miss, _, _, spent), (other_miss, _, _, other_spent) = self._summaries.tolist()
        if miss <= 1:
            return states[0, :nq].copy(), spent
        if other_miss <= 1:
            return states[1, :nq].copy(), spent + other_spent
        best, tried = BestSoFar.of_states(states[:1], nq), 1
        if near is None and search.restarts:
            best.improve(np.array([0]), BestSoFar.of_states(states[1:], nq))
            tried = 2
        q0 = None if near is None else near[None]
        search.restart(best, self._parameters, q0, tried)
        return best.q[0].copy(), best.iterations.item(0)

    def measure(self, q: Array) -> tuple[Array, bool]:
        """Errors (goals, 2) of a configuration (nq,), and whether it is within the bounds."""
        self._measured_q[:] = q
        self._measure()
        return self._errors.copy(), self._inside.item(0) > 0


@dataclass
class BestSoFar:
    """The best configuration of each row so far: q (rows, nq), its miss and cost, and iterations spent (rows,)."""

    q: Array
    miss: Array
    cost: Array
    iterations: Array

    @staticmethod
    def of_states(state: Array, nq: int) -> BestSoFar:
        """The configurations that iterations have led to, in the arrays of the states."""
        summary = IterateSummary(*state[:, nq : nq + SUMMARY_SIZE].T)
        return BestSoFar(state[:, :nq], summary.miss, summary.cost, summary.iterations)

    @property
    def solved(self) -> Truths:
        """Whether each row is within the tolerances."""
        solved: Truths = self.miss <= 1
        return solved

    def part(self, rows: Rows | slice) -> BestSoFar:
        """Some of the rows."""
        return BestSoFar(self.q[rows], self.miss[rows], self.cost[rows], self.iterations[rows])

    def improve(self, rows: Rows, other: BestSoFar) -> None:
        """Take over for these rows whatever is better in another result, and add its iterations."""
        self.iterations[rows] += other.iterations
        better = np.where((other.miss <= 1) == (self.miss[rows] <= 1), other.cost < self.cost[rows], other.miss <= 1)
        into = rows[better]
        self.q[into], self.miss[into], self.cost[into] = other.q[better], other.miss[better], other.cost[better]

    def best_of_rounds(self, rounds: Sequence[int], near: Array | None) -> BestSoFar:
        """The best of several starts for each row, which are in blocks one after the other, so many in each round.

        Rounds after the first that has solved a row do not count for it. Of its solutions the nearest to `near` is
        taken, or the first; without any, the configuration of the lowest cost.
        """
        count = sum(rounds)
        q, miss, cost, iterations = (
            a.reshape(count, -1, *a.shape[1:]) for a in (self.q, self.miss, self.cost, self.iterations)
        )
        rows, solved = np.arange(q.shape[1]), miss <= 1
        chosen = solved.argmax(axis=0)
        is_solved = solved[chosen, rows]
        last = np.where(is_solved, np.repeat(np.cumsum(rounds) - 1, rounds)[chosen], count - 1)
        if near is not None:
            solved &= np.arange(count)[:, None] <= last
            chosen = np.where(solved, np.abs(q - near).max(axis=-1), np.inf).argmin(axis=0)
        if not is_solved.all():
            chosen = np.where(is_solved, chosen, cost.argmin(axis=0))
        spent = iterations.cumsum(axis=0)[last, rows]
        return BestSoFar(q[chosen, rows], miss[chosen, rows], cost[chosen, rows], spent)
