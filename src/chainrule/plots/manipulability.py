"""Plots of manipulability along a path through joint space."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import real_array
from chainrule.core.reading import read_joints
from chainrule.errors import ShapeError
from chainrule.kinematics.manipulability import manipulability
from chainrule.kinematics.singularities import singular_values
from chainrule.kinematics.tasks import task_rank
from chainrule.plots.canvas import (
    LINK_COLOR,
    SINGULAR_COLOR,
    curve_style,
    figure_of,
    given_panels,
    marks,
    new_figure,
    refuse_unwritable,
    save_figure,
    show_plainly,
)
from chainrule.plots.trajectory import style_panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

SINGULAR_TOLERANCE = 1e-3
"""The ratio of the smallest and the largest singular value at which a posture is marked as singular."""


def plot_manipulability(
    robot: Mechanism,
    q: ArrayLike,
    path: str | PathLike[str] | None = None,
    *,
    t: ArrayLike | None = None,
    link: str | None = None,
    task: str | None = None,
    ax: Any = None,
    size: Sequence[float] | None = None,
) -> Figure:
    """Draw manipulability, singular values and condition number along postures.

    Parameters
    ----------
    q
        Postures (k, nq), at least two.
    path
        A .png, .pdf or .svg file to write.
    t
        The time of each posture (k,), in s; without it, the plot is over their numbers.
    link
        The link or frame; the end-effector unless one is named.
    task
        The part of its motion: "pose", "position" or "orientation"; the robot's own task unless named.
    ax
        Three axes to draw on, for manipulability, singular values and condition number.
    size
        Width and height of the figure, in inches.

    Returns
    -------
    Figure
        A figure of Matplotlib.
    """
    states = read_joints(robot, q, "position", "analysis.plot: q")
    if states.ndim != 2 or len(states) < 2:
        raise ShapeError(f"analysis.plot: q must be postures in a row, (k, {robot.nq}), got shape {states.shape}")
    over = np.arange(len(states)) if t is None else real_array(t, "analysis.plot: t", "s")
    if over.shape != (len(states),):
        raise ShapeError(f"analysis.plot: t must have {len(states)} numbers, one a posture, got {over.shape}")
    if ax is None:
        figure = new_figure(7.2, 6.6, path, size)
        rows = list(figure.subplots(3, 1, sharex=True))
    else:
        rows = given_panels(ax, "analysis.plot", 3, "for manipulability, singular values and condition number")
        refuse_unwritable(path)
        figure = figure_of(rows[0])
    w = manipulability(robot, states, link, task=task)
    s = singular_values(robot, states, link, task=task)[:, : task_rank(robot, link, task=task)]
    rows[0].plot(over, w, color=LINK_COLOR, linewidth=2)
    rows[0].fill_between(over, 0, w, color=LINK_COLOR, alpha=0.1)
    rows[0].set_ylabel("manipulability w")
    for k in range(s.shape[1]):
        style = curve_style(k)
        rows[1].plot(over, s[:, k], label=f"$s_{k + 1}$", markevery=marks(k, s.shape[1], len(over)), **style)
    rows[1].set_ylabel("singular values")
    rows[1].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    with np.errstate(all="ignore"):
        rows[2].semilogy(over, s[:, 0] / s[:, -1], color=LINK_COLOR)
    rows[2].set_ylabel("condition number")
    rows[2].set_xlabel("posture" if t is None else "time, s")
    with np.errstate(invalid="ignore"):  # a posture that is not finite is a gap in the curves
        singular = s[:, -1] <= SINGULAR_TOLERANCE * s[:, 0]
    for row in rows:
        style_panel(row)
        row.margins(x=0)
        for at in over[singular]:
            row.axvline(at, color=SINGULAR_COLOR, linewidth=0.8)
    rows[0].set_ylim(bottom=0)
    many = f"; singular to 1/1000 at {int(singular.sum())} of {len(states)} postures" if singular.any() else ""
    if ax is None:
        show_plainly(figure.suptitle("", fontsize="medium"), f"{robot.name}{many}")
    return save_figure(figure, path)
