"""What the commands share: robots by name or file, numbers, degrees, and printing.

All text is written here: `echo` for lines, `print_json` for JSON, `terminal` for tables. Names come from files, and may
hold what commands a terminal; it is shown as an escape, such as \\x1b.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment

from chainrule.arguments import Array
from chainrule.errors import ModelWarning, visible

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

PIPE_WIDTH_COLUMNS = 200
"""The width of a table that goes to a file or a pipe."""


class Numbers(click.ParamType[object]):
    """Numbers separated by commas or spaces, such as "0.1,0.2" or "0 90"."""

    name = "numbers"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Array | None:
        """The numbers as an array."""
        if value is None or isinstance(value, np.ndarray):
            return value
        words = str(value).replace(",", " ").split()
        try:
            return np.array([float(word) for word in words])
        except ValueError:
            self.fail(f"{value!r} should be numbers separated by commas, such as 0.1,0.2,0.3", param, ctx)


NUMBERS = Numbers()


def load_robot(name: str) -> Robot:
    """A bundled robot or the robot of a file; warnings about its model are printed to stderr, a line each."""
    from chainrule.robot.library import load

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        robot = load(name)
    for warning in caught:
        echo(f"warning: {warning.message}", err=True)
    return robot


def in_radians(robot: Robot, values: Array) -> Array:
    """Degrees to radians, for the coordinates that are angles and their rates; lengths and quaternions stay.

    Arrays of any other length than that of q or qd are returned as they are, for the robot to refuse.
    """
    layout = robot.layout
    if len(values) == layout.nq:
        angles = [coordinate.unit == "rad" for coordinate in layout.coordinates]
    elif len(values) == layout.nv:
        angles = [velocity.unit == "rad" and velocity.coordinate is not None for velocity in layout.velocities]
    else:
        return values
    return np.where(angles, np.radians(values), values)


def in_degrees(robot: Robot, q: Array) -> Array:
    """Radians to degrees, for the coordinates that are angles: (..., nq)."""
    angles = [coordinate.unit == "rad" for coordinate in robot.layout.coordinates]
    return np.where(angles, np.degrees(q), q)


def visible_lines(text: str) -> str:
    """Lines of text, in which only the ends of lines and tabs command the terminal."""
    return "".join(c if c in "\n\t" else visible(c) for c in text)


def echo(text: object, *, err: bool = False) -> None:
    """Print lines of text, to stdout or to stderr."""
    click.echo(visible_lines(str(text)), file=sys.stderr if err else sys.stdout)


def print_json(facts: Any) -> None:
    """Print one line of JSON, which has only finite numbers: nan is null, infinities are "Infinity" and "-Infinity"."""
    echo(json.dumps(_without_nonfinite(facts), allow_nan=False))


def _without_nonfinite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nonfinite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nonfinite(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


class PlainConsole(Console):
    """A console of rich through which only rich itself commands the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of text, with what commands the terminal shown as escapes."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible_lines(segment.text))


def terminal() -> Console:
    """A console as wide as the terminal; what goes to a file or a pipe is never cut."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = None if is_terminal else PIPE_WIDTH_COLUMNS
    return PlainConsole(highlight=False, emoji=False, soft_wrap=True, width=width)


def plain(text: str) -> str:
    """Text from a file, with nothing in it that is markup or that commands the terminal."""
    return escape(visible(text))


def report_file(path: object) -> None:
    """Print the name of a file that was written, to stderr."""
    echo(f"written: {visible(str(path))}", err=True)
