"""Batches spread over threads; the kernels run without Python's lock."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.errors import ShapeError

MIN_FLOPS_TO_SPREAD = 4_000_000
"""Flops below which a batch stays on the calling thread: handing it over would cost too large a share."""

_state: dict[str, Any] = {"threads": None, "pool": None, "owner": None}


def set_threads(count: int | None) -> None:
    """Set the number of threads for batches; None for the default: $CHAINRULE_THREADS, or the number of cores."""
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise ShapeError(f"the number of threads must be a positive integer, or None for the default, got {count!r}")
    _state.update(threads=count, pool=None)


def threads() -> int:
    """Number of threads that batches use."""
    if _state["threads"] is not None:
        return int(_state["threads"])
    chosen = os.environ.get("CHAINRULE_THREADS", "")
    if chosen:
        if not chosen.isdigit() or int(chosen) < 1:
            raise ShapeError(f"CHAINRULE_THREADS must be a positive integer, got {chosen!r}")
        return int(chosen)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pool() -> ThreadPoolExecutor:
    """The threads that batches use."""
    count = threads()
    mine = (os.getpid(), count)  # a forked child has the object, but not the threads
    executor: ThreadPoolExecutor | None = _state["pool"]
    if executor is None or _state["owner"] != mine:
        executor = ThreadPoolExecutor(count, thread_name_prefix="chainrule")
        _state.update(pool=executor, owner=mine)
    return executor


def _without_warnings(call: Callable[..., Any], *arguments: Any, out: Any) -> None:
    """Call in a worker thread, which has floating-point warnings of its own."""
    with np.errstate(all="ignore"):
        call(*arguments, out=out)


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
    try:
        jobs = [pool().submit(_without_warnings, call, *(a[part] for a in full), out=out[part]) for part in parts[1:]]
    except RuntimeError:  # the interpreter is shutting down, and starts no more threads
        call(*arguments, out=out)
        return
    call(*(a[parts[0]] for a in full), out=out[parts[0]])
    for job in jobs:
        job.result()
