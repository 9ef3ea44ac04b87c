"""`chainrule equations`: equations of motion or of kinematics, and derivations, printed or written to files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chainrule.algorithms.euler import ORDERS
from chainrule.algorithms.jacobians import FRAMES
from chainrule.arguments import Array
from chainrule.cli.console import (
    OneOf,
    command,
    degrees_option,
    echo,
    json_option,
    print_json,
    progress,
    report_files,
    robot_options,
)
from chainrule.cli.joints import CONFIGURATION, JOINT_VALUES, JointValues, positions, velocities
from chainrule.symbolic.closed_form.equations import Equations
from chainrule.symbolic.closed_form.equations import equations as closed_form
from chainrule.symbolic.closed_form.kinematics import KinematicEquations, kinematic_equations
from chainrule.symbolic.derivations.derivation import METHODS
from chainrule.symbolic.derivations.derivation import derivation as derive
from chainrule.symbolic.documents.document import Document
from chainrule.symbolic.documents.notation import NOTATIONS
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
    "chainrule equations scara --kinematics --order zyx --latex scara.tex",
    "chainrule equations planar_2r --terms h,accelerations",
    "chainrule equations planar_2r --notation craig --coordinates theta",
    "chainrule equations planar_2r --derivation rnea --tip-wrench --external all",
    "chainrule equations pendulum --json",
    keywords={
        "take it with named intermediate variables, robot.equations(...).intermediate(), or with numbers for "
        "parameters, or lock joints with robot.lock(...)": "take --parameters numeric, or in Python "
        "robot.equations(...).intermediate() or robot.lock(...)",
        'take them with named intermediate variables, robot.equations(...).intermediate("forward_dynamics"), or with '
        "numbers for parameters, or lock joints with robot.lock(...)": "take --parameters numeric, or in Python "
        'robot.equations(...).intermediate("forward_dynamics") or robot.lock(...)',
    },
)
@_format_option("latex")
@_format_option("html")
@_format_option("markdown")
@_format_option("notebook")
@click.option("--code", type=OneOf("language", LANGUAGES), help="Print source code instead, in this language.")
@click.option("--terms", metavar="NAMES", help="Which terms: h,accelerations; with --kinematics --code, T,pose_vector.")
@click.option("--derivation", type=OneOf("method", METHODS), help="Step by step, by this method.")
@click.option(
    "--parameters",
    default="symbolic",
    show_default=True,
    type=click.Choice(["symbolic", "numeric"]),
    help="Masses and lengths as symbols or as numbers.",
)
@click.option("--shorthand", is_flag=True, help="Write c12 for cos(q1 + q2).")
@click.option("--kinematics", is_flag=True, help="Pose, Jacobians and singular postures instead.")
@click.option("--link", help="Link or frame of --kinematics; the end-effector if left out.")
@click.option("--frame", type=OneOf("frame", FRAMES), help="Frame of its Jacobian; world if left out.")
@click.option("--order", type=OneOf("order", ORDERS), help="Order of its three angles; rpy if left out.")
@click.option("--notation", type=OneOf("notation", NOTATIONS), default="chainrule", help="Of which textbook.")
@click.option("--coordinates", metavar="LETTER", default="q", help="Letter of the coordinates, such as theta.")
@click.option("--tip-wrench", is_flag=True, help="With a wrench that the tip applies, as symbols.")
@click.option("--external", metavar="LINKS", help="With wrenches on these links, as symbols, or on all of them.")
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
    """Print a robot's equations of motion or of kinematics, or write them to files, with a derivation on request."""
    files = {"latex": latex, "html": html, "markdown": markdown, "notebook": notebook}
    check(files, options, state_given=any(x is not None for x in (q, qd, qdd)))
    state = None
    if q is not None or qd is not None or qdd is not None:
        v, a = (velocities(robot, values, degrees=degrees) for values in (qd, qdd))
        state = (positions(robot, q, degrees=degrees), v, a)
    with progress("deriving"):
        texts, paths = run(robot, files, options, state)
    if as_json:
        terms = {} if options["derivation"] is not None else _terms(_equations(robot, options))
        facts = {"robot": robot.name, "coordinates": robot.model.layout.coordinate_names, **terms, "texts": texts}
        print_json({**facts, "written": [str(path) for path in paths]})
        return
    for text in texts.values():
        echo(text)
    report_files(*paths)


def run(
    robot: Robot, files: dict[str, str | None], options: dict[str, Any], state: State | None = None
) -> tuple[dict[str, str], list[Path]]:
    """The texts to print, by their form, and the files that were written."""
    if options["code"] is not None:
        return {options["code"]: _equations(robot, options).source_code(options["code"], _names(options))}, []
    document = _document(robot, options, state)
    texts: dict[str, str] = {}
    paths: list[Path] = []
    for option, path in files.items():
        if path == STDOUT:
            texts[option] = getattr(document, option)()
        elif path is not None:
            paths.append(document.save(path))
    return (texts if texts or paths else {"text": document.text()}), paths


def check(files: dict[str, str | None], options: dict[str, Any], *, state_given: bool) -> None:
    """Refuse options that contradict each other, before any work."""
    code, derivation = options["code"], options["derivation"]
    if code is not None and derivation is not None:
        raise click.UsageError("give either --code or --derivation: a derivation is a text, not a program")
    if options["kinematics"] and derivation is not None:
        raise click.UsageError("give either --kinematics or --derivation, which derives the equations of motion")
    if not options["kinematics"] and any(options[name] is not None for name in ("link", "frame", "order")):
        raise click.UsageError("--link, --frame and --order belong to --kinematics")
    if options["kinematics"] and (options["tip_wrench"] or options["external"] is not None):
        raise click.UsageError("--tip-wrench and --external belong to the equations of motion, not to --kinematics")
    if options["terms"] is not None and code is None and (derivation is not None or options["kinematics"]):
        raise click.UsageError("--terms names terms of the equations of motion, or with --code those of --kinematics")
    if code is not None and any(path is not None for path in files.values()):
        raise click.UsageError("--code prints source code: give it without --latex, --html, --markdown and --notebook")
    if state_given and derivation is None:
        raise click.UsageError("--q, --qd and --qdd belong to --derivation, which shows numbers beside the symbols")
    for option, path in files.items():
        if path not in (None, STDOUT) and Path(str(path)).suffix != SUFFIXES[option]:
            raise click.UsageError(
                f"--{option} writes a file ending in {SUFFIXES[option]}, got {path!r}; name the robot before it"
            )


def _document(robot: Robot, options: dict[str, Any], state: State | None) -> Document:
    if options["derivation"] is None:
        found = _equations(robot, options)
        chosen = {"terms": _names(options)} if isinstance(found, Equations) else {}
        return found.document(shorthand=options["shorthand"], **chosen)
    document = derive(
        robot, options["derivation"], parameters=options["parameters"], state=state, **_style_options(options),
        **_wrenches(options),
    )  # fmt: skip
    return document.with_style(shorthand=options["shorthand"])


def _names(options: dict[str, Any]) -> list[str] | None:
    """The terms that are asked for."""
    return None if options["terms"] is None else [name.strip() for name in options["terms"].split(",")]


def _equations(robot: Robot, options: dict[str, Any]) -> Equations | KinematicEquations:
    if not options["kinematics"]:
        return closed_form(robot, options["parameters"], **_style_options(options), **_wrenches(options))
    frame, order = options["frame"] or "world", options["order"] or "rpy"
    return kinematic_equations(
        robot, options["link"], frame=frame, order=order, parameters=options["parameters"],
        **_style_options(options),
    )  # fmt: skip


def _style_options(options: dict[str, Any]) -> dict[str, Any]:
    """The notation and the letter of the coordinates."""
    return {name: options[name] for name in ("notation", "coordinates")}


def _wrenches(options: dict[str, Any]) -> dict[str, Any]:
    """The wrenches of the tip and on links."""
    links = options["external"]
    named = None if links is None else [name.strip() for name in links.split(",")]
    return {"tip_wrench": options["tip_wrench"] or None, "external": True if links == "all" else named}


def _terms(equations: Equations | KinematicEquations) -> dict[str, Any]:
    """The main terms as SymPy prints them."""
    terms = {name: equations.term(name) for name in equations.MAIN_TERMS}
    return {
        name: [str(x) for x in term] if term.cols == 1 else [[str(x) for x in term.row(i)] for i in range(term.rows)]
        for name, term in terms.items()
    }
