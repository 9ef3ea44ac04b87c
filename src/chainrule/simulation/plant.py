"""The plant: a robot with its torques, friction, stops and loads, as rates of its state.

Written over lists of generic scalars, like the algorithms, so that one function serves the compiled rollout and the
loop in Python.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from chainrule.algorithms import aba, configuration, friction, joint_forces, loop_projection, sticking
from chainrule.algorithms.kinematics import twists_of
from chainrule.algorithms.loads import on_links
from chainrule.algorithms.loop_dynamics import constrained_dynamics
from chainrule.algorithms.springs import damper_power, with_springs
from chainrule.algorithms.sticking import Slip
from chainrule.arguments import Array
from chainrule.lazy import cached_property
from chainrule.model import Model, edits
from chainrule.model.parameters import parameter_length, with_parameters
from chainrule.simulation.prescribed import PrescribedMotion
from chainrule.simulation.sources import Source
from chainrule.spatial import Scalar, Wrench
from chainrule.spatial.scalar import where

Scalars = Sequence[Scalar]
WORKS = 3
"""The number of works, in J, at the end of x: done by torques, taken by friction and stops, done by wrenches."""


@dataclass(frozen=True)
class Rates:
    """Rates of a plant's state, and the torques behind them."""

    acceleration: Scalars
    further: Scalars
    """dx/dt."""
    torque: Scalars
    """Torques applied, after saturation."""
    friction: Scalars
    """Torques taken by friction and stops."""
    excess: Scalars
    """Torques that friction or a stop must hold where a joint sticks."""

    def flat(self) -> list[Scalar]:
        """All of them in one list."""
        return [*self.acceleration, *self.further, *self.torque, *self.friction, *self.excess]


class Limit(NamedTuple):
    """A coordinate with position limits, and its places in q and qd."""

    coordinate: int
    velocity: int
    lower: float
    upper: float


@dataclass(frozen=True)
class Plant:
    """A robot's model without fixed joints, the source of its torques, and the sources of wrenches on its links."""

    model: Model
    model_fingerprint: str
    torque: Source
    wrenches: Mapping[str, Source]
    wrench_frame: str = "world"
    """The axes of the wrenches: each link's own, or with "world" those of the base."""
    saturates: bool = True
    """Whether torques are cut off at the effort limits."""
    stops: str | None = None
    """"spring" or "impact"; None where joint limits play no part."""
    rows: tuple[int, ...] = ()
    """Equations of the loop constraints in use."""
    rank: int | None = None
    """How many of them are independent; None where that is not known."""
    feedback: bool = False
    """Whether the loop constraints are stabilized by feedback in the equations of motion."""
    prescribed: PrescribedMotion | None = None
    """The motions of joints that are given, if there are any."""
    whole: Model | None = None
    """The model with its fixed joints, where some of the robot's quantities are parameters."""
    opened: tuple[str, ...] = ()
    """The names of these parameters; their values are the last of p, and nan in `model`."""

    def at(self, p: Scalars) -> Plant:
        """The plant with the values that p has for the robot's parameters."""
        if self.whole is None:
            return self
        counts = self._opened_counts
        ends = np.cumsum(counts) + len(p) - sum(counts)
        values = [p[end - count : end] for count, end in zip(counts, ends.tolist(), strict=True)]
        return replace(self, model=with_parameters(self.whole, self.opened, values, merged=True))

    @cached_property
    def _opened_counts(self) -> list[int]:
        return [] if self.whole is None else [parameter_length(self.whole, name) for name in self.opened]

    @property
    def fingerprint(self) -> tuple[Hashable, ...]:
        """Everything that shapes the plant's arithmetic: plants with the same fingerprint differ in parameters only."""
        sources = tuple((name, source.fingerprint) for name, source in self.wrenches.items())
        return (
            self.model_fingerprint, self.torque.fingerprint, sources, self.wrench_frame, self.saturates, self.stops,
            self.rows, self.rank, self.feedback, self.prescribed_velocities, self.opened,
        )  # fmt: skip

    # --- sizes ---

    @property
    def sources(self) -> list[Source]:
        """The source of the torques, then those of the wrenches, then the prescribed motions."""
        driven = [] if self.prescribed is None else [self.prescribed]
        return [self.torque, *self.wrenches.values(), *driven]

    @property
    def prescribed_velocities(self) -> tuple[int, ...]:
        """Places in qd of the joints whose motion is prescribed."""
        return () if self.prescribed is None else self.prescribed.velocities

    @property
    def nx(self) -> int:
        """The number of further states x: those of the sources, and the works."""
        return sum(source.states for source in self.sources) + WORKS

    @property
    def width(self) -> int:
        """The number of signals at one time."""
        return sum(source.width for source in self.sources)

    @property
    def own_parameters(self) -> int:
        """The number of parameters before those of the sources: of the stops, and of the feedback on loops."""
        return {None: 0, "spring": 2, "impact": 1}[self.stops] * self.model.nv + 2 * self.feedback

    @property
    def parameter_count(self) -> int:
        """The number of all parameters."""
        return (
            self.own_parameters + sum(source.parameters.shape[-1] for source in self.sources) + sum(self._opened_counts)
        )

    @property
    def rate_count(self) -> int:
        """The length of `Rates.flat`."""
        return 4 * self.model.nv + self.nx

    # --- friction and limits ---

    @cached_property
    def frictionless(self) -> Model:
        """The model without friction and springs: their torques and forces are added separately."""
        return sticking.without_friction_and_springs(self.model)

    @cached_property
    def breaks_suddenly(self) -> bool:
        """Whether some friction falls at once when a joint breaks away."""
        return sticking.breaks_suddenly(self.model)

    def breakaway_levels(self, q: Scalars) -> friction.Levels:
        """The limits of dry friction at rest at each joint, upwards and downwards."""
        return friction.breakaway_levels(self.model, q)

    def friction_levels(self, q: Array, v: Array) -> tuple[Scalars, Scalars, Scalars]:
        """Smooth friction, and the largest dry friction upwards and downwards, at states (..., nq) and (..., n)."""
        places, rates = list(np.moveaxis(q, -1, 0)), list(np.moveaxis(v, -1, 0))
        smooth = friction.smooth_friction(self.model, places, rates)
        sliding, resting = friction.sliding_levels(self.model, places, rates), self.breakaway_levels(places)
        up, down = (
            [np.maximum(a, b) for a, b in zip(*pair, strict=True)] for pair in zip(sliding, resting, strict=True)
        )
        return smooth, up, down

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """The coordinates with a finite position limit."""
        return tuple(
            Limit(coordinate.index, coordinate.velocity, float(coordinate.lower), float(coordinate.upper))
            for coordinate in self.model.layout.coordinates
            if coordinate.velocity is not None and (np.isfinite(coordinate.lower) or np.isfinite(coordinate.upper))
        )

    @cached_property
    def has_friction(self) -> tuple[int, ...]:
        """Places in qd of the joints with dry friction."""
        return sticking.joints_with_dry_friction(self.model)

    @cached_property
    def can_stick(self) -> tuple[int, ...]:
        """Places in qd of the joints that can come to rest: by dry friction, or at a hard stop."""
        at_stops = {limit.velocity for limit in self.limits} if self.stops == "impact" else set()
        return tuple(sorted({*self.has_friction, *at_stops}))

    # --- equations of motion ---

    def unpack(self, flat: Scalars) -> Rates:
        """Rates from the list that `Rates.flat` makes."""
        n, m = self.model.nv, self.nx
        return Rates(flat[:n], flat[n : n + m], *(flat[k : k + n] for k in range(n + m, self.rate_count, n)))

    def rates(self, q: Scalars, v: Scalars, x: Scalars, s: Scalars, p: Scalars, slip: Slip | None) -> Rates:
        """Rates of the state (q, v, x) for signals s and parameters p, with the joints slipping as given."""
        n = self.model.nv
        tau, taken, net, wrenches, further = self._loads(q, v, x, s, p, slip)
        acting = with_springs(self.model, q, v, wrenches)
        is_free, prescribed = slip.is_free if slip else None, None
        if self.prescribed is not None:
            is_free, prescribed = self._prescribe(s, is_free)
        qdd, excess = sticking.held_dynamics(
            self.frictionless, q, v, net, acting, is_free, self.can_stick, self.rows, self.rank,
            self._feedback_rates(p), prescribed,
        )  # fmt: skip
        if is_free is None:
            excess = [0] * n
        else:
            driven = set(self.prescribed_velocities)
            tau = [t - e if i in driven else t for i, (t, e) in enumerate(zip(tau, excess, strict=True))]
            excess = [0 if i in driven else e for i, e in enumerate(excess)]
            taken = [t + e * (1 - f) for t, e, f in zip(taken, excess, is_free, strict=True)]
        lost = _dot(taken, v) + damper_power(self.model, q, v)
        power = [_dot(tau, v), lost, self._power(q, v, wrenches)]
        return Rates(qdd, [*further, *power], tau, taken, excess)

    def _prescribe(self, s: Scalars, is_free: Scalars | None) -> tuple[list[Scalar], list[Scalar]]:
        """Which velocities are free, those of prescribed joints not being so, and the accelerations of these."""
        states = s[len(s) - 3 * len(self.prescribed_velocities) :]
        free: list[Scalar] = [1] * self.model.nv if is_free is None else list(is_free)
        accelerations: list[Scalar] = [0] * self.model.nv
        for k, i in enumerate(self.prescribed_velocities):
            free[i], accelerations[i] = 0, states[2 * len(self.prescribed_velocities) + k]
        return free, accelerations

    def follow_prescribed(self, q: Scalars, v: Scalars, s: Scalars) -> tuple[Scalars, Scalars]:
        """The state with prescribed joints exactly where the signals s say."""
        if self.prescribed is None:
            return q, v
        count = len(self.prescribed_velocities)
        states, place, speed = s[len(s) - 3 * count :], list(q), list(v)
        for k, (i, j) in enumerate(zip(self.prescribed.coordinates, self.prescribed_velocities, strict=True)):
            place[i], speed[j] = states[k], states[count + k]
        return place, speed

    def _loads(
        self, q: Scalars, v: Scalars, x: Scalars, s: Scalars, p: Scalars, slip: Slip | None
    ) -> tuple[Scalars, Scalars, Scalars, dict[int, Wrench], list[Scalar]]:
        """Torques, friction and stops, what is left of the torques, wrenches by link, and rates of the sources."""
        model, n = self.model, self.model.nv
        values, further = self._evaluate_sources(q, v, x, s, p)
        tau = self._saturate(values[0])
        smooth = friction.smooth_friction(model, q, v)
        dry = friction.dry_friction(model, q, v, slip.direction) if slip else [0] * n
        stop: Scalars = [0] * n
        if self.stops == "spring":
            stop = joint_forces.stop_torque(model, q, v, p[:n], p[n : 2 * n])
        taken = [a + b + c for a, b, c in zip(smooth, dry, stop, strict=True)]
        net = [t - f - k for t, f, k in zip(tau, taken, joint_forces.spring_torque(model, q), strict=True)]
        loads = values[1 : 1 + len(self.wrenches)]
        return tau, taken, net, on_links(model, self.wrenches, loads, q, self.wrench_frame), further

    def _feedback_rates(self, p: Scalars) -> tuple[Scalar, Scalar] | None:
        """Baumgarte's rates."""
        return (p[self.own_parameters - 2], p[self.own_parameters - 1]) if self.feedback else None

    def sticking_problem(
        self, q: Scalars, v: Scalars, x: Scalars, s: Scalars, p: Scalars, direction: Scalars
    ) -> list[Scalar]:
        """`sticking.sticking_problem` in a state, with joints slipping in the given directions."""
        _, _, net, wrenches, _ = self._loads(q, v, x, s, p, Slip(direction, []))
        acting, feedback = with_springs(self.model, q, v, wrenches), self._feedback_rates(p)
        system, free = sticking.free_motion(self.frictionless, q, v, net, acting, self.rows, self.rank, feedback)
        return sticking.sticking_problem(system, free, self.can_stick, len(self.rows))

    def rates_pass(
        self,
        q: Scalars,
        v: Scalars,
        x: Scalars,
        s: Scalars,
        p: Scalars,
        low: Scalars,
        high: Scalars,
        resting: Scalars,
        direction: Scalars,
        counters: Scalars,
    ) -> list[Scalar]:
        """`sticking.sticking_pass` by the rates of the state: directions after it, counters, and the rates before it.

        low, high, resting and direction are those of the joints that can stick.
        """
        whole: list[Scalar] = [1] * self.model.nv
        for i, d in zip(self.can_stick, direction, strict=True):
            whole[i] = d
        rates = self.rates(q, v, x, s, p, sticking.slip_in(whole))
        wanted: list[Scalar] = []
        for k, i in enumerate(self.can_stick):
            d, held = direction[k], rates.excess[i]
            overloaded = where(held > high[k], 1.0, where(held < -low[k], -1.0, 0.0))
            slipping = where(rates.acceleration[i] * d < 0, 0.0, d)
            wanted.append(where(resting[k] == 0, d, where(d == 0, overloaded, slipping)))
        after, counters = sticking.pivot(direction, wanted, counters)
        return [*after, *counters, *rates.flat()]

    def _evaluate_sources(
        self, q: Scalars, v: Scalars, x: Scalars, s: Scalars, p: Scalars
    ) -> tuple[list[Scalars], list[Scalar]]:
        """The numbers of each source, and the rates of the sources' own states."""
        values: list[Scalars] = []
        rates: list[Scalar] = []
        at_x, at_s, at_p = 0, 0, self.own_parameters
        for source in self.sources:
            count = source.parameters.shape[-1]
            z, own, parameters = x[at_x : at_x + source.states], s[at_s : at_s + source.width], p[at_p : at_p + count]
            at_x, at_s, at_p = at_x + source.states, at_s + source.width, at_p + count
            value, rate = source.compute(q, v, z, own, parameters)
            values.append([-number for number in value] if source.is_reaction else value)
            rates += rate
        return values, rates

    def _saturate(self, tau: Scalars) -> list[Scalar]:
        """Torques cut off at the effort limits."""
        if not self.saturates:
            return list(tau)
        return [_clamp(t, dof.effort) for t, dof in zip(tau, self.model.layout.dofs, strict=True)]

    def _power(self, q: Scalars, v: Scalars, wrenches: Mapping[int, Wrench]) -> Scalar:
        """The power of wrenches on links."""
        if not wrenches:
            return 0
        V = twists_of(self.model.at(q), v)
        return sum((V[index].dot(wrench) for index, wrench in wrenches.items()), start=0)

    # --- impulses, closed loops and configurations ---

    def jump(self, q: Scalars, is_free: Scalars, prescribed: Scalars) -> list[Scalar]:
        """Jumps of all velocities where those of some joints jump as prescribed, then the opposed impulses there."""
        rest: Scalars = [0] * self.model.nv
        if self.rows:
            weightless = edits.with_gravity(self.frictionless, self.model.gravity * 0)
            system, still = sticking.free_motion(weightless, q, rest, rest, None, self.rows, self.rank)
            jumps, impulses = sticking.hold(system, still, is_free, self.can_stick, len(self.rows), prescribed)
        elif self.model.has_mimics:
            weightless = edits.with_gravity(self.frictionless, self.model.gravity * 0)
            jumps, _, impulses = constrained_dynamics(
                weightless,
                q,
                rest,
                rest,
                rows=self.rows,
                is_free=is_free,
                prescribed_acceleration=prescribed,
                rank=self.rank,
            )
        else:
            jumps, impulses = aba.hybrid_impulse(self.frictionless, q, rest, is_free, prescribed)
        return [*jumps, *impulses]

    def closing_step(self, q: Scalars, is_free: Scalars) -> Scalars:
        """The displacement that closes the loops and leaves sticking joints where they are."""
        held = is_free if self.can_stick or self.prescribed is not None else None
        return loop_projection.closing_step(self.model, q, self.rows, is_free=held, rank=self.rank)

    def consistent_velocity(self, q: Scalars, v: Scalars, is_free: Scalars) -> Scalars:
        """The velocity that keeps the loops closed and sticking joints at rest."""
        held = is_free if self.can_stick or self.prescribed is not None else None
        return loop_projection.consistent_velocity(self.model, q, v, self.rows, is_free=held, rank=self.rank)

    def coordinate_rates(self, q: Scalars, v: Scalars) -> Scalars:
        """dq/dt."""
        return configuration.coordinate_rates(self.model, q, v)

    def displace(self, q: Scalars, v: Scalars) -> Scalars:
        """The configuration that the velocity v leads to from q in unit time."""
        return configuration.integrate(self.model, q, v)

    def normalize(self, q: Scalars) -> Scalars:
        """The configuration q with quaternions of unit length."""
        return self.displace(q, [0] * self.model.nv) if self.model.quaternions else q


def _clamp(t: Scalar, limit: Scalar) -> Scalar:
    return t if limit == np.inf else where(t > limit, limit, where(t < -limit, -limit, t))


def _dot(a: Scalars, b: Scalars) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), start=0)
