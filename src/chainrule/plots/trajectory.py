"""Pictures of trajectories."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from chainrule.errors import ShapeError, UnknownNameError
from chainrule.simulation.trajectory import coordinate_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from chainrule.simulation.trajectory import Trajectory

MOST = 5000
"""Samples drawn of each curve; more cannot be told apart."""


def figure(trajectory: Trajectory, path: str | PathLike[str] | None, joints: list[str] | None) -> Figure:
    """Positions, velocities, torques and energies over time; of a batch, the first motion."""
    refuse_unwritable(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    one = trajectory.row(*(0 for _ in trajectory.batch))
    one = one[:: max(1, len(one) // MOST)]
    drawn = Figure(figsize=(10, 9), layout="constrained")
    FigureCanvasAgg(drawn)
    axes = drawn.subplots(4, 1, sharex=True)
    q, v = coordinate_names(one.robot)
    for axis, name, title, names in (
        (axes[0], "q", "position, rad or m", q),
        (axes[1], "qd", "velocity, rad/s or m/s", v),
        (axes[2], "tau", "torque, N m or N", v),
    ):
        _curves(axis, one, name, title, names, joints)
    start = float(one.potential_energy[0]) if len(one) else 0.0
    axes[3].plot(one.t, one.kinetic_energy, label="kinetic")
    axes[3].plot(one.t, one.potential_energy - start, label="potential")
    axes[3].plot(one.t, one.energy - start, label="sum", color="black")
    axes[3].set_ylabel("energy, J")
    axes[3].set_xlabel("time, s")
    axes[3].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
    many = f", first of {int(np.prod(trajectory.batch))}" if trajectory.batch else ""
    drawn.suptitle(f"{one.robot.name}, {one.method}{many}")
    if path is not None:
        drawn.savefig(path, dpi=120)
    return drawn


def refuse_unwritable(path: str | PathLike[str] | None) -> None:
    """An error if Matplotlib is missing, or cannot write pictures of that kind."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise ShapeError("plots need Matplotlib: pip install 'chainrule[plot]'") from None
    known = FigureCanvasBase.get_supported_filetypes()
    if path is not None and Path(path).suffix.lower().removeprefix(".") not in known:
        raise ShapeError(f"a picture is written to .png, .pdf or .svg, got {str(path)!r}")


def _curves(axis: Axes, one: Trajectory, name: str, title: str, names: list[str], joints: list[str] | None) -> None:
    known = [label.partition("[")[0] for label in names]
    for joint in joints or ():
        if joint not in known:
            raise UnknownNameError.of("joint", joint, known, f"robot {one.robot.name!r}")
    for k, label in enumerate(names):
        if joints is None or known[k] in joints:
            axis.plot(one.t, getattr(one, name)[:, k], label=label)
    axis.set_ylabel(title)
    axis.grid(alpha=0.3)
    if len(names) <= 12 or joints:
        axis.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
