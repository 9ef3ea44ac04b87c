"""`chainrule doctor`: everything that looks wrong with a robot, ranked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from chainrule.cli.console import (
    Loading,
    RobotName,
    command,
    echo,
    in_loading_words,
    json_option,
    loading_options,
    print_json,
    terminal,
)
from chainrule.display.text import text_of
from chainrule.errors import ChainruleError

if TYPE_CHECKING:
    from chainrule.doctor import Diagnosis

EXIT_SERIOUS = 1


@command(
    "chainrule doctor panda",
    "chainrule doctor arm.urdf              # before you trust a file",
    "chainrule doctor arm.urdf --repair     # what is left after mending",
    "chainrule doctor panda --json",
    failure="or anything is serious",
)
@click.argument("robot", type=RobotName())
@json_option
@loading_options
def doctor(robot: str, as_json: bool, loading: Loading) -> None:
    """Look for what is wrong with a robot: its file, masses, inertias, lengths, angles, limits, left and right.

    Findings are serious, suspicious or notes. The exit code is 1 if one is serious, and 0 otherwise.
    """
    diagnosis = examine(robot, loading)
    print_json(diagnosis.to_dict()) if as_json else echo(in_loading_words(text_of(diagnosis, terminal().width)))
    if diagnosis.serious:
        raise click.exceptions.Exit(EXIT_SERIOUS)


def examine(name: str, loading: Loading) -> Diagnosis:
    """The findings about a bundled robot or a file, which is not run; that it cannot be loaded is a finding as well."""
    from chainrule.doctor import diagnose, diagnose_error
    from chainrule.robot.library import load

    try:
        return diagnose(load(name, **{**loading.options(), "check": False, "xacro": False}).model)
    except ChainruleError as error:
        if not Path(name).is_file():
            raise
        return diagnose_error(name, error)
