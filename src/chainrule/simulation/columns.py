"""The columns of a trajectory: its arrays, and the name of each number in them."""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.model import Layout, Quantity

COLUMNS = ("q", "qd", "qdd", "tau", "friction", "work", "states")
"""The arrays of a trajectory besides t, each (..., T, numbers)."""

WORKS = ("torque", "friction", "wrenches")
"""The columns of `work`."""

Names = dict[str, list[str]]
"""The names of the columns of each array."""


def column_names(layout: Layout, states: int) -> Names:
    """The names of all columns: those of the layout, of the works, and places for a controller's states."""
    return _names(layout.coordinate_names, layout.velocity_names, states)


def column_units(layout: Layout, states: int) -> Names:
    """The SI unit of each column; that of a controller's state is not known, and is ""."""
    quantities: dict[str, Quantity] = {
        "q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "effort", "friction": "effort",
    }  # fmt: skip
    units = {kind: list(layout.units_of(quantity)) for kind, quantity in quantities.items()}
    return {**units, "work": ["J"] * len(WORKS), "states": [""] * states}


def numbered_column_names(layout: Layout, states: int) -> Names:
    """The same with components by place, "base[0]" for "base.x": an older spelling, found in files."""
    q: list[str] = []
    v: list[str] = []
    for places in layout.joints:
        for names, part in ((q, places.q), (v, places.v)):
            count = part.stop - part.start
            names += [places.joint.name] if count == 1 else [f"{places.joint.name}[{k}]" for k in range(count)]
    return _names(q, v, states)


def _names(q: Sequence[str], v: Sequence[str], states: int) -> Names:
    velocities = {name: list(v) for name in ("qd", "qdd", "tau", "friction")}
    return {"q": list(q), **velocities, "work": list(WORKS), "states": [str(k) for k in range(states)]}
