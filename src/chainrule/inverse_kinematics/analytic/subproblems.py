"""Subproblems of rotations about known axes, over rows: the pieces of every closed form (Paden; Kahan).

Where one has no solution, the result is the nearest angle, and forward kinematics decides in the end. Angles between
directions and sides of triangles come from half-angle formulas, which lose no digits where three points are in line.
"""

from __future__ import annotations

import numpy as np

from chainrule.arguments import Array

NEGLIGIBLE = 1e-12
"""Distances from an axis, in m or rad, in which a direction about it is rounding; the angle is taken as 0."""


def across(h: Array, v: Array) -> Array:
    """The part of v (..., 3) across the unit axis h."""
    part: Array = v - (v * h).sum(axis=-1, keepdims=True) * h
    return part


def rotate(h: Array, angle: Array, v: Array) -> Array:
    """v (..., 3) rotated about the unit axis h by angles (...)."""
    s, c = np.sin(angle)[..., None], np.cos(angle)[..., None]
    turning = across(h, v)
    return (v - turning) + turning * c + np.cross(h, v) * s


def rotation_matrix(h: Array, angle: Array) -> Array:
    """Rotation matrices (..., 3, 3) about the unit axis h."""
    columns = [rotate(h, angle, np.broadcast_to(e, (*angle.shape, 3))) for e in np.eye(3)]
    return np.stack(columns, axis=-1)


def rotation_about(h: Array, o: Array, angle: Array) -> Array:
    """Rigid transforms (..., 4, 4): rotations about the axis along h through o."""
    T = np.zeros((*angle.shape, 4, 4))
    R = rotation_matrix(h, angle)
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, o - R @ o, 1.0
    return T


def transform_point(X: Array, point: Array) -> Array:
    """The point (3,) moved by rigid transforms (..., 4, 4)."""
    p: Array = X[..., :3, :3] @ point + X[..., :3, 3]
    return p


def angle_between(h: Array, a: Array, b: Array) -> Array:
    """The angle about h that rotates a (..., 3) towards b; 0 where either lies along h."""
    a, b = across(h, a), across(h, b)
    sine, cosine = (np.cross(a, b) * h).sum(axis=-1), (a * b).sum(axis=-1)
    least = np.minimum(np.linalg.norm(a, axis=-1), np.linalg.norm(b, axis=-1))
    return np.where(least > NEGLIGIBLE, np.arctan2(sine, cosine), 0.0)


def angle_about(h: Array, R: Array) -> Array:
    """The angle of rotations R (..., 3, 3) about their axis h."""
    side = np.cross(h, np.eye(3)[np.argmin(np.abs(h))])
    return angle_between(h, np.broadcast_to(side, R.shape[:-1]), R @ side)


def angle_of(a: Array, b: Array) -> Array:
    """The angle between directions a and b (..., 3), from 0 to pi."""
    return np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1))


def both(middle: Array, half: Array) -> Array:
    """middle + half and middle - half, stacked in a new last dimension of 2."""
    return np.stack([middle + half, middle - half], axis=-1)


def two_angles(a: Array, b: Array, c: Array) -> Array:
    """Both t with a cos t + b sin t = c (..., 2); the nearest t where there is none."""
    length = np.hypot(a, b)
    return both(np.arctan2(b, a), np.arccos(np.clip(c / np.where(length > 0, length, 1.0), -1.0, 1.0)))


def projected_angles(h: Array, v: Array, along: Array, value: Array) -> Array:
    """Both t for which v (..., 3), rotated about h by t, has the given component along a direction.

    Where v lies along h, every t has the same; then they are 0 and pi.
    """
    turning = across(h, v)
    a, b = (turning * along).sum(axis=-1), (np.cross(h, v) * along).sum(axis=-1)
    t = two_angles(a, b, value - ((v - turning) * along).sum(axis=-1))
    return np.where((np.linalg.norm(turning, axis=-1) > NEGLIGIBLE)[..., None], t, [0.0, np.pi])


def tilted_angles(h: Array, v: Array, w: Array, angle: Array) -> Array:
    """Both t for which v, rotated about h by t, makes an angle with w: a spherical triangle with three known sides."""
    a, b = angle_of(h, v), angle_of(h, w)
    near = np.sin((angle + a - b) / 2) * np.sin((angle - a + b) / 2)
    far = np.sin((a + b + angle) / 2) * np.sin((a + b - angle) / 2)
    return both(angle_between(h, v, w), _from_half_tangent(near, far))


def distance_angles(h: Array, v: Array, w: Array, distance: Array) -> Array:
    """Both t for which v (..., 3), rotated about h by t, has a given distance from w: a triangle with known sides."""
    level = ((v - w) * h).sum(axis=-1)
    flat = np.sqrt(np.maximum((distance - level) * (distance + level), 0.0))
    a, b = np.linalg.norm(across(h, v), axis=-1), np.linalg.norm(across(h, w), axis=-1)
    half = _from_half_tangent((flat + a - b) * (flat - a + b), (a + b + flat) * (a + b - flat))
    return both(angle_between(h, v, w), half)


def _from_half_tangent(near: Array, far: Array) -> Array:
    """The angle whose half has the squared tangent near / far."""
    return 2 * np.arctan2(np.sqrt(np.maximum(near, 0.0)), np.sqrt(np.maximum(far, 0.0)))


def circle_roots(c: Array) -> Array:
    """The t with c0 + c1 cos t + c2 sin t + c3 cos^2 t + c4 cos t sin t + c5 sin^2 t = 0, (..., 4) of (..., 6).

    In z = e^it this is a polynomial of the fourth degree, whose roots on the unit circle are the solutions. Roots off
    the circle count with their angles. Newton steps refine them.
    """
    c0, c1, c2, c3, c4, c5 = np.moveaxis(c, -1, 0)
    first, second = (c1 - 1j * c2) / 2, (c3 - c5 - 1j * c4) / 4
    middle = c0 + (c3 + c5) / 2
    linear = np.abs(second) <= 1e-13 * (np.abs(first) + np.abs(middle))
    lead = np.where(linear, 1.0, second)
    companion = np.zeros((*c.shape[:-1], 4, 4), dtype=complex)
    companion[..., [1, 2, 3], [0, 1, 2]] = 1
    for k, part in enumerate((second.conj(), first.conj(), middle, first)):
        companion[..., k, 3] = np.where(linear, 0.0, -part / lead)
    finite = np.isfinite(companion).all(axis=(-1, -2), keepdims=True)
    t = np.angle(np.linalg.eigvals(np.where(finite, companion, 0.0)))
    repeated = two_angles(c1, c2, -middle)
    t = np.where(linear[..., None], np.concatenate([repeated, repeated], axis=-1), t)
    for _ in range(3):
        sine, cosine = np.sin(t), np.cos(t)
        a0, a1, a2, a3, a4, a5 = np.moveaxis(c[..., None, :], -1, 0)
        value = a0 + a1 * cosine + a2 * sine + a3 * cosine**2 + a4 * cosine * sine + a5 * sine**2
        slope = a2 * cosine - a1 * sine + 2 * (a5 - a3) * cosine * sine + a4 * (cosine**2 - sine**2)
        step = value / np.where(np.abs(slope) > 1e-12, slope, np.inf)
        t = t - np.clip(step, -0.1, 0.1)
    return t
