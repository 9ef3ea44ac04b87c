"""Numbers that carry their unit: scalars with which an algorithm proves that all its terms fit together."""

from __future__ import annotations

import math
from fractions import Fraction

from chainrule.spatial.scalar import Scalar, ScalarFunctions, is_zero, register
from chainrule.spatial.units import DIMENSIONLESS, Unit, UnitError, multiply, unit, unit_name


class UnitScalar:
    """A number with a unit. Sums of different units are refused, and so are sines of what is no angle.

    An exact zero without a unit fits everywhere. Angles in rad have no unit.

    >>> force, lever = UnitScalar(3.0, "N"), UnitScalar(0.5, "m")
    >>> force * lever
    1.5 N m
    >>> force + lever
    Traceback (most recent call last):
    ...
    chainrule.spatial.units.UnitError: 3 N and 0.5 m cannot be added
    """

    __slots__ = ("powers", "value")

    def __init__(self, value: float, powers: str | Unit = DIMENSIONLESS) -> None:
        self.value = float(value)
        self.powers = unit(powers) if isinstance(powers, str) else powers

    @property
    def unit(self) -> str:
        """The name of its unit."""
        return unit_name(self.powers)

    def has_unit(self, text: str) -> bool:
        """Whether its unit is the one that is named."""
        return self.powers == unit(text)

    def __add__(self, other: Scalar) -> UnitScalar:
        if is_zero(other):
            return self
        return UnitScalar(self.value + self._same(other, "added"), self.powers)

    def __sub__(self, other: Scalar) -> UnitScalar:
        if is_zero(other):
            return self
        return UnitScalar(self.value - self._same(other, "subtracted"), self.powers)

    def __rsub__(self, other: Scalar) -> UnitScalar:
        return -self + other

    def __mul__(self, other: Scalar) -> Scalar:
        if is_zero(other):
            return 0
        factor = _as_measured(other)
        return UnitScalar(self.value * factor.value, multiply(self.powers, factor.powers))

    def __truediv__(self, other: Scalar) -> UnitScalar:
        divisor = _as_measured(other)
        return UnitScalar(self.value / divisor.value, multiply(self.powers, divisor.powers, -1))

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return 0 if is_zero(other) else _as_measured(other) / self

    def __pow__(self, power: float) -> UnitScalar:
        times = Fraction(power).limit_denominator(12)
        return UnitScalar(self.value**power, multiply(DIMENSIONLESS, self.powers, times))

    def __neg__(self) -> UnitScalar:
        return UnitScalar(-self.value, self.powers)

    def __abs__(self) -> UnitScalar:
        return UnitScalar(abs(self.value), self.powers)

    def __lt__(self, other: Scalar) -> bool:
        return self.value < (0.0 if is_zero(other) else self._same(other, "compared"))

    def __gt__(self, other: Scalar) -> bool:
        return self.value > (0.0 if is_zero(other) else self._same(other, "compared"))

    def __eq__(self, other: object) -> bool:
        if is_zero(other):
            return self.value == 0
        return isinstance(other, UnitScalar) and (self.value, self.powers) == (other.value, other.powers)

    def __hash__(self) -> int:
        return hash((self.value, self.powers))

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"{self.value:.6g} {self.unit}" if self.powers != DIMENSIONLESS else f"{self.value:.6g}"

    __radd__, __rmul__ = __add__, __mul__

    def _same(self, other: Scalar, verb: str) -> float:
        """The number of another quantity, which must have the same unit."""
        second = _as_measured(other)
        if second.powers != self.powers:
            raise UnitError(f"{self!r} and {second!r} cannot be {verb}")
        return second.value


def _as_measured(x: Scalar) -> UnitScalar:
    """A scalar as a quantity; plain numbers have no unit."""
    return x if isinstance(x, UnitScalar) else UnitScalar(x)


def _plain(x: UnitScalar, function: str) -> float:
    """The number of a quantity without unit."""
    if x.powers != DIMENSIONLESS:
        raise UnitError(f"{x!r} has a unit, and {function} takes a plain number or an angle")
    return x.value


def _angle(y: Scalar, x: Scalar) -> UnitScalar:
    first, second = _as_measured(y), _as_measured(x)
    if first.powers != second.powers and not (is_zero(y) or is_zero(x)):
        raise UnitError(f"{first!r} and {second!r} are no sides of one triangle")
    return UnitScalar(math.atan2(first.value, second.value))


register(
    UnitScalar,
    ScalarFunctions(
        lambda x: UnitScalar(math.sin(_plain(x, "sin"))),
        lambda x: UnitScalar(math.cos(_plain(x, "cos"))),
        lambda x: x**0.5,
        _angle,
        lambda condition, a, b: a if condition else b,
        lambda x: UnitScalar(math.exp(_plain(x, "exp"))),
    ),
)
