"""Figures of trajectories: positions, velocities, torques and energies over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import as_list, one_of
from chainrule.model.layout import Coordinate, Velocity
from chainrule.plots.canvas import add_legend, new_figure, save_figure, show_plainly

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
    canvas = new_figure(10, 9, path)
    known = trajectory.robot.joint_names
    chosen = None if joints is None else [
        one_of(known, joint, "joint", f"robot {trajectory.robot.name!r}") for joint in as_list(joints, "plot: joints")
    ]  # fmt: skip
    one = trajectory.row(*(0 for _ in trajectory.batch))
    one = one[:: max(1, len(one) // MAX_DRAWN_SAMPLES)]
    axes = canvas.subplots(4, 1, sharex=True)
    layout = one.robot.layout
    _draw_curves(axes[0], one, "q", "position, rad or m", layout.coordinates, chosen)
    _draw_curves(axes[1], one, "qd", "velocity, rad/s or m/s", layout.velocities, chosen)
    _draw_curves(axes[2], one, "tau", "torque, N m or N", layout.velocities, chosen)
    _draw_energies(axes[3], one)
    many = f", first of {int(np.prod(trajectory.batch))}" if trajectory.batch else ""
    show_plainly(canvas.suptitle(""), f"{one.robot.name}, {one.method}{many}")
    return save_figure(canvas, path, dots_per_inch=120)


def _draw_curves(
    axis: Axes,
    one: Trajectory,
    column: str,
    title: str,
    places: Sequence[Coordinate | Velocity],
    joints: list[str] | None,
) -> None:
    """Curves of the numbers of q or qd, of all joints or of those that are named."""
    names = {}
    for place in places:
        if joints is None or place.joint in joints:
            (curve,) = axis.plot(one.t, getattr(one, column)[:, place.index])
            names[curve] = place.name
    axis.set_ylabel(title)
    axis.grid(alpha=0.3)
    if len(places) <= MAX_LEGEND_ENTRIES or joints:
        _add_legend(axis, names)


def _draw_energies(axis: Axes, one: Trajectory) -> None:
    """Kinetic energy, potential energy since the start, and their sum."""
    start = float(one.potential_energy[0]) if len(one) else 0.0
    (kinetic,) = axis.plot(one.t, one.kinetic_energy)
    (potential,) = axis.plot(one.t, one.potential_energy - start)
    (total,) = axis.plot(one.t, one.energy - start, color="black")
    axis.set_ylabel("energy, J")
    axis.set_xlabel("time, s")
    _add_legend(axis, {kinetic: "kinetic", potential: "potential", total: "sum"})


def _add_legend(axis: Axes, names: Mapping[Any, str]) -> None:
    add_legend(axis, names, loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
