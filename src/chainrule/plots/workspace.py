"""Plots of a workspace: the cloud, and sections through it."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, one_of, whole_number
from chainrule.errors import ShapeError, short_repr
from chainrule.kinematics.capacity import payload as payload_capacity
from chainrule.kinematics.workspace import Workspace
from chainrule.kinematics.workspace_map import WorkspaceMap
from chainrule.plots.canvas import (
    LINK_COLOR,
    figure_of,
    given_axes,
    given_limits,
    limits_around,
    new_figure,
    refuse_unwritable,
    save_figure,
    set_limits,
    show_plainly,
)
from chainrule.plots.posture import view_angles
from chainrule.plots.trajectory import style_panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from chainrule.kinematics.reach import ReachSamples

AnyWorkspace = Workspace | WorkspaceMap
"""A cloud of points, or a map of cells."""

LABELS = {
    "manipulability": "manipulability w",
    "payload": "payload, kg",
    "dexterity": "share of approach directions",
}


def plot(
    workspace: ReachSamples,
    path: str | PathLike[str] | None = None,
    *,
    color: str = "manipulability",
    points: int = 60_000,
    ax: Any = None,
    limits: ArrayLike | None = None,
    view: str | Sequence[float] | None = None,
    size: Sequence[float] | None = None,
) -> Figure:
    """Draw the points or cells from the front, half of them cut away, a vertical and a horizontal section.

    In a notebook, with plt.show(), or to a file.

    Parameters
    ----------
    path
        A .png, .pdf or .svg file to write.
    color
        "manipulability", of a map the largest in the cell; "payload" (kg), of a map in that posture; or "dexterity".
    points
        Points or cells that are drawn, at most.
    ax
        Axes to draw on: the cloud alone on those with projection="3d", the vertical section on plain ones.
    limits, view, size
        Fixed limits (low, high) in m for x, y and z; elevation and azimuth in degrees; inches of the figure.
    """
    if not isinstance(workspace, AnyWorkspace):
        raise ShapeError(f"a workspace to draw must be a Workspace or a WorkspaceMap, got {short_repr(workspace)}")
    refuse_unwritable(path)
    one_of(LABELS, color, "color", "a workspace")
    count = whole_number(points, "points", 1)
    box = given_limits(limits, "plot", 3)
    angles = view_angles(view) or (18.0, -70.0)
    low, high = workspace.bounds
    thick = max(0.04 * float((high - low).max()), 1e-6)
    sections = [("y", (0, 2), 0.0), ("z", (0, 1), _height(workspace, thick))]
    if (high - low)[2] < thick:  # a planar robot has one section, which is the whole
        sections = [("z", (0, 1), float(low[2]))]
    solid = getattr(ax, "name", None) == "3d"
    if ax is not None:
        given_axes(ax, "plot", solid=solid)
        sections = [] if solid else sections[:1]
    cloud = _thin(workspace[_behind_section(workspace)], count)
    slabs = [_thin(workspace.slice(axis, at, thick), count) for axis, _, at in sections]
    values = _values(workspace, color, [cloud, *slabs])
    style = _color_style(values)
    if ax is not None:
        drawing = figure_of(ax)
        if solid:
            dots = _draw_cloud(ax, workspace, cloud, values[0], box, angles, style)
        else:
            dots = _draw_section(ax, slabs[0], sections[0], values[1], thick, box, style)
        drawing.colorbar(dots, ax=ax, shrink=0.8, label=LABELS[color], extend="max")
        return save_figure(drawing, path)
    drawing = new_figure(11.5, 5.8, path, size)
    grid = drawing.add_gridspec(2, 2, width_ratios=(1.25, 1))
    axes = drawing.add_subplot(grid[:, 0], projection="3d")
    dots = _draw_cloud(axes, workspace, cloud, values[0], box, angles, style)
    for k, section in enumerate(sections):
        flat = drawing.add_subplot(grid[k, 1] if len(sections) > 1 else grid[:, 1])
        _draw_section(flat, slabs[k], section, values[k + 1], thick, box, style)
    drawing.colorbar(dots, ax=drawing.axes, shrink=0.8, label=LABELS[color], extend="max")
    title = drawing.suptitle("", color=LINK_COLOR, fontweight="bold", fontsize="medium")
    show_plainly(title, f"{workspace.robot.name}: {_number_of_positions(workspace)}")
    return save_figure(drawing, path)


def _thin(part: AnyWorkspace, count: int) -> AnyWorkspace:
    """At most so many of the points: the first of a cloud, which are as random as others, and random cells of a map."""
    if isinstance(part, WorkspaceMap) and len(part) > count:
        return part[np.sort(np.random.default_rng(0).permutation(len(part))[:count])]
    return part[:count]


def _number_of_positions(workspace: AnyWorkspace) -> str:
    if isinstance(workspace, WorkspaceMap):
        cells = f"{len(workspace):,} cells of {workspace.cell:g} m"
        return f"{workspace.samples:,} positions of {workspace.link}, in {cells}"
    return f"{len(workspace):,} positions of {workspace.link}"


def _color_style(values: list[Array]) -> dict[str, Any]:
    """The range of colors: from zero to nearly the best, without the few that stand out."""
    finite = np.concatenate(values)
    finite = finite[np.isfinite(finite)]
    bottom, top = np.quantile(finite, (0.01, 0.99)) if len(finite) else (0.0, 1.0)
    return {"cmap": "viridis", "vmin": min(float(bottom), 0.0), "vmax": float(top) or 1.0, "linewidths": 0}


def _draw_cloud(
    axes: Any,
    workspace: AnyWorkspace,
    cloud: AnyWorkspace,
    values: Array,
    box: Array | None,
    angles: tuple[float, float],
    style: dict[str, Any],
) -> Any:
    order = np.argsort(cloud.position[:, 1])[::-1]
    dots: Any = axes.scatter(*cloud.position[order].T, c=values[order], s=2.5, alpha=0.55, depthshade=False, **style)
    set_limits(axes, limits_around(workspace.bounds) if box is None else box, zoom=1.2)
    axes.view_init(elev=angles[0], azim=angles[1])
    dots.set_alpha(None)
    return dots


def _draw_section(
    flat: Any,
    slab: AnyWorkspace,
    section: tuple[str, tuple[int, int], float],
    values: Array,
    thick: float,
    box: Array | None,
    style: dict[str, Any],
) -> Any:
    axis, (first, second), at = section
    best_on_top = np.argsort(values)
    place = slab.position[best_on_top]
    dots = flat.scatter(place[:, first], place[:, second], c=values[best_on_top], s=6, **style)
    flat.set_aspect("equal")
    if box is not None:
        flat.set_xlim(*box[first])
        flat.set_ylim(*box[second])
    flat.set_xlabel(f"{'xyz'[first]}, m", fontsize="small")
    flat.set_ylabel(f"{'xyz'[second]}, m", fontsize="small")
    flat.set_title(f"section at {axis} = {at:.2g} m, {thick:.2g} m thick", fontsize="small")
    style_panel(flat)
    return dots


def _behind_section(workspace: AnyWorkspace) -> NDArray[np.bool_]:
    """Whether points are not in front of the plane y = 0; all of them, if the cloud has no depth."""
    y = workspace.position[:, 1]
    behind = y >= 0
    deep = np.ptp(workspace.position[:, 2]) > 0.05 * np.ptp(y) and behind.any()
    return behind if deep else np.ones(len(y), dtype=bool)


def _height(workspace: AnyWorkspace, thick: float) -> float:
    """The height of the horizontal section with the most points."""
    z = workspace.position[:, 2]
    counts, edges = np.histogram(z, bins=max(1, int(np.ptp(z) / thick)))
    k = int(counts.argmax())
    return round(float(edges[k] + edges[k + 1]) / 2, 2)


def _values(workspace: AnyWorkspace, color: str, parts: list[AnyWorkspace]) -> list[Array]:
    if color == "manipulability":
        return [part.manipulability for part in parts]
    if color == "payload":
        return [payload_capacity(workspace.robot, part.q, workspace.link) for part in parts]
    if isinstance(workspace, WorkspaceMap):
        return [part.share for part in parts if isinstance(part, WorkspaceMap)]
    cell = max(float(np.ptp(workspace.bounds, axis=0).max()) / 24, 1e-6)
    voxels = workspace.voxels(cell)
    return [voxels.share[voxels.find(part.position)] for part in parts]
