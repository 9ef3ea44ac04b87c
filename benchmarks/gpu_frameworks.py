"""robot.jax and robot.torch on a GPU: inverse dynamics in single precision, checked and timed, beside peers.

    python benchmarks/gpu_frameworks.py [--states N] [--rounds K]

Peers: a recursive Newton-Euler algorithm written in JAX for one state, under vmap and jit; frax, where it is installed,
on its own Panda. Each function computes fresh random states. Peers take a sixteenth of the states, at which they are no
slower: for 1 M and 4 M states an H200 gave 0.136 and 0.123 G/s for the plain algorithm, 0.112 and 0.108 for frax.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from newton_euler import newton_euler

import chainrule as cr

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # PyTorch and CuPy need memory as well

TOLERANCE = 1e-4
PEERS_TOLERANCE = 1e-2
"""Difference from the CPU's torques in double precision, as a part of the largest torque.

Peers multiply matrices, which JAX does with fewer digits on a GPU unless it is told otherwise.
"""

CHECKED = 1000
"""States whose torques are compared with the CPU's; the last ones, so that the tail of a batch is among them."""


def random_states(robot: cr.Robot, count: int) -> list[Any]:
    """q, qd and qdd."""
    rng = np.random.default_rng()
    return [rng.standard_normal((count, robot.nv), dtype=np.float32) for _ in range(3)]


def refuse_difference(name: str, found: Any, robot: cr.Robot, states: list[Any], tolerance: float = TOLERANCE) -> None:
    """Stop where torques differ from the CPU's."""
    expected = robot.inverse_dynamics(*(np.asarray(x[-CHECKED:], dtype=float) for x in states))
    apart = np.abs(np.asarray(found)[-CHECKED:] - expected).max() / np.abs(expected).max()
    if not apart < tolerance:
        raise SystemExit(f"{name}: torques differ from the CPU's by {apart:.1e} of the largest")


def best_seconds(call: Callable[[], Any], wait: Callable[[Any], Any], rounds: int, repeats: int = 10) -> float:
    """Best mean time of a call; `repeats` calls are under way before the clock stops."""
    wait(call())
    best = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        for _ in range(repeats):
            result = call()
        wait(result)
        best = min(best, (time.perf_counter() - started) / repeats)
    return best


def measure_jax(
    name: str,
    function: Callable[..., Any],
    robot: cr.Robot,
    count: int,
    rounds: int,
    tolerance: float = TOLERANCE,
) -> float:
    """States a second of a function of JAX, in billions."""
    import jax

    states = random_states(robot, count)
    given = [jax.device_put(x) for x in states]
    compiled = jax.jit(function)
    refuse_difference(name, compiled(*given), robot, states, tolerance)
    return count / best_seconds(lambda: compiled(*given), jax.block_until_ready, rounds) / 1e9


def measure_torch(robot: cr.Robot, count: int, rounds: int) -> float:
    """States a second of robot.torch, in billions."""
    import torch

    states = random_states(robot, count)
    given = [torch.from_numpy(x).cuda() for x in states]
    function = robot.torch.inverse_dynamics
    refuse_difference("robot.torch", function(*given).cpu(), robot, states)
    return count / best_seconds(lambda: function(*given), lambda _: torch.cuda.synchronize(), rounds) / 1e9


def frax_torques() -> tuple[Callable[..., Any], cr.Robot] | None:
    """The vmapped algorithm of frax on its Panda, and the same robot here; None where frax is not installed."""
    try:
        from frax import assets
        from frax.robots.franka_panda import load_panda
    except ImportError:
        return None
    import jax
    import jax.numpy as jnp

    arm = load_panda()
    gravity = jnp.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])
    path = f"{assets.__path__[0]}/franka_panda/panda.urdf"
    robot = cr.load(path, check=False)
    return jax.vmap(lambda q, qd, qdd: arm.rnea(q, qd, qdd, gravity, None)), robot


def measure(count: int = 1 << 24, rounds: int = 5) -> dict[str, float]:
    """All rows: billions of states a second, and how many times those of peers."""
    import jax

    robot = cr.load("panda").without_friction()
    rows = {
        "jax inverse_dynamics G/s": measure_jax("robot.jax", robot.jax.inverse_dynamics, robot, count, rounds),
        "torch inverse_dynamics G/s": measure_torch(robot, count, rounds),
    }
    plain = jax.vmap(newton_euler(robot, jax.numpy, lambda x: jax.numpy.asarray(x, np.float32)))
    peers = {"plain jax": (plain, robot), "frax": frax_torques()}
    for name, peer in peers.items():
        if peer is not None:
            own = measure_jax(name, *peer, count // 16, rounds, PEERS_TOLERANCE)
            rows[f"{name} inverse_dynamics G/s"] = own
            for framework in ("jax", "torch"):
                rows[f"{framework} / {name}"] = rows[f"{framework} inverse_dynamics G/s"] / own
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=1 << 24)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for name, value in measure(options.states, options.rounds).items():
        print(f"{name:34} {value:10.4f}")


if __name__ == "__main__":
    main()
