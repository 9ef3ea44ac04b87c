"""The columns of a trajectory: its arrays, and the name of each number in them."""

from __future__ import annotations

from chainrule.model import Layout, Quantity

COLUMNS = ("q", "qd", "qdd", "tau", "friction", "work", "states")
"""The arrays of a trajectory besides t, each (..., T, numbers)."""

WORKS = ("torque", "friction", "wrenches")
"""The columns of `work`."""

Names = dict[str, list[str]]
"""The names of the columns of each array."""


def column_names(layout: Layout, states: int) -> Names:
    """The names of all columns: those of the layout, of the works, and places for a controller's states."""
    velocities = {name: list(layout.velocity_names) for name in ("qd", "qdd", "tau", "friction")}
    numbers = [str(k) for k in range(states)]
    return {"q": list(layout.coordinate_names), **velocities, "work": list(WORKS), "states": numbers}


def column_units(layout: Layout, states: int) -> Names:
    """The SI unit of each column; that of a controller's state is not known, and is ""."""
    quantities: dict[str, Quantity] = {
        "q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "effort", "friction": "effort",
    }  # fmt: skip
    units = {kind: list(layout.units_of(quantity)) for kind, quantity in quantities.items()}
    return {**units, "work": ["J"] * len(WORKS), "states": [""] * states}
