"""Arms of six revolute joints whose last three axes meet in a point: Pieper's arms.

The first three joints bring the wrist's center to its position, the last three orient the hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.inverse_kinematics.analytic.axes import AXIS_TOLERANCE, JointAxes
from chainrule.inverse_kinematics.analytic.parallel import two_links
from chainrule.inverse_kinematics.analytic.subproblems import (
    angle_about,
    angle_between,
    circle_roots,
    projected_angles,
    rotate,
    rotation_matrix,
    two_angles,
)


def spherical_wrist(axes: JointAxes, T: Array) -> Array:
    """Eight branches, four of the arm by two of the wrist: (rows, 8, 6)."""
    h = axes.h
    center = axes.common_point(3, 4, 5)
    assert center is not None
    X = T @ np.linalg.inv(axes.M)
    arm = _arm_angles(axes, center, X[:, :3, :3] @ center + X[:, :3, 3])
    forearm = (
        rotation_matrix(h[0], arm[..., 0]) @ rotation_matrix(h[1], arm[..., 1]) @ rotation_matrix(h[2], arm[..., 2])
    )
    R = np.swapaxes(forearm, -1, -2) @ X[:, None, :3, :3]
    q5 = projected_angles(h[4], h[5], h[3], R @ h[5] @ h[3])
    R = R[:, :, None]
    q4 = angle_between(h[3], rotate(h[4], q5, h[5]), R @ h[5])
    bent = rotation_matrix(h[3], q4) @ rotation_matrix(h[4], q5)
    q6 = angle_about(h[5], np.swapaxes(bent, -1, -2) @ R)
    q1, q2, q3 = (np.broadcast_to(arm[..., k, None], q5.shape) for k in range(3))
    return np.stack([q1, q2, q3, q4, q5, q6], axis=-1).reshape(len(T), 8, 6)


def _arm_angles(axes: JointAxes, center: Array, p: Array) -> Array:
    """Four sets of the first three angles that bring the wrist's center to p (rows, 3): (rows, 4, 3).

    After a rotation by q3, the center is at c + a cos q3 + b sin q3; conditions on q3 follow from that.
    """
    h, o = axes.h, axes.o
    w = center - o[2]
    a, b = w - w @ h[2] * h[2], np.cross(h[2], w)
    c = o[2] + w @ h[2] * h[2]
    if axes.parallel(0, 1):  # the height above the plane of the first two joints
        q3 = two_angles(a @ h[0], b @ h[0], (p - c) @ h[0])
        bent = o[2] + rotate(h[2], q3, w)
        q1, q2 = two_links(h[0], o[0], o[1], bent, np.broadcast_to(p[:, None], bent.shape))
        q2 = q2 * np.sign(h[0] @ h[1])
        q3 = np.broadcast_to(q3[..., None], q1.shape)
        return np.stack([q1, q2, q3], axis=-1).reshape(len(p), 4, 3)
    first, second = _nearest_points(h[0], o[0], h[1], o[1])
    apart = second - first
    meets = np.linalg.norm(apart) < AXIS_TOLERANCE * axes.size
    reach = ((p - first) ** 2).sum(axis=-1)
    c = c - second
    if meets:  # the distance from the point where the first two axes meet
        q3 = np.repeat(two_angles(2 * c @ a, 2 * c @ b, reach - c @ c - a @ a), 2, axis=-1)
    else:
        q3 = circle_roots(_equation(h, a, b, c, apart, p, first, second))
    bent = o[2] + rotate(h[2], q3, w) - second
    z = _center_after_second_joint(h, bent, apart, p, second, reach, bool(meets))
    q2 = angle_between(h[1], bent, z)
    q1 = angle_between(h[0], z + apart, (p - first)[:, None])
    return np.stack([q1, q2, q3], axis=-1)


def _nearest_points(h1: Array, o1: Array, h2: Array, o2: Array) -> tuple[Array, Array]:
    """The points of two axes that are nearest to each other."""
    cosine, between = float(h1 @ h2), o2 - o1
    s, t = np.linalg.solve(np.array([[1, -cosine], [cosine, -1]]), np.array([h1 @ between, h2 @ between]))
    return o1 + s * h1, o2 + t * h2


def _equation(h: Array, a: Array, b: Array, c: Array, apart: Array, p: Array, first: Array, second: Array) -> Array:
    """|z|^2 = |x|^2 as a polynomial in cos q3 and sin q3, for circle_roots: (rows, 6).

    x is the wrist's center from the foot on the second axis, rotated by q3, and z the same rotated by q2 too. z has
    known components along the two axes and their common normal, each of them linear in cos q3 and sin q3.
    """
    along_1 = _linear((p - second) @ h[0], 0.0, 0.0)
    along_2 = _linear(np.full(len(p), c @ h[1]), a @ h[1], b @ h[1])
    square = _linear(np.full(len(p), c @ c + a @ a), 2 * c @ a, 2 * c @ b)
    reach = ((p - first) ** 2).sum(axis=-1)
    across = (_linear(reach - apart @ apart, 0.0, 0.0) - square) / 2
    cosine = h[0] @ h[1]
    inside = _product(along_1, along_1) + _product(along_2, along_2) - 2 * cosine * _product(along_1, along_2)
    total = inside / (1 - cosine**2) + _product(across, across) / (apart @ apart)
    total[:, :3] -= square
    return total


def _linear(constant: Array, cosine: Any, sine: Any) -> Array:
    return np.stack([constant, np.full_like(constant, cosine), np.full_like(constant, sine)], axis=-1)


def _product(f: Array, g: Array) -> Array:
    """(f0 + f1 cos + f2 sin)(g0 + g1 cos + g2 sin): coefficients of 1, cos, sin, cos^2, cos sin, sin^2."""
    (f0, f1, f2), (g0, g1, g2) = np.moveaxis(f, -1, 0), np.moveaxis(g, -1, 0)
    return np.stack([f0 * g0, f0 * g1 + f1 * g0, f0 * g2 + f2 * g0, f1 * g1, f1 * g2 + f2 * g1, f2 * g2], axis=-1)


def _center_after_second_joint(
    h: Array, x: Array, apart: Array, p: Array, second: Array, reach: Array, meets: bool
) -> Array:
    """The position to which the second joint brings the wrist's center, from the foot on its axis: (rows, 4, 3)."""
    cosine = h[0] @ h[1]
    along_1, along_2 = ((p - second) @ h[0])[:, None], x @ h[1]
    normal = np.cross(h[0], h[1])
    part_1 = (along_1 - cosine * along_2) / (1 - cosine**2)
    part_2 = (along_2 - cosine * along_1) / (1 - cosine**2)
    inside = part_1[..., None] * h[0] + part_2[..., None] * h[1]
    square = (x**2).sum(axis=-1)
    if meets:
        rest = np.sqrt(np.maximum(square - (inside**2).sum(axis=-1), 0.0))
        return inside + (rest * [1, -1, 1, -1])[..., None] * normal / np.linalg.norm(normal)
    across = (reach[:, None] - square - apart @ apart) / 2
    return inside + across[..., None] * apart / (apart @ apart)
