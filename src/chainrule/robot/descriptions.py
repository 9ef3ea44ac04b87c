"""Robots of the package robot_descriptions, by name; it fetches their files with git when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chainrule.errors import FormatError, UnknownNameError, import_optional

ENDINGS = ("_description", "_mj_description")


@dataclass(frozen=True)
class Description:
    """Files of a robot: what to load, the arguments of a xacro file, and folders of packages."""

    path: Path
    args: Mapping[str, object] = field(default_factory=dict)
    search_paths: tuple[Path, ...] = ()


def find(name: str) -> Description | None:
    """The description of this name, or None for a name that cannot be one."""
    if not name.endswith(ENDINGS) or not name.isidentifier():
        return None
    import_optional("robot_descriptions", f"{name!r} is not bundled, but may be a robot of another package: this")
    known = names()
    if name not in known:
        raise UnknownNameError.of("robot", name, known, "the package robot_descriptions")
    return _read(_import(name), name)


def names() -> list[str]:
    """Names of robots that the package has, empty where it is not installed."""
    if find_spec("robot_descriptions") is None:
        return []
    return sorted(import_module("robot_descriptions").DESCRIPTIONS)


def _import(name: str) -> Any:
    """The module of a description, whose import fetches the files."""
    try:
        with redirect_stdout(sys.stderr):  # where progress belongs
            return import_module(f"robot_descriptions.{name}")
    except Exception as error:  # of git, of the network, of the package
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = next((line for line in lines if "fatal" in line or "stderr" in line), lines[0] if lines else "")
        raise FormatError(
            f"robot_descriptions could not fetch {name!r}: {type(error).__name__}: {reason[:200]}; it downloads with "
            "git when a robot is first used, into ~/.cache/robot_descriptions or $ROBOT_DESCRIPTIONS_CACHE: check "
            "git and the network, or load a file of your own"
        ) from error


def _read(module: Any, name: str) -> Description:
    for attribute in ("URDF_PATH", "MJCF_PATH", "XACRO_PATH"):
        path = getattr(module, attribute, None)
        if isinstance(path, str):
            args = dict(getattr(module, "XACRO_ARGS", {})) if attribute == "XACRO_PATH" else {}
            return Description(Path(path), args, _folders(module))
    raise FormatError(f"robot_descriptions.{name} has none of URDF_PATH, MJCF_PATH and XACRO_PATH; update the package")


def _folders(module: Any) -> tuple[Path, ...]:
    given = [getattr(module, attribute, None) for attribute in ("PACKAGE_PATH", "REPOSITORY_PATH")]
    own = [Path(path) for path in (*dict(getattr(module, "XACRO_PACKAGE_PATHS", {})).values(), *given) if path]
    return tuple(dict.fromkeys((*own, *(path.parent for path in own))))
