"""Content of robot files, from a path or from the text itself."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from chainrule.errors import FormatError, short_repr

MAX_FILE_BYTES = 256 * 1024 * 1024
"""Size of the largest file that is read: 256 MiB."""

MAX_NAME_LENGTH = 100
"""Characters in the name of a file that is being written; its end, and so its suffix, is that of the finished file."""


@dataclass(frozen=True)
class Content:
    """Content that was read already; every reader takes it in place of a path."""

    data: bytes
    name: str
    """The name for messages."""
    path: Path | None = None
    """The path that it came from, if any; files that it names are looked for from there."""


FilePath = str | PathLike[str] | Content
"""The path of a robot file, its text, or its content."""


def content_of(path_or_text: FilePath) -> Content:
    """The content of a file, or of a text."""
    return path_or_text if isinstance(path_or_text, Content) else Content(*read(path_or_text))


def read(path_or_text: FilePath) -> tuple[bytes, str, Path | None]:
    """The content, what to call it in messages, and the path if it came from one."""
    if isinstance(path_or_text, Content):
        return path_or_text.data, path_or_text.name, path_or_text.path
    text = path_of(path_or_text)
    if not text.strip():
        raise FormatError("the path or text of the robot is empty; give the path of a robot file, or its text")
    if isinstance(path_or_text, str) and is_text(text):
        return _encode(text), "the given text", None
    path = Path(text)
    if not may_read(path):
        raise FormatError(f"{text!r} is not read: it is outside the folder that the robot may name files in")
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FormatError(f"cannot read {text!r}: {reason}; give the path of a robot file, or its text") from error
    if not S_ISREG(status.st_mode):
        what = "a folder; give the path of a robot file in it" if S_ISDIR(status.st_mode) else "not a regular file"
        raise FormatError(f"{text!r} is {what}")
    if status.st_size > MAX_FILE_BYTES:
        raise FormatError(
            f"{text!r} has {status.st_size / 2**20:.0f} MiB; files over {MAX_FILE_BYTES >> 20} MiB are not read"
        )
    try:
        return path.read_bytes(), path.name, path
    except OSError as error:
        raise FormatError(f"cannot read {text!r}: {error.strerror}") from error


_FENCE: ContextVar[Path | None] = ContextVar("folder of the files that may be read", default=None)


@contextmanager
def only_within(folder: Path) -> Iterator[None]:
    """Refuse, in the block and in this thread, to read files outside a folder, whatever a robot's file names.

    For robots of strangers: what their files include, and the meshes that they name, must be in the folder itself.
    """
    before = _FENCE.set(folder.resolve())
    try:
        yield
    finally:
        _FENCE.reset(before)


def may_read(path: Path) -> bool:
    """Whether a file is inside the folder of `only_within`, with links followed; always true outside such a block."""
    fence = _FENCE.get()
    if fence is None:
        return True
    try:
        return path.resolve().is_relative_to(fence)
    except (OSError, ValueError, RuntimeError):
        return False


def is_there(path: Path) -> bool:
    """Whether a path leads to a file or folder, and may be read."""
    try:
        return may_read(path) and path.exists()
    except (OSError, ValueError):
        return False


def is_fenced() -> bool:
    """Whether this is inside a block of `only_within`."""
    return _FENCE.get() is not None


def folder_of(path: Path | None) -> str | None:
    """The absolute folder of a file, at which the relative paths in it start; None for a text."""
    return None if path is None else str(path.absolute().parent)


def path_of(path: object) -> str:
    """A path as a string."""
    try:
        text = fspath(path)  # type: ignore[call-overload]
    except Exception:
        text = None
    if not isinstance(text, str):
        raise FormatError(f"expected the path of a robot file, as a string or a pathlib.Path, got {short_repr(path)}")
    return text


def is_text(text: str) -> bool:
    """Whether a string is a robot's text, and not the path to it."""
    return "\n" in text or text.lstrip("\ufeff \t\r").startswith(("<", "{"))


def _encode(text: str) -> bytes:
    """The text as UTF-8, without the encoding that an XML declaration names for the file it came from."""
    text = re.sub(r"""^(\s*<\?xml[^>]{0,100}?)\s+encoding=("[^"]*"|'[^']*')""", r"\1", text.lstrip("\ufeff"), count=1)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"the given text is not Unicode: {error.reason} at character {error.start}") from error


def replace_file(path: Path, fill: Callable[[Path], object]) -> None:
    """Let `fill` write a file beside this one, which then takes its place: nobody sees half a file.

    What is no regular file, such as /dev/stdout, and a file in a folder where no other can be made, is written itself.
    """
    place = path.resolve()
    if place.exists() and not place.is_file():
        fill(place)
        return
    part = place.with_name(f".{os.getpid()}-{threading.get_ident()}-{place.name}"[-MAX_NAME_LENGTH:])
    try:
        part.touch(exist_ok=False)
    except OSError:
        fill(place)
        return
    try:
        if place.exists():
            shutil.copymode(place, part)
        fill(part)
        os.replace(part, place)
    finally:
        part.unlink(missing_ok=True)


def write(path: str | PathLike[str], text: str) -> None:
    """Write text to a file, as UTF-8: all of it, or the file stays as it was."""
    try:
        content = text.encode()
        replace_file(Path(path), lambda part: part.write_bytes(content))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FormatError(f"cannot write {path_of(path)!r}: {reason}") from error
