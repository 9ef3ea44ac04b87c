"""Calibration and excitation: errors against known truth, times, and the motion against a long search.

    python benchmarks/calibration.py [--long STARTS] [--runs N] [--starts STARTS] [--output FOLDER]

A Panda is calibrated from points with 0.1 mm of noise and 5% outliers, and a camera found from poses with 1 mm and
2 mrad, in many runs: how far the results are from the truth, and how often 95% intervals hold it. Then an
exciting motion with the
defaults, its time, and the best condition number of a search from many more motions.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import chainrule as cr
from chainrule.calibration.hand_eye import inverse, small_motion
from chainrule.cli.benchmark.figures import write_figures

CHANGES = {"panda_joint2.offset": 0.01, "panda_joint4.offset": -0.02, "panda_joint5.origin.x": -0.0835}
NOISE_M, OUTLIERS = 1e-4, 0.05


def calibrations(runs: int) -> dict[str, float]:
    """Errors of the tip and shares of intervals that hold the truth."""
    arm = cr.load("panda").with_frame("probe", ([0, 0, 0.1], [0, 0, 0, 1]))
    real = arm.edit({**CHANGES, "probe.origin": [0.004, -0.003, 0.105]})
    truth = {**CHANGES, "probe.origin.x": 0.004, "probe.origin.y": -0.003, "probe.origin.z": 0.105}
    rng = np.random.default_rng(0)
    base = real.pose(arm.random_state(rng))
    unseen = arm.random_state(rng, (200,))
    asked = ["base", *CHANGES, "probe.origin"]
    inside, errors, seconds = [], [], []
    for _ in range(runs):
        q = arm.random_state(rng, (60,))
        points = (base @ real.pose(q, "probe"))[:, :3, 3] + NOISE_M * rng.normal(size=(60, 3))
        points += 0.05 * rng.normal(size=(60, 3)) * (rng.random((60, 1)) < OUTLIERS)
        start = time.perf_counter()
        found = cr.calibrate(arm, q, points, asked, link="probe")
        seconds.append(time.perf_counter() - start)
        off = (found.base @ found.robot.pose(unseen, "probe") - base @ real.pose(unseen, "probe"))[:, :3, 3]
        errors.append(np.sqrt((off**2).sum(axis=1).mean()))
        inside += [abs(found.parameters[k] - x) < 1.96 * found.standard_deviations[k] for k, x in truth.items()]
    before = (base @ arm.pose(unseen, "probe") - base @ real.pose(unseen, "probe"))[:, :3, 3]
    return {
        "tip_error_before_mm": 1e3 * float(np.sqrt((before**2).sum(axis=1).mean())),
        "tip_error_mm": 1e3 * float(np.median(errors)),
        "share_of_95_percent_intervals": float(np.mean(inside)),
        "seconds": float(np.median(seconds)),
    }


def cameras(runs: int) -> dict[str, float]:
    """Errors of a camera, and shares of intervals that hold the truth."""
    arm, rng = cr.load("panda"), np.random.default_rng(1)
    X, Y = arm.pose(arm.random_state(rng, (2,)))
    inside, errors, seconds = [], [], []
    for _ in range(runs):
        A = arm.pose(arm.random_state(rng, (20,)))
        noise = [small_motion(np.r_[2e-3 * rng.normal(size=3), 1e-3 * rng.normal(size=3)]) for _ in A]
        start = time.perf_counter()
        found = cr.hand_eye(A, inverse(A @ X) @ Y @ np.array(noise))
        seconds.append(time.perf_counter() - start)
        off = (inverse(X) @ found.camera)[:3, 3]
        errors.append(np.linalg.norm(off))
        inside += [abs(x) < 1.96 * s for x, s in zip(off, found.standard_deviations[3:], strict=True)]
    return {
        "error_mm": 1e3 * float(np.median(errors)),
        "share_of_95_percent_intervals": float(np.mean(inside)),
        "seconds": float(np.median(seconds)),
    }


def excitations(long_starts: int, starts: int) -> dict[str, float]:
    """The motion of the defaults, beside random ones and a long search."""
    arm = cr.load("panda")
    times, conditions = [], []
    for seed in range(3):
        start, cpu = time.perf_counter(), time.process_time()
        motion = cr.excite(arm, 10.0, starts=starts, seed=seed)
        times.append((time.perf_counter() - start, time.process_time() - cpu))
        conditions.append(motion.condition)
    best = cr.excite(arm, 10.0, starts=long_starts, seed=100).condition if long_starts else np.inf
    return {
        "condition": float(np.median(conditions)),
        "condition_of_random_motions": float(np.median([c for c, _ in motion.random])),
        "condition_of_long_search": min(best, *conditions),
        "ratio_to_long_search": max(conditions) / min(best, *conditions),
        "seconds": float(np.median([wall for wall, _ in times])),
        "cpu_seconds": float(np.median([cpu for _, cpu in times])),
    }


def main(long_starts: int, runs: int, starts: int, output: str | None) -> None:
    figures = {"calibrate": calibrations(runs), "hand_eye": cameras(runs), "excite": excitations(long_starts, starts)}
    for name, values in figures.items():
        print(name)
        for what, x in values.items():
            print(f"  {what:34}{x:12.4g}")
    if output:
        write_figures(output, "calibration", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", type=int, default=200, help="motions that the long search begins from")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--starts", type=int, default=8, help="motions that other searches begin from")
    parser.add_argument("--output")
    options = parser.parse_args()
    main(options.long, options.runs, options.starts, options.output)
