"""Plots of a workspace: the cloud, and sections through it."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, one_of, whole_number
from chainrule.kinematics.capacity import payload_capacity
from chainrule.plots.canvas import LINK_COLOR, new_figure, save_figure, set_equal_scale, show_plainly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chainrule.kinematics.workspace import Workspace

LABELS = {
    "manipulability": "manipulability w",
    "payload": "payload, kg",
    "dexterity": "share of approach directions",
}


def figure(workspace: Workspace, path: str | PathLike[str] | None, color: str, points: int) -> Figure:
    """Plot of the cloud from the front, half of it cut away, and of a vertical and a horizontal section."""
    one_of(LABELS, color, "colour", "a workspace")
    count = whole_number(points, "points", 1)
    low, high = workspace.bounds
    thick = max(0.04 * float((high - low).max()), 1e-6)
    drawing = new_figure(13, 6.5, path)
    grid = drawing.add_gridspec(2, 2, width_ratios=(1.25, 1))
    sections = [("y", (0, 2), 0.0), ("z", (0, 1), _height(workspace, thick))]
    if (high - low)[2] < thick:  # a planar robot has one section, which is the whole
        sections = [("z", (0, 1), float(low[2]))]
    cloud = workspace[_behind_section(workspace)][:count]
    slabs = [workspace.slice(axis, at, thick)[:count] for axis, _, at in sections]
    values = _values(workspace, color, [cloud, *slabs])
    finite = np.concatenate(values)
    finite = finite[np.isfinite(finite)]
    bottom, top = np.quantile(finite, (0.01, 0.99)) if len(finite) else (0.0, 1.0)
    style: dict[str, Any] = {
        "cmap": "viridis",
        "vmin": min(float(bottom), 0.0),
        "vmax": float(top) or 1.0,
        "linewidths": 0,
    }
    axes = drawing.add_subplot(grid[:, 0], projection="3d")
    order = np.argsort(cloud.position[:, 1])[::-1]
    dots: Any = axes.scatter(*cloud.position[order].T, c=values[0][order], s=2.5, alpha=0.55, depthshade=False, **style)
    set_equal_scale(axes, workspace.bounds, zoom=1.15)
    axes.view_init(elev=18, azim=-70)
    for k, (axis, (first, second), at) in enumerate(sections):
        flat = drawing.add_subplot(grid[k, 1] if len(sections) > 1 else grid[:, 1])
        best_on_top = np.argsort(values[k + 1])
        place = slabs[k].position[best_on_top]
        flat.scatter(place[:, first], place[:, second], c=values[k + 1][best_on_top], s=6, **style)
        flat.set_aspect("equal")
        flat.set_xlabel(f"{'xyz'[first]}, m")
        flat.set_ylabel(f"{'xyz'[second]}, m")
        flat.set_title(f"section at {axis} = {at:.2g} m, {thick:.2g} m thick", fontsize="medium")
        flat.grid(alpha=0.25)
    dots.set_alpha(None)
    drawing.colorbar(dots, ax=drawing.axes, shrink=0.8, label=LABELS[color], extend="max")
    title = drawing.suptitle("", color=LINK_COLOR, fontweight="bold")
    show_plainly(title, f"{workspace.robot.name}: {len(workspace):,} positions of {workspace.link}")
    return save_figure(drawing, path)


def _behind_section(workspace: Workspace) -> NDArray[np.bool_]:
    """Whether points are not in front of the plane y = 0; all of them, if the cloud has no depth."""
    y = workspace.position[:, 1]
    behind = y >= 0
    deep = np.ptp(workspace.position[:, 2]) > 0.05 * np.ptp(y) and behind.any()
    return behind if deep else np.ones(len(y), dtype=bool)


def _height(workspace: Workspace, thick: float) -> float:
    """The height of the horizontal section with the most points."""
    z = workspace.position[:, 2]
    counts, edges = np.histogram(z, bins=max(1, int(np.ptp(z) / thick)))
    k = int(counts.argmax())
    return round(float(edges[k] + edges[k + 1]) / 2, 2)


def _values(workspace: Workspace, color: str, parts: list[Workspace]) -> list[Array]:
    if color == "manipulability":
        return [part.manipulability for part in parts]
    if color == "payload":
        return [payload_capacity(workspace.robot, part.q, workspace.link) for part in parts]
    cell = max(float(np.ptp(workspace.bounds, axis=0).max()) / 24, 1e-6)
    shares = workspace.dexterity(cell)
    known = {tuple(key): share for key, share in zip(_keys(shares.centers, cell), shares.share, strict=True)}
    return [np.array([known[tuple(key)] for key in _keys(part.position, cell)]) for part in parts]


def _keys(positions: Array, cell: float) -> Any:
    return np.floor(positions / cell).astype(int).tolist()
