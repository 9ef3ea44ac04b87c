"""Trigonometric polynomials in canonical form: the scalars that closed forms are made of.

Every torque of a robot is a polynomial in its parameters, its velocities, its lengths, and the sines and cosines of
its angles. With z = e^(i q), cos q = (z + 1/z) / 2 and sin q = (z - 1/z) / 2i, so that it is a polynomial in z as
well, with negative powers. Written out in powers it has one form only: products of sines and cosines become those of
sums, what cancels is gone, and two equal expressions are the same.

A monomial is one integer, the exponents being its digits, so that monomials are multiplied by adding integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from chainrule.errors import ModelError
from chainrule.spatial.scalar import Functions, register

BITS = 12
"""Bits of a digit: exponents stay below 2^11."""

BASE = 1 << BITS
TINY = 1e-13
"""Coefficients below so much of the largest are what rounding has left."""

LARGEST = 30_000_000
"""Products of terms in one multiplication, beyond which a closed form is given up."""

QUARTER = (1, 1j, -1, -1j)


class Ring:
    """The generators, by SymPy symbol: each has a digit; an angle has a second one, for z = e^(i angle)."""

    def __init__(self, angles: Iterable[sp.Symbol] = ()) -> None:
        self.digits: dict[sp.Expr, int] = {}
        self.turns: dict[sp.Expr, int] = {}
        """Places of e^(i angle), by the angle; one that is not a whole multiple of another has its own."""
        self.rates: dict[int, tuple[sp.Expr, float]] = {}
        """For each of those places, the symbol that turns it, and how fast."""
        self.groups: list[list[sp.Expr]] = []
        """Angles that are written as sums, such as those about parallel axes; others all together if there are none."""
        self.count = 0
        for angle in angles:
            self.angle(angle)

    def _next(self) -> int:
        self.count += 1
        return self.count - 1

    def angle(self, symbol: sp.Symbol) -> Element:
        """An angle: it may stand in sines and cosines."""
        element = self.variable(symbol)
        self.turn(symbol, 1.0)
        return element

    def turn(self, symbol: sp.Expr, scale: float) -> int:
        """The place of e^(i scale symbol)."""
        angle = exact(scale) * symbol
        if angle not in self.turns:
            self.turns[angle] = self._next()
            self.rates[self.turns[angle]] = (symbol, scale)
        return self.turns[angle]

    def variable(self, symbol: sp.Symbol) -> Element:
        """Anything else."""
        if symbol not in self.digits:
            self.digits[symbol] = self._next()
        return Element(self, {1 << (BITS * self.digits[symbol]): 1.0})

    def constant(self, x: complex) -> Element:
        """A number."""
        return Element(self, {0: x} if x else {})

    @property
    def angles(self) -> dict[int, sp.Expr]:
        """The angle of each place."""
        return {place: angle for angle, place in self.turns.items()}

    def places(self) -> list[list[int]]:
        """The places of e^(i angle), by group."""
        if not self.groups:
            return [list(self.turns.values())]
        found = [[p for p, (symbol, _) in self.rates.items() if symbol in group] for group in self.groups]
        named = {symbol for group in self.groups for symbol in group}
        return found + [[p] for p, (symbol, _) in self.rates.items() if symbol not in named]

    def exponents(self, monomial: int) -> list[int]:
        """The digits of a monomial, by place."""
        found = []
        for _ in range(self.count):
            digit = monomial & (BASE - 1)
            digit -= BASE if digit >= BASE // 2 else 0
            found.append(digit)
            monomial = (monomial - digit) >> BITS
        return found

    def of(self, expression: Any) -> Element:
        """A SymPy expression as an element; an error if it is not a trigonometric polynomial."""
        return _Reader(self).read(sp.sympify(expression))


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
        if len(self.terms) * len(theirs) > LARGEST:
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
        """The value of a constant; an error if it is none."""
        if any(self.terms) or abs(self.terms.get(0, 0.0).imag) > 0:
            raise ModelError("a closed form cannot be compared with a number: it holds for every value of its symbols")
        return float(self.terms.get(0, 0.0).real)

    def __float__(self) -> float:
        return self.number()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Element, int, float)):
            return not (self - other).pruned().terms
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

    def pruned(self, largest: float | None = None) -> Element:
        """Without what rounding has left, of numbers as large as its largest unless told."""
        largest = max(map(abs, self.terms.values()), default=0.0) if largest is None else largest
        return Element(self.ring, {m: c for m, c in self.terms.items() if abs(c) > TINY * largest})

    def derivative(self, symbol: sp.Symbol) -> Element:
        """With respect to a symbol, its sines and cosines included."""
        ring = self.ring
        place = ring.digits.get(symbol)
        turns = [(turn, scale) for turn, (turned, scale) in ring.rates.items() if turned == symbol]
        terms: dict[int, complex] = {}
        for monomial, c in self.terms.items():
            exponents = ring.exponents(monomial)
            if place is not None and exponents[place]:
                lower = monomial - (1 << (BITS * place))
                terms[lower] = terms.get(lower, 0) + c * exponents[place]
            rate = sum(scale * exponents[turn] for turn, scale in turns)
            if rate:
                terms[monomial] = terms.get(monomial, 0) + c * 1j * rate
        return Element(ring, {m: c for m, c in terms.items() if c})

    # --- sines and cosines ---

    def turned(self) -> Element:
        """e^(i x) of a sum of multiples of angles, and a number."""
        ring, monomial, phase = self.ring, 0, 0.0
        known = {ring.digits[symbol]: symbol for symbol, _ in ring.rates.values()}
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
                monomial += whole << (BITS * ring.turn(known[place], 1.0))
            else:
                monomial += 1 << (BITS * ring.turn(known[place], c.real))
        quarter = phase / (math.pi / 2)
        nearest = round(quarter)
        factor = QUARTER[nearest % 4] if abs(quarter - nearest) < 1e-14 else complex(math.cos(phase), math.sin(phase))
        return Element(ring, {monomial: factor})

    # --- to SymPy ---

    def products(self) -> dict[tuple[Pattern, int], float]:
        """As a sum of products: for each, a function of every group of angles, and a monomial in the rest.

        e^(i k.q) is (cos + i sin) of the angles of the first group, times that of the second, and so on.
        """
        ring = self.ring
        groups = ring.places()
        found: dict[tuple[Pattern, int], complex] = {}
        for monomial, c in self.pruned().terms.items():
            exponents = ring.exponents(monomial)
            rest = monomial
            pairs: list[tuple[Pattern, complex]] = [((), c)]
            for places in groups:
                multiples = tuple(exponents[k] for k in places)
                rest -= sum(e << (BITS * k) for e, k in zip(multiples, places, strict=True))
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
        real = {key: c.real for key, c in found.items() if abs(c.real) > TINY * largest}
        for group in range(len(groups)):
            _square(real, group)
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
        """As a SymPy expression: sines and cosines of the sums of each group of angles, with their coefficients.

        `shape` is applied to every coefficient, factoring unless another is given.
        """
        form = factored if shape is None else shape
        angles = [[self.ring.angles[k] for k in places] for places in self.ring.places()]

        def nested(terms: dict[tuple[Pattern, int], float], group: int) -> sp.Expr:
            if group == len(angles):
                return form(self.polynomial({monomial: c for (_, monomial), c in terms.items()}))
            apart: dict[Any, dict[tuple[Pattern, int], float]] = {}
            for key, c in terms.items():
                apart.setdefault(key[0][group], {})[key] = c
            parts = [
                sp.Mul(nested(apart[key], group + 1), _function(key, angles[group]))
                for key in sorted(apart, key=_simplest)
            ]
            return sp.Add(*parts)

        return nested(self.products(), 0)

    def __repr__(self) -> str:
        return str(self.sympy())


Pattern = tuple[Any, ...]
"""For each group of angles: None, or the name of a function and the multiples of the angles it is of."""

FUNCTIONS: dict[str, Callable[[sp.Expr], sp.Expr]] = {
    "cos": sp.cos, "sin": sp.sin, "cos2": lambda x: sp.cos(x) ** 2, "sin2": lambda x: sp.sin(x) ** 2,
}  # fmt: skip


def _function(key: Any, angles: list[sp.Expr]) -> sp.Expr:
    if key is None:
        return sp.Integer(1)
    name, multiples = key
    return FUNCTIONS[name](sp.Add(*(k * q for k, q in zip(multiples, angles, strict=True))))


def _square(terms: dict[tuple[Pattern, int], float], group: int) -> None:
    """Make of a + a cos 2x what it is, 2 a cos^2 x, and of a - a cos 2x likewise 2 a sin^2 x; in place."""
    in_order = sorted(terms, key=lambda each: ([_simplest(key) for key in each[0]], each[1]))
    for pattern, monomial in in_order:  # the simplest first, so that there is one form only
        c, key = terms.get((pattern, monomial), 0.0), pattern[group]
        if not c or key is None or key[0] != "cos" or any(k % 2 for k in key[1]):
            continue
        constant = ((*pattern[:group], None, *pattern[group + 1 :]), monomial)
        other = terms.get(constant, 0.0)
        if not other or abs(abs(other) - abs(c)) > TINY * abs(c):
            continue
        name = "cos2" if other * c > 0 else "sin2"
        square = (*pattern[:group], (name, tuple(k // 2 for k in key[1])), *pattern[group + 1 :])
        del terms[pattern, monomial], terms[constant]
        terms[square, monomial] = 2 * other


def _simplest(key: Any) -> tuple[Any, ...]:
    if key is None:
        return (0,)
    name, multiples = key
    return (1, sum(map(abs, multiples)), tuple(-k for k in multiples), name)


def exact(x: float) -> sp.Expr:
    """A number as SymPy should print it: a fraction with a small denominator, or a decimal."""
    fraction = Fraction(x).limit_denominator(12)
    halved = Fraction(x)
    if halved.denominator <= 64 and abs(halved.numerator) <= 16:  # what halving and doubling makes of whole numbers
        fraction = halved
    if abs(float(fraction) - x) <= 1e-15 * abs(x):
        return sp.Rational(fraction.numerator, fraction.denominator)
    return sp.Float(x, 16)


SMALL = 40
"""Terms up to which a coefficient is factored."""


def factored(expression: sp.Expr) -> sp.Expr:
    """A coefficient as a product where it is one."""
    if not isinstance(expression, sp.Add) or len(expression.args) > SMALL:
        return expression
    if expression.has(sp.Float):
        return sp.factor_terms(expression)
    return sp.factor(expression)


def pruned(x: Any) -> Any:
    """An element without what rounding has left; a plain number as it is."""
    return x.pruned() if isinstance(x, Element) else x


def written(x: Any, shape: Callable[[sp.Expr], sp.Expr] | None = None) -> sp.Expr:
    """An element, or a plain number, as a SymPy expression."""
    return x.sympy(shape) if isinstance(x, Element) else exact(float(x))


def contracted(expression: Any, angles: Iterable[sp.Symbol], groups: Iterable[Iterable[sp.Symbol]] = ()) -> sp.Expr:
    """A trigonometric polynomial in its one contracted form; an error if it is not one.

    Products of sines and cosines become sums within each group of angles, all angles being one group unless told.

    >>> import sympy as sp
    >>> a, b = sp.symbols("a b")
    >>> contracted(sp.cos(a) * sp.cos(b) - sp.sin(a) * sp.sin(b), [a, b])
    cos(a + b)
    """
    ring = Ring(angles)
    ring.groups = [list(group) for group in groups]
    return ring.of(expression).sympy()


class _Reader:
    """From SymPy's trees to elements."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.seen: dict[sp.Expr, Element] = {}
        self.angles = {symbol for symbol, _ in ring.rates.values()}

    def read(self, expression: sp.Expr) -> Element:
        if expression not in self.seen:
            self.seen[expression] = self._read(expression)
        return self.seen[expression]

    def _read(self, expression: sp.Expr) -> Element:
        ring = self.ring
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
            turned = self.read(expression.args[0]).turned()
            return sine(turned) if isinstance(expression, sp.sin) else cosine(turned)
        if not expression.free_symbols & self.angles:  # a constant, whatever it is made of
            return ring.variable(expression)
        raise ModelError(f"{expression} is not a trigonometric polynomial in the angles")


def _conjugate(turned: Element) -> Element:
    return Element(turned.ring, {-m: c.conjugate() for m, c in turned.terms.items()})


def cosine(turned: Element) -> Element:
    """(z + 1/z) / 2."""
    return (turned + _conjugate(turned)) * 0.5


def sine(turned: Element) -> Element:
    """(z - 1/z) / 2i."""
    return (turned - _conjugate(turned)) * -0.5j


def _root(x: Element) -> Element:
    return x.ring.constant(math.sqrt(x.number()))


def _angle_of(y: Any, x: Any) -> float:
    return math.atan2(float(y), float(x))


register(
    "chainrule",
    Functions(
        lambda x: sine(x.turned()),
        lambda x: cosine(x.turned()),
        _root,
        _angle_of,
        lambda condition, a, b: a if condition else b,
    ),
)
