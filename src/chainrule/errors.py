"""Errors and warnings. A message says what was expected, what came, and what to do."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, Self

MAX_COMPARED = 200
"""Characters of an unknown name that are compared with the known ones, and shown."""


class ChainruleError(Exception):
    """Base class of all errors that chainrule raises on purpose."""


class ModelError(ChainruleError, ValueError):
    """The model is not a valid robot."""


class FormatError(ModelError):
    """The file or table does not describe a valid robot."""


class ShapeError(ChainruleError, ValueError):
    """The argument has the wrong length, shape or type."""


class UnknownNameError(ChainruleError, ValueError, LookupError):
    """No link, joint, frame, robot or option has this name."""

    @classmethod
    def of(cls, what: str, name: object, known: Iterable[str], where: str) -> Self:
        """The error for a name that is not among the known names; it suggests the nearest of them."""
        names = list(known)
        close = nearest(name, names) if isinstance(name, str) else None
        hint = f"there are: {quoted(names)}" if close is None else f"did you mean {close!r}?"
        return cls(f"{where} has no {what} named {short_repr(name, MAX_COMPARED)}; {hint}")


class UnknownAttributeError(UnknownNameError, AttributeError):
    """A robot, one of its subjects or the package has no attribute of this name."""


def advice_on(package: str, name: str) -> UnknownAttributeError:
    """The error for a name that a package does not have: the nearest of those that it has."""
    return UnknownAttributeError.of("name", name, dir(import_module(package)), package)


class ArgumentError(ChainruleError, TypeError):
    """The function takes no argument of this name, not so many, or lacks one."""


class MissingPackageError(ChainruleError, ImportError):
    """A package that users install themselves is not installed."""


class ClusterError(ChainruleError, RuntimeError):
    """A cluster cannot be reached, has other versions, or lost what it computed."""


class SimulationError(ChainruleError, ArithmeticError):
    """The simulation cannot continue; `trajectory` is the motion up to there."""

    def __init__(self, message: str, trajectory: object = None) -> None:
        super().__init__(message)
        self.trajectory = trajectory


class SimulationWarning(UserWarning):
    """The simulation finished, but its result may be wrong."""


class MotionWarning(UserWarning):
    """A recorded motion was read, but something in it had to be assumed, or looks wrong."""


class ModelWarning(UserWarning):
    """The robot loads, but its file has a property that the user should know of."""


EXTRAS = {
    "c3d": "c3d", "casadi": "casadi", "cupy": "cuda", "dask": "dask", "distributed": "dask", "fsspec": "dask",
    "jax": "jax", "matplotlib": "plot", "mujoco": "mujoco", "pandas": "pandas", "PIL": "plot", "pint": "units",
    "pyarrow": "parquet", "robot_descriptions": "descriptions", "rosbags": "ros", "torch": "torch",
    "trimesh": "studio", "viser": "studio", "xacro": "xacro", "xarray": "xarray",
}  # fmt: skip
"""Packages that are no dependencies, and the extra of chainrule that installs each."""


def nearest(name: str, known: Iterable[str], cutoff: float = 0.5) -> str | None:
    """The known name that is most like this one, whatever their case; None where none is."""
    names = {other.casefold(): other for other in known} | {other: other for other in known}
    for written in (name[:MAX_COMPARED], name[:MAX_COMPARED].casefold()):
        close = get_close_matches(written, names, n=1, cutoff=cutoff)
        if close:
            return names[close[0]]
    return None


def import_optional(module: str, what: str, otherwise: str = "") -> Any:
    """A module of a package that is no dependency; where it is missing, an error that says how it is installed."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        missing = (error.name or package).partition(".")[0]
        raise MissingPackageError(
            f"{what} needs the package {missing}, which is not installed: {pip_install(EXTRAS[package])}{otherwise}"
        ) from error


def pip_install(extra: str) -> str:
    """The command that installs an extra for this Python.

    Where chainrule is installed, from PyPI or from a clone, pip takes its extras from there. Where a clone runs without
    being installed, the command names its folder.
    """
    from importlib.metadata import distributions

    clone = Path(__file__).parents[2]
    is_installed = any(distributions(name="chainrule")) or not (clone / "pyproject.toml").exists()
    quote = '"' if os.name == "nt" else "'"
    return f"{pip()} install {quote}{'chainrule' if is_installed else clone}[{extra}]{quote}"


def pip() -> str:
    """The command pip of this Python: its name where the shell finds it in this environment, else by its path."""
    import shutil

    found = shutil.which("pip")
    return "pip" if found and Path(found).parent == Path(sys.executable).parent else f"{sys.executable} -m pip"


def quoted(names: Iterable[str], most: int = 12) -> str:
    """List of names for a message: each in quotes, at most `most` of them."""
    names = list(names)
    text = ", ".join(repr(n) for n in names[:most]) or "none"
    return text if len(names) <= most else f"{text}, ... ({len(names)} in all)"


def visible(text: str) -> str:
    """Text from a file, with whatever commands a terminal or breaks a line written as an escape, such as \\x1b."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def short_repr(value: object, most: int = 60) -> str:
    """The repr of anything for a message, cut off; of what has none, its type."""
    try:
        return f"{value!r:.{most}}"
    except Exception:  # lists nested too deeply, integers of too many digits, objects that raise
        return f"<{type(value).__name__}>"


def warn_user(message: str, category: type[Warning]) -> None:
    """A warning that points at the line of the user's own code which led to it, not at a line of the library."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "chainrule":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
