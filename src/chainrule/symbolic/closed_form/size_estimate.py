"""Estimates of the number of terms of a closed form, before it is computed.

Every symbol becomes a power of one root of unity, chosen at random, and the algorithms run on the numbers at all N
powers of that root: they are the Fourier transform of the polynomial with its terms thrown at random into N cells.
Where the share e^(-n/N) of the cells is empty, there are about n terms. An estimate takes a fraction of a second,
however many terms there are; beyond some ten N it is a lower bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.algorithms import coriolis, crba, energy, rnea, vector_form
from chainrule.errors import ModelError
from chainrule.functions.reference import leaves
from chainrule.model import Model, edits
from chainrule.spatial.scalar import ScalarFunctions, register
from chainrule.symbolic.algebra.ring import Element, cosine, sine
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel

FEW_CELLS, CELLS = 1 << 11, 1 << 14
"""Cells of a first estimate, and of the one that is made if the first is more than a fraction of the limit."""

FRACTION = 0.05
SMALL = 16
"""Terms up to which a polynomial is kept as it is."""

MIN_JOINTS = 4
"""Joints from which on a closed form may be too long, so that it is estimated first."""

SLACK = 1.25
"""Factor by which an estimate must exceed a limit to count: estimates are not exact."""


class HashedModel:
    """The random powers that stand for the symbols of a symbolic model, and the model over hashed polynomials."""

    def __init__(self, symbolic: SymbolicModel, number: int = CELLS) -> None:
        self.symbolic, self.number = symbolic, number
        rng = np.random.default_rng(7)
        self.powers = [int(k) for k in rng.integers(1, number, 4096)]
        self.roots = np.exp(2j * np.pi * np.arange(number) / number)
        self.model: Model = symbolic.model.map(lambda x, unit: self.lift(x))

    def lift(self, x: Any) -> Any:
        """An element of the ring as a hashed polynomial; a number as it is."""
        return Hashed(self, x, None, sum(map(abs, x.terms.values()))) if isinstance(x, Element) else x

    def state(self) -> tuple[list[Any], list[Any], list[Any]]:
        """The symbols q, qd and qdd as hashed polynomials."""
        q, qd, qdd = ([self.lift(x) for x in part] for part in self.symbolic.state())
        return q, qd, qdd

    def points(self, x: Element) -> NDArray[np.complex128]:
        """The values of a polynomial at all powers of the root."""
        total = np.zeros(self.number, dtype=complex)
        steps = np.arange(self.number)
        for monomial, c in x.terms.items():
            power = sum(e * r for e, r in zip(x.ring.exponents(monomial), self.powers, strict=False))
            total += c * self.roots[steps * (power % self.number) % self.number]
        return total


class Hashed:
    """A polynomial in random cells: as an element while it is small, then by its values at the powers of the root."""

    __slots__ = ("cells", "element", "size", "values")

    def __init__(self, cells: HashedModel, element: Element | None, values: Any, size: float) -> None:
        self.cells, self.element, self.values, self.size = cells, element, values, size

    @property
    def points(self) -> Any:
        """The values at all powers of the root."""
        if self.values is None:
            assert self.element is not None
            self.values = self.cells.points(self.element)
        return self.values

    def _small(self, other: Hashed, terms: Callable[[int, int], int]) -> bool:
        a, b = self.element, other.element
        return a is not None and b is not None and terms(len(a.terms), len(b.terms)) <= SMALL

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Hashed):
            if not isinstance(other, (int, float)):
                return NotImplemented
            return self + self.cells.lift(self.cells.symbolic.ring.constant(other)) if other else self
        size = self.size + other.size
        if self._small(other, lambda a, b: a + b):
            return Hashed(self.cells, self.element + other.element, None, size)  # type: ignore[operator]
        return Hashed(self.cells, None, self.points + other.points, size)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Hashed):
            if not isinstance(other, (int, float)):
                return NotImplemented
            element = None if self.element is None else self.element * other
            values = None if element is not None else self.points * other
            return Hashed(self.cells, element, values, self.size * abs(other))
        size = self.size * other.size
        if self._small(other, lambda a, b: a * b):
            return Hashed(self.cells, self.element * other.element, None, size)  # type: ignore[operator]
        return Hashed(self.cells, None, self.points * other.points, size)

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __truediv__(self, other: Any) -> Any:
        return self * (1 / other)

    def exponential(self) -> Element:
        """The exponential e^(i x) of an angle."""
        if self.element is None:
            raise ModelError("sines and cosines can be taken of sums and multiples of angles only")
        return self.element.exponential()

    def count(self) -> int:
        """About how many terms the polynomial has."""
        if self.element is not None:
            return len(self.element.prune().terms)
        coefficients = np.abs(np.fft.ifft(self.points))
        used = int((coefficients > max(1e-9 * coefficients.max(), 1e-14 * self.size)).sum())
        number = self.cells.number
        return round(-number * math.log(max(number - used, 1) / number))


def _refuse(*_: Any) -> Any:
    raise ModelError("a closed form has no square roots and angles of vectors")


register(
    Hashed,
    ScalarFunctions(
        lambda x: x.cells.lift(sine(x.exponential())),
        lambda x: x.cells.lift(cosine(x.exponential())),
        _refuse,
        _refuse,
        _refuse,
    ),
)


def _centrifugal(model: Model, q: list[Any], qd: list[Any]) -> list[Any]:
    """Velocity torques of each velocity alone, added up."""
    total: list[Any] = [0] * model.nv
    for i in range(model.nv):
        alone = [v if j == i else 0 for j, v in enumerate(qd)]
        total = [a + b for a, b in zip(total, rnea.velocity_torque(model, q, alone), strict=True)]
    return total


def _coriolis(model: Model, q: list[Any], qd: list[Any]) -> list[Any]:
    both, alone = rnea.velocity_torque(model, q, qd), _centrifugal(model, q, qd)
    return [a - b for a, b in zip(both, alone, strict=True)]


QUANTITIES: dict[str, Callable[[Model, list[Any], list[Any], list[Any]], Any]] = {
    "M": lambda model, q, qd, qdd: crba.mass_matrix(model, q),
    "C": lambda model, q, qd, qdd: coriolis.coriolis_matrix(model, q, qd),
    "c": lambda model, q, qd, qdd: rnea.velocity_torque(model, q, qd),
    "centrifugal": lambda model, q, qd, qdd: _centrifugal(model, q, qd),
    "coriolis": lambda model, q, qd, qdd: _coriolis(model, q, qd),
    "g": lambda model, q, qd, qdd: rnea.gravity_torque(model, q),
    "kinetic_energy": lambda model, q, qd, qdd: [energy.kinetic_energy(model, q, qd)],
    "potential_energy": lambda model, q, qd, qdd: [energy.potential_energy(model, q)],
    "tau": lambda model, q, qd, qdd: vector_form.inverse_dynamics(edits.without_friction(model), q, qd, qdd),
}
"""Term of the equations of motion -> its entries, over any scalars."""


def count_terms_of(name: str, symbolic: SymbolicModel, limit: int) -> int:
    """About how many terms a term of the equations of motion has in all, by its name; exact enough near the limit.

    >>> import chainrule as cr
    >>> from chainrule.symbolic.closed_form.symbolic_model import symbolic_model
    >>> count_terms_of("M", symbolic_model(cr.load("planar_3r").model), 1000)
    72
    """
    return count_terms(symbolic, QUANTITIES[name], limit)


def count_terms(symbolic: SymbolicModel, compute: Callable[..., Any], limit: int) -> int:
    """About how many terms the polynomials in nested lists have, which `compute` makes of a model, q, qd and qdd."""
    for number in (FEW_CELLS, CELLS):
        cells = HashedModel(symbolic, number)
        found = sum(x.count() for x in leaves(compute(cells.model, *cells.state())) if isinstance(x, Hashed))
        if found < FRACTION * limit:
            break
    return found


def round_count(number: int) -> str:
    """A number of terms to two digits.

    >>> round_count(252481)
    '250,000'
    """
    unit = 10 ** max(len(str(number)) - 2, 0)
    return f"{round(number / unit) * unit:,}"
