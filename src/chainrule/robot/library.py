"""Robots by name or by file: the bundled ones, and those in the user's own files."""

from __future__ import annotations

from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from chainrule.core.validation import validate
from chainrule.errors import FormatError, UnknownNameError
from chainrule.formats import native
from chainrule.formats.source import is_text, path_of
from chainrule.robot.building import from_file
from chainrule.robot.robot import Robot

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
        return _load_bundled(text)
    if is_text(text):
        raise FormatError("load takes a name or a path; for text, use Robot.from_urdf, from_mjcf or from_native")
    if not (Path(text).suffix or "/" in text) and isinstance(name_or_path, str):
        raise UnknownNameError.of("robot", text, robots(), "chainrule")
    return Robot(from_file(name_or_path, **options))


def _load_bundled(name: str) -> Robot:
    if name == "human_arm":
        from chainrule.robot.human import human_arm

        return human_arm()
    text = _BUNDLED.joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return Robot(validate(native.from_native(text), check=False, warn=False))  # as published; the tests check them
