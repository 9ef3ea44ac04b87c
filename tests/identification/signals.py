"""Recordings of a small arm whose numbers are known, for tests of identification."""

from __future__ import annotations

import numpy as np

import chainrule as cr

FRICTION = {"viscous": 0.3, "coulomb": 0.2, "coulomb_negative": 0.25}
ARM = cr.load("planar_2r").edit(links={"*": {"inertia": (0.02, 0.05, 0.05)}}, joints={"*": FRICTION})
"""What its file says."""
REAL = ARM.edit(
    links={"link1": {"mass": 1.2, "com": (0.9, 0.05, 0.0)}, "link2": {"mass": 0.8, "inertia": (0.03, 0.08, 0.06)}},
    joints={"joint1": {"viscous": 0.5}, "joint2": {"coulomb": 0.3, "coulomb_negative": 0.1}},
)
"""What it is."""


def curves(seed=0, duration=10.0, rate=100.0):
    """Times, and sums of sines with their derivatives."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, duration, 1 / rate)
    w = 2 * np.pi / 5.0 * np.arange(1, 5)[:, None, None]
    a, phase = rng.uniform(0.1, 0.4, (4, 1, 2)), rng.uniform(0, 2 * np.pi, (4, 1, 2))
    angle = w * t[None, :, None] + phase
    return t, (a * np.sin(angle)).sum(0), (a * w * np.cos(angle)).sum(0), (-a * w**2 * np.sin(angle)).sum(0)


def recorded(real=REAL, seed=0, noise=0.05, change=lambda tau: tau, **options):
    """A recording of the real arm: noise on its torques, none on its positions unless they are smoothed."""
    t, q, qd, qdd = curves(seed, options.pop("duration", 10.0))
    tau = real.inverse_dynamics(q, qd, qdd)
    tau = tau + np.random.default_rng(seed + 100).normal(0.0, noise, tau.shape)
    options = {"smoothing": None, "degrees": False} | options
    return cr.Trajectory.from_samples(ARM, t, q, tau=change(tau), **options)
