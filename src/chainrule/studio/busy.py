"""What takes long, said on the page: whatever lasts longer than a moment is named until it is done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

PATIENCE_S = 0.3
"""What takes less than this is not worth a word."""


class Busy:
    """The works that are under way; a thread of its own looks after them, and tells of the oldest.

    >>> told = []
    >>> busy = Busy(told.append)
    >>> with busy.with_note("Compiling …"):
    ...     pass
    >>> busy.close()
    >>> told
    []
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._works: dict[object, tuple[float, str]] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._watch, name="chainrule studio busy", daemon=True)
        self._thread.start()

    @contextmanager
    def with_note(self, text: str) -> Iterator[None]:
        """Do what takes long, perhaps, with this text on the page meanwhile."""
        key = object()
        with self._changed:
            self._works[key] = (monotonic(), text)
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                del self._works[key]
                self._changed.notify()

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _watch(self) -> None:
        shown = ""
        while True:
            with self._changed:
                since, text = min(self._works.values(), default=(0.0, ""))
                left = since + PATIENCE_S - monotonic()
                if not text:
                    wanted, wait = "", None
                elif left > 0:
                    wanted, wait = shown if shown == text else "", left
                else:
                    wanted, wait = text, None
                if wanted == shown and not self._closed:
                    self._changed.wait(wait)
                    continue
                if self._closed:
                    return
            self._tell(wanted)
            shown = wanted
