"""Gradients inside other frameworks: a loss over many states through robot.torch and robot.jax, on one CPU thread.

    python benchmarks/frameworks.py [--robot panda] [--states N] [--rounds K] [--quick] [--output FOLDER]

The loss is the sum of the squares of the torques, its gradient by q, qd and qdd. Beside it, in the same framework: a
recursive Newton-Euler algorithm written with that framework's own operations on the whole batch, traced and compiled by
jax.jit, or recorded by PyTorch's autograd; and adam, where it is installed, whose torques are M qdd + h. All in double
precision; rounds alternate, and the best of each counts. CasADi: the time of one Jacobian, beside CasADi's own.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

from chainrule.robot.building import to_urdf

os.environ.setdefault("CHAINRULE_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import casadi
import jax
import jax.numpy as jnp
import numpy as np
import torch
from newton_euler import newton_euler

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.frameworks.casadi import expression
from chainrule.frameworks.operators import Operator

jax.config.update("jax_enable_x64", True)
torch.set_num_threads(1)


def adam_torques(
    robot: cr.Robot, framework: str, array: Callable[[Any], Any], states: int
) -> Callable[..., Any] | None:
    """M qdd + h of adam, on a batch; None where it is not installed."""
    try:
        if framework == "jax":
            from adam.jax import KinDynComputations
        else:
            from adam.pytorch import KinDynComputationsBatch as KinDynComputations
    except ImportError:
        return None
    options = {"dtype": torch.float64} if framework == "torch" else {}
    gravity = array(np.concatenate([robot.gravity, np.zeros(3)]))
    arm = KinDynComputations(to_urdf(robot), list(robot.joint_names), gravity=gravity, **options)

    def batch(q: Any, qd: Any, qdd: Any) -> Any:
        pose, still = array(np.tile(np.eye(4), (states, 1, 1))), array(np.zeros((states, 6)))
        M, h = arm.mass_matrix(pose, q), arm.bias_force(pose, q, still, qd)
        return (M[:, 6:, 6:] @ qdd[..., None])[..., 0] + h[:, 6:].reshape(states, -1)

    return batch


def best_of(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The best time of each call, in milliseconds; the calls take turns."""
    times = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            started = time.perf_counter()
            call()
            times[name] = min(times[name], time.perf_counter() - started)
    return {name: 1e3 * value for name, value in times.items()}


def gradients(
    framework: str, torques: dict[str, Callable[..., Any]], states: list[Any]
) -> dict[str, Callable[[], Any]]:
    """The gradient of the loss, as a call without arguments, for each function of torques."""
    made = {}
    for name, function in torques.items():
        if framework == "jax":
            gradient = jax.jit(jax.grad(lambda *x, f=function: (f(*x) ** 2).sum(), argnums=(0, 1, 2)))
            made[name] = lambda g=gradient: jax.block_until_ready(g(*states))
        else:
            made[name] = lambda f=function: torch.autograd.grad((f(*states) ** 2).sum(), states)
    return made


def measure(framework: str, robot: cr.Robot, state: list[Any], rounds: int) -> dict[str, float]:
    count = len(state[0])
    if framework == "jax":
        xp, array, given = jnp, jnp.asarray, [jnp.asarray(x) for x in state]
    else:
        xp, array, given = torch, torch.as_tensor, [torch.tensor(x, requires_grad=True) for x in state]
    torques = {"chainrule": getattr(robot, framework).inverse_dynamics, "plain": newton_euler(robot, xp, array)}
    peer = adam_torques(robot, framework, array, count)
    if peer is not None:
        torques["adam"] = peer
    calls = gradients(framework, torques, given)
    figures: dict[str, float] = {}
    expected = None
    for name, call in calls.items():
        started = time.perf_counter()
        found = [np.asarray(x) for x in call()]
        figures[f"{name}: first call, s"] = time.perf_counter() - started
        expected = found if expected is None else expected
        scale = max(np.abs(x).max() for x in expected)
        apart = max(np.abs(a - b).max() for a, b in zip(found, expected, strict=True)) / scale
        if apart > 1e-6:
            raise SystemExit(f"{framework}: the gradients of {name} differ from ours by {apart:.1e}")
    times = best_of(calls, rounds)
    print(f"{framework}: gradient of a loss over {count} states of {robot.name}, milliseconds")
    for name, value in times.items():
        ratio = "" if name == "chainrule" else f"   ratio {value / times['chainrule']:.1f}"
        print(f"  {name:10} {value:9.3f}   first call {figures[f'{name}: first call, s']:.2f} s{ratio}")
    return figures | {f"{name}: gradient, ms": value for name, value in times.items()}


def measure_casadi(robot: cr.Robot, state: list[Any], rounds: int) -> dict[str, float]:
    function = robot.casadi.function("inverse_dynamics")
    operator = Operator.find(robot.casadi.plan("inverse_dynamics", ("q", "qd", "qdd"), ()).key)
    symbols = [casadi.SX.sym(f"x{k}", robot.nv) for k in range(3)]
    plain = casadi.Function("plain", symbols, [expression(operator.tape, symbols)])
    one = [x[0] for x in state]
    jacobians = {"chainrule": function.jacobian(), "casadi": plain.jacobian()}
    buffers = {name: _in_place(jacobian, one) for name, jacobian in jacobians.items()}
    times = best_of(buffers, 50 * rounds)
    print(f"casadi: Jacobian of inverse dynamics of {robot.name}, microseconds a call, instructions")
    for name, value in times.items():
        ratio = "" if name == "chainrule" else f"   ratio {value / times['chainrule']:.1f}"
        print(f"  {name:10} {1e3 * value:9.2f}   {jacobians[name].n_instructions()}{ratio}")
    return {f"{name}: Jacobian, us": 1e3 * value for name, value in times.items()}


def _in_place(function: casadi.Function, one: list[Any]) -> Callable[[], Any]:
    """A call that reads and writes fixed memory, without conversions."""
    buffer, evaluate = function.buffer()
    kept = [np.ascontiguousarray(x) for x in (*one, np.zeros(len(one[0])))]
    kept += [np.zeros(function.nnz_out(k)) for k in range(function.n_out())]
    for k in range(function.n_in()):
        buffer.set_arg(k, memoryview(kept[k]))
    for k in range(function.n_out()):
        buffer.set_res(k, memoryview(kept[function.n_in() + k]))
    return lambda keep=(buffer, kept): evaluate()


def main(name: str, states: int, rounds: int, output: str | None) -> None:
    robot = cr.load(name).without_friction().edit(joints={"*": {"rotor": 0}}).merge_fixed()
    rng = np.random.default_rng(0)
    state = [robot.random_state(rng, (states,)), *rng.normal(size=(2, states, robot.nv))]
    figures = {framework: measure(framework, robot, state, rounds) for framework in ("torch", "jax")}
    figures["casadi"] = measure_casadi(robot, state, rounds)
    if output:
        write_figures(output, "frameworks", {"robot": name, "states": states, **figures})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="panda")
    parser.add_argument("--states", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="a small robot and few states, as a test")
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    if options.quick:
        options.robot, options.states, options.rounds = "planar_2r", 8, 2
    main(options.robot, options.states, options.rounds, options.output)
