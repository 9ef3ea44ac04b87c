"""Figures of an activity that drives follow: where the joints should be and are, errors, torques."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.plots.canvas import curve_style, new_figure, refuse_unwritable, save_figure, show_plainly
from chainrule.plots.trajectory import chosen_joints, draw_panels, style_panel, write_legend
from chainrule.simulation.trajectory import Trajectory
from chainrule.study.motions import Motion

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(
    trajectory: Trajectory,
    motion: Motion,
    errors: Array,
    title: str,
    path: str | PathLike[str] | None = None,
    *,
    joints: Sequence[str] | None = None,
    size: Sequence[float] | None = None,
) -> Figure:
    """Draw the angles with the motion that is followed, dashed, the errors in degrees, and the torques."""
    refuse_unwritable(path)
    names = chosen_joints(trajectory, joints)
    figure = new_figure(9.0, 6.6, path, size)
    axes = list(np.ravel(figure.subplots(3, 1, sharex=True)))
    show_plainly(figure.suptitle("", fontsize="medium"), title)
    reference = {"t": motion.t - motion.t[0], "q": motion.q}
    legend = draw_panels([axes[0]], trajectory, ["q"], names, reference)
    _draw_errors(axes[1], trajectory, errors, names)
    legend |= {
        curve: name
        for curve, name in draw_panels([axes[2]], trajectory, ["tau"], names).items()
        if name not in legend.values()
    }
    for axis in axes[:2]:
        axis.set_xlabel("")
    write_legend(figure, legend, True, joints is not None)
    return save_figure(figure, path)


def _draw_errors(axis: Any, trajectory: Trajectory, errors: Array, names: list[str] | None) -> None:
    """Where each joint should be less where it is, in the joint's color."""
    places = trajectory.robot.model.layout.velocities
    shown = [place for place in places if names is None or place.joint in names]
    for k, place in enumerate(shown):
        style = {**curve_style(k), "marker": ""}
        axis.plot(trajectory.t, np.degrees(errors[:, place.index]), **style)
    axis.set_ylabel("error, deg", fontsize="small")
    style_panel(axis)
