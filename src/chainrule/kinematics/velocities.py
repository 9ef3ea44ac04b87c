"""Velocities and accelerations of links and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms import kinematics
from chainrule.arguments import Array, rows_of, together
from chainrule.core.declaration import BY_ALGORITHM, function
from chainrule.core.evaluation import evaluate
from chainrule.core.mechanism import Mechanism
from chainrule.core.options import FRAME, OF_LINK, WITH_GRAVITY
from chainrule.core.reading import read_state
from chainrule.errors import ShapeError
from chainrule.functions.adapters import as_rows
from chainrule.functions.table import ACCELERATION, LINKS, QD, QDD, TWIST, Needs, Q
from chainrule.kinematics.poses import pose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@function(
    lambda m, q, qd, *, link, frame: list(kinematics.velocity(m, q, qd, link, frame)),
    takes=(Q, QD),
    gives=(TWIST,),
    options=OF_LINK,
    needs=Needs.NOTHING,
    answer="twist (angular, linear) of {link}, {frame} (rad/s, m/s)",
)
def velocity(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    link: str | None = None,
    *,
    frame: str = "world",
    out: Array | None = None,
) -> Array:
    """The twist (omega, v) = J qd of a link or frame, the end-effector's unless one is named: (..., 6), rad/s and m/s.

    frame: "world", the angular velocity and the velocity of the frame's origin, in base axes; "body", the same two in
    the frame's own axes; "space", the twist at the base's origin, in base axes.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").velocity([0.0, 0.0], [1.0, 0.0]).tolist()
    [0.0, 0.0, 1.0, 0.0, 2.0, 0.0]
    """


@function(
    lambda m, q, qd, *, frame: as_rows(kinematics.velocities(m, q, qd, frame)),
    takes=(Q, QD),
    gives=(LINKS, TWIST),
    options={"frame": FRAME},
    needs=Needs.NOTHING,
    whole=True,
    answer="twists (angular, linear) of {links}, {frame} (rad/s, m/s)",
)
def velocities(
    robot: Mechanism, q: ArrayLike, qd: ArrayLike, *, frame: str = "world", out: Array | None = None
) -> Array:
    """The twists (omega, v) of all links, in the order of link_names: (..., links, 6), rad/s and m/s.

    frame: as of `velocity`; "body", of each link its own.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").velocities([0.0, 0.0], [1.0, 0.0])[2].tolist()
    [0.0, 0.0, 1.0, 0.0, 1.0, 0.0]
    """


@function(
    lambda m, q, qd, qdd, *, link, frame, gravity: list(kinematics.acceleration(m, q, qd, qdd, link, frame, gravity)),
    takes=(Q, QD, QDD),
    gives=(ACCELERATION,),
    options={**OF_LINK, "gravity": WITH_GRAVITY},
    needs=Needs.NOTHING,
    answer="angular acceleration of {link} and acceleration of its origin, {axes}{gravity} (rad/s^2, m/s^2)",
)
def acceleration(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike = 0,
    link: str | None = None,
    *,
    frame: str = "world",
    point: ArrayLike | None = None,
    gravity: bool = False,
    out: Array | None = None,
) -> Array:
    """The angular acceleration of a link or frame and the acceleration of its origin: (..., 6), rad/s^2 and m/s^2.

    The second is the classical one, the second derivative of the origin's position. In base axes it is
    J qdd + dJ/dt qd, with J and dJ/dt in the frame "world".

    Parameters
    ----------
    q, qd, qdd
        Configurations (..., nq), velocities and accelerations (..., nv).
    link
        A link or frame, the end-effector unless one is named.
    frame
        The axes of both parts: "world", those of the base; "body", the link's own. "space": the rate of the twist at
        the base's origin, J qdd + dJ/dt qd in that frame.
    point
        (..., 3): a point fixed on the link, in the link's frame, in m, instead of its origin.
    gravity
        False, the acceleration alone; True, minus g, which is what an accelerometer there reads.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.acceleration([0.0, 0.0], [3.0, 0.0], [0.0, 0.0])[3:].tolist()
    [-18.0, 0.0, 0.0]
    """
    if point is None:
        return BY_ALGORITHM
    if frame == "space":
        raise ShapeError("acceleration: a point has no frame='space'; take frame='world' or 'body'")
    A = evaluate(robot, "acceleration", q=q, qd=qd, qdd=qdd, link=link, frame=frame, gravity=gravity)
    r = rows_of(point, 3, "acceleration: point", "x, y, z in the frame of the link")
    q, qd = read_state(robot, "acceleration", q=q, qd=qd)
    omega = evaluate(robot, "velocity", q=q, qd=qd, link=link, frame=frame)[..., :3]
    together({"q": A, "point": r}, "acceleration")  # refuses batches that do not fit
    if frame != "body":
        r = (pose(robot, q, link)[..., :3, :3] @ r[..., None])[..., 0]
    linear = A[..., 3:] + np.cross(A[..., :3], r) + np.cross(omega, np.cross(omega, r))
    return np.concatenate([np.broadcast_to(A[..., :3], linear.shape), linear], axis=-1)


@function(
    lambda m, q, qd, qdd, *, frame, gravity: as_rows(kinematics.accelerations(m, q, qd, qdd, frame, gravity)),
    takes=(Q, QD, QDD),
    gives=(LINKS, ACCELERATION),
    options={"frame": FRAME, "gravity": WITH_GRAVITY},
    needs=Needs.NOTHING,
    whole=True,
    answer="angular accelerations of {links} and accelerations of their origins, {axes}{gravity} (rad/s^2, m/s^2)",
)
def accelerations(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike = 0,
    *,
    frame: str = "world",
    gravity: bool = False,
    out: Array | None = None,
) -> Array:
    """The angular accelerations of all links and the accelerations of their origins: (..., links, 6).

    In rad/s^2 and m/s^2, in the order of link_names. frame, gravity: as of `acceleration`. Rates of the twists in axes
    that move with the links, as the Newton-Euler recursion has them, are in `robot.textbook.rnea_table`.

    >>> import chainrule as cr
    >>> arm, still = cr.load("planar_2r"), [0.0, 0.0]
    >>> arm.accelerations(still, still, still, gravity=True)[1].tolist()
    [0.0, 0.0, 0.0, 0.0, 9.81, 0.0]
    """
