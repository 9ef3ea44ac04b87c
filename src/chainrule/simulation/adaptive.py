"""Steps of the integrator's own choice, by SciPy: DOP853, Radau and LSODA.

Between events the equations are smooth. Events are looked for at every dt, as with fixed steps. Where a joint comes to
rest against dry friction or breaks away, where it meets a hard stop, and where a user's event happens, the time is
found by the integrator's own interpolation, and the integration starts anew from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import kernels_enabled
from chainrule.errors import SimulationError
from chainrule.functions.reference import scalars_of
from chainrule.simulation.events import root
from chainrule.simulation.fixed_step import largest_energy, refuse_large
from chainrule.simulation.plant import Plant, Rates, Slip
from chainrule.simulation.progress import Progress
from chainrule.simulation.request import Setup
from chainrule.simulation.step import bounced, corrected, held_range, settled, slip_of
from chainrule.simulation.steppers import Inline, Kernels, columns_of
from chainrule.simulation.trajectory import Happened, Trajectory, coordinate_names

NUDGE = 1e-12
"""The speed, in rad/s or m/s, at which a joint that breaks away starts."""

PIVOTS = 20
"""How often, for each joint that may be held, the set of those that are is corrected."""

REACHED = 1e-9
"""How near a joint is to its stop, in rad or m, when it is there."""

RESTARTS = 100_000
"""Events in one motion, beyond which it is taken not to come to an end."""


def adaptive(setup: Setup) -> Trajectory:
    """Every row of the batch by itself, at the common times."""
    spacing = setup.dt * setup.every
    samples = np.ceil(setup.duration / spacing - 1e-9)
    refuse_large(len(setup.state), samples, setup.plant)
    count = int(samples)
    grid = np.append(np.arange(count) * spacing, setup.duration)
    runs: list[_Row] = []
    status = "finished"
    with Progress(setup.duration * len(setup.state), setup.progress) as progress:
        try:
            for row in range(len(setup.state)):
                runs.append(_Row(setup, row, grid))
                try:
                    runs[-1].go(progress)
                except SimulationError:
                    if not setup.keep_diverged:
                        raise
        except KeyboardInterrupt:
            status = "interrupted"
    length = max((len(run.t) for run in runs), default=0)
    if setup.events and all(run.stopped for run in runs) and status == "finished":
        status = "stopped"
    return _gathered(setup, runs, length, status)


def _gathered(setup: Setup, runs: list[_Row], length: int, status: str) -> Trajectory:
    records = np.full((len(setup.state), length, _width(setup.plant)), np.nan)
    t = np.zeros(length)
    for row, run in enumerate(runs):
        take = min(length, len(run.t))
        records[row, :take] = np.array(run.records[:take]).reshape(take, -1)
        if take == length:
            t = np.array(run.t[:take])
    arrays: Any = columns_of(setup.plant, records.reshape((*setup.batch, length, -1)))
    happened = tuple(event for run in runs for event in run.happened)
    return Trajectory(setup.robot, t, **arrays, method=setup.method, status=status, events=happened)


def _width(plant: Plant) -> int:
    return plant.model.nq + plant.nx + 4 * plant.model.nv


@dataclass
class _Watch:
    """Something to happen: a function of time along a step that passes zero upwards there, what to do then, and
    whether the motion goes on smoothly."""

    value: Callable[[float, Array], float]
    act: Callable[[float, Array], Array | None]
    passes: bool = False

    def along(self, dense: Any) -> Callable[[float], float]:
        return lambda t: self.value(t, dense(t))


class _Row:
    """One motion. Its state y is (q, v, x)."""

    def __init__(self, setup: Setup, row: int, grid: Array) -> None:
        self.setup, self.plant, self.grid = setup, setup.plant, grid
        self.row = row
        self.index = tuple(int(i) for i in np.unravel_index(row, setup.batch)) if setup.batch else ()
        self.y = setup.state[row].copy()
        numbers = setup.parameters[min(row, len(setup.parameters) - 1)]
        self.p = scalars_of(numbers[None])
        compiling = setup.robot._compiled and kernels_enabled()
        self.calls: Any = (Kernels if compiling else Inline)(self.plant, self.p)
        self.slip: Slip | None = None
        self.t: list[float] = []
        self.records: list[Array] = []
        self.happened: list[Happened] = []
        self.stopped = False
        self.now = 0.0
        q, v, _ = self.parts(self.y)
        self.largest = float(largest_energy(setup.robot, q, v))

    def parts(self, y: Array) -> tuple[Array, Array, Array]:
        nq, nv = self.plant.model.nq, self.plant.model.nv
        return y[:nq], y[nq : nq + nv], y[nq + nv :]

    def scalars(self, y: Array) -> tuple[list[Any], list[Any], list[Any]]:
        q, v, x = (scalars_of(part[None]) for part in self.parts(y))
        return q, v, x

    def signals(self, t: float, y: Array) -> list[Any]:
        q, v, _ = self.parts(y)
        values: list[Any] = []
        for source in self.plant.sources:
            found = np.asarray(source.signals(np.array([t]), q[None], v[None]))
            if found.ndim > 2 and not source.called:
                found = np.broadcast_to(found, (*self.setup.batch, *found.shape[-2:]))[self.index]
            values += scalars_of(found.reshape(1, -1))
        return values

    def rates(self, t: float, y: Array) -> Rates:
        q, v, x = self.scalars(y)
        rates: Rates = self.calls.rates(q, v, x, self.signals(t, y), self.slip)
        return rates

    def derivative(self, t: float, y: Array) -> Array:
        q, v, _ = self.scalars(y)
        with np.errstate(all="ignore"):
            rates = self.rates(t, y)
            moved = self.plant.coordinate_rates(q, v)
        return _flat([*moved, *rates.acceleration, *rates.further])

    def settle(self, t: float) -> None:
        """Which joints slip and which are held from now on."""
        q, v, x = self.scalars(self.y)
        s = self.signals(t, self.y)
        slip, rates = settled(self.plant, self.calls, q, v, x, s)
        bounds = held_range(self.plant, q)
        for _ in range(PIVOTS * len(bounds) if slip else 0):
            assert slip is not None
            better = corrected(self.plant, slip, v, rates, bounds).direction
            changed = [i for i in bounds if np.any(better[i] != slip.direction[i])]
            if not changed:
                break
            direction = list(slip.direction)
            direction[changed[0]] = better[changed[0]]  # one at a time, the first: Murty's rule, which does not cycle
            slip = slip_of(direction)
            rates = self.calls.rates(q, v, x, s, slip)
        self.slip = slip

    def normalised(self, y: Array) -> Array:
        """Unit quaternions, closed loops, and the velocities that go with them."""
        q, v, x = self.scalars(y)
        q = list(self.plant.normalised(q))
        if self.plant.rows and self.setup.project:
            direction = self.slip.direction if self.slip else [1] * len(v)
            free = [np.where(np.asarray(d) == 0, 0.0, 1.0) + 0 * a for d, a in zip(direction, v, strict=True)]
            q = list(self.plant.moved(q, self.calls.closing_step(q, free)))
            v = list(self.calls.consistent_velocity(q, v, free))
        return _flat([*q, *v, *x])

    # --- the integration ---

    def go(self, progress: Progress) -> None:
        """To the end, from event to event."""
        t = 0.0
        breaks = [b for source in self.plant.sources for b in source.breaks if 0 < b < self.setup.duration]
        for end in (*sorted(set(breaks)), self.setup.duration):
            restarts = 0
            while t < end and not self.stopped:
                t = self.smooth(t, float(end), progress)
                restarts += 1
                if restarts > RESTARTS:
                    raise SimulationError(
                        f"simulate: more than {RESTARTS} events by t = {t:.6g} s; the motion does not come to rest "
                        "between them. Take a fixed step, which bounds their number"
                    )
        self.sample_until(t, None)
        if self.stopped and not self.setup.batch and t > self.t[-1]:
            self.record(t, self.y)

    def smooth(self, t: float, end: float, progress: Progress) -> float:
        """Integrate until the next event, or the end; the time reached."""
        from scipy import integrate

        self.settle(t)
        solver_of = {"dop853": integrate.DOP853, "radau": integrate.Radau, "lsoda": integrate.LSODA}
        solver = solver_of[self.setup.method](
            self.derivative, t, self.y, end, rtol=self.setup.rtol, atol=self.setup.atol
        )
        watches = self.watches()
        before = [watch.value(t, self.y) for watch in watches]
        while solver.status == "running":
            message = solver.step()
            if solver.status == "failed" or not np.isfinite(solver.y).all() or self.exploded(solver.y):
                self.fail(solver.t, solver.y, message)
            dense = solver.dense_output()
            low = solver.t_old
            for high in self.looks(low, solver.t) if watches else ():
                y = solver.y if high == solver.t else dense(high)
                after = [watch.value(high, y) for watch in watches]
                crossed = [k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a < 0 <= b]
                if crossed and self.react(crossed, watches, dense, low, high):
                    return self.now
                low, before = high, after
            self.sample_until(solver.t, dense)
            progress.at(self.row * self.setup.duration + solver.t)
            if self.plant.model.quaternions and solver.status == "running" and self.setup.method != "lsoda":
                solver.y = self.normalised(solver.y)  # a one-step method goes on from there
        self.y = self.normalised(solver.y)
        return float(solver.t)

    def looks(self, low: float, high: float) -> list[float]:
        """Where to look for events in a step of the integrator: at every dt, and at its end."""
        first, last = np.floor(low / self.setup.dt) + 1, np.ceil(high / self.setup.dt)
        return [*(np.arange(first, last) * self.setup.dt).tolist(), high]

    def react(self, crossed: list[int], watches: list[_Watch], dense: Any, low: float, high: float) -> bool:
        """What the events between two times do, up to the first that ends the smooth motion; whether there is one."""
        times = [(root(watches[k].along(dense), low, high), k) for k in crossed]
        for at, k in sorted(times):
            y = self.normalised(dense(at))
            after = watches[k].act(at, y)
            if not watches[k].passes:
                self.sample_until(at, dense)
                self.y = y if after is None else after
                self.now = float(at)
                return True
        return False

    def exploded(self, y: Array) -> bool:
        q, v, _ = self.parts(y)
        return not float(self.setup.robot.kinetic_energy(q, v)) < self.largest

    def fail(self, t: float, y: Array, message: str | None) -> None:
        _, v, _ = self.parts(y)
        speed = np.where(np.isfinite(v), np.abs(v), np.inf)
        joint = coordinate_names(self.setup.robot)[1][int(np.argmax(speed))]
        which = f", row {self.index}" if self.index else ""
        raise SimulationError(
            f"simulate: {self.setup.method} cannot go on at t = {t:.6g} s{which}, joint {joint!r} being the fastest "
            f"({speed.max():.3g}): {message or 'the motion diverges'}. Loosen rtol and atol, or take another method",
            _gathered(self.setup, [self], len(self.t), "diverged") if len(self.setup.state) == 1 else None,
        )

    # --- samples ---

    def sample_until(self, t: float, dense: Any) -> None:
        """Record the grid's times up to t."""
        while len(self.t) < len(self.grid) and self.grid[len(self.t)] <= t:
            at = float(self.grid[len(self.t)])
            self.record(at, self.normalised(dense(at)) if dense is not None else self.y)

    def record(self, t: float, y: Array) -> None:
        rates = self.rates(t, y)
        tail = _flat([*rates.acceleration, *rates.torque, *rates.friction])
        self.t.append(t)
        self.records.append(np.concatenate([y, tail]))

    # --- events: each is a value that passes zero upwards ---

    def watches(self) -> list[_Watch]:
        found = [self.watch_event(event, sign) for event in self.setup.events for sign in (1, -1)
                 if event.direction in (0, sign)]  # fmt: skip
        if self.slip is not None:
            up, down = self.plant.coulomb
            for i in self.plant.may_hold:
                direction = float(np.ravel(self.slip.direction[i])[0])
                if direction == 0:
                    found += self.watch_hold(i)
                elif up[i] > 0 or down[i] > 0:
                    found.append(self.watch_rest(i, direction))
        if self.plant.stops == "impact":
            for iq, _, lower, upper in self.plant.limited:
                found += [self.watch_limit(iq, b, s) for b, s in ((upper, 1), (lower, -1)) if np.isfinite(b)]
        return found

    def watch_limit(self, place: int, limit: float, sign: int) -> _Watch:
        """A joint meets a hard stop."""
        return _Watch(lambda t, y: sign * float(y[place] - limit) or -1e-300, self.bounce)

    def watch_rest(self, i: int, direction: float) -> _Watch:
        """A slipping joint comes to rest."""
        at = self.plant.model.nq + i

        def rest(t: float, y: Array) -> Array:
            y[at] = 0.0
            return y

        return _Watch(lambda t, y: -float(y[at]) * direction or -1e-300, rest)

    def watch_hold(self, i: int) -> list[_Watch]:
        """A held joint breaks away."""
        q, _, _ = self.scalars(self.y)
        low, high = (float(np.ravel(x)[0]) for x in held_range(self.plant, q)[i])
        at = self.plant.model.nq + i

        def excess(t: float, y: Array) -> float:
            return float(np.ravel(self.rates(t, y).excess[i])[0])

        def go(y: Array, direction: float) -> Array:
            y[at] = direction * NUDGE  # at the limit itself, rounding would decide whether it moves
            return y

        return [
            _Watch(lambda t, y: excess(t, y) - high, lambda t, y: go(y, 1.0)),
            _Watch(lambda t, y: -excess(t, y) - low, lambda t, y: go(y, -1.0)),
        ]

    def watch_event(self, event: Any, sign: int) -> _Watch:
        nq, nv = self.plant.model.nq, self.plant.model.nv

        def value(t: float, y: Array) -> float:
            return sign * float(event.values(np.array(t), y[:nq], y[nq : nq + nv]))

        def happen(t: float, y: Array) -> None:
            self.happened.append(Happened(event.name, t, self.index, y[:nq].copy(), y[nq : nq + nv].copy()))
            self.stopped = self.stopped or event.terminal

        return _Watch(value, happen, passes=not event.terminal)

    def bounce(self, t: float, y: Array) -> Array:
        """An impact at a joint limit."""
        q, v, x = self.scalars(y)
        nv, just = self.plant.model.nv, list(q)
        for iq, i, *limits in self.plant.limited:
            for limit, sign in zip(limits, (-1, 1), strict=True):
                if sign * v[i] > 0 and sign * (q[iq] - limit) > -REACHED * (1 + abs(limit)):
                    just[iq] = np.full_like(q[iq], np.nextafter(limit, sign * np.inf))
        in_a_step = [np.abs(np.ravel(a)) * self.setup.dt for a in self.rates(t, y).acceleration]
        q_after, v_after = bounced(self.plant, self.calls, just, v, self.p[:nv], in_a_step)
        return _flat([*q_after, *v_after, *x])


def _flat(values: list[Any]) -> Array:
    return np.array([float(np.ravel(value)[0]) for value in values])
