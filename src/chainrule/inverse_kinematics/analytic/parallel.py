"""Arms with parallel axes: planar arms of two and three joints, and arms like the UR robots."""

from __future__ import annotations

import numpy as np

from chainrule.arguments import Array
from chainrule.inverse_kinematics.analytic.axes import JointAxes
from chainrule.inverse_kinematics.analytic.subproblems import (
    angle_about,
    angle_between,
    distance_angles,
    projected_angles,
    rotate,
    rotation_about,
)


def two_links(h: Array, first: Array, second: Array, tip: Array, goal: Array) -> tuple[Array, Array]:
    """Both pairs of angles about parallel axes through two points that bring the tip to its goal.

    tip and goal (..., 3); angles (..., 2).
    """
    flat = np.eye(3) - np.outer(h, h)
    tip = np.broadcast_to(tip, goal.shape)
    reach = np.linalg.norm((goal - first) @ flat, axis=-1)
    bent = distance_angles(h, (tip - second) @ flat, np.broadcast_to(flat @ (first - second), tip.shape), reach)
    elbow = second + rotate(h, bent, (tip - second)[..., None, :])
    return angle_between(h, elbow - first, goal[..., None, :] - first), bent


def planar(axes: JointAxes, T: Array) -> Array:
    """Two branches of two or three joints: (rows, 2, n)."""
    h, o = axes.h[0], axes.o
    signs = np.sign(axes.h @ h)  # an axis may point in the opposite direction
    if axes.count == 2:
        first, second = two_links(h, o[0], o[1], axes.M[:3, 3], T[:, :3, 3])
        return np.stack([first, second], axis=-1) * signs
    X = T @ np.linalg.inv(axes.M)
    total = angle_about(h, X[:, :3, :3])[:, None]
    first, second = two_links(h, o[0], o[1], o[2], _transform_point(X, o[2]))
    return np.stack([first, second, total - first - second], axis=-1) * signs


def parallel(axes: JointAxes, T: Array) -> Array:
    """Eight branches of an arm whose axes 2, 3 and 4 are parallel and whose axes 5 and 6 meet: (rows, 8, 6).

    Rotation about h2 keeps components along h2: that of the point where the last axes meet gives q1, that of the last
    axis gives q5. Then the middle three joints are a planar arm.
    """
    h, o = axes.h, axes.o
    meeting = axes.common_point(4, 5)
    assert meeting is not None
    X = T @ np.linalg.inv(axes.M)
    q1 = -projected_angles(h[0], _transform_point(X, meeting) - o[0], h[1], (meeting - o[0]) @ h[1])
    X = rotation_about(h[0], o[0], -q1) @ X[:, None]
    q5 = projected_angles(h[4], h[5], h[1], X[..., :3, :3] @ h[5] @ h[1])
    X = X[:, :, None]
    q6 = angle_between(h[5], np.swapaxes(X[..., :3, :3], -1, -2) @ h[1], rotate(h[4], -q5, h[1]))
    X = X @ rotation_about(h[5], o[5], -q6) @ rotation_about(h[4], o[4], -q5)
    q2, q3 = two_links(h[1], o[1], o[2], o[3], _transform_point(X, o[3]))
    q4 = angle_about(h[1], X[..., :3, :3])[..., None] - q2 - q3
    signs = np.sign(h[1:4] @ h[1])
    q1, q5, q6 = (np.broadcast_to(a, q2.shape) for a in (q1[..., None, None], q5[..., None], q6[..., None]))
    angles = np.stack([q1, q2 * signs[0], q3 * signs[1], q4 * signs[2], q5, q6], axis=-1)
    return angles.reshape(len(T), 8, 6)


def _transform_point(X: Array, point: Array) -> Array:
    p: Array = X[..., :3, :3] @ point + X[..., :3, 3]
    return p
