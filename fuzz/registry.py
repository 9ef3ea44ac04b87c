"""The list of targets, and what a target is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from fuzz import mutate

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
SEEDS = HERE / "seeds"


class WrongError(Exception):
    """Something was read that should not have been, or not as what it is."""


class Target(Protocol):
    """One format: its first inputs, and what is done with an input."""

    mutator: mutate.Mutator

    def __init__(self, folder: Path) -> None:
        """Prepare what all inputs share; files go to the folder, which is the working folder too."""

    def seeds(self) -> list[bytes]:
        """The first inputs."""

    def run(self, data: bytes, *, thorough: bool) -> None:
        """Read an input; thorough: use what was read as well."""


TARGETS: dict[str, type[Target]] = {}


def target(name: str, mutator: mutate.Mutator) -> Callable[[type[Any]], type[Any]]:
    """Enter a class into the list of targets."""

    def enter(cls: type[Any]) -> type[Any]:
        cls.mutator = staticmethod(mutator)
        TARGETS[name] = cls
        return cls

    return enter
