"""What the commands share: robots by name or file, numbers, degrees, and printing."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

import click
import numpy as np
from rich.console import Console
from rich.markup import escape

from chainrule.arguments import Array
from chainrule.errors import ModelWarning

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
        click.echo(f"warning: {warning.message}", err=True)
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


def terminal() -> Console:
    """A console as wide as the terminal; what goes to a file or a pipe is never cut."""
    width = None if sys.stdout.isatty() else PIPE_WIDTH_COLUMNS
    return Console(highlight=False, emoji=False, soft_wrap=True, width=width)


def plain(text: str) -> str:
    """Text from a file, with nothing in it that is markup or that commands the terminal."""
    return escape("".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text))


def report_file(path: object) -> None:
    """Print the name of a file that was written, to stderr."""
    click.echo(f"written: {path}", err=True)
