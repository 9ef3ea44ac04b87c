"""Poses of links and frames, their Jacobians, and poses as six numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainrule.algorithms import jacobians, kinematics
from chainrule.arguments import Array, refuse_undefined_rows
from chainrule.core.declaration import composition, function
from chainrule.core.mechanism import Mechanism
from chainrule.core.options import LINK, OF_LINK, ORDER, RELATIVE_TO
from chainrule.core.reading import read_state
from chainrule.errors import ShapeError
from chainrule.functions import adapters
from chainrule.functions.adapters import from_columns, last_first
from chainrule.functions.table import LINKS, PER_DISPLACEMENT, PER_VELOCITY, QD, TWIST, Needs, Q, per_pair
from chainrule.kinematics.pose_vectors import lack_unique_angles
from chainrule.model import Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

PARTS_OF_A_POSE = {"rotation": (np.s_[..., :3, :3], ""), "translation": (np.s_[..., :3, 3], "m")}


@function(
    adapters.pose,
    takes=(Q,),
    gives=(4, 4),
    parts=PARTS_OF_A_POSE,
    options={"link": LINK, "relative_to": RELATIVE_TO},
    needs=Needs.NOTHING,
    answer="pose of {link} in {relative_to}: a homogeneous matrix, its translation in m",
)
def pose(
    robot: Mechanism,
    q: ArrayLike,
    link: str | None = None,
    *,
    relative_to: str | None = None,
    out: Array | None = None,
) -> Array:
    """Pose of a link or frame, the end-effector's unless one is named: (..., 4, 4), in m.

    In the base frame, the product of exponentials: T(q) = e^[S1]q1 .. e^[Sn]qn M. relative_to names another link or
    frame in which it is given instead: T_ab for `pose(q, b, relative_to=a)`.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.pose([0.0, 0.0])[:3, 3].tolist()
    [2.0, 0.0, 0.0]
    >>> arm.pose([0.7, 0.0], relative_to="link2")[:3, 3].tolist()
    [1.0, 0.0, 0.0]
    """


@function(
    lambda m, q: [T.rows() for T in kinematics.poses(m, q)],
    takes=(Q,),
    gives=(LINKS, 4, 4),
    parts=PARTS_OF_A_POSE,
    needs=Needs.NOTHING,
    whole=True,
    answer="poses of {links} in the base: homogeneous matrices, their translations in m",
)
def poses(robot: Mechanism, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Poses of all links in the base frame, in the order of link_names: (..., links, 4, 4), in m."""


@function(
    lambda m, q, *, link, frame: from_columns(jacobians.jacobian(m, q, link, frame)),
    takes=(Q,),
    gives=(TWIST, PER_VELOCITY),
    options=OF_LINK,
    needs=Needs.NOTHING,
    answer="Jacobian of {link}: rows (angular, linear), {frame} (rad/s, m/s); columns {columns}",
)
def jacobian(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, frame: str = "world", out: Array | None = None
) -> Array:
    """J with J qd the velocity (omega, v) of a link or frame, as `velocity` has it: (..., 6, nv).

    frame: "world", the angular velocity and the velocity of the frame's origin, in base axes; "body", the same two in
    the frame's own axes; "space", the twist at the base's origin in base axes (Lynch & Park's space Jacobian).

    >>> import chainrule as cr
    >>> arm, q, qd = cr.load("planar_2r"), [0.0, 0.0], [1.0, 0.0]
    >>> (arm.jacobian(q) @ qd).tolist() == arm.velocity(q, qd).tolist() == [0.0, 0.0, 1.0, 0.0, 2.0, 0.0]
    True
    """


@function(
    lambda m, q, qd, *, link, frame: from_columns(jacobians.jacobian_dot(m, q, qd, link, frame)),
    takes=(Q, QD),
    gives=(TWIST, PER_VELOCITY),
    unit="1/s",
    options=OF_LINK,
    needs=Needs.NOTHING,
    answer="rate of the Jacobian of {link}: rows (angular, linear), {frame}; columns {columns}",
)
def jacobian_dot(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    link: str | None = None,
    *,
    frame: str = "world",
    out: Array | None = None,
) -> Array:
    """dJ/dt along qd: (..., 6, nv). J qdd + dJ/dt qd is the rate of J qd, in the same frame.

    frame: as of the Jacobian. With "world", that rate is the angular acceleration and the acceleration of the frame's
    origin, in base axes.
    """


@function(
    lambda m, q, *, link, frame: last_first(jacobians.jacobian_dq(m, q, link, frame)),
    takes=(Q,),
    gives=(TWIST, PER_VELOCITY, PER_DISPLACEMENT),
    options=OF_LINK,
    needs=Needs.NOTHING,
    cost=per_pair(),
    answer="derivatives of the Jacobian of {link}, {frame}: rows (angular, linear), columns {columns}, each along "
    "these",
)
def jacobian_dq(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, frame: str = "world", out: Array | None = None
) -> Array:
    """dJ/dq, the kinematic Hessian: the change of each entry of the Jacobian along each velocity: (..., 6, nv, nv).

    Its last index is that of the velocity: jacobian_dq(q) @ qd == jacobian_dot(q, qd), the rate dJ/dt.
    frame: as of the Jacobian.
    """


def _refuse_infinite_rates(model: Model, options: Mapping[str, Any]) -> Callable[[Array], Array]:
    """The step after the analytic Jacobian: rates of angles that do not exist are refused."""
    order = options.get("order", "rpy")

    def check(J: Array) -> Array:
        infinite = np.isinf(J).any(axis=(-1, -2))
        if infinite.any():
            row = f" in row {tuple(np.argwhere(infinite)[0].tolist())}" if infinite.ndim else ""
            raise ShapeError(
                f"analytic_jacobian: the angles {order!r} are singular{row}: two of them turn about one axis, and "
                "their rates do not exist; use another order, or robot.jacobian, which has no such places "
                "(robot.textbook.angles_are_singular finds them)"
            )
        return J

    return check


@function(
    lambda m, q, *, link, order: jacobians.analytic_jacobian(m, q, link, order),
    subject="textbook",
    takes=(Q,),
    gives=(6, PER_VELOCITY),
    unit="1/s",
    parts={"position": (np.s_[..., :3, :], "m/s"), "angles": (np.s_[..., 3:, :], "rad/s")},
    options={"link": LINK, "order": ORDER},
    needs=Needs.NOTHING,
    by_name=_refuse_infinite_rates,
    answer="rates of the pose vector of {link}: rows x, y, z (m/s), angles {order} (rad/s); columns {columns}",
)
def analytic_jacobian(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, order: str = "rpy", out: Array | None = None
) -> Array:
    """Rates of the pose vector (x, y, z, and three angles) for each qd: (..., 6, nv).

    Linear rows first, as that vector is written. order: of the angles, as of pose_vector; roll, pitch and yaw about
    the fixed x, y and z axes unless another is named. Close to where angles_are_singular, at a pitch of +-pi/2, rates
    of the angles grow without bound; there they do not exist, and are refused.
    """


@function(
    lambda m, q, *, link, order: jacobians.pose_vector(m, q, link, order),
    subject="textbook",
    takes=(Q,),
    gives=(6,),
    parts={"position": (np.s_[..., :3], "m"), "angles": (np.s_[..., 3:], "rad")},
    options={"link": LINK, "order": ORDER},
    needs=Needs.NOTHING,
    answer="x, y, z (m) and three angles, {order} (rad), of {link} in the base",
)
def pose_vector(
    robot: Mechanism, q: ArrayLike, link: str | None = None, *, order: str = "rpy", out: Array | None = None
) -> Array:
    """(x, y, z, and three angles) of a link or frame in the base frame: (..., 6), m and rad.

    order: "rpy", roll, pitch and yaw about the fixed x, y and z axes; or three letters such as "zyz" or "xyz", for
    turns about axes that turn along (SciPy writes these in upper case): R = Rz(a) Ry(b) Rz(c). The second angle is
    within +-pi/2, or within 0 and pi if the first axis comes again. At the ends of its range the others are not
    unique: the last of the order's letters is then 0.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").textbook.pose_vector([0.1, 0.2])[3:].round(3).tolist()
    [0.0, 0.0, 0.3]
    """


@composition()
def angles_are_singular(
    robot: Mechanism,
    q: ArrayLike,
    link: str | None = None,
    *,
    order: str = "rpy",
    tolerance: float = 1e-6,
    out: Array | None = None,
) -> NDArray[np.bool_]:
    """Whether the three angles are not unique in a configuration, and their rates not finite: (...), booleans.

    This is a fault of the angles, not of the robot: another order has none there. They are where the cosine of
    the second angle (the sine, if the first axis comes again) is at most the tolerance. A configuration that is not
    finite has no answer: it is refused, with its row in the batch.
    """
    (q,) = read_state(robot, "angles_are_singular", q=q)
    T = pose(robot, q, link)
    undefined = ~np.isfinite(q).all(axis=-1) | np.isnan(T).any(axis=(-1, -2))
    refuse_undefined_rows(np.asarray(undefined), "angles_are_singular")
    return lack_unique_angles(T, order, tolerance)
