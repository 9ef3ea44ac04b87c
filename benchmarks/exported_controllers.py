"""Random controllers as C beside the simulations that they come from: torques that differ in a bit, and times.

    python benchmarks/exported_controllers.py [--count N] [--each N] [--seed N] [--calls N] [--output FOLDER]

Robots are random trees with friction, rotors and springs. Each is controlled by random laws with random gains along
random motions, as `cr.Sampled` with random rates and limits on the rate of torques. The simulation records states and
torques; the exported C gets the same states.

The times are those of the computed torque of a Panda along a motion, by the program that is exported with it: the
reading of the clock is part of them, and so is whatever else runs on the machine.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from trees import tree

import chainrule as cr

KINDS = ("revolute", "continuous", "prismatic", "helical", "screw", "universal")
TICKS = 12
FLAGS = ("-std=c99", "-O1", "-fPIC", "-shared")


def random_law(robot: cr.Robot, rng: np.random.Generator) -> cr.Controller:
    """One of the library's laws, with gains of its own along a motion of its own."""
    kind, home = int(rng.integers(5)), robot.home()
    target = home + 0.1 * rng.normal(size=robot.nq)
    if kind > 1 or rng.integers(2):
        points = home + 1e-3 * rng.normal(size=(int(rng.integers(2, 5)), robot.nq))
        times = np.concatenate([[0.0], np.cumsum(rng.uniform(0.005, 0.02, len(points) - 1))])
        target = cr.plan(robot, points, times=times, method=str(rng.choice(["minimum_jerk", "cubic", "quintic"])))
    kp, kd = rng.uniform(1, 100, robot.nv), rng.uniform(0.1, 5, robot.nv)
    if kind == 0:
        return cr.GravityCompensation(robot, damping=kd, actuated=True)
    if kind == 1:
        return cr.PD(robot, target, kp=kp, kd=kd, actuated=True)
    if kind == 2:
        limit = rng.uniform(0.1, 2.0)
        return cr.PID(robot, target, kp=kp, ki=10 * kp, kd=kd, limit=limit, actuated=True)
    return cr.ComputedTorque(robot, target, kp=kp, kd=kd, actuated=True)


def compare(count: int, each: int, seed: int) -> tuple[int, int, float]:
    """Controllers, torques that differ in a bit, and the largest difference relative to 1 + its size."""
    done, different, largest = 0, 0, 0.0
    rng = np.random.default_rng(seed)
    while done < count:
        robot = tree(int(rng.integers(1 << 30)), list(rng.choice(KINDS, int(rng.integers(1, 5)))), mimic=False)
        q0, laws = robot.home(), []
        rates = rng.choice([500.0, 1000.0, 1234.5], 2)
        with tempfile.TemporaryDirectory() as folder:
            for k in range(min(each, count - done)):
                limit = float(rng.uniform(10, 1e4)) if rng.integers(2) else None
                rate = float(rng.choice(rates))
                law = cr.Sampled(random_law(robot, rng), 1 / rate, rate_limit=limit)
                start = q0 + 0.01 * rng.normal(size=robot.nq)
                motion = robot.simulate(start, None, TICKS / rate, law, integrator=cr.RK4(1 / rate), limits=False)
                cr.export(law, "c", f"{folder}/law{k}.c")
                laws.append(motion)
            files = [f"law{k}.c" for k in range(len(laws))]
            subprocess.run(["cc", *FLAGS, *files, "-lm", "-o", "laws.so"], cwd=folder, check=True)
            library = ctypes.CDLL(f"{folder}/laws.so")
            for k, motion in enumerate(laws):
                found = run(library, f"law{k}", motion)
                expected = motion.tau[:TICKS]
                different += int((found != expected).sum())
                largest = max(largest, float((np.abs(found - expected) / (1 + np.abs(expected))).max()))
            handle = library._handle
            del library
            ctypes.CDLL(None).dlclose(ctypes.c_void_p(handle))
        done += len(laws)
        print(f"{done} controllers: {different} torques differ in a bit", flush=True)
    return done, different, largest


def run(library: ctypes.CDLL, name: str, motion: cr.Trajectory) -> np.ndarray:
    """The torques of exported code in the states of a simulation."""
    state = (ctypes.c_double * (1 + 4 * motion.qd.shape[-1]))()
    library[f"{name}_reset"](state)
    tau = np.zeros((TICKS, motion.qd.shape[-1]))
    for k in range(TICKS):
        q, qd, row = np.ascontiguousarray(motion.q[k]), np.ascontiguousarray(motion.qd[k]), tau[k]
        library[f"{name}_step"](state, *(ctypes.c_void_p(x.ctypes.data) for x in (q, qd, row)))
    return tau


def measure(calls: int, output: str | None) -> None:
    """The times of so many calls, and a picture of them."""
    panda = cr.load("panda")
    home = panda.home()
    law = cr.ComputedTorque(panda, cr.plan(panda, [home, home + 0.2, home], times=[0.0, 1.0, 2.0]))
    with tempfile.TemporaryDirectory() as folder:
        cr.export(law, "c", f"{folder}/law.c")
        build = ["cc", "-std=c99", "-O2", "law_check.c", "law.c", "-lm", "-o", "check"]
        subprocess.run(build, cwd=folder, check=True)
        done = subprocess.run(["./check", str(calls), "times"], cwd=folder, check=True, capture_output=True, text=True)
        nanoseconds, counts = np.loadtxt(f"{folder}/times", unpack=True, ndmin=2)
    print(done.stdout.strip())
    if output:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
        axes.step(nanoseconds / 1e3, counts[::-1].cumsum()[::-1] / calls, where="post")
        axes.set(xscale="log", yscale="log", xlabel="time of a call, us", ylabel="share of calls that take as long")
        axes.grid(alpha=0.3)
        figure.savefig(f"{output}/exported_controllers.png", dpi=150)


def main(count: int, each: int, seed: int, calls: int, output: str | None) -> None:
    warnings.simplefilter("ignore")
    measure(calls, output)
    began = time.perf_counter()
    done, different, largest = compare(count, each, seed)
    print(f"{done} controllers, {TICKS} ticks each, in {time.perf_counter() - began:.0f} s: ", end="")
    print(f"{different} torques differ in a bit, by {largest:.2g} at most")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--each", type=int, default=200, help="controllers of one robot")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--calls", type=int, default=10_000_000, help="calls that are timed")
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the picture of the times")
    options = parser.parse_args()
    main(options.count, options.each, options.seed, options.calls, options.output)
