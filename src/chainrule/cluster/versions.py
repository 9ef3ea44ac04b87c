"""What workers must have in common with the process that sends them work."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import chainrule
from chainrule.errors import ClusterError

PACKAGES = ("numpy", "scipy", "dask", "distributed", "cloudpickle", "msgpack")
"""Packages whose versions must be the same everywhere: they decide numbers, or what is sent."""


@cache
def own_versions() -> dict[str, str]:
    """The versions of this process by name: of Python, of chainrule, of a digest of its text, and of packages."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, "chainrule": f"{chainrule.__version__} ({_text_digest()})"} | {
        name: _version(name) for name in PACKAGES
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _text_digest() -> str:
    """Some letters that differ where the library's own text does: two checkouts may have one version."""
    digest = hashlib.sha256()
    root = Path(chainrule.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]


def refuse_other_versions(workers: Mapping[str, Mapping[str, str]], sender: Mapping[str, str] | None = None) -> None:
    """An error that lists what differs between workers, by their addresses, and the sender of work: this process."""
    own = own_versions() if sender is None else sender
    lines = [
        f"  {address}: {name} {theirs.get(name, 'not known')}, here {here}"
        for address, theirs in sorted(workers.items())
        for name, here in own.items()
        if theirs.get(name) != here
    ]
    if lines:
        shown = "\n".join(lines[:20]) + ("" if len(lines) <= 20 else f"\n  ... and {len(lines) - 20} more")
        raise ClusterError(
            "workers have other versions than this process, and their numbers could differ; install the same there, "
            f"or stop them:\n{shown}"
        )
