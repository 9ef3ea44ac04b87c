"""Splitting of steps: the steps of a motion between two times, whole ones, and those with an event inside.

A step is split where a source's values jump, where a law is sampled, and where a joint comes to rest against friction
or meets its limit. The last two are found after the step: it is taken again up to the moment, which is found by
bisection, and then to its end. So a method of order two or more keeps its order at such events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.functions.reference import scalars_of
from chainrule.lazy import cached_property
from chainrule.simulation.integrators import FixedStep
from chainrule.simulation.plant import Limit
from chainrule.simulation.request import SimulationRequest
from chainrule.simulation.sampled import SampledSource, calls_at_instants, sample_sources
from chainrule.simulation.sources import Source
from chainrule.simulation.time_loop import BackendTimeLoop, TimeLoop, make_time_loop, record_size, state_size

GRID_TOLERANCE = 1e-9
"""The share of a step up to which a jump counts as one at its end."""

BISECTIONS = 42
"""Halvings of a step in the search for an event: to 2e-13 of its length."""

MAX_SPLITS = 8
"""Events in one step that are located; a joint that bounces faster is left to the step."""

MIN_SPEED = 1e-13
"""The speed, in rad/s or m/s, below which a joint that turns back was at rest."""

MIN_BURST, MAX_BURST = 16, 4096
"""Steps that are taken before events are looked for."""

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Division:
    """Times of steps, split ones included."""

    t: Array
    """The starts, and the end of the last, (n + 1,): exactly those of jumps where there are any."""
    lengths: Array
    """(n,)."""
    is_whole: NDArray[np.bool_]
    """Whether each starts where a step starts that is not split."""


class StepSplitter:
    """Takes the steps of one simulation, and splits those that need it."""

    def __init__(self, request: SimulationRequest, integrator: FixedStep) -> None:
        self.request, self.plant, self.integrator = request, request.plant, integrator
        self.rows = len(request.start.q)
        self.size = state_size(self.plant)
        self.calls = any(source.called for source in self.plant.sources)
        self.locates = integrator.order > 1 and bool(self.plant.has_friction or self.plant.stops)
        """Whether events are located inside steps."""
        self.called_laws = [source for source in self.plant.sources if calls_at_instants(source)]
        self.completed = 0
        """Records that the last advance has written, where it was interrupted."""
        self._burst = MIN_BURST

    @cached_property
    def time_loop(self) -> TimeLoop:
        """The loop over time, made when first used: a simulation on a device needs none."""
        return make_time_loop(self.request, self.integrator)

    def advance(self, state: Array, grid: Array, h: float, every: int, records: Array) -> None:
        """Take the steps of length h between the times of the grid, and record every `every`-th of them."""
        self.completed = 0
        division = self.divide(grid, h)
        if division.is_whole.all() and not self.called_laws and not self.locates:
            time_loop, parameters, signals = self.time_loop, self._parameters(h), self._signals(division.t)
            try:
                time_loop.advance(state, parameters, division.t, signals, every, records)
            finally:
                self.completed = -(-time_loop.taken // every)
            return
        kept = np.flatnonzero(division.is_whole)[::every]
        fine = np.empty((self.rows, len(division.lengths), record_size(self.plant)))
        done = 0
        try:
            for taken in self._take_pieces(state, division, fine):
                done = taken
        finally:
            self.completed = int(np.searchsorted(kept, done))
            records[:, : self.completed] = fine[:, kept[: self.completed]]

    def advance_all(self, state: Array, division: Division, records: Array) -> None:
        """Take the steps of a division, and record all of them."""
        self.completed = 0
        for done in self._take_pieces(state, division, records):
            self.completed = done

    def bind(self, state: Array, h: float) -> Callable[[], None] | None:
        """One step of these states, in place, without arguments; None where steps may be split or have signals."""
        if self.calls or self.locates or self.plant.width or not isinstance(self.time_loop, BackendTimeLoop):
            return None
        own = self.request.parameters
        parameters = np.concatenate([np.full((len(own), 1), h), own], axis=1)
        step = self.time_loop.bind(state, parameters)

        def advance() -> None:
            parameters[:, 1:] = own  # torques change from step to step
            step()

        return advance

    def record(self, state: Array, t: float, h: float, record: Array) -> None:
        """Write the record of a state, which stays as it is: that of a step from there."""
        state = state.copy()
        self._call_laws(state, t)
        times = np.array([t, t + h])
        self.time_loop.look(state, self._parameters(h), t, self._signals(times), record)

    def partial(self, row: int, start: Array, t: float, h: float) -> Array:
        """The state (1, size) of one row, a time h after a recorded start (rows, size)."""
        rows = np.array([row])
        if not self.locates:
            return self._take(rows, start, np.array([t]), np.array([h]))
        return self._take_split(rows, start, t, t + h)

    # --- times ---

    def divide(self, grid: Array, h: float) -> Division:
        """The steps between the times of a grid, split where sources jump."""
        tolerance = GRID_TOLERANCE * h
        found = [source.split_times(grid[0] - tolerance, grid[-1] + tolerance) for source in self.plant.sources]
        jumps = np.unique(np.concatenate(found))
        whole = np.ones(len(grid) - 1, dtype=bool)
        if not len(jumps):
            return Division(grid, np.full(len(whole), h), whole)
        nearest = np.clip(np.searchsorted(grid, jumps), 1, len(grid) - 1)
        nearest -= jumps - grid[nearest - 1] < grid[nearest] - jumps
        on_grid = np.abs(grid[nearest] - jumps) <= tolerance
        t = grid.copy()
        t[nearest[on_grid]] = jumps[on_grid]
        places = np.searchsorted(grid, jumps[~on_grid])
        lengths = np.diff(np.insert(grid, places, jumps[~on_grid]))
        starts = np.insert(np.ones(len(grid), dtype=bool), places, False)
        lengths[starts[:-1] & starts[1:]] = h
        return Division(np.insert(t, places, jumps[~on_grid]), lengths, starts[:-1])

    def _take_pieces(self, state: Array, division: Division, records: Array) -> Iterator[int]:
        """Take steps in pieces of equal length between calls of laws, and yield the number of steps taken so far."""
        t, lengths = division.t, division.lengths
        ends = np.diff(lengths) != 0
        for source in self.called_laws:
            ends |= _instants(source, t[1:-1])
        ends = np.append(np.flatnonzero(ends) + 1, len(lengths))
        first = 0
        for end in ends.tolist():
            self._call_laws(state, t[first])
            piece, out = t[first : end + 1], records[:, first:end]
            if self.locates:
                self._take_locating(state, piece, lengths[first], out)
            else:
                self._take_steps(np.arange(self.rows), state, piece, lengths[first], out)
            first = end
            yield end

    # --- parameters and signals of the time loop ---

    def _parameters(self, h: float | Array, rows: Rows | None = None) -> Array:
        """The step and the parameters of the plant: (rows, 1 + parameters)."""
        parameters = self.request.parameters
        if rows is None:
            whole = np.ascontiguousarray(np.concatenate([np.full((len(parameters), 1), h), parameters], axis=1))
            return np.broadcast_to(whole, (self.rows, whole.shape[1]))
        own = parameters if len(parameters) == 1 else parameters[rows]
        steps = np.broadcast_to(h, len(rows))[:, None]
        return np.concatenate([steps, np.broadcast_to(own, (len(rows), own.shape[1]))], axis=1)

    def _signals(self, t: Array) -> Array:
        """Signals at the start, half way and just before the end of each step: (rows, 3 steps, width)."""
        times = np.stack([t[:-1], (t[:-1] + t[1:]) / 2, t[1:]], axis=1).reshape(-1)
        parts = [self._signals_of(source, times) for source in self.plant.sources if source.width]
        batch = self.request.start.batch
        if all(part.ndim == 2 for part in parts):
            shared = np.ascontiguousarray(np.concatenate([np.zeros((len(times), 0)), *parts], axis=1))
            return np.broadcast_to(shared, (self.rows, *shared.shape))
        wide = [np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in parts]
        return np.ascontiguousarray(np.concatenate(wide, axis=-1).reshape(self.rows, len(times), -1))

    def _signals_of(self, source: Source, times: Array, marks: bool = True) -> Array:
        """Signals of a source at the stages of steps (3 steps,)."""
        if source.called:
            return np.zeros((len(times), source.width))
        part = source.signals(times, np.zeros(0), np.zeros(0))
        if source.jumps:
            part = part.copy()
            part[..., 2::3, :] = source.before(times[2::3])
        own = getattr(source, "source", source)
        return own.without_marks(part) if isinstance(own, SampledSource) and not marks else part

    def _signals_between(self, rows: Rows, t: Array, h: Array) -> Array:
        """Signals of one step for each of some rows, from times t (R,): (R, 3, width). No law is sampled."""
        times = np.stack([t, t + h / 2, t + h], axis=1)
        parts = [np.zeros((len(rows), 3, 0))]
        for source in self.plant.sources:
            if not source.width:
                continue
            if not source.batch:
                parts.append(self._signals_of(source, times.reshape(-1), marks=False).reshape(len(rows), 3, -1))
                continue
            own = [self._signals_of(source, each, marks=False) for each in times]
            start = self.request.start
            wide = [np.broadcast_to(part, (*start.batch, *part.shape[-2:])) for part in own]
            parts.append(np.stack([part[start.index_of(int(row))] for part, row in zip(wide, rows, strict=True)]))
        return np.concatenate(parts, axis=-1)

    def inputs(self, t: Array, h: float) -> tuple[Array, Array]:
        """Parameters (rows, 1 + count) and signals (rows, 3 steps, width) of whole steps between the times t."""
        return self._parameters(h), self._signals(t)

    # --- laws that Python calls ---

    def _call_laws(self, state: Array, t: float) -> None:
        """Sample the laws that Python calls, if this is the time for one."""
        at = np.array([t])
        if not any(_instants(source, at)[0] for source in self.called_laws):
            return
        nq, nv = self.plant.model.nq, self.plant.model.nv
        signals = self._signals(np.array([t, t]))[:, 0]
        q, v, x, s, p = (
            scalars_of(part)
            for part in (
                state[:, :nq], state[:, nq : nq + nv], state[:, nq + nv :], signals, self._parameters(0.0)[:, 1:]
            )
        )  # fmt: skip
        for k, value in enumerate(sample_sources(self.plant, q, v, x, s, p, called=True)):
            state[:, nq + nv + k] = value

    # --- steps ---

    def _take_steps(self, rows: Rows, state: Array, t: Array, h: float, records: Array) -> None:
        """Take steps of equal length for some rows."""
        if len(rows) == self.rows:
            self.time_loop.advance(state, self._parameters(h), t, self._signals(t), 1, records)
        elif self.calls:  # functions get all rows
            whole = np.broadcast_to(state[:1], (self.rows, self.size)).copy()
            whole[rows] = state
            out = np.empty((self.rows, *records.shape[1:]))
            self.time_loop.advance(whole, self._parameters(h), t, self._signals(t), 1, out)
            state[:], records[:] = whole[rows], out[rows]
        else:
            self.time_loop.advance(state, self._parameters(h, rows), t, self._signals(t)[rows], 1, records)

    def _take(self, rows: Rows, start: Array, t: Array, h: Array) -> Array:
        """States (R, size) of some rows, times h (R,) after recorded starts at the times t (R,)."""
        state = start[:, : self.size].copy()
        if not self.calls:
            unused = np.empty((len(rows), 1, record_size(self.plant)))
            signals = self._signals_between(rows, t, h)
            self.time_loop.advance(state, self._parameters(h, rows), np.array([0.0, 1.0]), signals, 1, unused)
            return state
        unused = np.empty((self.rows, 1, record_size(self.plant)))
        for k, row in enumerate(rows):  # functions get all rows, and one time
            whole = np.broadcast_to(state[k], (self.rows, self.size)).copy()
            signals = self._signals_between(np.arange(self.rows), np.full(self.rows, t[k]), np.full(self.rows, h[k]))
            times = np.array([t[k], t[k] + h[k]])
            self.time_loop.advance(whole, self._parameters(h[k]), times, signals, 1, unused)
            state[k] = whole[row]
        return state

    # --- events inside steps ---

    def _take_locating(self, state: Array, t: Array, h: float, records: Array) -> None:
        """Take steps of equal length, and those with events again, in parts."""
        first, steps = 0, len(t) - 1
        everyone = np.arange(self.rows)
        while first < steps:
            end = min(first + self._burst, steps)
            piece, out = t[first : end + 1], records[:, first:end]
            self._take_steps(everyone, state, piece, h, out)
            at = self._first_events(out, state)
            found = bool((at < end - first).any())
            while (k := int(at.min())) < end - first:
                rows = np.flatnonzero(at == k)
                after = self._take_split(rows, out[rows, k], piece[k], piece[k + 1])
                rest = np.empty((len(rows), end - first - k - 1, out.shape[-1]))
                if rest.shape[1]:
                    self._take_steps(rows, after, piece[k + 1 :], h, rest)
                    out[rows, k + 1 :] = rest
                state[rows] = after
                at[rows] = k + 1 + self._first_events(rest, after)
            self._burst = max(self._burst // 2, MIN_BURST) if found else min(2 * self._burst, MAX_BURST)
            first = end

    def _first_events(self, records: Array, end: Array) -> Rows:
        """The first step of each row with an event, from records (R, n, record) and the states after them; else n."""
        states = np.concatenate([records[..., : self.size], end[:, None]], axis=1)
        happens = self._happens(states[:, :-1], states[:, 1:])
        if not happens.shape[1]:
            return np.zeros(len(end), dtype=np.intp)
        return np.where(happens.any(axis=1), happens.argmax(axis=1), happens.shape[1])

    def _happens(self, before: Array, after: Array) -> NDArray[np.bool_]:
        """Whether a joint comes to rest or turns back, or meets or leaves its limit, between two states."""
        nq = self.plant.model.nq
        happens = np.zeros(before.shape[:-1], dtype=bool)
        for i in self.plant.has_friction:
            v, v_after = before[..., nq + i], after[..., nq + i]
            happens |= (np.abs(v) > MIN_SPEED) & (v_after * np.sign(v) <= 0)
        if self.plant.stops is None:
            return happens
        leaves = self.plant.stops == "spring"  # whose force may jump there too
        for limit in self.plant.limits:
            q, q_after = before[..., limit.coordinate], after[..., limit.coordinate]
            v, v_after = before[..., nq + limit.velocity], after[..., nq + limit.velocity]
            for end, sign in ((limit.upper, 1), (limit.lower, -1)):
                if not np.isfinite(end):
                    continue
                if leaves:
                    happens |= self._pushes(limit, sign * (q - end), sign * v) != self._pushes(
                        limit, sign * (q_after - end), sign * v_after
                    )
                else:
                    moves = (sign * (q - end) < 0) | ((q == end) & (np.abs(v) > MIN_SPEED))  # rebounds start there
                    happens |= moves & (sign * (q_after - end) >= 0) & (sign * v_after <= 0)
        return happens

    def _pushes(self, limit: Limit, depth: Array, rate: Array) -> NDArray[np.bool_]:
        """Whether a springy stop pushes back, for depths and rates into it."""
        stiffness, damping = self.request.parameters[0, : 2 * self.plant.model.nv].reshape(2, -1)[:, limit.velocity]
        return np.asarray((depth > 0) & (stiffness * depth + damping * rate > 0))

    def _take_split(self, rows: Rows, start: Array, t: float, end: float) -> Array:
        """States of some rows at the end of a step with events, taken in parts from recorded starts."""
        y = start[:, : self.size].copy()
        now = np.full(len(rows), t)
        active = np.arange(len(rows))
        for split in range(MAX_SPLITS + 1):
            left = end - now[active]
            after = self._take(rows[active], y[active], now[active], left)
            hit = self._happens(y[active], after)
            if split == MAX_SPLITS:
                hit[:] = False
            y[active[~hit]] = after[~hit]
            active = active[hit]
            if not len(active):
                break
            share = self._locate(rows[active], y[active], now[active], left[hit])
            length = share * left[hit]
            y[active] = self._take(rows[active], y[active], now[active], length)
            now[active] = np.where(share < 1, now[active] + length, end)
            active = active[now[active] < end]
            if not len(active):
                break
        return y

    def _locate(self, rows: Rows, start: Array, t: Array, h: Array) -> Array:
        """The shares of steps at which an event has just happened."""
        low, high = np.zeros(len(rows)), np.ones(len(rows))
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            happens = self._happens(start, self._take(rows, start, t, middle * h))
            high, low = np.where(happens, middle, high), np.where(happens, low, middle)
        return high


def _instants(source: Source, t: Array) -> NDArray[np.bool_]:
    """Whether each of the times t is an instant of a sampled law."""
    own = getattr(source, "source", source)
    assert isinstance(own, SampledSource)
    return own.is_instant(t)
