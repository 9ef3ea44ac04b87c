"""Text from a path, or text itself."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from chainrule.errors import FormatError

LARGEST = 256 * 1024 * 1024
"""Files larger than this are refused: 256 MiB."""


def read(path_or_text: str | PathLike[str]) -> tuple[bytes, str, Path | None]:
    """The content, what to call it in messages, and the path if it came from one."""
    text = fspath(path_or_text)
    if not isinstance(text, str):
        raise FormatError(f"expected a path or text, got {type(path_or_text).__name__}")
    if isinstance(path_or_text, str) and ("\n" in text or text.lstrip().startswith(("<", "{"))):
        return text.encode(), "the given text", None
    path = Path(text)
    try:
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FormatError(f"cannot read {text!r}: {reason}; give the path of a robot file, or its text") from error
    if path.is_dir():
        raise FormatError(f"{text!r} is a folder; give the path of a robot file in it")
    if size > LARGEST:
        raise FormatError(f"{text!r} has {size / 2**20:.0f} MiB; files over {LARGEST >> 20} MiB are not read")
    try:
        return path.read_bytes(), path.name, path
    except OSError as error:
        raise FormatError(f"cannot read {text!r}: {error.strerror}") from error
