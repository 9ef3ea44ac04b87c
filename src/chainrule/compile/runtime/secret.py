"""The secret that authenticates what this user has stored: random bytes in a file that only the user can read.

It does not lie among what it authenticates, so that a folder from elsewhere does not bring a secret of its own.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import tempfile
from pathlib import Path

from chainrule.compile.runtime.private_files import Refusal, make_folder, read_file

SECRET_BYTES = 32

_known: dict[Path, bytes] = {}


def file() -> Path:
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
    path = file()
    if path not in _known:
        if not path.is_absolute():
            raise Refusal(f"the home directory must be an absolute path, got {str(path)!r}")
        make_folder(path.parent)
        found = _read(path)
        _known[path] = found if found and len(found) == SECRET_BYTES else _make(path, damaged=found is not None)
    return _known[path]


def _read(path: Path) -> bytes | None:
    """The content of the file: the secret, or half of one; None where there is no file."""
    try:
        return read_file(path, secret=True)
    except FileNotFoundError:
        return None
    except Refusal as error:
        advice = "it holds the secret that authenticates them; remove it, and a new one is made"
        raise Refusal(f"{error} ({advice})") from error


def _make(path: Path, damaged: bool) -> bytes:
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
    made = _read(path)
    if not made or len(made) != SECRET_BYTES:
        raise OSError(f"the file {str(path)!r} cannot be kept")
    return made
