"""`chainrule bench`: speed of a robot's functions, beside other libraries in the same run."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from chainrule.arguments import refuse_beyond_memory
from chainrule.cli.benchmark.figures import plot_figures, write_figures
from chainrule.cli.benchmark.kernels import (
    BATCH_STATES,
    CHAIN_JOINTS,
    measure_batches,
    measure_chains,
    measure_kernels,
    measure_threads,
)
from chainrule.cli.benchmark.machine import measure_peaks
from chainrule.cli.benchmark.peers import is_installed, measure_peers
from chainrule.cli.console import (
    ConsoleTable,
    PositiveNumber,
    command,
    json_option,
    plain,
    print_json,
    progress,
    report_files,
    robot_options,
    terminal,
)
from chainrule.compile.runtime import engine
from chainrule.errors import ModelError, ShapeError
from chainrule.robot.robot import Robot

MAX_SECONDS = 3600.0
"""The longest time for a figure."""

NUMBERS_PER_STATE = 12
"""Numbers that a measurement keeps of each state, for each degree of freedom: arguments, answers and copies."""


@command(
    "chainrule bench planar_2r --states 4096 --seconds 0.01 --quick",
    "chainrule bench pendulum --states 4096 --seconds 0.01 --quick --json",
    "chainrule bench planar_2r --states 4096 --seconds 0.01 --quick --output figures",
)
@click.option(
    "--states", default=131_072, show_default=True, type=click.IntRange(1), metavar="COUNT", help="States in a batch."
)
@click.option(
    "--seconds",
    default=0.5,
    show_default=True,
    type=PositiveNumber("seconds"),
    help="Time for each figure.",
)
@click.option("--quick", is_flag=True, help="Leave out the growth with joints and batch size.")
@click.option("--output", type=click.Path(file_okay=False), help="A folder for the figures, as JSON and a plot.")
@json_option
@partial(robot_options, default="panda")
def bench(robot: Robot, states: int, seconds: float, quick: bool, output: str | None, as_json: bool) -> None:
    """Measure speed, beside Pinocchio, MuJoCo and modern_robotics where they are installed."""
    with progress("measuring") as at:
        results = run(robot, states=states, seconds=seconds, quick=quick, at=at)
    if as_json:
        print_json(results)
    else:
        show(results)
    if output:
        report_files(*save(results, Path(output)))


def run(
    robot: Robot,
    *,
    states: int = 131_072,
    seconds: float = 0.5,
    quick: bool = False,
    at: Callable[[str], None] = lambda step: None,
) -> dict[str, Any]:
    """All measurements of one robot; `quick` leaves out the growth with joints and batch, `at` is told each step."""
    if not 0 < seconds <= MAX_SECONDS:
        raise ShapeError(f"--seconds must be a time up to {MAX_SECONDS:g} s, got {seconds:g}")
    if not robot.nv:
        raise ModelError(f"robot {robot.name!r} has no degrees of freedom, so there is nothing to measure")
    refuse_beyond_memory(float(states) * robot.nv * (robot.nv + NUMBERS_PER_STATE), f"bench: {states} states")
    bare = robot.without_friction().edit(joints={"*": {"rotor": 0}})
    at("the machine")
    machine = {
        "cpu": engine.cpu(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    results: dict[str, Any] = {"robot": robot.name, "machine": machine, "states": states}
    results["peak"] = measure_peaks(seconds)
    at("compiled functions")
    results["chainrule"] = measure_kernels(bare, states, seconds)
    at("other libraries")
    results["peers"] = measure_peers(bare, states, seconds)
    if not quick:
        at("longer chains")
        results["joints"] = measure_chains(CHAIN_JOINTS, seconds)
        at("larger batches")
        results["batches"] = measure_batches(bare, BATCH_STATES, seconds)
        at("threads")
        results["scaling"] = measure_threads(bare, BATCH_STATES[-1], seconds)
    return results


def show(results: dict[str, Any]) -> None:
    """Print the tables."""
    console = terminal()
    machine = results["machine"]
    console.print(
        f"{plain(results['robot'])}, {results['states']} states; {machine['cpu']}, "
        f"{machine['cores']} cores; nanoseconds"
    )
    console.print(_functions(results))
    console.print(
        "batch ratio and call fraction: against a call of Pinocchio from Python; peers' figures are their calls"
    )
    for name, peer in results["peers"].items():
        if "refused" in peer:
            console.print(f"{name} does not take this robot: {peer['refused']}", markup=False)
        elif name == "pinocchio":
            pools = {f: row for f, row in peer.items() if isinstance(row, dict) and "batch" in row}
            for function, row in pools.items():
                ours = results["chainrule"][function]
                ratios = (
                    f"{row['batch'] / ours['batch']:.1f}x on one thread, {row['threads'] / ours['threads']:.1f}x on all"
                )
                console.print(
                    f"Pinocchio's own pool, {function}: {row['batch']:.0f} and {row['threads']:.0f}; {ratios}"
                )
    for row in results.get("joints", ()):
        ratio = f", {row['pinocchio'] / row['batch']:.1f}x Pinocchio's call" if "pinocchio" in row else ""
        console.print(
            f"{row['joints']:4} joints: compiled in {row['compile']:.2f} s, {row['batch']:.0f} ns a state{ratio}"
        )
    for row in results.get("batches", ()):
        console.print(f"batch of {row['states']:8}: {row['batch']:.1f} ns a state")
    if "scaling" in results:
        states = BATCH_STATES[-1]
        console.print(f"all {machine['cores']} threads against one, batch of {states}: {results['scaling']:.2f}x")


def _functions(results: dict[str, Any]) -> ConsoleTable:
    """A row for each function: our figures, those of other libraries, ratios, and the share of the machine's peak."""
    peers = {name: peer for name, peer in results["peers"].items() if "refused" not in peer}
    table = ConsoleTable("", "call", "batch", "threads", "float32", *peers, "batch ratio", "call fraction", "peak")
    pin = peers.get("pinocchio", {})
    for name, row in results["chainrule"].items():
        theirs = pin.get(name, {}).get("call")
        share = max(
            row["flops"] / row["batch"] / (results["peak"]["flops"] / 1e9),
            row["bytes"] / row["batch"] / (results["peak"]["bytes"] / 1e9),
        )
        table.add_row(
            name,
            *(f"{row[key]:.1f}" for key in ("call", "batch", "threads", "float32")),
            *(f"{peer[name]['call']:.0f}" if name in peer else "-" for peer in peers.values()),
            f"{theirs / row['batch']:.1f}x" if theirs else "-",
            f"{row['call'] / theirs:.2f}" if theirs else "-",
            f"{share:.0%}",
        )
    return table


def save(results: dict[str, Any], folder: Path) -> list[Path]:
    """Write the figures as JSON and, where Matplotlib is installed, a plot."""
    paths = [write_figures(folder, results["robot"], results)]
    if is_installed("matplotlib") and "joints" in results:
        paths.append(plot_figures(results, folder / f"{results['robot']}.png"))
    return paths
