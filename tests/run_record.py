"""The record of a run of the tests: a row in a table of docs/reliability.md, which the run itself writes."""

import os
import platform
import subprocess
import time
from datetime import date
from pathlib import Path

START = time.monotonic()
BEGIN, END = "<!-- test runs: begin -->\n", "<!-- test runs: end -->"
COUNTED = ("passed", "failed", "error", "skipped")
HEAD = f"\n| date | commit | {' | '.join(COUNTED)} | time | machine |\n| --- | --- {'| ---: ' * len(COUNTED)}| ---: | --- |\n"


def write(page, reporter):
    """Add a row for the run that a terminal reporter has seen, above those of earlier runs."""
    path = Path(page)
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    table, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} has no lines {BEGIN.strip()!r} and {END!r} for the table")
    rows = [line for line in table.splitlines() if line.startswith("| 2")]
    rows.insert(0, _row(reporter))
    path.write_text(before + begin + HEAD + "\n".join(rows) + "\n\n" + end + after, encoding="utf-8")


def _row(reporter):
    counts = [f"{len(reporter.stats.get(kind, ())):,}" for kind in COUNTED]
    minutes, seconds = divmod(round(time.monotonic() - START), 60)
    cells = [date.today().isoformat(), _commit(), *counts, f"{minutes} min {seconds:02d} s", _machine()]
    return f"| {' | '.join(cells)} |"


def _commit():
    command = ["git", "describe", "--always", "--dirty=, changed"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _machine():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{_processor()}, {cores} cores, {platform.system()}, Python {platform.python_version()}"


def _processor():
    """The name of the processor where the system tells it, or else its kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
