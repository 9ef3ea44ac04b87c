"""Problems of a robot: what is wrong with its file or its numbers, recorded while it is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Severity = Literal["fatal", "problem", "doubt", "note"]


@dataclass(frozen=True)
class ModelProblem:
    """Something wrong with one element of a robot, and what it means for whoever uses it.

    `element` is a link or joint by its name, or a place in a file; `message` goes on from there ("has a negative
    mass", ": lower must be a number"). A "fatal" problem leaves no robot to be used, a "problem" one whose results
    may not be what was wanted, a "doubt" one in which a number was probably not meant, a "note" is one to know of.
    """

    element: str
    message: str
    meaning: str = ""
    """What it means for the results: a sentence, without its full stop."""
    repair: str | None = None
    """What repair=True does about it, or None if nothing can be done without knowing more."""
    severity: Severity = "problem"
    is_repaired: bool = False
    """Whether the model was mended as `repair` says."""

    @property
    def sentence(self) -> str:
        """The element and what is wrong with it."""
        return f"{self.element}{'' if self.message.startswith(':') else ' '}{self.message}".lstrip(" :")

    def mend(self) -> ModelProblem:
        """The same problem, after its repair."""
        return replace(self, is_repaired=True)

    def __str__(self) -> str:
        if self.is_repaired:
            return f"{self.sentence}; repaired: {self.repair}"
        text = self.sentence
        if self.meaning:
            text += f"{'' if text.endswith('?') else '.'} {self.meaning}"
        return f"{text} (repair=True: {self.repair})" if self.repair else text
