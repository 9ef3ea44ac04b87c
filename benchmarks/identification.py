"""Identification: speed beside Pinocchio's regressor with NumPy, and truth in simulated recordings.

    python benchmarks/identification.py [--samples N] [--runs N] [--output FOLDER]

Speed: a million samples of a Panda, from motions in memory to a robot, against Pinocchio's regressor called for each
sample and NumPy's normal equations, without weights, outliers or physical limits, on fewer samples of the same
recording. Truth: recordings of a PUMA 560 and of a Panda with 1% noise of torques, encoders of 19 bits and 5% outliers,
fitted many times, with the error of torques in a motion that was left out, and how often 95% intervals hold the truth.
The payload of a running Panda: a call of the estimator.
"""

from __future__ import annotations

import argparse
import resource
import time
import timeit
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.cli.benchmark.peers import urdf
from chainrule.identification.unknowns import read_unknowns
from chainrule.spatial.physical import is_physical

RATE, SECONDS, PERIOD, HARMONICS = 200.0, 20.0, 10.0, 5
NOISE, OUTLIERS, ENCODER = 0.01, 0.05, 2 * np.pi / 2**19
PEER_SAMPLES = 20_000
"""Samples of Pinocchio's side, whose time grows with their number."""


def real_robot(robot: cr.Robot) -> cr.Robot:
    """The robot that its file does not describe: heavier, with rotors and friction."""
    peak = np.abs(robot.gravity_torque(robot.random_state(np.random.default_rng(0), (200,)))).max(axis=0) + 1.0
    joints = {
        name: {"viscous": 0.05 * p, "coulomb": 0.03 * p, "coulomb_negative": 0.025 * p, "rotor": 0.004 * p, "gear": 1.0}
        for name, p in zip(robot.velocity_names, peak.tolist(), strict=True)
    }
    return robot.scale_masses(1.15).edit(joints=joints)


def curves(robot: cr.Robot, rng: Any, seconds: float) -> tuple[Any, Any, Any, Any]:
    """Times, and sums of sines within the limits of the joints, with their derivatives."""
    t = np.arange(0.0, seconds, 1 / RATE)
    low, high = np.maximum(robot.limits.lower, -2.5), np.minimum(robot.limits.upper, 2.5)
    w = 2 * np.pi / PERIOD * np.arange(1, HARMONICS + 1)[:, None, None]
    a = rng.normal(size=(HARMONICS, 1, robot.nv)) / np.arange(1, HARMONICS + 1)[:, None, None]
    angle = w * t[None, :, None] + rng.uniform(0, 2 * np.pi, a.shape)
    q, qd, qdd = ((a * f).sum(axis=0) for f in (np.sin(angle), w * np.cos(angle), -w * w * np.sin(angle)))
    size = 0.4 * (high - low) / np.abs(q).max(axis=0)
    return t, (high + low) / 2 + size * q, size * qd, size * qdd


class Recorder:
    """Recordings of a real robot on given motions, with new noise each time."""

    def __init__(self, robot: cr.Robot, real: cr.Robot, seed: int) -> None:
        self.t, q, qd, qdd = curves(robot, np.random.default_rng(seed), SECONDS)
        self.tau = real.inverse_dynamics(q, qd, qdd)
        rounded = np.round(q / ENCODER) * ENCODER
        self.motion = cr.Trajectory.from_samples(robot, self.t, rounded, tau=self.tau, degrees=False)

    def again(self, rng: Any, size: Any) -> cr.Trajectory:
        """The motion with new noise and outliers of torques, which are as large as `size` of each joint."""
        tau = self.tau + rng.normal(size=self.tau.shape) * NOISE * size
        wrong = rng.random(tau.shape) < OUTLIERS
        return replace(self.motion, tau=np.where(wrong, tau + rng.normal(size=tau.shape) * size, tau))


def truth(name: str, runs: int) -> dict[str, float]:
    """Monte Carlo of recordings of one robot."""
    robot = cr.load(name)
    real = real_robot(robot)
    fits, unseen = [Recorder(robot, real, seed) for seed in (1, 2)], Recorder(robot, real, 3)
    size = np.sqrt(np.mean([one.tau**2 for one in (*fits, unseen)], axis=(0, 1)))
    true = dict(zip(real.parameters.names, real.parameters.values, strict=True))
    unknowns = read_unknowns(robot, "all")
    base = unknowns.base[1] @ [true[name] for name in unknowns.names]
    inside, ratios, against, physical = [], [], [], 0
    for run in range(runs):
        rng = np.random.default_rng(run)
        result = cr.identify(robot, [one.again(rng, size) for one in fits], validate=unseen.again(rng, size))
        inside.append(np.abs(result.base_values - base) < 1.96 * result.base_standard_deviations)
        ratios.append(result.error / (NOISE * size))
        against.append((result.errors["identified"] / result.errors["least squares"]).max())
        physical += all(is_physical(link.spatial_inertia) for link in result.robot.model.links) and all(
            x >= 0 for n, x in result.parameters.items() if n.rpartition(".")[2] in ("armature", "viscous", "coulomb")
        )
    figures = {
        "runs": runs, "error_over_noise": float(np.mean(ratios)),
        "worst_joint_over_noise": float(np.mean(ratios, axis=0).max()),
        "inside_95": float(np.mean(inside)), "least_inside": float(np.mean(inside, axis=0).min()),
        "over_least_squares": float(np.max(against)), "physical": physical / runs,
    }  # fmt: skip
    print(
        f"{name}: {runs} runs; error in a motion left out {figures['error_over_noise']:.3f} of the noise (worst joint "
        f"{figures['worst_joint_over_noise']:.3f}), at most {figures['over_least_squares']:.4f} of least squares; "
        f"{100 * figures['inside_95']:.1f}% of 95% intervals hold the truth; {100 * figures['physical']:.0f}% physical"
    )
    return figures


def speed(samples: int) -> dict[str, float]:
    """A long recording of a Panda, beside Pinocchio."""
    robot = cr.load("panda")
    real = real_robot(robot)
    t, q, qd, qdd = curves(robot, np.random.default_rng(0), min(1000.0, samples / RATE))
    many = -(-samples // len(t))
    rng = np.random.default_rng(0)
    tau = real.inverse_dynamics(q, qd, qdd)
    noise = NOISE * np.sqrt((tau**2).mean(axis=0))
    one = real.simulate(robot.home(), np.zeros(robot.nv), 0.001)
    motions = []
    for _ in range(many):
        noisy = tau + rng.normal(size=tau.shape) * noise
        zeros = np.zeros((len(t), 3))
        motions.append(cr.Trajectory(robot, t, q, qd, qdd, noisy, tau * 0, zeros, zeros[:, :0], one.method))
    cr.identify(robot, [motions[0][:2000]])  # compiles
    start, begun = time.perf_counter(), time.process_time()
    result = cr.identify(robot, motions)
    ours, busy = time.perf_counter() - start, time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    model = pin.buildModelFromXML(urdf(robot.merge_fixed()))
    data, width = model.createData(), 10 * robot.nv
    tried = min(PEER_SAMPLES, len(t))
    start, begun = time.perf_counter(), time.process_time()
    G, g = np.zeros((width + 3 * robot.nv, width + 3 * robot.nv)), np.zeros(width + 3 * robot.nv)
    for i in range(0, tried, 1000):
        Y = np.zeros((1000, robot.nv, width + 3 * robot.nv))
        for j in range(1000):
            Y[j, :, :width] = pin.computeJointTorqueRegressor(model, data, q[i + j], qd[i + j], qdd[i + j])
        for k in range(robot.nv):
            v = qd[i : i + 1000, k]
            Y[:, k, width + 3 * k : width + 3 * k + 3] = np.stack([v, v > 0, -1.0 * (v < 0)], axis=-1)
        rows = Y.reshape(-1, Y.shape[-1])
        G += rows.T @ rows
        g += rows.T @ motions[0].tau[i : i + 1000].ravel()
    np.linalg.lstsq(G, g, rcond=1e-12)
    total = len(t) * many
    theirs, their_busy = (
        (now - then) / tried * total for now, then in ((time.perf_counter(), start), (time.process_time(), begun))
    )
    print(
        f"{total:,} samples of a Panda: {ours:.2f} s ({busy:.2f} s of processor time) and {peak:.2f} GB; Pinocchio "
        f"with NumPy {theirs:.1f} s ({theirs / ours:.1f} times as long, {their_busy / busy:.1f} times the processor); "
        f"error {np.mean(result.error / noise):.3f} of the noise"
    )
    return {
        "samples": total, "seconds": ours, "processor_seconds": busy, "gigabytes": peak, "pinocchio_seconds": theirs,
        "ratio": theirs / ours, "processor_ratio": their_busy / busy,
    }  # fmt: skip


def payload() -> dict[str, float]:
    """A sample of the estimator of payloads of a Panda, the best of many turns."""
    robot = cr.load("panda")
    estimator = cr.PayloadEstimator(robot, noise=0.1)
    q, qd, qdd = robot.home(), np.full(7, 0.1), np.full(7, 0.2)
    tau = robot.inverse_dynamics(q, qd, qdd)
    best = min(timeit.repeat(lambda: estimator(q, qd, qdd, tau), number=1000, repeat=50)) / 1000
    print(f"payload of a running Panda: {1e6 * best:.2f} us a sample")
    return {"seconds": best}


def main(samples: int, runs: int, output: str | None) -> None:
    warnings.simplefilter("ignore", cr.MotionWarning)
    figures: dict[str, Any] = {"speed": speed(samples), "payload": payload()}
    figures |= {name: truth(name, runs) for name in ("puma560", "panda")}
    if output:
        write_figures(output, "identification", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--output")
    given = parser.parse_args()
    main(given.samples, given.runs, given.output)
