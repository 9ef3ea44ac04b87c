"""Plots of a robot in a posture: links, joints, frames, screw axes, and ellipsoids at the tip."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, as_list, flag, one_of
from chainrule.core.plausibility import warn_of_degrees
from chainrule.errors import ShapeError
from chainrule.kinematics.ellipsoids import KINDS, Ellipsoid
from chainrule.kinematics.manipulability import manipulability_ellipsoid
from chainrule.kinematics.poses import pose, poses
from chainrule.plots.canvas import (
    AXIS_COLORS,
    JOINT_COLOR,
    LINK_COLOR,
    SCREW_COLOR,
    new_figure,
    save_figure,
    set_equal_scale,
    show_plainly,
    view_from_above,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

ELLIPSOID_COLORS = {"velocity": "#2e6fdb", "force": "#d1495b", "acceleration": "#7b4fc9"}


def plot(
    robot: Mechanism,
    q: ArrayLike,
    path: str | PathLike[str] | None = None,
    *,
    link: str | None = None,
    frames: bool = True,
    screws: bool = True,
    ellipsoids: Sequence[str] = (),
) -> Figure:
    """Plot of the robot in a posture, or in several, with link frames and screw axes.

    Parameters
    ----------
    q
        One posture (nq,), or several (k, nq), the later the darker.
    path
        A .png, .pdf or .svg file to write.
    link
        The link or frame of the ellipsoids; the end-effector unless one is named.
    frames
        Whether the frames of all links are drawn, in the last posture.
    screws
        Whether the screw axes of the joints are drawn, in the last posture.
    ellipsoids
        Any of "velocity", "force" and "acceleration", drawn at the link in the last posture.

    Returns
    -------
    Figure
        A figure of Matplotlib.
    """
    states = robot.read_joints(q, "position", "plot: q")
    warn_of_degrees(robot, states, "plot")
    if states.ndim > 2 or not states.size:
        raise ShapeError(f"plot: q must be one posture or a list of them, got shape {states.shape}")
    states = np.atleast_2d(states)
    kinds = [one_of(KINDS, kind, "kind of ellipsoid") for kind in as_list(ellipsoids, "plot: ellipsoids")]
    with_frames, with_screws = flag(frames, "plot: frames"), flag(screws, "plot: screws")
    figure = new_figure(8, 7, path)
    axes = figure.add_subplot(projection="3d", proj_type="persp")
    link_poses = poses(robot, states)
    tips = _tips(robot, states)
    points = [link_poses[..., :3, 3].reshape(-1, 3), tips.reshape(-1, 3)]
    size = max(float(np.ptp(np.concatenate(points), axis=0).max()), 1e-3)
    for k, (at, tip) in enumerate(zip(link_poses, tips, strict=True)):
        _links(axes, robot, at, tip, 0.25 + 0.75 * (k + 1) / len(states))
    last, final = link_poses[-1], states[-1]
    if with_frames:
        for T in [*last, pose(robot, final, link)]:
            _triad(axes, T, 0.07 * size)
    if with_screws:
        points += _screws(axes, robot, last, 0.16 * size)
    for kind in kinds:
        ellipsoid = manipulability_ellipsoid(robot, final, kind, link=link)
        points.append(_ellipsoid(axes, ellipsoid, pose(robot, final, link), size))
    set_equal_scale(axes, np.concatenate(points))
    axes.view_init(elev=22, azim=-58)
    if np.ptp(np.concatenate([link_poses[..., 2, 3].reshape(-1), tips[..., 2].reshape(-1)])) < 1e-9 * size:
        view_from_above(axes)
    show_plainly(axes.set_title("", color=LINK_COLOR, fontweight="bold"), robot.name)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", frameon=False)
    return save_figure(figure, path)


def _tips(robot: Mechanism, states: Array) -> Array:
    """Positions of the named frames, to be joined to their links: (k, frames, 3)."""
    places = [pose(robot, states, frame.name)[:, :3, 3] for frame in robot.model.frames]
    return np.stack(places, axis=1) if places else np.zeros((len(states), 0, 3))


def _links(axes: Any, robot: Mechanism, poses: Array, tips: Array, strength: float) -> None:
    bones = [(poses[body.parent, :3, 3], poses[body.index, :3, 3]) for body in robot.model.bodies]
    for frame, tip in zip(robot.model.frames, tips, strict=True):
        bones.append((poses[robot.model.index_of[frame.link], :3, 3], tip))
    for a, b in bones:
        axes.plot(*np.stack([a, b]).T, color=LINK_COLOR, linewidth=4, solid_capstyle="round", alpha=strength)
    moving = [body.index for body in robot.model.bodies if body.joint.kind.nv]
    joints = poses[moving, :3, 3]
    axes.scatter(*joints.T, s=46, color=JOINT_COLOR, edgecolor=LINK_COLOR, alpha=strength, depthshade=False, zorder=5)
    axes.scatter(*poses[0, :3, 3], s=120, marker="s", color=LINK_COLOR, alpha=strength, depthshade=False)


def _triad(axes: Any, T: Array, length: float) -> None:
    for i, color in enumerate(AXIS_COLORS.values()):
        ends = np.stack([T[:3, 3], T[:3, 3] + length * T[:3, i]])
        axes.plot(*ends.T, color=color, linewidth=1.8)


def _screws(axes: Any, robot: Mechanism, poses: Array, half: float) -> list[Array]:
    """Draw the axis of each joint of one degree of freedom: dashed where it rotates, dotted where it slides."""
    drawn, labels = [], {"turns": "axis of turning", "slides": "axis of sliding"}
    for body in robot.model.bodies:
        S = body.joint.kind.columns(body.joint.kind.neutral()) if body.joint.kind.nv == 1 else ()
        for screw in S:
            w, v = (np.array([float(x) for x in part]) for part in (screw.angular, screw.linear))
            turns = bool(w.any())
            direction = w if turns else v
            point = np.cross(w, v) / (w @ w) if turns else np.zeros(3)
            R, p = poses[body.index, :3, :3], poses[body.index, :3, 3]
            along = R @ direction / np.linalg.norm(direction)
            ends = p + R @ point + np.outer([-half, half], along)
            label = labels.pop("turns" if turns else "slides", None)
            axes.plot(*ends.T, color=SCREW_COLOR, linewidth=1.4, linestyle="--" if turns else ":", label=label)
            drawn.append(ends)
    return drawn


def _ellipsoid(axes: Any, ellipsoid: Ellipsoid, T: Array, size: float) -> Array:
    """Draw an ellipsoid at the tip, its longest axis a fifth of the robot; axes of infinite length are left out."""
    finite = np.where(np.isfinite(ellipsoid.lengths), ellipsoid.lengths, 0.0)
    longest = float(finite.max())
    lengths = 0.2 * size / longest * finite if longest else finite
    net = Ellipsoid(ellipsoid.kind, ellipsoid.part, ellipsoid.axes, lengths).points() + T[:3, 3]
    unit = {"velocity": "m/s", "force": "N", "acceleration": "m/s²"}[ellipsoid.kind]
    color = ELLIPSOID_COLORS[ellipsoid.kind]
    axes.plot_surface(*np.moveaxis(net, -1, 0), color=color, alpha=0.22, linewidth=0, antialiased=True)
    for length, axis in zip(lengths, ellipsoid.axes.T, strict=True):
        ends = T[:3, 3] + np.outer([-length, length], axis)
        axes.plot(*ends.T, color=color, linewidth=1.2)
    given = "|qd|" if ellipsoid.kind == "velocity" else "|tau|"
    label = f"{ellipsoid.kind} for {given} = 1: up to {longest:.3g} {unit}"
    axes.plot([], [], [], color=color, linewidth=5, alpha=0.5, label=label)
    return net.reshape(-1, 3)
