"""Files and folders that only this user can change: checked, made, read.

A file is checked after it was opened, so that what was checked is what is read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from functools import cache
from pathlib import Path

POSIX = hasattr(os, "getuid")
"""Whether files have owners and permissions; elsewhere the user's own directories are private by default."""


class Refusal(OSError):  # noqa: N818
    """A file or folder exists and is not used, since others could have changed it."""


def check_folder(path: Path) -> None:
    """Raise Refusal unless the folder is this user's own, and nobody else can write to it or move it away."""
    status = path.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(f"{str(path)!r} is not a folder")
    _check_status(status, f"the folder {str(path)!r}")
    _check_parents(path, [*path.parents, *path.resolve().parents])


def make_folder(path: Path) -> None:
    """Make a folder that only this user can enter, with its parents, unless it exists; then check it."""
    if not path.exists():
        nearest = next(parent for parent in path.parents if parent.exists())
        if not nearest.is_dir():
            raise NotADirectoryError(f"{str(nearest)!r} is not a folder")
        _check_parents(path, [nearest, *nearest.parents, nearest.resolve(), *nearest.resolve().parents])
        for missing in reversed([path, *path.parents]):
            if not missing.exists():
                missing.mkdir(mode=0o700, exist_ok=True)
    check_folder(path)


def read_file(path: Path, *, secret: bool = False) -> bytes:
    """The content of a regular file of this user that nobody else can write to; nor read, if it is secret."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise Refusal(f"{str(path)!r} is not a regular file")
        _check_status(status, f"the file {str(path)!r}", stat.S_IRWXG | stat.S_IRWXO if secret else None)
        return file.read()


def _check_status(status: os.stat_result, what: str, forbidden: int | None = None) -> None:
    if not POSIX:
        return
    if status.st_uid != os.getuid():
        raise Refusal(f"{what} belongs to another user")
    if forbidden is None:
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise Refusal(f"other users can write to {what}")
    elif status.st_mode & forbidden:
        raise Refusal(f"other users can read {what}")


def _check_parents(path: Path, parents: Iterable[Path]) -> None:
    """Raise Refusal where somebody else could put another folder in the place of this one."""
    if not POSIX:
        return
    for parent in dict.fromkeys(parents):
        status = parent.stat()
        what = f"{str(parent)!r}, in which the folder {str(path)!r} lies,"
        if status.st_uid not in (0, os.getuid()):
            raise Refusal(f"{what} belongs to another user")
        if status.st_mode & stat.S_ISVTX:  # in it, users can move what is their own only
            continue
        by_group = status.st_mode & stat.S_IWGRP and not _is_own_group(status.st_gid)
        if status.st_mode & stat.S_IWOTH or by_group:
            raise Refusal(f"{what} can be written to by other users")


@cache
def _is_own_group(group: int) -> bool:
    """Whether nobody but this user is in a group: many systems give each user such a group."""
    import grp
    import pwd

    try:
        user, entry = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return group == user.pw_gid and entry.gr_name == user.pw_name and set(entry.gr_mem) <= {user.pw_name}
