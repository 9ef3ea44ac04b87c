"""Equations as the command line asks for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chainrule.arguments import Array
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.symbolic.closed_form.equations import equations
from chainrule.symbolic.derivations.derivation import METHODS, derive
from chainrule.symbolic.documents.document import Document
from chainrule.symbolic.documents.summary import summary
from chainrule.symbolic.source_code.dialects import DIALECTS
from chainrule.symbolic.source_code.exports import export_equations

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

ENDINGS = {"latex": ".tex", "html": ".html", "markdown": ".md", "notebook": ".ipynb"}
PRINTED = "-"
"""The file that stands for printing."""


def check(files: dict[str, str | None], code: str | None, derivation: str | None, parameters: str) -> None:
    """Refuse what cannot be done, before any work."""
    if parameters not in ("symbolic", "numeric"):
        raise UnknownNameError.of("choice", parameters, ("symbolic", "numeric"), "--parameters")
    if derivation is not None and derivation not in METHODS:
        raise UnknownNameError.of("method", derivation, METHODS, "--derivation")
    if code is not None and code not in DIALECTS:
        raise UnknownNameError.of("language", code, DIALECTS, "--code")
    if code is not None and derivation is not None:
        raise ShapeError("give either --code or --derivation: a derivation is a text, not a program")
    for option, path in files.items():
        if path not in (None, PRINTED) and Path(str(path)).suffix != ENDINGS[option]:
            raise ShapeError(
                f"--{option} writes a file ending in {ENDINGS[option]}, got {path!r}; name the robot before it"
            )


def run(
    robot: Robot,
    files: dict[str, str | None],
    *,
    code: str | None = None,
    derivation: str | None = None,
    parameters: str = "symbolic",
    shorthand: bool = False,
    state: tuple[Array | None, Array | None, Array | None] = (None, None, None),
) -> tuple[list[str], list[Path]]:
    """What to print, and the files that were written."""
    check(files, code, derivation, parameters)
    if code is not None:
        return [export_equations(equations(robot, parameters), code)], []
    document = _document(robot, derivation, parameters, shorthand, state)
    printed, written = [], []
    for option, path in files.items():
        if path == PRINTED:
            printed.append(getattr(document, option)())
        elif path is not None:
            written.append(document.save(path))
    return (printed if printed or written else [document.text()]), written


def _document(
    robot: Robot,
    derivation: str | None,
    parameters: str,
    shorthand: bool,
    state: tuple[Array | None, Array | None, Array | None],
) -> Document:
    given = [part is not None for part in state]
    if derivation is None:
        if any(given):
            raise ShapeError("--q, --qd and --qdd belong to --derivation, which shows numbers beside the symbols")
        return summary(equations(robot, parameters), shorthand=shorthand)
    if any(given) and not all(given):
        raise ShapeError("give all of --q, --qd and --qdd, or none of them")
    document = derive(robot, derivation, parameters, state if all(given) else None)
    return document.styled(shorthand=shorthand)
