"""viser without its own messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def without_rich_output() -> Iterator[None]:
    """Keep viser from printing addresses, which lack the token, and in a notebook would stand below the cell."""
    import rich

    console: Any = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
