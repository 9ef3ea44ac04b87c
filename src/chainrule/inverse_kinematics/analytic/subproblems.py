"""Subproblems of rotations about known axes, over rows: the pieces of every closed form (Paden; Kahan).

Where one has no solution, the result is the nearest angle, and forward kinematics decides in the end.
"""

from __future__ import annotations

import numpy as np

from chainrule.arguments import Array


def rotate(h: Array, angle: Array, v: Array) -> Array:
    """v (..., 3) rotated about the unit axis h by angles (...)."""
    s, c = np.sin(angle)[..., None], np.cos(angle)[..., None]
    along = (v * h).sum(axis=-1, keepdims=True) * h
    return along + (v - along) * c + np.cross(h, v) * s


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


def angle_between(h: Array, a: Array, b: Array) -> Array:
    """The angle about h that rotates a (..., 3) towards b; 0 where either lies along h."""
    a = a - (a * h).sum(axis=-1, keepdims=True) * h
    b = b - (b * h).sum(axis=-1, keepdims=True) * h
    sine, cosine = (np.cross(a, b) * h).sum(axis=-1), (a * b).sum(axis=-1)
    size = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return np.where(size > 1e-14, np.arctan2(sine, cosine), 0.0)


def angle_about(h: Array, R: Array) -> Array:
    """The angle of rotations R (..., 3, 3) about their axis h."""
    across = np.cross(h, np.eye(3)[np.argmin(np.abs(h))])
    return angle_between(h, np.broadcast_to(across, R.shape[:-1]), R @ across)


def two_angles(a: Array, b: Array, c: Array) -> Array:
    """Both t with a cos t + b sin t = c, stacked in a new last dimension of 2; the nearest t where there is none."""
    middle = np.arctan2(b, a)
    length = np.hypot(a, b)
    half = np.arccos(np.clip(c / np.where(length > 0, length, 1.0), -1.0, 1.0))
    return np.stack([middle + half, middle - half], axis=-1)


def projected_angles(h: Array, v: Array, along: Array, value: Array) -> Array:
    """Both t for which v (..., 3), rotated about h by t, has the given component along a direction."""
    level = (v * h).sum(axis=-1) * (h * along).sum(axis=-1)
    across = v - (v * h).sum(axis=-1, keepdims=True) * h
    a = (across * along).sum(axis=-1)
    b = (np.cross(h, v) * along).sum(axis=-1)
    return two_angles(a, b, value - level)


def distance_angles(h: Array, v: Array, w: Array, distance: Array) -> Array:
    """Both t for which v (..., 3), rotated about h by t, has a given distance from w."""
    square = (v * v).sum(axis=-1) + (w * w).sum(axis=-1) - distance**2
    return projected_angles(h, v, w, square / 2)


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
    both = two_angles(c1, c2, -middle)
    t = np.where(linear[..., None], np.concatenate([both, both], axis=-1), t)
    for _ in range(3):
        sine, cosine = np.sin(t), np.cos(t)
        a0, a1, a2, a3, a4, a5 = np.moveaxis(c[..., None, :], -1, 0)
        value = a0 + a1 * cosine + a2 * sine + a3 * cosine**2 + a4 * cosine * sine + a5 * sine**2
        slope = a2 * cosine - a1 * sine + 2 * (a5 - a3) * cosine * sine + a4 * (cosine**2 - sine**2)
        step = value / np.where(np.abs(slope) > 1e-12, slope, np.inf)
        t = t - np.clip(step, -0.1, 0.1)
    return t
