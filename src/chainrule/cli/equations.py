"""`chainrule equations`: equations of motion and their derivation, printed or written to files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chainrule.arguments import Array
from chainrule.cli.console import (
    OneOf,
    command,
    degrees_option,
    echo,
    json_option,
    print_json,
    progress,
    report_file,
    robot_options,
)
from chainrule.cli.joints import CONFIGURATION, JOINT_VALUES, JointValues, positions, velocities
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

State = tuple[Array, Array, Array]


def _format_option(name: str) -> Callable[[Any], Any]:
    """An option that prints a format, or writes it to a file."""
    return click.option(
        f"--{name}",
        is_flag=False,
        flag_value=STDOUT,
        metavar="[FILE]",
        help=f"Print {name}, or write it to FILE{SUFFIXES[name]}.",
    )


@command(
    "chainrule equations planar_2r --shorthand",
    "chainrule equations planar_2r --latex arm.tex --html arm.html",
    "chainrule equations planar_2r --derivation newton-euler --q 0.3,0.6 --qd 1,0 --qdd 0,0",
    "chainrule equations planar_2r --parameters numeric --code c",
    "chainrule equations pendulum --json",
    keywords={
        "take it with named intermediate variables, robot.equations(...).intermediate(), or with numbers for "
        "parameters, or lock joints with robot.lock(...)": "take --parameters numeric, or in Python "
        "robot.equations(...).intermediate() or robot.lock(...)",
    },
)
@_format_option("latex")
@_format_option("html")
@_format_option("markdown")
@_format_option("notebook")
@click.option("--code", type=OneOf("language", LANGUAGES), help="Print source code instead, in this language.")
@click.option("--derivation", type=OneOf("method", METHODS), help="Step by step, by this method.")
@click.option(
    "--parameters",
    default="symbolic",
    show_default=True,
    type=click.Choice(["symbolic", "numeric"]),
    help="Masses and lengths as symbols or as numbers.",
)
@click.option("--shorthand", is_flag=True, help="Write c12 for cos(q1 + q2).")
@click.option("--q", type=CONFIGURATION, help="Positions for the numbers in a derivation, in rad or m.")
@click.option("--qd", type=JOINT_VALUES, help="Velocities for them, in rad/s or m/s; zero if left out.")
@click.option("--qdd", type=JOINT_VALUES, help="Accelerations for them, in rad/s^2 or m/s^2; zero if left out.")
@degrees_option
@json_option
@robot_options
def equations(
    robot: Robot,
    latex: str | None,
    html: str | None,
    markdown: str | None,
    notebook: str | None,
    q: JointValues | None,
    qd: JointValues | None,
    qdd: JointValues | None,
    degrees: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Print a robot's equations of motion, or write them to files, with their derivation on request."""
    files = {"latex": latex, "html": html, "markdown": markdown, "notebook": notebook}
    check(files, options["code"], options["derivation"], state_given=any(x is not None for x in (q, qd, qdd)))
    state = None
    if q is not None or qd is not None or qdd is not None:
        v, a = (velocities(robot, values, degrees=degrees) for values in (qd, qdd))
        state = (positions(robot, q, degrees=degrees), v, a)
    with progress("deriving"):
        texts, paths = run(robot, files, state=state, **options)
    if as_json:
        terms = _terms(robot, options["parameters"]) if options["derivation"] is None else {}
        facts = {"robot": robot.name, "coordinates": robot.layout.coordinate_names, **terms, "texts": texts}
        print_json({**facts, "written": [str(path) for path in paths]})
        return
    for text in texts.values():
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
    state: State | None = None,
) -> tuple[dict[str, str], list[Path]]:
    """The texts to print, by their form, and the files that were written."""
    if code is not None:
        return {code: export_equations(closed_form(robot, parameters), code)}, []
    document = _document(robot, derivation, parameters, shorthand, state)
    texts: dict[str, str] = {}
    paths: list[Path] = []
    for option, path in files.items():
        if path == STDOUT:
            texts[option] = getattr(document, option)()
        elif path is not None:
            paths.append(document.save(path))
    return (texts if texts or paths else {"text": document.text()}), paths


def check(files: dict[str, str | None], code: str | None, derivation: str | None, *, state_given: bool) -> None:
    """Refuse options that contradict each other, before any work."""
    if code is not None and derivation is not None:
        raise click.UsageError("give either --code or --derivation: a derivation is a text, not a program")
    if code is not None and any(path is not None for path in files.values()):
        raise click.UsageError("--code prints source code: give it without --latex, --html, --markdown and --notebook")
    if state_given and derivation is None:
        raise click.UsageError("--q, --qd and --qdd belong to --derivation, which shows numbers beside the symbols")
    for option, path in files.items():
        if path not in (None, STDOUT) and Path(str(path)).suffix != SUFFIXES[option]:
            raise click.UsageError(
                f"--{option} writes a file ending in {SUFFIXES[option]}, got {path!r}; name the robot before it"
            )


def _document(robot: Robot, derivation: str | None, parameters: str, shorthand: bool, state: State | None) -> Document:
    if derivation is None:
        return summary(closed_form(robot, parameters), shorthand=shorthand)
    return derive(robot, derivation, parameters, state).styled(shorthand=shorthand)


def _terms(robot: Robot, parameters: str) -> dict[str, Any]:
    """The terms of tau = M qdd + c + g as SymPy prints them."""
    terms = closed_form(robot, parameters)
    vectors = {name: [str(x) for x in getattr(terms, name)] for name in ("c", "g")}
    return {"M": [[str(x) for x in terms.M.row(i)] for i in range(terms.M.rows)], **vectors}
