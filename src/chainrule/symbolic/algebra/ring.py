"""Trigonometric polynomials in canonical form: the scalars that closed forms are made of.

Every torque of a robot is a polynomial in its parameters, its velocities, its lengths, and the sines and cosines of
its angles. With z = e^(i q), cos q = (z + 1/z) / 2 and sin q = (z - 1/z) / 2i, and the torque is a polynomial in z
with positive and negative powers. Expanded in these powers it has exactly one form: products of sines and cosines
become sines and cosines of sums, terms that cancel disappear, and equal expressions are identical.

A monomial is one integer whose digits are the exponents. Adding two such integers multiplies the monomials.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp

from chainrule.errors import ModelError
from chainrule.spatial.scalar import ScalarFunctions, register
from chainrule.symbolic.algebra.expressions import expression_or_matrix, symbol

EXPONENT_BITS = 12
"""Bits of each exponent in a monomial: exponents stay below 2^11."""

EXPONENT_BASE = 1 << EXPONENT_BITS
ROUNDING = 1e-13
"""Coefficients below this fraction of the largest one are rounding errors."""

MAX_TERM_PRODUCTS = 30_000_000
"""Products of terms in one multiplication; a closed form that needs more is refused."""

QUARTER_TURNS = (1, 1j, -1, -1j)


@lru_cache(maxsize=256)
def _halves(count: int) -> int:
    """What makes the lowest digits of a monomial positive, so that none borrows from the next."""
    return sum(EXPONENT_BASE >> 1 << EXPONENT_BITS * k for k in range(count))


class Ring:
    """The variables of the polynomials: a digit of each monomial for every symbol, and one for e^(i angle)."""

    def __init__(self, angles: Iterable[sp.Symbol] = ()) -> None:
        self.digits: dict[sp.Expr, int] = {}
        self.exponentials: dict[sp.Expr, int] = {}
        """Angle -> digit of e^(i angle). An angle that is no whole multiple of another has its own digit."""
        self.frequencies: dict[int, tuple[sp.Expr, float]] = {}
        """Digit of e^(i scale symbol) -> (symbol, scale)."""
        self.groups: list[list[sp.Expr]] = []
        """Angles that are printed as sums, such as those about parallel axes. If empty, all angles are one group."""
        self.count = 0
        for angle in angles:
            self.angle(angle)

    def _next(self) -> int:
        self.count += 1
        return self.count - 1

    def angle(self, symbol: sp.Symbol) -> Element:
        """Add an angle, a symbol whose sine and cosine may be taken."""
        element = self.variable(symbol)
        self.exponential_place(symbol, 1.0)
        return element

    def exponential_place(self, symbol: sp.Expr, scale: float) -> int:
        """The digit of e^(i scale symbol)."""
        angle = exact(scale) * symbol
        if angle not in self.exponentials:
            self.exponentials[angle] = self._next()
            self.frequencies[self.exponentials[angle]] = (symbol, scale)
        return self.exponentials[angle]

    def variable(self, symbol: sp.Symbol) -> Element:
        """Add a symbol that is no angle."""
        if symbol not in self.digits:
            self.digits[symbol] = self._next()
        return Element(self, {1 << (EXPONENT_BITS * self.digits[symbol]): 1.0})

    def constant(self, x: complex) -> Element:
        """A number as an element."""
        return Element(self, {0: x} if x else {})

    @property
    def angles(self) -> dict[int, sp.Expr]:
        """Digit of e^(i angle) -> angle."""
        return {place: angle for angle, place in self.exponentials.items()}

    def places(self) -> list[list[int]]:
        """The digits of e^(i angle), by group."""
        if not self.groups:
            return [list(self.exponentials.values())]
        found = [[p for p, (symbol, _) in self.frequencies.items() if symbol in group] for group in self.groups]
        named = {symbol for group in self.groups for symbol in group}
        return found + [[p] for p, (symbol, _) in self.frequencies.items() if symbol not in named]

    def exponents(self, monomial: int) -> list[int]:
        """The exponents of a monomial, by digit."""
        positive, found = monomial + _halves(self.count), []
        for _ in range(self.count):
            found.append((positive & (EXPONENT_BASE - 1)) - (EXPONENT_BASE >> 1))
            positive >>= EXPONENT_BITS
        return found

    def exponent(self, monomial: int, place: int) -> int:
        """The exponent of one digit of a monomial."""
        positive = monomial + _halves(place + 1)
        return (positive >> EXPONENT_BITS * place & (EXPONENT_BASE - 1)) - (EXPONENT_BASE >> 1)

    def of(self, expression: Any) -> Element:
        """A SymPy expression as an element; refused if it is no trigonometric polynomial."""
        return _Reader(self).read(expression_or_matrix(expression, "the expression"))


class Element:
    """A trigonometric polynomial: a dictionary of monomials and their coefficients."""

    __slots__ = ("ring", "terms")

    def __init__(self, ring: Ring, terms: dict[int, complex]) -> None:
        self.ring, self.terms = ring, terms

    def _of(self, other: Any) -> dict[int, complex] | None:
        if isinstance(other, Element):
            return other.terms
        if isinstance(other, (int, float, complex)):
            return {0: other} if other else {}
        return None

    def __add__(self, other: Any) -> Any:
        theirs = self._of(other)
        if theirs is None:
            return NotImplemented
        if not theirs:
            return self
        terms = dict(self.terms)
        for monomial, c in theirs.items():
            total = terms.get(monomial, 0) + c
            if total:
                terms[monomial] = total
            else:
                terms.pop(monomial, None)
        return Element(self.ring, terms)

    __radd__ = __add__

    def __neg__(self) -> Element:
        return Element(self.ring, {m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        theirs = self._of(other)
        if theirs is None:
            return NotImplemented
        if len(self.terms) * len(theirs) > MAX_TERM_PRODUCTS:
            raise ModelError(
                "the closed form grows beyond what anybody can read or wait for; ask for parameters='numeric', lock "
                "joints with robot.lock(...), or take the equations with named intermediate variables: "
                "robot.equations(...).intermediate()"
            )
        terms: dict[int, complex] = {}
        get = terms.get
        for m, c in self.terms.items():
            for n, d in theirs.items():
                terms[m + n] = get(m + n, 0) + c * d
        return Element(self.ring, {m: c for m, c in terms.items() if c})

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> Element:
        if not isinstance(exponent, int) or (exponent < 0 and len(self.terms) != 1):
            raise ModelError(f"a sum can only be raised to a whole positive power, not to {exponent!r}")
        if exponent < 0:
            return 1 / self ** (-exponent)
        result = self.ring.constant(1)
        for _ in range(exponent):
            result = result * self
        return result

    def __truediv__(self, other: Any) -> Any:
        theirs = self._of(other)
        if theirs is None:
            return NotImplemented
        if len(theirs) != 1:
            raise ModelError("a closed form can be divided by a number or a product, not by a sum or by zero")
        ((monomial, c),) = theirs.items()
        return Element(self.ring, {m - monomial: d / c for m, d in self.terms.items()})

    def __rtruediv__(self, other: Any) -> Any:
        return self.ring.constant(other) / self

    def __abs__(self) -> Element:
        return self if self.number() >= 0 else -self

    def number(self) -> float:
        """The value of a constant element; refused if it is not constant."""
        if any(self.terms) or abs(self.terms.get(0, 0.0).imag) > 0:
            raise ModelError("a closed form cannot be compared with a number: it holds for every value of its symbols")
        return float(self.terms.get(0, 0.0).real)

    def __float__(self) -> float:
        return self.number()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Element, int, float)):
            return not (self - other).prune().terms
        return NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __lt__(self, other: Any) -> bool:
        return float((self - other).number()) < 0

    def __gt__(self, other: Any) -> bool:
        return float((self - other).number()) > 0

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def prune(self, largest: float | None = None) -> Element:
        """Drop rounding errors, coefficients that are tiny beside `largest` (the largest one by default)."""
        largest = max(map(abs, self.terms.values()), default=0.0) if largest is None else largest
        return Element(self.ring, {m: c for m, c in self.terms.items() if abs(c) > ROUNDING * largest})

    def derivative(self, symbol: sp.Symbol) -> Element:
        """Partial derivative by a symbol, including its sines and cosines."""
        ring = self.ring
        place = ring.digits.get(symbol)
        own = [(digit, scale) for digit, (angle, scale) in ring.frequencies.items() if angle == symbol]
        terms: dict[int, complex] = {}
        for monomial, c in self.terms.items():
            exponents = ring.exponents(monomial)
            if place is not None and exponents[place]:
                lower = monomial - (1 << (EXPONENT_BITS * place))
                terms[lower] = terms.get(lower, 0) + c * exponents[place]
            rate = sum(scale * exponents[digit] for digit, scale in own)
            if rate:
                terms[monomial] = terms.get(monomial, 0) + c * 1j * rate
        return Element(ring, {m: c for m, c in terms.items() if c})

    # --- sines and cosines ---

    def exponential(self) -> Element:
        """e^(i x), for x a number plus multiples of angles."""
        ring, monomial, phase = self.ring, 0, 0.0
        known = {ring.digits[symbol]: symbol for symbol, _ in ring.frequencies.values()}
        for m, c in self.terms.items():
            exponents = {k: e for k, e in enumerate(ring.exponents(m)) if e}
            if not exponents:
                phase = c.real
                continue
            ((place, power),) = exponents.items() if len(exponents) == 1 else ((None, 0),)
            if place not in known or power != 1:
                raise ModelError("sines and cosines can be taken of sums and multiples of angles only")
            whole = round(c.real)
            if abs(c - whole) < 1e-12:
                monomial += whole << (EXPONENT_BITS * ring.exponential_place(known[place], 1.0))
            else:
                monomial += 1 << (EXPONENT_BITS * ring.exponential_place(known[place], c.real))
        quarter = phase / (math.pi / 2)
        nearest = round(quarter)
        factor = (
            QUARTER_TURNS[nearest % 4] if abs(quarter - nearest) < 1e-14 else complex(math.cos(phase), math.sin(phase))
        )
        return Element(ring, {monomial: factor})

    # --- to SymPy ---

    def products(self) -> dict[tuple[Pattern, int], float]:
        """The coefficient of each product of a function of every group of angles and a monomial in the other symbols.

        e^(i k.q) is (cos + i sin) of the angles of the first group, times that of the second, and so on.
        """
        ring = self.ring
        groups = ring.places()
        found: dict[tuple[Pattern, int], complex] = {}
        for monomial, c in self.prune().terms.items():
            exponents = ring.exponents(monomial)
            rest = monomial
            pairs: list[tuple[Pattern, complex]] = [((), c)]
            for places in groups:
                multiples = tuple(exponents[k] for k in places)
                rest -= sum(e << (EXPONENT_BITS * k) for e, k in zip(multiples, places, strict=True))
                sign = next((1 if e > 0 else -1 for e in multiples if e), 0)
                if not sign:
                    pairs = [((*pattern, None), x) for pattern, x in pairs]
                    continue
                multiples = tuple(sign * e for e in multiples)
                pairs = [
                    ((*pattern, (name, multiples)), x * factor)
                    for pattern, x in pairs
                    for name, factor in (("cos", 1), ("sin", 1j * sign))
                ]
            for pattern, x in pairs:
                found[pattern, rest] = found.get((pattern, rest), 0) + x
        largest = max((abs(c) for c in self.terms.values()), default=0.0)
        real = {key: c.real for key, c in found.items() if abs(c.real) > ROUNDING * largest}
        for group in range(len(groups)):
            _collect_squares(real, group)
        return real

    def polynomial(self, terms: Mapping[int, float]) -> sp.Expr:
        """A polynomial without angles as a SymPy expression."""
        symbols = {place: symbol for symbol, place in self.ring.digits.items()}
        total = []
        for monomial, c in terms.items():
            powers = [symbols[k] ** e for k, e in enumerate(self.ring.exponents(monomial)) if e]
            total.append(sp.Mul(exact(c), *powers))
        return sp.Add(*total)

    def sympy(self, shape: Callable[[sp.Expr], sp.Expr] | None = None) -> sp.Expr:
        """The SymPy expression: sines and cosines of the sums of each group of angles, with their coefficients.

        `shape` is applied to every coefficient; it factors them by default.
        """
        form = factor_coefficient if shape is None else shape
        angles = [[self.ring.angles[k] for k in places] for places in self.ring.places()]

        def nest(terms: dict[tuple[Pattern, int], float], group: int) -> sp.Expr:
            if group == len(angles):
                return form(self.polynomial({monomial: c for (_, monomial), c in terms.items()}))
            apart: dict[Any, dict[tuple[Pattern, int], float]] = {}
            for key, c in terms.items():
                apart.setdefault(key[0][group], {})[key] = c
            parts = [
                sp.Mul(nest(apart[key], group + 1), _function(key, angles[group]))
                for key in sorted(apart, key=_order_key)
            ]
            return sp.Add(*parts)

        return nest(self.products(), 0)

    def __repr__(self) -> str:
        return str(self.sympy())


Pattern = tuple[Any, ...]
"""For each group of angles: None, or the name of a function and the multiples of the angles in its argument."""

FUNCTIONS: dict[str, Callable[[sp.Expr], sp.Expr]] = {
    "cos": sp.cos, "sin": sp.sin, "cos2": lambda x: sp.cos(x) ** 2, "sin2": lambda x: sp.sin(x) ** 2,
}  # fmt: skip


def _function(key: Any, angles: list[sp.Expr]) -> sp.Expr:
    if key is None:
        return sp.Integer(1)
    name, multiples = key
    return FUNCTIONS[name](sp.Add(*(k * q for k, q in zip(multiples, angles, strict=True))))


def _collect_squares(terms: dict[tuple[Pattern, int], float], group: int) -> None:
    """Replace a + a cos 2x by 2 a cos^2 x, and a - a cos 2x by 2 a sin^2 x, in place."""
    in_order = sorted(terms, key=lambda each: ([_order_key(key) for key in each[0]], each[1]))
    for pattern, monomial in in_order:  # simplest first, which makes the form unique
        c, key = terms.get((pattern, monomial), 0.0), pattern[group]
        if not c or key is None or key[0] != "cos" or any(k % 2 for k in key[1]):
            continue
        constant = ((*pattern[:group], None, *pattern[group + 1 :]), monomial)
        other = terms.get(constant, 0.0)
        if not other or abs(abs(other) - abs(c)) > ROUNDING * abs(c):
            continue
        name = "cos2" if other * c > 0 else "sin2"
        square = (*pattern[:group], (name, tuple(k // 2 for k in key[1])), *pattern[group + 1 :])
        del terms[pattern, monomial], terms[constant]
        terms[square, monomial] = 2 * other


def _order_key(key: Any) -> tuple[Any, ...]:
    if key is None:
        return (0,)
    name, multiples = key
    return (1, sum(map(abs, multiples)), tuple(-k for k in multiples), name)


def exact(x: float) -> sp.Expr:
    """The SymPy number to print: a fraction with a small denominator, or a decimal."""
    fraction = Fraction(x).limit_denominator(12)
    halved = Fraction(x)
    if halved.denominator <= 64 and abs(halved.numerator) <= 16:  # whole numbers, halved and doubled
        fraction = halved
    if abs(float(fraction) - x) <= 1e-15 * abs(x):
        return sp.Rational(fraction.numerator, fraction.denominator)
    return sp.Float(x, 16)


MAX_FACTORED_TERMS = 40
"""Terms of a coefficient up to which it is factored."""


MAX_MULTIPLE = 16
"""Largest multiple of the smallest decimal that is taken out of a sum: 1.6 a + 0.8 b = 0.8 (2 a + b)."""


def factor_coefficient(expression: sp.Expr) -> sp.Expr:
    """Factor a coefficient, if it is not too long."""
    if not isinstance(expression, sp.Add) or len(expression.args) > MAX_FACTORED_TERMS:
        return expression
    if not expression.has(sp.Float):
        return with_distinct_order(sp.factor, expression)
    parts = [term.as_coeff_Mul() for term in expression.args]
    least = min((abs(number) for number, _ in parts), default=sp.S.One)
    multiples = [float(number / least) for number, _ in parts]
    if any(abs(x - round(x)) > ROUNDING * abs(x) or abs(x) > MAX_MULTIPLE for x in multiples):
        return sp.factor_terms(expression)
    whole = sp.Add(*(round(x) * rest for x, (_, rest) in zip(multiples, parts, strict=True)))
    product = with_distinct_order(sp.factor, whole)
    return sp.Mul(least, product, evaluate=False) if isinstance(product, sp.Add) else least * product


TRAILING_NUMBER = re.compile(r"(.*?)(\d*)")


def with_distinct_order(factor: Callable[[sp.Expr], sp.Expr], expression: sp.Expr) -> sp.Expr:
    """Factor an expression whose symbols SymPy would put in no certain order.

    SymPy sorts them by their letters and the number at the end, by which q_1 and q_01 are equal; then their order, and
    the signs of the factors, would depend on PYTHONHASHSEED.
    """
    found: dict[tuple[str, int], sp.Symbol] = {}
    stand_ins: dict[sp.Symbol, sp.Symbol] = {}
    for own in sorted(expression.free_symbols, key=lambda s: (len(s.name), s.name)):
        match = TRAILING_NUMBER.fullmatch(own.name)
        assert match is not None
        if found.setdefault((match[1], int(match[2] or 0)), own) != own:
            stand_ins[own] = sp.Symbol(f"{own.name}'{len(stand_ins)}", **own.assumptions0)
    if not stand_ins:
        return factor(expression)
    back = {stand_in: own for own, stand_in in stand_ins.items()}
    number, rest = factor(expression.xreplace(stand_ins)).as_coeff_Mul()
    rest = rest.xreplace(back)
    return sp.Mul(number, rest, evaluate=False) if rest.is_Add and number != 1 else number * rest


def prune(x: Any) -> Any:
    """Drop the rounding errors of an element; return a plain number unchanged."""
    return x.prune() if isinstance(x, Element) else x


def to_sympy(x: Any, shape: Callable[[sp.Expr], sp.Expr] | None = None) -> sp.Expr:
    """The SymPy expression of an element or of a plain number."""
    return x.sympy(shape) if isinstance(x, Element) else exact(float(x))


def to_matrix(rows: Iterable[Iterable[Any]], shape: Callable[[sp.Expr], sp.Expr] | None = None) -> sp.ImmutableMatrix:
    """Rows of elements and numbers as a matrix of expressions."""
    return sp.ImmutableMatrix([[to_sympy(x, shape) for x in row] for row in rows])


def contract(expression: Any, angles: Iterable[sp.Symbol], groups: Iterable[Iterable[sp.Symbol]] = ()) -> sp.Expr:
    """Contract a trigonometric polynomial to its canonical form; other expressions are refused.

    Products of sines and cosines become sines and cosines of sums, within each group of angles. All angles are one
    group by default.

    >>> import sympy as sp
    >>> a, b = sp.symbols("a b")
    >>> contract(sp.cos(a) * sp.cos(b) - sp.sin(a) * sp.sin(b), [a, b])
    cos(a + b)
    """
    ring = Ring(symbol(angle, "an angle") for angle in angles)
    ring.groups = [[symbol(angle, "an angle of a group") for angle in group] for group in groups]
    return ring.of(expression).sympy()


class _Reader:
    """Converts SymPy expressions to elements."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.known: dict[sp.Expr, Element] = {}
        self.angles = {symbol for symbol, _ in ring.frequencies.values()}

    def read(self, expression: sp.Expr) -> Element:
        if expression not in self.known:
            self.known[expression] = self._read(expression)
        return self.known[expression]

    def _read(self, expression: sp.Expr) -> Element:
        ring = self.ring
        if not isinstance(expression, sp.Expr):
            raise ModelError(f"{expression!s:.60} is not a trigonometric polynomial")
        if expression.is_Symbol:
            return ring.variable(expression)
        if expression.is_number:
            return ring.constant(complex(expression) if not expression.is_real else float(expression))
        if expression.is_Add or expression.is_Mul:
            parts = [self.read(part) for part in expression.args]
            total = parts[0]
            for part in parts[1:]:
                total = total + part if expression.is_Add else total * part
            return total
        if expression.is_Pow and expression.exp.is_Integer:
            return self.read(expression.base) ** int(expression.exp)
        if isinstance(expression, (sp.sin, sp.cos)) and expression.free_symbols & self.angles:
            z = self.read(expression.args[0]).exponential()
            return sine(z) if isinstance(expression, sp.sin) else cosine(z)
        if not expression.free_symbols & self.angles:  # constant
            return ring.variable(expression)
        raise ModelError(f"{expression} is not a trigonometric polynomial in the angles")


def _conjugate(z: Element) -> Element:
    return Element(z.ring, {-m: c.conjugate() for m, c in z.terms.items()})


def cosine(z: Element) -> Element:
    """The cosine (z + 1/z) / 2 of the angle whose exponential is z."""
    return (z + _conjugate(z)) * 0.5


def sine(z: Element) -> Element:
    """The sine (z - 1/z) / 2i of the angle whose exponential is z."""
    return (z - _conjugate(z)) * -0.5j


def _square_root(x: Element) -> Element:
    return x.ring.constant(math.sqrt(x.number()))


def _angle_of(y: Any, x: Any) -> float:
    return math.atan2(float(y), float(x))


register(
    Element,
    ScalarFunctions(
        lambda x: sine(x.exponential()),
        lambda x: cosine(x.exponential()),
        _square_root,
        _angle_of,
        lambda condition, a, b: a if condition else b,
    ),
)
