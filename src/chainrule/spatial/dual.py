"""Dual numbers: scalars that carry the rate of their change along.

The value and the rate are scalars of any other kind. What is computed with dual numbers has the exact derivative of the
result as its rate (forward differentiation).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from chainrule.spatial import scalar
from chainrule.spatial.scalar import Functions, Scalar, register


class Dual:
    """A value and its rate.

    >>> x = Dual(3.0, 1.0)
    >>> (x * x + 1).value, (x * x + 1).rate
    (10.0, 6.0)
    """

    __slots__ = ("rate", "value")
    __array_ufunc__ = None  # so that NumPy leaves products with its numbers to this class

    def __init__(self, value: Scalar, rate: Scalar) -> None:
        self.value, self.rate = value, rate

    def __add__(self, other: Scalar) -> Dual:
        return Dual(self.value + value_of(other), self.rate + rate_of(other))

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Dual:
        return Dual(self.value - value_of(other), self.rate - rate_of(other))

    def __rsub__(self, other: Scalar) -> Dual:
        return Dual(other - self.value, -self.rate)

    def __mul__(self, other: Scalar) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value * other, self.rate * other)
        return Dual(self.value * other.value, self.rate * other.value + self.value * other.rate)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value / other, self.rate / other)
        quotient = self.value / other.value
        return Dual(quotient, (self.rate - quotient * other.rate) / other.value)

    def __rtruediv__(self, other: Scalar) -> Dual:
        quotient = other / self.value
        return Dual(quotient, -quotient * self.rate / self.value)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.rate)

    def __pos__(self) -> Dual:
        return self

    def __abs__(self) -> Dual:
        is_negative = self.value < 0
        return Dual(abs(self.value), scalar.where(is_negative, -self.rate, self.rate))

    def __pow__(self, exponent: float) -> Dual:
        return Dual(self.value**exponent, self.rate * (exponent * self.value ** (exponent - 1)))

    def __lt__(self, other: Scalar) -> Dual:
        return _compare(operator.lt, self, other)

    def __le__(self, other: Scalar) -> Dual:
        return _compare(operator.le, self, other)

    def __gt__(self, other: Scalar) -> Dual:
        return _compare(operator.gt, self, other)

    def __ge__(self, other: Scalar) -> Dual:
        return _compare(operator.ge, self, other)

    def __and__(self, other: Scalar) -> Dual:
        return _compare(operator.and_, self, other)

    def __or__(self, other: Scalar) -> Dual:
        return _compare(operator.or_, self, other)

    def __invert__(self) -> Dual:
        return Dual(~self.value, 0)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __repr__(self) -> str:
        return f"Dual({self.value}, {self.rate})"


def value_of(x: Scalar) -> Scalar:
    """The value of a scalar, dual or not."""
    return x.value if isinstance(x, Dual) else x


def rate_of(x: Scalar) -> Scalar:
    """The rate of a scalar, zero where it is not dual."""
    return x.rate if isinstance(x, Dual) else 0


def _compare(operation: Callable[[Any, Any], Any], a: Scalar, b: Scalar) -> Dual:
    return Dual(operation(value_of(a), value_of(b)), 0)


def _sin(x: Dual) -> Dual:
    return Dual(scalar.sin(x.value), scalar.cos(x.value) * x.rate)


def _cos(x: Dual) -> Dual:
    return Dual(scalar.cos(x.value), -(scalar.sin(x.value) * x.rate))


def _sqrt(x: Dual) -> Dual:
    root = scalar.sqrt(x.value)
    return Dual(root, x.rate / (2 * root))


def _exp(x: Dual) -> Dual:
    power = scalar.exp(x.value)
    return Dual(power, power * x.rate)


def _atan2(y: Scalar, x: Scalar) -> Dual:
    a, b = value_of(y), value_of(x)
    return Dual(scalar.atan2(a, b), (b * rate_of(y) - a * rate_of(x)) / (a * a + b * b))


def _where(condition: Dual, a: Scalar, b: Scalar) -> Dual:
    holds = condition.value
    return Dual(scalar.where(holds, value_of(a), value_of(b)), scalar.where(holds, rate_of(a), rate_of(b)))


def _call(function: Any, arguments: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """A function of CasADi and its derivative, on the values and rates."""
    import casadi

    values = [[value_of(x) for x in part] for part in arguments]
    call = scalar.caller_of(*(x for part in values for x in part))
    if call is None:
        raise TypeError("a function of CasADi has no derivative on plain numbers here")
    lengths = [len(part) for part in arguments]
    x, dx = (casadi.SX.sym(name, sum(lengths)) for name in ("x", "dx"))
    starts = [sum(lengths[:k]) for k in range(len(lengths))]
    y = casadi.vec(function(*(x[start : start + n] for start, n in zip(starts, lengths, strict=True))))
    both = casadi.Function("both", [x, dx], [casadi.vertcat(y, casadi.jtimes(y, x, dx))])
    rates = [rate_of(entry) for part in arguments for entry in part]
    flat = call(both, [[entry for part in values for entry in part], rates])
    half = len(flat) // 2
    return [Dual(v, r) for v, r in zip(flat[:half], flat[half:], strict=True)]


register(Dual, Functions(_sin, _cos, _sqrt, _atan2, _where, _exp, _call))
