"""`chainrule export`: functions of a robot as source code."""

from __future__ import annotations

import click

from chainrule.cli.console import load_robot


@click.command()
@click.argument("robot")
@click.option("--target", default="c", show_default=True, help="The language to write.")
@click.option("--function", "functions", multiple=True, help="A function, by the name of its method; may be repeated.")
@click.option("--output", "-o", required=True, type=click.Path(dir_okay=False), help="The file to write, ending in .c.")
@click.option("--force", is_flag=True, help="Overwrite files that chainrule has not written, too.")
def export(robot: str, target: str, functions: tuple[str, ...], output: str, force: bool) -> None:
    """Write a robot's functions as source code without dependencies."""
    chosen = functions or ("inverse_dynamics",)
    for path in load_robot(robot).export(target, functions=chosen, path=output, overwrite=force):
        click.echo(path)
