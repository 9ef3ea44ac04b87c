"""Named results of the functions whose answers have several parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from chainrule.display.text import Table, advises_names, html_of, lines_of, summary, text_of_arrays
from chainrule.display.words import unknown_attribute_of_result
from chainrule.errors import UnknownAttributeError

Array = NDArray[np.float64]


@advises_names
class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of the torques of inverse dynamics, each (..., n, n): row i is that of torque i."""

    dq: Array
    """d tau/dq, along the velocities of the joints."""
    dqd: Array
    """d tau/dqd."""
    dqdd: Array
    """d tau/dqdd: the mass matrix M."""

    def __repr__(self) -> str:
        return text_of_arrays(self)


@advises_names
class StateDerivatives(NamedTuple):
    """Derivatives of a function of q and qd: along each velocity, and with respect to each velocity.

    dq: the rate of change as q moves with one velocity at 1 and the others at 0; for a ball joint, a turn about an axis
    of the moving link.
    """

    dq: Array
    dqd: Array

    def __repr__(self) -> str:
        return text_of_arrays(self)


@advises_names
class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of the accelerations of forward dynamics, each (..., n, n): row i is that of acceleration i."""

    dq: Array
    """d qdd/dq, along the velocities of the joints."""
    dqd: Array
    """d qdd/dqd."""
    dtau: Array
    """d qdd/dtau: the inverse of the mass matrix, M^-1."""

    def __repr__(self) -> str:
        return text_of_arrays(self)


@advises_names
class InverseDynamicsSecondDerivatives(NamedTuple):
    """Second derivatives of vector . tau, with the torques of inverse dynamics, each (..., n, n)."""

    dq_dq: Array
    """Entry (i, k): the derivative along velocity k of that along velocity i."""
    dq_dqd: Array
    """Entry (i, k): with q along velocity i, and with qd_k."""
    dq_dqdd: Array
    """Entry (i, k): with q along velocity i, and with qdd_k."""
    dqd_dqd: Array
    """Entry (i, k): with qd_i and qd_k."""

    def __repr__(self) -> str:
        return text_of_arrays(self)


class TorqueTerms(dict[str, Any]):
    """The torques of each cause (..., n), by its name; it prints as a table with a row for each joint."""

    __slots__ = ("joints", "units")
    joints: tuple[str, ...]
    units: tuple[str, ...]

    if not TYPE_CHECKING:  # type checkers know the names

        def __getattr__(self, name: str) -> Any:
            if name in self:
                raise UnknownAttributeError(f"the terms of a torque are entries: terms[{name!r}]")
            raise AttributeError(name) if name.startswith("_") else unknown_attribute_of_result(self, name)

    def __repr__(self) -> str:
        return "\n".join(lines_of(self._view()))

    def _repr_html_(self) -> str:
        return html_of(self._view())

    def _view(self) -> Iterator[str | Table]:
        if any(np.ndim(values) != 1 for values in self.values()) or not hasattr(self, "joints"):
            yield Table(("term", "value"), [(name, summary(values)) for name, values in self.items()])
            return
        terms = [[float(x) for x in values] for values in self.values()]
        rows = [(joint, unit, *row) for joint, unit, *row in zip(self.joints, self.units, *terms, strict=True)]
        yield Table(("joint", "unit", *self), rows)

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


T = TypeVar("T")


def parts_first(values: Array, dimensions: int) -> Array:
    """A view of an answer (..., parts, ..) whose first dimension is that of the parts.

    dimensions: those of the answer for one state, the parts among them.
    """
    first = values.ndim - dimensions
    if first < 2:
        return values.swapaxes(0, 1) if first else values
    return values.transpose(first, *range(first), *range(first + 1, values.ndim))


def split(named: type[T], answer: Array, dimensions: int = 3) -> T:
    """A named result of an answer (..., parts, n, m), whose parts are views of it."""
    parts = answer if answer.ndim == dimensions else parts_first(answer, dimensions)
    return tuple.__new__(named, parts)  # type: ignore[type-var]
