"""`chainrule cache`: the compiled kernels on disk."""

from __future__ import annotations

import contextlib
from typing import Any

import click

from chainrule.cli.console import command, echo, json_option, print_json
from chainrule.compile.runtime import disk_cache as kernels
from chainrule.errors import ShapeError


@command("chainrule cache", "chainrule cache --json", "chainrule cache --clear")
@click.option("--clear", is_flag=True, help="Remove all entries.")
@json_option
def cache(clear: bool, as_json: bool) -> None:
    """Show the compiled kernels kept on disk, or remove them."""
    if not kernels.is_enabled():
        facts: dict[str, Any] = {"folder": None, "kernels": [], "bytes": 0}
    else:
        try:
            facts = {"folder": str(kernels.folder())}
        except RuntimeError as error:
            raise ShapeError("there is no home directory; set CHAINRULE_CACHE to a folder, or HOME") from error
        facts |= {"removed": kernels.clear()} if clear else stored_kernels()
    if as_json:
        print_json(facts)
    else:
        print_cache(facts)


def stored_kernels() -> dict[str, Any]:
    """The kernels on disk and their size; the function and the robot are None for a file that cannot be read."""
    found = []
    for path in kernels.entries():
        with contextlib.suppress(FileNotFoundError):  # another process removes it now
            facts = kernels.facts_of(path) or {}
            known = {name: facts.get(name) for name in ("function", "robot", "bits")}
            found.append({"bytes": path.stat().st_size, **known})
    return {"kernels": found, "bytes": sum(entry["bytes"] for entry in found)}


def print_cache(facts: dict[str, Any]) -> None:
    """Print a line for each kernel, and their number, size and place."""
    if facts["folder"] is None:
        echo("compiled kernels are not kept on disk: CHAINRULE_CACHE turns it off")
        return
    if "removed" in facts:
        echo(f"removed {facts['removed']} kernels from {facts['folder']!r}")
        return
    for entry in facts["kernels"]:
        label = f"{entry['function']} of {entry['robot']}, float{entry['bits']}" if entry["function"] else "unreadable"
        echo(f"{entry['bytes'] / 1024:8.0f} KiB  {label!r}")
    echo(f"{len(facts['kernels'])} kernels, {facts['bytes'] / 2**20:.1f} MiB, in {kernels.status()!r}")
