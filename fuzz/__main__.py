"""`python -m fuzz`: run the fuzzer, or run its findings again."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from fuzz import findings
from fuzz.campaign import Campaign
from fuzz.targets import CORPUS, TARGETS

HERE = Path(__file__).parent


def main() -> int:
    """Read the command line and run; 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"what to fuzz: {', '.join(TARGETS)}; all if left out"
    )
    parser.add_argument("--minutes", type=float, help="how long; until it is interrupted if left out")
    parser.add_argument("--inputs", type=int, help="new inputs for each target, instead of a time")
    parser.add_argument("--seed", type=int, default=0, help="of the random changes")
    parser.add_argument("--workers", type=int, default=1, help="worker processes")
    parser.add_argument("--findings", type=Path, default=HERE / "findings", help="a folder for findings")
    parser.add_argument("--record", type=Path, help="a JSON file that the counts are added to")
    parser.add_argument("--replay", action="store_true", help="run the findings again, and say which are open")
    parser.add_argument("--adopt", action="store_true", help="the same, and move those that are mended to the corpus")
    chosen = parser.parse_args()
    for name in chosen.targets:
        if name not in TARGETS:
            parser.error(f"there is no target {name!r}; there are {', '.join(TARGETS)}")
    if chosen.replay or chosen.adopt:
        return replay(chosen.findings, CORPUS if chosen.adopt else None)
    campaign = Campaign(
        chosen.targets or list(TARGETS), chosen.findings, chosen.seed, chosen.inputs,
        chosen.minutes * 60 if chosen.minutes is not None else None, chosen.workers,
    )  # fmt: skip
    for number in (signal.SIGINT, signal.SIGTERM):  # also where a shell starts it in the background, deaf to SIGINT
        signal.signal(number, lambda *_: campaign.stop())
    campaign.run(chosen.record)
    total = sum(c.inputs for c in campaign.counts.values())
    for name, c in campaign.counts.items():
        rate = c.inputs / c.cpu_seconds if c.cpu_seconds else 0
        print(f"{name:14} {c.inputs:10} inputs {rate:7.0f}/s  {c.places:4} places  longest {c.longest_seconds:.2f} s")
    print(f"{total} inputs, {len(campaign.found)} findings")
    return 1 if campaign.found else 0


def replay(folder: Path, corpus: Path | None = None) -> int:
    """Run findings again, each in a process of its own; move those that are mended to a corpus. 1 if some are open."""
    is_open = 0
    for finding in findings.stored(folder):
        state = open_state(finding)
        is_open += state != "mended"
        if corpus is not None and state == "mended":
            (corpus / finding.target).mkdir(parents=True, exist_ok=True)
            shutil.move(finding.path, corpus / finding.target / finding.path.stem)
            finding.path.with_suffix(".json").unlink()
        print(f"{state:7} {finding.target}: {finding.kind} {finding.place} ({finding.path.name})")
    return 1 if is_open else 0


def open_state(finding: findings.Finding) -> str:
    """Whether a finding is still there: "open" or "mended"."""
    with tempfile.TemporaryDirectory() as top:
        again = Campaign([finding.target], Path(top) / "findings", inputs=0, only=finding.path, say=lambda line: None)
        again.run()
        return "open" if again.found else "mended"


if __name__ == "__main__":
    sys.exit(main())
