"""`chainrule equations`: equations of motion and their derivation, printed or written to files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chainrule.arguments import Array
from chainrule.cli.console import NUMBERS, echo, load_robot, report_file
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.symbolic.closed_form.equations import equations as closed_form
from chainrule.symbolic.closed_form.summary import summary
from chainrule.symbolic.derivations.derivation import METHODS, derive
from chainrule.symbolic.documents.document import Document
from chainrule.symbolic.source_code.exports import export_equations
from chainrule.symbolic.source_code.languages import LANGUAGES

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

SUFFIXES = {"latex": ".tex", "html": ".html", "markdown": ".md", "notebook": ".ipynb"}

STDOUT = "-"
"""The file name that stands for printing."""

State = tuple[Array | None, Array | None, Array | None]


def _format_option(name: str) -> Callable[[Any], Any]:
    """An option that prints a format, or writes it to a file."""
    return click.option(
        f"--{name}",
        is_flag=False,
        flag_value=STDOUT,
        metavar="[FILE]",
        help=f"Print {name}, or write it to FILE{SUFFIXES[name]}.",
    )


@click.command()
@click.argument("robot")
@_format_option("latex")
@_format_option("html")
@_format_option("markdown")
@_format_option("notebook")
@click.option("--code", help="Print source code instead: c, numpy, octave, julia or modelica.")
@click.option("--derivation", help="Step by step: newton-euler, lagrange or closed-form.")
@click.option("--parameters", default="symbolic", show_default=True, help="Masses and lengths: symbolic or numeric.")
@click.option("--shorthand", is_flag=True, help="Write c12 for cos(q1 + q2).")
@click.option("--q", type=NUMBERS, help="Positions for the numbers in a derivation.")
@click.option("--qd", type=NUMBERS, help="Velocities for them.")
@click.option("--qdd", type=NUMBERS, help="Accelerations for them.")
def equations(
    robot: str,
    latex: str | None,
    html: str | None,
    markdown: str | None,
    notebook: str | None,
    q: Array | None,
    qd: Array | None,
    qdd: Array | None,
    **options: Any,
) -> None:
    """Print a robot's equations of motion, or write them to files, with their derivation on request."""
    files = {"latex": latex, "html": html, "markdown": markdown, "notebook": notebook}
    texts, paths = run(load_robot(robot), files, state=(q, qd, qdd), **options)
    for text in texts:
        echo(text)
    for path in paths:
        report_file(path)


def run(
    robot: Robot,
    files: dict[str, str | None],
    *,
    code: str | None = None,
    derivation: str | None = None,
    parameters: str = "symbolic",
    shorthand: bool = False,
    state: State = (None, None, None),
) -> tuple[list[str], list[Path]]:
    """The texts to print, and the files that were written."""
    check(files, code, derivation, parameters)
    if code is not None:
        return [export_equations(closed_form(robot, parameters), code)], []
    document = _document(robot, derivation, parameters, shorthand, state)
    texts, paths = [], []
    for option, path in files.items():
        if path == STDOUT:
            texts.append(getattr(document, option)())
        elif path is not None:
            paths.append(document.save(path))
    return (texts if texts or paths else [document.text()]), paths


def check(files: dict[str, str | None], code: str | None, derivation: str | None, parameters: str) -> None:
    """Refuse options that are unknown or contradict each other, before any work."""
    if parameters not in ("symbolic", "numeric"):
        raise UnknownNameError.of("choice", parameters, ("symbolic", "numeric"), "--parameters")
    if derivation is not None and derivation not in METHODS:
        raise UnknownNameError.of("method", derivation, METHODS, "--derivation")
    if code is not None and code not in LANGUAGES:
        raise UnknownNameError.of("language", code, LANGUAGES, "--code")
    if code is not None and derivation is not None:
        raise ShapeError("give either --code or --derivation: a derivation is a text, not a program")
    for option, path in files.items():
        if path not in (None, STDOUT) and Path(str(path)).suffix != SUFFIXES[option]:
            raise ShapeError(
                f"--{option} writes a file ending in {SUFFIXES[option]}, got {path!r}; name the robot before it"
            )


def _document(robot: Robot, derivation: str | None, parameters: str, shorthand: bool, state: State) -> Document:
    given = [part is not None for part in state]
    if derivation is None:
        if any(given):
            raise ShapeError("--q, --qd and --qdd belong to --derivation, which shows numbers beside the symbols")
        return summary(closed_form(robot, parameters), shorthand=shorthand)
    if any(given) and not all(given):
        raise ShapeError("give all of --q, --qd and --qdd, or none of them")
    document = derive(robot, derivation, parameters, state if all(given) else None)
    return document.styled(shorthand=shorthand)
