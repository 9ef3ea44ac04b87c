"""Figures, axes, names and colors that all plots share.

Names come from files: a dollar sign in them is no mathematics, and an underscore before them hides nothing.
Colors are those of Okabe and Ito, which people with any kind of color vision tell apart; they differ in lightness too,
so that a print in grey can be read.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, file_path, real_array, refuse_nonfinite
from chainrule.errors import ShapeError, import_optional, short_repr, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILLION, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7",
)  # fmt: skip
"""The eight colors of Okabe and Ito (Color Universal Design, 2008)."""

CURVE_COLORS = (BLUE, ORANGE, GREEN, VERMILLION, SKY, PURPLE, BLACK)
"""Colors of curves, in order; yellow is too light for a line."""

CURVE_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
"""Marks on curves, so that they are told apart in grey."""

AXIS_COLORS = {"x": VERMILLION, "y": GREEN, "z": BLUE}
"""Colors of the x, y and z axes: red, green and blue of a kind that all people tell apart."""

BODY_COLORS, BASE_COLOR = ("#c4cedb", "#dfe5ec"), "#8b96a5"
JOINT_COLOR, SLIDE_COLOR, TIE_COLOR, GAP_COLOR = ORANGE, "#7f8b99", GREEN, VERMILLION
LINK_COLOR, SCREW_COLOR, SINGULAR_COLOR, LIMIT_COLOR = "#33415c", "#68748a", VERMILLION, "#555555"
GROUND_COLOR, SHADOW_COLOR, GRID_COLOR = "#f3f5f7", "#dadfe5", "#e2e6eb"

MAX_COORDINATE = 1e100
"""Points farther away, in m, are not drawn: the squares of their distances are no numbers."""

MAX_INCHES = 100.0
"""The largest side of a figure, in inches."""


def new_figure(
    width: float, height: float, path: str | PathLike[str] | None, size: Sequence[float] | None = None
) -> Figure:
    """A new figure, of `size` in inches where that is given; refused where the file could not be written later.

    Where no file is written and something shows figures (a notebook, a window), it is one of pyplot's: it appears
    below the cell, or with plt.show(). Otherwise nothing else knows of it, so that none stays open.
    """
    refuse_unwritable(path)
    inches = figure_size(size, (width, height))
    if path is None and shows_figures():
        from chainrule.plots.shown_figure import new_shown_figure

        return new_shown_figure(inches)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=inches, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def figure_size(size: Sequence[float] | None, default: tuple[float, float]) -> tuple[float, float]:
    """Width and height of a figure in inches, checked."""
    if size is None:
        return default
    inches = real_array(size, "size")
    if inches.shape != (2,) or not ((inches > 0.1) & (inches <= MAX_INCHES)).all():
        raise ShapeError(f"size must be the width and the height of the figure in inches, got {short_repr(size)}")
    return float(inches[0]), float(inches[1])


def shows_figures() -> bool:
    """Whether figures of pyplot are shown to somebody: in a notebook, or in windows."""
    if threading.current_thread() is not threading.main_thread():
        return False
    import matplotlib.pyplot  # chooses the backend, that of a notebook included
    from matplotlib.backends import registry

    known: Any = registry.backend_registry
    backend = str(matplotlib.get_backend()).lower()
    windows = {str(name).lower() for name in known.list_builtin(registry.BackendFilter.INTERACTIVE)}
    return backend in windows or backend.startswith(("module://", "inline"))


def figure_of(axes: Any) -> Figure:
    """The figure that axes belong to."""
    figure: Figure = axes.get_figure()
    return figure


def given_axes(ax: Any, caller: str, *, solid: bool) -> Any:
    """Axes that a user passes in, checked: of three dimensions, or plain ones."""
    is_solid = getattr(ax, "name", None) == "3d"
    if not hasattr(ax, "get_figure") or not hasattr(ax, "plot"):
        raise ShapeError(f"{caller}: ax must be axes of Matplotlib, got {short_repr(ax)}")
    if is_solid != solid:
        wanted = "axes with projection='3d', such as fig.add_subplot(projection='3d')" if solid else "plain axes"
        raise ShapeError(f"{caller}: ax must be {wanted}")
    return ax


def given_panels(ax: Any, caller: str, count: int, content: str) -> list[Any]:
    """Plain axes that a user passes in for the panels of a figure, one for each of what they show."""
    several = np.ravel(np.asarray(ax, dtype=object)) if isinstance(ax, (np.ndarray, list, tuple)) else [ax]
    panels = [given_axes(each, caller, solid=False) for each in several]
    if len(panels) != count:
        raise ShapeError(f"{caller}: ax must be {count} axes, {content}, got {len(panels)}")
    return panels


def given_limits(limits: Any, caller: str, dimensions: int) -> Array | None:
    """Fixed limits of axes, a pair (low, high) for each: (dimensions, 2), in m."""
    if limits is None:
        return None
    pairs = real_array(limits, f"{caller}: limits")
    if pairs.shape != (dimensions, 2):
        raise ShapeError(
            f"{caller}: limits must be {dimensions} pairs (low, high) in m, one for each axis, got shape {pairs.shape}"
        )
    refuse_nonfinite(pairs, f"{caller}: limits")
    if not (pairs[:, 0] < pairs[:, 1]).all():
        raise ShapeError(f"{caller}: limits must have low below high, got {short_repr(limits)}")
    return pairs


def refuse_unwritable(path: str | PathLike[str] | None) -> None:
    """Raise if Matplotlib is missing, or cannot write files of this kind."""
    bases = import_optional("matplotlib.backend_bases", "a picture")
    known = bases.FigureCanvasBase.get_supported_filetypes()
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
    """A legend of curves and their names, of axes or of a whole figure."""
    if names:
        legend = axes.legend(list(names), [f"curve {k}" for k in range(len(names))], **style)
        for text, name in zip(legend.get_texts(), names.values(), strict=True):
            show_plainly(text, name)


def legend_columns(names: Sequence[str], inches: float) -> int:
    """Columns of a legend below a figure of this width, so that its names fit."""
    longest = max((len(name) for name in names), default=1)
    return max(1, min(len(names), int(inches / (0.085 * min(longest, 40) + 0.55))))


def curve_style(k: int) -> dict[str, Any]:
    """Color and mark of the k-th curve of a picture."""
    style: dict[str, Any] = {
        "color": CURVE_COLORS[k % len(CURVE_COLORS)],
        "marker": CURVE_MARKERS[k % len(CURVE_MARKERS)],
        "markersize": 4.8,
        "markeredgewidth": 0.6,
        "markeredgecolor": "white",
        "linewidth": 1.6,
    }
    if k >= len(CURVE_COLORS):
        style["linestyle"] = ("-", "-.", ":")[(k // len(CURVE_COLORS)) % 3]
    return style


def marks(k: int, count: int, samples: int) -> tuple[int, int]:
    """Places of the marks of the k-th of `count` curves: the first sample, and every how many; none coincide."""
    every = max(1, samples // 9)
    return (int((k + 0.5) * every / max(count, 1)) % max(samples, 1), every)


def finite_points(points: Array) -> Array:
    """The points (k, 3) that can be drawn; refused where there are none."""
    flat = points.reshape(-1, points.shape[-1])
    flat = flat[np.isfinite(flat).all(axis=1) & (np.abs(flat).max(axis=1) < MAX_COORDINATE)]
    if not len(flat):
        raise ShapeError("nothing to draw: no point is finite, or none is nearer than 1e100 m")
    return flat


def limits_around(points: Array, *, margin: float = 0.06, least: float = 0.45) -> Array:
    """Limits that show all points (..., d): (d, 2). No side is shorter than `least` of the longest."""
    flat = finite_points(points)
    low, high = flat.min(axis=0), flat.max(axis=0)
    size = max(float((high - low).max()), 1e-3)
    spans = np.maximum(high - low, least * size) + 2 * margin * size
    middle = (low + high) / 2
    return np.stack([middle - spans / 2, middle + spans / 2], axis=1)


def set_limits(axes: Any, limits: Array, *, zoom: float = 1.0) -> None:
    """Give 3-D axes these limits (3, 2), with one scale for x, y and z."""
    longest = float(np.ptp(limits, axis=1).max())
    for name, pair in zip("xyz", limits, strict=True):
        getattr(axes, f"set_{name}lim")(*pair)
        getattr(axes, f"set_{name}label")(f"{name}, m", fontsize="small", labelpad=2)
        axis = getattr(axes, f"{name}axis")
        axis.set_major_locator(_ticks(2 + round(3 * float(np.ptp(pair)) / longest)))
        axis.pane.set_facecolor((1, 1, 1, 0))
        axis.pane.set_edgecolor((1, 1, 1, 0))
        axis.line.set_color(LIMIT_COLOR)
        axis.set_tick_params(labelsize="small", color=LIMIT_COLOR)
        axis._axinfo["grid"].update(color=GRID_COLOR, linewidth=0.6)
    axes.set_box_aspect(np.ptp(limits, axis=1), zoom=zoom)


def _ticks(count: int) -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(count, prune="both" if count < 4 else None)
