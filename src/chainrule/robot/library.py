"""Robots by name or by file: the bundled ones, and whatever the user has."""

from __future__ import annotations

from importlib.resources import files
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.core.validation import checked
from chainrule.errors import FormatError, UnknownNameError
from chainrule.formats import native
from chainrule.formats.source import is_text, path_of
from chainrule.robot.robot import Robot

if TYPE_CHECKING:
    from collections.abc import Callable

_BUNDLED = files("chainrule").joinpath("robot", "models")


def robots() -> tuple[str, ...]:
    """Names of the bundled robots.

    >>> "panda" in robots()
    True
    """
    stored = (entry.name.removesuffix(".toml") for entry in _BUNDLED.iterdir() if entry.name.endswith(".toml"))
    return tuple(sorted([*stored, "human_arm"]))


def load(name_or_path: str | PathLike[str], **options: Any) -> Robot:
    """A bundled robot by its name, or one from a file: .urdf, .xml (URDF or MJCF), .toml or .json.

    Options go to the format's own constructor, such as floating_base=True for URDF.

    >>> load("pendulum").n
    1
    """
    text = path_of(name_or_path)
    if isinstance(name_or_path, str) and text in robots():
        if options:
            raise FormatError(
                f"the bundled robot {text!r} takes no options, got {', '.join(options)}; edit it once loaded"
            )
        return _bundled(text)
    if is_text(text):
        raise FormatError("load takes a name or a path; for text, use Robot.from_urdf, from_mjcf or from_native")
    suffix = Path(text).suffix.lower()
    if suffix == ".urdf":
        return _made(Robot.from_urdf, name_or_path, options)
    if suffix == ".xml":
        return _made(_xml(name_or_path), name_or_path, options)
    if suffix in (".toml", ".json"):
        return _made(Robot.from_native, name_or_path, options)
    if suffix or "/" in text or not isinstance(name_or_path, str):
        raise FormatError(f"cannot tell the format of {text!r}: robots come as .urdf, .xml, .toml or .json files")
    raise UnknownNameError.of("robot", text, robots(), "chainrule")


def _made(make: Callable[..., Robot], path: str | PathLike[str], options: dict[str, Any]) -> Robot:
    known = [name for name, parameter in signature(make).parameters.items() if parameter.kind is parameter.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            raise UnknownNameError.of("option", option, known, f"Robot.{make.__name__}")
    return make(path, **options)


def _bundled(name: str) -> Robot:
    if name == "human_arm":
        from chainrule.robot.human import human_arm

        return human_arm()
    text = _BUNDLED.joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return Robot(checked(native.from_native(text), check=False, warn=False))  # as published; the tests check them


def _xml(path: str | PathLike[str]) -> Callable[..., Robot]:
    """An .xml file may be URDF or MJCF: the root element tells."""
    from chainrule.formats.source import read
    from chainrule.formats.xml import parse

    content, source, _ = read(path)
    return Robot.from_mjcf if parse(content, source).tag == "mujoco" else Robot.from_urdf
