"""Vectors that are a sum of named terms, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from chainrule.arguments import Array
from chainrule.core.tables import data_frame
from chainrule.display.text import Shown, Table
from chainrule.errors import ShapeError


@dataclass(frozen=True, repr=False)
class TermTable(Shown):
    """An array (..., 3) for each term, and their sum `total`."""

    of: str
    """The point, in words."""
    frame: str
    """The axes: "world", those of the base, or "body", those of the link."""
    total: Array

    formulas: ClassVar[Mapping[str, str]]
    """The formula of each term."""
    quantity: ClassVar[str]
    unit: ClassVar[str]

    @property
    def terms(self) -> dict[str, Array]:
        """The terms by name, without their sum."""
        return {name: getattr(self, name) for name in self.formulas}

    def _title(self) -> str:
        axes = "base axes" if self.frame == "world" else "the link's axes"
        return f"{self.quantity} of {self.of} in {axes}, {self.unit}"

    def _rows(self) -> list[tuple[str, str, Array]]:
        return [
            *((name, self.formulas[name], values) for name, values in self.terms.items()),
            ("total", "", self.total),
        ]

    def _view(self) -> Iterator[str | Table]:
        if self.total.ndim > 1:
            yield f"{self._title()}, for a batch of shape {self.total.shape[:-1]}"
            return
        rows = [(name, formula, *(float(x) for x in values)) for name, formula, values in self._rows()]
        yield Table(("term", "", "x", "y", "z"), rows, self._title(), names=2)

    def to_pandas(self) -> Any:
        """A DataFrame of pandas for one state: a row for each term and the total."""
        if self.total.ndim > 1:
            raise ShapeError(f"to_pandas: a batch of shape {self.total.shape[:-1]} is no table; take one state")
        rows = self._rows()
        columns = {axis: [values[k] for _, _, values in rows] for k, axis in enumerate("xyz")}
        return data_frame(columns, dict.fromkeys("xyz", self.unit), [name for name, _, _ in rows], "term")


@dataclass(frozen=True, repr=False)
class VelocityTerms(TermTable):
    """The velocity of a point that moves in a moving frame, by its three terms, in m/s."""

    origin: Array
    relative: Array
    rotation: Array

    formulas: ClassVar[Mapping[str, str]] = {"origin": "V_BORG", "relative": "R V_Q", "rotation": "Omega x R P_Q"}
    quantity = "velocity"
    unit = "m/s"


@dataclass(frozen=True, repr=False)
class AccelerationTerms(TermTable):
    """The acceleration of a point that moves in a moving frame, by its five terms, in m/s^2."""

    origin: Array
    relative: Array
    coriolis: Array
    euler: Array
    centripetal: Array

    formulas: ClassVar[Mapping[str, str]] = {
        "origin": "V_BORG_dot",
        "relative": "R V_Q_dot",
        "coriolis": "2 Omega x R V_Q",
        "euler": "Omega_dot x R P_Q",
        "centripetal": "Omega x (Omega x R P_Q)",
    }
    quantity = "acceleration"
    unit = "m/s^2"
