"""Dual numbers: a scalar together with its rate of change along one direction, for derivatives of any text.

A `Dual` is a scalar like any other, made of scalars of any kind. Where a text is not worth a recursion of its own (the
force of a spring, the law of a friction, the screws of a rare joint), its derivative is the text itself on dual
numbers. Derivatives of derivatives work: every derivative has a tag, and the later one sees the earlier one's
numbers as plain scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from chainrule.spatial import scalar
from chainrule.spatial.scalar import Scalar, ScalarFunctions, Wrapped, is_zero, register

Scalars = Sequence[Scalar]

_tags = count()


def derivative(f: Callable[[list[Scalar]], Any], x: Scalars, direction: Scalars) -> tuple[Any, Any]:
    """f(x) and its rate of change as x moves along the direction; f gives nested lists of scalars.

    >>> derivative(lambda x: [x[0] * x[1], scalar.sin(x[1])], [2.0, 0.0], [0, 1])
    ([0.0, 0.0], [2.0, 1.0])
    """
    tag = next(_tags)
    result = f([a if is_zero(b) else Dual(a, b, tag) for a, b in zip(x, direction, strict=True)])
    return _part(result, tag, 0), _part(result, tag, 1)


def _part(result: Any, tag: int, which: int) -> Any:
    """The values of nested lists of dual numbers, or their rates."""
    if isinstance(result, (list, tuple)):
        return [_part(entry, tag, which) for entry in result]
    return parts_of(result, tag)[which]


def parts_of(x: Scalar, tag: int) -> tuple[Scalar, Scalar]:
    """The value and the rate of a scalar in the derivative of this tag."""
    return (x.value, x.rate) if isinstance(x, Dual) and x.tag == tag else (x, 0)


class Dual(Wrapped):
    """The number value + rate e, with e^2 = 0."""

    __slots__ = ("rate", "tag", "value")
    __array_ufunc__ = None  # arrays leave the arithmetic to this class

    def __init__(self, value: Scalar, rate: Scalar, tag: int) -> None:
        self.value, self.rate, self.tag = value, rate, tag

    def _with(self, other: Scalar) -> tuple[int, Scalar, Scalar, Scalar, Scalar]:
        """The tag of a result of two scalars, and the values and rates of both."""
        tag = max(self.tag, other.tag) if isinstance(other, Dual) else self.tag
        return (tag, *parts_of(self, tag), *parts_of(other, tag))

    def __add__(self, other: Scalar) -> Scalar:
        tag, a, da, b, db = self._with(other)
        return dual(a + b, _sum(da, db), tag)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        tag, a, da, b, db = self._with(other)
        return dual(a - b, _sum(da, -db), tag)

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self + other

    def __mul__(self, other: Scalar) -> Scalar:
        tag, a, da, b, db = self._with(other)
        return dual(a * b, _sum(_product(da, b), _product(a, db)), tag)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        tag, a, da, b, db = self._with(other)
        ratio = a / b
        return dual(ratio, _quotient(_sum(da, -_product(ratio, db)), b), tag)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        ratio = other / self.value
        return dual(ratio, -_product(ratio, self.rate) / self.value, self.tag)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.rate, self.tag)

    def __abs__(self) -> Scalar:
        return scalar.where(self.value < 0, -self, self)

    def __pow__(self, exponent: float) -> Scalar:
        return self.through(self.value**exponent, exponent * self.value ** (exponent - 1))

    def __lt__(self, other: Scalar) -> Any:
        return self.value < _value(other)

    def __le__(self, other: Scalar) -> Any:
        return self.value <= _value(other)

    def __gt__(self, other: Scalar) -> Any:
        return self.value > _value(other)

    def __ge__(self, other: Scalar) -> Any:
        return self.value >= _value(other)

    def choose(self, condition: Any, a: Scalar, b: Scalar) -> Scalar:
        """`a` where the condition holds, else `b`, one of which is a dual number."""
        tag = max(x.tag for x in (a, b) if isinstance(x, Dual))
        (a, da), (b, db) = parts_of(a, tag), parts_of(b, tag)
        return Dual(scalar.where(condition, a, b), scalar.where(condition, da, db), tag)

    def through(self, value: Scalar, slope: Scalar) -> Scalar:
        """The dual number of a function of this one, of its value and its slope there."""
        return dual(value, _product(slope, self.rate), self.tag)

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.rate!r})"


def _value(x: Scalar) -> Scalar:
    return x.value if isinstance(x, Dual) else x


def dual(value: Scalar, rate: Scalar, tag: int) -> Scalar:
    """A dual number, or a plain scalar where nothing changes."""
    return value if is_zero(rate) else Dual(value, rate, tag)


def _sum(a: Scalar, b: Scalar) -> Scalar:
    return b if is_zero(a) else a if is_zero(b) else a + b


def _product(a: Scalar, b: Scalar) -> Scalar:
    return 0 if is_zero(a) or is_zero(b) else a * b


def _quotient(a: Scalar, b: Scalar) -> Scalar:
    return 0 if is_zero(a) else a / b


def _sin(x: Dual) -> Scalar:
    return x.through(scalar.sin(x.value), scalar.cos(x.value))


def _cos(x: Dual) -> Scalar:
    return x.through(scalar.cos(x.value), -scalar.sin(x.value))


def _sqrt(x: Dual) -> Scalar:
    root = scalar.sqrt(x.value)
    return x.through(root, 0.5 / root)


def _exp(x: Dual) -> Scalar:
    value = scalar.exp(x.value)
    return x.through(value, value)


def _atan2(y: Scalar, x: Scalar) -> Scalar:
    tag = max(a.tag for a in (y, x) if isinstance(a, Dual))
    (b, db), (a, da) = parts_of(y, tag), parts_of(x, tag)
    turned = _sum(_product(a, db), -_product(b, da))
    return dual(scalar.atan2(b, a), _quotient(turned, a * a + b * b), tag)


def _where(condition: Dual, a: Scalar, b: Scalar) -> Scalar:
    return scalar.where(condition.value, a, b)


register(Dual, ScalarFunctions(_sin, _cos, _sqrt, _atan2, _where, _exp))
