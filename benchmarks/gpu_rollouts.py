"""Simulations on a graphics processor: steps a second of many arms at once, and the gradient of a motion.

    python benchmarks/gpu_rollouts.py [--arms N]

Pandas under PD control take 500 steps of 1 ms with semi-implicit Euler; their start and their end are recorded. Starts
and results are arrays of CuPy, and a time is that of the whole call of `simulate`, checks and waiting included. Before,
a few motions of each kind are compared with the reference path in double precision. Of the 4,096 arms that learning
uses, the steps a second are those after the first, and the overhead is a call with a single step. Needs CuPy.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import chainrule as cr

STEPS, DT = 500, 1e-3
SIZES = (10.0, 10.0, 10.0, 10.0, 0.5, 0.5, 0.1)
"""The damping of each joint, in N m s/rad; stiffness and friction go with it."""
FEW_ARMS = 4096
"""Motions at once in learning."""
GRADIENT_ARMS, GRADIENT_STEPS = 65_536, 100
CHECKED_ARMS, CHECKED_STEPS = 33, 12
TOLERANCE = {32: 2e-4, 64: 1e-10}
"""Differences from the reference path, as a part of the largest number."""


def panda(rubs: bool = False) -> tuple[cr.Robot, dict[str, Any]]:
    """The arm, and the options of its simulation; one with friction that sticks and stops at its limits."""
    arm = cr.load("panda")
    options: dict[str, Any] = {"integrator": "semi_implicit_euler", "dt": DT}
    if rubs:
        arm = arm.edit(joints={"*": {"coulomb": 0.05 * np.array(SIZES), "viscous": 0.02 * np.array(SIZES)}})
        options["stops"] = cr.Stops(stiffness=1e3, damping=10.0)
    options["torque"] = cr.PD(arm, arm.home(), kp=10.0 * np.array(SIZES), kd=np.array(SIZES))
    return arm, options


def starts(arm: cr.Robot, rows: int, bits: int) -> tuple[Any, Any]:
    """Configurations around home, a third of the joints at rest."""
    import cupy

    rng = np.random.default_rng(rows)
    q = arm.home() + rng.uniform(-0.3, 0.3, (rows, arm.nq))
    qd = rng.uniform(-0.5, 0.5, (rows, arm.nv)) * (rng.random((rows, arm.nv)) > 1 / 3)
    return cupy.asarray(q, dtype=f"float{bits}"), cupy.asarray(qd, dtype=f"float{bits}")


def seconds(call: Callable[[], Any], rounds: int = 5) -> float:
    """The shortest time of a call that waits for its result."""
    import cupy

    times = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        call()
        cupy.cuda.Device().synchronize()
        times.append(time.perf_counter() - began)
    return min(times[1:])


def compare(found: Any, expected: Any, bits: int, what: str) -> None:
    """Stop where a result is not that of the reference path."""
    error = float(np.abs(np.asarray(found, dtype=float) - expected).max() / (1 + np.abs(expected).max()))
    if not error < TOLERANCE[bits]:
        raise SystemExit(f"{what} in float{bits} is off by {error:.2g}")
    print(f"  checked {what}, float{bits}: off by {error:.1e} at most", flush=True)


def check(arm: cr.Robot, options: dict[str, Any], bits: int, what: str) -> None:
    """Compare some motions with the reference path."""
    q, qd = starts(arm, CHECKED_ARMS, 64)
    duration = CHECKED_STEPS * DT
    expected = arm.reference.simulate(q.get(), qd.get(), duration, **options)
    found = arm.simulate(q.astype(f"float{bits}"), qd.astype(f"float{bits}"), duration, **options, device="cuda")
    for name in ("q", "qd", "qdd", "tau", "friction", "work"):
        compare(getattr(found, name).get(), getattr(expected, name), bits, f"{name} of {what}")


def rate(arm: cr.Robot, options: dict[str, Any], rows: int, bits: int, rounds: int) -> tuple[float, float]:
    """Steps a second, and the seconds of a call."""
    q, qd = starts(arm, rows, bits)
    elapsed = seconds(lambda: arm.simulate(q, qd, STEPS * DT, **options, record=STEPS, device="cuda"), rounds)
    return rows * STEPS / elapsed, elapsed


def gradient(bits: int, rounds: int) -> dict[str, float]:
    """The gradient of a number of the end of a motion, and how much longer than the motion it takes."""
    import cupy

    arm, options = panda()
    q, qd = starts(arm, CHECKED_ARMS, 64)
    few = {**options, "duration": CHECKED_STEPS * DT}
    motion = arm.sensitivities(q.astype(f"float{bits}"), qd.astype(f"float{bits}"), **few, device="cuda")
    weights = cupy.zeros(motion.q.shape, dtype=f"float{bits}")
    weights[:, -1] = 1.0
    forward = arm.reference.sensitivities(q.get(), qd.get(), **few).forward(["q0", "qd0"])
    found = motion.adjoint(weights)
    for name, (dq, _) in forward.items():
        compare(found[name].get(), dq[:, -1].sum(axis=-2), bits, f"gradient by {name}")
    q, qd = starts(arm, GRADIENT_ARMS, bits)
    whole = {**options, "duration": GRADIENT_STEPS * DT}
    weights = cupy.zeros((GRADIENT_ARMS, GRADIENT_STEPS + 1, arm.nq), dtype=f"float{bits}")
    weights[:, -1] = 1.0
    there = seconds(lambda: arm.simulate(q, qd, **whole, record=GRADIENT_STEPS, device="cuda"), rounds)
    back = seconds(lambda: arm.sensitivities(q, qd, **whole, device="cuda").adjoint(weights), rounds)
    return {f"rollout_gradient_f{bits}_ratio": back / there, f"rollout_gradient_f{bits}_ms": back * 1e3}


def measure(arms: int = 1 << 20, rounds: int = 3) -> dict[str, float]:
    """All rows."""
    rows: dict[str, float] = {}
    for bits in (32, 64):
        arm, options = panda()
        check(arm, options, bits, "a rollout")
        rows[f"rollout_f{bits}_G_steps_s"] = rate(arm, options, arms, bits, rounds)[0] / 1e9
        rows |= gradient(bits, rounds)
    arm, options = panda()
    _, elapsed = rate(arm, options, FEW_ARMS, 32, 20)
    overhead = _overhead(arm, options)
    rows["rollout_4096_f32_G_steps_s"] = FEW_ARMS * (STEPS - 1) / (elapsed - overhead) / 1e9
    rows["rollout_4096_f32_call_ms"], rows["rollout_4096_f32_overhead_us"] = elapsed * 1e3, overhead * 1e6
    arm, options = panda(rubs=True)
    check(arm, options, 32, "a rollout with friction and stops")
    rows["rollout_friction_stops_f32_G_steps_s"] = rate(arm, options, arms, 32, rounds)[0] / 1e9
    return rows


def _overhead(arm: cr.Robot, options: dict[str, Any]) -> float:
    """Seconds of a call with a single step, nearly all of which are spent outside of the kernel."""
    q, qd = starts(arm, FEW_ARMS, 32)
    return seconds(lambda: arm.simulate(q, qd, DT, **options, device="cuda"), 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", type=int, default=1 << 20)
    options = parser.parse_args()
    for name, value in measure(options.arms).items():
        print(f"{name:40} {value:10.4f}")


if __name__ == "__main__":
    main()
