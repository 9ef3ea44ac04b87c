"""Physical consistency of inertias, and their principal axes, for plain numbers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from chainrule.spatial.inertia import Inertia
from chainrule.spatial.rotation import Rotation
from chainrule.spatial.vector import Symmetric, Vector

EIGENVALUE_TOLERANCE = 1e-9
"""Size of a negative eigenvalue, relative to the largest, up to which it counts as zero."""

MIN_INERTIA = 1e-15
"""Inertia (kg m^2) below which a value counts as zero."""

STEINER_ROUNDING = 1e-13
"""Inertia, relative to that of the mass about the frame's origin, that may be the rounding of Steiner's theorem."""

TRIANGLE_TOLERANCE = 1e-3
"""Relative violation of the triangle inequality that is accepted: published inertias are rounded to a few digits."""


def pseudo_inertia(I: Inertia) -> NDArray[np.float64]:
    """The 4-by-4 matrix [[Sigma, h], [h^T, m]], with Sigma = tr(I)/2 1 - I, the second moment of mass.

    It is positive semi-definite exactly for the inertias of real mass distributions (Wensing, Kim & Slotine 2018).
    """
    J = np.array([list(row) for row in I.inertia], dtype=float)
    h = np.array(list(I.moment), dtype=float)
    sigma = np.trace(J) / 2 * np.eye(3) - J
    return np.block([[sigma, h[:, None]], [h[None, :], np.array([[float(I.mass)]])]])


def principal_axes(I: Symmetric) -> tuple[NDArray[np.float64], Rotation]:
    """Principal moments in ascending order (kg m^2), and R_bp, whose columns are the principal axes."""
    moments, axes = np.linalg.eigh(np.array([list(row) for row in I], dtype=float))
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    return moments, Rotation(*(Vector(*map(float, row)) for row in axes))


def is_physical(I: Inertia) -> bool:
    """Whether some distribution of positive mass has this inertia: its pseudo-inertia has no negative eigenvalue.

    >>> is_physical(Inertia(1.0, Vector.zero(), Symmetric(1.0, 1.0, 3.0)))
    False
    """
    P = pseudo_inertia(I)
    return bool(np.linalg.eigvalsh(P)[0] >= -EIGENVALUE_TOLERANCE * max(float(np.abs(P).max()), 1e-300))


def objection(mass: float, com: Vector, about_com: Symmetric) -> str | None:
    """The reason, in words, why no rigid body has these numbers; None if one may."""
    numbers = (mass, *com, *about_com.entries())
    if not all(math.isfinite(x) for x in numbers):
        return "has a mass, center of mass or inertia that is not a finite number"
    if mass < 0:
        return f"has a negative mass, {mass:g} kg"
    entries = about_com.entries()
    largest = max(abs(x) for x in entries)
    if largest == 0:
        return None
    a, b, c = _eigenvalues(about_com)
    rounding = MIN_INERTIA + STEINER_ROUNDING * mass * com.dot(com)
    if a < -EIGENVALUE_TOLERANCE * largest - rounding:
        return (
            f"has an inertia matrix that is not positive definite (principal moments {a:.6g}, {b:.6g}, {c:.6g} kg m^2)"
        )
    if mass > 0 and a + b < c * (1 - TRIANGLE_TOLERANCE) - rounding:
        return (
            f"has principal moments {a:.6g}, {b:.6g}, {c:.6g} kg m^2, which violate the triangle inequality: "
            "the two smaller must sum to at least the largest"
        )
    return None


def _eigenvalues(I: Symmetric) -> tuple[float, float, float]:
    if I.xy == 0 and I.xz == 0 and I.yz == 0:
        a, b, c = sorted((float(I.xx), float(I.yy), float(I.zz)))
        return a, b, c
    a, b, c = (float(x) for x in np.linalg.eigvalsh(np.array([list(row) for row in I], dtype=float)))
    return a, b, c


def nearest_physical(about_com: Symmetric) -> Symmetric:
    """The inertia with the same principal axes whose second moments of mass are clipped at zero."""
    moments, R = principal_axes(about_com)
    half = moments.sum() / 2
    second = np.clip(half - moments, 0.0, None)
    a, b, c = (float(x) for x in second.sum() - second)
    return Symmetric(a, b, c).rotate(R)
