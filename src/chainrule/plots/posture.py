"""Plots of a robot in a posture: bodies, joints and their names, frames, screw axes, ellipsoids at the tip."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, as_list, flag, number, one_of, positive
from chainrule.calls import explains_arguments
from chainrule.core.plausibility import warn_of_degrees
from chainrule.core.reading import find_link, read_argument
from chainrule.errors import ChainruleError, ShapeError, short_repr
from chainrule.kinematics.configurations import home
from chainrule.kinematics.ellipsoids import KINDS
from chainrule.kinematics.manipulability import ellipsoid as ellipsoid_of
from chainrule.kinematics.poses import pose, poses
from chainrule.plots.bodies import STYLES, Bodies, bodies
from chainrule.plots.canvas import (
    BLUE,
    LINK_COLOR,
    PURPLE,
    SCREW_COLOR,
    VERMILLION,
    figure_of,
    figure_size,
    given_axes,
    given_limits,
    new_figure,
    refuse_unwritable,
    save_figure,
    show_plainly,
)
from chainrule.plots.drawing import (
    Drawn,
    DrawnInPlane,
    DrawnInSpace,
    corners_of,
    draw_triad,
    fit_view,
    ground_level,
    hide_depth,
    is_flat,
    limits_of,
    prepare_plane,
    prepare_space,
    seen_shape,
    upward,
)
from chainrule.shapes.skeleton import at

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

ELLIPSOID_COLORS = {"velocity": BLUE, "force": VERMILLION, "acceleration": PURPLE}
ELLIPSOID_UNITS = {"velocity": "m/s", "force": "N", "acceleration": "m/s²"}

VIEWS = {"iso": (20.0, -55.0), "front": (0.0, -90.0), "side": (0.0, 0.0), "top": (90.0, -90.0)}
"""Named views, as elevation and azimuth in degrees."""

MAX_NAMED_JOINTS = 12
"""Robots with more joints are drawn without their names, unless these are asked for."""

MAX_TIP_FRAMES = 4
"""Tips whose frames are drawn; of a robot with more they would hide it."""

MAX_POSTURES = 2000
"""Postures that one picture may show."""


@dataclass(frozen=True)
class Stage:
    """The place of drawn postures: axes in space or in a plane, with limits and ground that hold for all of them."""

    axes: Any
    plane: tuple[int, int] | None
    limits: Array
    ground: float | None

    def new_posture(self, robot: Mechanism, style: str, strength: float = 1.0) -> Drawn:
        """The artists of one more posture."""
        if self.plane is not None:
            return DrawnInPlane(self.axes, robot, style, strength)
        return DrawnInSpace(self.axes, robot, style, strength, self.ground)


@explains_arguments
def plot(
    robot: Mechanism,
    q: ArrayLike | None = None,
    path: str | PathLike[str] | None = None,
    *,
    link: str | None = None,
    frames: bool | None = None,
    screws: bool | None = None,
    ellipsoids: Sequence[str] = (),
    ellipsoid_scale: float | None = None,
    names: bool | None = None,
    style: str = "auto",
    ground: bool = True,
    ax: Any = None,
    limits: ArrayLike | None = None,
    view: str | Sequence[float] | None = None,
    size: Sequence[float] | None = None,
) -> Figure:
    """Draw the robot in a posture, or in several, with its joints and their names.

    A robot that moves in a plane is drawn in that plane, others in space. In a notebook the figure appears below the
    cell, and elsewhere with plt.show(); where a path is given it is written and not shown.

    Parameters
    ----------
    q
        One posture (nq,), or several (k, nq), the earlier the paler; the home posture if none is given.
    path
        A .png, .pdf or .svg file to write.
    link
        The link or frame of the ellipsoids; the end-effector, or all tips of a robot that branches.
    frames
        Whether the frames of all links are drawn, in the last posture; by default those of base and tips.
    screws
        Whether the screw axes of the joints are drawn, in the last posture.
    ellipsoids
        Any of "velocity", "force" and "acceleration", for joint vectors of unit length, all of a kind to one scale.
    ellipsoid_scale
        The length, in m, that 1 m/s, 1 N or 1 m/s² is drawn as, so that several pictures can be compared.
    names
        Whether the names of joints are written; by default, of robots with at most twelve.
    style
        "visual", the visual geometry of the links; "collision", their collision bodies; "capsules" between joints;
        "lines"; "auto", what there is.
    ground
        Whether a ground with shadows is drawn, in space.
    ax
        Axes to draw on, with projection="3d", or plain ones for a robot that moves in a plane.
    limits
        Fixed limits, a pair (low, high) in m for each of x, y and z; around the robot by default.
    view
        "iso", "front", "side" or "top", or elevation and azimuth in degrees; then a planar robot is drawn in space.
    size
        Width and height of the figure, in inches.

    Returns
    -------
    Figure
        A figure of Matplotlib.

    Examples
    --------
    >>> import chainrule as cr
    >>> figure = cr.load("four_bar").plot(view="front", size=(4, 3))
    """
    refuse_unwritable(path)
    states = _states(robot, q)
    kinds = [one_of(KINDS, kind, "kind of ellipsoid") for kind in as_list(ellipsoids, "plot: ellipsoids")]
    with_screws = False if screws is None else flag(screws, "plot: screws")
    with_names = _has_few_joints(robot) if names is None else flag(names, "plot: names")
    one_of(STYLES, style, "style of bodies", "a picture")
    link_poses = poses(robot, states)
    body = bodies(robot, style)
    eggs = [egg for kind in kinds for egg in _ellipsoids(robot, states, kind, link, body, ellipsoid_scale)]
    extra = [egg.net.reshape(-1, 3) for egg in eggs]
    room: dict[str, Any] = {"ground": ground, "ax": ax, "limits": limits, "view": view, "size": size}
    stage = new_stage(robot, body, link_poses, path, extra=extra, below=0.19 * (len(kinds) + 2 * with_screws), **room)
    for k, T in enumerate(link_poses):
        strength = 0.25 + 0.75 * (k + 1) / len(states) if len(states) > 1 else 1.0
        stage.new_posture(robot, style, strength).move(T)
    _draw_frames(stage, robot, states[-1], link_poses[-1], body, frames, link)
    if with_screws:
        _draw_screws(stage, body, link_poses[-1])
    for egg in eggs:
        _draw_ellipsoid(stage, egg)
    write_title(stage, robot.name, own=ax is None)
    handles, labels = stage.axes.get_legend_handles_labels()
    if handles:
        whole = figure_of(stage.axes) if ax is None and stage.plane is None else stage.axes
        place = (
            {"loc": "lower left"} if whole is not stage.axes else {"loc": "upper left", "bbox_to_anchor": (0, -0.12)}
        )
        whole.legend(handles, labels, frameon=False, fontsize="small", **place)
    if with_names:
        write_names(stage, body, link_poses[-1])
    return save_figure(figure_of(stage.axes), path)


def write_title(stage: Stage, name: str, *, own: bool) -> None:
    """Write the name of the robot above its picture."""
    style: dict[str, Any] = {"color": LINK_COLOR, "fontweight": "bold", "fontsize": "medium"}
    alone = own and stage.plane is None
    show_plainly(figure_of(stage.axes).suptitle("", **style) if alone else stage.axes.set_title("", **style), name)


def _states(robot: Mechanism, q: ArrayLike | None) -> Array:
    given: Any = home(robot) if q is None else q
    states = read_argument(robot, "plot", "q", given)
    if q is not None:
        warn_of_degrees(robot, states, "plot")
    if states.ndim > 2 or not states.size:
        raise ShapeError(f"plot: q must be one posture or a list of them, got shape {states.shape}")
    if states.ndim == 2 and len(states) > MAX_POSTURES:
        raise ShapeError(f"plot: {len(states)} postures are too many for one picture; take every tenth, q[::10]")
    return np.atleast_2d(states)


def _has_few_joints(robot: Mechanism) -> bool:
    return len(robot.joint_names) <= MAX_NAMED_JOINTS


def new_stage(
    robot: Mechanism,
    body: Bodies,
    link_poses: Array,
    path: str | PathLike[str] | None,
    *,
    extra: Sequence[Array] = (),
    ground: bool = True,
    ax: Any = None,
    limits: ArrayLike | None = None,
    view: str | Sequence[float] | None = None,
    size: Sequence[float] | None = None,
    figure: Figure | None = None,
    below: float = 0.0,
) -> Stage:
    """Axes with limits, view and ground that suit all postures, for poses (k, links, 4, 4)."""
    angles = view_angles(view)
    flat = is_flat(robot, body, link_poses) and angles is None and getattr(ax, "name", "") != "3d"
    plane = drawing_plane(body) if flat else None
    box = given_limits(limits, "plot", 3)
    points, lowest = _drawn_points(body, link_poses)
    everything = np.concatenate([points, *extra]) if extra else points
    box = limits_of(everything, plane) if box is None else box
    up = upward(robot)
    level = None
    if flag(ground, "plot: ground") and plane is None:
        level = ground_level(lowest, up, float(robot.gravity[up]))
        if limits is None:
            box[up] = [min(box[up][0], level), max(box[up][1], level)]
            box[up][0 if robot.gravity[up] <= 0 else 1] = level
    if ax is not None:
        axes = given_axes(ax, "plot", solid=plane is None)
    else:
        shape = figure_shape(box, plane, angles or VIEWS["iso"], up)
        if figure is None:
            canvas = new_figure(shape[0], shape[1] + below, path, size)
        else:
            canvas = figure
            canvas.set_size_inches(figure_size(size, shape))
        axes = canvas.add_subplot() if plane is not None else canvas.add_subplot(projection="3d", proj_type="persp")
    if plane is not None:
        prepare_plane(axes, box, plane)
    else:
        prepare_space(axes, box, level, up, 1.0 if ax is None else 1.15)
        elevation, azimuth = angles or VIEWS["iso"]
        axes.view_init(elev=elevation, azim=azimuth, vertical_axis="xyz"[up])
        axes.set_proj_type("ortho" if abs(elevation) % 90 < 1e-9 and azimuth % 90 == 0 else "persp")
        hide_depth(axes, elevation, azimuth, up)
        if ax is None:
            fit_view(axes, box, below)
    return Stage(axes, plane, box, level)


def drawing_plane(body: Bodies) -> tuple[int, int]:
    """The axes to the right and upward in the picture of a planar robot."""
    from chainrule.plots.drawing import PLANES

    normal = body.skeleton.normal
    return PLANES[2 if normal is None else normal]


def figure_shape(box: Array, plane: tuple[int, int] | None, view: tuple[float, float], up: int) -> tuple[float, float]:
    """Inches of a figure that suits what it shows."""
    if plane is not None:
        width, height = (float(np.ptp(box[k])) for k in plane)
    else:
        width, height = seen_shape(box, view, up)
    scale = min(6.0 / width, 5.2 / height)
    return max(3.4, scale * width + 1.2), max(2.6, scale * height + 1.0)


def _drawn_points(body: Bodies, link_poses: Array) -> tuple[Array, Array]:
    """The corners of all parts in all postures (k, 3), and the points that may stand on the ground."""
    finite = [T for T in link_poses if np.isfinite(T).all() and np.abs(T).max() < 1e100]
    if not finite:
        raise ShapeError("nothing to draw: no point is finite, or none is nearer than 1e100 m")
    thinned = finite[:: max(1, len(finite) // 60)]
    corners = np.concatenate([corners_of(body.at(T)) for T in thinned])
    skeleton = body.skeleton.points_at(np.stack(finite)).reshape(-1, 3)
    travels = [ends for T in thinned for ends in body.skeleton.travels_at(T)]
    triad = np.vstack([np.zeros(3), 0.13 * body.skeleton.reach * np.eye(3)]) @ finite[0][0, :3, :3].T
    corners = np.concatenate([corners, finite[0][0, :3, 3] + triad, *travels])
    if body.style == "visual" and len(corners):
        return np.concatenate([corners, skeleton]), corners
    margin = 1.2 * body.radius
    return np.concatenate([corners, skeleton - margin, skeleton + margin]), skeleton


def view_angles(view: str | Sequence[float] | None) -> tuple[float, float] | None:
    """Elevation and azimuth of a view, in degrees; None where none is asked for."""
    if view is None:
        return None
    if isinstance(view, str):
        return VIEWS[one_of(VIEWS, view, "view", "a picture")]
    angles = as_list(view, "plot: view")
    if len(angles) != 2:
        raise ShapeError(f"plot: view must be elevation and azimuth in degrees, got {short_repr(view)}")
    return number(angles[0], "plot: view"), number(angles[1], "plot: view")


def _tips(robot: Mechanism, link: str | None) -> list[str]:
    """The link that is named, or the end-effector, or all tips of a robot that has none."""
    if link is not None:
        return [find_link(robot, link)]
    try:
        return [find_link(robot)]
    except ChainruleError:
        return list(robot.model.tips)


def _draw_frames(
    stage: Stage, robot: Mechanism, q: Array, T: Array, body: Bodies, frames: bool | None, link: str | None
) -> None:
    length = 0.085 * body.skeleton.reach
    everywhere = False if frames is None else flag(frames, "plot: frames")
    if frames is not None and not everywhere:
        return
    if everywhere:
        for own in T[1:]:
            draw_triad(stage.axes, own, 0.8 * length, stage.plane)
    draw_triad(stage.axes, T[0], 1.3 * length, stage.plane, letters=True)
    tips = _tips(robot, link)
    for tip in tips if everywhere or len(tips) <= MAX_TIP_FRAMES else ():
        draw_triad(stage.axes, pose(robot, q, tip), length, stage.plane)


def _draw_screws(stage: Stage, body: Bodies, T: Array) -> None:
    """Draw the axis of each joint of one degree of freedom: dashed where it rotates, dotted where it slides."""
    half = 0.16 * body.skeleton.reach
    labels = {"turns": "axis of turning", "slides": "axis of sliding"}
    for joint in body.skeleton.joints:
        if joint.axis is None:
            continue
        along = T[joint.child, :3, :3] @ joint.axis
        ends = at(T[joint.child], joint.in_child) + np.outer([-half, half], along)
        shown = ends if stage.plane is None else ends[:, list(stage.plane)]
        style = "--" if joint.kind == "turns" else ":"
        label = labels.pop(joint.kind, None)
        stage.axes.plot(*shown.T, color=SCREW_COLOR, linewidth=1.2, linestyle=style, label=label, zorder=10)


def draw_names(stage: Stage, robot: Mechanism, body: Bodies, T: Array) -> None:
    """Write the robot's name, and those of its joints unless they are many."""
    write_title(stage, robot.name, own=True)
    if _has_few_joints(robot):
        write_names(stage, body, T)


def write_names(stage: Stage, body: Bodies, T: Array) -> None:
    """Write the names of the joints beside them, for the poses (links, 4, 4) of one posture."""
    from chainrule.plots.labels import add_names

    joints = [joint for joint in body.skeleton.joints if joint.kind != "fixed"]
    if not joints or not np.isfinite(T).all():
        return
    points = np.stack([at(T[link], point) for link, point in (joint.symbol for joint in joints)])
    steps = np.linspace(0, 1, 24)[:, None]
    around = np.concatenate([a + steps * (b - a) for _, (a, b) in body.skeleton.segments_at(T)] or [points])
    if stage.plane is not None:
        points, around = points[:, list(stage.plane)], around[:, list(stage.plane)]
    add_names(stage.axes, [joint.name for joint in joints], points, around, 1.6 * body.radius)


# --- ellipsoids ---


@dataclass(frozen=True)
class Egg:
    """An ellipsoid as it is drawn: its net around the tip, its axes, and what a legend says of it."""

    kind: str
    center: Array
    net: Array
    shape: Array
    """Its semi-axes in the columns, in m of the picture: (3, 3)."""
    label: str | None


def _ellipsoids(
    robot: Mechanism, states: Array, kind: str, link: str | None, body: Bodies, scale: float | None
) -> list[Egg]:
    """The ellipsoids of a kind, in all postures and at all tips, to one scale; infinite axes are left out."""
    found = [
        (ellipsoid_of(robot, q, tip, kind=kind, task="position"), pose(robot, q, tip)[:3, 3])
        for q in states
        for tip in _tips(robot, link)
    ]
    lengths = [np.where(np.isfinite(each.lengths), each.lengths, 0.0) for each, _ in found]
    longest = max(float(each.max()) for each in lengths)
    if scale is None:
        factor = _round_down(0.2 * body.skeleton.reach / longest) if longest > 0 else 1.0
    else:
        factor = positive(scale, "plot: ellipsoid_scale", "a positive length in m")
    unit = ELLIPSOID_UNITS[kind]
    given = "|qd| = 1" if kind == "velocity" else "|tau| = 1"
    label: str | None = f"{kind} for {given}: up to {longest:.3g} {unit}; 1 {unit} is drawn as {factor:g} m"
    eggs = []
    for (each, center), semi in zip(found, lengths, strict=True):
        drawn = replace(each, lengths=factor * semi)
        eggs.append(Egg(kind, center, drawn.points(29, 15) + center, each.axes * (factor * semi), label))
        label = None
    return eggs


def _round_down(x: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is at most x."""
    power = 10.0 ** math.floor(math.log10(x))
    return float(max(m for m in (1, 2, 5) if m <= x / power * (1 + 1e-12)) * power)


def _draw_ellipsoid(stage: Stage, egg: Egg) -> None:
    color = ELLIPSOID_COLORS[egg.kind]
    axes = stage.axes
    if stage.plane is not None:
        from matplotlib.patches import Polygon

        shape = egg.shape[list(stage.plane)]
        u, s, _ = np.linalg.svd(shape)
        turn = np.linspace(0, 2 * np.pi, 120)
        outline = egg.center[list(stage.plane)] + np.stack([s[0] * np.cos(turn), s[1] * np.sin(turn)], axis=1) @ u.T
        patch = Polygon(outline, facecolor=(*_rgb(color), 0.2), edgecolor=color, linewidth=1.3, zorder=12)
        patch.set_label(egg.label)
        patch.set_gid(f"ellipsoid {egg.kind}")
        axes.add_patch(patch)
        return
    surface = axes.plot_surface(*np.moveaxis(egg.net, -1, 0), color=color, alpha=0.22, linewidth=0, antialiased=True)
    surface.set_zorder(12)
    surface.set_gid(f"ellipsoid {egg.kind}")
    for semi in egg.shape.T:
        axes.plot(*np.stack([egg.center - semi, egg.center + semi]).T, color=color, linewidth=1.2, zorder=13)
    if egg.label:
        axes.plot([], [], [], color=color, linewidth=5, alpha=0.5, label=egg.label)


def _rgb(color: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(color)
