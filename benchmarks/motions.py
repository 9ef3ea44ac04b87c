"""Recorded motions and timed paths beside their peers: SciPy's splines and filters, and toppra.

    python benchmarks/motions.py [--quick] [--output FOLDER]

Accelerations come from noisy positions whose true accelerations are known; errors are root mean squares inside the
motion. The windows of Savitzky-Golay filters are the best of many, chosen by looking at the true accelerations; the
splines choose for themselves. Paths of the Panda are timed within limits on speed and
acceleration, and on torque too.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import toppra
from scipy.interpolate import make_smoothing_spline
from scipy.signal import savgol_filter

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.cli.benchmark.timing import best
from chainrule.control.motions.time_optimal import DofLimits, geometric_path, time_path
from chainrule.motion.differentiation import differentiate

SIZES = ((100, 0.02), (1000, 0.01), (5000, 0.002))
NOISE = np.radians(0.2)
WINDOWS = (7, 11, 21, 41, 81, 161, 321, 641)
SECONDS = 3.0


def against_scipy(count: int, step: float, seconds: float) -> dict[str, float]:
    """Errors of accelerations, in rad/s^2, and times."""
    t = np.arange(count) * step
    a, b = 2 * np.pi * 0.4, 2 * np.pi * 1.1
    y = 1.5 * np.sin(a * t) + 0.3 * np.sin(b * t + 1)
    second = -1.5 * a**2 * np.sin(a * t) - 0.3 * b**2 * np.sin(b * t + 1)
    noisy = y + NOISE * np.random.default_rng(0).standard_normal(count)
    inside = slice(count // 20, -count // 20)

    def error(found: np.ndarray) -> float:
        return float(np.sqrt(np.mean((found - second)[inside] ** 2)))

    def ours() -> np.ndarray:
        return differentiate(t, noisy[:, None]).second[:, 0]

    def theirs() -> np.ndarray:
        return make_smoothing_spline(t, noisy).derivative(2)(t)

    windows = [window for window in WINDOWS if window < count / 2]
    filters = [savgol_filter(noisy, w, order, deriv=2, delta=step) for w in windows for order in (2, 3, 4, 5)]
    return {
        "error": error(ours()), "spline_error": error(theirs()), "filter_error": min(map(error, filters)),
        "seconds": best(ours, seconds), "spline_seconds": best(theirs, seconds),
    }  # fmt: skip


def against_toppra(seed: int, seconds: float, torque: bool) -> dict[str, float]:
    """Durations of a motion through five configurations, and the times of planning it."""
    arm = cr.load("panda")
    middle = (arm.limits.lower + arm.limits.upper) / 2
    points = middle + 0.6 * (arm.random_state(np.random.default_rng(seed), (5,)) - middle)
    path, s = geometric_path(points)
    free, rate = np.full(7, np.inf), np.full(7, 10.0)
    both = [np.stack([-bound, bound], axis=1) for bound in (arm.limits.velocity, rate)]

    def ours() -> float:
        effort = arm.limits.effort if torque else free
        return float(time_path(arm, path, s, DofLimits(arm.limits.velocity, rate, effort, free)).times[-1])

    def theirs() -> float:
        scheme = toppra.constraint.DiscretizationType.Interpolation
        constraints = [
            toppra.constraint.JointVelocityConstraint(both[0]),
            toppra.constraint.JointAccelerationConstraint(both[1], discretization_scheme=scheme),
        ]
        if torque:
            effort = np.stack([-arm.limits.effort, arm.limits.effort], axis=1)
            constraints.append(
                toppra.constraint.JointTorqueConstraint(
                    arm.inverse_dynamics, effort, np.zeros(arm.nv), discretization_scheme=scheme
                )
            )
        spline = toppra.SplineInterpolator(s, points, "natural")
        grid = np.linspace(0.0, s[-1], 501)
        peer = toppra.algorithm.TOPPRA(constraints, spline, gridpoints=grid, parametrizer="ParametrizeConstAccel")
        return float(peer.compute_trajectory().duration)

    times: dict[str, Callable[[], float]] = {"chainrule": ours, "toppra": theirs}
    durations = {f"{name}_duration": plan() for name, plan in times.items()}
    return {**durations, **{f"{name}_seconds": best(plan, seconds) for name, plan in times.items()}}


def main(quick: bool, output: str | None) -> None:
    seconds = 0.05 if quick else SECONDS
    print(f"accelerations from positions with {np.degrees(NOISE):.1f} degrees of noise, rad/s^2 rms:")
    figures: dict[str, dict[str, float]] = {}
    for count, step in SIZES[:1] if quick else SIZES:
        row = figures[f"samples_{count}"] = against_scipy(count, step, seconds)
        print(
            f"  {count} samples: chainrule {row['error']:.3f}, SciPy's smoothing spline {row['spline_error']:.3f} "
            f"({row['spline_error'] / row['error']:.1f}x), best filter {row['filter_error']:.3f} "
            f"({row['filter_error'] / row['error']:.2f}x); time {row['seconds'] * 1e3:.0f} ms, SciPy "
            f"{row['spline_seconds'] * 1e3:.0f} ms ({row['spline_seconds'] / row['seconds']:.1f}x)"
        )
    print("paths of the Panda through five configurations:")
    for seed, torque in [(seed, torque) for torque in (False, True) for seed in range(1 if quick else 3)]:
        name = f"path_{seed}_torque" if torque else f"path_{seed}"
        row = figures[name] = against_toppra(seed, seconds, torque)
        print("  with limits on torque:" if torque else "  without:")
        print(
            f"  chainrule {row['chainrule_duration']:.4f} s, toppra {row['toppra_duration']:.4f} s "
            f"({100 * (row['chainrule_duration'] / row['toppra_duration'] - 1):+.3f} %); planned in "
            f"{row['chainrule_seconds'] * 1e3:.0f} ms and {row['toppra_seconds'] * 1e3:.0f} ms"
        )
    if output:
        write_figures(output, "motions", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one size, short runs")
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    main(options.quick, options.output)
