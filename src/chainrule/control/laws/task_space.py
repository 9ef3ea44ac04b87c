"""Controllers of a link's pose: impedance, and operational space.

Everything is in base axes, with the angular part first: a twist V = (angular velocity, velocity of the link's
origin), as J qd with `frame="world"`. The pose error e is the rotation vector from where the link is to where it should
be, the logarithm of R_ref R^T, and the way p_ref - p of its origin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms.crba import mass_matrix
from chainrule.algorithms.jacobians import jacobian, jacobian_dot
from chainrule.algorithms.kinematics import pose
from chainrule.algorithms.vector_form import inverse_dynamics
from chainrule.arguments import Array, number, positive
from chainrule.control.laws.controller import Controller
from chainrule.control.laws.gains import (
    BANDWIDTH_HZ,
    joint_gains,
    joint_inertias,
    refuse_unused_bandwidth,
)
from chainrule.control.laws.joint_space import Law, holding_torque, joint_error, with_passive_accelerations
from chainrule.control.laws.targets import PoseTarget, configurations
from chainrule.control.motions.poses import PoseReference
from chainrule.control.requirements import Actuated, gains, known_robot
from chainrule.core.evaluation import evaluate
from chainrule.core.reading import find_link
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.kinematics.configurations import home
from chainrule.model import edits
from chainrule.spatial import Scalar, Transform, Twist, Wrench
from chainrule.spatial.linear import Factors, dot, solve_symmetric, transpose
from chainrule.spatial.scalar import sqrt, where

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

Scalars = Sequence[Scalar]
JOINT_DAMPING_SHARE = 0.2
"""The default damping of joints below an impedance, as a share of w m; 2 would be critical."""
MIN_MOBILITY = 1e-9
"""Mobility (1/kg or 1/(kg m^2)) below which an axis counts as one along which the link cannot move."""


def pose_error(T: Transform, T_ref: Transform) -> Twist:
    """From T to T_ref: log(R_ref R^T) and p_ref - p, in base axes (rad, m)."""
    return Twist((T_ref.rotation @ T.rotation.inv).log(), T_ref.translation - T.translation)


def weighted_sum(columns: Sequence[Twist], x: Scalars) -> Twist:
    """J x, from the columns of J."""
    total = Twist.zero()
    for S, component in zip(columns, x, strict=True):
        total = total + S * component
    return total


def mobility(M: Sequence[Scalars], J: Sequence[Scalars]) -> list[list[Scalar]]:
    """J M^-1 J^T for the rows of J: the accelerations of a link under unit forces on it.

    One half is computed and mirrored, so that entries that are empty on one side are so on the other.
    """
    factors = Factors(M)
    columns = [factors.solve(row) for row in J]
    half = [[dot(row, column) for column in columns[: i + 1]] for i, row in enumerate(J)]
    return [[half[max(i, k)][min(i, k)] for k in range(len(J))] for i in range(len(J))]


class Impedance(Controller):
    """tau = J^T (K e + D (V_ref - V)) + g(q): springs and dampers hold the link along and about the base's axes.

    Parameters
    ----------
    robot
        The robot that the controller knows.
    target
        A pose (..., 4, 4) in the base frame, or a motion of `cr.plan_pose`.
    stiffness
        K: six numbers, or one for all, of rotations (N m/rad) first, then translations (N/m). Zero sets an axis free.
        Without it, K = w^2 m with w = 2 pi bandwidth: one m for rotations and one for translations, the inertia and the
        mass felt at the link in `robot.home()`, averaged over its axes.
    damping
        D: the same in N m s/rad and N s/m. Without it, each axis is damped critically for the mass m that is felt
        along it with the others free: D = 2 damping_ratio sqrt(K m), with 1/m on the diagonal of J M^-1 J^T.
    damping_ratio
        The ratio of the damping and the critical one, where no damping is given.
    joint_damping
        Damping of every joint, in N m s/rad or N s/m: brings motions to rest that do not move the link. One number,
        (nv,), or a dictionary of joint names. Zero unless given; where the stiffness is not given either, 0.2 w m with
        each joint's inertia m.
    bandwidth
        The natural frequency of default gains, in Hz; 2 unless given.
    link
        The link or frame; the end-effector unless one is named.
    actuated
        The names of the joints with motors; True for all joints. Without it, all but free joints and those with an
        effort limit of 0, with a warning if there are such: these get no
        torque of J^T or g, so that a base that floats gives way.
    """

    def __init__(
        self,
        robot: Mechanism,
        target: ArrayLike | PoseReference,
        stiffness: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        *,
        damping_ratio: float = 1.0,
        joint_damping: ArrayLike | Mapping[str, float] | None = None,
        bandwidth: float | None = None,
        link: str | None = None,
        actuated: Actuated = None,
    ) -> None:
        known_robot(robot, "Impedance", inverse=damping is None or stiffness is None)
        refuse_unused_bandwidth(bandwidth, stiffness, "Impedance", "stiffness")
        self.link = find_link(robot, link)
        self.goal = PoseTarget(target, "Impedance")
        self.critical = damping is None
        w = 2 * np.pi * positive(BANDWIDTH_HZ if bandwidth is None else bandwidth, "Impedance: bandwidth")
        if stiffness is None:
            K = w * w * _felt_inertias(robot, self.link)
        else:
            K = gains(stiffness, 6, "Impedance: stiffness", "three rotations, three translations")
        if damping is None:
            ratio = gains(number(damping_ratio, "Impedance: damping_ratio"), 6, "Impedance: damping_ratio", "a number")
            D = 2 * ratio * np.sqrt(K)
        else:
            D = gains(damping, 6, "Impedance: damping", "three rotations, three translations")
        if joint_damping is None and stiffness is None:
            per_joint = JOINT_DAMPING_SHARE * w * joint_inertias(robot, None, "Impedance")
        else:
            per_joint = joint_gains(robot, 0.0 if joint_damping is None else joint_damping, "Impedance: joint_damping")
        parameters = {"stiffness": K, "damping": D, "joint_damping": per_joint}
        super().__init__(robot, parameters, self.goal, actuated=actuated)

    def torque(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> Law:
        """J^T (K e + D (V_ref - V)) + g(q) - D_joint qd."""
        K, D, per_joint, target = self.parts(p)
        T_ref, V_ref, _ = self.goal.at(s, target)
        J = jacobian(self.model, q, self.link, "world")
        e = pose_error(pose(self.model, q, self.link), T_ref)
        e_rate = V_ref - weighted_sum(J, qd)
        if self.critical:
            D = [d * root for d, root in zip(D, self._root_masses(q, J), strict=True)]
        F = Wrench.of([k * x + d * v for k, x, d, v in zip(K, e, D, e_rate, strict=True)])
        hold = holding_torque(self.model, q)
        return self.project([S.dot(F) + g - d * v for S, g, d, v in zip(J, hold, per_joint, qd, strict=True)]), []

    def _root_masses(self, q: Scalars, J: Sequence[Twist]) -> list[Scalar]:
        """Square roots of the masses felt along each axis; zero where the link cannot move."""
        rows = transpose([list(S) for S in J])
        M = mass_matrix(self.model, q)
        moves = [row[i] for i, row in enumerate(mobility(M, rows))]
        return [where(m > MIN_MOBILITY, sqrt(1 / where(m > MIN_MOBILITY, m, 1.0)), 0.0) for m in moves]


def _felt_inertias(robot: Mechanism, link: str) -> Array:
    """The inertia (three times) and the mass (three times) felt at a link at home, each averaged over its axes."""
    q = home(robot)
    J = evaluate(robot, "jacobian", q=q, link=link, frame="world")
    moves = np.diagonal(J @ np.linalg.solve(evaluate(robot, "mass_matrix", q=q), J.T))
    felt = []
    for part in (moves[:3], moves[3:]):
        movable = part[part > MIN_MOBILITY]
        felt.append(1 / movable.mean() if len(movable) else 0.0)
    return np.repeat(felt, 3)


TASKS = {"pose": slice(0, 6), "orientation": slice(0, 3), "position": slice(3, 6)}


class OperationalSpace(Controller):
    """tau = J^T Lambda (A_ref + Kd (V_ref - V) + Kp e - dJ/dt qd) + h, with Lambda = (J M^-1 J^T + eps 1)^-1 (Khatib).

    With an exact model, the link's errors decay as e'' + Kd e' + Kp e = 0. Joints that the task leaves free follow
    a = posture_kp (posture - q) - posture_kd qd, in the null space of J that M weights, so that the link does not
    notice. h has viscous friction only: the sign of a measured velocity would make Coulomb friction chatter at rest.

    Parameters
    ----------
    robot
        The robot that the controller knows.
    target
        A pose (..., 4, 4) in the base frame, or a motion of `cr.plan_pose`.
    kp, kd
        Gains, in 1/s^2 and 1/s: one number, or one for each axis, rotations first. kp is (2 pi bandwidth)^2
        unless given, and kd is 2 sqrt(kp).
    bandwidth
        The natural frequency of the default kp, in Hz; 2 unless given.
    link
        The link or frame; the end-effector unless one is named.
    task
        "pose", or only its "position" or "orientation", with three gains each.
    posture
        The configuration (..., nq) of joints that the task leaves free. Without it, they are only slowed down.
    posture_kp, posture_kd
        Gains of the posture, in 1/s^2 and 1/s. posture_kd is 2 sqrt(posture_kp) unless given, and 1/s without a
        posture.
    damping
        eps, in 1/kg or 1/(kg m^2): keeps forces finite near singular configurations; away from them it takes about
        eps Lambda off the link's acceleration.
    actuated
        The names of the joints with motors; True for all joints. Without it, all but free joints and those with an
        effort limit of 0, with a warning if there are such: these get no
        torque. They move as the others make them, which is taken into account (the generalized Jacobian of a
        free-floating robot), so that the link still follows.
    """

    def __init__(
        self,
        robot: Mechanism,
        target: ArrayLike | PoseReference,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        *,
        bandwidth: float | None = None,
        link: str | None = None,
        task: str = "pose",
        posture: ArrayLike | None = None,
        posture_kp: ArrayLike | None = None,
        posture_kd: ArrayLike | None = None,
        damping: float = 1e-4,
        actuated: Actuated = None,
    ) -> None:
        known_robot(robot, "OperationalSpace", inverse=True)
        self.link = find_link(robot, link)
        if not isinstance(task, str) or task not in TASKS:
            raise UnknownNameError.of("task", task, TASKS, "OperationalSpace")
        self.rows = TASKS[task]
        self.goal = PoseTarget(target, "OperationalSpace")
        axes, dofs = self.rows.stop - self.rows.start, robot.nv
        eps = positive(damping, "OperationalSpace: damping", "positive, however small, such as 1e-9")
        refuse_unused_bandwidth(bandwidth, kp, "OperationalSpace", "kp")
        w = 2 * np.pi * positive(BANDWIDTH_HZ if bandwidth is None else bandwidth, "OperationalSpace: bandwidth")
        stiff = gains(w * w if kp is None else kp, axes, "OperationalSpace: kp", f"the axes of the {task}")
        damped = 2 * np.sqrt(stiff)
        if kd is not None:
            damped = gains(kd, axes, "OperationalSpace: kd", f"the axes of the {task}")
        parameters = {"kp": stiff, "kd": damped, "damping": np.array([eps])}
        if (posture is None) != (posture_kp is None):
            raise ShapeError("OperationalSpace: posture and posture_kp go together; give both, or neither")
        free = np.full(dofs, 1.0)
        if posture is not None and posture_kp is not None:
            stiffness = joint_gains(robot, posture_kp, "OperationalSpace: posture_kp")
            parameters["posture"] = configurations(robot, posture, "OperationalSpace: posture")
            parameters["posture_kp"], free = stiffness, 2 * np.sqrt(stiffness)
        if posture_kd is not None:
            free = joint_gains(robot, posture_kd, "OperationalSpace: posture_kd")
        parameters["posture_kd"] = free
        super().__init__(robot, parameters, self.goal, actuated=actuated)
        self._smooth = edits.without_dry_friction(self.model)

    def torque(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> Law:
        """ID(q, qd, a) + J^T Lambda (A - J a - dJ/dt qd), with references A of the link and a of the joints."""
        kp, kd, (eps,), *posture, posture_kd, target = self.parts(p)
        T_ref, V_ref, A_ref = self.goal.at(s, target)
        J = jacobian(self.model, q, self.link, "world")
        drift = weighted_sum(jacobian_dot(self.model, q, qd, self.link, "world"), qd)
        a = [-d * v for d, v in zip(posture_kd, qd, strict=True)]
        if posture:
            e_posture = joint_error(self.model, q, posture[0])
            a = [x + k * y for x, k, y in zip(a, posture[1], e_posture, strict=True)]
        M = mass_matrix(self.model, q)
        if self.passive:
            a = with_passive_accelerations(self._smooth, q, qd, a, self.passive, M)
        missing = A_ref - weighted_sum(J, a) - drift
        e, e_rate = pose_error(pose(self.model, q, self.link), T_ref), V_ref - weighted_sum(J, qd)
        rows = zip(list(missing)[self.rows], kd, list(e_rate)[self.rows], kp, list(e)[self.rows], strict=True)
        A = [x + d * v + k * y for x, d, v, k, y in rows]
        columns = [list(S)[self.rows] for S in J]
        if self.passive:
            M, columns = without_passive(M, columns, self.actuated, self.passive)
        J_task = transpose(columns)
        B = mobility(M, J_task)
        for i in range(len(A)):
            B[i][i] = B[i][i] + eps
        F = solve_symmetric(B, A)
        tau = self.project(inverse_dynamics(self._smooth, q, qd, a))
        for i, S in zip(self.actuated, transpose(J_task), strict=True):
            tau[i] = tau[i] + dot(S, F)
        return tau, []


def without_passive(
    M: Sequence[Scalars], columns: Sequence[Scalars], actuated: Sequence[int], passive: Sequence[int]
) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
    """The mass matrix and the columns of J that the joints with motors feel, the others moving along freely.

    M_aa - M_au X and J_a - J_u X, with X = M_uu^-1 M_ua.
    """
    factors = Factors([[M[i][k] for k in passive] for i in passive])
    X = [factors.solve([M[u][a] for u in passive]) for a in actuated]
    felt = [
        [M[i][k] - dot([M[i][u] for u in passive], column) for k, column in zip(actuated, X, strict=True)]
        for i in actuated
    ]
    J = [
        [x - dot([columns[u][axis] for u in passive], column) for axis, x in enumerate(columns[k])]
        for k, column in zip(actuated, X, strict=True)
    ]
    return felt, J
