"""What a robot's functions return, where an array would not say enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.core.tables import data_frame
from chainrule.display import tables as display
from chainrule.model import Layout


class LimitFields(NamedTuple):
    """The arrays of `Limits`."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


class Limits(LimitFields):
    """Limits of each degree of freedom, infinite where there are none: rad or m, rad/s or m/s, N m or N.

    >>> import chainrule as cr
    >>> cr.load("planar_rp").limits.upper.tolist()
    [inf, 2.0]
    """

    names: tuple[str, ...] = ()
    """The name of each degree of freedom."""
    units: tuple[str, ...] = ()
    """The unit of each position, "rad" or "m"."""

    @classmethod
    def of(cls, layout: Layout) -> Limits:
        """The limits in a layout, with the names of what they limit."""
        columns = [np.array([getattr(dof, key) for dof in layout.dofs], dtype=float) for key in cls._fields]
        for column in columns:
            column.setflags(write=False)
        limits = cls(*columns)
        limits.names = layout.velocity_names
        limits.units = tuple(velocity.unit for velocity in layout.velocities)
        return limits

    def table(self) -> str:
        """A table in HTML, a row for each degree of freedom."""
        count = len(self.lower)
        names = self.names if len(self.names) == count else tuple(map(str, range(count)))
        units = self.units if len(self.units) == count else ("",) * count
        rows = [
            (name, *(float(column[k]) for column in self), unit)
            for k, (name, unit) in enumerate(zip(names, units, strict=True))
        ]
        return display.table(("joint", "lower", "upper", "speed", "effort", "unit"), rows)

    def _repr_html_(self) -> str:
        return self.table()

    def to_pandas(self) -> Any:
        """A DataFrame of pandas with a row for each degree of freedom."""
        units = {"lower": "rad or m", "upper": "rad or m", "velocity": "rad/s or m/s", "effort": "N m or N"}
        return data_frame(self._asdict(), units, list(self.names) or None, "joint")


@dataclass(frozen=True)
class MatrixForm:
    """The closed matrix form: stacked matrices with six rows for each moving link, and M, C, g made of them."""

    links: tuple[str, ...]
    S: Array
    A: Array
    A_dot: Array
    L: Array
    J: Array
    inertia: Array
    ad_V: Array
    rotors: Array
    M: Array
    C: Array
    g: Array
