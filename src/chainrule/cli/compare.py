"""`chainrule compare`: what differs between two robots, and what it does to torques and poses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from chainrule.cli.console import Loading, OneOf, RobotName, command, echo, json_option, loading_options, print_json
from chainrule.errors import ChainruleError
from chainrule.robot.comparison import IGNORABLE

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

EXIT_DIFFERENT = 1


class ComparisonFailed(click.ClickException):
    """The robots could not be compared; `diff` has this exit code too."""

    exit_code = 2


@command(
    "chainrule compare ur5 arm.urdf --ignore configurations --tolerance 1e-6",
    "chainrule compare panda panda --json",
    codes={"0": "they do not differ", "1": "they differ", "2": "refused or failed, or not typed as --help says"},
)
@click.argument("first", type=RobotName())
@click.argument("second", type=RobotName())
@click.option(
    "--tolerance", type=float, default=1e-9, show_default=True, help="The relative difference that does not count."
)
@click.option("--ignore", type=OneOf("part", IGNORABLE), multiple=True, help="What is not compared; may be repeated.")
@click.option("--states", type=int, default=100, show_default=True, help="Random states for torques and poses.")
@json_option
@loading_options
def compare(first: str, second: str, loading: Loading, as_json: bool, **options: Any) -> None:
    """Compare two robots: what differs, by element, with numbers and units.

    Robots are compared by the names of their parts. Where both have the same joints, torques and poses at random states
    say what the differences mean. The exit code is that of diff.
    """
    try:
        one, two = _load(loading, first), _load(loading, second)
        result = one.compare(two, **options)
    except (ChainruleError, OSError) as error:
        raise ComparisonFailed(str(error)) from error
    if as_json:
        print_json({**result.to_dict(), "first": first, "second": second})
    else:
        echo(result)
    if result:
        raise SystemExit(EXIT_DIFFERENT)


def _load(loading: Loading, name: str) -> Robot:
    """One of the two; errors say which."""
    try:
        return loading.load(name)
    except ChainruleError as error:
        text = str(error)
        raise type(error)(text if name in text else f"{name}: {text}") from error
