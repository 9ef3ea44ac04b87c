"""Memory for code near memory for its constants, where the free memory of a process is scattered.

Code refers to its constants by distances of 32 bits, and LLVM asks the system for memory of each by itself. The system
gives the highest free place that is large enough: a few pages between two libraries for the constants, gigabytes above
the code. LLVM then ends the process. So places that lie far from those of large blocks are taken while code is loaded.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

REACH = 1 << 30
"""Distance in bytes between two places that are near: twice as much is still in the reach of 31 bits."""

MAX_PLUGS = 20_000
"""Places that are taken at most."""

RESERVED = 0x4022
"""Of Linux: private, anonymous, without a claim on memory."""


@contextmanager
def nearby(size: int) -> Iterator[None]:
    """Within this context, blocks of up to `size` bytes are given near each other; on Linux, which may scatter them."""
    plugs = _plug(size) if sys.platform.startswith("linux") else []
    try:
        yield
    finally:
        for address, length in plugs:
            _system().munmap(address, length)


def _plug(size: int) -> list[tuple[int, int]]:
    """Take all free places, of the lengths that matter, which are not near where large blocks are given."""
    pages = 2 * (size // mmap.PAGESIZE + 8)  # sections are rounded up to pages
    home = _reserve(2 * pages * mmap.PAGESIZE)
    if home is None:
        return []
    _system().munmap(home, 2 * pages * mmap.PAGESIZE)
    plugs: list[tuple[int, int]] = []
    while pages and len(plugs) < MAX_PLUGS:
        length = pages * mmap.PAGESIZE
        address = _reserve(length)
        if address is not None and abs(address - home) > REACH:
            plugs.append((address, length))
            continue
        if address is not None:
            _system().munmap(address, length)
        pages //= 2
    return plugs


def _reserve(length: int) -> int | None:
    """The address of a free place, taken; None where there is none."""
    found: int | None = _system().mmap(None, length, 0, RESERVED, -1, 0)
    return None if found in (None, ctypes.c_void_p(-1).value) else found


@cache
def _system() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library
