"""Figures of trajectories: positions, velocities, torques and energies over time."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from chainrule.errors import UnknownNameError
from chainrule.model.layout import Coordinate, Velocity
from chainrule.plots.canvas import refuse_unwritable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from chainrule.simulation.trajectory import Trajectory

MAX_DRAWN_SAMPLES = 5000
"""Samples drawn of each curve; more look the same."""

MAX_LEGEND_ENTRIES = 12
"""Curves beyond which a picture has no legend, unless joints were chosen."""


def figure(trajectory: Trajectory, path: str | PathLike[str] | None, joints: list[str] | None) -> Figure:
    """Positions, velocities, torques and energies over time; of a batch, the first motion."""
    refuse_unwritable(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    one = trajectory.row(*(0 for _ in trajectory.batch))
    one = one[:: max(1, len(one) // MAX_DRAWN_SAMPLES)]
    canvas = Figure(figsize=(10, 9), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.subplots(4, 1, sharex=True)
    layout = one.robot.layout
    _draw_curves(axes[0], one, "q", "position, rad or m", layout.coordinates, joints)
    _draw_curves(axes[1], one, "qd", "velocity, rad/s or m/s", layout.velocities, joints)
    _draw_curves(axes[2], one, "tau", "torque, N m or N", layout.velocities, joints)
    _draw_energies(axes[3], one)
    many = f", first of {int(np.prod(trajectory.batch))}" if trajectory.batch else ""
    canvas.suptitle(f"{one.robot.name}, {one.method}{many}")
    if path is not None:
        canvas.savefig(path, dpi=120)
    return canvas


def _draw_curves(
    axis: Axes,
    one: Trajectory,
    column: str,
    title: str,
    places: Sequence[Coordinate | Velocity],
    joints: list[str] | None,
) -> None:
    """Curves of the numbers of q or qd, of all joints or of those that are named."""
    known = one.robot.joint_names
    for joint in joints or ():
        if joint not in known:
            raise UnknownNameError.of("joint", joint, known, f"robot {one.robot.name!r}")
    for place in places:
        if joints is None or place.joint in joints:
            axis.plot(one.t, getattr(one, column)[:, place.index], label=place.name)
    axis.set_ylabel(title)
    axis.grid(alpha=0.3)
    if len(places) <= MAX_LEGEND_ENTRIES or joints:
        _add_legend(axis)


def _draw_energies(axis: Axes, one: Trajectory) -> None:
    """Kinetic energy, potential energy since the start, and their sum."""
    start = float(one.potential_energy[0]) if len(one) else 0.0
    axis.plot(one.t, one.kinetic_energy, label="kinetic")
    axis.plot(one.t, one.potential_energy - start, label="potential")
    axis.plot(one.t, one.energy - start, label="sum", color="black")
    axis.set_ylabel("energy, J")
    axis.set_xlabel("time, s")
    _add_legend(axis)


def _add_legend(axis: Axes) -> None:
    axis.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
