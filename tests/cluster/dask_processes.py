"""A scheduler and workers as processes of their own, as an operator starts them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from waiting import eventually


class DaskProcesses:
    """Processes of `dask scheduler` and `dask worker`; those that still run end with the block that made them."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.environment = os.environ | environment
        self.processes: list[subprocess.Popen[bytes]] = []

    def scheduler(self, *options: str, port: int = 0) -> tuple[subprocess.Popen[bytes], str]:
        """A scheduler and its address; a free port unless one is given."""
        file = self.folder / f"scheduler{len(self.processes)}.json"
        process = self._start(
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--scheduler-file",
            str(file),
            "--no-dashboard",
            *options,
        )
        eventually(lambda: process.poll() is not None or _is_complete(file))
        assert process.poll() is None, self.log()
        return process, json.loads(file.read_text())["address"]

    def worker(self, address: str, *options: str, path: Path | None = None) -> subprocess.Popen[bytes]:
        """A worker of one thread, without a nanny that starts it again; `path` is searched for modules first."""
        words = ("--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder))
        return self._start("worker", address, "--no-nanny", *words, *options, path=path)

    def _start(self, *words: str, path: Path | None = None) -> subprocess.Popen[bytes]:
        paths = [str(path), *sys.path] if path else sys.path
        with (self.folder / "log.txt").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *words],
                env=self.environment | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.processes.append(process)
        return process

    def log(self) -> str:
        return (self.folder / "log.txt").read_text()


@contextlib.contextmanager
def dask_processes(folder: Path, **environment: str) -> Iterator[DaskProcesses]:
    started = DaskProcesses(folder, **environment)
    try:
        yield started
    finally:
        for process in started.processes:
            process.kill()
        for process in started.processes:
            process.wait()


def _is_complete(file: Path) -> bool:
    """The file of a scheduler is written in place, so it may be read half."""
    try:
        return "address" in json.loads(file.read_text())
    except (OSError, ValueError):
        return False
