"""Prescribed motions of joints: a speed, a function of time or samples, whose torque is part of the solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.arguments import Array, number, real_array
from chainrule.compile.symbol_array import array_of, with_symbols
from chainrule.compile.traced_function import trace_of_user
from chainrule.core.mechanism import Mechanism
from chainrule.core.rank import independent_rows, motions
from chainrule.core.reading import find_velocities
from chainrule.errors import ModelError, ShapeError, quoted, short_repr
from chainrule.loops.constraints import jacobian as constraint_jacobian
from chainrule.simulation.sources import Samples, Scalars, Source

Motion = Callable[[Array], tuple[Array, Array, Array]]
"""Positions, velocities and accelerations (T,) at times (T,)."""


@dataclass(frozen=True)
class ConstantSpeed:
    """A joint that goes on from where it starts, at a speed in rad/s or m/s."""

    speed: float

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        """The way from the start, the speed, and no acceleration."""
        return self.speed * t, np.full_like(t, self.speed), np.zeros_like(t)


class PrescribedMotion(Source):
    """The motions of some joints of a robot, known ahead: signals q, qd and qdd of each."""

    def __init__(self, robot: Mechanism, motions_of: Mapping[str, Motion]) -> None:
        super().__init__(3 * len(motions_of))
        self.width = self.size
        self.joints = tuple(motions_of)
        self.motions = tuple(motions_of.values())
        places = [robot.model.layout.by_joint[name] for name in self.joints]
        self.coordinates = tuple(place.q.start for place in places)
        """Places of the joints in q."""
        self.velocities = tuple(place.v.start for place in places)
        """Places of the joints in qd."""
        self.offsets = np.zeros(len(self.joints))
        """Where joints of constant speed start, (..., joints); zero for the others."""

    def start_at(self, q: Array) -> None:
        """Let joints of constant speed start where they are in the configurations q (..., nq)."""
        steady = [isinstance(motion, ConstantSpeed) for motion in self.motions]
        if any(steady):
            self.offsets = np.where(steady, q[..., list(self.coordinates)], 0.0)
            self.batch = self.offsets.shape[:-1]

    def signals(self, t: Array, q: Array, qd: Array) -> Array:
        """Positions, velocities and accelerations, (T, 3 joints), or (..., T, 3 joints) where starts differ."""
        states = np.array([motion(t) for motion in self.motions])  # (joints, 3, T)
        positions = states[:, 0].T + self.offsets[..., None, :]
        rates = [np.broadcast_to(states[:, order].T, positions.shape) for order in (1, 2)]
        return np.concatenate([positions, *rates], axis=-1)

    def compute(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars]:
        return s, []


def read_prescribed(robot: Mechanism, value: Any) -> PrescribedMotion | None:
    """The prescribed motions that a user gives, by the joints' names; checked."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise ShapeError(
            "simulate: prescribed must be a dictionary of joints and motions, such as {'crank': 10.0}, got "
            f"{short_repr(value)}"
        )
    chosen: dict[str, Motion] = {}
    for name, motion in value.items():
        find_velocities(robot, "simulate: prescribed", [name])
        joint = robot.model.layout.by_joint[name].joint
        if joint.kind.nv != 1:
            raise ModelError(
                f"simulate: the motion of joint {name!r} ({joint.type}) cannot be prescribed: only joints with one "
                "degree of freedom can"
            )
        unit = robot.model.layout.velocities[robot.model.layout.by_joint[name].v.start].unit
        chosen[name] = _read_motion(motion, name, f"{unit}/s")
    if not chosen:
        return None
    _refuse_dry_friction(robot)
    return PrescribedMotion(robot, chosen)


def _refuse_dry_friction(robot: Mechanism) -> None:
    rubbing = [v.name for v in robot.model.layout.velocities if v.dof.has_dry_friction]
    if rubbing:
        raise ModelError(
            f"simulate: prescribed motions and dry friction ({quoted(rubbing)}) do not go together: which joints stick "
            "is not solved for joints that are driven so; take robot.edit(joints={'*': {'coulomb': 0}}), or drive the "
            "joint with a torque"
        )


def refuse_dependent(robot: Mechanism, motion: PrescribedMotion, q: Array) -> None:
    """Raise where loops make prescribed joints depend on each other at a closed configuration (nq,)."""
    if not robot.model.constraints:
        return
    Z = motions(constraint_jacobian(robot, q))
    free = independent_rows(Z, list(motion.velocities)) if Z.shape[1] else ()
    if len(free) < len(motion.velocities):
        raise ModelError(
            f"simulate: the loops leave robot {robot.name!r} {Z.shape[1]} degrees of freedom here, and the prescribed "
            f"joints ({quoted(motion.joints)}) determine {len(free)} of them: their motions depend on each other; "
            "prescribe fewer"
        )


def _read_motion(value: Any, joint: str, unit: str) -> Motion:
    what = f"simulate: prescribed[{joint!r}]"
    if type(value) is tuple and len(value) == 2:
        times, places = (real_array(part, what).astype(float) for part in value)
        if places.shape != times.shape:
            raise ShapeError(
                f"{what}: samples are a pair (t, q) of equal lengths, got shapes {times.shape} and {places.shape}"
            )
        value = Samples(times, places[:, None], "cubic")
    if isinstance(value, Samples):
        return _spline(value, what)
    if isinstance(value, type):
        raise ShapeError(f"{what} is the class {value.__name__}; give a speed, a function of time, or samples")
    if callable(value):
        return _function(value, what)
    return ConstantSpeed(number(value, what, unit))


def _spline(samples: Samples, what: str) -> Motion:
    from scipy.interpolate import CubicSpline

    if samples.interpolation != "cubic" or samples.values.shape[-1] != 1 or samples.values.ndim != 2:
        raise ShapeError(
            f"{what}: samples of a joint's motion are one number each, with interpolation='cubic': its acceleration "
            "must be known"
        )
    curve = CubicSpline(samples.t, samples.values[:, 0])

    def motion(t: Array) -> tuple[Array, Array, Array]:
        inside = np.clip(t, samples.t[0], samples.t[-1])
        moves = inside == t
        return curve(inside), np.where(moves, curve(inside, 1), 0.0), np.where(moves, curve(inside, 2), 0.0)

    return motion


def _function(function: Callable[[Any], Any], what: str) -> Motion:
    """A function of time that gives (q, qd, qdd), or q alone, which is then differentiated exactly."""
    first = function(0.0)
    if isinstance(first, (tuple, list)) or np.ndim(first):
        if np.shape(first) != (3,):
            raise ShapeError(f"{what} must return q, or the three numbers (q, qd, qdd), got {short_repr(first)}")
        return _Checked(lambda t: np.array([function(float(x)) for x in t], dtype=float).reshape(-1, 3).T, what)
    symbolic = with_symbols(function)
    advice = "Write it in plain arithmetic, with np.sin and the like, or let it return (q, qd, qdd)"
    position = trace_of_user(lambda t: [array_of(symbolic(t[0]))[()]], [1], what, advice)
    for t in np.random.default_rng(0).uniform(0, 1, 3):
        if not np.isclose(float(function(float(t))), float(position([t])[0]), rtol=1e-9, atol=1e-12):
            raise ShapeError(f"{what} is not plain arithmetic of the time; let it return (q, qd, qdd)")
    rate = position.derivative()
    orders = (position, rate, rate.derivative())
    return _Checked(lambda t: np.array([np.broadcast_to(order([t])[0], t.shape) for order in orders]), what)


@dataclass(frozen=True)
class _Checked:
    """A motion whose numbers are finite, or an error."""

    motion: Callable[[Array], Array]
    what: str

    def __call__(self, t: Array) -> tuple[Array, Array, Array]:
        values = self.motion(t)
        if not np.isfinite(values).all():
            at = t[np.argmin(np.isfinite(values).all(axis=0))]
            raise ShapeError(f"{self.what} is not finite at t = {at:g} s")
        q, qd, qdd = values
        return q, qd, qdd
