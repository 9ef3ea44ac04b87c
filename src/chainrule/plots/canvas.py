"""Figures, axes, names and colors that all plots share.

Names come from files: a dollar sign in them is no mathematics, and an underscore before them hides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, file_path
from chainrule.errors import ShapeError, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXIS_COLORS = {"x": "#d1495b", "y": "#3a9d5d", "z": "#2e6fdb"}
"""Colors of the x, y and z axes: red, green, blue."""

LINK_COLOR, JOINT_COLOR, SCREW_COLOR, SINGULAR_COLOR = "#33415c", "#f2a541", "#8d99ae", "#d1495b"

MAX_COORDINATE = 1e100
"""Points farther away, in m, are not drawn: the squares of their distances are no numbers."""


def new_figure(width: float, height: float, path: str | PathLike[str] | None) -> Figure:
    """A new figure that needs no display; refused where the file could not be written later."""
    refuse_unwritable(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def refuse_unwritable(path: str | PathLike[str] | None) -> None:
    """Raise if Matplotlib is missing, or cannot write files of this kind."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise ShapeError("plots need Matplotlib: pip install 'chainrule[plot]'") from None
    known = FigureCanvasBase.get_supported_filetypes()
    if path is not None and file_path(path).suffix.lower().removeprefix(".") not in known:
        raise ShapeError(f"a picture is written to .png, .pdf or .svg, got {str(path)!r}")


def save_figure(figure: Figure, path: str | PathLike[str] | None, dots_per_inch: int = 130) -> Figure:
    """The figure, written to the file if a path is given."""
    if path is not None:
        try:
            figure.savefig(path, dpi=dots_per_inch)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            raise ShapeError(f"the picture cannot be drawn: {error}; are the numbers in it very large?") from error
    return figure


def show_plainly(text: Any, name: str) -> None:
    """Let a text of Matplotlib show a name letter by letter."""
    text.set_parse_math(False)
    text.set_usetex(False)
    text.set_text(visible(name))


def add_legend(axes: Any, names: Mapping[Any, str], **style: Any) -> None:
    """A legend of curves and their names."""
    if names:
        legend = axes.legend(list(names), [f"curve {k}" for k in range(len(names))], **style)
        for text, name in zip(legend.get_texts(), names.values(), strict=True):
            show_plainly(text, name)


def set_equal_scale(axes: Any, points: Array, *, margin: float = 0.06, zoom: float = 1.0) -> None:
    """Show all points (..., 3) in a 3-D axis, with one scale for x, y and z."""
    flat = points.reshape(-1, 3)
    flat = flat[np.isfinite(flat).all(axis=1) & (np.abs(flat).max(axis=1) < MAX_COORDINATE)]
    if not len(flat):
        raise ShapeError("nothing to draw: no point is finite, or none is nearer than 1e100 m")
    low, high = flat.min(axis=0), flat.max(axis=0)
    size = max(float((high - low).max()), 1e-3)
    spans = np.maximum(high - low, 0.45 * size) * (1 + 2 * margin)
    middle = (low + high) / 2
    for name, center, span in zip("xyz", middle, spans, strict=True):
        getattr(axes, f"set_{name}lim")(center - span / 2, center + span / 2)
        getattr(axes, f"set_{name}label")(f"{name}, m")
        getattr(axes, f"{name}axis").set_major_locator(_ticks())
        getattr(axes, f"{name}axis").pane.set_facecolor("#f7f8fa")
    axes.set_box_aspect(spans, zoom=zoom)


def view_from_above(axes: Any) -> None:
    """Look at the plane of x and y from above."""
    axes.view_init(elev=90, azim=-90)
    axes.set_proj_type("ortho")
    axes.set_zticks([])
    axes.set_zlabel("")


def _ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)
