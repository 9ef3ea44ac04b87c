"""What a robot's functions return, where an array would not say enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.core.tables import data_frame
from chainrule.display.text import Shown, Table
from chainrule.errors import ShapeError
from chainrule.model import Layout

TWIST_COMPONENTS = ("wx", "wy", "wz", "vx", "vy", "vz")
"""Components of a twist."""


class LimitFields(NamedTuple):
    """The arrays of `Limits`."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


class Limits(Shown, LimitFields):
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

    if not TYPE_CHECKING:  # of a tuple

        def __getitem__(self, place: Any) -> Any:
            if isinstance(place, str):
                index = f"[{self.names.index(place)}]" if place in self.names else ""
                raise ShapeError(
                    f"limits are arrays with an entry for each of .names: .lower{index}, .upper{index}, "
                    f".velocity{index}, .effort{index}; got [{place!r}]"
                )
            return super().__getitem__(place)

    def _view(self) -> Iterator[Table]:
        count = len(self.lower)
        names = self.names if len(self.names) == count else tuple(map(str, range(count)))
        units = self.units if len(self.units) == count else ("",) * count
        rows = [
            (name, *(float(column[k]) for column in self), unit)
            for k, (name, unit) in enumerate(zip(names, units, strict=True))
        ]
        yield Table(("joint", "lower", "upper", "speed", "effort", "unit"), rows)

    def in_degrees(self) -> Limits:
        """The same limits, with those of angles in degrees and degrees/s."""
        scale = np.array([1.0 if unit == "m" else np.degrees(1.0) for unit in self.units])
        limits = type(self)(self.lower * scale, self.upper * scale, self.velocity * scale, self.effort)
        limits.names, limits.units = self.names, tuple("deg" if unit == "rad" else unit for unit in self.units)
        return limits

    def to_pandas(self) -> Any:
        """A DataFrame of pandas with a row for each degree of freedom."""
        angle = "deg" if "deg" in self.units else "rad"
        units = {
            "lower": f"{angle} or m", "upper": f"{angle} or m", "velocity": f"{angle}/s or m/s", "effort": "N m or N",
        }  # fmt: skip
        return data_frame(self._asdict(), units, list(self.names) or None, "joint")


@dataclass(frozen=True, repr=False)
class MatrixForm(Shown):
    """The closed matrix form: stacked matrices with six rows for each moving link, and M, C, g made of them."""

    links: tuple[str, ...]
    S: Array
    """Screws of the joints, (..., 6 links, n)."""
    A: Array
    """Adjoints from parents to links, (..., 6 links, 6 links)."""
    A_dot: Array
    """The rate of A."""
    L: Array
    """(1 - A)^-1."""
    J: Array
    """Jacobians of all links in their own frames, L S."""
    inertia: Array
    """Spatial inertias of the links, in blocks."""
    ad_V: Array
    """Brackets of the twists, in blocks."""
    rotors: Array
    """Rotors on the joints' side, (..., n, n)."""
    M: Array
    """J^T I J and the rotors."""
    C: Array
    """J^T I L (dA/dt J + dS/dt) - J^T ad_V^T I J: C qd are the velocity torques."""
    g: Array
    """Gravity torques, (..., n)."""
    C_christoffel: Array
    """Christoffel's matrix, another C with the same C qd; only with this one dM/dt - 2 C is skew-symmetric."""
    S_dot: Array
    """The rate of S, zero but for universal and planar joints."""
    V: Array
    """Twists of all links, stacked: (..., 6 links)."""
    V_dot_0: Array
    """The acceleration -g of the base, in the frames of the links on it: (..., 6 links)."""
    V_dot: Array | None = None
    """Rates of the twists, gravity included; None unless qdd is given."""
    W: Array | None = None
    """Wrenches through the joints, stacked; None unless qdd is given."""
    tau: Array | None = None
    """Torques S^T W and those of the rotors, without friction and springs; None unless qdd is given."""

    def _view(self) -> Iterator[str | Table]:
        batch, n = self.M.shape[:-2], self.M.shape[-1]
        if batch:
            yield f"Closed matrix form of {len(self.links)} links and {n} joints, a batch of shape {batch}"
            return
        yield f"Closed matrix form of {len(self.links)} links and {n} joints, six rows for each link"
        joints = [str(k + 1) for k in range(n)]
        for name, what in (("S", "screws of the joints"), ("J", "L S, the Jacobians of the links")):
            yield Table(("link", "", *joints), self._rows_by_link(getattr(self, name)), f"{name}, {what}", names=2)
        for name, what in (("A", "adjoints from parents to links"), ("L", "(1 - A)^-1")):
            for to, of, block in self._blocks_below(getattr(self, name)):
                yield Table(
                    ("", *TWIST_COMPONENTS), _with_names(TWIST_COMPONENTS, block), f"{name}[{to}, {of}], {what}"
                )
        for name, what in (("M", "J^T I J and the rotors"), ("C", "C qd are the velocity torques")):
            yield Table(("", *joints), _with_names(joints, getattr(self, name)), f"{name}, {what}")
        for name, what in (("g", "gravity torques"), ("tau", "torques")):
            if getattr(self, name) is not None:
                yield f"{name}, {what}: {' '.join(f'{x + 0.0:.6f}' for x in getattr(self, name))}"

    def _rows_by_link(self, stacked: Array) -> list[tuple[object, ...]]:
        return [
            (self.links[i // 6] if i % 6 == 0 else "", TWIST_COMPONENTS[i % 6], *map(float, row))
            for i, row in enumerate(stacked)
        ]

    def _blocks_below(self, stacked: Array) -> Iterator[tuple[str, str, Array]]:
        """The blocks below the diagonal that are not zero, with the names of their links."""
        for i, to in enumerate(self.links):
            for j, of in enumerate(self.links[:i]):
                block = stacked[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]
                if np.any(block):
                    yield to, of, block


def _with_names(names: Sequence[str], matrix: Array) -> list[tuple[object, ...]]:
    return [(name, *map(float, row)) for name, row in zip(names, matrix, strict=True)]
