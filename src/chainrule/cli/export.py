"""`chainrule export`: functions of a robot as source code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from chainrule.cli.console import OneOf, OutputFile, command, echo, json_option, print_json, progress, robot_options
from chainrule.compile.targets import TARGETS
from chainrule.errors import visible
from chainrule.functions.table import FUNCTIONS
from chainrule.robot import robot as _declared  # noqa: F401 - it fills the table of functions

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot


@command(
    "chainrule export planar_2r -o arm.c",
    "chainrule export planar_2r --function mass_matrix --function bias -o terms.c --json",
    "chainrule export panda --target javascript --function pose -o panda.mjs",
    keywords={"path": "--output", "overwrite=True": "--force"},
)
@click.option("--target", default="c", show_default=True, type=OneOf("target", TARGETS), help="The language to write.")
@click.option(
    "--function", "functions", multiple=True, default=("inverse_dynamics",), show_default=True,
    type=OneOf("function", FUNCTIONS), metavar="NAME", help="A function, by the name of its method; may be repeated.",
)  # fmt: skip
@click.option("--output", "-o", required=True, type=OutputFile(), help="The file to write, ending in .c, .cu or .mjs.")
@click.option("--force", is_flag=True, help="Overwrite files that chainrule has not written, too.")
@json_option
@robot_options
def export(robot: Robot, target: str, functions: tuple[str, ...], output: str, force: bool, as_json: bool) -> None:
    """Write a robot's functions as source code without dependencies."""
    with progress("writing"):
        paths = robot.compiled.export(target, functions=functions, path=output, overwrite=force)
    if as_json:
        print_json({"robot": robot.name, "functions": functions, "written": [str(path) for path in paths]})
        return
    for path in paths:
        echo(visible(str(path)))
