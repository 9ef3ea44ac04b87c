"""Straight-line code as assignments that can be read: sums with like terms merged and common factors taken out.

A tape has one operation in each line. Here every line becomes a sum of products, those that are used once are written
where they are used, and each sum is made shorter: a x + b x is (a + b) x.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import sympy as sp

from chainrule.compile.tape import Instruction, Tape
from chainrule.errors import ShapeError
from chainrule.symbolic.algebra.ring import exact

FUNCTIONS: dict[str, Callable[[sp.Expr], sp.Expr]] = {"sin": sp.sin, "cos": sp.cos, "sqrt": sp.sqrt}

ARITHMETIC = ("add", "sub", "mul", "div", "neg")

MERGED_ZERO = 1e-15
"""Coefficients below this fraction of those that were added up are zero."""


class Factor(NamedTuple):
    """A symbol by its place ("input"), or the value of a line ("line"), a function of it, or one over it."""

    kind: str
    place: int

    @property
    def is_line(self) -> bool:
        """Whether it is the value of a line itself."""
        return self.kind == "line"

    @property
    def line(self) -> int | None:
        """The line that it depends on; None for a symbol."""
        return None if self.kind == "input" else self.place


class Term(NamedTuple):
    """A product: a number and factors, in order."""

    number: float
    factors: tuple[Factor, ...]


Sum = tuple[Term, ...]


@dataclass
class StraightLineProgram:
    """Lines by number, each a sum of products, and the numbers of the results."""

    sums: dict[int, Sum] = field(default_factory=dict)
    results: list[int] = field(default_factory=list)

    @staticmethod
    def of(tape: Tape) -> StraightLineProgram:
        """The lines of a tape, one for each of its instructions."""
        lines = StraightLineProgram(results=list(tape.outputs))
        for k, instruction in enumerate(tape.instructions):
            lines.sums[k] = lines._read(instruction)
        return lines

    def _read(self, instruction: Instruction) -> Sum:
        name = instruction.operation
        if name == "input":
            return (Term(1.0, (Factor("input", instruction.entry),)),)
        if name == "constant":
            return (Term(float(instruction.constant), ()),)
        if name in FUNCTIONS:
            return (Term(1.0, (Factor(name, instruction.operands[0]),)),)
        if name not in ARITHMETIC:
            raise ShapeError(f"the function has the operation {name!r} in it, which no formula is written for")
        first, *rest = map(self._term, instruction.operands)
        if not rest:
            return (Term(-first.number, first.factors),)
        second = rest[0]
        if name in ("add", "sub"):
            sign = 1.0 if name == "add" else -1.0
            return merge((first, Term(sign * second.number, second.factors)))
        if name == "div" and second.factors:
            second = Term(1.0, (Factor("inverse", instruction.operands[1]),))
        elif name == "div":
            second = Term(1 / second.number, ())
        return (Term(first.number * second.number, _in_order((*first.factors, *second.factors))),)

    def _term(self, k: int) -> Term:
        """A line as a term: itself if it is a number or a symbol with a sign, or else a reference to it."""
        terms = self.sums[k]
        if not terms:
            return Term(0.0, ())
        plain = len(terms) == 1 and (not terms[0].factors or (abs(terms[0].number) == 1 and len(terms[0].factors) == 1))
        return terms[0] if plain else Term(1.0, (Factor("line", k),))

    # --- making them shorter ---

    def shorten(self) -> None:
        """Write lines that are used once where they are used, merge like terms and take out common factors."""
        for _ in range(len(self.sums)):
            before = dict(self.sums)
            self._inline()
            for k in self._lines_in_use():
                self.sums[k] = self._factor(self._merge_definitions(merge(self.sums[k])))
            if self.sums == before:
                break

    def uses(self) -> Counter[int]:
        """Number of uses of each line, by results and by lines that are used themselves."""
        found: Counter[int] = Counter()
        waiting = list(self.results)
        while waiting:
            k = waiting.pop()
            found[k] += 1
            if found[k] == 1:
                waiting += self._used_by(k)
        return found

    def _lines_in_use(self) -> list[int]:
        return sorted(self.uses())

    def _in_order_of_use(self) -> list[int]:
        """Lines that are used, each after those that it uses; a long chain of them needs no deep recursion."""
        found: dict[int, None] = {}
        waiting = [(k, False) for k in reversed(self.results)]
        while waiting:
            k, is_ready = waiting.pop()
            if is_ready:
                found[k] = None
            elif k not in found:
                waiting.append((k, True))
                waiting += [(used, False) for used in reversed(self._used_by(k)) if used not in found]
        return list(found)

    def _used_by(self, k: int) -> list[int]:
        """The lines that a line uses, in the order in which they are written."""
        lines = [factor.line for term in _positive_first(self.sums[k]) for factor in term.factors]
        return [line for line in lines if line is not None]

    def _inline(self) -> None:
        """Put lines that are used once, and those that are a symbol or a number, into the sums and products there."""
        uses = self.uses()
        for k in sorted(uses):
            terms: list[Term] = []
            for term in self.sums[k]:
                terms += self._expand(term, uses)
            self.sums[k] = tuple(terms)

    def _expand(self, term: Term, uses: Counter[int]) -> Iterable[Term]:
        number, factors = term.number, list[Factor]()
        for factor in term.factors:
            inner = self.sums[factor.place] if factor.is_line else ()
            alone = factor.is_line and (uses[factor.place] == 1 or self._term(factor.place) in inner)
            if alone and len(term.factors) == 1 and len(inner) != 1:
                return [Term(number * part.number, part.factors) for part in inner] if abs(number) == 1 else [term]
            if alone and len(inner) == 1:
                number *= inner[0].number
                factors += inner[0].factors
            else:
                factors.append(factor)
        return [Term(number, _in_order(factors))]

    def _merge_definitions(self, terms: Sum) -> Sum:
        """Put in what a line stands for where that is a multiple of another term: x + 3 a with x = 2 a is 5 a."""
        bare = Counter(term.factors for term in terms)
        expanded = []
        for term in terms:
            only = term.factors[0] if len(term.factors) == 1 else None
            inner = self.sums[only.place] if only is not None and only.is_line else ()
            if len(inner) == 1 and bare[inner[0].factors]:
                expanded.append(Term(term.number * inner[0].number, inner[0].factors))
            else:
                expanded.append(term)
        return merge(expanded)

    def _factor(self, terms: Sum) -> Sum:
        """The sum with the factor that most terms have taken out of them, and so on."""
        while len(terms) > 1:
            shared = Counter(f for term in terms for f in {*term.factors, _size(term)} if f != 1)
            best, count = max(shared.items(), key=lambda pair: (pair[1], str(pair[0])), default=(None, 0))
            if count < 2 or best is None:
                break
            having = [term for term in terms if best in term.factors or best == _size(term)]
            outer = _common(having)
            inner = merge(_divide(term, outer) for term in having)
            new = max(self.sums) + 1
            self.sums[new] = self._factor(inner)
            rest = tuple(term for term in terms if term not in having)
            taken = Term(outer.number, _in_order((*outer.factors, Factor("line", new))))
            if len(self.sums[new]) == 1:  # nothing is left but one term
                (only,) = self.sums.pop(new)
                taken = Term(outer.number * only.number, _in_order((*outer.factors, *only.factors)))
            terms = (*rest, taken)
        return terms

    # --- writing them ---

    def write(self, symbols: Sequence[sp.Symbol], letter: str) -> tuple[list[tuple[sp.Symbol, sp.Expr]], list[sp.Expr]]:
        """Assignments to letter_1, letter_2, .. of what is used more than once, and the results in them."""
        uses = self.uses()
        written: dict[int, sp.Expr] = {}
        assignments: list[tuple[sp.Symbol, sp.Expr]] = []

        def value(k: int) -> sp.Expr:
            if k not in written:
                expression = sp.Add(*map(product, _positive_first(self.sums[k])), evaluate=False)
                if uses[k] > 1 and not expression.is_Atom:
                    assignments.append((sp.Symbol(f"{letter}_{len(assignments) + 1}"), expression))
                    expression = assignments[-1][0]
                written[k] = expression
            return written[k]

        def product(term: Term) -> sp.Expr:
            powers = Counter(term.factors)
            factors = [factor(f) ** n for f, n in powers.items()]
            if term.number == 1:
                return factors[0] if len(factors) == 1 else sp.Mul(*factors, evaluate=False)
            return sp.Mul(exact(term.number), *factors, evaluate=False) if factors else exact(term.number)

        def factor(f: Factor) -> sp.Expr:
            if f.line is None:
                return symbols[f.place]
            if f.kind in FUNCTIONS:
                return FUNCTIONS[f.kind](value(f.place))
            return value(f.place) if f.is_line else 1 / value(f.place)

        for k in self._in_order_of_use():
            value(k)
        return assignments, [value(k) for k in self.results]

    def count_operations(self) -> dict[str, int]:
        """Numbers of additions, multiplications, sines and cosines of the lines that are used."""
        additions = multiplications = trigonometric = 0
        for k in self._lines_in_use():
            terms = self.sums[k]
            additions += max(len(terms) - 1, 0) + (bool(terms) and all(term.number < 0 for term in terms))
            for term in terms:
                multiplications += max(len(term.factors) - (abs(term.number) == 1), 0)
        functions = {
            f for k in self._lines_in_use() for term in self.sums[k] for f in term.factors if f.kind in FUNCTIONS
        }
        trigonometric = len(functions)
        total = additions + multiplications + trigonometric
        return {
            "additions": additions, "multiplications": multiplications, "trigonometric": trigonometric, "total": total
        }  # fmt: skip


def merge(terms: Iterable[Term]) -> Sum:
    """The sum with terms of the same factors added up."""
    numbers: dict[tuple[Factor, ...], float] = {}
    sizes: Counter[tuple[Factor, ...]] = Counter()
    for number, factors in terms:
        numbers[factors] = numbers.get(factors, 0.0) + number
        sizes[factors] += abs(number)  # type: ignore[assignment]
    return tuple(Term(x, factors) for factors, x in numbers.items() if abs(x) > MERGED_ZERO * sizes[factors])


def _in_order(factors: Iterable[Factor]) -> tuple[Factor, ...]:
    return tuple(sorted(factors))


def _size(term: Term) -> float:
    """The number of a term without its sign; 1, which costs nothing, for a term that is nothing else."""
    return abs(term.number) if term.factors else 1.0


def _common(terms: Sequence[Term]) -> Term:
    """The number and the factors that all terms have; the sign of the first."""
    factors = Counter(terms[0].factors)
    for term in terms[1:]:
        factors &= Counter(term.factors)
    same = all(abs(term.number) == abs(terms[0].number) for term in terms)
    sign = -1.0 if all(term.number < 0 for term in terms) else 1.0
    return Term(sign * (abs(terms[0].number) if same else 1.0), _in_order(factors.elements()))


def _divide(term: Term, by: Term) -> Term:
    return Term(term.number / by.number, _in_order((Counter(term.factors) - Counter(by.factors)).elements()))


def _positive_first(terms: Sum) -> list[Term]:
    return sorted(terms, key=lambda term: term.number < 0)
