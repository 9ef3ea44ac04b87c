"""Two folders of benchmark results, figure by figure: old, new, and the ratio new / old.

    python benchmarks/compare.py OLD NEW [--tolerance SHARE]

`make bench-compare` runs the benchmarks into build/benchmarks and compares them with those in benchmarks/results.
Figures that differ by less than the tolerance are counted, not printed. A list of numbers is compared by its geometric
mean. Other machines, and the same machine on another day, have other times: compare the figures of peers first, which
say how much faster or slower the machine was, and then the ratios to them.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

SETTINGS = {
    "machine",
    "robot",
    "limit",
    "states",
    "joints",
    "rows",
    "steps",
    "long",
    "start",
    "duration",
    "dt",
    "rtol",
    "t",
}
"""Entries that say what was measured; they are no figures."""


def figures(entry: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """All figures of a file of results, each with the path of keys that leads to it."""
    if isinstance(entry, dict):
        if entry.get("earlier_run"):
            return
        for key, value in entry.items():
            if key not in SETTINGS or (isinstance(value, list) and value and isinstance(value[0], dict)):
                yield from figures(value, f"{name}/{key}" if name else key)
    elif isinstance(entry, list) and all(isinstance(x, dict) for x in entry):
        for k, row in enumerate(entry):
            yield from figures(row, f"{name}/{row.get('joints', row.get('states', row.get('dt', k)))}")
    elif isinstance(entry, list):
        numbers = [abs(x) for x in entry if isinstance(x, float | int) and x and math.isfinite(x)]
        if numbers:
            yield f"{name} of {len(entry)}", math.exp(sum(map(math.log, numbers)) / len(numbers))
    elif isinstance(entry, float | int) and not isinstance(entry, bool) and math.isfinite(entry):
        yield name, float(entry)


def compare(old: Path, new: Path, tolerance: float) -> None:
    """Print one table for each file that is in both folders."""
    for path in sorted(new.glob("*.json")):
        if not (old / path.name).exists():
            print(f"\n{path.stem}: nothing recorded in {old}")
            continue
        before, after = (dict(figures(json.loads((folder / path.name).read_text()))) for folder in (old, new))
        common = [name for name in after if name in before]
        ratios = {name: after[name] / before[name] if before[name] else math.nan for name in common}
        rows = [name for name in common if not abs(ratios[name] - 1) <= tolerance and after[name] != before[name]]
        width = max((len(name) for name in rows), default=0)
        print(
            f"\n{path.stem}: {len(common)} figures, median ratio {median(ratios.values()):.2f}" if common else path.stem
        )
        if rows:
            print(f"  {'':{width}} {'old':>12} {'new':>12} {'ratio':>7}")
        for name in rows:
            print(f"  {name:{width}} {before[name]:12.5g} {after[name]:12.5g} {ratios[name]:7.2f}")
        if len(rows) < len(common):
            print(f"  {len(common) - len(rows)} more within {tolerance:.0%}")
        if len(common) < len({*before, *after}):
            print(f"  {len({*before, *after}) - len(common)} in one of the folders only")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--tolerance", type=float, default=0.05, metavar="SHARE", help="0.05 if left out")
    options = parser.parse_args()
    compare(options.old, options.new, options.tolerance)
