"""Advice on names that a robot, a subject or the package does not have: where it is, or what it is called here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from chainrule.core.subject import RobotSubject
from chainrule.display.words import PACKAGE, ROBOT, Word, called_here, plain
from chainrule.errors import UnknownAttributeError, short_repr
from chainrule.robot import subjects

MAX_SUGGESTIONS = 3


def unknown_attribute(owner: Any, name: str) -> UnknownAttributeError:
    """The error for a name that a robot, or one of its subjects, does not have."""
    if hasattr(type(owner), name):  # a property that failed; its own error says why
        object.__getattribute__(owner, name)
    if not isinstance(owner, RobotSubject):
        return _error(f"a {type(owner).__name__}", name, _names_of(type(owner)), (ROBOT, PACKAGE))
    what = f"robot.{type(owner).__name__.lower()}"
    own = {f"{what}.{other}": other for other in public_names(type(owner))}
    return _error(what, name, own | _names_of(type(owner.robot)), (ROBOT, PACKAGE))


def unchangeable(robot: Any, name: str) -> UnknownAttributeError:
    """The error for setting an attribute of a robot, which no function would read."""
    edits = [here for here in called_here(f"set_{name}", ROBOT) if here.startswith("robot.") and here.endswith(")")]
    return UnknownAttributeError(
        f"a {type(robot).__name__} is never changed, so {short_repr(name)} cannot be set; "
        f"{' or '.join(edits) or 'robot.edit(...)'} gives a new robot"
    )


def advice_on(package: str, name: str, what: str = "") -> UnknownAttributeError:
    """The error for a name that the package does not have, or a class of it, which is said by `what`."""
    module = import_module(package)
    makers = [maker for maker in public_names(module.Robot) if maker.startswith("from_")]
    own = {f"cr.{public}": public for public in dir(module)} | {f"cr.Robot.{maker}": maker for maker in makers}
    others = {path: last for path, last in _names_of(module.Robot).items() if last not in makers}
    return _error(what or f"module {package!r}", name, own | others, (PACKAGE, ROBOT))


def _names_of(robot: type) -> dict[str, str]:
    """The names of a robot and of its subjects, as they are called, and the last word of each."""
    return {f"robot.{path}": path.rpartition(".")[2] for path in (*public_names(robot), *subject_functions())}


def _error(what: str, name: str, known: Mapping[str, str], tables: Iterable[tuple[Word, ...]]) -> UnknownAttributeError:
    """known: the last word of each name that there is."""
    same = [full for full, last in known.items() if last == name]
    here = next((here for table in tables if (here := called_here(name, table))), [])
    alike = [full for full, last in known.items() if plain(last) == plain(name)]
    if same or (alike and not here):
        hint = f"there is {' or '.join(same or alike)}"
    elif here:
        hint = f"use {' or '.join(dict.fromkeys(here))}"
    else:
        close = get_close_matches(name, dict.fromkeys(known.values()), n=MAX_SUGGESTIONS, cutoff=0.6)
        near = [full for word in close for full, last in known.items() if last == word]
        hint = f"did you mean {' or '.join(near[:MAX_SUGGESTIONS])}?" if near else "dir() lists what there is"
    return UnknownAttributeError(f"{what} has no attribute {short_repr(name)}; {hint}")


def public_names(kind: type) -> list[str]:
    """The public names of a class."""
    return [name for name in dir(kind) if not name.startswith("_")]


def subject_functions() -> list[str]:
    """The functions of all subjects: "loops.close"."""
    found = []
    for module in iter_modules(subjects.__path__):
        contents = vars(import_module(f"{subjects.__name__}.{module.name}")).values()
        kinds = [kind for kind in contents if isinstance(kind, type) and issubclass(kind, RobotSubject)]
        kind = next(kind for kind in kinds if kind is not RobotSubject)
        found += [f"{module.name}.{name}" for name in public_names(kind) if name != "robot"]
    return found
