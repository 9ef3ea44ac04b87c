"""Arms of six revolute joints whose last three axes meet in a point: Pieper's arms.

The first three joints bring the wrist's center to its position, the last three orient the hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.inverse_kinematics.analytic.axes import AXIS_TOLERANCE, JointAxes
from chainrule.inverse_kinematics.analytic.parallel import branches_and_levers, two_links
from chainrule.inverse_kinematics.analytic.subproblems import (
    across,
    angle_about,
    angle_between,
    angle_of,
    circle_roots,
    distance_angles,
    projected_angles,
    rotate,
    rotation_matrix,
    tilted_angles,
    transform_point,
    two_angles,
)


def spherical_wrist(axes: JointAxes, T: Array) -> tuple[Array, Array]:
    """Eight branches, four of the arm by two of the wrist, and their levers: (rows, 8, 6)."""
    h = axes.h
    center = axes.common_point(3, 4, 5)
    assert center is not None
    X = T @ np.linalg.inv(axes.M)
    arm, turn, reach = _arm_angles(axes, center, transform_point(X, center))
    forearm = (
        rotation_matrix(h[0], arm[..., 0]) @ rotation_matrix(h[1], arm[..., 1]) @ rotation_matrix(h[2], arm[..., 2])
    )
    R = np.swapaxes(forearm, -1, -2) @ X[:, None, :3, :3]
    last = R @ h[5]
    q5 = tilted_angles(h[4], h[5], h[3], angle_of(last, h[3]))
    tilt = np.linalg.norm(np.cross(last, h[3]), axis=-1)
    q4 = angle_between(h[3], rotate(h[4], q5, h[5]), last[:, :, None])
    bent = rotation_matrix(h[3], q4) @ rotation_matrix(h[4], q5)
    q6 = angle_about(h[5], np.swapaxes(bent, -1, -2) @ R[:, :, None])
    q1, q2, q3, turn, reach, tilt = (x[..., None] for x in (*np.moveaxis(arm, -1, 0), turn, reach, tilt))
    return branches_and_levers([q1, q2, q3, q4, q5, q6], [turn, reach, np.inf, tilt, np.inf, np.inf])


def _arm_angles(axes: JointAxes, center: Array, p: Array) -> tuple[Array, Array, Array]:
    """Four sets of the first three angles that bring the wrist's center to p (rows, 3): (rows, 4, 3).

    And the levers of the first two joints (rows, 4). After a rotation by q3, the center is at c + a cos q3 + b sin q3;
    conditions on q3 follow from that, or from planar arms.
    """
    h, o = axes.h, axes.o
    w = center - o[2]
    a, b = across(h[2], w), np.cross(h[2], w)
    c = o[2] + w - a
    if axes.parallel(0, 1):  # the height above the plane of the first two joints
        q3 = two_angles(a @ h[0], b @ h[0], (p - c) @ h[0])
        bent = o[2] + rotate(h[2], q3, w)
        q1, q2, reach = two_links(h[0], o[0], o[1], bent, np.broadcast_to(p[:, None], bent.shape))
        arm, levers = branches_and_levers([q1, q2 * np.sign(h[0] @ h[1]), q3[..., None]], [reach, np.inf, np.inf])
        return arm, levers[..., 0], levers[..., 1]
    turn = np.linalg.norm(across(h[0], p - o[0]), axis=-1)[:, None]
    if axes.parallel(1, 2):  # the component along the second and third axes
        q1 = -projected_angles(h[0], p - o[0], h[1], (center - o[0]) @ h[1])
        goal = o[0] + rotate(h[0], -q1, (p - o[0])[:, None])
        q2, q3, reach = two_links(h[1], o[1], o[2], center, goal)
        angles = [q1[..., None], q2, q3 * np.sign(h[1] @ h[2])]
        arm, levers = branches_and_levers(angles, [turn[..., None], reach, np.inf])
        return arm, levers[..., 0], levers[..., 1]
    first, second = _nearest_points(h[0], o[0], h[1], o[1])
    apart = second - first
    if np.linalg.norm(apart) < AXIS_TOLERANCE * axes.size:  # the distance from the point where the first two axes meet
        distance = np.linalg.norm(p - first, axis=-1)
        side = np.broadcast_to(second - o[2], p.shape)
        q3 = np.repeat(distance_angles(h[2], np.broadcast_to(w, p.shape), side, distance), 2, axis=-1)
        apart = np.zeros(3)
    else:
        q3 = circle_roots(_equation(h, a, b, c - second, apart, p, first, second))
    bent = o[2] + rotate(h[2], q3, w) - second
    reach = np.linalg.norm(across(h[1], bent), axis=-1)
    z = _center_after_second_joint(h, bent, apart, p - second, turn, reach)
    q2 = angle_between(h[1], bent, z)
    q1 = angle_between(h[0], z + apart, (p - first)[:, None])
    return np.stack([q1, q2, q3], axis=-1), np.broadcast_to(turn, reach.shape), reach


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


def _center_after_second_joint(h: Array, x: Array, apart: Array, p: Array, turn: Array, reach: Array) -> Array:
    """The position to which the second joint brings the wrist's center, from the foot on its axis: (rows, 4, 3).

    x and p are the center before that and in the end, from the same foot; turn and reach its distances from the axes.
    """
    cosine, normal = h[0] @ h[1], np.cross(h[0], h[1])
    sine = np.linalg.norm(normal)
    along_1, along_2 = (p @ h[0])[:, None], x @ h[1]
    part_1, part_2 = (along_1 - cosine * along_2) / sine, (along_2 - cosine * along_1) / sine
    inside = (part_1[..., None] * h[0] + part_2[..., None] * h[1]) / sine
    if apart.any():
        across_both = ((p + apart) ** 2).sum(axis=-1)[:, None] - (x**2).sum(axis=-1) - apart @ apart
        return inside + (across_both / 2)[..., None] * apart / (apart @ apart)
    rest = np.where(turn < reach, (turn - part_2) * (turn + part_2), (reach - part_1) * (reach + part_1))
    return inside + (np.sqrt(np.maximum(rest, 0.0)) * [1, -1, 1, -1])[..., None] * normal / sine
