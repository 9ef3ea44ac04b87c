"""Coordinates with quaternions: their rates as velocities, and the continuity of their signs."""

from __future__ import annotations

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ShapeError
from chainrule.model import Layout


def normalize(q: Array, layout: Layout) -> Array:
    """Configurations (T, nq) whose quaternions have length one and do not change sign from sample to sample."""
    whole = q.copy()
    for joint, i in layout.quaternions:
        part = whole[:, i : i + 4]
        length = np.linalg.norm(part, axis=1)
        bad = np.flatnonzero(np.isfinite(length) & ((length < 0.5) | (length > 2.0)))
        if len(bad):
            raise ShapeError(
                f"sample {bad[0]}: the quaternion (x, y, z, w) of joint {joint!r} has length {length[bad[0]]:.4g}, "
                "not 1"
            )
        part = part / length[:, None]
        known = np.isfinite(length)
        clean = part[known]
        flips = (clean[1:] * clean[:-1]).sum(axis=1) < 0
        signs = np.concatenate([[1.0], np.cumprod(np.where(flips, -1.0, 1.0))]) if len(clean) else np.ones(0)
        part[known] = clean * signs[:, None]
        whole[:, i : i + 4] = part
    return whole


def to_velocities(q: Array, rate: Array, second: Array, layout: Layout) -> tuple[Array, Array, Array]:
    """Configurations, velocities and accelerations, from coordinates and their first two derivatives.

    Plain coordinates keep their rates. Those of a quaternion p become the angular velocity in the body's axes,
    2 conj(p) pdot, and those of a position the velocity in the same axes.
    """
    qd, qdd = np.zeros((2, len(q), layout.nv))
    q = q.copy()
    for places in layout.joints:
        kind = places.joint.kind
        if kind.nq == kind.nv:
            qd[:, places.v], qdd[:, places.v] = rate[:, places.q], second[:, places.q]
            continue
        i = places.q.stop - 4
        p, dp, ddp = _unit(q[:, i : i + 4], rate[:, i : i + 4], second[:, i : i + 4])
        q[:, i : i + 4] = p
        omega, alpha = 2 * _vector_product(p, dp), 2 * _vector_product(p, ddp)
        j = places.v.start
        qd[:, j : j + 3], qdd[:, j : j + 3] = omega, alpha
        if kind.nq == 7:
            x = slice(places.q.start, places.q.start + 3)
            v = _to_body(p, rate[:, x])
            qd[:, j + 3 : j + 6] = v
            qdd[:, j + 3 : j + 6] = _to_body(p, second[:, x]) - np.cross(omega, v)
    return q, qd, qdd


def _unit(p: Array, dp: Array, ddp: Array) -> tuple[Array, Array, Array]:
    """A quaternion scaled to length one, with the derivatives that the scaled one has."""
    n = np.linalg.norm(p, axis=1, keepdims=True)
    u, du, ddu = p / n, dp / n, ddp / n
    along = (u * du).sum(axis=1, keepdims=True)
    curving = (du * du + u * ddu).sum(axis=1, keepdims=True)
    return u, du - along * u, ddu - 2 * along * du - (curving - 3 * along**2) * u


def _vector_product(p: Array, r: Array) -> Array:
    """The vector part of conj(p) r, for quaternions (x, y, z, w)."""
    a, b = p[:, :3], r[:, :3]
    return np.asarray(p[:, 3:] * b - r[:, 3:] * a - np.cross(a, b))


def _to_body(p: Array, x: Array) -> Array:
    """Vectors of the parent's axes in those of the body that a quaternion turns."""
    a, w = -p[:, :3], p[:, 3:]
    return np.asarray(x + 2 * np.cross(a, np.cross(a, x) + w * x))
