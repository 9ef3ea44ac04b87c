"""Controllers in joint space: gravity compensation, PD, PID, computed torque.

The joint error e leads from where the robot is to where it should be: q_ref - q for plain coordinates, and for
quaternions the rotation vector or twist between the two, in the moving link's frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms.crba import mass_matrix
from chainrule.algorithms.friction import dry_friction
from chainrule.algorithms.loop_projection import consistent_acceleration
from chainrule.algorithms.vector_form import inverse_dynamics
from chainrule.control.laws.controller import Controller
from chainrule.control.laws.gains import JointGains, joint_gains, refuse_unused_bandwidth
from chainrule.control.laws.targets import JointTarget
from chainrule.control.motions.references import Reference
from chainrule.control.requirements import Actuated, known_robot
from chainrule.functions.table import FUNCTIONS
from chainrule.kinematics.configurations import home
from chainrule.model import Model, edits
from chainrule.spatial import Scalar
from chainrule.spatial.linear import solve_symmetric
from chainrule.spatial.scalar import where

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

Scalars = Sequence[Scalar]
Law = tuple[list[Scalar], list[Scalar]]


def joint_error(model: Model, q: Scalars, q_ref: Scalars) -> list[Scalar]:
    """e with q + e = q_ref, on the configuration manifold."""
    return FUNCTIONS["difference"].compute(model, q, q_ref)


def holding_torque(model: Model, q: Scalars) -> list[Scalar]:
    """The torques that hold the robot still: g(q) and those of the springs."""
    rest = [0] * model.nv
    return inverse_dynamics(model, q, rest, rest)


class GravityCompensation(Controller):
    """tau = g(q) - D qd, with the torques of joint springs in g: the robot floats, and stays where it is put.

    In closed loops, g(q) are torques of the driven joints that hold the whole mechanism; passive joints get none.

    Parameters
    ----------
    robot
        The robot that the controller knows.
    damping
        D >= 0, in N m s/rad or N s/m: one number, (nv,), a batch (..., nv), or a dictionary of joint names and
        numbers, the others being zero.
    actuated
        The names of the joints with motors; True for all joints. Without it, all but free joints and those with an
        effort limit of 0, with a warning if there are such: nothing carries
        the weight of a floating base.

    Examples
    --------

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> cr.GravityCompensation(arm)(0.0, [0.0, 0.0], [0.0, 0.0]).round(3).tolist()
    [29.43, 9.81]
    """

    def __init__(self, robot: Mechanism, damping: ArrayLike = 0.0, *, actuated: Actuated = None) -> None:
        known_robot(robot, "GravityCompensation", loops=True)
        parameters = {"damping": joint_gains(robot, damping, "GravityCompensation: damping")}
        super().__init__(robot, parameters, actuated=actuated)
        self.close_loops(home(robot))

    def torque(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> Law:
        """g(q) - D qd."""
        (damping,) = self.parts(p)
        hold = self.distribute(q, holding_torque(self.model, q))
        return self.project([g - d * v for g, d, v in zip(hold, damping, qd, strict=True)]), []


class PD(Controller):
    """tau = Kp e + Kd (qd_ref - qd) + g(q): a spring and a damper at every joint, on top of gravity and springs.

    Parameters
    ----------
    robot
        The robot that the controller knows.
    target
        A configuration (..., nq), or a motion of `cr.plan`.
    kp, kd
        Gains, in N m/rad or N/m and in N m s/rad or N s/m: one number, (nv,), a batch (..., nv), or a dictionary of
        joint names and numbers. Without kp, or for joints that the dictionary leaves out, those of `cr.default_gains`
        at the target, which scale with each joint's inertia m; without kd, critical damping: 2 sqrt(kp m), or less with
        viscous friction.
    gravity
        Whether g(q) is compensated. Without it, and with gains, the robot needs no masses.
    bandwidth
        The natural frequency of default gains, in Hz; 2 unless given.
    actuated
        The names of the joints with motors; True for all joints. Without it, all but free joints and those with an
        effort limit of 0, with a warning if there are such: these get no
        torque, and g(q) holds the others as if they were held.
    """

    def __init__(
        self,
        robot: Mechanism,
        target: ArrayLike | Reference,
        kp: ArrayLike | Mapping[str, float] | None = None,
        kd: ArrayLike | Mapping[str, float] | None = None,
        *,
        gravity: bool = True,
        bandwidth: float | None = None,
        actuated: Actuated = None,
    ) -> None:
        known_robot(robot, "PD", masses=gravity, loops=True)
        self.gravity = bool(gravity)
        self.goal = JointTarget(robot, target, "PD")
        refuse_unused_bandwidth(bandwidth, kp, "PD", "kp")
        chosen = JointGains(robot, self.goal.final, "PD", bandwidth)
        stiff = chosen.stiffness(kp)
        super().__init__(robot, {"kp": stiff, "kd": chosen.damping(kd, stiff)}, self.goal, actuated=actuated)
        if self.gravity:
            self.close_loops(self.goal.first)

    def torque(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> Law:
        """Kp e + Kd (qd_ref - qd) + g(q)."""
        kp, kd, target = self.parts(p)
        q_ref, qd_ref, _ = self.goal.at(s, target)
        feedback = pd_term(self.model, q, qd, q_ref, qd_ref, kp, kd)
        if not self.gravity:
            return self.project(feedback), []
        hold = self.distribute(q, holding_torque(self.model, q))
        return self.project([f + g for f, g in zip(feedback, hold, strict=True)]), []


def pd_term(
    model: Model, q: Scalars, qd: Scalars, q_ref: Scalars, qd_ref: Scalars, kp: Scalars, kd: Scalars
) -> list[Scalar]:
    """Kp e + Kd (qd_ref - qd)."""
    e = joint_error(model, q, q_ref)
    return [k * x + d * (v_ref - v) for k, x, d, v_ref, v in zip(kp, e, kd, qd_ref, qd, strict=True)]


class PID(Controller):
    """tau = Kp e + Ki z + Kd (qd_ref - qd) + g(q), with dz/dt = e: no error is left at rest.

    Parameters
    ----------
    robot
        The robot that the controller knows.
    target
        A configuration (..., nq), or a motion of `cr.plan`.
    kp, ki, kd
        Gains, in N m/rad or N/m, in N m/(rad s) or N/(m s), and in N m s/rad or N s/m: one number, (nv,), a batch
        (..., nv), or a dictionary of joint names and numbers. What is not given is chosen as for `PD`, and ki as in
        `cr.default_gains`.
    limit
        The largest torque of the integral Ki z, in N m or N. It is cut off there and z stops growing (anti-windup).
    gravity
        Whether g(q) is compensated. Without it, and with gains, the robot needs no masses.
    bandwidth
        The natural frequency of default gains, in Hz; 2 unless given.
    actuated
        The names of the joints with motors; True for all joints. Without it, all but free joints and those with an
        effort limit of 0, with a warning if there are such: these get no
        torque, and their integral stays zero.
    """

    def __init__(
        self,
        robot: Mechanism,
        target: ArrayLike | Reference,
        kp: ArrayLike | Mapping[str, float] | None = None,
        ki: ArrayLike | Mapping[str, float] | None = None,
        kd: ArrayLike | Mapping[str, float] | None = None,
        *,
        limit: ArrayLike | None = None,
        gravity: bool = True,
        bandwidth: float | None = None,
        actuated: Actuated = None,
    ) -> None:
        known_robot(robot, "PID", masses=gravity, loops=True)
        self.gravity, self.limited, self.states = bool(gravity), limit is not None, robot.nv
        self.goal = JointTarget(robot, target, "PID")
        refuse_unused_bandwidth(bandwidth, kp, "PID", "kp")
        chosen = JointGains(robot, self.goal.final, "PID", bandwidth)
        stiff = chosen.stiffness(kp)
        parameters = {"kp": stiff, "ki": chosen.integral(ki, stiff), "kd": chosen.damping(kd, stiff)}
        if limit is not None:
            parameters["limit"] = joint_gains(robot, limit, "PID: limit")
        super().__init__(robot, parameters, self.goal, actuated=actuated)
        if self.gravity:
            self.close_loops(self.goal.first)

    def torque(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> Law:
        """Kp e + Ki z + Kd (qd_ref - qd) + g(q), and e."""
        kp, ki, kd, *limit, target = self.parts(p)
        q_ref, qd_ref, _ = self.goal.at(s, target)
        tau = pd_term(self.model, q, qd, q_ref, qd_ref, kp, kd)
        rates = joint_error(self.model, q, q_ref)
        integral = [k * x for k, x in zip(ki, z, strict=True)]
        if self.limited:
            rates = [anti_windup(i, e, most) for i, e, most in zip(integral, rates, limit[0], strict=True)]
            integral = [clamp(i, most) for i, most in zip(integral, limit[0], strict=True)]
        tau = [t + i for t, i in zip(tau, integral, strict=True)]
        if self.gravity:
            hold = self.distribute(q, holding_torque(self.model, q))
            tau = [t + g for t, g in zip(tau, hold, strict=True)]
        return self.project(tau), self.project(rates)


def clamp(x: Scalar, most: Scalar) -> Scalar:
    """x within -most and most."""
    return where(x > most, most, where(x < -most, -most, x))


def anti_windup(x: Scalar, rate: Scalar, most: Scalar) -> Scalar:
    """The rate of an integral x, zero where it would drive x further beyond -most or most."""
    return where(x >= most, where(rate > 0, 0.0, rate), where(x <= -most, where(rate < 0, 0.0, rate), rate))


class ComputedTorque(Controller):
    """tau = ID(q, qd, qdd_ref + Kd (qd_ref - qd) + Kp e): inverse dynamics in the loop.

    With an exact model, every joint's error obeys e'' + Kd e' + Kp e = 0.

    Viscous friction is compensated at the measured velocity, dry friction at the state of the reference. The
    sign of a measured velocity flips at every crossing of zero, which chatters at rest, and pushes the robot along
    wherever friction is less than the model says. `robot.without_friction()` compensates no friction.

    Joints without motors move as the others make them: their accelerations are part of the solution, so that the errors
    of the others obey the same equation (partial feedback linearization). Nothing brings them to their targets.

    In closed loops, the errors of as many driven joints as there are degrees of freedom obey it, and all other joints
    follow; where more joints are driven, they share the torque so that it is smallest.

    Parameters
    ----------
    robot
        The robot that the controller knows.
    target
        A motion of `cr.plan`, or a configuration (..., nq).
    kp, kd
        Gains, in 1/s^2 and 1/s: one number, (nv,), a batch (..., nv), or a dictionary of joint names and numbers.
        kp is w^2 unless given, with w = 2 pi bandwidth, or less where w^2 m times 0.1 rad is more than the effort limit
        of a joint with the inertia m; kd is 2 sqrt(kp) unless given: critical damping.
    bandwidth
        The natural frequency of default gains, in Hz; 2 unless given.
    actuated
        The names of the joints with motors; True for all joints. Without it, all but free joints and those with an
        effort limit of 0, with a warning if there are such: these get no
        torque.
    """

    def __init__(
        self,
        robot: Mechanism,
        target: ArrayLike | Reference,
        kp: ArrayLike | Mapping[str, float] | None = None,
        kd: ArrayLike | Mapping[str, float] | None = None,
        *,
        bandwidth: float | None = None,
        actuated: Actuated = None,
    ) -> None:
        known_robot(robot, "ComputedTorque", loops=True)
        self.goal = JointTarget(robot, target, "ComputedTorque")
        refuse_unused_bandwidth(bandwidth, kp, "ComputedTorque", "kp")
        chosen = JointGains(robot, self.goal.final, "ComputedTorque", bandwidth)
        stiff = chosen.squared_frequencies(kp)
        damped = chosen.complete(kd, "kd", lambda: 2 * np.sqrt(stiff))
        super().__init__(robot, {"kp": stiff, "kd": damped}, self.goal, actuated=actuated)
        self.close_loops(self.goal.first)
        if self.passive:
            known_robot(robot, "ComputedTorque", inverse=True, loops=True)
        self._smooth = edits.without_dry_friction(self.model)

    def torque(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> Law:
        """ID(q, qd, qdd_ref + Kd (qd_ref - qd) + Kp e)."""
        kp, kd, target = self.parts(p)
        q_ref, qd_ref, qdd_ref = self.goal.at(s, target)
        feedback = pd_term(self.model, q, qd, q_ref, qd_ref, kp, kd)
        qdd = [a + f for a, f in zip(qdd_ref, feedback, strict=True)]
        if self.loop_rows:
            qdd = consistent_acceleration(self._smooth, q, qd, qdd, self.loop_rows, self.leading, self.loop_rank)
        elif self.passive:
            qdd = with_passive_accelerations(self._smooth, q, qd, qdd, self.passive, mass_matrix(self.model, q))
        tau = inverse_dynamics(self._smooth, q, qd, qdd)
        dry = dry_friction(self.model, q_ref, qd_ref, qd_ref)
        return self.distribute(q, [t + f for t, f in zip(tau, dry, strict=True)]), []


def with_passive_accelerations(
    model: Model, q: Scalars, qd: Scalars, qdd: Scalars, passive: Sequence[int], M: Sequence[Scalars]
) -> list[Scalar]:
    """The accelerations, with those of joints without motors as the others make them: their torques are zero."""
    known = [0 if i in passive else a for i, a in enumerate(qdd)]
    torque = inverse_dynamics(model, q, qd, known)
    own = solve_symmetric([[M[i][k] for k in passive] for i in passive], [-torque[i] for i in passive])
    for i, a in zip(passive, own, strict=True):
        known[i] = a
    return known
