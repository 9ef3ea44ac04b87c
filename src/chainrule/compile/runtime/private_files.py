"""Files and folders that only this user can change: checked, made, read; and the secret that one of them holds.

A file is checked after it was opened, so that what was checked is what is read. The secret authenticates what this user
has stored: random bytes that only the user can read. It does not lie among what it authenticates, so that a folder from
elsewhere does not bring a secret of its own.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
import tempfile
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


# --- the secret ---

SECRET_BYTES = 32

_secrets: dict[Path, bytes] = {}


def secret_file() -> Path:
    """The file of the secret: `chainrule/cache.key` in the user's directory for states of programs."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        chosen = os.environ.get("XDG_STATE_HOME", "")
        base = Path(chosen) if os.path.isabs(chosen) else Path.home() / ".local" / "state"
    return base / "chainrule" / "cache.key"


def secret() -> bytes:
    """The secret, made if there is none yet.

    Raises Refusal where others could know or change it, OSError where it cannot be kept, RuntimeError without a home.
    """
    path = secret_file()
    if path not in _secrets:
        if not path.is_absolute():
            raise Refusal(f"the home directory must be an absolute path, got {str(path)!r}")
        make_folder(path.parent)
        found = _read_secret(path)
        is_whole = found is not None and len(found) == SECRET_BYTES
        _secrets[path] = found if found and is_whole else _make_secret(path, damaged=found is not None)
    return _secrets[path]


def _read_secret(path: Path) -> bytes | None:
    """The content of the file: the secret, or half of one; None where there is no file."""
    try:
        return read_file(path, secret=True)
    except FileNotFoundError:
        return None
    except Refusal as error:
        advice = "it holds the secret that authenticates them; remove it, and a new one is made"
        raise Refusal(f"{error} ({advice})") from error


def _make_secret(path: Path, damaged: bool) -> bytes:
    """Make the secret, unless another process was faster: nobody ever sees half of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")  # which nobody else can read
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(secrets.token_bytes(SECRET_BYTES))
            out.flush()
            os.fsync(out.fileno())
        try:
            if damaged:  # half of one, which somebody else has left
                path.unlink(missing_ok=True)
            os.link(temporary, path)
        except FileExistsError:
            pass
        except (OSError, AttributeError):  # there are no links here
            os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
    made = _read_secret(path)
    if not made or len(made) != SECRET_BYTES:
        raise OSError(f"the file {str(path)!r} cannot be kept")
    return made
