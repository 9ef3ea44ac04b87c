"""Poses, twists and accelerations of links; Jacobians; poses as six numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, refuse_undefined_rows
from chainrule.core.dask import takes_dask
from chainrule.core.mechanism import Mechanism
from chainrule.kinematics.pose_vectors import lack_unique_angles

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@takes_dask()
def pose(
    robot: Mechanism,
    q: ArrayLike,
    link: str | None = None,
    relative_to: str | None = None,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
) -> Array:
    """Pose of a link or frame, the end-effector's unless one is named: (..., 4, 4), in m.

    parameters: numbers of the robot in place of its own, for all states or for each:
    {"origin:elbow": (..., 3)}, named as in `kernel`.

    In the base frame, the product of exponentials: T(q) = e^[S1]q1 .. e^[Sn]qn M. relative_to names another link or
    frame in which it is given instead: T_ab for `pose(q, b, relative_to=a)`.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.pose([0.0, 0.0])[:3, 3].tolist()
    [2.0, 0.0, 0.0]
    >>> arm.pose([0.7, 0.0], relative_to="link2")[:3, 3].tolist()
    [1.0, 0.0, 0.0]
    """
    return robot.evaluate("pose", q=q, link=link, relative_to=relative_to, parameters=parameters, out=out)


@takes_dask()
def poses(
    robot: Mechanism, q: ArrayLike, *, parameters: Mapping[str, ArrayLike] | None = None, out: Array | None = None
) -> Array:
    """Poses of all links in the base frame, in the order of link_names: (..., links, 4, 4).

    parameters: numbers of the robot in place of its own, as in inverse_dynamics.
    """
    return robot.evaluate("poses", q=q, parameters=parameters, out=out)


@takes_dask()
def twists(robot: Mechanism, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None) -> Array:
    """Twists (omega, v) of all links, each in its own frame: (..., links, 6), rad/s and m/s."""
    return robot.evaluate("twists", q=q, qd=qd, out=out)


@takes_dask()
def accelerations(
    robot: Mechanism, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, gravity: bool = False, out: Array | None = None
) -> Array:
    """Rates of the twists of all links, each in its own frame: (..., links, 6), rad/s^2 and m/s^2.

    These are spatial accelerations: the linear part is dv/dt in axes that move with the link, and the acceleration of
    the link's origin, which `acceleration` gives, is dv/dt + omega x v.

    gravity: False, accelerations alone; True, with the base accelerating by -g, as in the Newton-Euler recursion.

    >>> import chainrule as cr
    >>> arm, still = cr.load("planar_2r"), [0.0, 0.0]
    >>> arm.accelerations(still, still, still, gravity=True)[1].tolist()
    [0.0, 0.0, 0.0, 0.0, 9.81, 0.0]
    """
    return robot.evaluate("accelerations", q=q, qd=qd, qdd=qdd, gravity=gravity, out=out)


@takes_dask()
def jacobian(
    robot: Mechanism,
    q: ArrayLike,
    link: str | None = None,
    frame: str = "world",
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
) -> Array:
    """J with J qd the velocity (omega, v) of a link or frame, as `velocity` has it: (..., 6, n).

    parameters: numbers of the robot in place of its own, as in inverse_dynamics.

    frame: "world", the angular velocity and the velocity of the frame's origin, in base axes; "body", the same two in
    the frame's own axes; "space", the twist at the base's origin in base axes (Lynch & Park's space Jacobian).

    >>> import chainrule as cr
    >>> arm, q, qd = cr.load("planar_2r"), [0.0, 0.0], [1.0, 0.0]
    >>> (arm.jacobian(q) @ qd).tolist() == arm.velocity(q, qd).tolist() == [0.0, 0.0, 1.0, 0.0, 2.0, 0.0]
    True
    """
    return robot.evaluate("jacobian", q=q, link=link, frame=frame, parameters=parameters, out=out)


@takes_dask()
def jacobian_derivative(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    link: str | None = None,
    frame: str = "world",
    *,
    out: Array | None = None,
) -> Array:
    """dJ/dt along qd: (..., 6, n). J qdd + dJ/dt qd is the rate of J qd, in the same frame.

    frame: as of the Jacobian. With "world", that rate is the angular acceleration and the acceleration of the frame's
    origin, in base axes.
    """
    return robot.evaluate("jacobian_derivative", q=q, qd=qd, link=link, frame=frame, out=out)


@takes_dask()
def kinematic_hessian(
    robot: Mechanism, q: ArrayLike, link: str | None = None, frame: str = "world", *, out: Array | None = None
) -> Array:
    """dJ/dq: the change of each entry of the Jacobian along each velocity: (..., 6, n, n).

    Its last index is that of the velocity: kinematic_hessian(q) @ qd == jacobian_derivative(q, qd), the rate dJ/dt.
    frame: as of the Jacobian.
    """
    return robot.evaluate("kinematic_hessian", q=q, link=link, frame=frame, out=out)


@takes_dask()
def analytic_jacobian(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, order: str = "rpy", out: Array | None = None
) -> Array:
    """Rates of the pose vector (x, y, z, and three angles) for each qd: (..., 6, n).

    Linear rows first, as that vector is written. order: of the angles, as of pose_vector; roll, pitch and yaw about
    the fixed x, y and z axes unless another is named. Where angles_are_singular, at a pitch of +-pi/2, rates of the
    angles grow without bound.
    """
    return robot.evaluate("analytic_jacobian", q=q, link=link, order=order, out=out)


@takes_dask()
def pose_vector(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, order: str = "rpy", out: Array | None = None
) -> Array:
    """(x, y, z, and three angles) of a link or frame in the base frame: (..., 6), m and rad.

    order: "rpy", roll, pitch and yaw about the fixed x, y and z axes; or three letters such as "zyz" or "xyz", for
    turns about axes that turn along (SciPy writes these in upper case): R = Rz(a) Ry(b) Rz(c). The second angle is
    within +-pi/2, or within 0 and pi if the first axis comes again. At the ends of its range the others are not
    unique: the last of the order's letters is then 0.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").pose_vector([0.1, 0.2])[3:].round(3).tolist()
    [0.0, 0.0, 0.3]
    """
    return robot.evaluate("pose_vector", q=q, link=link, order=order, out=out)


@takes_dask()
def angles_are_singular(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, order: str = "rpy", tolerance: float = 1e-6
) -> NDArray[np.bool_]:
    """Whether the three angles are not unique in a configuration, and their rates not finite: (...), booleans.

    This is a fault of the angles, not of the robot: another order has none there. They are where the cosine of
    the second angle (the sine, if the first axis comes again) is at most the tolerance. A configuration that is not
    finite has no answer: it is refused, with its row in the batch.
    """
    (q,) = robot.read("angles_are_singular", q=q)
    T = pose(robot, q, link)
    undefined = ~np.isfinite(q).all(axis=-1) | np.isnan(T).any(axis=(-1, -2))
    refuse_undefined_rows(np.asarray(undefined), "angles_are_singular")
    return lack_unique_angles(T, order, tolerance)
