"""Inverse kinematics: how many of random reachable poses are solved, how fast, and what is said about unreachable ones.

    python benchmarks/inverse_kinematics.py [--targets N] [--peer-targets N] [--toolbox PYTHON] [--output FOLDER]

One thread. The same targets and limits for all: a damped least-squares loop around Pinocchio, and, where --toolbox
names a Python that has it, the compiled `ik_LM` of Robotics Toolbox. "Solved" is within 1e-6 m and 1e-6 rad and within
the limits, by forward kinematics. Times are those of one solution in a batch.

A second table has the time of one call for 1 to 100,000 poses, and of one pose with the configuration near it to start
from, as a controller asks for it: the mean over some poses of the median of many calls. Peers take their poses one by
one, so that their time for several is so many times that of one.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pinocchio as pin

import chainrule as cr
from chainrule.cli.benchmark.figures import NOT_INSTALLED, write_figures
from chainrule.core.derived import merged_model
from chainrule.inverse_kinematics.analytic.axes import axes_of
from chainrule.inverse_kinematics.goals import Goal
from chainrule.inverse_kinematics.result import measured_errors

ROBOTS = ("panda", "iiwa14", "ur5", "puma560")
TOLERANCE = 1e-6
STARTS, ITERATIONS = 101, 60
SIZES = (1, 10, 100, 1_000, 100_000)
"""Poses in one call."""
SAMPLED = 40
"""Poses whose times are measured one by one."""
NEAR = 0.05
"""The largest displacement of a joint from the start to the solution, in rad, of a pose that is near."""


def share_solved(robot: cr.Robot, q: np.ndarray, T: np.ndarray) -> float:
    """The share of targets that q reaches within the tolerance and the limits."""
    numbers = np.concatenate([T[:, :3, :3].reshape(-1, 9), T[:, :3, 3]], axis=1)
    error = measured_errors(Goal(robot.end_effector), robot.pose(q), numbers)
    within = ((q >= robot.limits.lower) & (q <= robot.limits.upper)).all(axis=1)
    return float(((error <= TOLERANCE).all(axis=1) & within).mean())


def between_axes(robot: cr.Robot) -> np.ndarray:
    """The chain for peers: the transform from each joint axis to the next, z along the axis."""
    axes = axes_of(merged_model(robot), robot.end_effector, "benchmark")
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

    def __call__(self, T: np.ndarray, q0: np.ndarray | None = None) -> np.ndarray:
        model, data, limits = self.model, self.data, self.robot.limits
        target = pin.SE3(T[:3, :3], T[:3, 3])
        q = pin.neutral(model)
        for k in range(STARTS):
            q = self.rng.uniform(np.maximum(limits.lower, -np.pi), np.minimum(limits.upper, np.pi))
            if not k and q0 is not None:
                q = q0
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

def typical(call):
    times = []
    for _ in range(50):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return np.median(times)

some = list(zip(targets, given["near"]))
one = np.mean([typical(lambda: call(T)) for T, _ in some])
near = np.mean([typical(lambda: ets.ik_LM(T, q0=q, ilimit=60, slimit=101, tol=1e-13)) for T, q in some])
np.savez(sys.argv[2], q=[f.q for f in found], seconds=spent / len(targets), one=one, near=near)
"""


def toolbox(python: str, robot: cr.Robot, T: np.ndarray, near: np.ndarray) -> tuple[float, float, dict[str, float]]:
    """Part solved and seconds a solution, of Robotics Toolbox on the same chain of joint axes.

    Also the seconds of one pose, and of one near its start.
    """
    between = between_axes(robot)
    limits = np.stack([robot.limits.lower, robot.limits.upper])
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "given.npz", Path(folder) / "answer.npz"
        np.savez(given, between=between, targets=T, limits=limits, near=near)
        subprocess.run([python, "-c", TOOLBOX, str(given), str(answer)], check=True)
        result = np.load(answer)
        one = {"one": float(result["one"]), "near": float(result["near"])}
        return share_solved(robot, result["q"], T), float(result["seconds"]), one


def typical(call: Callable[..., object], *arguments: np.ndarray, seconds: float = 0.02, least: int = 5) -> float:
    """The median time of many calls, in s."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        began = time.perf_counter()
        call(*arguments)
        times.append(time.perf_counter() - began)
    return float(np.median(times))


def times_by_size(robot: cr.Robot, T: np.ndarray, near: np.ndarray) -> dict[str, float]:
    """Seconds of one call for one near pose, and for several numbers of poses up to ten times those given."""
    solve = robot.inverse_kinematics
    few = list(zip(T, near, strict=False))
    times = {"near": float(np.mean([typical(solve, *one) for one in few]))}
    times["1"] = float(np.mean([typical(solve, one) for one, _ in few]))
    seconds = min(0.5, len(T) / 2000)
    sizes = [n for n in SIZES[1:] if n <= 10 * len(T)]
    return times | {str(n): typical(solve, T[np.arange(n) % len(T)], seconds=seconds, least=3) for n in sizes}


def times_of_loop(loop: DampedLeastSquares, T: np.ndarray, near: np.ndarray) -> dict[str, float]:
    """Seconds of one pose, and of one near its start, of the loop around Pinocchio."""
    few = list(zip(T, near, strict=False))
    one = np.mean([typical(loop, one, seconds=0, least=3) for one, _ in few])
    return {"one": float(one), "near": float(np.mean([typical(loop, *one, seconds=0, least=3) for one in few]))}


def print_sizes(name: str, own: dict[str, float], peers: dict[str, dict[str, float]]) -> None:
    """One line for each number of poses: the time of the call, and how many times as long a peer takes."""
    for what, seconds in own.items():
        count = 1 if what == "near" else int(what)
        label = "1 near" if what == "near" else f"{count:,}"
        ratios = [
            f"{peer}: {one['near' if what == 'near' else 'one'] * count / seconds:7.1f}" for peer, one in peers.items()
        ]
        print(
            f"{name:8} {label:>8} poses {seconds * 1e6:11.1f} us, {seconds / count * 1e6:7.2f} us a pose | times as ",
            end="",
        )
        print("long by " + ", ".join(ratios))


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
    tables: list[tuple[str, dict, dict]] = []
    print(
        f"{'':8} {'solved':>9} {'us':>6} | {'Pinocchio loop':>17} {'ratio':>6} | {'Toolbox ik_LM':>17} {'ratio':>6}",
        end="",
    )
    print(" | beyond reach by 1 mm to 10 cm")
    for name in ROBOTS:
        robot, rng = cr.load(name), np.random.default_rng(0)
        reached = robot.random_state(rng, count)
        T = robot.pose(reached)
        near = reached[: min(SAMPLED, peers)] + rng.uniform(-NEAR, NEAR, robot.nv)
        near = np.clip(near, robot.limits.lower, robot.limits.upper)
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
        own, ones = times_by_size(robot, T, near), {"Pinocchio loop": times_of_loop(loop, T, near)}
        if python:
            share, seconds, ones["Toolbox ik_LM"] = toolbox(python, robot, T[:peers], near)
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
        tables.append((name, own, ones))
        row["seconds"] = {"chainrule": own} | {label.split()[0].lower(): times for label, times in ones.items()}
    for table in tables:
        print_sizes(*table)
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
