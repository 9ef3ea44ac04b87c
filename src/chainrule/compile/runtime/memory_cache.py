"""Compiled things that stay at hand in this process: one bounded store, safe with threads and with fork.

Everything is compiled under one lock. A fork waits for that lock, so that it never happens in the middle of a
compilation: the child would find LLVM locked for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import count
from typing import Any, TypeVar

from chainrule.lazy import ForkLock

T = TypeVar("T")

MAX_ENTRIES = 512
"""Things that stay at hand; the ones that were used longest ago go first."""


class _Slot:
    """A compiled object, and when it was last used."""

    __slots__ = ("last_use", "thing")

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.last_use = next(_clock)


_clock = count()
_kept: dict[Hashable, _Slot] = {}
_lock = ForkLock()


def get_or_build(key: Hashable, build: Callable[[], T]) -> T:
    """The thing of this key, built if it is not at hand.

    Finding it takes no lock, so that nobody waits for what somebody else compiles.
    """
    found = _kept.get(key)
    if found is None:
        with compile_lock():
            found = _kept.get(key)
            if found is None:
                found = _kept[key] = _Slot(build())
                _drop_oldest()
    found.last_use = next(_clock)
    thing: T = found.thing
    return thing


def lookup(key: Hashable) -> Any:
    """The thing of this key, or None if it is not at hand."""
    found = _kept.get(key)
    if found is None:
        return None
    found.last_use = next(_clock)
    return found.thing


def compile_lock() -> ForkLock:
    """The lock under which everything is compiled; `with compile_lock():` around any use of the compiler."""
    return _lock


def clear() -> None:
    """Forget everything; what is still in use elsewhere lives on there."""
    with compile_lock():
        _kept.clear()


def _drop_oldest() -> None:
    while len(_kept) > MAX_ENTRIES:
        del _kept[min(_kept, key=lambda key: _kept[key].last_use)]
