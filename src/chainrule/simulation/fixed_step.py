"""The loop over time with fixed steps: chunks of steps, checked one after the other.

Between chunks there is time to show progress, to be interrupted, to look for events, and to notice that a motion
diverges.
"""

from __future__ import annotations

import time
import warnings
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import kernels_enabled
from chainrule.errors import ShapeError, SimulationError, SimulationWarning
from chainrule.simulation.events import root
from chainrule.simulation.progress import Progress
from chainrule.simulation.request import Setup
from chainrule.simulation.steppers import (
    Inline,
    Kernels,
    Stepper,
    Stepwise,
    columns_of,
    compiled,
    record_size,
)
from chainrule.simulation.trajectory import Happened, Trajectory, coordinate_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chainrule.robot.robot import Robot
    from chainrule.simulation.plant import Plant

CHUNK = 0.05
"""Seconds of computing between two looks at what happens."""

LARGEST = 1 << 34
"""Bytes that the records of one simulation may take."""

MOST_STEPS = 1e15
"""Beyond this many steps in a motion, the time no longer changes from one to the next."""

EXPLODED = 1e6
"""Kinetic energy, in units of what the robot has at its start or gains by falling a metre, that no motion reaches."""


UNEXPLAINED = 0.2
"""The share of work and motion that may be missing from the balance of energy at the end, before a warning."""

OPEN = 1e-6
"""How far a loop that is kept closed may be open, in m, before the simulation is not to be trusted."""


class Run:
    """One simulation, under way."""

    def __init__(self, setup: Setup) -> None:
        self.setup, self.plant = setup, setup.plant
        looked_at = setup.events or setup.method == "implicit_midpoint"  # at every step, whatever is kept
        self.every = 1 if looked_at else setup.every
        self.h: float
        self.h, self.steps, self.rest = _divided(setup.duration, setup.dt)
        self.state = setup.state.copy()
        self.rows = len(self.state)
        samples = -(-self.steps // self.every) + (self.rest > 0) + 1
        refuse_large(self.rows, samples, self.plant)
        self.t = np.empty(samples)
        self.records = np.empty((self.rows, samples, record_size(self.plant)))
        self.count = self.seen = 0
        self.happened: list[Happened] = []
        self.stopped = np.zeros(self.rows, dtype=bool)
        self.ends = np.full(self.rows, np.inf)
        """When each row was stopped by an event."""
        self.diverged = False
        self.values: list[Array] = []
        self.stepper = self._stepper()
        self.largest = largest_energy(setup.robot, *self._state(self.state))

    def _stepper(self) -> Stepper:
        setup = self.setup
        compiling = setup.robot._compiled and kernels_enabled()
        if compiling and not any(source.called for source in self.plant.sources):
            return compiled(self.plant, setup.method, self.rows, setup.project)
        return Stepwise(self.plant, setup.method, setup.project, Kernels if compiling else Inline)

    def trajectory(self) -> Trajectory:
        """Run to the end, or to whatever ends it."""
        status = "finished"
        try:
            with Progress(self.setup.duration, self.setup.progress) as progress:
                for t in self._chunks():
                    progress.at(t)
            if self.setup.events and self.stopped.all():
                status = "stopped"
            elif self.diverged:
                status = "diverged"
        except KeyboardInterrupt:
            status = "interrupted"
        result = self._result(status)
        if status == "finished" and self.plant.stops != "impact":
            self._warn_of_energy(result[-1:])
        return result

    # --- steps ---

    def _chunks(self) -> Iterator[float]:
        """Take all steps, and yield the time reached after each chunk."""
        done, size = 0, self.every
        while done < self.steps:
            size = min(size, self.steps - done)
            started = time.perf_counter()
            self._advance(np.asarray((done + np.arange(size + 1)) * self.h, dtype=float), self.h)
            spent = max(time.perf_counter() - started, 1e-6)
            done += size
            if self._checked((done - size) * self.h):
                return
            yield done * self.h
            wanted = size * min(max(CHUNK / spent, 0.25), 8.0)
            size = max(1, round(wanted / self.every)) * self.every
        if self.rest > 0:
            self._advance(np.array([self.steps * self.h, self.setup.duration]), self.rest)
            if self._checked(self.steps * self.h):
                return
        self._last()
        self._look_for_events()
        yield self.setup.duration

    def _advance(self, t: Array, h: float) -> None:
        steps = len(t) - 1
        new = -(-steps // self.every)
        place = slice(self.count, self.count + new)
        self.t[place] = t[:-1][:: self.every]
        try:
            self.stepper.advance(self.state, self._numbers(h), t, self._signals(t), self.every, self.records[:, place])
        except KeyboardInterrupt:
            if isinstance(self.stepper, Stepwise):
                self.count += -(-self.stepper.taken // self.every)
            raise
        self.count += new

    def _last(self) -> None:
        """The record of the state where the motion ends."""
        self._record(self.setup.duration, self.state, self.records[:, self.count : self.count + 1])
        self.t[self.count] = self.setup.duration
        self.count += 1

    def _record(self, t: float, state: Array, record: Array) -> None:
        """A step's record of its start; the step itself is thrown away."""
        times = np.array([t, t + self.h])
        if isinstance(self.stepper, Stepwise):
            self.stepper.look(state, self._numbers(self.h), t, self._signals(times), record)
        else:
            self.stepper.advance(state.copy(), self._numbers(self.h), times, self._signals(times), 1, record)

    def _numbers(self, h: float) -> Array:
        numbers = self.setup.parameters
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
        batch = self.setup.batch
        if all(part.ndim == 2 for part in parts):
            shared = np.ascontiguousarray(np.concatenate([np.zeros((len(times), 0)), *parts], axis=1))
            return np.broadcast_to(shared, (self.rows, *shared.shape))
        wide = [np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in parts]
        return np.ascontiguousarray(np.concatenate(wide, axis=-1).reshape(self.rows, len(times), -1))

    # --- what may go wrong ---

    def _state(self, state: Array) -> tuple[Array, Array]:
        nq, nv = self.plant.model.nq, self.plant.model.nv
        return state[:, :nq], state[:, nq : nq + nv]

    def _checked(self, since: float) -> bool:
        """Whether the motion has ended at an event; an error if it has diverged."""
        first, self.seen = self.seen, self.count
        self._look_for_events()
        if self.setup.events and self.stopped.all():
            return True
        if self.setup.method == "implicit_midpoint":
            self._refuse_unsolved()
        if self.plant.rows and self.setup.project:
            self._refuse_open(first)
        q, v = self._state(self.state)
        finite = np.isfinite(self.state).all(axis=1)
        with np.errstate(all="ignore"):
            calm = self.setup.robot.kinetic_energy(q, v) < self.largest
        wrong = ~(finite & calm) & ~self.stopped
        if wrong.any() and not self.setup.keep_diverged:
            self._raise_diverged(int(np.flatnonzero(wrong)[0]), since)
        self.diverged = bool((wrong | self.stopped).all())
        return self.diverged

    def _raise_diverged(self, row: int, since: float) -> None:
        nq, nv = self.plant.model.nq, self.plant.model.nv
        v = self.records[row, : self.count, nq : nq + nv]
        t = self.t[: self.count]
        bad = np.flatnonzero(~np.isfinite(v).all(axis=1))
        end = int(bad[0]) if len(bad) else self.count
        last = np.abs(v[end - 1]) if end else np.abs(self.setup.state[row, nq : nq + nv])
        joint = coordinate_names(self.setup.robot)[1][int(np.argmax(last))]
        which = f", row {self._index(row)}" if self.setup.batch else ""
        at = t[end] if end < len(t) else since
        self.count = end
        raise SimulationError(
            f"simulate: the motion diverges at about t = {at:.6g} s{which}, joint {joint!r} being the fastest before "
            f"({last.max():.3g}). Take a smaller dt than {self.h:g} s, softer gains or stops, or method='radau'; "
            "the error's .trajectory holds the motion so far",
            self._result("diverged"),
        )

    def _refuse_unsolved(self) -> None:
        residual = np.sqrt(np.abs(self.records[:, : self.count, -1]))
        scale = 1 + np.abs(self._state(self.state)[1]).max(axis=1)
        wrong = residual > 1e-9 * scale[:, None]
        if wrong.any():
            row, sample = np.argwhere(wrong)[0]
            at, left = self.t[sample], residual[row, sample]
            self.count = int(sample)
            raise SimulationError(
                f"simulate: the equations of the implicit midpoint rule are not solved at t = {at:.6g} s (they are off "
                f"by {left:.2g}); take a smaller dt than {self.h:g} s, or method='radau' for a stiff motion",
                self._result("diverged"),
            )

    def _warn_of_energy(self, end: Trajectory) -> None:
        """A warning where the energy at the end is not what the work done has made of that at the start."""
        q, v = self._state(self.setup.state)
        robot, batch = self.setup.robot, self.setup.batch
        before = (robot.kinetic_energy(q, v) + robot.potential_energy(q)).reshape(batch)
        work = end.work[..., 0, :]
        error = np.abs(end.energy[..., 0] - before - work[..., 0] + work[..., 1] - work[..., 2])
        scale = np.abs(work).sum(axis=-1) + end.kinetic_energy[..., 0] + robot.kinetic_energy(q, v).reshape(batch)
        with np.errstate(invalid="ignore"):
            wrong = error > UNEXPLAINED * scale + 1e-9 * (1 + np.abs(before))
        if np.any(wrong):
            row = np.unravel_index(int(np.argmax(wrong)), batch) if batch else ()
            which = f" (row {self._index(int(np.argmax(wrong)))})" if batch else ""
            warnings.warn(
                f"simulate: {error[row]:.3g} J of energy came from nowhere{which}, beside {scale[row]:.3g} J of work "
                f"and motion: steps of {self.h:g} s are too long for {self.setup.method} here. Take a smaller dt, or "
                "another method, and look at trajectory.energy_error",
                SimulationWarning,
                stacklevel=5,
            )

    def _refuse_open(self, first: int) -> None:
        """An error where a loop has come open since a sample."""
        nq, robot = self.plant.model.nq, self.setup.robot
        with np.errstate(all="ignore"):
            gaps = np.abs(robot.constraint_residual(self.records[:, first : self.count, :nq]))
        wrong = gaps > OPEN
        if wrong.any():
            row, sample, equation = np.argwhere(wrong)[0]
            name = next(c.name for c, end in zip(robot.model.constraints, _ends(robot), strict=True) if equation < end)
            self.count = first + int(sample)
            raise SimulationError(
                f"simulate: constraint {name!r} comes open at t = {self.t[self.count]:.6g} s, by "
                f"{gaps[row, sample, equation]:.2g}: the mechanism passes a singular position too fast for steps of "
                f"{self.h:g} s. Take a smaller dt",
                self._result("diverged"),
            )

    # --- events ---

    def _look_for_events(self) -> None:
        """Crossings among the samples that have come in since the last look."""
        if not self.setup.events or not self.count:
            return
        q, v = self._samples()
        seen = len(self.values[0][0]) if self.values else 0
        for k, event in enumerate(self.setup.events):
            fresh = event.values(
                np.broadcast_to(self.t[seen : self.count], q[:, seen:].shape[:2]), q[:, seen:], v[:, seen:]
            )
            if seen:
                self.values[k] = np.concatenate([self.values[k], fresh], axis=1)
            else:
                self.values.append(fresh)
        found = []
        for k, event in enumerate(self.setup.events):
            values = self.values[k][:, max(seen - 1, 0) :]
            crossed = event.crossed(values[:, :-1], values[:, 1:])
            found += [(int(sample) + max(seen - 1, 0), int(row), k) for row, sample in np.argwhere(crossed)]
        for (sample, row), together in groupby(sorted(found), key=lambda each: each[:2]):
            if self.stopped[row]:
                continue
            for share, k in sorted((self._share(sample, row, k), k) for *_, k in together):
                if not self.stopped[row]:
                    self._happen(sample, share, row, k)

    def _samples(self) -> tuple[Array, Array]:
        nq, nv = self.plant.model.nq, self.plant.model.nv
        past = self.records[:, : self.count]
        return past[..., :nq], past[..., nq : nq + nv]

    def _share(self, sample: int, row: int, k: int) -> float:
        """The part of the step after a sample in which an event happens."""
        event, start, width = self.setup.events[k], self.t[sample], self.t[sample + 1] - self.t[sample]

        def value(share: float) -> float:
            q, v = self._state(self._partial(row, sample, share))
            return float(event.values(np.array([start + share * width]), q, v)[0])

        sign = -1.0 if value(0.0) > 0 else 1.0
        return root(lambda s: sign * value(s), 0.0, 1.0)

    def _happen(self, sample: int, share: float, row: int, k: int) -> None:
        event = self.setup.events[k]
        at = self.t[sample] + share * (self.t[sample + 1] - self.t[sample])
        state = self._partial(row, sample, share)
        q, v = self._state(state)
        self.happened.append(Happened(event.name, float(at), self._index(row), q[0].copy(), v[0].copy()))
        if event.terminal:
            self.stopped[row] = True
            self.ends[row] = at
            if not self.setup.batch:
                self.count = sample + 1
                self.t[self.count] = at
                self._record(at, state, self.records[:, self.count : self.count + 1])
                self.count += 1

    def _index(self, row: int) -> tuple[int, ...]:
        """Where in the batch a row is."""
        return tuple(int(i) for i in np.unravel_index(row, self.setup.batch)) if self.setup.batch else ()

    def _partial(self, row: int, sample: int, share: float) -> Array:
        """The state of one row a part of a step after a sample."""
        rows = slice(None) if any(source.called for source in self.plant.sources) else slice(row, row + 1)
        state = self.records[rows, sample, : self.state.shape[1]].copy()
        if share:
            h = share * (self.t[sample + 1] - self.t[sample])
            t = self.t[sample] + np.array([0.0, h])
            nothing = np.empty((len(state), 1, record_size(self.plant)))
            self.stepper.advance(state, self._numbers(h)[rows], t, self._signals(t)[rows], 1, nothing)
        return state if len(state) == 1 else state[row : row + 1]

    # --- the result ---

    def _end_rows(self) -> None:
        """In a batch, a row that an event has stopped is nan from then on; where all have stopped, nothing follows."""
        t = self.t[: self.count]
        for row in np.flatnonzero(self.stopped):
            self.records[row, : self.count][t > self.ends[row]] = np.nan
        if self.stopped.all():
            self.count = int(np.searchsorted(t, self.ends.max(), side="right"))

    def _result(self, status: str) -> Trajectory:
        setup = self.setup
        if setup.batch and setup.events:
            self._end_rows()
        keep = np.arange(self.count)
        if self.every != setup.every:
            keep = np.unique([*range(0, self.count, setup.every), self.count - 1])
        records = self.records[:, : self.count] if len(keep) == self.count else self.records[:, keep]
        t = self.t[keep].copy()
        records = records.reshape((*setup.batch, len(t), self.records.shape[-1]))
        arrays: Any = columns_of(self.plant, records)
        return Trajectory(setup.robot, t, **arrays, method=setup.method, status=status, events=tuple(self.happened))


def _ends(robot: Robot) -> Array:
    """The number of equations up to the end of each constraint."""
    return np.cumsum([constraint.size for constraint in robot.model.constraints])


def refuse_large(rows: int, samples: float, plant: Plant) -> None:
    """An error if the records would not fit into any memory."""
    size = rows * samples * record_size(plant) * 8
    if not size <= LARGEST:
        raise ShapeError(
            f"simulate: {rows} motions of {samples:.4g} samples would take {size / 2**30:.3g} GiB; record fewer with "
            "record_every, simulate fewer at once, or take a longer dt"
        )


def largest_energy(robot: Robot, q: Array, v: Array) -> Array:
    """The kinetic energy, in J, beyond which a motion that started so has diverged."""
    falling = robot.mass * float(np.linalg.norm(robot.gravity))
    return np.asarray(EXPLODED * (robot.kinetic_energy(q, v) + falling + 1.0))


def _divided(duration: float, dt: float) -> tuple[float, int, float]:
    """The step, the number of whole ones, and what is left of the duration."""
    steps = duration / dt
    if steps > MOST_STEPS:
        raise ShapeError(f"simulate: {steps:.3g} steps of {dt:g} s in {duration:g} s; take a longer dt")
    whole = round(steps)
    if abs(steps - whole) < 1e-9 * max(1.0, steps):
        return duration / whole, whole, 0.0
    return dt, int(steps), duration - int(steps) * dt
