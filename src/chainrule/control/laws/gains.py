"""Gains of control laws: the default ones, which scale with the inertia of each joint, and gains by joint name.

A joint of inertia m and viscous friction b under kp = w (w m + b) and kd = 2 w m has the poles -w and -(w + b/m): it
comes to rest at the rate w and does not swing over. Without friction that is critical damping. One kp and kd for all
joints cannot do that: what a shoulder needs makes a wrist, of a thousandth of its inertia, faster than a simulation's
step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainrule.arguments import Array, positive
from chainrule.calls import explains_arguments
from chainrule.control.laws.targets import configurations
from chainrule.control.requirements import gains, known_robot
from chainrule.core.derived import driven_velocities, has_moving_mass
from chainrule.core.evaluation import evaluate
from chainrule.core.joint_names import known_names, values_by_name
from chainrule.core.rank import motions
from chainrule.display.text import text_of_arrays
from chainrule.errors import ModelError, ShapeError, UnknownNameError, quoted
from chainrule.kinematics.configurations import home
from chainrule.lazy import cached_property

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

BANDWIDTH_HZ = 2.0
"""The natural frequency of default gains, over 2 pi."""

FULL_EFFORT_ERROR = 0.1
"""The error, in rad or m, whose torque kp e is at most the effort limit of the joint."""

INTEGRAL_SHARE = 0.2
"""The rate at which an integral takes over, as a share of the natural frequency; above 2/n it may swing."""


class Gains(NamedTuple):
    """Gains of joints, (..., nv) each: N m/rad, N m/(rad s) and N m s/rad, or N/m, N/(m s) and N s/m."""

    kp: Array
    ki: Array
    kd: Array

    def __repr__(self) -> str:
        return text_of_arrays(self)


@explains_arguments
def default_gains(robot: Mechanism, q: ArrayLike | None = None, *, bandwidth: float = BANDWIDTH_HZ) -> Gains:
    """Gains kp, ki, kd that scale with the inertia of each joint at the configuration q.

    With m the diagonal of M(q), b the viscous friction, and w = 2 pi bandwidth: kp = w (w m + b), kd = 2 w m and
    ki = 0.2 w kp. A joint that moves alone then has the poles -w and -(w + b/m), which without friction is critical
    damping. Where w^2 m times 0.1 rad (or 0.1 m) would be more than a joint's effort limit, that joint gets a lower w.
    With closed loops, m is the inertia that a motor feels while the other motors are held.
    These are the gains of `PD` and `PID` that are given none.

    Parameters
    ----------
    robot
        A robot with masses.
    q
        The configuration (..., nq) at which inertias are taken, such as the target; `robot.home()` unless given.
    bandwidth
        The natural frequency of every joint, in Hz.

    Examples
    --------

    >>> import chainrule as cr
    >>> kp, ki, kd = cr.default_gains(cr.load("planar_2r"), [0.0, 0.0], bandwidth=1.0)
    >>> kp.round(1).tolist(), kd.round(1).tolist()
    ([197.4, 39.5], [62.8, 12.6])
    """
    known_robot(robot, "default_gains", masses=False)
    chosen = JointGains(robot, q, "default_gains", bandwidth)
    kp = chosen.stiffness(None)
    return Gains(kp, chosen.integral(None, kp), chosen.damping(None, kp))


def joint_inertias(robot: Mechanism, q: ArrayLike | None, what: str) -> Array:
    """The inertia of each joint at q (..., nq), in kg m^2 or kg: (..., nv); a joint without any is refused."""
    at = home(robot) if q is None else configurations(robot, q, what)
    if not has_moving_mass(robot):
        raise ModelError(_no_inertia(robot, robot.joint_names, what))
    M = evaluate(robot, "mass_matrix", q=at)
    diagonal = np.diagonal(M, axis1=-2, axis2=-1).copy()
    if robot.model.constraints:
        G = evaluate(robot, "loops.jacobian", q=at)
        for row in np.ndindex(M.shape[:-2]):
            diagonal[row] = np.maximum(diagonal[row], _inertias_through_loops(robot, M[row], G[row]))
    still = [v.joint for v in robot.model.layout.velocities if not (diagonal[..., v.index] > 0).all()]
    if still:
        raise ModelError(_no_inertia(robot, tuple(dict.fromkeys(still)), what))
    return diagonal


def _no_inertia(robot: Mechanism, joints: tuple[str, ...], what: str) -> str:
    return (
        f"{what}: default gains scale with the inertia of each joint, and {quoted(joints)} of robot {robot.name!r} "
        "moves no mass; give kp and kd, or give its link a mass and an inertia, or the joint a rotor"
    )


def _inertias_through_loops(robot: Mechanism, M: Array, G: Array) -> Array:
    """The inertia that each motor feels, the loops closed and the other motors held; zero where there is no motor.

    Velocities that keep the loops closed are Z u, those of the motors Z_a u = v_a, so that all are Z Z_a^+ v_a.
    """
    Z, driven = motions(G), list(driven_velocities(robot))
    felt = np.zeros(robot.nv)
    if driven and Z.shape[1]:
        follow = Z @ np.linalg.pinv(Z[driven], rcond=1e-6)
        felt[driven] = np.einsum("ia,ij,ja->a", follow, M, follow)
    return felt


class JointGains:
    """The gains that a law of the joints was given, completed by default ones.

    What is not given is worked out from what is: kd = sqrt(b^2 + 4 kp m) - b, which is 2 w m, and ki = 0.2 w kp, with m
    and b the inertia and the viscous friction of a joint, and w the rate at which kp brings it to rest.
    """

    def __init__(self, robot: Mechanism, q: ArrayLike | None, what: str, bandwidth: float | None) -> None:
        self._robot, self._q, self._what = robot, q, what
        self._bandwidth = BANDWIDTH_HZ if bandwidth is None else bandwidth

    @cached_property
    def inertias(self) -> Array:
        """The inertia of each joint, computed when it is first needed."""
        return joint_inertias(self._robot, self._q, self._what)

    def stiffness(self, kp: Any) -> Array:
        """The gains kp (..., nv)."""
        return self.complete(kp, "kp", self._default_stiffness)

    def damping(self, kd: Any, kp: Array) -> Array:
        """The gains kd, critical for kp unless given."""
        return self.complete(kd, "kd", lambda: self._critical_damping(kp))

    def integral(self, ki: Any, kp: Array) -> Array:
        """The gains ki, a share of kp unless given."""
        return self.complete(ki, "ki", lambda: INTEGRAL_SHARE * kp * self._critical_damping(kp) / (2 * self.inertias))

    def squared_frequencies(self, kp: Any) -> Array:
        """The gains kp of a law that knows the inertias, in 1/s^2."""
        return self.complete(kp, "kp", lambda: self.frequencies() ** 2)

    def frequencies(self) -> Array:
        """The natural frequencies of default gains in rad/s: the bandwidth, or less where the effort limit is low."""
        w = 2 * math.pi * positive(self._bandwidth, f"{self._what}: bandwidth", "positive, in Hz")
        limits = self._robot.limits.effort
        effort = np.where(limits > 0, limits, np.inf)  # a joint without motor has no gain anyway
        return np.minimum(w, np.sqrt(effort / (FULL_EFFORT_ERROR * self.inertias)))

    def _default_stiffness(self) -> Array:
        w = self.frequencies()
        return w * (w * self.inertias + self._friction)

    @property
    def _friction(self) -> Array:
        """The viscous friction of each joint."""
        return np.array([dof.viscous for dof in self._robot.model.layout.dofs], dtype=float)

    def _critical_damping(self, kp: Array) -> Array:
        """The gain kd = 2 w m, with w the root of w (w m + b) = kp."""
        b = self._friction
        return np.sqrt(b * b + 4 * kp * self.inertias) - b

    def complete(self, value: Any, name: str, default: Callable[[], Array]) -> Array:
        """Gains that were given, as numbers or by names; the default for those that were not."""
        if value is None:
            return default()
        named = gains_by_name(value, f"{self._what}: {name}")
        if named is not None:
            return named_gains(self._robot, named, f"{self._what}: {name}", default)
        return joint_gains(self._robot, value, f"{self._what}: {name}")


def refuse_unused_bandwidth(bandwidth: Any, given: Any, what: str, gain: str) -> None:
    """Raise where a bandwidth is given that no gain would be worked out from."""
    if bandwidth is not None and given is not None and gains_by_name(given, f"{what}: {gain}") is None:
        raise ShapeError(
            f"{what}: bandwidth is for default gains, and {gain} was given as well; leave out one of the two"
        )


def joint_gains(robot: Mechanism, value: Any, what: str) -> Array:
    """Gains (..., nv) from one number, from nv numbers, from a batch, or from a dictionary of joints and numbers."""
    named = gains_by_name(value, what)
    if named is not None:
        return named_gains(robot, named, what, lambda: np.zeros(robot.nv))
    return gains(value, robot.nv, what, f"robot {robot.name!r}: one for each degree of freedom")


def gains_by_name(value: Any, what: str) -> dict[str, Any] | None:
    """Names and gains of a dictionary, a pandas Series or anything else with names; None for arrays and numbers."""
    named = values_by_name(value, None, what)
    return None if named is None else dict(zip(known_names(named.names, what), named.values, strict=True))


def named_gains(robot: Mechanism, value: Mapping[str, Any], what: str, default: Callable[[], Array]) -> Array:
    """Gains by the names of joints, or of velocities such as "base.wx"; joints that are not named get the default."""
    layout = robot.model.layout
    places: dict[str, tuple[int, ...]] = {name: (i,) for i, name in enumerate(layout.velocity_names)}
    places |= {name: layout.velocities_of([name]) for name in layout.joint_names}
    chosen: dict[int, float] = {}
    for name, number in value.items():
        if name not in places:
            raise UnknownNameError.of("joint", name, layout.joint_names, f"{what}: robot {robot.name!r}")
        one = gains(number, len(places[name]), f"{what} of joint {name!r}", "one for each degree of freedom")
        if one.ndim != 1:
            raise ShapeError(f"{what} of joint {name!r} must be one number, got shape {one.shape}")
        chosen |= zip(places[name], one.tolist(), strict=True)
    if len(chosen) == robot.nv:
        return np.array([chosen[i] for i in range(robot.nv)])
    array = np.array(default(), dtype=float)
    for i, x in chosen.items():
        array[..., i] = x
    return array
