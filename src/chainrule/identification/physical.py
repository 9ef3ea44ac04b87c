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

WEAKER = 0.1
"""The factor from one strength to the next."""

MAX_NEWTON_STEPS = 50
DECREMENT, NEAR = 1e-10, 0.1
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
    known = np.array([body.known for body in bodies]).reshape(-1, 4, 4)
    basis = np.zeros((len(bodies), 10, 4, 4))  # of each body the numbers that are unknown; others stay zero
    place = np.full((len(bodies), 10), count)  # in u; what is not unknown is behind its end
    u, is_free, reach = np.zeros(count + 1), np.ones(count, dtype=bool), np.ones(count)
    for b, body in enumerate(bodies):
        basis[b, : len(body.places)], place[b, : len(body.places)] = BASIS[body.numbers], body.places
        u[body.places] = [component(body.prior, int(k)) for k in body.numbers]
        is_free[body.places] = False
        reach[body.places] = np.sqrt(np.abs(np.diag(body.prior)).max())
    u[positive], is_free[positive], reach[positive] = sizes, False, sizes
    u = u[:count]
    u[is_free] = np.linalg.lstsq(A[:, is_free], c - A @ u, rcond=None)[0]
    inverse = np.linalg.inv(np.array([body.prior for body in bodies]).reshape(-1, 4, 4))
    slopes = np.einsum("bij,bkji->bk", inverse, basis)
    H, g0 = A.T @ A, A.T @ c

    def pseudo_inertias(u: Array) -> Array:
        return np.asarray(known + np.einsum("bk,bkij->bij", np.append(u, 0.0)[place], basis))

    def value(u: Array, strength: float) -> float:
        J = pseudo_inertias(u)
        if (u[positive] <= 0).any() or (np.linalg.eigvalsh(J) <= 0).any():
            return np.inf
        total = (u[positive] / sizes - np.log(u[positive])).sum() - np.linalg.slogdet(J)[1].sum()
        residual = A @ u - c
        return float(residual @ residual / 2 + strength * (total + (slopes * np.append(u, 0.0)[place]).sum()))

    strength = max(float(((A * reach) ** 2).sum()), prior)  # so strong that data cannot move u: Newton starts there
    while True:
        for _ in range(MAX_NEWTON_STEPS):
            gradient, hessian = np.append(H @ u - g0, 0.0), np.pad(H, (0, 1))
            gradient[positive] += strength * (1 / sizes - 1 / u[positive])
            hessian[positive, positive] += strength / u[positive] ** 2
            E = np.linalg.inv(pseudo_inertias(u))[:, None] @ basis
            np.add.at(gradient, place, strength * (slopes - np.einsum("bkii->bk", E)))
            blocks = strength * np.einsum("bkij,blji->bkl", E, E)
            np.add.at(hessian, (place[:, :, None], place[:, None, :]), blocks)
            gradient, hessian = gradient[:count], hessian[:count, :count]
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
