"""The nearest robot that can exist: least squares in the presence of log-determinants of pseudo-inertias.

With |A u - c|^2 / 2 the misfit in units of the noise, the unknowns u minimize

    |A u - c|^2 / 2 + prior [ sum over links (tr(P^-1 J) - log det J) + sum over others (x / s - log x) ],

J being the pseudo-inertia of a link and P that of the robot's own file. The bracket is least at the file's numbers, and
infinite where a body could not exist (Wensing, Kim & Slotine 2018). So data decide what they say something about, and
the file the rest. Newton's method, from the file's numbers, with a prior that is made weaker step by step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.identification.unknowns import BASIS, UnknownBody, component

WEAKER = 0.2
"""The factor from one strength to the next."""

MAX_NEWTON_STEPS = 50
DECREMENT, NEAR = 1e-10, 1e-2
"""The square of Newton's decrement, in units of the prior's strength, at a minimum; and where the next may begin."""

RIDGE = 1e-13
"""What is added to the diagonal of the Hessian, scaled to ones, against rounding."""


def nearest_physical(
    A: Array, c: Array, bodies: Sequence[UnknownBody], positive: NDArray[np.intp], sizes: Array, prior: float
) -> Array:
    """The unknowns u of the minimum.

    sizes: for each of `positive`, the s of its prior, at which it starts.
    """
    count = A.shape[1]
    H, g0 = A.T @ A, A.T @ c
    u = np.zeros(count)
    for body in bodies:
        u[body.places] = [component(body.prior, int(k)) for k in body.numbers]
    u[positive] = sizes
    inverse = [np.linalg.inv(body.prior) for body in bodies]
    slopes = [np.einsum("ij,kji->k", P, BASIS[body.numbers]) for P, body in zip(inverse, bodies, strict=True)]
    is_free = np.ones(count, dtype=bool)
    is_free[positive] = False
    for body in bodies:
        is_free[body.places] = False
    u[is_free] = np.linalg.lstsq(A[:, is_free], c - A @ u, rcond=None)[0]

    def value(u: Array, strength: float) -> float:
        total = 0.0
        if (u[positive] <= 0).any():
            return np.inf
        total += float((u[positive] / sizes - np.log(u[positive])).sum())
        for body, slope in zip(bodies, slopes, strict=True):
            sign, log_det = np.linalg.slogdet(_pseudo_inertia(body, u))
            if sign <= 0 or np.linalg.eigvalsh(_pseudo_inertia(body, u))[0] <= 0:
                return np.inf
            total += float(slope @ u[body.places]) - log_det
        residual = A @ u - c
        return float(residual @ residual) / 2 + strength * total

    reach = np.ones(count)  # the data cannot move u far against so strong a prior: Newton's method starts there
    reach[positive] = sizes
    for body in bodies:
        reach[body.places] = np.sqrt(np.abs(np.diag(body.prior)).max())
    strength = max(float((A * reach).ravel() @ (A * reach).ravel()), prior)
    while True:
        for _ in range(MAX_NEWTON_STEPS):
            gradient, hessian = H @ u - g0, H.copy()
            gradient[positive] += strength * (1 / sizes - 1 / u[positive])
            hessian[positive, positive] += strength / u[positive] ** 2
            for body, slope in zip(bodies, slopes, strict=True):
                E = np.linalg.solve(_pseudo_inertia(body, u), BASIS[body.numbers])
                gradient[body.places] += strength * (slope - np.einsum("kii->k", E))
                hessian[np.ix_(body.places, body.places)] += strength * np.einsum("kij,lji->kl", E, E)
            scale = 1 / np.sqrt(np.maximum(np.diag(hessian), 1e-300))
            step = -scale * np.linalg.solve(hessian * np.outer(scale, scale) + RIDGE * np.eye(count), scale * gradient)
            decrement = -float(gradient @ step)
            if decrement < (DECREMENT if strength <= prior else NEAR) * strength:
                break
            here, size = value(u, strength), 1.0
            while size > 1e-10 and not value(u + size * step, strength) <= here - 1e-4 * size * decrement:
                size /= 2
            if size <= 1e-10:
                break
            u = u + size * step
        if strength <= prior:
            return u
        strength = max(strength * WEAKER, prior)


def _pseudo_inertia(body: UnknownBody, u: Array) -> Array:
    return np.asarray(body.known + np.tensordot(u[body.places], BASIS[body.numbers], 1))
