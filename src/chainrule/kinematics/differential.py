"""Joint velocities and accelerations that make given ones of a frame.

Closed loops count: only motions that keep them closed are taken into account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import ACCELERATION_UNITS, TWIST_UNITS, Array, number, rows_of, together
from chainrule.core.declaration import composition
from chainrule.core.dimensions import refuse_named_batch
from chainrule.core.evaluation import evaluate
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_joints, read_state
from chainrule.errors import ShapeError
from chainrule.functions.table import ACCELERATIONS, PER_VELOCITY, VELOCITIES
from chainrule.kinematics.poses import jacobian_dot
from chainrule.kinematics.tasks import jacobian_rows, loop_jacobian, loop_projector, pseudo_inverse, rows_of_task
from chainrule.model import Quantity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@composition((VELOCITIES,))
def resolved_rate(
    robot: Mechanism,
    q: ArrayLike,
    twist: ArrayLike,
    link: str | None = None,
    *,
    frame: str = "world",
    task: str = "pose",
    damping: float = 0.0,
    null_velocity: ArrayLike | None = None,
    out: Array | None = None,
) -> Array:
    """The joint velocities that come nearest to a twist: qd = J^T (J J^T + damping^2)^-1 V + N z, (..., n).

    Parameters
    ----------
    q
        Configurations (..., nq).
    twist
        V, (..., 6) as (omega, v), in rad/s and m/s; (..., 3) for a part of the motion.
    link
        A link or frame, the end-effector unless one is named.
    frame
        The frame of V, as of the Jacobian.
    task
        "pose"; or "position" or "orientation", where V has three numbers and the rest of the motion is free.
    damping
        In units of J. Without it, the smallest qd among the best ones, which grows without bound towards
        singularities and is finite again in them. With it, |J qd - V|^2 + damping^2 |qd|^2 is least, and |qd| is at
        most |V| / (2 damping).
    null_velocity
        z, (..., n): the motion besides, N being the null space's projector.
    """
    caller = "resolved_rate"
    (q,) = read_state(robot, caller, q=q)
    V = _read_motion(twist, task, f"{caller}: twist", "angular and linear velocity", TWIST_UNITS)
    z = _read_null_motion(robot, null_velocity, "velocity", f"{caller}: null_velocity")
    given = {"q": q, "twist": V} | ({} if z is None else {"null_velocity": z})
    together(given, caller)  # refuses batches that do not fit
    J = loop_jacobian(robot, q, link, task, frame)
    return _smallest(robot, q, J, V, _read_damping(damping, caller), z)


@composition((ACCELERATIONS,))
def resolved_acceleration(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    acceleration: ArrayLike,
    link: str | None = None,
    *,
    frame: str = "world",
    task: str = "pose",
    damping: float = 0.0,
    null_acceleration: ArrayLike | None = None,
    out: Array | None = None,
) -> Array:
    """The joint accelerations that come nearest to an acceleration: qdd = J^+ (A - dJ/dt qd) + N z, (..., n).

    The way back from `acceleration`, as `resolved_rate` is from `velocity`. Closed loops stay closed.

    Parameters
    ----------
    q, qd
        Configurations (..., nq) and velocities (..., n).
    acceleration
        A, (..., 6), the angular acceleration and that of the origin, in rad/s^2 and m/s^2; (..., 3) for a part.
    link
        A link or frame, the end-effector unless one is named.
    frame
        The frame of A: "world" or "body", as of `acceleration`; "space", the rate of the twist at the base's origin.
    task
        "pose"; or "position" or "orientation", where A has three numbers and the rest of the motion is free.
    damping
        In units of J, as of `resolved_rate`.
    null_acceleration
        z, (..., n): the acceleration besides, N being the null space's projector.

    Examples
    --------
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> q, qd = [0.3, 0.9], [1.0, -2.0]
    >>> qdd = arm.analysis.resolved_acceleration(q, qd, [0.5, 2.0, 0.0], task="position")
    >>> arm.acceleration(q, qd, qdd)[3:].round(9).tolist()
    [0.5, 2.0, 0.0]
    """
    caller = "resolved_acceleration"
    q, qd = read_state(robot, caller, q=q, qd=qd)
    of = "angular acceleration and acceleration of the origin"
    A = _read_motion(acceleration, task, f"{caller}: acceleration", of, ACCELERATION_UNITS)
    z = _read_null_motion(robot, null_acceleration, "acceleration", f"{caller}: null_acceleration")
    given = {"q": q, "qd": qd, "acceleration": A} | ({} if z is None else {"null_acceleration": z})
    together(given, caller)  # refuses batches that do not fit
    strength = _read_damping(damping, caller)
    J = jacobian_rows(robot, q, link, task, frame)
    A = A - velocity_acceleration(robot, q, qd, link, frame)[..., rows_of_task(task)]
    if not robot.model.constraints:
        return _smallest(robot, q, J, A, strength, z)
    G = evaluate(robot, "loops.jacobian", q=q)
    gamma = evaluate(robot, "loops.velocity_terms", q=q, qd=qd)  # of the loops: G qdd + gamma = 0
    closing = -(pseudo_inverse(G) @ gamma[..., None])
    J_closed = J @ loop_projector(robot, q)
    return closing[..., 0] + _smallest(robot, q, J_closed, A - (J @ closing)[..., 0], strength, z)


def velocity_acceleration(robot: Mechanism, q: Array, qd: Array, link: str | None, frame: str) -> Array:
    """dJ/dt qd: the acceleration of a link or frame at qdd = 0, in a frame of `resolved_acceleration`: (..., 6)."""
    if frame == "space":
        return (jacobian_dot(robot, q, qd, link, frame=frame) @ qd[..., None])[..., 0]
    return evaluate(robot, "acceleration", q=q, qd=qd, qdd=np.zeros(robot.nv), link=link, frame=frame)


def _read_motion(value: ArrayLike, task: str, what: str, of: str, units: tuple[tuple[str, str], ...]) -> Array:
    """The numbers of a part of a motion (..., k), in the given units."""
    rows = rows_of_task(task)
    return rows_of(value, len(rows), what, of if task == "pose" else task, [units[i] for i in rows])


def _read_null_motion(robot: Mechanism, value: Any, quantity: Quantity, what: str) -> Array | None:
    if value is None:
        return None
    return read_joints(robot, refuse_named_batch(robot.model.layout, value, what), quantity, what)


def _read_damping(damping: float, caller: str) -> float:
    strength = number(damping, f"{caller}: damping")
    if strength < 0:
        raise ShapeError(f"{caller}: damping must not be negative, got {damping!r}")
    return strength


def _smallest(robot: Mechanism, q: Array, J: Array, wanted: Array, damping: float, z: Array | None) -> Array:
    """The smallest joint numbers x with J x nearest to what is wanted, and z in the null space besides: (..., n)."""
    x = (pseudo_inverse(J, damping) @ wanted[..., None])[..., 0]
    return x if z is None else x + (_null_projector(robot, q, J) @ z[..., None])[..., 0]


@composition((VELOCITIES, PER_VELOCITY))
def null_space(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, task: str = "pose", out: Array | None = None
) -> Array:
    """The projector N = 1 - J^+ J onto joint velocities that do not move the frame: (..., n, n)."""
    (q,) = read_state(robot, "null_space", q=q)
    return _null_projector(robot, q, loop_jacobian(robot, q, link, task))


def _null_projector(robot: Mechanism, q: Array, J: Array) -> Array:
    return loop_projector(robot, q) - pseudo_inverse(J) @ J
