"""A controller of velocities that keeps clear: the twist that is nearest to the asked one, within all bounds.

With the velocity dampers of Faverjon and Tournassoud (A local based approach for path planning of manipulators with a
high number of degrees of freedom, 1987): what is a length d above its least value may shrink by no more than gain * d.
The quadratic program becomes a problem of least distance, and that one of nonnegative least squares (Lawson and Hanson,
Solving least squares problems, 1974, chapter 23), which ends after finitely many steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, number, one_of, positive, refuse_nonfinite, rigid_transforms
from chainrule.bodies.distances import nearest
from chainrule.bodies.robot_bodies import bodies_of
from chainrule.bodies.world import World
from chainrule.calls import explains_arguments, explains_construction
from chainrule.control.motions.poses import rotation_vectors
from chainrule.control.requirements import known_robot
from chainrule.core.reading import find_link, read_state
from chainrule.errors import ModelError, ShapeError, short_repr
from chainrule.kinematics.differential import resolved_rate
from chainrule.kinematics.poses import jacobian, pose
from chainrule.kinematics.tasks import jacobian_rows, refuse_loops, rows_of_task

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

SLACK = 1e-9
"""How far rounding may leave an answer beyond a bound, in units of 1 + the bound, in m/s and rad/s."""


@explains_construction
class KeepClear:
    """Joint velocities that come nearest to a twist, within limits and clear of the world and of the robot itself.

    |J qd - V|^2 + damping^2 |qd|^2 is least, with speeds within their limits, and with distances d and the ways to the
    limits of positions shrinking by at most gain * (d - clearance) and gain * way in a second. Where nothing is near,
    that is `robot.analysis.resolved_rate`. What is too near already, or beyond a limit, is brought back so, or, where
    not everything can be, comes no nearer.

    Parameters
    ----------
    robot
        An open chain or tree, without quaternions in q.
    world
        Obstacles. `controller.world = world.move(...)` moves them between calls.
    clearance
        The smallest distance of the robot's bodies from each other and from the world, in m.
    link, task, frame
        What is moved, the end-effector unless one is named, which part of its motion is meant, and the frame of the
        twist, as of `resolved_rate`.
    gain
        In 1/s, less than the rate of the calls, in Hz.
    damping
        In units of J; larger than 0.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> arm = cr.load("planar_3r")
    >>> ball = cr.World().sphere("ball", radius=0.2, xyz=(1.5, 1.5, 0))
    >>> controller, q = cr.KeepClear(arm, ball, clearance=0.05, task="position"), np.array([0.3, 0.3, 0.3])
    >>> for _ in range(2000):
    ...     q = q + 1e-3 * controller(q, [-0.5, 0.5, 0.0])
    >>> bool(arm.clearance(q, ball) > 0.049)
    True
    """

    def __init__(
        self,
        robot: Mechanism,
        world: World | None = None,
        clearance: float = 0.01,
        *,
        link: str | None = None,
        task: str = "pose",
        frame: str = "world",
        gain: float = 10.0,
        damping: float = 0.01,
    ) -> None:
        known_robot(robot, "KeepClear", masses=False)
        refuse_loops(robot, "KeepClear")
        if robot.nq != robot.nv:
            raise ModelError(
                f"KeepClear: robot {robot.name!r} has quaternions in q (joint {robot.model.quaternions[0][0]!r}), "
                "whose limits it does not know; lock the joint with robot.lock(...)"
            )
        self.robot, self.link, self.task = robot, find_link(robot, link), task
        self.frame = one_of(("world", "body", "space"), frame, "frame", "KeepClear")
        self.world = world
        self.clearance = number(clearance, "KeepClear: clearance", "m")
        self.gain = positive(gain, "KeepClear: gain", "a rate in 1/s")
        self.damping = positive(damping, "KeepClear: damping")
        rows_of_task(task)
        table = bodies_of(robot).table
        self._links = sorted({table.links[k] for k in table.moving})
        place = {name: i for i, name in enumerate(self._links)}
        self._of_body = np.array([place.get(name, -1) for name in table.links], dtype=int)  # -1: stands still
        self._pairs = np.array(table.pairs, dtype=int).reshape(-1, 2)
        self._moving = np.array(table.moving, dtype=int)

    @property
    def world(self) -> World | None:
        """The obstacles."""
        return self._world

    @world.setter
    def world(self, world: World | None) -> None:
        if world is not None and not isinstance(world, World):
            raise ShapeError(f"KeepClear: world must be a cr.World, got {short_repr(world)}")
        self._world = world

    @explains_arguments
    def __call__(self, q: ArrayLike, twist: ArrayLike) -> Array:
        """The joint velocities (nv,) in a configuration (nq,) for a twist (6,), or (3,) of a part of the motion."""
        (state,) = read_state(self.robot, "KeepClear", q=q)
        refuse_nonfinite(state, "KeepClear: q")
        free = resolved_rate(
            self.robot, state, twist, self.link, frame=self.frame, task=self.task, damping=self.damping
        )
        if free.ndim != 1:
            raise ShapeError(
                f"KeepClear takes one configuration and one twist, got q of shape {state.shape} and twist of shape "
                f"{np.shape(twist)}"
            )
        refuse_nonfinite(free, "KeepClear: twist")
        A, b = self._bounds(state)
        if (A @ free <= b).all():
            return free
        J = jacobian_rows(self.robot, state, self.link, self.task, self.frame)
        H = J.T @ J + self.damping**2 * np.eye(self.robot.nv)
        L = np.asarray(np.linalg.cholesky(H), float)
        for bounds in (b, np.maximum(b, 0.0)):  # qd = 0 is within the second
            qd = _nearest_within(L, free, A, bounds)
            if qd is not None:
                return qd
        return np.zeros(self.robot.nv)

    @explains_arguments
    def towards(self, q: ArrayLike, target: ArrayLike) -> Array:
        """The joint velocities (nv,) that bring the link to a pose (4, 4), its errors shrinking by the gain."""
        T, goal = pose(self.robot, q, self.link), rigid_transforms(target, "KeepClear: target")
        if T.shape != (4, 4) or goal.shape != (4, 4):
            raise ShapeError(f"KeepClear takes one configuration and one pose, got shapes {np.shape(q)}, {goal.shape}")
        if self.frame != "world":
            raise ShapeError(f"KeepClear.towards goes in frame='world', not {self.frame!r}")
        error = np.concatenate([rotation_vectors(goal[:3, :3] @ T[:3, :3].T), goal[:3, 3] - T[:3, 3]])
        return self(q, self.gain * error[list(rows_of_task(self.task))])

    def _bounds(self, q: Array) -> tuple[Array, Array]:
        """A and b of A qd <= b: speeds, ways to the limits of positions, and distances."""
        limits, n = self.robot.limits, self.robot.nv
        speed = np.where(limits.velocity > 0, limits.velocity, np.inf)
        upper = np.minimum(speed, self.gain * (limits.upper - q))
        lower = np.minimum(speed, self.gain * (q - limits.lower))
        A, b = np.concatenate([np.eye(n), -np.eye(n)]), np.concatenate([upper, lower])
        A, b = A[np.isfinite(b)], b[np.isfinite(b)]
        others = 0 if self.world is None else len(self.world)
        if not len(self._pairs) + len(self._moving) * others:
            return A, b
        found = nearest(self.robot, q, self.world)
        wrench = np.concatenate([np.cross(found.point_b, found.normal), found.normal], axis=-1)
        space = [jacobian(self.robot, q, link, frame="space") for link in self._links]
        J = np.array([*space, np.zeros((6, n))])  # the last for what stands still
        of_a = np.concatenate([self._of_body[self._pairs[:, 0]], np.repeat(self._of_body[self._moving], others)])
        of_b = np.concatenate([self._of_body[self._pairs[:, 1]], np.full(len(self._moving) * others, -1)])
        rate = np.einsum("pi,pin->pn", wrench, J[of_b] - J[of_a])
        return np.concatenate([A, -rate]), np.concatenate([b, self.gain * (found.distance - self.clearance)])

    def __repr__(self) -> str:
        others = 0 if self.world is None else len(self.world)
        return f"<KeepClear of robot {self.robot.name!r} among {others} obstacles, by {self.clearance:g} m>"


def _nearest_within(L: Array, free: Array, A: Array, b: Array) -> Array | None:
    """The x with A x <= b for which |L^T (x - free)| is least, or None where there is no x."""
    from scipy.optimize import nnls

    G = -np.linalg.solve(L, A.T)  # (n, bounds): G^T y >= h for y = L^T (x - free)
    E = np.concatenate([G, (A @ free - b)[None]])
    u, _ = nnls(E, np.eye(len(E))[-1])
    r = E @ u
    r[-1] -= 1.0
    with np.errstate(all="ignore"):
        x = free - np.linalg.solve(L.T, r[:-1]) / r[-1]
        return x if (A @ x <= b + SLACK * (1 + np.abs(b))).all() else None
