"""What a robot's functions return, where an array would not say enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.core.tables import data_frame
from chainrule.display import tables as display
from chainrule.errors import ShapeError
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
class NewtonEulerTable:
    """The vector form of the Newton-Euler equations: an array (..., links, 3) for each column, in link frames."""

    links: tuple[str, ...]
    units: Mapping[str, str]
    omega: Array
    omega_dot: Array
    v_dot: Array
    v_dot_com: Array
    F: Array
    N: Array
    f: Array
    n: Array
    tau: Array

    def to_pandas(self) -> Any:
        """A DataFrame of pandas for one state: a row for each link, columns such as "omega.x"; tau is not in it."""
        if self.omega.ndim > 2:
            raise ShapeError(f"to_pandas: a batch of shape {self.omega.shape[:-2]} is no table; take one state")
        columns = {f"{name}.{axis}": getattr(self, name)[:, k] for name in self.units for k, axis in enumerate("xyz")}
        units = {f"{name}.{axis}": unit for name, unit in self.units.items() for axis in "xyz"}
        return data_frame(columns, units, list(self.links), "link")

    def __str__(self) -> str:
        if self.omega.ndim > 2:
            return f"Newton-Euler table of {len(self.links)} links for a batch of shape {self.omega.shape[:-2]}"
        lines = ["x, y and z of each vector, in the axes of its link"]
        for i, link in enumerate(self.links):
            lines.append(link)
            for column, unit in self.units.items():
                x, y, z = getattr(self, column)[i]
                lines.append(f"  {column:<10} {x: 12.6f} {y: 12.6f} {z: 12.6f}  {unit}")
        return "\n".join(
            [*lines, "tau, N m or N, in the order of the joints: " + " ".join(f"{t:.6f}" for t in self.tau)]
        )


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
