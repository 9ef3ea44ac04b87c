"""Figures and axes that all pictures share."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array
from chainrule.plots.trajectory import refuse_unwritable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {"x": "#d1495b", "y": "#3a9d5d", "z": "#2e6fdb"}
"""Of axes, in the order everybody knows."""

LINK, JOINT, SOFT = "#33415c", "#f2a541", "#8d99ae"


def blank(width: float, height: float, path: str | PathLike[str] | None) -> Figure:
    """A new figure that needs no display; an error if it could not be written later."""
    refuse_unwritable(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def finished(figure: Figure, path: str | PathLike[str] | None) -> Figure:
    """Written, if a path is given."""
    if path is not None:
        figure.savefig(path, dpi=130)
    return figure


def same_scale(axes: Any, points: Array, *, margin: float = 0.06, zoom: float = 1.0) -> None:
    """Show all points of (..., 3) in a 3-D axis, with one scale for x, y and z."""
    flat = points.reshape(-1, 3)
    flat = flat[np.isfinite(flat).all(axis=1)]
    low, high = flat.min(axis=0), flat.max(axis=0)
    size = max(float((high - low).max()), 1e-3)
    spans = np.maximum(high - low, 0.45 * size) * (1 + 2 * margin)
    middle = (low + high) / 2
    for name, centre, span in zip("xyz", middle, spans, strict=True):
        getattr(axes, f"set_{name}lim")(centre - span / 2, centre + span / 2)
        getattr(axes, f"set_{name}label")(f"{name}, m")
        getattr(axes, f"{name}axis").set_major_locator(_ticks())
        getattr(axes, f"{name}axis").pane.set_facecolor("#f7f8fa")
    axes.set_box_aspect(spans, zoom=zoom)


def from_above(axes: Any) -> None:
    """Look at the plane of x and y."""
    axes.view_init(elev=90, azim=-90)
    axes.set_proj_type("ortho")
    axes.set_zticks([])
    axes.set_zlabel("")


def _ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)
