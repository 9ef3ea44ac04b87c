"""The loop over time with fixed steps: chunks of steps, checked one after the other.

Between chunks there is time to show progress, to be interrupted, to look for events, and to notice that a motion
diverges.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.core.progress import ProgressBar
from chainrule.dynamics.energy import kinetic_energy
from chainrule.errors import SimulationError
from chainrule.simulation import guards
from chainrule.simulation.events import EventSearch
from chainrule.simulation.guards import Failure
from chainrule.simulation.integrators import FixedStep
from chainrule.simulation.request import SimulationRequest
from chainrule.simulation.splitting import StepSplitter
from chainrule.simulation.time_loop import columns_of, record_size
from chainrule.simulation.trajectory import Trajectory

CHUNK_SECONDS = 0.05
"""The computing time of one chunk of steps."""


def simulate_fixed_steps(request: SimulationRequest, integrator: FixedStep) -> Trajectory:
    """The motion, in steps of the integrator's dt."""
    run = Run(request, integrator)
    result = run.trajectory()
    guards.refuse_excess_friction(request, result)
    guards.warn_of_open_loops(request, result)
    if result.status == "finished" and request.plant.stops != "impact":
        guards.warn_of_energy(request, result[-1:], run.h)
        guards.warn_of_energy_jump(request, result)
    return result


class Run:
    """One simulation with fixed steps, under way."""

    def __init__(self, request: SimulationRequest, integrator: FixedStep) -> None:
        self.request, self.plant, self.integrator = request, request.plant, integrator
        checks_every_step = request.events or integrator.iterates
        self.every = 1 if checks_every_step else request.record_every
        self.h, self.steps, self.rest = divide(request.duration, integrator.dt)
        self.state = request.state.copy()
        self.rows = len(self.state)
        samples = -(-self.steps // self.every) + (self.rest > 0) + 1
        self.records_all = bool(checks_every_step)
        """Whether the parts of split steps are recorded too."""
        if self.records_all:
            samples += sum(len(source.split_times(0.0, request.duration)) for source in self.plant.sources)
        guards.refuse_large(self.rows, samples, self.plant)
        self.t = np.empty(samples)
        self.is_whole = np.ones(samples, dtype=bool)
        """Whether each sample is the start of a step, not of a part of one."""
        self.records = np.empty((self.rows, samples, record_size(self.plant)))
        self.count = self.checked = 0
        """The numbers of samples so far, and of those that have been checked."""
        self.search = EventSearch(request.events, self.rows)
        self.has_diverged = False
        self.splitter = StepSplitter(request, integrator)
        self.max_energy = guards.max_kinetic_energy(request.robot, *self.split(self.state))

    def trajectory(self) -> Trajectory:
        """Run to the end, or to whatever ends it."""
        try:
            with ProgressBar(self.request.duration, self.request.progress) as progress:
                for t in self._take_chunks():
                    progress.at(t)
        except KeyboardInterrupt as interrupt:
            guards.keep_motion(interrupt, self._result("interrupted"), self.request.duration)
            raise
        if self.search.all_stopped:
            return self._result("stopped")
        return self._result("diverged" if self.has_diverged else "finished")

    # --- steps ---

    def _take_chunks(self) -> Iterator[float]:
        """Take all steps, and yield the time reached after each chunk."""
        done, size = 0, self.every
        while done < self.steps:
            size = min(size, self.steps - done)
            started = time.perf_counter()
            self._advance(np.asarray((done + np.arange(size + 1)) * self.h, dtype=float), self.h)
            spent = max(time.perf_counter() - started, 1e-6)
            done += size
            if self._ends((done - size) * self.h):
                return
            yield done * self.h
            wanted = size * min(max(CHUNK_SECONDS / spent, 0.25), 8.0)
            size = max(1, round(wanted / self.every)) * self.every
        if self.rest > 0:
            self._advance(np.array([self.steps * self.h, self.request.duration]), self.rest)
            if self._ends(self.steps * self.h):
                return
        self._append(self.request.duration, self.state)
        self.search.look(self)
        yield self.request.duration

    def _advance(self, t: Array, h: float) -> None:
        """Take the steps between the times t, and record their starts."""
        division = self.splitter.divide(t, h) if self.records_all else None
        starts = t[:-1][:: self.every] if division is None else division.t[:-1]
        place = slice(self.count, self.count + len(starts))
        self.t[place] = starts
        self.is_whole[place] = True if division is None else division.is_whole
        self.splitter.completed = 0
        try:
            if division is not None:
                self.splitter.advance_all(self.state, division, self.records[:, place])
            else:
                self.splitter.advance(self.state, t, h, self.every, self.records[:, place])
        except KeyboardInterrupt:
            self.count += self.splitter.completed
            raise
        self.count += len(starts)

    def _append(self, t: float, state: Array) -> None:
        """Add a sample at the end of the motion: the record that a step from there would write."""
        self.splitter.record(state, t, self.h, self.records[:, self.count : self.count + 1])
        self.t[self.count], self.is_whole[self.count] = t, True
        self.count += 1

    # --- checks ---

    def _ends(self, since: float) -> bool:
        """Whether the motion has ended, by events or because all rows diverge; an error if it cannot go on."""
        first, self.checked = self.checked, self.count
        self.search.look(self)
        if self.search.all_stopped:
            return True
        t, (q, _) = self.t[: self.count], self.states()
        last_q, last_v = self.split(self.state)
        if self.integrator.iterates:
            errors = self.records[:, : self.count, -1]
            self._raise(guards.find_unsolved(self.request.robot, t, q, errors, last_v, self.h))
        if self.plant.rows and self.request.projects:
            self._raise(guards.find_open_loop(self.request.robot, t, q, first, self.h))
        finite = np.isfinite(self.state).all(axis=1)
        with np.errstate(all="ignore"):
            calm = kinetic_energy(self.request.robot, last_q, last_v) < self.max_energy
        wrong = ~(finite & calm) & ~self.search.has_stopped
        if wrong.any() and not self.request.keeps_diverged:
            row = int(np.flatnonzero(wrong)[0])
            self._raise(guards.find_divergence(self.request, t, self.states()[1][row], row, since, self.h))
        self.has_diverged = bool((wrong | self.search.has_stopped).all())
        return self.has_diverged

    def _raise(self, failure: Failure | None) -> None:
        """Raise the error of a failure, with the motion before it."""
        if failure is not None:
            self.count = failure.samples
            raise SimulationError(failure.message, self._result("diverged"))

    # --- the motion so far, as the search for events sees it ---

    def split(self, state: Array) -> tuple[Array, Array]:
        """q and qd of a state."""
        nq, nv = self.plant.model.nq, self.plant.model.nv
        return state[..., :nq], state[..., nq : nq + nv]

    def states(self) -> tuple[Array, Array]:
        """q (rows, count, nq) and qd (rows, count, nv) of all samples."""
        return self.split(self.records[:, : self.count])

    def partial_step(self, row: int, sample: int, share: float) -> Array:
        """The state (1, size) of one row, a share of a step after a sample."""
        start = self.records[row : row + 1, sample, : self.state.shape[1]].copy()
        if not share:
            return start
        return self.splitter.partial(row, start, self.t[sample], share * (self.t[sample + 1] - self.t[sample]))

    def index_of(self, row: int) -> tuple[int, ...]:
        """The place of a row in the batch."""
        return self.request.start.index_of(row)

    def end_row(self, sample: int, t: float, state: Array) -> None:
        """End a single motion in the step after a sample, at the time t in this state; rows of a batch run on."""
        if not self.request.start.batch:
            self.count = sample + 1
            self._append(t, state)

    # --- the result ---

    def _erase_after_stops(self) -> None:
        """In a batch, make rows nan after the event that stopped them; where all have stopped, nothing follows."""
        t = self.t[: self.count]
        for row in np.flatnonzero(self.search.has_stopped):
            self.records[row, : self.count][t > self.search.stop_times[row]] = np.nan
        if self.search.has_stopped.all():
            self.count = int(np.searchsorted(t, self.search.stop_times.max(), side="right"))

    def _result(self, status: str) -> Trajectory:
        """The samples so far as a trajectory."""
        request = self.request
        if request.start.batch and request.events:
            self._erase_after_stops()
        keep = np.arange(self.count)
        if self.records_all and self.count:
            whole = np.flatnonzero(self.is_whole[: self.count])
            keep = np.unique([*whole[:: request.record_every], self.count - 1])
        records = self.records[:, : self.count] if len(keep) == self.count else self.records[:, keep]
        t = self.t[keep].copy()
        records = records.reshape((*request.start.batch, len(t), self.records.shape[-1]))
        arrays: Any = columns_of(self.plant, records)
        return Trajectory(
            request.robot,
            t,
            **arrays,
            method=self.integrator.name,
            status=status,
            events=tuple(self.search.records),
            parameters=request.bound.as_dict(),
        )


def divide(duration: float, dt: float) -> tuple[float, int, float]:
    """The step, the number of whole steps, and the rest of the duration."""
    steps = duration / dt
    guards.refuse_many_steps(steps, dt, duration)
    whole = round(steps)
    if abs(steps - whole) < 1e-9 * max(1.0, steps):
        return duration / whole, whole, 0.0
    return dt, int(steps), duration - int(steps) * dt


def sample_times(request: SimulationRequest, integrator: FixedStep) -> Array:
    """The times of the samples of a motion that runs to its end, without events."""
    h, steps, rest = divide(request.duration, integrator.dt)
    every = request.record_every
    starts, after = np.arange(steps) * h, [steps * h] if rest > 0 else []
    if not integrator.iterates:
        return np.concatenate([starts[::every], after, [request.duration]])
    whole = np.concatenate([starts, after, [request.duration]])
    return whole[np.unique([*range(0, len(whole), every), len(whole) - 1])]
