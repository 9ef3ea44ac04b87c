"""Controllers for robots with a spring between the motor and the link of each joint.

With q of the links and theta of the motors, M qdd + n = k (theta - q) + d (theta' - q') and B theta'' = tau - that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms.crba import mass_matrix
from chainrule.algorithms.friction import friction_torque
from chainrule.algorithms.vector_form import inverse_dynamics
from chainrule.arguments import Array, positive
from chainrule.control.laws.controller import Controller
from chainrule.control.laws.gains import BANDWIDTH_HZ, joint_gains, joint_inertias
from chainrule.control.laws.targets import JointTarget
from chainrule.control.laws.tracing import call_law, takes_time
from chainrule.control.motions.references import Reference
from chainrule.control.requirements import known_robot
from chainrule.core.derived import merged_model
from chainrule.errors import ModelError, ShapeError, quoted, short_repr
from chainrule.kinematics.configurations import home
from chainrule.kinematics.elastic_joints import rigid_robot, springs_of
from chainrule.model.elastic import ElasticJoint, bare_links
from chainrule.spatial import Scalar
from chainrule.spatial.dual import derivative
from chainrule.spatial.linear import solve_symmetric

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

Scalars = Sequence[Scalar]
Law = tuple[list[Scalar], list[Scalar]]


class VibrationDamping(Controller):
    """A law for the rigid robot, on the links of one with elastic joints, with dampers on their springs.

    tau = tau_law(q, q') - K_v (theta' - q'), with q of the links. With `ComputedTorque` as the law this is singular
    perturbation control: the law moves the links as if joints were rigid, and K_v damps what the springs do meanwhile.
    It holds for a law that is slow beside the springs; then errors are those of a rigid robot on springs.

    Parameters
    ----------
    robot
        The robot with elastic joints.
    law
        A controller of the same robot without them, as it is now.
    damping
        K_v, in N m s/rad or N s/m: one number, (n,), or a dictionary of joint names. Unless given, it damps each
        joint's spring between rotor and link, with the inertia at home, to `damping_ratio`.
    damping_ratio
        The ratio to critical damping.

    Examples
    --------

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> soft = arm.with_elastic_joints(stiffness=2e3, rotor=0.2)
    >>> law = cr.VibrationDamping(soft, cr.ComputedTorque(arm, [0.5, 0.5]))
    >>> end = soft.simulate(soft.states.on_springs([0.0, 0.0]), None, 3.0, law)
    >>> soft.states.link_side(end.q[-1]).q.round(2).tolist()
    [0.5, 0.5]
    """

    def __init__(
        self,
        robot: Mechanism,
        law: Controller,
        damping: ArrayLike | Mapping[str, float] | None = None,
        *,
        damping_ratio: float = 0.7,
    ) -> None:
        known_robot(robot, "VibrationDamping")
        if not isinstance(law, Controller):
            raise ShapeError(f"VibrationDamping: law must be a controller, such as cr.PD(..), got {short_repr(law)}")
        pairs, rigid = springs_of(robot, "VibrationDamping"), rigid_robot(robot)
        if law.robot.model.layout.velocity_names != rigid.model.layout.velocity_names:
            raise ModelError(
                f"VibrationDamping: the law must be one of the robot without elastic joints; it knows "
                f"{quoted(law.robot.joint_names)}"
            )
        self.law, self.states = copy(law), law.states
        self.in_q = tuple(pair.in_q for pair in pairs)
        self.in_v = tuple(pair.in_v for pair in pairs)
        if damping is None:
            K_v = _critical_damping(robot, rigid, positive(damping_ratio, "VibrationDamping: damping_ratio"))
        else:
            K_v = joint_gains(rigid, damping, "VibrationDamping: damping")
        super().__init__(robot, {"law": law.parameters, "damping": K_v}, law.target)

    def torque(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars, t: Scalar = 0.0) -> Law:
        """tau_law(q, q') - K_v (theta' - q')."""
        of_law, K_v, *_ = self.parts(p)
        links, rates = (_sums(x, places) for x, places in ((q, self.in_q), (qd, self.in_v)))
        timed = takes_time(self.law)
        tau, changes = call_law(self.law.torque, [links, rates, z, s, of_law, *[[t]] * timed], timed)
        spring = dict(self.in_v)
        rigid = iter(zip(tau, K_v, strict=True))
        out: list[Scalar] = [0.0] * len(qd)
        for i in self._motors:
            x, k = next(rigid)
            out[i] = x + k * qd[spring[i]] if i in spring else x
        return self.project(out), changes

    @property
    def _motors(self) -> list[int]:
        """The places in qd of all but springs."""
        springs = {spring for _, spring in self.in_v}
        return [i for i in range(self.model.nv) if i not in springs]


def _sums(x: Scalars, places: Sequence[tuple[int, int]]) -> list[Scalar]:
    """Values of the links: of motors and their springs together."""
    spring = dict(places)
    return [a + x[spring[i]] if i in spring else a for i, a in enumerate(x) if i not in spring.values()]


def _numbers(pair: ElasticJoint) -> tuple[float, float, float]:
    """Stiffness and damping of a spring, and the inertia of its rotor."""
    spring, motor = pair.spring.dofs[0], pair.motor.dofs[0]
    return float(spring.stiffness), float(spring.viscous), float(motor.rotor)


def _critical_damping(robot: Mechanism, rigid: Mechanism, ratio: float) -> Array:
    """2 ratio w B less the springs' own damping, with w^2 = k (1/B + 1/I), at home."""
    pairs = springs_of(robot, "VibrationDamping")
    k, d, B = np.array([_numbers(pair) for pair in pairs]).T
    at = [rigid.model.layout.by_joint[pair.motor.name].v.start for pair in pairs]
    I = np.maximum(joint_inertias(rigid, home(rigid), "VibrationDamping")[at] - B, 1e-12)
    out = np.zeros(rigid.nv)
    out[at] = np.maximum(2 * ratio * np.sqrt(k * (1 / B + 1 / I)) * B - d * (1 + B / I), 0.0)
    return out


class ElasticComputedTorque(Controller):
    """Feedback linearization of a robot with elastic joints: the error of each link obeys (d/dt + w)^4 e = 0.

    Torque and link are four derivatives apart: acceleration and jerk of the links follow from the state and the model,
    and the torque is that of the motors that follow what the fourth derivative asks for (Spong 1987). Exact for springs
    without damping; their damping is counted in the accelerations, and left out of its further derivatives.

    Parameters
    ----------
    robot
        A robot all of whose joints are elastic.
    target
        A configuration (..., n) of the links, or a motion of `cr.plan` for the robot without elastic joints.
    bandwidth
        w / (2 pi), in Hz: one number, (n,), or a dictionary of joint names.

    Examples
    --------

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> soft = arm.with_elastic_joints(stiffness=300.0, rotor=0.2)
    >>> plan = cr.plan(arm, [[0.0, 0.0], [0.5, -0.5]], times=1.0, method="quintic")
    >>> motion = soft.simulate(soft.states.on_springs([0.0, 0.0]), None, 1.0, cr.ElasticComputedTorque(soft, plan))
    >>> bool(abs(soft.states.link_side(motion.q).q - plan(motion.t)[0]).max() < 2e-2)
    True
    """

    def __init__(
        self,
        robot: Mechanism,
        target: ArrayLike | Reference,
        bandwidth: ArrayLike | Mapping[str, float] = BANDWIDTH_HZ,
    ) -> None:
        what = type(self).__name__
        known_robot(robot, what, inverse=True)
        pairs, rigid = springs_of(robot, what), rigid_robot(robot)
        if len(pairs) != rigid.nv:
            elastic = {pair.motor.name for pair in pairs}
            raise ModelError(
                f"{what}: all joints must be elastic; {quoted([n for n in rigid.joint_names if n not in elastic])} of "
                f"robot {robot.name!r} are not. cr.VibrationDamping takes them"
            )
        self.goal = JointTarget(rigid, target, what, orders=5)
        w = 2 * np.pi * joint_gains(rigid, bandwidth, f"{what}: bandwidth")
        self.in_v = tuple(pair.in_v for pair in pairs)
        self.springs = tuple(map(_numbers, pairs))
        self.links = bare_links(merged_model(robot))
        super().__init__(robot, {"w": w}, self.goal)

    def torque(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> Law:
        """B theta'' + k (theta - q) + d (theta' - q'), with theta'' for the fourth derivative that is asked for."""
        w, target = self.parts(p)
        links, places, n = self.links, self.in_v, len(self.in_v)
        x, v = _sums(q, places), _sums(qd, places)
        bent, rate = ([-a[spring] for _, spring in places] for a in (q, qd))
        held = [k * a + d * b for (k, d, _), a, b in zip(self.springs, bent, rate, strict=True)]

        def motor_torque(state: Scalars) -> list[Scalar]:
            return inverse_dynamics(links, state[:n], state[n : 2 * n], state[2 * n :])

        M, rest = mass_matrix(links, x), [0] * n
        a = solve_symmetric(M, [f - b for f, b in zip(held, motor_torque([*x, *v, *rest]), strict=True)])
        along = derivative(motor_torque, [*x, *v, *a], [*v, *a, *rest])[1]
        rates = [k * r for (k, _, _), r in zip(self.springs, rate, strict=True)]
        jerk = solve_symmetric(M, [f - b for f, b in zip(rates, along, strict=True)])
        wanted = []
        for i, references in enumerate(zip(*self.goal.at(s, target), strict=True)):
            e, e1, e2, e3 = (r - b for r, b in zip(references, (x[i], v[i], a[i], jerk[i]), strict=False))
            wanted.append(references[4] + w[i] * (4 * e3 + w[i] * (6 * e2 + w[i] * (4 * e1 + w[i] * e))))

        def rate_of_torque(both: Scalars) -> list[Scalar]:
            return derivative(motor_torque, both[: 3 * n], both[3 * n :])[1]

        path, further = [*x, *v, *a, *v, *a, *jerk], [*v, *a, *jerk, *a, *jerk, *wanted]
        change = derivative(rate_of_torque, path, further)[1]
        tau: list[Scalar] = [0.0] * len(qd)
        rubbing = friction_torque(self.model, q, qd)
        for i, (motor, _) in enumerate(places):
            k, _, B = self.springs[i]
            tau[motor] = B * (a[i] + change[i] / k) + held[i] + rubbing[motor]
        return self.project(tau), []
