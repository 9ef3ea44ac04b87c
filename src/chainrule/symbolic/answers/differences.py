"""Differences between an expression and the right one, by the mistakes that people make.

Each mistake is tried on the right expression: where the numbers of the result are those of the answer, it is the one.
Mistakes of a whole entry come first, those of one term next, and then the terms of both are compared one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from chainrule.arguments import Array
from chainrule.errors import ChainruleError
from chainrule.spatial.units import DIMENSIONLESS, UnitError, unit, unit_name
from chainrule.symbolic.algebra.ring import Element, Ring, exact
from chainrule.symbolic.algebra.units import unit_of
from chainrule.symbolic.answers.comparison import RandomValues, constant, is_zero
from chainrule.symbolic.documents.plain_text import line
from chainrule.symbolic.documents.printing import latex

MAX_EXPANDED_TERMS = 4000
"""Terms of an entry up to which it is expanded, to compare terms one by one."""

MAX_TERMS = 400
"""Terms of an entry in which a mistake of one term is looked for."""

MAX_WHOLE = 3000
"""Operations of an entry up to which mistakes of all of it are tried, such as two symbols that are exchanged."""

STRANGE = 6
"""The cost of an explanation that people seldom need, such as a factor 0.37; others are tried before it."""

MAX_LISTED = 6
"""Differences of one entry that are listed."""


@dataclass(frozen=True)
class TermDifference:
    """A difference between an answer and the right expression.

    `kind` is one of KINDS. `right` and `given` are the term as it should be and as it is, None where there is none.
    """

    entry: str
    kind: str
    message: str
    right: sp.Expr | None = None
    given: sp.Expr | None = None


KINDS = (
    "sign", "factor", "missing term", "extra term", "sine for cosine", "cosine for sine", "angle", "symbol",
    "exchanged symbols", "power", "transposed", "order of rows", "other",
)  # fmt: skip


@dataclass
class AnswerContext:
    """The right expression, the answer, and the symbols of both."""

    units: dict[sp.Symbol, str]
    angles: Sequence[sp.Symbol] = ()
    groups: Sequence[Sequence[sp.Expr]] = ()
    rename: dict[sp.Expr, sp.Expr] = field(default_factory=dict)
    """Symbols of the library -> those of the answer, in which differences are written."""

    def text(self, term: Any) -> str:
        """A term in the symbols of the answer, as one line."""
        return line(latex(term.xreplace(self.rename) if hasattr(term, "xreplace") else term))

    def unit(self, term: Any) -> str:
        """The unit of a term in brackets; nothing where it is not known."""
        powers = {symbol: unit(text) for symbol, text in self.units.items()}
        try:
            found = unit_of(term, powers)
        except (UnitError, ChainruleError) as error:
            return "" if "not known" in str(error) or "cannot be told" in str(error) else " [terms differ in units]"
        if found is None or not self.units:
            return ""
        return f" [{unit_name(found) if found != DIMENSIONLESS else '1'}]"

    def kind_of(self, symbol: sp.Symbol) -> Any:
        """The unit of a symbol: those of one unit may be taken for one another."""
        return self.units.get(symbol, "")


def differences(
    entry: str, right: sp.Expr, given: sp.Expr, samples: RandomValues, subject: AnswerContext
) -> list[TermDifference]:
    """The differences of an entry, and none where it is right."""
    expected, size = samples.with_size(right)
    found, other = samples.with_size(given)
    if is_zero(found - expected, size + other) and np.isfinite(found).all() and np.isfinite(expected).all():
        return []
    one = _Entry(entry, right, given, expected, found, samples, subject)
    if right == 0 or is_zero(expected, size):
        return one.by_terms() or [one.note("extra term", f"{subject.text(given)} should be zero", None, given)]
    if given == 0 or is_zero(found, other):
        return [one.note("missing term", f"is zero, and should be {subject.text(right)}{subject.unit(right)}", right)]
    ratio = one.of_all_terms()
    cost, term = one.of_one_term()
    if ratio is not None or (term is not None and cost < STRANGE):
        return [ratio or term]  # type: ignore[list-item]
    whole = next(one.of_whole(), None) or term
    listed = [whole] if whole is not None else one.by_terms()
    if listed:
        return listed
    k = int(np.argmax(np.abs(found - expected)))
    text = f"is another expression{_unit_note(subject, right, given)}"
    if np.isfinite(found[k]):
        text += f": at one place it is {found[k]:.6g}, and should be {expected[k]:.6g}"
    return [one.note("other", text, right, given)]


def mistake_of_all(
    right: sp.Matrix, given: sp.Matrix, samples: RandomValues, subject: AnswerContext
) -> TermDifference | None:
    """The one mistake in all entries of a matrix, such as two symbols that are exchanged; None where there is none."""
    expected, found = samples.of_matrix(right), samples.of_matrix(given)
    one = _Entry("", sp.ImmutableMatrix(right), sp.ImmutableMatrix(given), expected, found, samples, subject)
    if one.is_the_answer(-expected):
        return one.note("sign", "all of it has the wrong sign", right, given)
    return next(one.of_symbols(), None) if sum(map(_operations, right)) <= MAX_WHOLE else None


def _unit_note(subject: AnswerContext, right: sp.Expr, given: sp.Expr) -> str:
    """The units of both, where they differ."""
    a, b = subject.unit(right), subject.unit(given)
    return f", in{b} instead of{a}" if a and b and a != b else ""


@dataclass
class _Entry:
    name: str
    right: sp.Expr
    given: sp.Expr
    expected: Array
    found: Array
    samples: RandomValues
    subject: AnswerContext

    def note(self, kind: str, text: str, right: Any = None, given: Any = None) -> TermDifference:
        return TermDifference(self.name, kind, text, right, given)

    def is_the_answer(self, values: Array) -> bool:
        return is_zero(values - self.found, np.abs(self.found) + np.abs(self.expected))

    # --- all of an entry ---

    def of_all_terms(self) -> TermDifference | None:
        """The number by which all of a sum is multiplied."""
        with np.errstate(all="ignore"):
            ratio = constant(self.found / self.expected)
        many = len(sp.Add.make_args(self.right)) > 1
        return None if ratio is None or not many else self._ratio("all of it", self.right, ratio)

    def of_whole(self) -> Iterator[TermDifference]:
        """Mistakes that change several terms of an entry in one way."""
        if _operations(self.right) <= MAX_WHOLE:
            yield from self._of_functions()
            yield from self.of_symbols()

    def _of_functions(self) -> Iterator[TermDifference]:
        """Another function or another angle in every place where one stands."""
        functions = sorted(self.right.atoms(sp.sin, sp.cos), key=str)
        if len(sp.Add.make_args(self.right)) < 2:
            return
        arguments = sorted(
            {f.args[0] for f in functions} | {s for s in self.subject.angles if s in self.samples.values}, key=str
        )
        for f in functions:
            for other in _others(f, arguments):
                if self.is_the_answer(self.samples(self.right.xreplace({f: other}))):
                    kind = _kind_of_change(f, other)
                    yield self.note(kind, f"{_words(kind, self.subject, f, other)}, everywhere", f, other)

    def of_symbols(self) -> Iterator[TermDifference]:
        """Symbols that are exchanged, replaced, or measured in the other direction, in every place."""
        values = self.samples.values
        own = sorted(self.right.free_symbols, key=lambda s: s.name)
        several = isinstance(self.right, sp.MatrixBase) or len(sp.Add.make_args(self.right)) > 1
        for a in own if several else ():
            if self.is_the_answer(self.samples.with_others(self.right, {a: -values[a]})):
                yield self.note("sign", f"{self.subject.text(a)} has the other sign, everywhere", a, -a)
            for turn in (np.pi / 2, -np.pi / 2) if a in self.subject.angles else ():
                if self.is_the_answer(self.samples.with_others(self.right, {a: values[a] + turn})):
                    yield self._quarter_turn(a, sp.pi / 2 if turn > 0 else -sp.pi / 2)
        for k, a in enumerate(own):
            for b in own[k + 1 :]:
                if self.subject.kind_of(a) == self.subject.kind_of(b) and self.is_the_answer(
                    self.samples.with_others(self.right, {a: values[b], b: values[a]})
                ):
                    text = f"{self.subject.text(a)} and {self.subject.text(b)} are exchanged"
                    yield self.note("exchanged symbols", text, a, b)
        for a in own if several else ():
            for b in sorted(values, key=lambda s: s.name):
                if (
                    b != a
                    and self.subject.kind_of(a) == self.subject.kind_of(b)
                    and self.is_the_answer(self.samples.with_others(self.right, {a: values[b]}))
                ):
                    text = f"{self.subject.text(b)} stands for {self.subject.text(a)}, everywhere"
                    yield self.note("symbol", text, a, b)

    # --- one term ---

    def _quarter_turn(self, angle: sp.Symbol, by: sp.Expr) -> TermDifference:
        """An angle measured from another axis; where all its functions are sines, or cosines, that is the other one."""
        text = f"{self.subject.text(angle)} is measured from another axis: {self.subject.text(angle + by)}"
        kinds = {f.func for f in self.right.atoms(sp.sin, sp.cos) if angle in f.free_symbols}
        if kinds == {sp.cos if by < 0 else sp.sin}:
            kind = "sine for cosine" if by < 0 else "cosine for sine"
            return self.note(kind, f"{kind} of {self.subject.text(angle)}, everywhere; or {text}", angle, angle + by)
        return self.note("angle", text, angle, angle + by)

    def of_one_term(self) -> tuple[int, TermDifference | None]:
        """The simplest mistake of one term that explains the answer, and how strange it is."""
        delta = self.found - self.expected
        best: tuple[int, TermDifference] | None = None
        for term in self._candidates():
            values = self.samples(term)
            with np.errstate(all="ignore"):
                ratio = (delta + values) / values
            found = self._explain(term, ratio)
            if found is not None and (best is None or found[0] < best[0]):
                best = found
                if best[0] == 0:
                    break
        return best or (0, None)

    def _candidates(self) -> list[sp.Expr]:
        """The terms of the entry as they are printed, as they are expanded, and in canonical form."""
        printed = sp.Add.make_args(self.right)
        terms = dict.fromkeys(printed)
        if expanded_size(self.right) <= MAX_EXPANDED_TERMS:
            expanded = sp.Add.make_args(sp.expand(self.right, trig=False))
            if len(expanded) <= MAX_TERMS:
                terms |= dict.fromkeys(expanded)
                canonical = self._canonical(self.right)
                terms |= dict.fromkeys(exact(_tidy(c)) * term for term, c in (canonical or {}).items())
        return [term for term in terms if term != 0][: 3 * MAX_TERMS]

    def _explain(self, term: sp.Expr, ratio: Array) -> tuple[int, TermDifference] | None:
        """The change of a term that multiplies its values by this ratio, and how strange it is."""
        if not np.isfinite(ratio).all():
            return None
        factor = constant(ratio)
        if factor is not None:
            usual = any(abs(factor - x) < 1e-9 for x in (-1.0, 0.0, 2.0, 0.5))
            simple = abs(12 * factor - round(12 * factor)) < 1e-9
            return (0 if usual else 3 if simple else STRANGE), self._ratio("the term", term, factor)
        best: tuple[int, TermDifference] | None = None
        for cost, kind, before, after, values in self._changes(term):
            with np.errstate(all="ignore"):
                factor = constant(ratio / values)
            if factor is None or not any(abs(factor - x) < 1e-9 for x in (1.0, -1.0, 2.0, 0.5, -2.0, -0.5)):
                continue
            cost += 0 if abs(factor - 1) < 1e-9 else 3
            if best is None or cost < best[0]:
                changed = exact(_tidy(factor)) * term * after / before
                text = (
                    f"{_words(kind, self.subject, before, after)}{_factor_words(factor)} in {self.subject.text(term)}"
                )
                text += f"{self.subject.unit(term)}; you have {self.subject.text(changed)}{self.subject.unit(changed)}"
                best = cost, self.note(kind, text, term, changed)
        return best

    def _changes(self, term: sp.Expr) -> Iterator[tuple[int, str, sp.Expr, sp.Expr, Array]]:
        """Changes of one factor: their strangeness, kind, the factor before and after, and by what they multiply."""
        samples = self.samples
        with np.errstate(all="ignore"):
            arguments = sorted(
                {f.args[0] for f in self.right.atoms(sp.sin, sp.cos)} | set(self.subject.angles), key=str
            )
            for f in sorted(term.atoms(sp.sin, sp.cos), key=str):
                for other in _others(f, arguments):
                    kind = _kind_of_change(f, other)
                    yield (1 if kind != "angle" else 2), kind, f, other, samples(other) / samples(f)
            own = sorted(_factors(term), key=lambda s: s.name)
            for a in own:
                for b in sorted(samples.values, key=lambda s: s.name):
                    if b != a and self.subject.kind_of(a) == self.subject.kind_of(b):
                        yield 2, "symbol", a, b, samples.values[b] / samples.values[a]
            for a in own:
                yield 3, "power", a, a**2, samples.values[a]
                yield 3, "power", a, sp.Integer(1), 1 / samples.values[a]
            for f in sorted(term.atoms(sp.sin, sp.cos), key=str):
                yield 3, "power", f, sp.Integer(1), 1 / samples(f)
                yield 3, "power", f, f**2, samples(f)

    def _ratio(self, what: str, term: sp.Expr, factor: float) -> TermDifference:
        """The words for a term that is multiplied by a number."""
        subject, text = self.subject, f"{self.subject.text(term)}{self.subject.unit(term)}"
        given = exact(_tidy(factor)) * term
        if abs(factor) < 1e-9:
            return self.note("missing term", f"a term is missing: {text}", term)
        if abs(factor + 1) < 1e-9:
            return self.note("sign", f"{what} has the wrong sign: it should be {text}", term, given)
        sign = " and the wrong sign" if factor < 0 else ""
        text = f"{what} is {subject.text(exact(_tidy(abs(factor))))} times what it should be{sign}: {text}"
        return self.note("factor", text, term, given)

    # --- terms one by one ---

    def _canonical(self, expression: sp.Expr) -> dict[sp.Expr, float] | None:
        """The coefficient of each product in canonical form; None where there is none, or it is too long."""
        if expanded_size(expression) > MAX_EXPANDED_TERMS:
            return None
        ring = Ring(self._angles())
        if self.subject.groups:
            ring.groups = [list(group) for group in self.subject.groups]
        try:
            element = ring.of(expression)
        except ChainruleError:
            return None
        return _terms_of(element)

    def _angles(self) -> list[sp.Symbol]:
        """The symbols inside sines and cosines, coordinates first."""
        inside = {s for x in (self.right, self.given) for f in x.atoms(sp.sin, sp.cos) for s in f.free_symbols}
        return [*(a for a in self.subject.angles if a in inside), *sorted(inside - set(self.subject.angles), key=str)]

    def by_terms(self) -> list[TermDifference]:
        """The terms that differ in canonical form; terms that are missing and extra are paired where they are alike."""
        right, given = self._canonical(self.right), self._canonical(self.given)
        if right is None or given is None:
            return []
        largest = max(map(abs, (*right.values(), *given.values())), default=0.0)
        missing: dict[sp.Expr, float] = {}
        extra: dict[sp.Expr, float] = {}
        found: list[TermDifference] = []
        for term in dict.fromkeys((*right, *given)):
            a, b = right.get(term, 0.0), given.get(term, 0.0)
            if abs(a - b) <= 1e-9 * max(abs(a), abs(b)) + 1e-12 * largest:
                continue
            if a and b:
                found.append(self._ratio("the term", exact(_tidy(a)) * term, b / a))
            else:
                (missing if a else extra)[term] = a or b
        for term, coefficient in list(missing.items()):
            pair = self._pair(exact(_tidy(coefficient)) * term, extra)
            if pair is not None:
                found.append(pair[1])
                del extra[pair[0]]
            else:
                found.append(self._ratio("the term", exact(_tidy(coefficient)) * term, 0.0))
        for term, coefficient in extra.items():
            whole = exact(_tidy(coefficient)) * term
            text = f"a term too many: {self.subject.text(whole)}{self.subject.unit(whole)}"
            found.append(self.note("extra term", text, None, whole))
        if len(found) > MAX_LISTED:
            rest = f"and {len(found) - MAX_LISTED} more terms differ"
            found = [*found[:MAX_LISTED], self.note("other", rest, self.right, self.given)]
        return found

    def _pair(self, term: sp.Expr, extra: dict[sp.Expr, float]) -> tuple[sp.Expr, TermDifference] | None:
        """The extra term that is a missing one with a mistake in one factor."""
        best: tuple[int, sp.Expr, TermDifference] | None = None
        values = self.samples(term)
        for other, coefficient in list(extra.items())[:MAX_LISTED]:
            with np.errstate(all="ignore"):
                explained = self._explain(term, coefficient * self.samples(other) / values)
            if explained is not None and (best is None or explained[0] < best[0]):
                best = explained[0], other, explained[1]
        return None if best is None else best[1:]


def _terms_of(element: Element) -> dict[sp.Expr, float]:
    """The products of a canonical form, and their coefficients."""
    ring = element.ring
    angles = [[ring.angles[k] for k in places] for places in ring.places()]
    found: dict[sp.Expr, float] = {}
    for (pattern, monomial), c in element.products().items():
        functions = [_function_of(key, own) for key, own in zip(pattern, angles, strict=True)]
        found[sp.Mul(element.polynomial({monomial: 1.0}), *functions)] = c
    return found


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "cos": sp.cos, "sin": sp.sin, "cos2": lambda x: sp.cos(x) ** 2, "sin2": lambda x: sp.sin(x) ** 2,
}  # fmt: skip


def _function_of(key: Any, angles: Sequence[sp.Expr]) -> sp.Expr:
    if key is None:
        return sp.S.One
    name, multiples = key
    return _FUNCTIONS[name](sp.Add(*(k * q for k, q in zip(multiples, angles, strict=True))))


def _factors(term: sp.Expr) -> set[sp.Symbol]:
    """The symbols that a product is of, powers included."""
    bases = (x.base if isinstance(x, sp.Pow) else x for x in sp.Mul.make_args(term))
    return {x for x in bases if isinstance(x, sp.Symbol)}


def _others(f: sp.Expr, arguments: Sequence[sp.Expr]) -> list[sp.Expr]:
    """What may be written in place of a sine or cosine: the other function, and that of another angle."""
    swapped = sp.cos if isinstance(f, sp.sin) else sp.sin
    return [swapped(f.args[0]), *(f.func(x) for x in arguments if x != f.args[0])]


def _kind_of_change(f: sp.Expr, other: sp.Expr) -> str:
    if other.func == f.func:
        return "angle"
    return "sine for cosine" if isinstance(other, sp.sin) else "cosine for sine"


def _words(kind: str, subject: AnswerContext, before: sp.Expr, after: sp.Expr) -> str:
    """The words for one factor that stands for another."""
    if kind == "power":
        return f"a factor {subject.text(before)} is {'missing' if after == 1 else 'too many'}"
    names = {"sine for cosine": "sine for cosine: ", "cosine for sine": "cosine for sine: "}
    return f"{names.get(kind, '')}{subject.text(after)} stands for {subject.text(before)}"


def _factor_words(factor: float) -> str:
    if abs(factor - 1) < 1e-9:
        return ""
    if abs(factor + 1) < 1e-9:
        return ", with the wrong sign,"
    return f", with a factor {_tidy(factor):g},"


def _tidy(x: float) -> float:
    """A number without its rounding, where it is a simple one."""
    for denominator in (1, 2, 3, 4, 6, 8, 12):
        nearest = round(x * denominator) / denominator
        if abs(nearest - x) <= 1e-9 * max(1.0, abs(x)):
            return nearest
    return x


def _operations(expression: sp.Expr) -> int:
    count = 0
    for _ in sp.preorder_traversal(expression):
        count += 1
        if count > MAX_WHOLE:
            break
    return count


def expanded_size(expression: sp.Basic) -> int:
    """The terms that an expression has at most when it is expanded; MAX_EXPANDED_TERMS + 1 and no more if too many."""
    most = MAX_EXPANDED_TERMS + 1
    if isinstance(expression, sp.Add):
        return min(most, sum(expanded_size(x) for x in expression.args))
    if isinstance(expression, sp.Mul):
        product = 1
        for x in expression.args:
            product = min(most, product * expanded_size(x))
        return product
    if isinstance(expression, sp.Pow) and expression.exp.is_Integer:
        base, n = expanded_size(expression.base), abs(int(expression.exp))
        return 1 if base == 1 else min(most, base ** min(n, 12))
    return 2 if isinstance(expression, (sp.sin, sp.cos)) else 1
