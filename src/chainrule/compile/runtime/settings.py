"""Settings in environment variables, read and checked."""

from __future__ import annotations

import os

from chainrule.errors import ShapeError

OFF = {"off", "0", "no", "none", "false", "disabled", "disable", "never"}
"""Words that turn something off."""

ON = {"", "on", "1", "yes", "true", "enabled", "enable", "default"}
"""Words that leave something as it is by default."""


def word(variable: str) -> str:
    """The value of a variable in small letters, without spaces around it; empty if it is not set."""
    return os.environ.get(variable, "").strip().lower()


def whole_number(variable: str, what: str, least: int = 0) -> int | None:
    """The value of a variable as a whole number, or None if it is not set.

    what: the expected thing, as the error says it.
    """
    text = os.environ.get(variable, "").strip()
    if not text:
        return None
    is_number = text.isascii() and text.isdigit() and len(text) <= 18
    if not is_number or int(text) < least:
        raise ShapeError(f"{variable} must be {what}, got {text[:40]!r}")
    return int(text)
