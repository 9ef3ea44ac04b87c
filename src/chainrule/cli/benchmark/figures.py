"""Files of benchmark results: figures as JSON, and the plot of `chainrule bench`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.errors import import_optional

NOT_INSTALLED, NOT_RUN = "not installed", "not run"
"""Reasons in `{"error": reason}`, which stands for figures that were not measured this time."""


def write_figures(folder: Path | str, name: str, figures: dict[str, Any]) -> Path:
    """Write figures to NAME.json; recorded figures that were not measured this time stay in it."""
    path = Path(folder) / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    recorded = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps(with_recorded(figures, recorded), indent=1) + "\n", encoding="utf-8")
    return path


def with_recorded(figures: Any, recorded: Any) -> Any:
    """Figures, with those of an earlier run for those that were not measured.

    >>> with_recorded({"a": 1, "b": {"error": NOT_INSTALLED}}, {"a": 2, "b": {"seconds": 3}})
    {'a': 1, 'b': {'seconds': 3, 'earlier_run': True}}
    """
    if not isinstance(figures, dict):
        return figures
    if figures.get("error") in (NOT_INSTALLED, NOT_RUN) and isinstance(recorded, dict) and "error" not in recorded:
        return {**recorded, "earlier_run": True}
    known = recorded if isinstance(recorded, dict) else {}
    return {key: with_recorded(value, known.get(key)) for key, value in figures.items()}


def plot_figures(results: dict[str, Any], path: Path) -> Path:
    """Draw the results of `chainrule bench`: functions, longer chains, larger batches."""
    import_optional("matplotlib", "the picture of a benchmark").use("Agg")
    from matplotlib import pyplot

    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(15, 4.5), layout="constrained")
    names = list(results["chainrule"])
    pin = results["peers"].get("pinocchio", {})
    place = np.arange(len(names))
    for k, (label, key) in enumerate((("one call", "call"), ("in a batch, one thread", "batch"))):
        left.bar(place + 0.28 * k, [results["chainrule"][n][key] for n in names], 0.28, label=f"chainrule, {label}")
    if pin and "refused" not in pin:
        left.bar(place + 0.56, [pin[n]["call"] for n in names], 0.28, label="Pinocchio, one call")
    left.set(yscale="log", ylabel="ns a state", title=results["robot"])
    left.set_xticks(place + 0.28, [n.replace("_", "\n") for n in names], fontsize=8)
    left.set_ylim(top=left.get_ylim()[1] * 6)
    left.legend(fontsize=8, loc="upper left")
    rows = results["joints"]
    joints = [row["joints"] for row in rows]
    middle.loglog(joints, [row["batch"] for row in rows], "o-", label="chainrule, in a batch")
    if all("pinocchio" in row for row in rows):
        middle.loglog(joints, [row["pinocchio"] for row in rows], "s-", label="Pinocchio, one call")
    middle.set(xlabel="joints of a chain", ylabel="ns a state", title="inverse dynamics")
    compile_axis = middle.twinx()
    compile_axis.loglog(joints, [row["compile"] for row in rows], "k:", label="seconds to compile")
    compile_axis.set_ylabel("s to compile")
    middle.legend(fontsize=8, loc="upper left")
    compile_axis.legend(fontsize=8, loc="lower right")
    sizes = [row["states"] for row in results["batches"]]
    right.loglog(sizes, [row["batch"] for row in results["batches"]], "o-")
    right.set(xlabel="states in the batch", ylabel="ns a state", title="robot.inverse_dynamics, as called")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return path
