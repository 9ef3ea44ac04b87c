"""The columns of motions: their arrays, and the name of each number in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.model import Layout, Quantity

A = TypeVar("A")
"""The type of arrays: of NumPy, of Dask, or on a device."""

COLUMNS = ("q", "qd", "qdd", "tau", "friction", "work", "states")
"""The arrays of a trajectory besides t, each (..., T, numbers)."""

WORKS = ("torque", "friction", "wrenches")
"""The columns of `work`."""

QUANTITIES: Mapping[str, Quantity] = {
    "q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "effort", "friction": "effort",
}  # fmt: skip
"""What is measured in the arrays of the joints."""

Names = dict[str, list[str]]
"""The names of the columns of each array."""


@dataclass(frozen=True, eq=False)
class MotionArrays(Generic[A]):
    """The arrays (..., T, n) of a motion, or of a batch of them, in SI units."""

    robot: Mechanism
    t: Array
    """Times (T,), an array of NumPy."""
    q: A
    qd: A
    qdd: A
    tau: A
    """Torques applied, after saturation."""
    friction: A
    """Torques that friction and stops take, at rest too, so that tau - friction is what moves the links."""
    work: A
    """Work since the start, in J: done by torques, taken by friction and stops, done by wrenches. (..., T, 3)."""
    states: A
    """The states of a controller."""
    method: str = "rk4"
    """The name of the integrator."""

    def __len__(self) -> int:
        return len(self.t)

    @property
    def batch(self) -> tuple[int, ...]:
        """The shape of the batch, () for one motion."""
        return tuple(self.q.shape[:-2])  # type: ignore[attr-defined]

    @property
    def power(self) -> A:
        """Power of each torque, tau qd, in W: (..., T, n)."""
        return self.tau * self.qd  # type: ignore[operator]

    def _begin_repr(self) -> str:
        many = f"{self.batch} motions of " if self.batch else ""
        return f"<{type(self).__name__} of {many}{self.robot.name!r}: {len(self)} samples, "


def column_names(layout: Layout, states: int) -> Names:
    """The names of all columns: those of the layout, of the works, and places for a controller's states."""
    velocities = {name: list(layout.velocity_names) for name in ("qd", "qdd", "tau", "friction")}
    numbers = [str(k) for k in range(states)]
    return {"q": list(layout.coordinate_names), **velocities, "work": list(WORKS), "states": numbers}


def column_units(layout: Layout, states: int) -> Names:
    """The SI unit of each column; that of a controller's state is not known, and is ""."""
    units = {kind: list(layout.units_of(quantity)) for kind, quantity in QUANTITIES.items()}
    return {**units, "work": ["J"] * len(WORKS), "states": [""] * states}
