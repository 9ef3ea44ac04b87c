"""Tasks streamed through a cluster: a few at a time, their outcomes in order, whatever happens to workers.

Tasks are drawn while others run, so that a million of them need neither a graph of a million nodes nor their memory.
"""

from __future__ import annotations

import contextlib
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from chainrule.cluster.client import SECONDS_FOR_SCHEDULER
from chainrule.cluster.versions import own_versions, refuse_other_versions
from chainrule.compile.runtime.threads import one_thread
from chainrule.core.progress import ProgressBar
from chainrule.errors import ChainruleError, ClusterError

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")
R = TypeVar("R")

TASKS_PER_THREAD = 3
"""Tasks on the cluster for each of its threads: one runs, and the next ones are there when it ends."""

MOST_AHEAD = 256
"""Tasks that may be sent before an earlier one is finished; twice those in flight on a cluster with many threads."""

SECONDS_BETWEEN_COUNTS = 10.0
"""Seconds after which the threads of the cluster are counted again: workers come and go."""

MOST_ATTEMPTS = 4
"""Attempts at a task whose scheduler was lost."""

CONNECTED = ("running", "connecting")
"""States of a client that has a scheduler, or looks for the one that it had."""

EXPECTED = (ChainruleError, OSError, MemoryError)
"""What is wrong with one task and says nothing about the others."""


@dataclass(frozen=True, eq=False)
class Outcome(Generic[T, R]):
    """A task and what it gave, or why it gave nothing."""

    task: T
    value: R | None
    error: Exception | None = None

    def get(self) -> R:
        """The value; the error is raised."""
        if self.error is not None:
            raise self.error
        return cast("R", self.value)


def run_tasks(
    function: Callable[[T], R],
    tasks: Iterable[T],
    client: Client | None,
    *,
    name: Callable[[T], str] = str,
    in_flight: int | None = None,
    in_order: bool = True,
    total: int | None = None,
    progress: bool | None = None,
    doing: str = "computing",
    unit: str = "tasks",
) -> Iterator[Outcome[T, R]]:
    """The outcomes of a function on tasks, in the order of the tasks, or as they finish.

    Errors that concern one task (of chainrule, of files, of memory) are in its outcome, and the others go on. Tasks of
    a worker that dies are run again on another one. A task must not change anything, or change it whole.

    Parameters
    ----------
    function, tasks
        What is computed: a function that other processes can import, or a functools.partial of one.
    client
        Of the cluster, as `connect` gives it; None for this process, one task after the other, with its threads.
    name
        The name of a task in messages.
    in_flight
        Tasks on the cluster at a time; three for each of its threads unless given.
    in_order
        False where outcomes may come as they finish: none is kept until an earlier one is there.
    total, progress, doing, unit
        How many tasks there are, if `tasks` has no length, and the bar: whether it is shown, and its words.
    """
    if total is None and isinstance(tasks, Sized):
        total = len(tasks)
    if client is None:
        outcomes = _run_here(function, tasks)
    else:
        outcomes = _Stream(client, function, name, in_flight, in_order, total).run(tasks)
    with ProgressBar(total or 0, progress if total else False, doing, unit) as bar:
        for count, outcome in enumerate(outcomes, start=1):
            bar.at(count)
            yield outcome


def _run_here(function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[Outcome[T, R]]:
    for task in tasks:
        try:
            value = function(task)
        except EXPECTED as error:
            yield Outcome(task, None, error)
        else:
            yield Outcome(task, value)


def perform(function: Callable[[T], R], task: T, sender: Mapping[str, str]) -> R | BaseException:
    """One task on a worker: its value, or the error that concerns it alone."""
    if sender != own_versions():  # a worker that came later than the check of versions
        refuse_other_versions({f"{platform.node()}, process {os.getpid()}": own_versions()}, sender)
    try:
        with one_thread():
            return function(task)
    except EXPECTED as error:
        return error


class _Stream(Generic[T, R]):
    """Tasks on a cluster."""

    def __init__(
        self,
        client: Client,
        function: Callable[[T], R],
        name: Callable[[T], str],
        in_flight: int | None,
        in_order: bool,
        total: int | None,
    ) -> None:
        self.client, self.function, self.name, self.chosen, self.total = client, function, name, in_flight, total
        self.in_order = in_order
        self.address: str = client.scheduler.address  # a client that has lost its scheduler has none
        self.running: dict[Future, tuple[int, T, int]] = {}
        """The place, the task and the number of the attempt of each future."""
        self.finished: dict[int, Outcome[T, R]] = {}
        """By place, those that wait for an earlier one."""
        self.suspects: set[int] = set()
        """Places of tasks whose workers died as often as the scheduler allows; they are tried once more."""
        self.given = 0
        """How many outcomes were handed out: in order, the place of the next one."""
        self.room = 1
        self.counted = -SECONDS_BETWEEN_COUNTS

    def run(self, tasks: Iterable[T]) -> Iterator[Outcome[T, R]]:
        """The outcomes."""
        from distributed import as_completed

        waiting = enumerate(tasks)
        completed = as_completed(loop=self.client.loop)
        place, is_drawn = 0, False
        try:
            while True:
                room = self._in_flight()
                ahead = max(MOST_AHEAD, 2 * room)
                while not is_drawn and len(self.running) < room and place - self.given < ahead:
                    drawn = next(waiting, None)
                    if drawn is None:
                        is_drawn = True
                        break
                    place = drawn[0] + 1
                    completed.add(self._send(*drawn))
                if not self.running:
                    return
                futures = completed.next_batch()
                values = self._fetch(futures)
                for future in futures:
                    again = self._receive(future, values)
                    if again is not None:
                        completed.add(again)
                while self.finished and (self.given in self.finished or not self.in_order):
                    outcome = self.finished.pop(self.given if self.in_order else next(iter(self.finished)))
                    self.given += 1
                    yield outcome
        finally:
            if self.running and self.client.status == "running":
                self.client.cancel(list(self.running))

    def _in_flight(self) -> int:
        if self.chosen is not None:
            return max(1, self.chosen)
        if time.monotonic() - self.counted > SECONDS_BETWEEN_COUNTS:
            with contextlib.suppress(OSError):  # the scheduler is lost, which the tasks will tell
                self.room = TASKS_PER_THREAD * max(1, sum(self.client.nthreads().values()))
            self.counted = time.monotonic()
        return self.room

    def _send(self, place: int, task: T, attempt: int = 1) -> Future:
        if self.client.status not in CONNECTED:
            raise self._loss()
        future: Future = self.client.submit(perform, self.function, task, own_versions(), pure=False, retries=0)
        self.running[future] = place, task, attempt
        return future

    def _fetch(self, futures: list[Future]) -> dict[Future, R | Exception]:
        """What finished tasks gave, in one message; nothing where that fails, and then each tells why."""
        done = [future for future in futures if future.status == "finished"]
        try:
            return dict(zip(done, self.client.gather(done), strict=True))
        except Exception:
            return {}

    def _receive(self, future: Future, values: Mapping[Future, R | Exception]) -> Future | None:
        """Keep the outcome of a task; or the future of another attempt."""
        from distributed.scheduler import KilledWorker

        place, task, attempt = self.running.pop(future)
        try:
            value = values[future] if future in values else future.result()
        except (CancelledError, OSError):  # with the scheduler: errors of files are values
            self._wait_for_scheduler(attempt)
            return self._send(place, task, attempt + 1)
        except KilledWorker as error:
            if place not in self.suspects:  # perhaps it was another task of those workers that killed them
                self.suspects.add(place)
                return self._send(place, task, attempt)
            value = ClusterError(
                f"{self.name(task)}: the worker died each time it was tried, which is mostly because it ran out of "
                "memory; give workers more memory, or tasks less to do"
            )
            value.__cause__ = error
        if isinstance(value, Exception):
            self.finished[place] = Outcome(task, None, value)
        else:
            self.finished[place] = Outcome(task, value)
        return None

    def _wait_for_scheduler(self, attempt: int) -> None:
        """Wait until the scheduler and a worker are there again, or give up."""
        if attempt < MOST_ATTEMPTS:
            end = time.monotonic() + SECONDS_FOR_SCHEDULER
            while time.monotonic() < end and self.client.status in CONNECTED:
                with contextlib.suppress(OSError):
                    if self.client.status == "running" and self.client.nthreads():
                        return
                time.sleep(0.2)
        raise self._loss()

    def _loss(self) -> ClusterError:
        done = self.given + len(self.finished)
        return ClusterError(
            f"the connection to the scheduler at {self.address} was lost; tasks finished before: "
            + (f"{done}" if self.total is None else f"{done} of {self.total}")
        )
