"""Velocity and acceleration of a point that moves in a link's frame, by their terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.algorithms import moving_point as algorithm
from chainrule.arguments import Array, one_of, rows_of, together
from chainrule.core.declaration import composition
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link, read_state
from chainrule.core.term_tables import AccelerationTerms, VelocityTerms
from chainrule.errors import ModelError, ShapeError
from chainrule.functions import reference
from chainrule.kinematics.poses import pose
from chainrule.kinematics.velocities import acceleration, velocity
from chainrule.spatial import Rotation, Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

AXES = ("world", "body")
"""Axes of a point's velocity and acceleration: the base's, or those of the frame in which it moves."""


@composition()
def velocity_terms(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    link: str | None = None,
    point: ArrayLike | str | None = None,
    *,
    point_velocity: ArrayLike | None = None,
    frame: str = "world",
) -> VelocityTerms:
    """The velocity of a point that moves in a link's frame: V_BORG + R V_Q + Omega x R P_Q, term by term, in m/s.

    Arguments are as in acceleration_terms.

    >>> import chainrule as cr
    >>> terms = cr.load("planar_2r").textbook.velocity_terms([0.0, 0.0], [1.0, 2.0], link="link1", point="tip")
    >>> terms.relative.tolist(), terms.rotation.tolist(), terms.total.tolist()
    ([0.0, 2.0, 0.0], [0.0, 2.0, 0.0], [0.0, 4.0, 0.0])
    """
    axes, name = one_of(AXES, frame, "frame of a velocity"), find_link(robot, link)
    q, qd = state = read_state(robot, "velocity_terms", q=q, qd=qd)
    P, V, _ = _motion_of_point(
        robot, "velocity_terms", name, point, (*state, np.zeros_like(qd)), {"point_velocity": point_velocity}
    )
    twist = velocity(robot, q, qd, name, frame=axes)
    vectors = {"q": twist[..., :3], "origin": twist[..., 3:], "point": P, "point_velocity": V}
    R = _orientation(robot, q, name, axes)
    terms = _evaluate("velocity_terms", algorithm.velocity_terms, R, vectors)
    return VelocityTerms(_describe(name, point), axes, **terms)


@composition()
def acceleration_terms(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike = 0,
    link: str | None = None,
    point: ArrayLike | str | None = None,
    *,
    point_velocity: ArrayLike | None = None,
    point_acceleration: ArrayLike | None = None,
    frame: str = "world",
    gravity: bool = False,
) -> AccelerationTerms:
    """The acceleration of a point that moves in a link's frame, by its five terms, in m/s^2.

    `origin`, that of the frame's origin; `relative`, that of the point in the frame; `coriolis`, 2 Omega x R V_Q;
    `euler`, Omega_dot x R P_Q; `centripetal`, Omega x (Omega x R P_Q); and `total`, their sum.

    Parameters
    ----------
    q, qd, qdd
        Configurations (..., nq), velocities and accelerations (..., n).
    link
        The link or frame in which the point moves, the end-effector unless one is named.
    point
        P_Q (..., 3), in the frame of the link, in m: its origin if none is given. Or a link or frame that this link
        carries, whose origin moves as the joints between the two do.
    point_velocity, point_acceleration
        V_Q and its rate (..., 3), as seen in the frame of the link, in m/s and m/s^2; zero if left out.
    frame
        The axes of all terms: "world", those of the base; "body", the link's own.
    gravity
        False, the acceleration alone; True, minus g, which is what an accelerometer there reads.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> print(arm.textbook.acceleration_terms([0.0, 0.0], [1.0, 2.0], [0.0, 0.0], link="link1", point="tip"))
    acceleration of the origin of tip in the frame of link1 in base axes, m/s^2
    term                                    x  y  z
    origin       V_BORG_dot                 0  0  0
    relative     R V_Q_dot                 -4  0  0
    coriolis     2 Omega x R V_Q           -4  0  0
    euler        Omega_dot x R P_Q          0  0  0
    centripetal  Omega x (Omega x R P_Q)   -2  0  0
    total                                 -10  0  0
    """
    axes, name = one_of(AXES, frame, "frame of an acceleration"), find_link(robot, link)
    q, qd, qdd = state = read_state(robot, "acceleration_terms", q=q, qd=qd, qdd=qdd)
    given = {"point_velocity": point_velocity, "point_acceleration": point_acceleration}
    P, V, V_dot = _motion_of_point(robot, "acceleration_terms", name, point, state, given)
    A = acceleration(robot, q, qd, qdd, name, frame=axes, gravity=gravity)
    omega = velocity(robot, q, qd, name, frame=axes)[..., :3]
    moving = {"point": P, "point_velocity": V, "point_acceleration": V_dot}
    vectors = {"q": omega, "qdd": A[..., :3], "origin": A[..., 3:], **moving}
    R = _orientation(robot, q, name, axes)
    terms = _evaluate("acceleration_terms", algorithm.acceleration_terms, R, vectors)
    return AccelerationTerms(_describe(name, point), axes, **terms)


def _motion_of_point(
    robot: Mechanism,
    caller: str,
    link: str,
    point: ArrayLike | str | None,
    state: Sequence[Array],
    given: Mapping[str, ArrayLike | None],
) -> tuple[Array, Array, Array]:
    """P_Q, V_Q and its rate in the frame of a link: as given, or of a link or frame that it carries."""
    if not isinstance(point, str):
        P = rows_of(
            np.zeros(3) if point is None else point, 3, f"{caller}: point", "x, y, z in the frame of the link", "m"
        )
        rates = {"point_velocity": np.zeros(3), "point_acceleration": np.zeros(3)}
        for (name, value), unit in zip(given.items(), ("m/s", "m/s^2"), strict=False):
            if value is not None:
                rates[name] = rows_of(value, 3, f"{caller}: {name}", "x, y, z in the frame of the link", unit)
        return P, rates["point_velocity"], rates["point_acceleration"]
    moves = [name for name, value in given.items() if value is not None]
    if moves:
        raise ShapeError(
            f"{caller}: the point {point!r} moves as the joints do; leave out {' and '.join(moves)}, or give the point "
            "by three numbers"
        )
    name = find_link(robot, point)
    if not algorithm.carries(robot.model, link, name):
        raise ModelError(
            f"{caller}: {link!r} does not carry {name!r}; name a link or frame further out, or give the point and its "
            "motion by three numbers each"
        )
    q, qd, qdd = (reference.scalars_of(x) for x in state)
    with np.errstate(all="ignore"):
        motion = algorithm.relative_motion(robot.model, q, qd, qdd, name, link)
    P, V, V_dot = (reference.stack(list(v), state[0].shape[:-1], (3,)) for v in motion)
    return P, V, V_dot


def _orientation(robot: Mechanism, q: Array, link: str, axes: str) -> Array:
    """R of the link in the axes of the terms."""
    return np.eye(3) if axes == "body" else pose(robot, q, link)[..., :3, :3]


def _evaluate(
    caller: str, terms: Callable[..., dict[str, Vector]], R: Array, vectors: Mapping[str, Array]
) -> dict[str, Any]:
    """The terms and their total, as arrays, of an orientation and vectors whose batches broadcast."""
    entries, *arrays = together({"pose": R.reshape(*R.shape[:-2], 9), **vectors}, caller)
    rows = reference.scalars_of(entries)
    rotation = Rotation(*(Vector(*rows[3 * k : 3 * k + 3]) for k in range(3)))
    with np.errstate(all="ignore"):
        found = terms(rotation, *(Vector(*reference.scalars_of(a)) for a in arrays))
        stacks = {name: reference.stack(list(v), entries.shape[:-1], (3,)) for name, v in found.items()}
        return {"total": np.sum(list(stacks.values()), axis=0), **stacks}


def _describe(link: str, point: ArrayLike | str | None) -> str:
    if isinstance(point, str):
        return f"the origin of {point} in the frame of {link}"
    return f"the origin of {link}" if point is None else f"a point in the frame of {link}"
