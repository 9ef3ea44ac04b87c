"""`chainrule convert`: a robot from one file format to another, and what is lost on the way."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chainrule.cli.console import (
    Loading,
    OutputFile,
    RobotName,
    command,
    echo,
    json_option,
    loading_options,
    print_json,
    progress,
    report_files,
    warn,
)
from chainrule.errors import FormatError, ModelWarning

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

STATES = 10
"""Random states at which the two robots are compared."""


@command(
    "chainrule convert planar_2r planar.urdf",
    "chainrule convert panda panda.json --json",
    keywords={"lossy=True": "leave out --exact"},
    codes={"0": "written", "1": "refused, or with --exact something would be lost", "2": "not typed as --help says"},
)
@click.argument("robot", type=RobotName())
@click.argument("output", type=OutputFile())
@click.option("--exact", is_flag=True, help="Refuse to write what the format cannot hold, instead of leaving it out.")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@json_option
@loading_options
def convert(robot: str, output: str, loading: Loading, exact: bool, force: bool, as_json: bool) -> None:
    """Write a robot to a file of another format, and say what is lost.

    OUTPUT ends in .toml or .json, which hold everything, or in .urdf. What was written is read again and compared with
    the robot.
    """
    from chainrule.formats import registry

    registry.writer_for(output)
    if Path(output).exists() and not force:
        raise FormatError(f"{output!r} exists; pass --force to overwrite it")
    given = loading.load(robot)
    with progress("converting"):
        lost = _write(given, output, exact)
        differences = _differences(given, output)
    if as_json:
        print_json({"robot": given.name, "written": output, "lost": lost, "differences": differences.to_dict()})
        return
    report_files(output)
    for sentence in lost:
        warn(f"lost: {sentence}")
    if not differences:
        echo("read again: nothing differs")
        return
    echo(f"read again: {str(differences).splitlines()[0]}; `chainrule compare` lists them")
    if differences.effect is not None:
        echo(str(differences.effect))


def _write(robot: Robot, output: str, exact: bool) -> list[str]:
    """Write the file; sentences on what is lost."""
    from chainrule.formats import registry

    _, lost = registry.without_inexpressible(robot.model, output)
    if exact and lost:
        raise FormatError(f"{output!r} cannot hold all of robot {robot.name!r}: {'; '.join(lost)}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        robot.save(output, lossy=not exact)
    said = [str(warning.message) for warning in caught]
    return [*lost, *(message for message in said if not any(sentence in message for sentence in lost))]


def _differences(robot: Robot, output: str) -> Any:
    from chainrule.robot.library import load

    return robot.compare(load(Path(output), check=False), states=STATES)
