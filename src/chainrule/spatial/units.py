"""Units as powers of kg, m and s; angles have none."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from chainrule.errors import ChainruleError

Unit = tuple[Fraction, Fraction, Fraction]
"""Powers of kg, m and s."""

DIMENSIONLESS: Unit = (Fraction(0), Fraction(0), Fraction(0))
UNITS = {
    "1": (0, 0, 0), "rad": (0, 0, 0), "kg": (1, 0, 0), "m": (0, 1, 0), "s": (0, 0, 1), "N": (1, 1, -2), "J": (1, 2, -2),
}  # fmt: skip
FACTOR = re.compile(r"([A-Za-z1]+)(?:\^(-?\d+))?")
USUAL = ("1", "kg", "m", "s", "N", "N m", "kg m^2", "m/s", "m/s^2", "rad/s", "rad/s^2", "kg m", "kg m/s", "N m s")


class UnitError(ChainruleError, ValueError):
    """Terms of different units in one sum, or the sine of a quantity that is no angle."""


def unit(text: str) -> Unit:
    """The powers of kg, m and s in a unit such as "N m", "kg*m^2" or "rad/s^2".

    >>> unit("N*m*s/rad") == unit("kg m^2/s")
    True
    """
    total = DIMENSIONLESS
    for k, part in enumerate(text.split("/")):
        for name, power in FACTOR.findall(part):
            if name not in UNITS:
                raise UnitError(f"{name!r} in {text!r} is not among the units that are known: {', '.join(UNITS)}")
            total = multiply(total, UNITS[name], (-1 if k else 1) * int(power or 1))
    return total


def multiply(a: Unit, b: Any, times: Fraction | int = 1) -> Unit:
    """The unit of a product of two quantities, the second to a power."""
    x, y, z = (Fraction(i) + Fraction(j) * times for i, j in zip(a, b, strict=True))
    return x, y, z


def unit_name(powers: Unit) -> str:
    """The name of a unit: a usual one such as "N m", or powers of kg, m and s."""
    for name in USUAL:
        if unit(name) == powers:
            return name
    words = zip(("kg", "m", "s"), powers, strict=True)
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in words if power)
