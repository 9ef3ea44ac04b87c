"""An exercise: a problem sheet with numbers, its solution, and answers checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from chainrule.arguments import Array
from chainrule.calls import explains_methods
from chainrule.display.text import Advised
from chainrule.errors import ArgumentError, ShapeError, UnknownNameError, short_repr
from chainrule.symbolic.answers.answer import Answer
from chainrule.symbolic.answers.differences import Difference
from chainrule.symbolic.answers.numbers import check_numbers
from chainrule.symbolic.derivations.quantities import number_matrix
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph, Text
from chainrule.symbolic.documents.document import Document
from chainrule.symbolic.documents.printing import superscript_powers

DIGITS = 10
"""Digits of the numbers of a solution before they are printed: what is rounding is zero."""


@dataclass(frozen=True)
class Question:
    """A question of a sheet: what is asked, its answer in numbers, and how it is found.

    `parts` are what the answer is the sum of, `mistakes` what comes of other mistakes, for the check; `accepts` decides
    where several answers are right: it returns what is wrong, or nothing.
    """

    name: str
    text: Text
    answer: Any
    unit: str = ""
    letter: str = ""
    steps: tuple[Block, ...] = ()
    parts: Mapping[str, Any] = field(default_factory=dict)
    mistakes: Mapping[str, Any] = field(default_factory=dict)
    accepts: Callable[[Array], str] | None = None

    def check(self, mine: Any) -> Answer:
        """The answer of a person compared with the right one."""
        if self.accepts is None:
            return check_numbers(self.name, self.answer, mine, self.unit, parts=self.parts, mistakes=self.mistakes)
        try:
            given = np.asarray(mine, dtype=float)
        except (TypeError, ValueError):
            raise ShapeError(f"the answer for {self.name} must be numbers, got {short_repr(mine)}") from None
        if given.shape != np.shape(self.answer):
            raise ShapeError(f"{self.name} has shape {np.shape(self.answer)}, and the answer {given.shape}")
        wrong = self.accepts(given)
        return Answer(self.name, (Difference("", "other", wrong),) if wrong else ())


@dataclass(frozen=True)
class Problem:
    """A problem: the words, what is given, and the questions; `worked` blocks end the solution."""

    words: Text
    given: tuple[Block, ...]
    questions: tuple[Question, ...]
    worked: tuple[Block, ...] = ()


@explains_methods
@dataclass(frozen=True, eq=False, repr=False)
class Exercise(Advised):
    """A problem sheet with numbers and its solution; `exercise(kind, robot, seed=...)` makes one.

    `sheet` and `solution` are documents. `answers` has the right numbers by the names of the questions.
    """

    kind: str
    title: str
    seed: int
    problem: Problem

    @property
    def questions(self) -> tuple[str, ...]:
        """The names of the questions, by which answers are checked."""
        return tuple(question.name for question in self.problem.questions)

    @property
    def answers(self) -> dict[str, Any]:
        """The right numbers by the names of the questions."""
        return {question.name: question.answer for question in self.problem.questions}

    @property
    def sheet(self) -> Document:
        """The problem: the words, what is given, and the questions."""
        return Document(self.title, tuple(self._introduction() + self._list_of_questions()))

    @property
    def solution(self) -> Document:
        """The problem and its answers, with the steps that lead to them."""
        blocks = self._introduction()
        for k, question in enumerate(self.problem.questions):
            blocks += [Heading(f"Answer {k + 1}: {question.name}"), Paragraph(question.text)]
            blocks += [*question.steps, _result(question)]
        return Document(f"{self.title}: solution", (*blocks, *self.problem.worked))

    def save(self, path: str | Path, *, solution: bool = False) -> Path:
        """Write the sheet, with its solution if that is wanted, in the form of the file's ending.

        .pdf, .html, .tex, .md, .ipynb or .txt; `exercise.solution.save(path)` writes the solution alone.
        """
        page = self.sheet
        if solution:
            page = replace(page, blocks=(*page.blocks, *self.solution.blocks[len(self._introduction()) :]))
        return page.save(path)

    def check(self, **answers: Any) -> Answer:
        """Compare answers in numbers with the right ones, by the names of the questions: right to three digits.

        >>> import chainrule as cr
        >>> sheet = cr.exercise("statics", "planar_2r", seed=3)
        >>> print(sheet.check(tau=-sheet.answers["tau"]))
        tau: wrong
          all of it has the wrong sign
        """
        if not answers:
            raise ArgumentError(f"check takes answers by name, such as check({self.questions[0]}=...)")
        asked = {question.name: question for question in self.problem.questions}
        for name in answers:
            if name not in asked:
                raise UnknownNameError.of("question", name, asked, f"the exercise {self.title!r}")
        found = [asked[name].check(mine) for name, mine in answers.items()]
        if len(found) == 1:
            return found[0]
        differences = [replace(d, entry=d.entry or one.name) for one in found for d in one.differences]
        return Answer(", ".join(answers), tuple(differences), (), sum(one.entries for one in found))

    def _introduction(self) -> list[Block]:
        return [Paragraph(self.problem.words), *self.problem.given]

    def _list_of_questions(self) -> list[Block]:
        blocks: list[Block] = [Heading("Questions")]
        for k, question in enumerate(self.problem.questions):
            unit = f" [{superscript_powers(question.unit)}]" if question.unit else ""
            text = question.text if isinstance(question.text, tuple) else (question.text,)
            blocks.append(Paragraph((f"{k + 1}. ({question.name}) ", *text, unit)))
        return blocks

    def __str__(self) -> str:
        return self.sheet.text()

    def __repr__(self) -> str:
        return f"<Exercise {self.title!r}, seed {self.seed}: {', '.join(self.questions)}>"

    def _repr_html_(self) -> str:
        return self.sheet._repr_html_()


def _result(question: Question) -> Block:
    """The answer as an equation."""
    values = np.round(np.asarray(question.answer, dtype=float), DIGITS)
    side = sp.Float(float(values)) if values.ndim == 0 else number_matrix(values.tolist())
    return Equation((Formula(question.letter or rf"\mathrm{{{question.name}}}"), side), question.unit)
