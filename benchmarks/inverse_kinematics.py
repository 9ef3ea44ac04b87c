"""Inverse kinematics: how many of random reachable poses are solved, how fast, and what is said about unreachable ones.

    python benchmarks/inverse_kinematics.py [--targets N] [--peer-targets N] [--toolbox PYTHON] [--output FOLDER]

One thread. The same targets and limits for all: a damped least-squares loop around Pinocchio, and, where --toolbox
names a Python that has it, the compiled `ik_LM` of Robotics Toolbox. "Solved" is within 1e-6 m and 1e-6 rad and within
the limits, by forward kinematics. Times are those of one solution in a batch.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pinocchio as pin

import chainrule as cr
from chainrule.cli.benchmark.figures import NOT_INSTALLED, write_figures
from chainrule.inverse_kinematics.analytic.axes import axes_of
from chainrule.inverse_kinematics.goals import Goal
from chainrule.inverse_kinematics.result import measured_errors

ROBOTS = ("panda", "iiwa14", "ur5", "puma560")
TOLERANCE = 1e-6
STARTS, ITERATIONS = 101, 60


def share_solved(robot: cr.Robot, q: np.ndarray, T: np.ndarray) -> float:
    """The share of targets that q reaches within the tolerance and the limits."""
    numbers = np.concatenate([T[:, :3, :3].reshape(-1, 9), T[:, :3, 3]], axis=1)
    error = measured_errors(Goal(robot.end_effector), robot.pose(q), numbers)
    within = ((q >= robot.limits.lower) & (q <= robot.limits.upper)).all(axis=1)
    return float(((error <= TOLERANCE).all(axis=1) & within).mean())


def between_axes(robot: cr.Robot) -> np.ndarray:
    """The chain for peers: the transform from each joint axis to the next, z along the axis."""
    axes = axes_of(robot.merged, robot.end_effector, "benchmark")
    frames = [np.eye(4)]
    for h, o in zip(axes.h, axes.o, strict=True):
        across = np.linalg.svd(h[None])[2][1]
        frame = np.eye(4)
        frame[:3, :3] = np.stack([across, np.cross(h, across), h], axis=1)
        frame[:3, 3] = o
        frames.append(frame)
    frames.append(axes.M)
    return np.stack([np.linalg.inv(a) @ b for a, b in pairwise(frames)])


class DampedLeastSquares:
    """The loop of Pinocchio's own example, with a damping in proportion to the error, limits, and random restarts."""

    def __init__(self, robot: cr.Robot) -> None:
        self.robot = robot
        self.model = pin.Model()
        parent, (*origins, tool) = 0, between_axes(robot)
        for k, origin in enumerate(origins):
            parent = self.model.addJoint(parent, pin.JointModelRZ(), pin.SE3(origin), f"joint{k}")
        tip = pin.Frame("tip", parent, 0, pin.SE3(tool), pin.FrameType.OP_FRAME)
        self.frame = self.model.addFrame(tip, False)
        self.data = self.model.createData()
        self.rng = np.random.default_rng(1)

    def __call__(self, T: np.ndarray) -> np.ndarray:
        model, data, limits = self.model, self.data, self.robot.limits
        target = pin.SE3(T[:3, :3], T[:3, 3])
        q = pin.neutral(model)
        for _ in range(STARTS):
            q = self.rng.uniform(np.maximum(limits.lower, -np.pi), np.minimum(limits.upper, np.pi))
            for _ in range(ITERATIONS):
                pin.framesForwardKinematics(model, data, q)
                apart = data.oMf[self.frame].actInv(target)
                error = pin.log6(apart).vector
                if np.abs(error).max() < 0.5 * TOLERANCE:
                    return q
                J = pin.computeFrameJacobian(model, data, q, self.frame)
                J = pin.Jlog6(apart.inverse()) @ J
                damping = 1e-10 + 0.1 * (error @ error)
                step = J.T @ np.linalg.solve(J @ J.T + damping * np.eye(6), error)
                q = np.clip(q + step, limits.lower, limits.upper)
        return q


TOOLBOX = """
import sys, time
import numpy as np
import roboticstoolbox as rtb
from roboticstoolbox import ET
from spatialmath import SE3
given = np.load(sys.argv[1])
between, targets = given["between"], given["targets"]
ets = ET.SE3(SE3(between[0], check=False))
for k in range(1, len(between)):
    ets = ets * ET.Rz(qlim=given["limits"][:, k - 1]) * ET.SE3(SE3(between[k], check=False))
call = lambda T: ets.ik_LM(T, ilimit=60, slimit=101, tol=1e-13, joint_limits=True)
[call(T) for T in targets[:20]]
began = time.perf_counter()
found = [call(T) for T in targets]
spent = time.perf_counter() - began
np.savez(sys.argv[2], q=[f.q for f in found], seconds=spent / len(targets))
"""


def toolbox(python: str, robot: cr.Robot, T: np.ndarray) -> tuple[float, float]:
    """Part solved and seconds a solution, of Robotics Toolbox on the same chain of joint axes."""
    between = between_axes(robot)
    limits = np.stack([robot.limits.lower, robot.limits.upper])
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "given.npz", Path(folder) / "answer.npz"
        np.savez(given, between=between, targets=T, limits=limits)
        subprocess.run([python, "-c", TOOLBOX, str(given), str(answer)], check=True)
        result = np.load(answer)
        return share_solved(robot, result["q"], T), float(result["seconds"])


def beyond_reach(robot: cr.Robot, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Poses 1 mm to 10 cm farther from some point than the arm can be, and how far that is.

    How far it can be is told by the farthest of many configurations, each moved uphill.
    """
    poses = []
    centres = 8 if count >= 64 else 1
    apart = np.geomspace(1e-3, 0.1, count // centres)
    pool = robot.random_state(rng, 100_000)
    points = robot.pose(pool)[:, :3, 3]
    for _ in range(centres):
        centre = rng.uniform(-0.3, 0.3, 3)
        q = pool[np.argsort(-np.linalg.norm(points - centre, axis=1))[:64]]
        for _ in range(3000):  # uphill, within the limits
            p = robot.pose(q)[:, :3, 3] - centre
            J = robot.jacobian(q, frame="world")[:, 3:]
            q = np.clip(q + 0.3 * np.einsum("ni,nij->nj", p, J), robot.limits.lower, robot.limits.upper)
        T = robot.pose(q)
        length = np.linalg.norm(T[:, :3, 3] - centre, axis=1)
        best = T[length.argmax()]
        out = (best[:3, 3] - centre) / length.max()
        some = np.tile(best, (len(apart), 1, 1))
        some[:, :3, 3] += out * apart[:, None]
        poses.append(some)
    return np.concatenate(poses), np.tile(apart, centres)


def main(count: int, peers: int, python: str | None, output: str | None) -> None:
    cr.set_threads(1)
    figures: dict[str, dict] = {}
    print(
        f"{'':8} {'solved':>9} {'us':>6} | {'Pinocchio loop':>17} {'ratio':>6} | {'Toolbox ik_LM':>17} {'ratio':>6}",
        end="",
    )
    print(" | beyond reach by 1 mm to 10 cm")
    for name in ROBOTS:
        robot, rng = cr.load(name), np.random.default_rng(0)
        T = robot.pose(robot.random_state(rng, count))
        robot.inverse_kinematics(T)
        best = np.inf
        for _ in range(5):
            began = time.perf_counter()
            answer = robot.inverse_kinematics(T)
            best = min(best, (time.perf_counter() - began) / count)
        rate = share_solved(robot, answer.q, T)
        assert rate == answer.success.mean(), "success is what forward kinematics says"
        print(f"{name:8} {rate:9.4%} {best * 1e6:6.2f}", end=" | ")
        loop = DampedLeastSquares(robot)
        began = time.perf_counter()
        found = np.array([loop(target) for target in T[:peers]])
        spent = (time.perf_counter() - began) / peers
        print(f"{share_solved(robot, found, T[:peers]):7.2%} {spent * 1e6:6.0f} us {spent / best:6.0f}", end=" | ")
        row = figures[name] = {
            "chainrule": {"solved": rate, "microseconds": best * 1e6},
            "pinocchio": {"solved": share_solved(robot, found, T[:peers]), "microseconds": spent * 1e6},
            "toolbox": {"error": NOT_INSTALLED},
        }
        if python:
            share, seconds = toolbox(python, robot, T[:peers])
            print(f"{share:7.2%} {seconds * 1e6:6.0f} us {seconds / best:6.0f}", end=" | ")
            row["toolbox"] = {"solved": share, "microseconds": seconds * 1e6}
        else:
            print(f"{'not measured':>17} {'':>6}", end=" | ")
        beyond, apart = beyond_reach(robot, rng, max(8, count // 50 // 8 * 8))
        outside = robot.inverse_kinematics(beyond, task="position")
        assert np.isfinite(outside.q).all()
        farther = outside.error[:, 0] / apart
        print(
            f"{(~outside.success).mean():.0%} failed, "
            f"nearest found {farther.min():.3f} to {farther.max():.3f} times as far"
        )
    if output:
        write_figures(output, "inverse_kinematics", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", type=int, default=10_000)
    parser.add_argument("--peer-targets", type=int, default=300)
    parser.add_argument("--toolbox", default=None, metavar="PYTHON")
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    main(options.targets, options.peer_targets, options.toolbox, options.output)
