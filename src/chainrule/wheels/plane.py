"""Rigid motions of the plane: exact steps along arcs, and their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, rows_of, together

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

SERIES_ANGLE = 1e-2
"""Angle, in rad, below which a series replaces a quotient: its next term is then below rounding."""


def pose_after(pose: ArrayLike, displacement: ArrayLike) -> Array:
    """The pose that a constant body twist leads to, from a pose: (..., 3).

    displacement: twist times time (dx, dy, dtheta), in the axes of the body, which turn with it: the path is an arc of
    the circle with radius dx / dtheta, or a straight line.

    >>> pose_after([0.0, 0.0, 0.0], [np.pi / 2, 0.0, np.pi / 2]).round(12).tolist()
    [1.0, 1.0, 1.570796326795]
    """
    p = rows_of(pose, 3, "pose_after: pose", "x, y, theta")
    d = rows_of(displacement, 3, "pose_after: displacement", "dx, dy, dtheta")
    p, d = together({"pose": p, "displacement": d}, "pose_after")
    return p + world_step(p[..., 2], d)


def world_step(theta: Array, d: Array) -> Array:
    """The change of (x, y, theta) along a displacement: R(theta) V(dtheta) (dx, dy), dtheta."""
    a, b = _quotients(d[..., 2])
    x, y = a * d[..., 0] - b * d[..., 1], b * d[..., 0] + a * d[..., 1]
    c, s = np.cos(theta), np.sin(theta)
    return np.stack([c * x - s * y, s * x + c * y, np.broadcast_to(d[..., 2], (c * x).shape)], axis=-1)


def step_derivatives(theta: Array, d: Array) -> tuple[Array, Array]:
    """d(next)/d(pose) and d(next)/d(displacement): (..., 3, 3) each."""
    step = world_step(theta, d)
    batch = step.shape[:-1]
    by_pose = np.broadcast_to(np.eye(3), (*batch, 3, 3)).copy()
    by_pose[..., 0, 2], by_pose[..., 1, 2] = -step[..., 1], step[..., 0]
    a, b = _quotients(d[..., 2])
    da, db = _quotient_rates(d[..., 2])
    dx, dy = d[..., 0], d[..., 1]
    inner = np.zeros((*batch, 3, 3))
    inner[..., 0, 0], inner[..., 0, 1], inner[..., 0, 2] = a, -b, da * dx - db * dy
    inner[..., 1, 0], inner[..., 1, 1], inner[..., 1, 2] = b, a, db * dx + da * dy
    inner[..., 2, 2] = 1.0
    return by_pose, planar_rotation(theta) @ inner


def planar_rotation(theta: Array) -> Array:
    """Body twists to rates of (x, y, theta): a rotation about the third axis, (..., 3, 3)."""
    c, s = np.cos(theta), np.sin(theta)
    zero, one = np.zeros_like(c), np.ones_like(c)
    return np.stack([np.stack([c, -s, zero], -1), np.stack([s, c, zero], -1), np.stack([zero, zero, one], -1)], -2)


def _quotients(t: Array) -> tuple[Array, Array]:
    """sin t / t and (1 - cos t) / t."""
    half = np.sinc(t / (2 * np.pi))
    return np.sinc(t / np.pi), half * half * t / 2


def _quotient_rates(t: Array) -> tuple[Array, Array]:
    """Derivatives of sin t / t and (1 - cos t) / t."""
    small = np.abs(t) < SERIES_ANGLE
    safe = np.where(small, 1.0, t)
    a, b = _quotients(safe)
    square = t * t
    da = np.where(small, -t / 3 * (1 - square / 10 * (1 - square / 28)), (np.cos(safe) - a) / safe)
    db = np.where(small, 0.5 - square / 8 * (1 - square / 18), (np.sin(safe) - b) / safe)
    return da, db
