"""Controllers of a link's pose: impedance, and operational space.

Everything is in base axes, with the angular part first: a twist V = (angular velocity, velocity of the link's
origin), as J qd with `frame="world"`. The pose error e is the rotation vector from where the link is to where it should
be, the logarithm of R_ref R^T, and the way p_ref - p of its origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms.crba import mass_matrix
from chainrule.algorithms.jacobians import jacobian, jacobian_derivative
from chainrule.algorithms.kinematics import pose
from chainrule.algorithms.vector_form import inverse_dynamics
from chainrule.arguments import number
from chainrule.control.laws.controller import Controller, without_dry_friction
from chainrule.control.laws.joint_space import Law, holding_torque, joint_error
from chainrule.control.laws.requirements import gains, known_robot
from chainrule.control.laws.targets import PoseTarget, configurations
from chainrule.control.motions.poses import PoseReference
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.model import edits
from chainrule.spatial import Force, Motion, Scalar, Transform
from chainrule.spatial.linear import Factors, dot, multiply, solve_symmetric, transpose
from chainrule.spatial.scalar import sqrt, where

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.robot.robot import Robot

Scalars = Sequence[Scalar]
IMMOBILE = 1e-9
"""Mobility (1/kg or 1/(kg m^2)) below which an axis counts as one along which the link cannot move."""


def pose_error(T: Transform, T_ref: Transform) -> Motion:
    """From T to T_ref: log(R_ref R^T) and p_ref - p, in base axes (rad, m)."""
    return Motion((T_ref.rotation @ T.rotation.inv).log(), T_ref.translation - T.translation)


def combined(columns: Sequence[Motion], x: Scalars) -> Motion:
    """J x, from the columns of J."""
    total = Motion.zero()
    for S, component in zip(columns, x, strict=True):
        total = total + S * component
    return total


def mobility(M: Sequence[Scalars], J: Sequence[Scalars]) -> list[list[Scalar]]:
    """J M^-1 J^T for the rows of J: the accelerations of a link that unit forces on it make."""
    factors = Factors(M)
    return multiply(J, transpose([factors.solve(row) for row in J]))


class Impedance(Controller):
    """tau = J^T (K e + D (V_ref - V)) + g(q): the link is held by springs and dampers along and about the base's axes.

    target: a pose (..., 4, 4) in the base frame, or a motion of `cr.plan_pose`. link: the end-effector unless named.
    stiffness: six numbers, or one for all, of rotations (N m/rad) first, then translations (N/m); zero sets an axis
    free. damping: the same in N m s/rad and N s/m; or none, and each axis is damped critically, `damping_ratio` times,
    for the mass that is felt along it with the others free: D = 2 ratio sqrt(K m), 1/m on the diagonal of J M^-1 J^T.
    joint_damping (N m s/rad or N s/m) acts on every joint, and brings motions to rest that do not move the link.
    """

    def __init__(
        self,
        robot: Robot,
        target: ArrayLike | PoseReference,
        stiffness: ArrayLike,
        damping: ArrayLike | None = None,
        *,
        damping_ratio: float = 1.0,
        joint_damping: ArrayLike = 0.0,
        link: str | None = None,
    ) -> None:
        known_robot(robot, "Impedance", inverse=damping is None)
        self.link = _link(robot, link)
        self.goal = PoseTarget(target, "Impedance")
        self.critical = damping is None
        K = gains(stiffness, 6, "Impedance: stiffness", "three rotations, three translations")
        if damping is None:
            ratio = gains(number(damping_ratio, "Impedance: damping_ratio"), 6, "Impedance: damping_ratio", "a number")
            D = 2 * ratio * np.sqrt(K)
        else:
            D = gains(damping, 6, "Impedance: damping", "three rotations, three translations")
        per_joint = gains(joint_damping, robot.nv, "Impedance: joint_damping", "one for each degree of freedom")
        numbers = {"stiffness": K, "damping": D, "joint_damping": per_joint}
        super().__init__(robot, numbers, self.goal, (self.link, self.critical))

    def torque(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> Law:
        """J^T (K e + D (V_ref - V)) + g(q) - D_joint qd."""
        K, D, per_joint, target = self.parts(p)
        T_ref, V_ref, _ = self.goal.at(s, target)
        J = jacobian(self.model, q, self.link, "world")
        e = pose_error(pose(self.model, q, self.link), T_ref)
        e_rate = V_ref - combined(J, qd)
        if self.critical:
            D = [d * root for d, root in zip(D, self._root_masses(q, J), strict=True)]
        F = Force.of([k * x + d * v for k, x, d, v in zip(K, e, D, e_rate, strict=True)])
        held = holding_torque(self.model, q)
        return [S.dot(F) + g - d * v for S, g, d, v in zip(J, held, per_joint, qd, strict=True)], []

    def _root_masses(self, q: Scalars, J: Sequence[Motion]) -> list[Scalar]:
        """The square roots of the masses felt along each axis; zero where the link cannot move."""
        rows = transpose([list(S) for S in J])
        M = mass_matrix(self.model, q)
        moves = [row[i] for i, row in enumerate(mobility(M, rows))]
        return [where(m > IMMOBILE, sqrt(1 / where(m > IMMOBILE, m, 1.0)), 0.0) for m in moves]


TASKS = {"pose": slice(0, 6), "orientation": slice(0, 3), "position": slice(3, 6)}


class OperationalSpace(Controller):
    """tau = J^T Lambda (A_ref + Kd (V_ref - V) + Kp e - dJ/dt qd) + h, with Lambda = (J M^-1 J^T + eps 1)^-1 (Khatib).

    With an exact model, the link's errors decay as e'' + Kd e' + Kp e = 0: kp in 1/s^2, kd in 1/s, 2 sqrt(kp) unless
    given; a number, or one for each axis, rotations first. target: a pose (..., 4, 4) in the base frame, or a motion of
    `cr.plan_pose`. link: the end-effector unless named. task: "pose", or only its "position" or "orientation", with
    three gains each.

    Joints that the task leaves free follow a = posture_kp (posture - q) - posture_kd qd, in the null space that M
    weighs, so that the link does not notice. Without a posture they are only slowed, by posture_kd = 1/s.
    damping: eps, in 1/kg or 1/(kg m^2), keeps forces finite near singular configurations; away from them it takes
    about eps Lambda off the link's acceleration. Of joint friction, h has the viscous part only: at what velocity a
    joint should go is not known here, and the sign of the measured one would chatter at rest.
    """

    def __init__(
        self,
        robot: Robot,
        target: ArrayLike | PoseReference,
        kp: ArrayLike,
        kd: ArrayLike | None = None,
        *,
        link: str | None = None,
        task: str = "pose",
        posture: ArrayLike | None = None,
        posture_kp: ArrayLike | None = None,
        posture_kd: ArrayLike | None = None,
        damping: float = 1e-4,
    ) -> None:
        known_robot(robot, "OperationalSpace", inverse=True)
        self.link = _link(robot, link)
        if task not in TASKS:
            raise UnknownNameError.of("task", task, TASKS, "OperationalSpace")
        self.rows = TASKS[task]
        self.goal = PoseTarget(target, "OperationalSpace")
        axes, dofs = self.rows.stop - self.rows.start, robot.nv
        eps = gains(number(damping, "OperationalSpace: damping"), 1, "OperationalSpace: damping", "a number")
        if not eps > 0:
            raise ShapeError("OperationalSpace: damping must be positive, however small, such as 1e-9")
        stiff = gains(kp, axes, "OperationalSpace: kp", f"the axes of the {task}")
        damped = 2 * np.sqrt(stiff)
        if kd is not None:
            damped = gains(kd, axes, "OperationalSpace: kd", f"the axes of the {task}")
        numbers = {"kp": stiff, "kd": damped, "damping": eps}
        if (posture is None) != (posture_kp is None):
            raise ShapeError("OperationalSpace: posture and posture_kp go together; give both, or neither")
        free = np.full(dofs, 1.0)
        if posture is not None and posture_kp is not None:
            drawn = gains(posture_kp, dofs, "OperationalSpace: posture_kp", "one for each degree of freedom")
            numbers["posture"] = configurations(robot, posture, "OperationalSpace: posture")
            numbers["posture_kp"], free = drawn, 2 * np.sqrt(drawn)
        if posture_kd is not None:
            free = gains(posture_kd, dofs, "OperationalSpace: posture_kd", "one for each degree of freedom")
        numbers["posture_kd"] = free
        super().__init__(robot, numbers, self.goal, (self.link, task))
        self._smooth = without_dry_friction(self.model)

    def torque(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> Law:
        """ID(q, qd, a) + J^T Lambda (A - J a - dJ/dt qd), A being wanted of the link and a of the joints."""
        kp, kd, (eps,), *posture, slowing, target = self.parts(p)
        T_ref, V_ref, A_ref = self.goal.at(s, target)
        J = jacobian(self.model, q, self.link, "world")
        drift = combined(jacobian_derivative(self.model, q, qd, self.link, "world"), qd)
        a = [-d * v for d, v in zip(slowing, qd, strict=True)]
        if posture:
            drawn = zip(a, posture[1], joint_error(self.model, q, posture[0]), strict=True)
            a = [x + k * y for x, k, y in drawn]
        lacking = A_ref - combined(J, a) - drift
        e, e_rate = pose_error(pose(self.model, q, self.link), T_ref), V_ref - combined(J, qd)
        rows = zip(list(lacking)[self.rows], kd, list(e_rate)[self.rows], kp, list(e)[self.rows], strict=True)
        A = [x + d * v + k * y for x, d, v, k, y in rows]
        J_task = transpose([list(S)[self.rows] for S in J])
        B = mobility(mass_matrix(self.model, q), J_task)
        for i in range(len(A)):
            B[i][i] = B[i][i] + eps
        F = solve_symmetric(B, A)
        tau = inverse_dynamics(self._smooth, q, qd, a)
        return [t + dot(S, F) for t, S in zip(tau, transpose(J_task), strict=True)], []


def _link(robot: Robot, link: str | None) -> str:
    name = edits.meant(robot.model, link)
    robot.model.locate(name)
    return name
