"""A robot in a posture: its links, joints and frames, screw axes, and ellipsoids at the tip."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, rows_of
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.kinematics.ellipsoids import KINDS, Ellipsoid
from chainrule.plots.canvas import (
    COLOURS,
    JOINT,
    LINK,
    SOFT,
    blank,
    finished,
    from_above,
    same_scale,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chainrule.robot.robot import Robot

SHADES = {"velocity": "#2e6fdb", "force": "#d1495b", "acceleration": "#7b4fc9"}


def figure(
    robot: Robot,
    q: Any,
    path: str | PathLike[str] | None,
    *,
    link: str | None,
    frames: bool,
    screws: bool,
    ellipsoids: Sequence[str],
) -> Figure:
    """One posture, or several (k, nq), the later the darker; frames, screws and ellipsoids are of the last."""
    states = rows_of(q, robot.nq, "plot: q", "a number for each coordinate")
    if states.ndim > 2 or not states.size:
        raise ShapeError(f"plot: q must be one posture or a list of them, got shape {states.shape}")
    states = np.atleast_2d(states)
    for kind in ellipsoids:
        if kind not in KINDS:
            raise UnknownNameError.of("kind of ellipsoid", kind, KINDS, "chainrule")
    drawn = blank(8, 7, path)
    axes = drawn.add_subplot(projection="3d", proj_type="persp")
    poses = robot.poses(states)
    tips = _tips(robot, states)
    shown = [poses[..., :3, 3].reshape(-1, 3), tips.reshape(-1, 3)]
    size = max(float(np.ptp(np.concatenate(shown), axis=0).max()), 1e-3)
    for k, (at, tip) in enumerate(zip(poses, tips, strict=True)):
        _links(axes, robot, at, tip, 0.25 + 0.75 * (k + 1) / len(states))
    last, q = poses[-1], states[-1]
    if frames:
        for T in [*last, robot.pose(q, robot._name(link))]:
            _triad(axes, T, 0.07 * size)
    if screws:
        shown += _screws(axes, robot, last, 0.16 * size)
    for kind in ellipsoids:
        shown.append(_ellipsoid(axes, robot.manipulability_ellipsoid(q, kind, link=link), robot.pose(q, link), size))
    same_scale(axes, np.concatenate(shown))
    axes.view_init(elev=22, azim=-58)
    if np.ptp(np.concatenate([poses[..., 2, 3].reshape(-1), tips[..., 2].reshape(-1)])) < 1e-9 * size:
        from_above(axes)
    axes.set_title(robot.name, color=LINK, fontweight="bold")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", frameon=False)
    return finished(drawn, path)


def _tips(robot: Robot, states: Array) -> Array:
    """Places of the named frames, to be joined to their links: (k, frames, 3)."""
    places = [robot.pose(states, frame.name)[:, :3, 3] for frame in robot.model.frames]
    return np.stack(places, axis=1) if places else np.zeros((len(states), 0, 3))


def _links(axes: Any, robot: Robot, poses: Array, tips: Array, strength: float) -> None:
    bones = [(poses[body.parent, :3, 3], poses[body.index, :3, 3]) for body in robot.model.bodies]
    for frame, tip in zip(robot.model.frames, tips, strict=True):
        bones.append((poses[robot.model.index_of[frame.link], :3, 3], tip))
    for a, b in bones:
        axes.plot(*np.stack([a, b]).T, color=LINK, linewidth=4, solid_capstyle="round", alpha=strength)
    moving = [body.index for body in robot.model.bodies if body.joint.kind.nv]
    joints = poses[moving, :3, 3]
    axes.scatter(*joints.T, s=46, color=JOINT, edgecolor=LINK, alpha=strength, depthshade=False, zorder=5)
    axes.scatter(*poses[0, :3, 3], s=120, marker="s", color=LINK, alpha=strength, depthshade=False)


def _triad(axes: Any, T: Array, length: float) -> None:
    for i, colour in enumerate(COLOURS.values()):
        ends = np.stack([T[:3, 3], T[:3, 3] + length * T[:3, i]])
        axes.plot(*ends.T, color=colour, linewidth=1.8)


def _screws(axes: Any, robot: Robot, poses: Array, half: float) -> list[Array]:
    """The axis of each joint of one degree of freedom: dashed where it turns, dotted where it slides."""
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
            axes.plot(*ends.T, color=SOFT, linewidth=1.4, linestyle="--" if turns else ":", label=label)
            drawn.append(ends)
    return drawn


def _ellipsoid(axes: Any, ellipsoid: Ellipsoid, T: Array, size: float) -> Array:
    """At the tip, its longest axis a fifth of the robot, axes without end left out; the legend has the scale."""
    finite = np.where(np.isfinite(ellipsoid.lengths), ellipsoid.lengths, 0.0)
    longest = float(finite.max())
    lengths = 0.2 * size / longest * finite if longest else finite
    net = Ellipsoid(ellipsoid.kind, ellipsoid.part, ellipsoid.axes, lengths).points() + T[:3, 3]
    unit = {"velocity": "m/s", "force": "N", "acceleration": "m/s²"}[ellipsoid.kind]
    colour = SHADES[ellipsoid.kind]
    axes.plot_surface(*np.moveaxis(net, -1, 0), color=colour, alpha=0.22, linewidth=0, antialiased=True)
    for length, axis in zip(lengths, ellipsoid.axes.T, strict=True):
        ends = T[:3, 3] + np.outer([-length, length], axis)
        axes.plot(*ends.T, color=colour, linewidth=1.2)
    given = "|qd|" if ellipsoid.kind == "velocity" else "|tau|"
    label = f"{ellipsoid.kind} for {given} = 1: up to {longest:.3g} {unit}"
    axes.plot([], [], [], color=colour, linewidth=5, alpha=0.5, label=label)
    return net.reshape(-1, 3)
