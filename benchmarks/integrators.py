"""What each integrator does to energy: free swings without friction, against the step, the tolerance and the time.

    python benchmarks/integrators.py [--small] [--output FOLDER]

Prints tables with the order of each method as it is measured, and writes integrators.json, integrators.png and
long_run.png into a folder. The error is the largest change of energy, as a share of the range of the kinetic energy.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.simulation.integrators import ADAPTIVE, INTEGRATORS, METHODS

SWINGS = {  # robot: start, seconds
    "double_pendulum": ([1.5, 0.5], 2.0),
    "panda": ([0.3, -0.5, 0.2, -2.0, 0.1, 1.6, 0.4], 1.0),
}
STEPS = tuple(1e-4 * 2**k for k in range(8))
TOLERANCES = tuple(10.0**-k for k in range(3, 12))
ORDERS = {"euler": 1, "semi_implicit_euler": 1, "implicit_midpoint": 2, "rk4": 4}
CLEAR = (1e-13, 5e-2)
"""Errors between rounding and the size of the motion itself, from which an order can be read."""


def drift(motion: cr.Trajectory) -> np.ndarray:
    """The change of energy over time, as a share of the range of the kinetic energy."""
    return motion.energy_error / np.ptp(motion.kinetic_energy)


def measure(robot: cr.Robot, start: list[float], duration: float, rounds: int, integrator: Any) -> dict[str, float]:
    """The energy error of a motion, and how long it takes to compute, compiling left out."""
    spent = np.inf
    for _ in range(rounds + 1):
        began = time.perf_counter()
        try:
            motion = robot.simulate(start, None, duration, integrator=integrator)
        except cr.SimulationError:
            return {"error": np.nan, "seconds": np.nan}
        spent = min(spent, time.perf_counter() - began)
    return {"error": float(np.abs(drift(motion)).max()), "seconds": spent}


def order(x: tuple[float, ...], errors: list[float]) -> float:
    """The slope of the errors over x in logarithms, where they are clear: the median from point to point."""
    logs = np.log(np.stack([x, errors]))
    clear = (logs[1] > np.log(CLEAR[0])) & (logs[1] < np.log(CLEAR[1]))
    run, rise = np.diff(logs[:, clear])
    return float(np.median(rise / run)) if clear.sum() > 1 else np.nan


def swings(steps: tuple[float, ...], tolerances: tuple[float, ...], rounds: int) -> dict[str, dict]:
    """Every method on every robot."""
    results: dict[str, dict] = {}
    for name, (start, duration) in SWINGS.items():
        robot = cr.load(name).without_friction()
        rows: dict[str, dict] = {}
        for method in ORDERS:
            runs = [measure(robot, start, duration, rounds, INTEGRATORS[method](dt=h)) for h in steps]
            errors, seconds = ([run[key] for run in runs] for key in ("error", "seconds"))
            rows[method] = {"dt": steps, "error": errors, "seconds": seconds, "order": order(steps, errors)}
        robot.simulate(start, None, 0.01, integrator="dop853")  # compiles what all three call
        for method in ADAPTIVE:
            runs = [
                measure(robot, start, duration, rounds // 3, INTEGRATORS[method](dt=1e-2, rtol=tol, atol=tol / 100))
                for tol in tolerances
            ]
            errors, seconds = ([run[key] for run in runs] for key in ("error", "seconds"))
            rows[method] = {"rtol": tolerances, "error": errors, "seconds": seconds}
        results[name] = {"start": start, "duration": duration, "methods": rows}
    return results


def long_run(duration: float, dt: float) -> dict:
    """The double pendulum for a long time: energy error over time, by three methods."""
    robot, start = cr.load("double_pendulum"), SWINGS["double_pendulum"][0]
    results = {}
    for method in ("implicit_midpoint", "rk4", "semi_implicit_euler"):
        motion = robot.simulate(start, None, duration, integrator=method, dt=dt)
        share = drift(motion)[1:].reshape(200, -1)
        results[method] = {
            "t": motion.t[1:].reshape(200, -1).mean(axis=1).tolist(),
            "largest": np.abs(share).max(axis=1).tolist(),
        }
    return {"dt": dt, "duration": duration, "methods": results}


def print_tables(results: dict[str, dict], runs: list[dict]) -> None:
    """Tables of the errors."""
    for name, result in results.items():
        methods = result["methods"]
        print(f"{name}, free swing of {result['duration']:g} s: energy error over the range of the kinetic energy")
        print(f"{'dt, ms':22}" + "".join(f"{1e3 * h:9.1f}" for h in methods["rk4"]["dt"]) + f"{'order':>8}")
        for method in ORDERS:
            row = methods[method]
            print(f"{method:22}" + "".join(f"{e:9.0e}" for e in row["error"]) + f"{row['order']:8.2f}")
        print(f"{'rtol':22}" + "".join(f"{tol:9.0e}" for tol in methods["radau"]["rtol"]))
        for method in ADAPTIVE:
            print(f"{method:22}" + "".join(f"{e:9.0e}" for e in methods[method]["error"]))
        print()
    for run in runs:
        steps = f"in steps of {1e3 * run['dt']:g} ms"
        print(f"double_pendulum for {run['duration']:g} s {steps}: largest energy error in each quarter of the time")
        for method, row in run["methods"].items():
            parts = [max(part) for part in np.array_split(row["largest"], 4)]
            print(f"{method:22}" + "".join(f"{e:9.1e}" for e in parts))


# --- pictures ---

COLORS = {
    "euler": "tab:brown", "semi_implicit_euler": "tab:orange", "implicit_midpoint": "tab:green", "rk4": "tab:blue",
    "dop853": "tab:purple", "radau": "tab:red", "lsoda": "tab:gray",
}  # fmt: skip
MARKS = dict(zip(COLORS, "vso^DPX", strict=True))


def figure(rows: int, columns: int, size: tuple[float, float]) -> tuple:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)


def draw_swings(results: dict[str, dict], path: Path) -> None:
    """Energy error against step, tolerance and computing time, a row of pictures for each robot."""
    drawn, axes = figure(len(results), 3, (15, 4.6 * len(results)))
    for (name, result), (left, middle, right) in zip(results.items(), axes, strict=True):
        for method, row in result["methods"].items():
            axis, x = (left, np.array(row["dt"]) * 1e3) if "dt" in row else (middle, row["rtol"])
            label = f"{method}, order {row['order']:.1f}" if "order" in row else method
            style = {"color": COLORS[method], "marker": MARKS[method], "markersize": 5}
            axis.loglog(x, row["error"], label=label, **style)
            per_second = np.array(row["seconds"]) / result["duration"] * 1e3
            right.loglog(per_second, row["error"], label=method, **style)
        left.set(xlabel="step, ms", ylabel="energy error / range of kinetic energy")
        left.set_title(f"{name}, {result['duration']:g} s: fixed steps")
        middle.set(xlabel="relative tolerance", title="steps of the integrator's choice")
        middle.invert_xaxis()
        right.set(xlabel="computing time for each second of motion, ms", title="what accuracy costs (same colours)")
        for axis in (left, middle, right):
            axis.set_ylim(1e-16, 3)
            axis.grid(which="major", alpha=0.3)
        left.legend(fontsize=9, loc="lower right")
        middle.legend(fontsize=9, loc="lower left")
    drawn.savefig(path, dpi=110)


def draw_long_runs(runs: list[dict], path: Path) -> None:
    """The largest energy error in each of 200 stretches of time, a picture for each step."""
    drawn, (axes,) = figure(1, len(runs), (6.5 * len(runs), 4.8))
    for axis, run in zip(axes, runs, strict=True):
        for method, row in run["methods"].items():
            axis.semilogy(row["t"], row["largest"], color=COLORS[method], label=method)
        axis.set(xlabel="time, s", xlim=(0, run["duration"]), ylim=(1e-8, 3))
        axis.set_title(f"double pendulum in steps of {1e3 * run['dt']:g} ms")
        axis.grid(which="major", alpha=0.3)
    axes[0].set_ylabel("energy error / range of kinetic energy")
    axes[0].legend(loc="lower right")
    drawn.savefig(path, dpi=110)


def main(small: bool, output: Path | None) -> None:
    warnings.simplefilter("ignore", cr.SimulationWarning)  # the errors are what is shown
    assert set(ORDERS) == set(METHODS)
    steps, tolerances, rounds = (STEPS[1:4], (1e-4, 1e-6), 0) if small else (STEPS, TOLERANCES, 3)
    results = swings(steps, tolerances, rounds)
    runs = [long_run(20.0 if small else 1000.0, dt) for dt in (5e-3, 2e-2)]
    print_tables(results, runs)
    if output:
        write_figures(output, "integrators", {"swings": results, "long_runs": runs})
        draw_swings(results, output / "integrators.png")
        draw_long_runs(runs, output / "long_run.png")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="few steps, a short run: seconds instead of minutes")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="a folder for the figures and pictures")
    options = parser.parse_args()
    main(options.small, options.output)
