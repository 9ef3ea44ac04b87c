"""The tables of `speed.md`, from the figures in `benchmarks/results`: nothing on that page is typed by hand."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
WORDS = {"jacobian": "Jacobian"}
PEERS = {"pinocchio": "Pinocchio", "mujoco": "MuJoCo", "modern_robotics": "Modern Robotics"}


def results(name: str) -> dict[str, Any]:
    """The figures of a benchmark."""
    figures: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return figures


def recorded(name: str) -> str:
    """When and with what the figures were recorded: their own date, or that of the commit that brought them."""
    command = ["git", "log", "-1", "--format=%as", "--", f"{name}.json"]
    try:
        done = subprocess.run(command, cwd=RESULTS, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        done = ""
    date = results(name).get("date") or done
    return f"*Recorded {date}, `benchmarks/results/{name}.json`.*" if date else f"*`benchmarks/results/{name}.json`.*"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def processor() -> str:
    """One call and a batch, beside the peers."""
    figures = results("panda")
    ours, peers = figures["chainrule"], figures["peers"]
    names = list(peers)
    head = ["Panda", "one call", f"a state in a batch of {figures['states']:,}", "in float32", "two threads"]
    head += [f"{PEERS[name]} {peers[name]['version']}, one call" for name in names]
    rows = []
    for function, row in ours.items():
        cells = [_ns(row[key]) for key in ("call", "batch", "float32", "threads")]
        others = [_ns(peers[name].get(function, {}).get("call")) for name in names]
        rows.append([_words(function), *cells, *others])
    machine = figures["machine"]
    said = (
        f"One core of a processor of the kind {machine['cpu']}, Python {machine['python']}, NumPy {machine['numpy']}."
    )
    return f"{table(head, rows)}\n\n{said} {recorded('panda')}"


def joints() -> str:
    """Inverse dynamics of chains of many joints."""
    head = ["joints", "the first call compiles for", "a state in a batch", "Pinocchio, one call", "ratio"]
    rows = [
        [str(row["joints"]), f"{row['compile']:.2f} s", _ns(row["batch"]), _ns(row["pinocchio"]), _ratio(row["pinocchio"], row["batch"])]
        for row in results("panda")["joints"]
    ]  # fmt: skip
    return f"{table(head, rows)}\n\n{recorded('panda')}"


def simulation() -> str:
    """Whole simulations beside a peer's loop."""
    figures = results("rollouts")
    ours, theirs = figures["mujoco_rollout"], figures["pinocchio_loop"]
    steps = figures["rows"] * figures["steps"]
    rows = [
        [f"{figures['rows']:,} Pandas, {figures['steps']} steps of semi-implicit Euler, one thread", "`mujoco.rollout`, contacts off",
         f"{ours['chainrule'] / steps * 1e9:.0f} ns a step", f"{ours['mujoco'] / steps * 1e9:.0f} ns a step",
         _ratio(ours["mujoco"], ours["chainrule"]), f"{ours['difference']:.0e}"],
        [f"one Panda under computed torque, {figures['long']:,} steps of RK4", "a Python loop over `pinocchio.aba`",
         f"{theirs['chainrule'] / figures['long'] * 1e6:.1f} us a step",
         f"{theirs['pinocchio'] / figures['long'] * 1e6:.1f} us a step",
         _ratio(theirs["pinocchio"], theirs["chainrule"]), f"{theirs['difference']:.0e}"],
    ]  # fmt: skip
    return f"{table(['what', 'beside', 'chainrule', 'the other', 'ratio', 'largest difference'], rows)}\n\n{recorded('rollouts')}"


def inverse_kinematics() -> str:
    """Poses that are reached, and the time that takes."""
    rows = []
    for robot, row in results("inverse_kinematics").items():
        ours = row["chainrule"]
        others = [
            f"{row[name]['microseconds']:.0f} us, {_ratio(row[name]['microseconds'], ours['microseconds'])}"
            for name in ("pinocchio", "toolbox")
        ]
        rows.append([robot, f"{ours['solved']:.0%}", f"{ours['microseconds']:.1f} us", *others])
    head = ["arm", "solved", "a pose in a batch", "a loop around Pinocchio", "Robotics Toolbox `ik_LM`"]
    return f"{table(head, rows)}\n\n{recorded('inverse_kinematics')}"


def graphics_processor() -> str:
    """Every figure of the device that has a share of the copy's bandwidth, and the simulations."""
    figures = results("h200")
    functions = [name.removesuffix("_f32_G_s") for name in figures if name.endswith("_f32_G_s")]
    rows = []
    for name in functions:
        cells = []
        for kind in ("f32", "f64"):
            speed, share = figures.get(f"{name}_{kind}_G_s"), figures.get(f"{name}_{kind}_copy_share")
            cells += ["" if speed is None else f"{speed:.1f} G/s", "" if share is None else f"{share:.0%}"]
        rows.append([_words(name), *cells])
    head = ["states of a Panda a second", "float32", "share of the copy", "float64", "share of the copy"]
    said = (
        f"{figures['machine']}; a copy moves {figures['copy_TB_s']:.2f} TB/s there. Simulation: "
        f"{figures['rollout_f32_G_steps_s']:.1f} G steps/s in float32, {figures['rollout_f64_G_steps_s']:.1f} G in float64, "
        f"{figures['rollout_vs_mjx']:.0f} times MJX on that device. Inverse kinematics: {figures['ik_f32_M_s']:.0f} M poses/s, "
        f"{figures['ik_f32_success']:.3%} solved. Inverse dynamics inside JAX: {figures['jax_vs_frax']:.0f} times frax, "
        f"{figures['jax_vs_plain_jax']:.0f} times the same algorithm in plain JAX."
    )
    return f"{said}\n\n{table(head, rows)}\n\n{recorded('h200')}"


def cluster() -> str:
    """A data set that memory does not hold."""
    figures = results("cluster")
    one, two = figures["seconds"]["1"], figures["seconds"]["2"]
    return (
        f"Torques of {figures['states']:,} states of a Panda, {figures['dataset_gb']:.1f} GB of Parquet, into Parquet: {one:.0f} s on "
        f"one worker process, {two:.0f} s on two, {figures['peak_memory_gb']:.2f} GB a worker. {recorded('cluster')}"
    )


def losses() -> str:
    """What others do faster: every such row of the results, the worst size of each function."""
    worst: dict[tuple[str, str], tuple[float, int]] = {}
    for robot, entry in results("sizes").items():
        for function, row in entry["functions"].items():
            for size in row.get("rows", ()):
                ratio = size.get("over_pinocchio")
                if ratio is not None and ratio < 1:
                    worst[robot, function] = min(worst.get((robot, function), (ratio, 0)), (ratio, size["states"]))
    rows = [
        [robot, _words(function), f"{states:,}", f"{1 / ratio:.1f} times as fast as chainrule"]
        for (robot, function), (ratio, states) in sorted(worst.items(), key=lambda item: item[1])
    ]
    return f"{table(['robot', 'function', 'states in the batch', 'Pinocchio is'], rows)}\n\n{recorded('sizes')}"


def other_losses() -> str:
    """What others do faster or better outside of single functions."""
    lines = []
    for robot, row in results("inverse_kinematics").items():
        ours, theirs = row["seconds"]["chainrule"], row["seconds"]["toolbox"]
        for key, other, words in (
            ("near", "near", "one pose near the initial guess"),
            ("1", "one", "one pose anywhere"),
        ):
            if ours[key] > theirs[other]:
                lines.append(
                    f"- Inverse kinematics of {words}, {robot}: Robotics Toolbox {theirs[other] * 1e6:.0f} us, "
                    f"chainrule {ours[key] * 1e6:.0f} us."
                )
    motions = results("motions")
    paths = [motions[name] for name in motions if name.startswith("path_")]
    slower = [path["chainrule_seconds"] / path["toppra_seconds"] for path in paths]
    longer = [path["chainrule_duration"] / path["toppra_duration"] - 1 for path in paths]
    lines.append(
        f"- Time-optimal motions along a path: TOPP-RA takes {1e3 * min(path['toppra_seconds'] for path in paths):.0f} ms where "
        f"`cr.plan` takes {min(slower):.1f} to {max(slower):.1f} times as long, and its motions are up to {max(longer):.2%} shorter."
    )
    fewer = []
    for robot, entry in results("equations")["robots"].items():
        for numbers, forms in entry.items():
            totals = {name: _total(form) for name, form in forms.items()}
            ours = [n for name, n in totals.items() if n and not name.startswith(("SymPy", "Toolbox"))]
            others = [(n, name) for name, n in totals.items() if n and name.startswith(("SymPy", "Toolbox"))]
            if others and ours and min(others)[0] < min(ours):
                fewer.append(f"{robot} ({numbers}): {min(others)[1]} {min(others)[0]}, chainrule {min(ours)}")
    if fewer:
        lines.append("- Operations of inverse dynamics in closed form: " + "; ".join(fewer) + ".")
    files = ", ".join(f"`{name}.json`" for name in ("inverse_kinematics", "motions", "equations"))
    return "\n".join(lines) + f"\n\nFrom {files}."


def _total(form: Any) -> int | None:
    found = form.get("inverse_dynamics") if isinstance(form, dict) else None
    total: int | None = found["operations"]["total"] if found else None
    return total


def _ns(time: float | None) -> str:
    if time is None:
        return ""
    return (
        f"{time:.0f} ns" if time >= 100 and time < 1e5 else f"{time:.1f} ns" if time < 100 else f"{time / 1e3:,.0f} us"
    )


def _ratio(other: float, ours: float) -> str:
    return f"{other / ours:.0f}x"


def _words(function: str) -> str:
    return WORDS.get(function, function.replace("_", " "))
