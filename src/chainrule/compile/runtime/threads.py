"""Batches spread over threads; the kernels run without Python's lock.

The calling thread computes a part, then every part that no other thread has begun. So nothing waits for a thread that
cannot be started or has died.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.calls import explains_arguments
from chainrule.compile.runtime import settings
from chainrule.errors import ShapeError, short_repr

MIN_FLOPS_TO_SPREAD = 4_000_000
"""Flops below which a batch stays on the calling thread: handing it over would cost too large a share."""

_state: dict[str, Any] = {"threads": None, "pool": None, "owner": None}
_caller = threading.local()


@explains_arguments
def set_threads(count: int | None) -> None:
    """Set the number of threads for batches; None for the default: $CHAINRULE_THREADS, or the number of cores."""
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise ShapeError(
            f"the number of threads must be a positive integer, or None for the default, got {short_repr(count)}"
        )
    _state.update(threads=count, pool=None)


def threads() -> int:
    """Number of threads that batches use."""
    if _state["threads"] is not None:
        return int(_state["threads"])
    chosen = settings.whole_number("CHAINRULE_THREADS", "a positive integer", least=1)
    if chosen is not None:
        return chosen
    if getattr(_caller, "is_one_of_many", False):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """The default of the calling thread is one: whoever calls has spread the work over threads or processes already."""
    before = getattr(_caller, "is_one_of_many", False)
    _caller.is_one_of_many = True
    try:
        yield
    finally:
        _caller.is_one_of_many = before


def pool() -> ThreadPoolExecutor:
    """The threads that batches use."""
    count = threads()
    mine = (os.getpid(), count)  # a forked child has the object, but not the threads
    executor: ThreadPoolExecutor | None = _state["pool"]
    if executor is None or _state["owner"] != mine:
        executor = ThreadPoolExecutor(count, thread_name_prefix="chainrule")
        _state.update(pool=executor, owner=mine)
    return executor


def run_all(calls: Sequence[Callable[[], Any]]) -> None:
    """Run all calls, spread over threads, and return when none of them runs any more.

    Raises what the first of them has raised.
    """
    if threads() == 1:
        for call in calls:
            call()
        return
    parts: list[tuple[Callable[[], Any], Future[None]]] = [(call, Future()) for call in calls[1:]]
    with contextlib.suppress(RuntimeError):  # no thread can be started: there is no memory, or Python shuts down
        for call, part in parts:
            pool().submit(_run_unless_begun, call, part)
    try:
        for call in calls[:1]:
            call()
        for call, part in reversed(parts):  # the pool begins with the first
            if part.cancel():
                call()
    finally:
        begun = [part for _, part in parts if not part.cancel()]
        wait(begun)  # whatever happens here, the arrays must outlive the threads
    for part in begun:
        part.result()


def _run_unless_begun(call: Callable[[], Any], part: Future[None]) -> None:
    """Run a part in a worker thread, which has floating-point warnings of its own."""
    if not part.set_running_or_notify_cancel():
        return
    try:
        with np.errstate(all="ignore"):
            call()
    except BaseException as error:
        part.set_exception(error)
    else:
        part.set_result(None)


def spread(
    call: Callable[..., Any],
    arguments: Sequence[NDArray[Any]],
    out: NDArray[Any],
    batch: tuple[int, ...],
    flops: int,
    multiple: int,
) -> None:
    """Fill `out` by calls on slices of the longest batch dimension, in chunks of a multiple of the lanes."""
    if math.prod(batch) * flops < MIN_FLOPS_TO_SPREAD:
        call(*arguments, out=out)
        return
    count = threads()
    longest = batch.index(max(batch))
    chunks = min(count, batch[longest] // multiple)
    if chunks < 2:
        call(*arguments, out=out)
        return
    size = -(-batch[longest] // chunks // multiple) * multiple
    parts = [(slice(None),) * longest + (slice(i, i + size),) for i in range(0, batch[longest], size)]
    full = [np.broadcast_to(a, (*batch, a.shape[-1])) for a in arguments]
    run_all([partial(call, *(a[part] for a in full), out=out[part]) for part in parts])
