"""Arms with parallel axes: planar arms of two and three joints, and arms like the UR robots.

Closed forms give the angles of all branches, and for each joint its lever: how far the target is, in m or rad, from
where any angle of that joint would do, the others following. It is infinite for joints that are never free.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chainrule.arguments import Array
from chainrule.inverse_kinematics.analytic.axes import JointAxes
from chainrule.inverse_kinematics.analytic.subproblems import (
    NEGLIGIBLE,
    across,
    angle_about,
    angle_between,
    angle_of,
    distance_angles,
    projected_angles,
    rotate,
    rotation_about,
    tilted_angles,
    transform_point,
)

NEARLY_PARALLEL = 1e-3
"""The angle in rad between the axes 4 and 6 below which the elbow's reach may decide about the last joint."""


def branches_and_levers(angles: Sequence[Array], levers: Sequence[Array | float]) -> tuple[Array, Array]:
    """Angles and levers of each joint, over rows and branches that broadcast: (rows, branches, joints) each."""
    columns = np.stack(np.broadcast_arrays(*angles, *levers), axis=-1)
    joined = columns.reshape(len(columns), int(np.prod(columns.shape[1:-1])), 2, len(angles))
    return joined[:, :, 0], joined[:, :, 1]


def two_links(h: Array, first: Array, second: Array, tip: Array, goal: Array) -> tuple[Array, Array, Array]:
    """Both pairs of angles about parallel axes through two points that bring the tip to its goal.

    tip and goal (..., 3); angles (..., 2), and the distance (..., 1) of the goal from the first axis, about which every
    angle will do where it is zero.
    """
    flat = np.eye(3) - np.outer(h, h)
    tip = np.broadcast_to(tip, goal.shape)
    reach = np.linalg.norm((goal - first) @ flat, axis=-1)
    bent = distance_angles(h, (tip - second) @ flat, np.broadcast_to(flat @ (first - second), tip.shape), reach)
    elbow = second + rotate(h, bent, (tip - second)[..., None, :])
    return angle_between(h, elbow - first, goal[..., None, :] - first), bent, reach[..., None]


def planar(axes: JointAxes, T: Array) -> tuple[Array, Array]:
    """Two branches of two or three joints, and their levers: (rows, 2, n)."""
    h, o = axes.h[0], axes.o
    signs = np.sign(axes.h @ h)  # an axis may point in the opposite direction
    if axes.count == 2:
        first, second, reach = two_links(h, o[0], o[1], axes.M[:3, 3], T[:, :3, 3])
        return branches_and_levers([first, second * signs[1]], [reach, np.inf])
    X = T @ np.linalg.inv(axes.M)
    total = angle_about(h, X[:, :3, :3])[:, None]
    first, second, reach = two_links(h, o[0], o[1], o[2], transform_point(X, o[2]))
    angles = [first, second * signs[1], (total - first - second) * signs[2]]
    return branches_and_levers(angles, [reach, np.inf, np.inf])


def parallel(axes: JointAxes, T: Array) -> tuple[Array, Array]:
    """Eight branches of an arm whose axes 2, 3 and 4 are parallel and whose axes 5 and 6 meet: (rows, 8, 6).

    Rotation about h2 keeps components along h2: that of the point where the last axes meet gives q1. It keeps the angle
    of the last axis with h2, which gives q5. Then the middle three joints are a planar arm.
    """
    h, o = axes.h, axes.o
    meeting = axes.common_point(4, 5)
    assert meeting is not None
    X = T @ np.linalg.inv(axes.M)
    p = transform_point(X, meeting) - o[0]
    q1 = -projected_angles(h[0], p, h[1], (meeting - o[0]) @ h[1])
    turn = np.linalg.norm(across(h[0], p), axis=-1)
    free = turn < NEGLIGIBLE
    if free.any():
        q1[free] = _first_within_reach(axes, X[free])
    q5, q6, tilt, X = _last_joints(axes, rotation_about(h[0], o[0], -q1) @ X[:, None])
    q2, q3, reach = two_links(h[1], o[1], o[2], o[3], transform_point(X, o[3]))
    q4 = angle_about(h[1], X[..., :3, :3])[..., None] - q2 - q3
    signs = np.sign(h[1:4] @ h[1])
    q1, turn = q1[..., None, None], turn[:, None, None, None]
    angles = [q1, q2 * signs[0], q3 * signs[1], q4 * signs[2], q5[..., None], q6[..., None]]
    return branches_and_levers(angles, [turn, reach, np.inf, np.inf, np.inf, tilt[..., None]])


def _last_joints(axes: JointAxes, X: Array) -> tuple[Array, Array, Array, Array]:
    """Both pairs of the last two angles (..., 2), the tilt (..., 1) of the last axis, and X (..., 2, 4, 4) before them.

    X (..., 4, 4) is the motion of the hand without the first joint; with zero tilt, q6 is free.
    """
    h, o = axes.h, axes.o
    last = X[..., :3, :3] @ h[5]
    q5 = tilted_angles(h[4], h[5], h[1], angle_of(last, h[1]))
    tilt = np.linalg.norm(np.cross(last, h[1]), axis=-1)[..., None]
    X = X[..., None, :, :]
    q6 = angle_between(h[5], np.swapaxes(X[..., :3, :3], -1, -2) @ h[1], rotate(h[4], -q5, h[1]))
    q6 = np.where(tilt < NEARLY_PARALLEL, _within_reach(axes, X, q5, q6), q6)
    return q5, q6, tilt, X @ rotation_about(h[5], o[5], -q6) @ rotation_about(h[4], o[4], -q5)


def _first_within_reach(axes: JointAxes, X: Array) -> Array:
    """Where the first joint is free, an angle of it with which the elbow can reach, for each sign of q5: (rows, 2).

    Of angles all around, the one that misses least, the nearest to 0 if several reach; then of finer and finer ones.
    """
    h, o = axes.h, axes.o
    least, most = _reaches(axes)
    q1, around = np.zeros((len(X), 2, 1)), np.linspace(-np.pi, np.pi, 65)
    for scale in np.geomspace(1.0, 1e-9, 9):
        trial = q1 + scale * around
        turned = rotation_about(h[0], o[0], -trial) @ X[:, None, None]
        wrist = transform_point(_last_joints(axes, turned)[-1], o[3]) - o[1]
        reach = np.linalg.norm(across(h[1], wrist), axis=-1)
        missed = np.abs(reach - np.clip(reach, least, most))
        own = np.stack([missed[:, k, :, k] for k in range(2)], axis=1)
        best = np.argmin(own + NEGLIGIBLE * np.abs(trial), axis=-1)
        q1 = np.take_along_axis(trial, best[..., None], axis=-1)
    return q1[..., 0]


def _reaches(axes: JointAxes) -> tuple[float, float]:
    """The least and the greatest distance of the wrist from axis 2."""
    lengths = [float(np.linalg.norm(across(axes.h[1], axes.o[k + 1] - axes.o[k]))) for k in (1, 2)]
    return abs(lengths[0] - lengths[1]), sum(lengths)


def _within_reach(axes: JointAxes, X: Array, q5: Array, q6: Array) -> Array:
    """The last joint's angles nearest to q6 with which the elbow can reach, where its axis is parallel to h2.

    The wrist then goes around axis 6 in a circle: its squared distance from axis 2 is A + E cos(q6 - middle).
    """
    h, o, R = axes.h, axes.o, X[..., :3, :3]
    flat = np.eye(3) - np.outer(h[1], h[1])
    wrist = rotate(h[4], -q5, o[3] - o[4]) + o[4] - o[5]
    side = across(h[5], wrist)
    turned = [(R @ v[..., None])[..., 0] @ flat for v in (side, -np.cross(h[5], side), wrist - side)]
    center = turned[2] + (transform_point(X, o[5]) - o[1]) @ flat
    A = (center**2).sum(axis=-1) + (side**2).sum(axis=-1)
    B, C = (2 * (center * v).sum(axis=-1) for v in turned[:2])
    E, middle = np.maximum(np.hypot(B, C), np.finfo(float).tiny), np.arctan2(C, B)
    most, least = (np.arccos(np.clip((d**2 - A) / E, -1.0, 1.0)) for d in _reaches(axes))
    away = np.remainder(q6 - middle + np.pi, 2 * np.pi) - np.pi
    return middle + np.copysign(np.clip(np.abs(away), least, most), away)
