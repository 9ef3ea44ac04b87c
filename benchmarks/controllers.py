"""What one call of a controller costs in a loop of one's own, beside the inverse dynamics inside it and Pinocchio's.

    python benchmarks/controllers.py [--calls N] [--rounds N] [--output FOLDER]

Panda, one state at a time, from Python. All take turns in each round; the best round of each counts.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import tempfile
import time
from collections.abc import Callable

import numpy as np

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures

ROUND_S = 2e-3
"""The length of a round, in s, at most: so short that the system interrupts few of them."""


def called(robot: cr.Robot) -> dict[str, Callable[[], object]]:
    """What is timed, by name."""
    q, qd, zero = robot.home() + 0.1, np.full(robot.nv, 0.1), np.zeros(robot.nv)
    motion = cr.plan(robot, [robot.home(), robot.home() + 0.2], times=2.0)
    pose = robot.pose(robot.home())
    controllers = {
        "gravity compensation": cr.GravityCompensation(robot),
        "PD, constant target": cr.PD(robot, robot.home()),
        "computed torque, constant target": cr.ComputedTorque(robot, robot.home()),
        "computed torque, motion": cr.ComputedTorque(robot, motion),
        "PID, motion": cr.PID(robot, motion),
        "computed torque, motion, with momentum observer": cr.Compensated(cr.ComputedTorque(robot, motion)),
        "impedance": cr.Impedance(robot, pose),
        "operational space": cr.OperationalSpace(robot, pose),
    }
    calls: dict[str, Callable[[], object]] = {"inverse dynamics": lambda: robot.inverse_dynamics(q, qd, zero)}
    calls |= {name: (lambda law=law: law(0.5, q, qd)) for name, law in controllers.items()}
    times = itertools.count()
    sampled = cr.Sampled(controllers["computed torque, motion"], 1e-3)
    calls["computed torque, motion, sampled"] = lambda: sampled(1e-3 * next(times), q, qd)
    path = robot.pose(robot.home() + 0.2 * np.sin(np.linspace(0.0, 2 * np.pi, 1000))[:, None] * np.ones(robot.nq))
    stream = robot.ik.stream(itertools.cycle(list(path)), robot.home())
    calls["inverse kinematics, stream of poses"] = lambda: next(stream)
    observer = cr.MomentumObserver(robot)
    velocity = cr.VelocityObserver(robot, resolution=1e-5, acceleration=10.0)
    calls |= {"momentum observer": lambda: observer(q, qd, zero), "velocity observer": lambda: velocity(q)}
    if importlib.util.find_spec("pinocchio"):
        import pinocchio

        with tempfile.TemporaryDirectory() as folder:
            robot.save(f"{folder}/robot.urdf")
            model = pinocchio.buildModelFromUrdf(f"{folder}/robot.urdf")
        data = model.createData()
        calls["inverse dynamics, Pinocchio"] = lambda: pinocchio.rnea(model, data, q, qd, zero)
    return calls


def main(count: int, rounds: int, output: str | None) -> None:
    calls = called(cr.load("panda"))
    best = dict.fromkeys(calls, np.inf)
    counts = {}
    for name, call in calls.items():
        call()
        began = time.perf_counter()
        call()
        counts[name] = min(count, max(1, int(ROUND_S / (time.perf_counter() - began))))
    for _ in range(rounds):
        for name, call in calls.items():
            began = time.perf_counter()
            for _ in range(counts[name]):
                call()
            best[name] = min(best[name], (time.perf_counter() - began) / counts[name] * 1e6)
    base = best["inverse dynamics"]
    print(f"{'one call from Python':50} {'us':>8} {'ratio':>8}")
    for name, cost in best.items():
        print(f"{name:50} {cost:8.2f} {cost / base:8.1f}")
    if output:
        write_figures(output, "controllers", {"microseconds a call": best})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    main(options.calls, options.rounds, options.output)
