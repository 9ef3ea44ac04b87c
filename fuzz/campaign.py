"""Worker processes, watched from outside: one that dies or stands still is noticed, and its input is kept."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from fuzz import counters, findings
from fuzz.counters import Counters
from fuzz.guard import CRASH, HANG, Outcome
from fuzz.worker import CurrentInput

ROOT = Path(__file__).parents[1]
STILL_SECONDS = 600.0
"""Time without a word after which a worker is ended: far more than a slice takes on a busy machine."""
TRACEBACK_SECONDS = 20.0
"""Time that a worker that stands still has for its traceback."""
SAVE_SECONDS = 20.0


@dataclass
class Campaign:
    """A run of the fuzzer: its settings, counts and findings."""

    targets: Sequence[str]
    findings: Path
    seed: int = 0
    inputs: int | None = None
    """New inputs for each target and worker, after the first ones; None for as many as the time allows."""
    seconds: float | None = None
    workers: int = 1
    only: Path | None = None
    """A file that is the first input, instead of those that the targets begin with."""
    plugins: Sequence[str] = ()
    """Modules with further targets, which workers import."""
    say: Callable[[str], object] = print
    counts: dict[str, Counters] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)
    is_stopping: bool = False

    def run(self, record: Path | None = None) -> None:
        """Run until the inputs or the time are used up; the counts are added to those in a file as it goes."""
        base = counters.load(record) if record else {}
        memory = Path("/dev/shm")
        top = Path(tempfile.mkdtemp(prefix="chainrule-fuzz-", dir=memory if memory.is_dir() else None))
        running = [Worker(self, top, number) for number in range(self.workers)]
        start = saved = time.monotonic()
        try:
            while any(worker.is_alive for worker in running) and not self.is_stopping:
                for worker in running:
                    worker.listen(1.0 / len(running))
                now = time.monotonic()
                if record and now - saved > SAVE_SECONDS:
                    self.save(record, base)
                    saved = now
                if self.seconds is not None and now - start > self.seconds:
                    break
        finally:
            for worker in running:
                worker.end()
            shutil.rmtree(top, ignore_errors=True)
            if record:
                self.save(record, base)
        if self.is_stopping:
            self.say("stopped")

    def stop(self) -> None:
        """End the run soon. Handlers of signals call this: an exception could come while a worker is being started."""
        self.is_stopping = True

    def save(self, record: Path, base: dict[str, Counters]) -> None:
        """Write the counts of earlier runs and of this one."""
        total: dict[str, Counters] = {}
        counters.add_to(total, base)
        counters.add_to(total, self.counts)
        counters.save(record, total)

    def keep(self, target: str, kind: str, place: str, path: str) -> None:
        """Note a finding."""
        line = f"{target}: {kind} {place} ({path})"
        if line not in self.found:
            self.found.append(line)
            self.say(line)


class Worker:
    """A worker process, started again when it dies."""

    def __init__(self, campaign: Campaign, top: Path, number: int) -> None:
        self.campaign, self.number, self.round = campaign, number, 0
        self.folder = top / f"worker{number}"
        self.targets = list(campaign.targets)
        self.target = ""
        self.start()

    def start(self) -> None:
        """Start the process, in an empty folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700)
        cache, home = (self.folder.parent / f"{self.folder.name}.{what}" for what in ("cache", "home"))
        for place in (cache, home):
            place.mkdir(mode=0o700, exist_ok=True)
        settings = {
            "targets": self.targets, "seed": f"{self.campaign.seed}/{self.number}/{self.round}",
            "folder": str(self.folder), "findings": str(self.campaign.findings.resolve()),
            "inputs": self.campaign.inputs, "plugins": list(self.campaign.plugins),
            "only": str(self.campaign.only.resolve()) if self.campaign.only else None,
        }  # fmt: skip
        environment = {
            **os.environ, "CHAINRULE_CACHE": str(cache), "CHAINRULE_KERNELS": "off", "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            "MPLBACKEND": "agg", "PYTHONFAULTHANDLER": "1", "PYTHONUTF8": "1", "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "ARROW_DEFAULT_MEMORY_POOL": "system",  # its own pool reserves all that an input may map
        }  # fmt: skip
        errors = (self.folder.parent / f"{self.folder.name}.errors").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.worker", json.dumps(settings)],
            cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, bufsize=0, start_new_session=True,
        )  # fmt: skip
        errors.close()
        self.round += 1
        self.is_alive, self.has_begun = True, False
        self.heard = time.monotonic()
        self.rest = b""
        self.selector = selectors.DefaultSelector()
        assert self.process.stdout is not None
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    def listen(self, seconds: float) -> None:
        """Read what the process says; notice its end, or its silence."""
        if not self.is_alive:
            return
        assert self.process.stdout is not None
        if self.selector.select(seconds):
            content = os.read(self.process.stdout.fileno(), 1 << 16)
            self.heard = time.monotonic()
            if not content:
                self._ended(self.process.wait())
                return
            *lines, self.rest = (self.rest + content).split(b"\n")
            for line in lines:
                self._take(json.loads(line))
        elif time.monotonic() - self.heard > STILL_SECONDS:
            self.process.send_signal(signal.SIGABRT)  # Python's faulthandler says where all threads are
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(TRACEBACK_SECONDS)
            self._kill()
            self._keep(HANG, "outside Python, or waiting")
            self._again()

    def _take(self, message: dict[str, object]) -> None:
        self.target = str(message["target"])
        self.has_begun = self.has_begun or "begin" in message
        if "counts" in message:
            counters.add_to(self.campaign.counts, {self.target: Counters(**message["counts"])})  # type: ignore[arg-type]
            if self.campaign.inputs is not None:
                self.targets.remove(self.target)
        if "finding" in message:
            self.campaign.keep(self.target, str(message["kind"]), str(message["place"]), str(message["finding"]))

    def _ended(self, code: int) -> None:
        if code == 0:
            self.is_alive = False
            return
        self._keep(CRASH, f"exit {code}")
        self._again()

    def _keep(self, kind: str, place: str) -> None:
        """Keep the input that the process was at."""
        current = self.folder.parent / f"{self.folder.name}.current"
        number, data = CurrentInput.read(current) if current.exists() else (0, b"")
        errors = self.folder.parent / f"{self.folder.name}.errors"
        text = errors.read_bytes()[-4000:].decode(errors="replace")
        path = findings.store(self.campaign.findings, self.target or "none", data, Outcome(kind, place, 0.0, text))
        lost = Counters(inputs=number + 1)
        lost.kinds[kind] += 1
        counters.add_to(self.campaign.counts, {self.target or "none": lost})
        self.campaign.keep(self.target or "none", kind, place, path.name)

    def _again(self) -> None:
        """Start the process again; without the target that it died of, where that cannot begin or has had its turn."""
        if (self.campaign.inputs is not None or not self.has_begun) and self.target in self.targets:
            self.targets.remove(self.target)
        if self.targets and self.round < 10_000:
            self.start()
        else:
            self.is_alive = False

    def _kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        """End the process."""
        if self.process.poll() is None:
            self._kill()
        self.selector.close()
        if self.process.stdout is not None:
            self.process.stdout.close()
