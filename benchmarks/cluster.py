"""Torques of a data set from Parquet to Parquet on worker processes, and what a larger cluster would take.

    python benchmarks/cluster.py [--states N] [--files K] [--rounds R] [--quick] [--folder FOLDER] [--output FOLDER]

A data set of random states of a Panda is made in a temporary folder (float32, 84 bytes a state: 8.4 GB for 100 million)
and deleted at the end. One worker process and two compute its torques by turns, best of R rounds; the start of the
processes and the first compilation are not counted. The peak memory of a worker is its largest resident set. The
overhead of a Dask array is that of chunks of a million states in the memory of a worker, against the bare kernel there.
Bars: two workers at least 1.8 times as fast as one, less than 1 GB a worker, less than 25% overhead.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
import time
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.cluster.client import connect
from chainrule.cluster.stream import run_tasks
from chainrule.compile.runtime.threads import one_thread

ROBOT = "panda"
SPEEDUP_BAR, MEMORY_BAR_GB, OVERHEAD_BAR = 1.8, 1.0, 0.25
CHUNK_STATES = 1_000_000
BIG_STATES, BIG_CORES = 1e12, 1000


def column_names(robot: cr.Robot) -> list[str]:
    return [f"{kind}.{joint}" for kind in ("q", "qd", "qdd") for joint in robot.joint_names]


def random_states(robot: cr.Robot, seed: int, rows: int) -> np.ndarray:
    """Positions, velocities and accelerations, (21, rows)."""
    rng = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(seed,)))
    states = rng.random((3 * robot.nv, rows), dtype=np.float32)
    states *= 2
    states -= 1
    return states


def write_file(robot: cr.Robot, folder: Path, rows: int, number: int) -> int:
    """One file of the data set; its size in bytes."""
    import pyarrow
    from pyarrow import parquet

    path = folder / f"{number:05d}.parquet"
    table = pyarrow.table(dict(zip(column_names(robot), random_states(robot, number, rows), strict=True)))
    parquet.write_table(table, path, compression="none", use_dictionary=False, row_group_size=1 << 18)
    return path.stat().st_size


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.parquet"))


def peak_memory() -> int:
    """Bytes of the largest resident set of this process."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run(robot: cr.Robot, workers: int, source: Path, target: Path) -> dict[str, float]:
    """Seconds, and the peak memory of a worker, of the torques of a data set."""
    with connect(workers=workers) as client:
        warm_up(robot)
        client.run(warm_up, robot)
        os.sync()
        began = time.perf_counter()
        report = cr.dataset(source).torques(robot, target, cluster=client, compression="none", progress=False)
        spent = time.perf_counter() - began
        peak = max(client.run(peak_memory).values())
    assert len(report.written) == len(list(source.iterdir()))
    figures = {"seconds": spent, "peak_memory_gb": peak / 1e9, "written_bytes": folder_bytes(target)}
    shutil.rmtree(target)
    return figures


def warm_up(robot: cr.Robot) -> None:
    """A small data set: compiles the kernel, or loads it from the cache, and imports what reads and writes files."""
    with tempfile.TemporaryDirectory() as name, one_thread():
        folder = Path(name) / "states"
        folder.mkdir()
        write_file(robot, folder, 10_000, 0)
        cr.dataset(folder).torques(robot, Path(name) / "torques", progress=False)


def parts_of_a_task(robot: cr.Robot, file: Path, rounds: int) -> dict[str, float]:
    """Nanoseconds a state of reading, computing and writing, each by itself on one thread; best of several."""
    import pyarrow
    from pyarrow import parquet

    best: dict[str, float] = {}
    for _ in range(rounds):
        start = time.perf_counter()
        table = parquet.read_table(file, use_threads=False, memory_map=False)
        columns = [table.column(name).to_numpy() for name in table.column_names]
        read = time.perf_counter()
        q, qd, qdd = np.asarray(columns).reshape(3, robot.nv, -1).transpose(0, 2, 1)
        with one_thread():
            tau = robot.inverse_dynamics(q, qd, qdd)
        computed = time.perf_counter()
        results = pyarrow.table({f"tau.{k}": column for k, column in enumerate(tau.T)})
        parquet.write_table(results, file.with_suffix(".tau"), compression="none", use_dictionary=False)
        written = time.perf_counter()
        for name, seconds in {"read": read - start, "compute": computed - read, "write": written - computed}.items():
            best[name] = min(best.get(name, np.inf), seconds / len(tau) * 1e9)
    file.with_suffix(".tau").unlink()
    return best


def bare_kernel(robot: cr.Robot, states: list[np.ndarray]) -> float:
    """Seconds of the kernel itself on one chunk, on one thread."""
    with one_thread():
        began = time.perf_counter()
        robot.compiled.kernel("inverse_dynamics").ufunc(*states)
        return time.perf_counter() - began


def overhead(robot: cr.Robot, chunk: int, chunks: int) -> dict[str, float]:
    """Seconds of a Dask array's chunk of torques on a worker, and of the bare kernel on the same numbers there."""
    import dask.array
    from distributed import wait

    with connect(workers=1, memory="0") as client, client.as_current():
        states = [
            dask.array.map_blocks(
                _block, rows=chunk, width=robot.nv, offset=offset, dtype=float, chunks=((chunk,) * chunks, (robot.nv,))
            )
            for offset in range(3)
        ]
        states = list(client.persist(states))
        wait(states)
        first = [array.blocks[0].to_delayed().ravel()[0] for array in states]
        lazy, bare = [], []
        for order in permutations(states):  # other arguments each time: Dask would know the results of the same ones
            began = time.perf_counter()
            tau = client.persist(robot.inverse_dynamics(*order))
            wait(tau)
            lazy.append((time.perf_counter() - began) / chunks)
            del tau
            bare.append(client.submit(bare_kernel, robot, client.compute(first), pure=False).result())
    return {"chunk_ms": 1e3 * min(lazy), "kernel_ms": 1e3 * min(bare)}


def _block(rows: int, width: int, offset: int, block_info: Any = None) -> np.ndarray:
    number = block_info[None]["chunk-location"][0] if block_info else 0
    return np.random.default_rng([number, offset]).normal(size=(rows, width))


def tasks_per_second(count: int) -> float:
    """Empty tasks through client and scheduler, with so many threads on a worker that none waits for another."""
    with connect(workers=1, threads=64) as client:
        list(run_tasks(abs, range(200), client, progress=False))
        began = time.perf_counter()
        done = sum(1 for _ in run_tasks(abs, range(count), client, progress=False))
        return done / (time.perf_counter() - began)


def estimate(figures: dict[str, Any]) -> dict[str, float]:
    """Hours of each part of the work for BIG_STATES on BIG_CORES, if nothing but that part took time."""
    seconds = BIG_STATES / BIG_CORES * 1e-9
    parts = figures["parts_ns"]
    tasks = BIG_STATES * figures["read_bytes_per_state"] / figures["bytes_per_task"]
    whole = BIG_STATES / BIG_CORES / figures["states_per_core_second"]
    return {
        "compute_hours": seconds * parts["compute"] / 3600,
        "read_hours": seconds * parts["read"] / 3600,
        "write_hours": seconds * parts["write"] / 3600,
        "whole_hours": whole / 3600,
        "tasks": tasks,
        "scheduling_hours": tasks / figures["tasks_per_second"] / 3600,
        "read_terabytes": BIG_STATES * figures["read_bytes_per_state"] / 1e12,
        "written_terabytes": BIG_STATES * figures["written_bytes_per_state"] / 1e12,
        "storage_gb_per_s": BIG_STATES
        * (figures["read_bytes_per_state"] + figures["written_bytes_per_state"])
        / whole
        / 1e9,
    }


def measure(folder: Path, states: int, files: int, rounds: int, chunk: int) -> dict[str, Any]:
    robot = cr.load(ROBOT)
    source = folder / "states"
    source.mkdir()
    rows = states // files
    with connect(workers=2) as client:
        sizes = [
            outcome.value or 0
            for outcome in run_tasks(partial(write_file, robot, source, rows), range(files), client, progress=False)
        ]
    turns: dict[str, list[dict[str, float]]] = {"1": [], "2": []}
    for _ in range(rounds):
        for count, results in turns.items():
            results.append(run(robot, int(count), source, folder / "torques"))
            print(f"{count} worker(s): {results[-1]['seconds']:.1f} s", flush=True)
    seconds = {count: min(turn["seconds"] for turn in turns[count]) for count in turns}
    lazy = overhead(robot, chunk, 4)
    figures: dict[str, Any] = {
        "robot": ROBOT,
        "states": rows * files,
        "dataset_gb": sum(sizes) / 1e9,
        "seconds": seconds,
        "two_against_one": seconds["1"] / seconds["2"],
        "peak_memory_gb": max(turn["peak_memory_gb"] for count in turns for turn in turns[count]),
        "dask_array": lazy | {"overhead": lazy["chunk_ms"] / lazy["kernel_ms"] - 1},
        "states_per_core_second": rows * files / seconds["1"],
        "read_bytes_per_state": sum(sizes) / (rows * files),
        "written_bytes_per_state": turns["1"][0]["written_bytes"] / (rows * files),
        "bytes_per_task": sum(sizes) / files,
        "parts_ns": parts_of_a_task(robot, source / "00000.parquet", max(rounds, 3)),
        "tasks_per_second": tasks_per_second(2000),
    }
    return figures | {"estimate": estimate(figures)}


def show(figures: dict[str, Any]) -> None:
    lazy, parts, large = figures["dask_array"], figures["parts_ns"], figures["estimate"]
    seconds = figures["seconds"]
    print(f"{figures['states']:,} states of {ROBOT}, {figures['dataset_gb']:.2f} GB of Parquet, torques to Parquet")
    print(
        f"  one worker {seconds['1']:.1f} s, two {seconds['2']:.1f} s: ratio {figures['two_against_one']:.2f}x "
        f"(wanted: {SPEEDUP_BAR}x)"
    )
    print(f"  peak memory of a worker {figures['peak_memory_gb']:.2f} GB (wanted: less than {MEMORY_BAR_GB:.0f} GB)")
    print(
        f"  Dask array: {lazy['chunk_ms']:.1f} ms a chunk, the kernel {lazy['kernel_ms']:.1f} ms: overhead "
        f"{lazy['overhead']:.0%} (wanted: less than {OVERHEAD_BAR:.0%})"
    )
    print(
        f"  {figures['states_per_core_second'] / 1e6:.2f} million states a core-second; bytes a state: "
        f"{figures['read_bytes_per_state']:.0f} read, {figures['written_bytes_per_state']:.0f} written"
    )
    print(f"  ns a state: read {parts['read']:.0f}, compute {parts['compute']:.0f}, write {parts['write']:.0f}")
    print(f"  {figures['tasks_per_second']:.0f} empty tasks a second")
    print(f"Estimate for {BIG_STATES:.0e} states on {BIG_CORES:,} cores like these")
    print(
        f"  {large['whole_hours']:.2f} h in all; each part alone: compute {large['compute_hours']:.2f} h, read "
        f"{large['read_hours']:.2f} h, write {large['write_hours']:.2f} h"
    )
    print(f"  {large['tasks']:,.0f} tasks, for which the scheduler takes {large['scheduling_hours']:.2f} h")
    print(
        f"  {large['read_terabytes']:.0f} TB read and {large['written_terabytes']:.0f} TB written: the storage must "
        f"move {large['storage_gb_per_s']:.0f} GB/s"
    )


def main(states: int, files: int, rounds: int, chunk: int, place: str | None, output: str | None) -> None:
    folder = Path(tempfile.mkdtemp(prefix="chainrule-cluster-", dir=place))
    try:
        figures = measure(folder, states, files, rounds, chunk)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    show(figures)
    if output:
        write_figures(output, "cluster", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=100_000_000)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="few states, to see that it runs")
    parser.add_argument("--folder", help="where the data set is made; the temporary folder of the system unless given")
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    size = (20_000, 4, 1, 2000) if options.quick else (options.states, options.files, options.rounds, CHUNK_STATES)
    main(*size, options.folder, options.output)
