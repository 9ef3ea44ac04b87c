"""Motions whose derivatives are known, and noise on them."""

from __future__ import annotations

import numpy as np

import chainrule as cr

ARM = cr.load("panda")
RATES = 2 * np.pi * np.array([0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4])


def swing(t):
    """Positions, velocities and accelerations (T, 7) of sines inside the arm's limits."""
    low, high = ARM.limits.lower, ARM.limits.upper
    size, phase = 0.3 * (high - low), np.outer(t, RATES)
    q = (low + high) / 2 + size * np.sin(phase)
    return q, size * RATES * np.cos(phase), -size * RATES**2 * np.sin(phase)


def with_noise(q, degrees=0.2, seed=0):
    return q + np.radians(degrees) * np.random.default_rng(seed).standard_normal(q.shape)
