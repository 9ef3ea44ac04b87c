"""Drawing of a robot's bodies on axes: shaded on a ground with shadows in space, as silhouettes in a plane.

The artists are made once and moved from posture to posture, which animations use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.errors import visible
from chainrule.plots.bodies import Bodies, bodies, color_of
from chainrule.plots.canvas import (
    AXIS_COLORS,
    BASE_COLOR,
    GAP_COLOR,
    GRID_COLOR,
    GROUND_COLOR,
    SCREW_COLOR,
    SHADOW_COLOR,
    limits_around,
    set_limits,
)
from chainrule.shapes.parts import Part
from chainrule.shapes.skeleton import hull_2d
from chainrule.shapes.surfaces import quads

PLANES = {0: (1, 2), 1: (0, 2), 2: (0, 1)}
"""The axes to the right and upward of the picture of a planar robot, by the axis across its plane."""

ORDER = {"base": 3, "foot": 3, "slide": 4, "rod": 4, "wheel": 6, "ring": 6, "joint": 7, "tie": 8}
OTHERS = 5
"""Which parts lie on which in the picture of a planar robot."""

NOTHING = np.zeros((1, 4, 3))
"""A polygon of no size, so that there is always one."""


def upward(robot: Mechanism) -> int:
    """The axis of the base that points up or down: that of gravity, and z where there is none."""
    g = np.abs(robot.gravity)
    return int(g.argmax()) if g.any() else 2


def is_flat(robot: Mechanism, body: Bodies, poses: Array) -> bool:
    """Whether a robot moves in a plane of two axes of the base, and all its points lie in one."""
    normal = body.skeleton.normal
    if normal is None:
        return False
    across = body.skeleton.points_at(poses)[..., normal]
    return bool(np.ptp(across[np.isfinite(across)], axis=None) <= 1e-6 * body.skeleton.reach) if across.size else False


@cache
def light() -> Any:
    """The direction from which the light comes: from above, in front and the left."""
    toward = np.array([-0.45, -0.65, 1.0])
    return toward / np.linalg.norm(toward)


def shade(polygons: Array, color: Array) -> Array:
    """The colors (m, 4) of polygons (m, k, 3), lighter where they face the light."""
    normal = np.cross(polygons[:, 1] - polygons[:, 0], polygons[:, 2] - polygons[:, 0])
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    facing = (normal / np.where(size > 0, size, 1.0)) @ light()
    strength = 0.72 + 0.28 * facing
    shaded = np.empty((len(polygons), 4))
    shaded[:, :3] = np.clip(color[:3] * strength[:, None] + 0.10 * np.maximum(facing, 0)[:, None] ** 4, 0, 1)
    shaded[:, 3] = color[3]
    return shaded


class Drawn:
    """One posture of a robot on axes: artists that `move` takes to another posture."""

    def __init__(self, axes: Any, robot: Mechanism, style: str, strength: float = 1.0) -> None:
        self.axes = axes
        self.robot = robot
        self.bodies = bodies(robot, style)
        self.strength = strength

    def move(self, poses: Array) -> None:
        """Draw the posture in which all links have these poses: (links, 4, 4)."""
        raise NotImplementedError


def colors_of(part: Part, strength: float) -> Array:
    """The color of a part, paler for the earlier of several postures."""
    from matplotlib.colors import to_rgb

    plain = np.array(to_rgb(color_of(part)))
    return np.array([*(1 - strength * (1 - plain)), 1.0])


class DrawnInSpace(Drawn):
    """A posture in 3-D axes, shaded; with its shadow on the ground where there is one."""

    def __init__(
        self, axes: Any, robot: Mechanism, style: str, strength: float = 1.0, ground: float | None = None
    ) -> None:
        from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

        from chainrule.plots.solid_artist import SolidFaces

        super().__init__(axes, robot, style, strength)
        self.ground = ground
        self.up = upward(robot)
        self.solid = SolidFaces(linewidths=0.15, zorder=6)
        self.solid.set_gid("bodies")
        self.shadow = Poly3DCollection([np.zeros((3, 3))], facecolor=SHADOW_COLOR, edgecolor="none", zorder=2)
        self.shadow.set_gid("shadow")
        self.gaps = Line3DCollection([np.zeros((2, 3))], colors=GAP_COLOR, linestyles="--", linewidths=1.3, zorder=9)
        self.gaps.set_gid("gaps")
        self.travels = Line3DCollection(
            [np.zeros((2, 3))], colors=SCREW_COLOR, linestyles=":", linewidths=1.0, zorder=3
        )
        self.travels.set_gid("travels")
        for artist in (self.shadow, self.solid, self.gaps, self.travels):
            artist.set_in_layout(False)
            axes.add_collection3d(artist, autolim=False)

    def move(self, poses: Array) -> None:
        """Draw the posture in which all links have these poses: (links, 4, 4)."""
        polygons, colors, closed, shadows = [NOTHING], [np.zeros((1, 4))], [np.zeros(1, dtype=bool)], [NOTHING]
        for part in self.bodies.at(poses) if np.isfinite(poses).all() else ():
            corners = part.surface.corners[part.surface.faces]
            polygons.append(corners)
            colors.append(shade(corners, colors_of(part, self.strength)))
            closed.append(np.full(len(corners), part.surface.convex))
            if self.ground is not None:
                shadows.append(self._shadow(part))
        self.solid.set_faces(np.concatenate(polygons), np.concatenate(colors), np.concatenate(closed))
        self.shadow.set_verts(np.concatenate(shadows))
        gaps = [ends for kind, ends in self.bodies.skeleton.segments_at(poses) if kind == "gap"]
        self.gaps.set_segments(gaps or [np.full((2, 3), np.nan)])
        self.travels.set_segments(self.bodies.skeleton.travels_at(poses) or [np.full((2, 3), np.nan)])

    def _shadow(self, part: Part) -> Array:
        """The shadow of a part on the ground, as polygons (m, 4, 3): one of a convex part, else that of each face."""
        flat = [k for k in range(3) if k != self.up]
        solid = part.surface
        outline = quads(np.array(hull_2d(solid.corners[:, flat]))) if solid.convex else solid.faces
        cast = solid.corners[outline].copy()
        cast[..., self.up] = self.ground
        return cast


class DrawnInPlane(Drawn):
    """A posture of a planar robot in plain axes: the outline of each part, the base hatched."""

    def __init__(self, axes: Any, robot: Mechanism, style: str, strength: float = 1.0) -> None:
        super().__init__(axes, robot, style, strength)
        normal = self.bodies.skeleton.normal
        self.plane = list(PLANES[2 if normal is None else normal])
        self.artists: list[Any] = []
        self.side: float | None = None

    def move(self, poses: Array) -> None:
        """Draw the posture in which all links have these poses: (links, 4, 4)."""
        from matplotlib.patches import Polygon

        for artist in self.artists:
            artist.remove()
        self.artists = []
        edge = tuple(1 - self.strength * (1 - np.array([0.2, 0.25, 0.36])))
        for k, part in enumerate(self.bodies.at(poses)):
            seen = part.surface.corners[:, self.plane]
            if not np.isfinite(seen).all():
                continue
            if part.role == "foot":
                if self.bodies.skeleton.links[0].bars:
                    continue
                seen = self._support(poses, 2.0 * self.bodies.radius)
            hatch = "//////" if part.role in ("base", "foot") else None
            style: dict[str, Any] = {
                "facecolor": "white" if hatch else tuple(colors_of(part, self.strength)), "edgecolor": edge,
                "linewidth": 0.8, "zorder": ORDER.get(part.role, OTHERS) + 0.001 * k - (6 if self.strength < 1 else 0),
            }  # fmt: skip
            if part.surface.convex:
                outlines = [seen[hull_2d(seen)]]
            else:
                outlines = list(seen[part.surface.faces])
                style["linewidth"] = 0.0
            for outline in outlines:
                patch = Polygon(outline, closed=True, hatch=hatch, **style)
                patch.set_gid(visible(f"{part.role} {part.name}"))
                self.artists.append(self.axes.add_patch(patch))
        for kind, ends in self.bodies.skeleton.segments_at(poses):
            if kind == "gap":
                (line,) = self.axes.plot(*ends[:, self.plane].T, "--", color=GAP_COLOR, linewidth=1.3, zorder=9)
                line.set_gid("gaps")
                self.artists.append(line)
        for ends in self.bodies.skeleton.travels_at(poses):
            (line,) = self.axes.plot(*ends[:, self.plane].T, ":", color=SCREW_COLOR, linewidth=1.0, zorder=2)
            line.set_gid("travels")
            self.artists.append(line)

    def _support(self, poses: Array, length: float) -> Array:
        """The corners of a bar that holds the first joint: above it where the robot hangs, otherwise below."""
        base = self.bodies.skeleton.links[0].points
        pivot = (base @ poses[0, :3, :3].T + poses[0, :3, 3])[0, self.plane]
        points = self.bodies.skeleton.points_at(poses)[:, self.plane]
        if self.side is None:  # it stays where it is while the robot moves
            self.side = 1.0 if points[:, 1].mean() < pivot[1] - 0.2 * self.bodies.skeleton.reach else -1.0
        near, far = 0.62 * self.side * length, 1.2 * self.side * length
        return pivot + np.array([[-length, near], [length, near], [length, far], [-length, far]])


def prepare_space(axes: Any, limits: Array, ground: float | None, up: int, zoom: float) -> None:
    """Give 3-D axes their limits, and a ground with a grid."""
    axes.computed_zorder = False
    set_limits(axes, limits, zoom=zoom)
    axes.grid(False)
    if ground is None:
        return
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    i, j = (k for k in range(3) if k != up)
    corners = np.full((4, 3), ground)
    corners[:, i] = limits[i][[0, 1, 1, 0]]
    corners[:, j] = limits[j][[0, 0, 1, 1]]
    floor = Poly3DCollection([corners], facecolor=GROUND_COLOR, edgecolor=GRID_COLOR, linewidths=0.6, zorder=0)
    floor.set_gid("ground")
    lines = []
    for a, b in ((i, j), (j, i)):
        axis = (axes.xaxis, axes.yaxis, axes.zaxis)[a]
        for tick in axis.get_major_locator().tick_values(*limits[a]):
            if limits[a][0] < tick < limits[a][1]:
                line = np.full((2, 3), ground)
                line[:, a], line[:, b] = tick, limits[b]
                lines.append(line)
    net = Line3DCollection(lines or [np.full((2, 3), np.nan)], colors=GRID_COLOR, linewidths=0.6, zorder=1)
    for artist in (floor, net):
        artist.set_in_layout(False)
        axes.add_collection3d(artist, autolim=False)


def fit_view(axes: Any, limits: Array, below: float = 0.0) -> None:
    """Let the box of the limits fill the figure of 3-D axes that are alone on it, with room for numbers and a title.

    below: inches at the bottom that stay free.
    """
    figure = axes.get_figure()
    figure.set_layout_engine("none")
    across, high = figure.get_size_inches()
    side = max(across, high)  # 3-D axes are square, and cut off what leaves them: so they reach beyond the figure
    middle = 0.49 + below / high / 2
    axes.set_position((0.48 - side / across / 2, middle - side / high / 2, side / across, side / high))
    corners = np.array([[x, y, z] for x in limits[0] for y in limits[1] for z in limits[2]])
    zoom = 1.0
    for _ in range(3):
        axes.apply_aspect()
        x, y, _ = proj_of(axes, corners)
        seen = axes.transData.transform(np.stack([x, y], axis=1))
        room, inches = figure.bbox, figure.dpi
        width, height = np.ptp(seen, axis=0)
        zoom *= min((room.width - 1.15 * inches) / width, (room.height - (0.95 + below) * inches) / height)
        axes.set_box_aspect(np.ptp(limits, axis=1), zoom=max(zoom, 0.05))


def hide_depth(axes: Any, elevation: float, azimuth: float, up: int) -> None:
    """Leave out the numbers of the axis along which the view goes: they would lie on one another."""
    along = None
    if abs(elevation) % 180 == 90:
        along = up
    elif abs(elevation) % 180 == 0 and azimuth % 90 == 0:
        along = (up + 1 + int(azimuth % 180 != 0)) % 3
    if along is not None:
        axis = (axes.xaxis, axes.yaxis, axes.zaxis)[along]
        axis.set_ticks([])
        axis.set_label_text("")


def proj_of(axes: Any, points: Array) -> Any:
    """Points (k, 3) as seen on 3-D axes: x, y and depth."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    return [np.asarray(part) for part in proj_transform(*points.T, axes.get_proj())]


def seen_shape(limits: Array, view: tuple[float, float], up: int) -> tuple[float, float]:
    """Width and height of a box of limits, as seen under elevation and azimuth in degrees."""
    elevation, azimuth = np.radians(view)
    spans = np.ptp(limits, axis=1)
    i, j = (up + 1) % 3, (up + 2) % 3
    width = abs(np.sin(azimuth)) * spans[i] + abs(np.cos(azimuth)) * spans[j]
    deep = abs(np.cos(azimuth)) * spans[i] + abs(np.sin(azimuth)) * spans[j]
    return float(width), float(abs(np.cos(elevation)) * spans[up] + abs(np.sin(elevation)) * deep)


def prepare_plane(axes: Any, limits: Array, plane: Sequence[int]) -> None:
    """Give plain axes their limits, one scale, and their names."""
    axes.set_aspect("equal")
    axes.set_xlim(*limits[plane[0]])
    axes.set_ylim(*limits[plane[1]])
    axes.set_xlabel(f"{'xyz'[plane[0]]}, m")
    axes.set_ylabel(f"{'xyz'[plane[1]]}, m")
    axes.grid(color=GRID_COLOR, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(BASE_COLOR)
    axes.tick_params(labelsize="small", color=BASE_COLOR)


def ground_level(points: Array, up: int, down: float) -> float:
    """The height of the ground: that of the lowest of all points (k, 3); of the highest where gravity pulls up."""
    heights = points[:, up]
    return float(heights.min() if down <= 0 else heights.max())


def limits_of(points: Array, flat: Sequence[int] | None) -> Array:
    """Limits (3, 2) around points (k, 3), with more room across where the picture is of a plane."""
    if flat is None:
        return limits_around(points, margin=0.03, least=0.3)
    limits = np.stack([points.min(axis=0), points.max(axis=0)], axis=1)
    limits[list(flat)] = limits_around(points[:, list(flat)], margin=0.08, least=0.5)
    return limits


def draw_triad(axes: Any, T: Array, length: float, plane: Sequence[int] | None, *, letters: bool = False) -> None:
    """Draw the axes of a frame: red, green and blue lines, with the letters x, y and z where wanted."""
    for i, (letter, color) in enumerate(AXIS_COLORS.items()):
        ends = np.stack([T[:3, 3], T[:3, 3] + length * T[:3, i]])
        shown = ends if plane is None else ends[:, list(plane)]
        if plane is not None and np.linalg.norm(shown[1] - shown[0]) < 1e-6 * length:
            continue
        axes.plot(*shown.T, color=color, linewidth=1.8, zorder=20, solid_capstyle="round")
        if letters:
            tip = shown[0] + 1.22 * (shown[1] - shown[0])
            axes.text(*tip, letter, color=color, fontsize=7.5, ha="center", va="center", zorder=21)


def corners_of(parts: Iterable[Part]) -> Array:
    """The corners of all parts: (k, 3)."""
    found = [part.surface.corners for part in parts]
    return np.concatenate(found) if found else np.zeros((0, 3))
