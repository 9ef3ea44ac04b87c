"""An answer in symbols, compared with the right expression entry by entry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from chainrule.display.text import Shown
from chainrule.errors import ShapeError, short_repr
from chainrule.symbolic.algebra.expressions import expression_or_matrix, matrix
from chainrule.symbolic.answers.alphabet import GREEK, Alphabet, compact, without_functions_of_time
from chainrule.symbolic.answers.comparison import RandomValues, is_zero, refuse_strange
from chainrule.symbolic.answers.differences import AnswerContext, TermDifference, differences, mistake_of_all
from chainrule.symbolic.answers.latex_reader import expression_from_latex


@dataclass(frozen=True, repr=False)
class Answer(Shown):
    """The result of a check: `bool(answer)` says whether it is right, print says which term differs and how.

    `differences` has them, each with its entry, its kind and its terms; `readings` what each symbol of the answer was
    taken for, where its name is another.
    """

    name: str
    differences: tuple[TermDifference, ...] = ()
    readings: tuple[tuple[str, str], ...] = ()
    entries: int = 1
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return not self.differences

    @property
    def is_right(self) -> bool:
        """Whether the answer is right."""
        return bool(self)

    def _view(self) -> Iterator[str]:
        wrong = len({difference.entry for difference in self.differences})
        if self:
            yield f"{self.name}: right"
        elif self.entries == 1 or not self.differences[0].entry:
            yield f"{self.name}: wrong"
        else:
            yield f"{self.name}: {wrong} of {self.entries} entries {'is' if wrong == 1 else 'are'} wrong"
        yield from (f"  {d.entry}: {d.message}" if d.entry else f"  {d.message}" for d in self.differences)
        if self.readings:
            yield "  read: " + ", ".join(f"{theirs} as {ours}" for theirs, ours in self.readings)
        yield from (f"  {note}" for note in self.notes)


def check(
    name: str,
    right: Any,
    mine: Any,
    alphabet: Alphabet,
    *,
    symbols: Mapping[Any, Any] | None = None,
    groups: Sequence[Sequence[sp.Expr]] = (),
    rows: Sequence[int] | None = None,
) -> Answer:
    """Compare an answer, a SymPy expression or matrix, nested lists of them, or LaTeX, with the right expression.

    Parameters
    ----------
    name
        Of the term, for messages.
    right
        The right expression or matrix, in the symbols of the alphabet.
    mine
        The answer, in the user's own symbols.
    alphabet
        The symbols, and how they are written.
    symbols
        What symbols of the answer are, by names of the alphabet, where their names do not say so.
    groups
        Angles whose sums are written as one, those about parallel axes; all of them by default.
    rows
        The rows of the right matrix that the answer has, from 0; all of them by default.
    """
    try:
        return _check(name, right, mine, alphabet, symbols, groups, rows)
    except RecursionError:
        raise ShapeError(f"the answer for {name} is nested too deeply to be compared; simplify it") from None


def _check(
    name: str, right: Any, mine: Any, alphabet: Alphabet, symbols: Any, groups: Any, rows: Sequence[int] | None
) -> Answer:
    expected = _rows_of(name, right, rows)
    given = read_answer(mine, name)
    is_matrix = isinstance(right, sp.MatrixBase)
    if isinstance(given, sp.MatrixBase) != is_matrix and not (is_matrix and expected.shape == (1, 1)):
        what = f"a matrix, {expected.rows} by {expected.cols}" if is_matrix else "one expression"
        raise ShapeError(f"{name} is {what}; the answer is {'a matrix' if not is_matrix else 'one expression'}")
    theirs = given if isinstance(given, sp.MatrixBase) else sp.Matrix([[given]])
    if theirs.shape != expected.shape:
        hint = (
            "; say which rows of it they are: rows=[...], from 0" if theirs.cols == expected.cols and is_matrix else ""
        )
        turned = "; it is the other way round: answer.T" if theirs.shape == expected.shape[::-1] else ""
        raise ShapeError(
            f"{name} is {expected.rows} by {expected.cols}, and the answer {theirs.rows} by {theirs.cols}"
            f"{turned or hint}"
        )
    theirs = theirs.applyfunc(without_functions_of_time)
    refuse_strange(theirs)
    meanings = alphabet.readings(theirs.free_symbols, symbols)
    theirs = theirs.xreplace(meanings)
    angles = [one.symbols[0] for one in alphabet.coordinates if one.is_angle]
    rename = {m: s for s, m in meanings.items() if isinstance(m, sp.Symbol) and _prints_well(s)}
    subject = AnswerContext(alphabet.units(), angles, groups, rename)
    samples = RandomValues(expected.free_symbols | theirs.free_symbols | {entry.symbol for entry in alphabet.known})
    found = _differences(name if not is_matrix else "", name, expected, theirs, samples, subject)
    shown = tuple((s.name, str(m)) for s, m in meanings.items() if compact(s.name) != compact(str(m)))
    return Answer(name, tuple(found), shown, len(expected))


def _prints_well(symbol: sp.Symbol) -> bool:
    """Whether the LaTeX of a symbol is one letter with dots and an index: theta_1, l1, but not dtheta1."""
    match = re.fullmatch(r"(?P<letter>[^\W\d_]+?)(d?dot)?(_\w+|\d\w*)?", symbol.name)
    return match is not None and (len(match["letter"]) == 1 or match["letter"] in GREEK.values())


def _rows_of(name: str, right: Any, rows: Sequence[int] | None) -> sp.Matrix:
    whole = sp.Matrix(right) if isinstance(right, sp.MatrixBase) else sp.Matrix([[right]])
    if rows is None:
        return whole
    chosen = list(rows)
    if not chosen or not all(isinstance(k, int) and 0 <= k < whole.rows for k in chosen):
        raise ShapeError(f"rows of {name} are numbers from 0 to {whole.rows - 1}, got {short_repr(rows)}")
    return whole.extract(chosen, list(range(whole.cols)))


def read_answer(mine: Any, name: str) -> Any:
    """The answer as an expression or a matrix; text is LaTeX, and is parsed, never run."""
    if isinstance(mine, str):
        return expression_from_latex(mine)
    if isinstance(mine, sp.Equality):
        raise ShapeError(f"the answer for {name} is an equation; give its right-hand side, such as answer.rhs")
    if isinstance(mine, (list, tuple)) or (hasattr(mine, "tolist") and getattr(mine, "shape", ()) != ()):
        return matrix(mine, f"the answer for {name}")
    found = expression_or_matrix(mine, f"the answer for {name}")
    if isinstance(found, sp.MatrixBase):
        return sp.Matrix(found)
    if not isinstance(found, sp.Expr) or isinstance(found, sp.MatrixExpr):
        raise ShapeError(f"the answer for {name} must be a SymPy expression or matrix, got {short_repr(mine)}")
    return found


def _differences(
    own: str, name: str, expected: sp.Matrix, theirs: sp.Matrix, samples: RandomValues, subject: AnswerContext
) -> list[TermDifference]:
    if own:
        return differences("", expected[0], theirs[0], samples, subject)
    if not _equal(expected, theirs, samples):
        if expected.rows == expected.cols > 1 and _equal(expected.T, theirs, samples):
            return [TermDifference("", "transposed", f"it is the transpose of {name}")]
        if expected.rows == 6 and _equal(expected, theirs[3:, :].col_join(theirs[:3, :]), samples):
            text = f"the rows of {name} are in another order: angular ones come first, linear ones after them"
            return [TermDifference("", "order of rows", text)]
    wrong = [k for k in range(len(expected)) if not _equal(expected[k : k + 1], theirs[k : k + 1], samples)]
    if len(wrong) > 1 and (whole := mistake_of_all(expected, theirs, samples, subject)) is not None:
        return [whole]
    found = []
    for i in range(expected.rows):
        for j in range(expected.cols):
            place = f"{name}[{i + 1}]" if expected.cols == 1 else f"{name}[{i + 1},{j + 1}]"
            found += differences(place, expected[i, j], theirs[i, j], samples, subject)
    return found


def _equal(a: Iterable[sp.Expr], b: Iterable[sp.Expr], samples: RandomValues) -> bool:
    for x, y in zip(a, b, strict=True):
        (u, size), (v, other) = samples.with_size(x), samples.with_size(y)
        if not is_zero(u - v, size + other):
            return False
    return True
