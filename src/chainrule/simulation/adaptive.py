"""Steps of the integrator's own choice, by SciPy: DOP853, Radau and LSODA.

Between events the equations are smooth. Events are looked for at every dt, as with fixed steps. Where a joint comes to
rest against dry friction or breaks away, where it meets a hard stop, and where a user's event happens, the time is
found by the integrator's own interpolation, and the integration restarts from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.algorithms.sticking import ROUNDING, Slip
from chainrule.arguments import Array
from chainrule.core.derived import backend_of
from chainrule.core.progress import ProgressBar
from chainrule.dynamics.energy import kinetic_energy
from chainrule.errors import SimulationError
from chainrule.functions.reference import scalars_of
from chainrule.loops.constraints import residual as constraint_residual
from chainrule.simulation import guards
from chainrule.simulation.events import Event, EventRecord, find_root
from chainrule.simulation.friction import find_slip, sticking_ranges
from chainrule.simulation.impacts import rebound
from chainrule.simulation.integrators import AdaptiveStep
from chainrule.simulation.plant import Plant, Rates
from chainrule.simulation.plant_calls import plant_calls
from chainrule.simulation.request import SimulationRequest
from chainrule.simulation.sampled import sample_sources
from chainrule.simulation.stages import REST_SPEED
from chainrule.simulation.time_loop import columns_of
from chainrule.simulation.trajectory import Trajectory

MAX_DRIFT = 1e-6
"""How far an integrator that remembers earlier steps may leave closed loops before it starts again."""

DRIFT_IN_TOLERANCES = 100.0
"""The same in tolerances of a step, which is more where they are wide."""

INTERPOLATION_IN_TOLERANCES = 10.0
"""How far, in tolerances of a step and beyond MAX_DRIFT, its interpolation may leave closed loops before it is halved.

DOP853 evaluates rates at times of its own for it, which the error of the step does not see. Of coupled cranks that turn
at 8 rad/s, one such time next to a flat position, where an equation is left out, put samples off by 5e-3 rad."""

SHORTEST_HALVED_STEP_S = 1e-5
"""Steps below it are taken as they are."""

BREAKAWAY_SPEED = 1e-12
"""The speed, in rad/s or m/s, at which a joint that breaks away starts."""

STICKING_CHANGES = 20
"""How often, for each joint that can stick, the set of those that do is corrected."""

BROKEN_SHARE = 1e-9
"""In loops: the part of its friction that a joint loses when it breaks away; else rounding decides whether it does."""

STOP_DISTANCE = 1e-9
"""The distance from its stop, relative to 1 + its limit, within which a joint has reached it."""

MAX_RESTARTS = 100_000
"""Events in one motion beyond which it counts as endless."""

JUST_BELOW_ZERO = -1e-300


def simulate_adaptively(request: SimulationRequest, integrator: AdaptiveStep) -> Trajectory:
    """The motion of every row by itself, at common times."""
    rows = len(request.state)
    guards.refuse_large(rows, request.duration / (integrator.dt * request.record_every), request.plant)
    grid = sample_times(request, integrator)
    runs: list[RowRun] = []
    try:
        with ProgressBar(request.duration * rows, request.progress) as progress:
            for row in range(rows):
                runs.append(RowRun(request, integrator, row, grid))
                try:
                    runs[-1].run(progress)
                except SimulationError:
                    if not request.keeps_diverged:
                        raise
    except KeyboardInterrupt as interrupt:
        guards.keep_motion(interrupt, _gather(request, runs, "interrupted"), request.duration)
        raise
    status = "stopped" if request.events and all(run.stopped for run in runs) else "finished"
    motion = _gather(request, runs, status)
    guards.refuse_excess_friction(request, motion)
    guards.warn_of_open_loops(request, motion)
    if status == "finished" and request.plant.stops != "impact" and len(motion):
        guards.warn_of_energy(request, motion[-1:])
        guards.warn_of_energy_jump(request, motion)
    return motion


def sample_times(request: SimulationRequest, integrator: AdaptiveStep) -> Array:
    """The times of the samples of a motion that runs to its end, without events."""
    spacing = integrator.dt * request.record_every
    samples = np.ceil(request.duration / spacing - 1e-9)
    return np.append(np.arange(int(samples)) * spacing, request.duration)


def _gather(request: SimulationRequest, runs: list[RowRun], status: str) -> Trajectory:
    """The trajectory of all rows, nan where one has no samples."""
    length = max((len(run.t) for run in runs), default=0)
    records = np.full((len(request.state), length, _record_size(request.plant)), np.nan)
    t = np.zeros(length)
    for row, run in enumerate(runs):
        count = min(length, len(run.t))
        records[row, :count] = np.array(run.records[:count]).reshape(count, records.shape[-1])
        if count == length:
            t = np.array(run.t[:count])
    arrays: Any = columns_of(request.plant, records.reshape((*request.start.batch, length, records.shape[-1])))
    events = tuple(event for run in runs for event in run.events)
    return Trajectory(
        request.robot,
        t,
        **arrays,
        method=request.integrator.name,
        status=status,
        events=events,
        parameters=request.bound.as_dict(),
    )


def _record_size(plant: Plant) -> int:
    """The number of numbers in a record: state, accelerations, torques, friction."""
    return plant.model.nq + plant.nx + 4 * plant.model.nv


@dataclass
class Watch:
    """A value along the motion whose passage through zero, upwards, is an event."""

    value: Callable[[float, Array], float]
    act: Callable[[float, Array], Array | None]
    """What happens then: the state after it, or None where it stays the same."""
    passes: bool = False
    """Whether the motion goes on smoothly."""

    def along(self, dense: Any) -> Callable[[float], float]:
        """The value as a function of time, for the integrator's interpolation of the state."""
        return lambda t: self.value(t, dense(t))


class RowRun:
    """One motion with adaptive steps, under way. Its state y is (q, v, x)."""

    def __init__(self, request: SimulationRequest, integrator: AdaptiveStep, row: int, grid: Array) -> None:
        self.request, self.integrator, self.grid = request, integrator, grid
        self.row = row
        self.index = request.start.index_of(row)
        self.y = request.state[row].copy()
        numbers = request.parameters[min(row, len(request.parameters) - 1)]
        self.p = scalars_of(numbers[None])
        self.plant = request.plant.at(self.p)
        self.calls = plant_calls(self.plant, self.p, backend_of(request.robot))
        self.slip: Slip | None = None
        self.broken: int | None = None
        """The joint of a loop that has just broken away."""
        self.t: list[float] = []
        self.records: list[Array] = []
        self.events: list[EventRecord] = []
        self.stopped = False
        self.now = 0.0
        self.segment_end = np.inf
        """The time of the next restart, where torques may jump."""
        self.longest_step = np.inf
        """The longest next step, in s."""
        q, v, _ = self.split(self.y)
        self.max_energy = float(guards.max_kinetic_energy(request.robot, q, v))

    # --- the state and its rates ---

    def split(self, y: Array) -> tuple[Array, Array, Array]:
        """q, v and x of a state."""
        nq, nv = self.plant.model.nq, self.plant.model.nv
        return y[:nq], y[nq : nq + nv], y[nq + nv :]

    def scalars(self, y: Array) -> tuple[list[Any], list[Any], list[Any]]:
        """q, v and x of a state, as lists of scalars."""
        q, v, x = (scalars_of(part[None]) for part in self.split(y))
        return q, v, x

    def signals(self, t: float, y: Array) -> list[Any]:
        """The signals of all sources."""
        q, v, _ = self.split(y)
        values: list[Any] = []
        for source in self.plant.sources:
            if source.jumps and t >= self.segment_end:  # what acts until then
                own = np.asarray(source.before(np.array([t])))
            else:
                own = np.asarray(source.signals(np.array([t]), q[None], v[None]))
            if own.ndim > 2 and not source.called:
                own = np.broadcast_to(own, (*self.request.start.batch, *own.shape[-2:]))[self.index]
            values += scalars_of(own.reshape(1, -1))
        return values

    def rates(self, t: float, y: Array) -> Rates:
        """The rates of the plant, with the joints slipping as they do now."""
        q, v, x = self.scalars(y)
        rates: Rates = self.calls.rates(q, v, x, self.signals(t, y), self.slip)
        return rates

    def derivative(self, t: float, y: Array) -> Array:
        """dy/dt."""
        q, v, _ = self.scalars(y)
        with np.errstate(all="ignore"):
            rates = self.rates(t, y)
            coordinate_rates = self.plant.coordinate_rates(q, v)
        return _flatten([*coordinate_rates, *rates.acceleration, *rates.further])

    def rate(self, t: float, y: Array) -> Array:
        """dy/dt for the integrator: one that cannot be corrected between steps has the rate at the corrected state."""
        is_corrected = self.integrator.restarts_each_step or not self.drifts
        return self.derivative(t, y if is_corrected else self.normalize(y))

    def resolve_sticking(self, t: float) -> None:
        """Find which joints slip and which stick from now on."""
        if not self.plant.can_stick:
            return
        if self.plant.rows:  # rounding moves what the others of a loop hold
            _, speeds, _ = self.split(self.y)
            for i in self.plant.can_stick:
                speeds[i] = 0.0 if abs(speeds[i]) < REST_SPEED else speeds[i]
        q, v, x = self.scalars(self.y)
        ranges = sticking_ranges(self.plant, q)
        if self.broken is not None:
            i = self.broken
            ranges[i] = (ranges[i][0] * (1 - BROKEN_SHARE), ranges[i][1] * (1 - BROKEN_SHARE))
            self.broken = None
        signals = self.signals(t, self.y)
        passes = STICKING_CHANGES * len(ranges)
        self.slip = find_slip(self.plant, self.calls, q, v, x, signals, ranges, passes)

    def normalize(self, y: Array) -> Array:
        """The state with unit quaternions, closed loops, and velocities that keep them closed."""
        q, v, x = self.scalars(y)
        q = list(self.plant.normalize(q))
        if self.plant.rows and self.request.projects:
            direction = self.slip.direction if self.slip else [1] * len(v)
            direction = [0 if i in self.plant.prescribed_velocities else d for i, d in enumerate(direction)]
            is_free = [np.where(np.asarray(d) == 0, 0.0, 1.0) + 0 * a for d, a in zip(direction, v, strict=True)]
            q = list(self.plant.displace(q, self.calls.closing_step(q, is_free)))
            v = list(self.calls.consistent_velocity(q, v, is_free))
        return _flatten([*q, *v, *x])

    # --- the integration ---

    def run(self, progress: ProgressBar) -> None:
        """Integrate to the end, from event to event."""
        t, duration = 0.0, self.request.duration
        breaks = [b for source in self.plant.sources for b in source.restart_times(0.0, duration)]
        for end in (*sorted(set(breaks)), duration):
            restarts = 0
            self.segment_end = np.inf
            self.sample_laws(t)
            self.segment_end = end if end < duration else np.inf
            while t < end and not self.stopped:
                t = self.integrate_to_event(t, float(end), progress)
                restarts += 1
                if restarts > MAX_RESTARTS:
                    raise SimulationError(
                        f"simulate: more than {MAX_RESTARTS} events by t = {t:.6g} s; the motion does not come to rest "
                        "between them. Take a fixed step, which bounds their number"
                    )
        self.segment_end = np.inf
        if not self.stopped:
            self.sample_laws(t)
        self.sample_until(t, None)
        if self.stopped and not self.request.start.batch and t > self.t[-1]:
            self.record(t, self.y)

    def sample_laws(self, t: float) -> None:
        """Sample the laws whose time it is; a record at that time is that of the state after it."""
        if not any(source.samples for source in self.plant.sources):
            return
        q, v, x = self.scalars(self.y)
        s = self.signals(t, self.y)
        x = list(self.calls.sample(q, v, x, s))
        x = list(sample_sources(self.plant, q, v, x, s, self.p, called=True))
        self.y = _flatten([*q, *v, *x])
        if self.t and self.t[-1] == t:
            self.t.pop()
            self.records.pop()
            self.record(t, self.y)

    def integrate_to_event(self, t: float, end: float, progress: ProgressBar) -> float:
        """Integrate until the next event, or the end; the time reached."""
        from scipy import integrate

        self.now = t
        self.resolve_sticking(t)
        solver = getattr(integrate, self.integrator.solver)(
            self.rate, t, self.y, end, rtol=self.integrator.rtol, atol=self.integrator.atol, max_step=self.longest_step
        )
        watches = self.watches()
        before = [watch.value(t, self.y) for watch in watches]
        while solver.status == "running":
            message = solver.step()
            if solver.status == "failed" or not np.isfinite(solver.y).all() or self.has_diverged(solver.y):
                self.fail(solver.t, solver.y, message)
            dense = solver.dense_output()
            low = solver.t_old
            if self.opens_loops(dense, low, solver.t):
                self.y, self.longest_step = self.normalize(dense(low)), (solver.t - low) / 2
                return float(low)
            for high in self.look_times(low, solver.t) if watches else ():
                y = solver.y if high == solver.t else dense(high)
                after = [watch.value(high, y) for watch in watches]
                crossed = [k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a < 0 <= b]
                if crossed and self.react(crossed, watches, dense, low, high):
                    return self.now
                low, before = high, after
            self.sample_until(solver.t, dense)
            progress.at(self.row * self.request.duration + solver.t)
            if self.longest_step < np.inf:
                self.longest_step = np.inf
                break
            if solver.status == "running" and self.drifts:
                corrected = self.normalize(solver.y)
                if self.integrator.restarts_each_step:
                    solver.y, solver.f = corrected, solver.fun(solver.t, corrected)
                elif (np.abs(corrected - solver.y) > self.allowed_drift(solver.y)).any():
                    break
        self.y = self.normalize(solver.y)
        return float(solver.t)

    @property
    def drifts(self) -> bool:
        """Whether the state has quaternions, or loops that are kept closed, from which steps lead away."""
        return bool(self.plant.model.quaternions) or bool(self.plant.rows and self.request.projects)

    def allowed_drift(self, y: Array) -> Array:
        """The distance of a state from closed loops and unit quaternions at which the integrator starts again."""
        step: Array = self.integrator.atol + self.integrator.rtol * np.abs(y)
        return MAX_DRIFT + DRIFT_IN_TOLERANCES * step

    def opens_loops(self, dense: Any, low: float, high: float) -> bool:
        """Whether the interpolation of a step leaves closed loops by far more than the step may."""
        if not (self.plant.rows and self.request.projects) or high - low < SHORTEST_HALVED_STEP_S:
            return False
        inside = np.array([self.split(dense(low + share * (high - low)))[0] for share in (0.25, 0.5, 0.75)])
        allowed = self.integrator.atol + self.integrator.rtol * np.abs(inside).max()
        gap = np.abs(constraint_residual(self.request.robot, inside)).max()
        return bool(gap > MAX_DRIFT + INTERPOLATION_IN_TOLERANCES * allowed)

    def look_times(self, low: float, high: float) -> list[float]:
        """The times in a step of the integrator at which to look for events: every dt, and its end."""
        dt = self.integrator.dt
        first, last = np.floor(low / dt) + 1, np.ceil(high / dt)
        return [*(np.arange(first, last) * dt).tolist(), high]

    def react(self, crossed: list[int], watches: list[Watch], dense: Any, low: float, high: float) -> bool:
        """Act on the events between two times, up to the first that ends the smooth motion; whether there is one."""
        times = [(find_root(watches[k].along(dense), low, high), k) for k in crossed]
        for at, k in sorted(times):
            y = self.normalize(dense(at))
            after = watches[k].act(at, y)
            if not watches[k].passes:
                self.sample_until(at, dense)
                self.y = y if after is None else after
                self.now = float(at)
                return True
        return False

    def has_diverged(self, y: Array) -> bool:
        """Whether the kinetic energy is more than any motion has."""
        q, v, _ = self.split(y)
        return not float(kinetic_energy(self.request.robot, q, v)) < self.max_energy

    def fail(self, t: float, y: Array, message: str | None) -> None:
        """Raise the error that the motion cannot go on."""
        _, v, _ = self.split(y)
        speed = np.where(np.isfinite(v), np.abs(v), np.inf)
        joint = self.request.robot.velocity_names[int(np.argmax(speed))]
        which = f", row {self.index}" if self.index else ""
        raise SimulationError(
            f"simulate: {self.integrator.name} cannot go on at t = {t:.6g} s{which}, joint {joint!r} being the fastest "
            f"({speed.max():.3g}): {message or 'the motion diverges'}. Loosen rtol and atol, or take another method",
            self.motion_so_far(),
        )

    # --- samples ---

    def sample_until(self, t: float, dense: Any) -> None:
        """Record the grid's times up to t."""
        while len(self.t) < len(self.grid) and self.grid[len(self.t)] <= t:
            at = float(self.grid[len(self.t)])
            self.record(at, self.normalize(dense(at)) if dense is not None else self.y)

    def record(self, t: float, y: Array) -> None:
        """Add a sample; an error if a loop is open there."""
        if self.plant.rows and self.request.projects:
            self.refuse_open_loop(t, y)
        rates = self.rates(t, y)
        tail = _flatten([*rates.acceleration, *rates.torque, *rates.friction])
        self.records.append(np.concatenate([y, tail]))
        self.t.append(t)  # after the record: an interrupt may come in between

    def refuse_open_loop(self, t: float, y: Array) -> None:
        """Raise where the loops of a state are open, with the motion before it."""
        q = np.array([self.split(x)[0] for x in (*self.records[-1:], y)])
        failure = guards.find_open_loop(self.request.robot, np.array([*self.t[-1:], t]), q[None], len(q) - 1)
        if failure is not None:
            which = f" (row {self.index})" if self.index else ""
            raise SimulationError(failure.message + which, self.motion_so_far())

    def motion_so_far(self) -> Trajectory | None:
        """The samples of a single motion, for an error; None in a batch."""
        return _gather(self.request, [self], "diverged") if len(self.request.state) == 1 else None

    # --- events: each is a value that passes zero upwards ---

    def watches(self) -> list[Watch]:
        """Everything that may end the smooth motion, and the user's events."""
        watches = [self.watch_event(event, sign) for event in self.request.events for sign in (1, -1)
                   if event.direction in (0, sign)]  # fmt: skip
        if self.slip is not None:
            for i in self.plant.can_stick:
                direction = float(np.ravel(self.slip.direction[i])[0])
                if direction == 0:
                    watches += self.watch_breakaway(i)
                elif i in self.plant.has_friction and not self.is_held(i):
                    watches.append(self.watch_rest(i, direction))
        if self.plant.stops == "impact":
            for limit in self.plant.limits:
                ends = ((limit.upper, 1), (limit.lower, -1))
                watches += [self.watch_limit(limit.coordinate, end, sign) for end, sign in ends if np.isfinite(end)]
        return watches

    def is_held(self, i: int) -> bool:
        """Whether a joint of a loop rests though its friction is at its limit: others hold the loop."""
        _, v, _ = self.split(self.y)
        if not self.plant.rows or v[i] != 0:
            return False
        rates = [float(np.ravel(a)[0]) for a in self.rates(self.now, self.y).acceleration]
        return abs(rates[i]) <= ROUNDING * (1 + max(map(abs, rates)))

    def watch_limit(self, place: int, limit: float, sign: int) -> Watch:
        """A joint meets a hard stop."""
        return Watch(lambda t, y: sign * float(y[place] - limit) or JUST_BELOW_ZERO, self.bounce)

    def watch_rest(self, i: int, direction: float) -> Watch:
        """A slipping joint comes to rest."""
        at = self.plant.model.nq + i

        def rest(t: float, y: Array) -> Array:
            y[at] = 0.0
            return y

        return Watch(lambda t, y: -float(y[at]) * direction or JUST_BELOW_ZERO, rest)

    def watch_breakaway(self, i: int) -> list[Watch]:
        """A sticking joint breaks away, upwards or downwards."""
        q, _, _ = self.scalars(self.y)
        low, high = (float(np.ravel(x)[0]) for x in sticking_ranges(self.plant, q)[i])
        at = self.plant.model.nq + i

        def excess(t: float, y: Array) -> float:
            return float(np.ravel(self.rates(t, y).excess[i])[0])

        def break_away(y: Array, direction: float) -> Array:
            if self.plant.rows:
                self.broken = i
                return y
            y[at] = direction * BREAKAWAY_SPEED  # at the limit itself, rounding would decide whether it moves
            return y

        return [
            Watch(lambda t, y: excess(t, y) - high, lambda t, y: break_away(y, 1.0)),
            Watch(lambda t, y: -excess(t, y) - low, lambda t, y: break_away(y, -1.0)),
        ]

    def watch_event(self, event: Event, sign: int) -> Watch:
        """An event of the user, in one direction."""

        def value(t: float, y: Array) -> float:
            q, v, _ = self.split(y)
            return sign * float(event.values(np.array(t), q, v))

        def note(t: float, y: Array) -> None:
            q, v, _ = self.split(y)
            self.events.append(EventRecord(event.name_at(q), t, self.index, q.copy(), v.copy()))
            self.stopped = self.stopped or event.terminal

        return Watch(value, note, passes=not event.terminal)

    def bounce(self, t: float, y: Array) -> Array:
        """The state after an impact at a joint limit."""
        q, v, x = self.scalars(y)
        nv, just_beyond = self.plant.model.nv, list(q)
        for limit in self.plant.limits:
            k, i = limit.coordinate, limit.velocity
            for end, sign in ((limit.lower, -1), (limit.upper, 1)):
                if sign * v[i] > 0 and sign * (q[k] - end) > -STOP_DISTANCE * (1 + abs(end)):
                    just_beyond[k] = np.full_like(q[k], np.nextafter(end, sign * np.inf))
        speed_per_step = [np.abs(np.ravel(a)) * self.integrator.dt for a in self.rates(t, y).acceleration]
        q_after, v_after = rebound(self.plant, self.calls, just_beyond, v, self.p[:nv], speed_per_step)
        return _flatten([*q_after, *v_after, *x])


def _flatten(values: list[Any]) -> Array:
    """Scalars of one row as an array."""
    return np.array([float(np.ravel(value)[0]) for value in values])
