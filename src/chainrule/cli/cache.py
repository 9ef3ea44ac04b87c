"""`chainrule cache`: the compiled kernels on disk."""

from __future__ import annotations

import contextlib

import click

from chainrule.compile.load import cache as kernels
from chainrule.errors import ShapeError


@click.command()
@click.option("--clear", is_flag=True, help="Remove all entries.")
def cache(clear: bool) -> None:
    """Show the compiled kernels kept on disk, or remove them."""
    if not kernels.is_enabled():
        click.echo("compiled kernels are not kept on disk: CHAINRULE_CACHE turns it off")
        return
    try:
        folder = kernels.folder()
    except RuntimeError as error:
        raise ShapeError("there is no home directory; set CHAINRULE_CACHE to a folder, or HOME") from error
    if clear:
        click.echo(f"removed {kernels.clear()} kernels from {str(folder)!r}")
        return
    count, total = 0, 0
    for path in kernels.entries():
        with contextlib.suppress(FileNotFoundError):  # another process removes it now
            size = path.stat().st_size
            facts = kernels.facts_of(path)
            label = f"{facts['function']} of {facts['robot']}, float{facts['bits']}" if facts else "unreadable"
            click.echo(f"{size / 1024:8.0f} KiB  {label!r}")
            count, total = count + 1, total + size
    click.echo(f"{count} kernels, {total / 2**20:.1f} MiB, in {kernels.status()!r}")
