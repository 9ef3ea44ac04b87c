"""Tables with a row of vectors for each link: the steps of a recursion, as textbooks print them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from chainrule.arguments import Array
from chainrule.core.tables import data_frame
from chainrule.display.text import Shown, Table
from chainrule.errors import ShapeError

COMPONENTS = {
    "rad/s, m/s": ("wx", "wy", "wz", "vx", "vy", "vz"),
    "rad/s^2, m/s^2": ("wx", "wy", "wz", "vx", "vy", "vz"),
    "N m, N": ("mx", "my", "mz", "fx", "fy", "fz"),
}
"""Components of twists and wrenches, by their units; all else is a vector of x, y and z."""

BASE = "base, with gravity as an acceleration"
"""The link of the first line of a table of dynamics."""

TORQUES = "tau, N m or N, in the order of the joints"


@dataclass(frozen=True, repr=False)
class LinkTable(Shown):
    """An array (..., links, 3) or (..., links, 6) for each column of `units`, in the order of `links`."""

    links: tuple[str, ...]
    units: Mapping[str, str]

    title: ClassVar[str]
    heading: ClassVar[str]
    """The frame and the order of the numbers in a line."""

    @property
    def batch(self) -> tuple[int, ...]:
        """The dimensions of the batch, () for one state."""
        shape: tuple[int, ...] = getattr(self, next(iter(self.units))).shape
        return shape[:-2]

    def _torques(self) -> Mapping[str, Array]:
        """The lines below the table: numbers of the joints, by what they are."""
        return {}

    def to_pandas(self) -> Any:
        """A DataFrame of pandas for one state: a row for each link, columns such as "omega.x"; tau is not in it."""
        if self.batch:
            raise ShapeError(f"to_pandas: a batch of shape {self.batch} is no table; take one state")
        columns, units = {}, {}
        for name, unit in self.units.items():
            parts, of_parts = COMPONENTS.get(unit, "xyz"), unit.split(", ")
            for k, part in enumerate(parts):
                columns[f"{name}.{part}"] = getattr(self, name)[:, k]
                units[f"{name}.{part}"] = of_parts[k // 3]
        return data_frame(columns, units, list(self.links), "link")

    def _view(self) -> Iterator[str | Table]:
        if self.batch:
            yield f"{self.title} of {len(self.links)} links for a batch of shape {self.batch}"
            return
        lines, last = [], None
        for link, name, values, unit in self._lines():
            lines.append((link if link != last else "", name, values, unit))
            last = link
        parts = max((len(values) for _, _, values, _ in lines), default=3)
        rows = [
            (link, name, *(float(x) for x in values), *[""] * (parts - len(values)), unit)
            for link, name, values, unit in lines
        ]
        yield Table(("link", "", *"xyz" * (parts // 3), "unit"), rows, f"{self.title}: {self.heading}", names=2)
        for what, values in self._torques().items():
            yield f"{what}: {' '.join(f'{t + 0.0:.6f}' for t in values)}"

    def _lines(self) -> Iterator[tuple[str, str, Array, str]]:
        """Link, name, numbers and unit of each vector of one state, link by link."""
        for i, link in enumerate(self.links):
            for name, unit in self.units.items():
                yield link, name, getattr(self, name)[i], unit


@dataclass(frozen=True, repr=False)
class NewtonEulerTable(LinkTable):
    """The vector form of the Newton-Euler equations: an array (..., links, 3) for each column, in link frames."""

    omega: Array
    omega_dot: Array
    v_dot: Array
    v_dot_com: Array
    F: Array
    N: Array
    f: Array
    n: Array
    tau: Array
    v_dot_0: Array
    """The acceleration of the base, -g: gravity. (3,)"""

    title = "Newton-Euler table"
    heading = "x, y and z of each vector, in the axes of its link"

    def _torques(self) -> Mapping[str, Array]:
        return {TORQUES: self.tau}

    def _lines(self) -> Iterator[tuple[str, str, Array, str]]:
        yield BASE, "v_dot_0", self.v_dot_0, self.units["v_dot"]
        yield from super()._lines()


@dataclass(frozen=True, repr=False)
class RneaTable(LinkTable):
    """The recursion in twists and wrenches: V_i, dV_i/dt and F_i of each link in its own frame, (..., links, 6)."""

    V: Array
    V_dot: Array
    F: Array
    tau: Array
    """Torques (..., n): A_i . F_i and those of rotors, springs and friction."""
    drives: Array
    """The part of rotors, springs and friction (..., n); zero where a robot has none."""
    T: Array
    """T_{i,p}: the pose of the parent's frame in the link's, (..., links, 4, 4)."""
    A: Array
    """The screw of each degree of freedom, in the frame of the link that its joint moves: (..., n, 6)."""
    V_dot_0: Array
    """The acceleration of the base, (0, -g): gravity. (6,)"""

    title = "Twist-wrench recursion"
    heading = "angular and linear part of each twist, moment and force of each wrench, in the frame of its link"

    def _torques(self) -> Mapping[str, Array]:
        if not np.any(self.drives):
            return {TORQUES: self.tau}
        return {"rotors, springs and friction, N m or N": self.drives, TORQUES: self.tau}

    def _lines(self) -> Iterator[tuple[str, str, Array, str]]:
        yield BASE, "V_dot_0", self.V_dot_0, self.units["V_dot"]
        yield from super()._lines()


@dataclass(frozen=True, repr=False)
class VelocityTable(LinkTable):
    """Velocities from link to link: omega_i and v_i of each link, in its own axes and in those of the base."""

    omega: Array
    v: Array
    omega_0: Array
    v_0: Array
    R: Array
    """Rotations R_{p,i}: the axes of each link in those of its parent, (..., links, 3, 3)."""
    P: Array
    """Origins of the links in the frames of their parents, (..., links, 3), in m."""

    title = "Velocities link by link"
    heading = "x, y and z of each vector: omega and v in the axes of the link, omega_0 and v_0 in those of the base"
