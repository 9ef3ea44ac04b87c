"""The table of docs/reliability.md, made from the counts that runs have recorded: `python -m fuzz.report`."""

from __future__ import annotations

import sys
from pathlib import Path

from fuzz import counters
from fuzz.counters import Counters
from fuzz.guard import CRASH, ERROR, HANG, LOADED, MEMORY, REFUSED, STOPPED, WARNING, WRONG
from fuzz.targets import TARGETS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reliability.md"
RECORD = Path(__file__).parent / "counters.json"
BEGIN, END = "<!-- fuzz: begin -->", "<!-- fuzz: end -->"
HEADINGS = (
    "target", "inputs", "read", "refused", "stopped", "crashes", "hangs", "internal errors", "out of memory", "places",
    "longest, s", "most memory, MiB",
)  # fmt: skip


def table(counts: dict[str, Counters]) -> str:
    """The counts as a Markdown table, with a row of totals."""
    order = [name for name in TARGETS if name in counts] + [name for name in counts if name not in TARGETS]
    total = Counters()
    for name in order:
        total.add(counts[name])
    total.places = sum(counts[name].places for name in order)
    lines = ["| " + " | ".join(HEADINGS) + " |", "| --- |" + " ---: |" * (len(HEADINGS) - 1)]
    lines += [_row(name.replace("_", " "), counts[name]) for name in order]
    return "\n".join([*lines, _row("**all**", total)])


def _row(name: str, c: Counters) -> str:
    internal = c.kinds[ERROR] + c.kinds[WARNING] + c.kinds[WRONG]
    outcomes = [c.kinds[kind] for kind in (LOADED, REFUSED, STOPPED, CRASH, HANG)]
    counted = [f"{n:,}" for n in (c.inputs, *outcomes, internal, c.kinds[MEMORY], c.places)]
    return "| " + " | ".join([name, *counted, f"{c.longest_seconds:.2f}", f"{c.most_memory_mib:.0f}"]) + " |"


def rewrite(page: Path, counts: dict[str, Counters]) -> None:
    """Put the table between the two markers of a page."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} should have {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{table(counts)}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    record = Path(sys.argv[1]) if len(sys.argv) > 1 else RECORD
    rewrite(PAGE, counters.load(record))
    print(f"written: {PAGE}")
