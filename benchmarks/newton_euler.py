"""A recursive Newton-Euler algorithm as one would write it with a framework's own operations, to compare with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import chainrule as cr

Torques = Callable[..., Any]


def newton_euler(robot: cr.Robot, xp: Any, array: Callable[[Any], Any]) -> Torques:
    """Lynch & Park's inverse dynamics (8.50 to 8.54) on a batch, with 6-by-6 matrices, as one would write it."""
    table = robot.textbook.to_screws()
    n, M = robot.nv, np.asarray(table.frames)
    G = [array(g) for g in np.asarray(table.inertias)]
    poses = np.array([np.linalg.multi_dot([np.eye(4), *M[: i + 1]]) for i in range(n)])
    A = [_adjoint(np.linalg.inv(T)) @ s for T, s in zip(poses, np.asarray(table.screws).T, strict=True)]
    W = [array(_skew(a[:3])) for a in A]
    V_axis = [array(a) for a in A]
    v = [array(a[3:]) for a in A]
    back = [array(np.linalg.inv(m)) for m in M[:n]]
    one = array(np.eye(3))
    last_row = array(np.array([[0.0, 0.0, 0.0, 1.0]]))
    gravity = array(np.concatenate([np.zeros(3), -robot.gravity]))

    def transform(i: int, theta: Any) -> Any:
        """exp(-[A_i] theta) M_i,i-1."""
        t = -theta[..., None, None]
        R = one + xp.sin(t) * W[i] + (1 - xp.cos(t)) * (W[i] @ W[i])
        p = (one * t + (1 - xp.cos(t)) * W[i] + (t - xp.sin(t)) * (W[i] @ W[i])) @ v[i]
        row = last_row + 0 * t
        return xp.concatenate([xp.concatenate([R, p[..., None]], -1), row], -2) @ back[i]

    def adjoint(T: Any) -> Any:
        R, p = T[..., :3, :3], T[..., :3, 3]
        zero = 0 * R
        return xp.concatenate([xp.concatenate([R, zero], -1), xp.concatenate([skew(p) @ R, R], -1)], -2)

    def skew(w: Any) -> Any:
        x, y, z = w[..., 0], w[..., 1], w[..., 2]
        rows = [xp.stack(row, -1) for row in ((0 * x, -z, y), (z, 0 * x, -x), (-y, x, 0 * x))]
        return xp.stack(rows, -2)

    def little(V: Any) -> Any:
        w, u = skew(V[..., :3]), skew(V[..., 3:])
        return xp.concatenate([xp.concatenate([w, 0 * w], -1), xp.concatenate([u, w], -1)], -2)

    def torques(q: Any, qd: Any, qdd: Any) -> Any:
        V, Vd, frames, forces = gravity * 0, gravity, [], []
        for i in range(n):
            Ad = adjoint(transform(i, q[..., i]))
            V = (Ad @ V[..., None])[..., 0] + V_axis[i] * qd[..., i, None]
            Vd = (
                (Ad @ Vd[..., None])[..., 0]
                + (little(V) @ V_axis[i]) * qd[..., i, None]
                + V_axis[i] * qdd[..., i, None]
            )
            momentum = (G[i] @ V[..., None])[..., 0]
            transposed = xp.swapaxes(little(V), -1, -2)
            forces.append((G[i] @ Vd[..., None])[..., 0] - (transposed @ momentum[..., None])[..., 0])
            frames.append(Ad)
        tau, F = [None] * n, 0
        for i in reversed(range(n)):
            F = F + forces[i]
            tau[i] = (F * V_axis[i]).sum(-1)
            F = (xp.swapaxes(frames[i], -1, -2) @ F[..., None])[..., 0]
        return xp.stack(tau, -1)

    return torques


def _skew(w: Any) -> Any:
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def _adjoint(T: Any) -> Any:
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [_skew(p) @ R, R]])
