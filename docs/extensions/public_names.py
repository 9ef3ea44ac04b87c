"""Public names, as they are called on a robot and on the package, and what they name."""

from __future__ import annotations

import inspect
from functools import cached_property
from types import ModuleType
from typing import Any

import chainrule as cr

ROBOT = cr.load("planar_2r")
PACKAGES = {"cr": cr, "cr.study": cr.study, "cr.wheels": cr.wheels, "cr.symbolic": cr.symbolic}
SUBJECTS = ("ik", "loops", "analysis", "textbook", "derivatives", "centroidal", "parameters", "states", "compiled")


def public(owner: Any) -> list[str]:
    """The public names of an object."""
    return [name for name in dir(owner) if not name.startswith("_")]


def names() -> list[str]:
    """Every public name but those of classes' own members: "robot.pose", "robot.loops.close", "cr.PD"."""
    of_robot = [f"robot.{name}" for name in public(cr.Robot)]
    of_subjects = [f"robot.{subject}.{name}" for subject in SUBJECTS for name in public(_subject(subject))]
    of_packages = [f"{prefix}.{name}" for prefix, package in PACKAGES.items() for name in public(package)]
    kept = [name for name in of_subjects if not name.endswith(".robot")]
    return [*of_robot, *kept, *(name for name in of_packages if not isinstance(Name(name).thing, ModuleType))]


def _subject(name: str) -> type:
    return type(getattr(ROBOT, name))


class Name:
    """A public name: what it names, its kind, signature and docstring."""

    def __init__(self, name: str) -> None:
        self.name = name
        prefix, _, self.last = name.rpartition(".")
        if prefix == "robot":
            self.owner: Any = cr.Robot
        elif prefix.startswith("robot."):
            self.owner = _subject(prefix.partition(".")[2])
        else:
            self.owner = PACKAGES[prefix]

    @cached_property
    def thing(self) -> Any:
        """The function, class or property."""
        return attribute(self.owner, self.last)

    @property
    def kind(self) -> str:
        """The word for it in Sphinx's domain of Python."""
        return kind_of(self.thing, self.owner)

    @property
    def signature(self) -> str:
        """Its parameters with their defaults; nothing of a property or an exception."""
        return signature_of(self.thing, in_class=self.name.startswith("robot."), name=self.last)

    @property
    def doc(self) -> str:
        """Its docstring."""
        return inspect.getdoc(self.thing) or ""


def attribute(owner: Any, name: str) -> Any:
    """An attribute as it stands: a property of a class is that property."""
    if not isinstance(owner, type):
        return getattr(owner, name)
    value = getattr(owner, name)
    raw = next(base.__dict__[name] for base in owner.__mro__ if name in base.__dict__)
    return value if callable(value) else raw


def kind_of(thing: Any, owner: Any) -> str:
    """The word for an attribute in Sphinx's domain of Python."""
    if isinstance(thing, type):
        return "exception" if issubclass(thing, BaseException) else "class"
    if callable(thing):
        return "method" if isinstance(owner, type) else "function"
    return "property"


def signature_of(thing: Any, *, in_class: bool, name: str = "") -> str:
    """The parameters by name, with their defaults; annotations stand in the type checker's stubs."""
    if not callable(thing) or (isinstance(thing, type) and issubclass(thing, BaseException)):
        return ""
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty, default=_short(parameter.default))
        for k, parameter in enumerate(inspect.signature(thing).parameters.values())
        if not (in_class and k == 0 and not name.startswith("from_") and parameter.name in ("self", "robot", "cls"))
    ]
    return str(inspect.Signature(parameters))


class _Default:
    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _short(default: Any) -> Any:
    text = repr(default)
    plain = default is inspect.Parameter.empty or (" at 0x" not in text and len(text) < 40 and "<" not in text)
    return default if plain else _Default("...")
