"""Scenes as SVG, PNG and PDF, written by Matplotlib."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import import_optional
from chainrule.figures.scene import DASHES, Disc, Item, Path, Scene, Stroke
from chainrule.plots.canvas import show_plainly
from chainrule.symbolic.documents.blocks import Formula

HEAD_LENGTH, HEAD_WIDTH = 0.2, 0.15
"""The size of an arrowhead, in cm, unless the arrow is shorter."""

DOTS_PER_INCH = 200


def image(scene: Scene, form: str) -> bytes:
    """A scene as "svg", "png" or "pdf"."""
    matplotlib = import_optional("matplotlib", "a figure in SVG, PNG or PDF")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    low, high = scene.box
    figure = Figure(figsize=tuple((high - low) / 2.54))
    FigureCanvasAgg(figure)
    axes: Any = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    for order, item in enumerate(scene.items):
        for artist in _artists(item):
            artist.set_zorder(order)
            axes.add_artist(artist)
    file = BytesIO()
    settings = {"svg.fonttype": "path", "svg.hashsalt": "chainrule"}
    facts = {"Date": None} if form == "svg" else {"CreationDate": None} if form == "pdf" else {}
    with matplotlib.rc_context(settings):
        figure.savefig(file, format=form, dpi=DOTS_PER_INCH, metadata=facts)
    return file.getvalue()


def _artists(item: Item) -> list[Any]:
    from matplotlib.patches import Circle
    from matplotlib.text import Text

    if isinstance(item, Path):
        return _path(item)
    if isinstance(item, Disc):
        return [Circle(tuple(item.center), item.radius, **_style(item.stroke, item.fill))]
    x, y = item.center
    text = Text(x, y, "", color=item.color, fontsize=item.size, ha="center", va="center_baseline")
    if isinstance(item.text, Formula):
        text.set_math_fontfamily("cm")
        text.set_text(f"${item.text.latex}$")
        text.set_verticalalignment("center")
    else:
        show_plainly(text, item.text)
    return [text]


def _path(path: Path) -> list[Any]:
    """The line of a path, and its heads as triangles."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    points, heads = path.points, []
    color = path.stroke.color if path.stroke else "none"
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    size = min(HEAD_LENGTH, 0.6 * length / (2 if path.head in ("double", "both") else 1))
    for _ in range({"": 0, "both": 1}.get(path.head, 1 + (path.head == "double"))):
        head, points = _head(points, size)
        heads.append(head)
    if path.head == "both":
        head, points = _head(points[::-1], size)
        heads.append(head)
    outline = Outline(np.concatenate([points, points[:1]]) if path.closed else points, closed=path.closed)
    found: list[Any] = [PathPatch(outline, **_style(path.stroke, path.fill))]
    for head in heads:
        found.append(PathPatch(Outline(np.concatenate([head, head[:1]]), closed=True), **_style(None, color)))
    return found


def _head(points: Array, size: float) -> tuple[Array, Array]:
    """The triangle of an arrowhead at the end of a line, and the line cut off in it."""
    tip = points[-1]
    away = np.linalg.norm(points - tip, axis=1)
    outside = np.flatnonzero(away > size)
    if not len(outside) or size <= 0:
        return np.stack([tip, tip, tip]), points
    k = int(outside[-1])
    a, b = points[k], points[k + 1]
    share = (away[k] - size) / max(float(away[k] - away[k + 1]), 1e-12)
    back = a + share * (b - a)
    along = (tip - back) / max(float(np.linalg.norm(tip - back)), 1e-12)
    side = np.array([-along[1], along[0]]) * size * HEAD_WIDTH / HEAD_LENGTH / 2
    cut = back + 0.2 * (tip - back)
    return np.stack([tip, back + side, cut, back - side]), np.concatenate([points[: k + 1], cut[None]])


def _style(stroke: Stroke | None, fill: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {"facecolor": fill or "none", "edgecolor": "none", "linewidth": 0.0}
    if stroke is not None:
        found |= {"edgecolor": stroke.color, "linewidth": stroke.width, "joinstyle": "round", "capstyle": "round"}
        if DASHES[stroke.dash]:
            dashes = tuple(part / stroke.width for part in DASHES[stroke.dash])
            found |= {"linestyle": (0, dashes), "capstyle": "butt"}
    return found
