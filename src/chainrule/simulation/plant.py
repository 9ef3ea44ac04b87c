"""What is simulated: a robot with its torques, friction, stops and loads, as rates of its state.

Written over lists of generic scalars, like the algorithms, so that one text serves the compiled rollout and the
loop in Python.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from chainrule.algorithms import aba, joint_forces, loop_equations
from chainrule.algorithms.kinematics import twists_of
from chainrule.algorithms.loop_equations import constrained_dynamics
from chainrule.arguments import Array
from chainrule.functions.table import FUNCTIONS
from chainrule.model import Dof, Model, edits
from chainrule.simulation.sources import Source
from chainrule.spatial import Force, Scalar
from chainrule.spatial.scalar import where

Scalars = Sequence[Scalar]
WORKS = 3
"""Work done since the start by torques, taken by friction and stops, done by wrenches: the last states of x, in J."""


@dataclass(frozen=True)
class Slip:
    """How each joint moves during a step: in a direction against dry friction, or not at all (free is then 0)."""

    direction: Scalars
    free: Scalars


@dataclass(frozen=True)
class Rates:
    """What the state of a plant does: accelerations, rates of x, torques applied, torques that friction takes, and
    what is left over where a joint is held."""

    acceleration: Scalars
    further: Scalars
    torque: Scalars
    friction: Scalars
    excess: Scalars

    def flat(self) -> list[Scalar]:
        return [*self.acceleration, *self.further, *self.torque, *self.friction, *self.excess]


@dataclass(frozen=True)
class Plant:
    """A robot's model without fixed joints, the source of its torques, and the sources of wrenches on its links.

    stops: "spring" or "impact", or None where joint limits play no part. rows: independent rows of its loop
    constraints; feedback: whether these are stabilised in the equations of motion.
    """

    model: Model
    print_: str
    torque: Source
    wrenches: Mapping[str, Source]
    saturates: bool = True
    stops: str | None = None
    rows: tuple[int, ...] = ()
    feedback: bool = False

    @property
    def key(self) -> tuple[Hashable, ...]:
        """All that shapes its text."""
        sources = tuple((name, source.key) for name, source in self.wrenches.items())
        return (self.print_, self.torque.key, sources, self.saturates, self.stops, self.rows, self.feedback)

    @property
    def sources(self) -> list[Source]:
        return [self.torque, *self.wrenches.values()]

    @property
    def nx(self) -> int:
        """Further states: of the sources, and work."""
        return sum(source.states for source in self.sources) + WORKS

    @property
    def width(self) -> int:
        """Signals at one time."""
        return sum(source.width for source in self.sources)

    @property
    def own_parameters(self) -> int:
        """Parameters that come before those of the sources: stiffness and damping, or restitution, of stops."""
        return {None: 0, "spring": 2, "impact": 1}[self.stops] * self.model.nv + 2 * self.feedback

    @property
    def parameter_count(self) -> int:
        return self.own_parameters + sum(source.parameters.shape[-1] for source in self.sources)

    @property
    def rate_count(self) -> int:
        return 4 * self.model.nv + self.nx

    @cached_property
    def bare(self) -> Model:
        """The robot without friction and springs, which are put in by hand."""
        return edits.map_dofs(self.model, _bare)

    @cached_property
    def coulomb(self) -> tuple[Array, Array]:
        """The limits of dry friction, upwards and downwards."""
        up, down = joint_forces.coulomb_limits(self.model)
        return np.array(up, dtype=float), np.array(down, dtype=float)

    @cached_property
    def limited(self) -> tuple[tuple[int, int, float, float], ...]:
        """Places in q and in v, and limits, of the coordinates that have any."""
        found = []
        for body in self.model.bodies:
            if body.joint.mimic is None and body.joint.kind.nq == body.joint.kind.nv:
                for k, dof in enumerate(body.joint.dofs):
                    if np.isfinite(dof.lower) or np.isfinite(dof.upper):
                        found.append((body.first_q + k, body.first_v + k, float(dof.lower), float(dof.upper)))
        return tuple(found)

    @cached_property
    def may_hold(self) -> tuple[int, ...]:
        """Degrees of freedom that can come to a stand: those with dry friction, and those that meet a hard stop."""
        rubbing = {int(i) for i in np.flatnonzero((self.coulomb[0] > 0) | (self.coulomb[1] > 0))}
        return tuple(sorted(rubbing | ({v for _, v, *_ in self.limited} if self.stops == "impact" else set())))

    def unpack(self, flat: Scalars) -> Rates:
        """Rates from one list."""
        n, m = self.model.nv, self.nx
        return Rates(flat[:n], flat[n : n + m], *(flat[k : k + n] for k in range(n + m, self.rate_count, n)))

    def rates(self, q: Scalars, v: Scalars, x: Scalars, s: Scalars, p: Scalars, slip: Slip | None) -> Rates:
        """The rates of the state (q, v, x), given signals s, parameters p, and how the joints slip."""
        model, n = self.model, self.model.nv
        values, further = self._driven(q, v, x, s, p)
        tau = self._saturated(values[0])
        viscous = joint_forces.viscous_torque(model, v)
        dry = joint_forces.dry_friction(model, slip.direction) if slip else [0] * n
        stop: Scalars = [0] * n
        if self.stops == "spring":
            stop = joint_forces.stop_torque(model, q, v, p[:n], p[n : 2 * n])
        taken = [a + b + c for a, b, c in zip(viscous, dry, stop, strict=True)]
        net = [t - f - k for t, f, k in zip(tau, taken, joint_forces.spring_torque(model, q), strict=True)]
        wrenches: dict[int, Force] = {}
        for name, wrench in zip(self.wrenches, values[1:], strict=True):
            index, offset = model.locate(name)
            wrenches[index] = wrenches.get(index, Force.zero()) + offset * Force.of(wrench)
        free = slip.free if slip else None
        if self.rows or model.has_mimics:
            feedback = (p[self.own_parameters - 2], p[self.own_parameters - 1]) if self.feedback else None
            qdd, _, excess = constrained_dynamics(
                self.bare, q, v, net, wrenches, rows=self.rows, free=free, feedback=feedback
            )
        else:
            qdd, excess = aba.hybrid_dynamics(self.bare, q, v, net, wrenches, free)
        if free is None:
            excess = [0] * n
        else:
            taken = [t + e * (1 - f) for t, e, f in zip(taken, excess, free, strict=True)]
        power = [_dot(tau, v), _dot(taken, v), self._power(q, v, wrenches)]
        return Rates(qdd, [*further, *power], tau, taken, excess)

    def _driven(self, q: Scalars, v: Scalars, x: Scalars, s: Scalars, p: Scalars) -> tuple[list[Scalars], list[Scalar]]:
        """The numbers of each source, and the rates of the sources' own states."""
        values: list[Scalars] = []
        rates: list[Scalar] = []
        at_x, at_s, at_p = 0, 0, self.own_parameters
        for source in self.sources:
            count = source.parameters.shape[-1]
            z, own, parameters = x[at_x : at_x + source.states], s[at_s : at_s + source.width], p[at_p : at_p + count]
            at_x, at_s, at_p = at_x + source.states, at_s + source.width, at_p + count
            value, rate = source.compute(q, v, z, own, parameters)
            values.append(value)
            rates += rate
        return values, rates

    def _saturated(self, tau: Scalars) -> list[Scalar]:
        dofs = [dof for joint in self.model.moving for dof in joint.dofs]
        return [_within(t, dof.effort) if self.saturates else t for t, dof in zip(tau, dofs, strict=True)]

    def _power(self, q: Scalars, v: Scalars, wrenches: Mapping[int, Force]) -> Scalar:
        if not wrenches:
            return 0
        V = twists_of(self.model.at(q), v)
        return sum((V[index].dot(wrench) for index, wrench in wrenches.items()), start=0)

    def jump(self, q: Scalars, free: Scalars, given: Scalars) -> list[Scalar]:
        """Jumps of velocity when some joints' velocities jump as given, and what impulses act there alone, opposed."""
        rest: Scalars = [0] * self.model.nv
        if self.rows or self.model.has_mimics:
            still = edits.with_gravity(self.bare, self.model.gravity * 0)
            jumps, _, impulses = constrained_dynamics(still, q, rest, rest, rows=self.rows, free=free, given=given)
        else:
            jumps, impulses = aba.hybrid_impulse(self.bare, q, rest, free, given)
        return [*jumps, *impulses]

    def closing_step(self, q: Scalars, free: Scalars) -> Scalars:
        """What closes the loops, without moving the joints that are held."""
        return loop_equations.closing_step(self.model, q, self.rows, free=free if self.may_hold else None)

    def consistent_velocity(self, q: Scalars, v: Scalars, free: Scalars) -> Scalars:
        """The velocity that keeps the loops closed, that of the joints that are held staying as it is."""
        return loop_equations.consistent_velocity(self.model, q, v, self.rows, free=free if self.may_hold else None)

    def coordinate_rates(self, q: Scalars, v: Scalars) -> Scalars:
        return list(FUNCTIONS["coordinate_rates"].compute(self.model, q, v))

    def moved(self, q: Scalars, v: Scalars) -> Scalars:
        return list(FUNCTIONS["integrate"].compute(self.model, q, v))

    def normalised(self, q: Scalars) -> Scalars:
        return self.moved(q, [0] * self.model.nv) if self.model.quaternions else q


def _bare(dof: Dof) -> Dof:
    return replace(dof.without_friction(), stiffness=0, rest=0)


def _within(t: Scalar, limit: Scalar) -> Scalar:
    return t if limit == np.inf else where(t > limit, limit, where(t < -limit, -limit, t))


def _dot(a: Scalars, b: Scalars) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), start=0)
