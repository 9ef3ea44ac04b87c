"""`chainrule cache`: the compiled kernels on disk."""

from __future__ import annotations

import click

from chainrule.compile.load import cache as kernels


@click.command()
@click.option("--clear", is_flag=True, help="Remove all entries.")
def cache(clear: bool) -> None:
    """Show the compiled kernels kept on disk, or remove them."""
    if clear:
        click.echo(f"removed {kernels.clear()} kernels from {kernels.folder()}")
        return
    stored = kernels.entries()
    for path in stored:
        facts = kernels.facts_of(path)
        label = f"{facts['function']} of {facts['robot']}, float{facts['bits']}" if facts else "unreadable"
        click.echo(f"{path.stat().st_size / 1024:8.0f} KiB  {label!r}")
    total = sum(path.stat().st_size for path in stored)
    click.echo(f"{len(stored)} kernels, {total / 2**20:.1f} MiB, in {kernels.folder()}")
