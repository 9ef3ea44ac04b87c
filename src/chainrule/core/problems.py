"""Problems of a robot shown to its user: all of them in one warning, or in one error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from chainrule.errors import FormatError, ModelError, ModelWarning, ShapeError, short_repr, warn_user
from chainrule.model.problems import ModelProblem

Check = Literal["warn", "strict"] | bool
"""What is done about problems: a warning, an error ("strict" or True), or nothing (False)."""

Mode = Literal["warn", "strict", "silent"]

WRONG = ("problem", "doubt")
"""Severities that "strict" refuses."""

MAX_LISTED = 40
"""Entries of the list in a warning or error; the model has them all."""

MAX_ELEMENTS = 12
"""Elements with the same problem that are named in one entry."""


def check_mode(value: Any) -> Mode:
    """The meaning of the option `check`."""
    if isinstance(value, str) and value in ("warn", "strict"):
        return "warn" if value == "warn" else "strict"
    if not isinstance(value, str):
        try:
            if value in (0, 1):
                return "strict" if value else "silent"
        except Exception:
            pass
    raise ShapeError(f'check must be "warn", "strict" (or True), or False, got {short_repr(value)}')


def report(
    name: str, problems: Sequence[ModelProblem], check: Mode, *, in_file: bool = False, warn: bool = True
) -> None:
    """One warning about all problems of the robot `name`, or one error; fatal ones are an error always.

    `in_file` says that some are problems of a file, not of the robot in it: the error is then a FormatError.
    warn=False leaves the warning out.
    """
    error: type[ModelError] = FormatError if in_file else ModelError
    fatal = [problem for problem in problems if problem.severity == "fatal"]
    if fatal:
        raise error(describe(name, fatal, brief=True))
    open_ = [problem for problem in problems if problem.severity in WRONG and not problem.is_repaired]
    if open_ and check == "strict":
        raise error(describe(name, open_, _advice(open_, check), brief=True))
    if problems and check != "silent" and warn:
        warn_user(describe(name, problems, "" if check == "strict" else _advice(problems, check)), ModelWarning)


def describe(name: str, problems: Sequence[ModelProblem], advice: str = "", *, brief: bool = False) -> str:
    """All problems of a robot in words: one sentence for one, a list for several; equal ones share an entry.

    `brief` leaves out what they mean for the results, of which there are none in an error.
    """
    entries = _entries(problems, brief)
    if len(entries) == 1:
        first = problems[0]
        joint = ", " if first.element else " " if first.message.startswith("has ") else ": "
        return f"robot {name!r}{joint}{entries[0]}{advice and '. ' + advice}"
    listed = "".join(f"\n  - {entry}" for entry in entries[:MAX_LISTED])
    more = f"\n  - and {len(entries) - MAX_LISTED} more" if len(entries) > MAX_LISTED else ""
    return f"robot {name!r} has {len(entries)} problems:{listed}{more}{advice and chr(10) + advice}"


def _entries(problems: Sequence[ModelProblem], brief: bool) -> list[str]:
    """The text of each problem; elements with the same one are named together, and the same meaning is told once."""
    alike: dict[ModelProblem, list[str]] = {}
    for problem in problems:
        elements = alike.setdefault(replace(problem, element=""), [])
        if problem.element not in elements:
            elements.append(problem.element)
    entries, meanings = [], set()
    for problem, elements in alike.items():
        named = replace(problem, element=_join(elements))
        what_follows = (problem.meaning, problem.repair, problem.is_repaired)
        is_known = bool(problem.meaning) and what_follows in meanings
        meanings.add(what_follows)
        entries.append(named.sentence if brief else f"{named.sentence} (as above)" if is_known else str(named))
    return entries


def _join(elements: Sequence[str]) -> str:
    named = ", ".join(elements[:MAX_ELEMENTS])
    return named if len(elements) <= MAX_ELEMENTS else f"{named}, ... ({len(elements)} in all)"


def _advice(problems: Sequence[ModelProblem], check: Mode) -> str:
    """What a user can do about problems."""
    ways = []
    if any(problem.repair and not problem.is_repaired for problem in problems):
        ways.append("repair=True to mend what it can")
    if check == "strict":
        ways.append('check="warn" to load it as it is')
        return f"Correct it, or pass {' or '.join(ways)}"
    ways += ['check="strict" to refuse it', "check=False for no warning"]
    return f"Pass {', '.join(ways[:-1])} or {ways[-1]}" if any(p.severity in WRONG for p in problems) else ""
