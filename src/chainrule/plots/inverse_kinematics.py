"""Figures of inverse kinematics: errors, steps and configurations over the iterations."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.plots.canvas import (
    GRID_COLOR,
    add_legend,
    curve_style,
    figure_of,
    given_panels,
    new_figure,
    refuse_unwritable,
    save_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chainrule.inverse_kinematics.history import IterationHistory

PANELS = 3
MAX_LEGEND_ENTRIES = 12
"""Curves beyond which a panel has no legend."""


def plot(
    history: IterationHistory,
    path: str | PathLike[str] | None = None,
    *,
    ax: Any = None,
    size: Sequence[float] | None = None,
) -> Figure:
    """Draw errors and sizes of the steps, on logarithmic scales, and configurations over the iterations.

    path: a .png, .pdf or .svg file. ax: three axes to draw on. size: width and height of the figure in inches.
    """
    refuse_unwritable(path)
    if ax is None:
        drawn = new_figure(10.0, 3.4, path, size)
        axes = [drawn.add_subplot(1, PANELS, k + 1) for k in range(PANELS)]
    else:
        axes = given_panels(ax, "plot", PANELS, "for errors, steps and configurations")
        drawn = figure_of(axes[0])
    errors = {"position, m": history.error[:, 0], "orientation, rad": history.error[:, 1]}
    _panel(axes[0], "error", {name: e for name, e in errors.items() if e.any()}, logarithmic=True)
    _panel(axes[1], "size of the step", {"all joints": np.linalg.norm(history.step, axis=-1)}, logarithmic=True)
    _panel(axes[2], "q, rad or m", dict(zip(history.names, history.q.T, strict=True)), logarithmic=False)
    axes[0].set_title(f"{len(history)} steps of {history.method}", fontsize="medium", loc="left")
    return save_figure(drawn, path)


def _panel(axes: Any, label: str, curves: dict[str, Array], *, logarithmic: bool) -> None:
    """One panel: curves over the iterations; what is zero is not on a logarithmic scale."""
    names: dict[Any, str] = {}
    for k, (name, values) in enumerate(curves.items()):
        shown = np.where(values > 0, values, np.nan) if logarithmic else values
        (line,) = axes.plot(np.arange(len(shown)), shown, **curve_style(k))
        names[line] = name
    if logarithmic and any((values > 0).any() for values in curves.values()):
        axes.set_yscale("log")
    axes.set_xlabel("iteration")
    axes.set_ylabel(label)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(color=GRID_COLOR, linewidth=0.6)
    if len(names) <= MAX_LEGEND_ENTRIES and (len(names) > 1 or label == "error"):
        add_legend(axes, names, fontsize="small", frameon=False)
