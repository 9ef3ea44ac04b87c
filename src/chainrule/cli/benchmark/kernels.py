"""Compiled functions of a robot: a call, a batch, longer chains, larger batches, more threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.cli.benchmark.peers import Figures, is_installed, pinocchio_inverse_dynamics
from chainrule.cli.benchmark.timing import NANOSECONDS, BenchmarkStates, best
from chainrule.compile.kernel import Kernel
from chainrule.compile.runtime import threads
from chainrule.core.evaluation import kernel_of
from chainrule.model import Joint, Link, Model, Screw
from chainrule.robot.robot import Robot
from chainrule.spatial import Rotation, Symmetric, Transform, Vector

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "pose", "jacobian")
"""The functions that are measured: those that the other libraries have too."""

CHAIN_JOINTS = (5, 10, 20, 50, 100, 200)
BATCH_STATES = (1, 8, 64, 512, 4096, 32768, 131072, 1_000_000)
CHAIN_STATES = 4096


def measure_kernels(robot: Robot, states: int, seconds: float) -> Figures:
    """For each function: nanoseconds a call, and a state in a batch on one thread, on all, and in single precision."""
    many = BenchmarkStates(robot, states)
    table: Figures = {}
    for name in FUNCTIONS:
        arguments = many.arguments(name)
        one = [a[0].copy() for a in arguments]
        getattr(robot, name)(*one)
        call = getattr(robot, name)
        kernel = kernel_of(robot, name)
        single = [a.astype(np.float32) for a in arguments]
        out, out_single = kernel.spread(arguments), kernel.spread(single)
        row = {"call": best(lambda c=call, a=one: c(*a), seconds)}  # type: ignore[misc]
        threads.set_threads(1)
        row["batch"] = _batch(kernel, arguments, out, seconds)
        row["float32"] = _batch(kernel, single, out_single, seconds)
        threads.set_threads(None)
        row["threads"] = _batch(kernel, arguments, out, seconds)
        table[name] = {key: value * NANOSECONDS for key, value in row.items()}
        table[name]["flops"] = float(kernel.flops)
        table[name]["bytes"] = float(sum(a.nbytes for a in arguments) + out.nbytes) / states
        table[name]["compile"] = kernel.compile_seconds
    return table


def _batch(kernel: Kernel, arguments: list[NDArray[Any]], out: NDArray[Any], seconds: float) -> float:
    """Seconds a state of a batch, into an array that exists, on the threads that are set."""
    batch, ufunc = (len(out),), kernel.ufunc
    return best(lambda: threads.spread(ufunc, arguments, out, batch, kernel.flops, kernel.lanes), seconds) / len(out)


def snake(n: int) -> Robot:
    """A chain of n revolute joints about x and y in turn."""
    step = Transform(Rotation.identity(), Vector(0.0, 0.0, 0.1))
    axes = (Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0))
    body = (0.1, Vector(0.0, 0.0, 0.05), Symmetric(1e-4, 1e-4, 1e-5))
    links = [Link("base"), *(Link(f"link{i}", *body) for i in range(n))]
    joints = [
        Joint(f"joint{i}", links[i].name, f"link{i}", Screw.revolute(axes[i % 2], name="continuous"), step)
        for i in range(n)
    ]
    return Robot(Model.build(f"snake{n}", links, joints))


def measure_chains(joints: tuple[int, ...], seconds: float) -> list[dict[str, float]]:
    """Inverse dynamics of longer and longer chains: time to compile, and time a state, beside Pinocchio's call."""
    rows = []
    for n in joints:
        robot = snake(n)
        many = BenchmarkStates(robot, CHAIN_STATES)
        with without_cache():
            kernel = kernel_of(robot, "inverse_dynamics")
        arguments = many.arguments("inverse_dynamics")
        out, ufunc = kernel.spread(arguments), kernel.ufunc
        spent = best(lambda f=ufunc, a=arguments, o=out: f(*a, out=o), seconds) / CHAIN_STATES  # type: ignore[misc]
        row = {
            "joints": n,
            "compile": kernel.compile_seconds,
            "instructions": kernel.instructions,
            "batch": spent * NANOSECONDS,
        }
        if is_installed("pin"):
            row["pinocchio"] = pinocchio_inverse_dynamics(robot, many, seconds)
        rows.append(row)
    return rows


@contextmanager
def without_cache() -> Iterator[None]:
    """Kernels are compiled, not read from disk, so that the time to compile them is measured."""
    chosen = os.environ.get("CHAINRULE_CACHE")
    os.environ["CHAINRULE_CACHE"] = "off"
    try:
        yield
    finally:
        del os.environ["CHAINRULE_CACHE"]
        if chosen is not None:
            os.environ["CHAINRULE_CACHE"] = chosen


def measure_batches(robot: Robot, sizes: tuple[int, ...], seconds: float) -> list[dict[str, float]]:
    """Inverse dynamics through the Robot, as a user calls it, for larger and larger batches."""
    rows = []
    for size in sizes:
        arguments = BenchmarkStates(robot, size).arguments("inverse_dynamics")
        spent = best(lambda a=arguments: robot.inverse_dynamics(*a), seconds)  # type: ignore[misc]
        rows.append({"states": size, "batch": spent / size * NANOSECONDS})
    return rows


def measure_threads(robot: Robot, states: int, seconds: float) -> float:
    """Speed of all threads as a multiple of the speed of one, for inverse dynamics of a large batch."""
    kernel = kernel_of(robot, "inverse_dynamics")
    arguments = BenchmarkStates(robot, states).arguments("inverse_dynamics")
    out = kernel.spread(arguments)
    spent = []
    for count in (1, None):
        threads.set_threads(count)
        spent.append(_batch(kernel, arguments, out, 4 * seconds))
    return spent[0] / spent[1]
