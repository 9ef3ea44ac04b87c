"""What can go wrong, and how it is said: what was expected, what came, what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ChainruleError(Exception):
    """Anything that chainrule refuses."""


class ModelError(ChainruleError, ValueError):
    """A robot that cannot be."""


class FormatError(ModelError):
    """A file or table that does not describe a robot."""


class ShapeError(ChainruleError, ValueError):
    """An argument of the wrong length, shape or type."""


class UnknownNameError(ChainruleError, ValueError, LookupError):
    """A link, joint, frame or robot that is not there."""

    @classmethod
    def of(cls, what: str, name: object, known: Iterable[str], where: str) -> UnknownNameError:
        """The error for a name that is not among the known ones, with the nearest of them."""
        names = list(known)
        close = get_close_matches(str(name), names, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"there are: {shown(names)}"
        return cls(f"{where} has no {what} named {name!r}; {hint}")


class SimulationError(ChainruleError, ArithmeticError):
    """A motion that cannot be followed any further; `trajectory` is what was computed up to there."""

    def __init__(self, message: str, trajectory: object = None) -> None:
        super().__init__(message)
        self.trajectory = trajectory


class SimulationWarning(UserWarning):
    """A motion that was computed, and is not to be trusted."""


class ModelWarning(UserWarning):
    """A robot that loads, with something its user should know."""


def shown(names: Iterable[str], most: int = 12) -> str:
    """A list of names for a message, cut where it gets long."""
    names = list(names)
    text = ", ".join(repr(n) for n in names[:most]) or "none"
    return text if len(names) <= most else f"{text}, ... ({len(names)} in all)"
