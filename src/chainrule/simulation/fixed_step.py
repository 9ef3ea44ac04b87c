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
from chainrule.dynamics.energy import kinetic_energy
from chainrule.errors import SimulationError
from chainrule.simulation import guards
from chainrule.simulation.events import EventSearch
from chainrule.simulation.guards import Failure
from chainrule.simulation.integrators import FixedStep
from chainrule.simulation.progress import Progress
from chainrule.simulation.request import Request
from chainrule.simulation.steppers import columns_of, make_stepper, record_size
from chainrule.simulation.trajectory import Trajectory

CHUNK_SECONDS = 0.05
"""The computing time of one chunk of steps."""


def simulate_fixed_steps(request: Request, integrator: FixedStep) -> Trajectory:
    """The motion, in steps of the integrator's dt."""
    run = Run(request, integrator)
    result = run.trajectory()
    if result.status == "finished" and request.plant.stops != "impact":
        guards.warn_of_energy(request, result[-1:], run.h)
    return result


class Run:
    """One simulation with fixed steps, under way."""

    def __init__(self, request: Request, integrator: FixedStep) -> None:
        self.request, self.plant, self.integrator = request, request.plant, integrator
        checks_every_step = request.events or integrator.iterates
        self.every = 1 if checks_every_step else request.record_every
        self.h, self.steps, self.rest = divide(request.duration, integrator.dt)
        self.state = request.state.copy()
        self.rows = len(self.state)
        samples = -(-self.steps // self.every) + (self.rest > 0) + 1
        guards.refuse_large(self.rows, samples, self.plant)
        self.t = np.empty(samples)
        self.records = np.empty((self.rows, samples, record_size(self.plant)))
        self.count = self.checked = 0
        """The numbers of samples so far, and of those that have been checked."""
        self.search = EventSearch(request.events, self.rows)
        self.has_diverged = False
        self.stepper = make_stepper(request, integrator)
        self.max_energy = guards.max_kinetic_energy(request.robot, *self.split(self.state))

    def trajectory(self) -> Trajectory:
        """Run to the end, or to whatever ends it."""
        status = "finished"
        try:
            with Progress(self.request.duration, self.request.progress) as progress:
                for t in self._take_chunks():
                    progress.at(t)
            if self.search.all_stopped:
                status = "stopped"
            elif self.has_diverged:
                status = "diverged"
        except KeyboardInterrupt:
            status = "interrupted"
        return self._result(status)

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
        steps = len(t) - 1
        new = -(-steps // self.every)
        place = slice(self.count, self.count + new)
        self.t[place] = t[:-1][:: self.every]
        try:
            self.stepper.advance(
                self.state, self._parameters(h), t, self._signals(t), self.every, self.records[:, place]
            )
        except KeyboardInterrupt:
            self.count += -(-self.stepper.taken // self.every)
            raise
        self.count += new

    def _append(self, t: float, state: Array) -> None:
        """Add a sample at the end of the motion: the record that a step from there would write."""
        record, times = self.records[:, self.count : self.count + 1], np.array([t, t + self.h])
        self.stepper.look(state, self._parameters(self.h), t, self._signals(times), record)
        self.t[self.count] = t
        self.count += 1

    def _parameters(self, h: float) -> Array:
        """The step and the parameters of the plant: (rows, 1 + parameters)."""
        numbers = self.request.parameters
        first = np.full((len(numbers), 1), h)
        whole = np.ascontiguousarray(np.concatenate([first, numbers], axis=1))
        return np.broadcast_to(whole, (self.rows, whole.shape[1]))

    def _signals(self, t: Array) -> Array:
        """Signals at the start, half way and just before the end of each step: (rows, 3 steps, width)."""
        times = np.stack([t[:-1], (t[:-1] + t[1:]) / 2, t[1:]], axis=1).reshape(-1)
        parts = []
        for source in self.plant.sources:
            if source.called:
                parts.append(np.zeros((len(times), source.width)))
            elif source.width:
                part = source.signals(times, np.zeros(0), np.zeros(0))
                if source.jumps:
                    part[..., 2::3, :] = source.before(t[1:])
                parts.append(part)
        batch = self.request.start.batch
        if all(part.ndim == 2 for part in parts):
            shared = np.ascontiguousarray(np.concatenate([np.zeros((len(times), 0)), *parts], axis=1))
            return np.broadcast_to(shared, (self.rows, *shared.shape))
        wide = [np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in parts]
        return np.ascontiguousarray(np.concatenate(wide, axis=-1).reshape(self.rows, len(times), -1))

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
            self._raise(guards.find_unsolved(t, self.records[:, : self.count, -1], last_v, self.h))
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
        rows = slice(None) if any(source.called for source in self.plant.sources) else slice(row, row + 1)
        state = self.records[rows, sample, : self.state.shape[1]].copy()
        if share:
            h = share * (self.t[sample + 1] - self.t[sample])
            t = self.t[sample] + np.array([0.0, h])
            unused = np.empty((len(state), 1, record_size(self.plant)))
            self.stepper.advance(state, self._parameters(h)[rows], t, self._signals(t)[rows], 1, unused)
        return state if len(state) == 1 else state[row : row + 1]

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
        if self.every != request.record_every:
            keep = np.unique([*range(0, self.count, request.record_every), self.count - 1])
        records = self.records[:, : self.count] if len(keep) == self.count else self.records[:, keep]
        t = self.t[keep].copy()
        records = records.reshape((*request.start.batch, len(t), self.records.shape[-1]))
        arrays: Any = columns_of(self.plant, records)
        return Trajectory(
            request.robot, t, **arrays, method=self.integrator.name, status=status, events=tuple(self.search.records)
        )


def divide(duration: float, dt: float) -> tuple[float, int, float]:
    """The step, the number of whole steps, and the rest of the duration."""
    steps = duration / dt
    guards.refuse_many_steps(steps, dt, duration)
    whole = round(steps)
    if abs(steps - whole) < 1e-9 * max(1.0, steps):
        return duration / whole, whole, 0.0
    return dt, int(steps), duration - int(steps) * dt
