"""A process that runs inputs, target after target, and keeps those that led somewhere new.

The input that is being run lies in a file that the campaign reads should this process die. A line of JSON on stdout
says after each slice of inputs what came of them.
"""

from __future__ import annotations

import importlib
import json
import mmap
import os
import struct
import sys
import time
from dataclasses import asdict
from pathlib import Path
from random import Random

from fuzz import findings
from fuzz.counters import Counters
from fuzz.guard import HANG, REFUSED, attempt, limit_memory
from fuzz.minimize import minimize_outcome
from fuzz.mutate import MAX_INPUT_BYTES, any_bytes
from fuzz.targets import CORPUS, TARGETS, Target

SLICE_SECONDS = 1.0
"""Processor time for the inputs of one target before the next has its turn."""
MAX_POOL = 400
THOROUGH_SHARE = 0.1
"""The share of inputs whose content is also used, where it is read."""
READABLE_SHARE = 0.7
"""The share of inputs that are made from one that could be read; others are made from one that was refused."""
KEPT_SHARE = 0.02
"""The share of inputs that could be read which are kept to be changed further."""
CURRENT_BYTES = 4 * MAX_INPUT_BYTES
MIB = 1 << 20


class CurrentInput:
    """The input that is being run, in a file: its target, its size and its bytes."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(b"\0" * CURRENT_BYTES)
        self._file = path.open("r+b")
        self._map = mmap.mmap(self._file.fileno(), CURRENT_BYTES)

    def set(self, number: int, data: bytes) -> None:
        """Write an input; `number` counts them."""
        data = data[: CURRENT_BYTES - 16]
        self._map[16 : 16 + len(data)] = data
        self._map[:16] = struct.pack("<qq", number, len(data))

    @staticmethod
    def read(path: Path) -> tuple[int, bytes]:
        """The number and the bytes of the input in a file."""
        content = path.read_bytes()
        number, size = struct.unpack("<qq", content[:16])
        return number, content[16 : 16 + size]


class Stream:
    """The inputs of one target: those it began with, and those that led somewhere new."""

    def __init__(self, name: str, target: Target, seed: str) -> None:
        self.name, self.target, self.rng = name, target, Random(seed)
        self.readable = target.seeds()
        self.pool = list(self.readable)
        self.first = [*self.pool, *regressions(name)]
        self.is_first = True
        self.places: set[tuple[str, str]] = set()
        self.known: set[tuple[str, str]] = set()

    def next(self) -> bytes:
        """A new input; the first ones as they are."""
        self.is_first = bool(self.first)
        if self.first:
            return self.first.pop(0)
        data = self.rng.choice(self.readable if self.rng.random() < READABLE_SHARE else self.pool)
        try:
            return self.target.mutator(self.rng, data, self.pool)
        except (MemoryError, RecursionError, ValueError):  # an input that cannot be changed so
            return any_bytes(self.rng, data, self.pool)

    def keep(self, data: bytes, pool: list[bytes]) -> None:
        """Keep an input as one to change further."""
        if len(data) > MAX_INPUT_BYTES // 4:
            return
        if len(pool) >= MAX_POOL:
            pool[self.rng.randrange(MAX_POOL)] = data
        else:
            pool.append(data)


def regressions(name: str) -> list[bytes]:
    """Inputs that once led to an error."""
    return [path.read_bytes() for path in sorted((CORPUS / name).glob("*")) if path.is_file()]


def run_slice(stream: Stream, current: CurrentInput, folder: Path, inputs: int | None, seconds: float) -> Counters:
    """Run inputs of one target: the first ones and a number of new ones, or for some processor time."""
    counts = Counters()
    memory = _reset_peak()
    start, minimizing = time.process_time(), 0.0
    most = None if inputs is None else inputs + len(stream.first)
    while counts.inputs < most if most is not None else time.process_time() - start < seconds:
        data, is_first = stream.next(), stream.is_first
        current.set(counts.inputs, data)
        outcome = attempt(stream.target, data, thorough=is_first or stream.rng.random() < THOROUGH_SHARE)
        counts.inputs += 1
        counts.kinds[outcome.kind] += 1
        counts.longest_seconds = max(counts.longest_seconds, outcome.seconds)
        spot = outcome.kind, outcome.place
        if outcome.kind == REFUSED and spot not in stream.places:
            stream.places.add(spot)
            stream.keep(data, stream.pool)
        elif outcome.is_finding and spot not in stream.known:
            stream.known.add(spot)
            began = time.process_time()
            small = data if outcome.kind == HANG else minimize_outcome(stream.target, data, *spot)
            minimizing += time.process_time() - began
            path = findings.store(folder, stream.name, small, outcome)
            _say({"finding": path.name, "target": stream.name, "kind": outcome.kind, "place": outcome.place})
        elif not outcome.is_finding and not outcome.place and stream.rng.random() < KEPT_SHARE:
            stream.keep(data, stream.readable)
    counts.places = len(stream.places)
    counts.cpu_seconds = time.process_time() - start - minimizing
    counts.most_memory_mib = round(max(0, _peak() - memory) / MIB, 1)
    return counts


def _reset_peak() -> int:
    """Reset the peak of this process's memory; the memory that it has now."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return 0
    return _status("VmRSS:")


def _peak() -> int:
    return _status("VmHWM:")


def _status(key: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(key)), 0)


def _say(message: dict[str, object]) -> None:
    os.write(_SAY, json.dumps(message).encode() + b"\n")


_SAY = 1


def main(arguments: list[str]) -> None:
    """Run as told by one word of JSON: targets, seed, folders, inputs for each target or None for ever."""
    global _SAY  # noqa: PLW0603
    settings = json.loads(arguments[0])
    _SAY = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    folder = Path(settings["folder"])
    os.chdir(folder)
    for module in settings["plugins"]:
        importlib.import_module(module)
    current = CurrentInput(folder.parent / f"{folder.name}.current")
    streams = {}
    for name in settings["targets"]:
        _say({"target": name, "ready": True})
        streams[name] = Stream(name, TARGETS[name](folder), f"{settings['seed']}/{name}")
        if settings["only"] is not None:
            streams[name].first = [Path(settings["only"]).read_bytes()]
    limit_memory()
    while True:
        for name, stream in streams.items():
            _say({"target": name, "begin": True})
            counts = run_slice(stream, current, Path(settings["findings"]), settings["inputs"], SLICE_SECONDS)
            _say({"target": name, "counts": asdict(counts)})
        if settings["inputs"] is not None:
            return


if __name__ == "__main__":
    main(sys.argv[1:])
