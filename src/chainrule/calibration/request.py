"""What calibration is asked for, read and checked: configurations, measurements, names, and where the search begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chainrule.arguments import Array, names, one_of, placement, rows_of
from chainrule.calibration.hand_eye import inverse, nearest_rotation, read_poses, refuse_nonfinite_rows, turns
from chainrule.calibration.measurements import BASE, FIXTURES, Guess, Measurements
from chainrule.control.requirements import known_robot
from chainrule.core.mechanism import Mechanism
from chainrule.core.plausibility import degrees_hint
from chainrule.core.reading import find_link, read_joints, read_state
from chainrule.errors import ModelError, ShapeError, quoted
from chainrule.model.parameters import KINDS, find_parameters

ALL = "all"
TASKS = ("pose", "position", "orientation")
OTHER_UNIT = 20.0
"""Positions that spread by so many times more or less than the robot's own are in another unit."""
OTHER_FRAME, FAR_M = 5.0, 5e-3
"""Errors so many times larger than after a common motion of all points, and larger than so many m."""
OTHER_ORIENTATION_RAD = 0.3
"""Orientations that are off by so much (median) after the fit are not those of the link."""


def request(
    robot: Any, q: Any, measured: Any, parameters: Any, link: Any, task: Any, touching: Any
) -> tuple[Measurements, tuple[str, ...]]:
    """The measurements, and the names of the parameters that were asked for one by one."""
    known_robot(robot, "calibrate", masses=False)
    if robot.model.constraints:
        raise ModelError(
            f"calibrate: robot {robot.name!r} has closed loops, which other lengths would open; calibrate a robot of "
            "its open chains"
        )
    states = _configurations(robot, q)
    links = tuple(
        find_link(robot, x) for x in ([link] if link is None or isinstance(link, str) else names(link, "link"))
    )
    chosen = one_of(FIXTURES, touching, "fixture", "calibrate: touching") if touching is not None else None
    references, what = _references(measured, task, chosen, len(states), len(links))
    asked = _names(parameters)
    wanted = [name for word in asked for name in (_poses_on_the_way(robot, links) if word == ALL else [word])]
    found = find_parameters(robot.model, tuple(name for name in wanted if name != BASE))
    for parameter in found:
        if not parameter.kind.moves:
            raise ShapeError(
                f"calibrate: {parameter.full_name!r} moves no link; what poses tell is "
                f"{quoted(kind.form for kind in KINDS.values() if kind.moves)} and "
                "'base'. Torques tell masses and friction: cr.identify"
            )
    if chosen and BASE in wanted:
        raise ShapeError("calibrate: 'base' has no meaning where nothing is measured from outside; leave it out")
    full = tuple(parameter.full_name for parameter in found)
    counts = tuple(len(parameter.labels) for parameter in found)
    data = Measurements(robot, states, links, references, what, chosen, full, counts)
    _refuse_other_units(data)
    return data, tuple(name for name in asked if name != ALL)


def _configurations(robot: Mechanism, q: Any) -> Array:
    given = np.atleast_2d(read_joints(robot, q, "position", "calibrate: q").astype(float))
    if given.ndim != 2:
        raise ShapeError(f"calibrate: q must be configurations (k, {robot.nq}), got shape {given.shape}")
    refuse_nonfinite_rows(given, "calibrate: q")
    (states,) = read_state(robot, "calibrate", q=given)
    hint = degrees_hint(robot.model.layout, states)
    if hint:
        raise ShapeError(f"calibrate: {hint}")
    return np.asarray(states, dtype=float)


def _references(measured: Any, task: Any, touching: str | None, k: int, links: int) -> tuple[Array | None, str]:
    """Measured poses (k, links, 4, 4), a point being at the origin of one; and what counts of them."""
    if (measured is None) == (touching is None):
        raise ShapeError(
            'calibrate: give either measured=..., or touching="point", "plane" or "pose", what the tip is at'
        )
    if touching is not None:
        if task is not None:
            raise ShapeError("calibrate: task belongs to measured poses; touching says what counts of the tip's own")
        return None, "position" if touching == "point" else touching
    what = "calibrate: measured"
    points = _as_points(measured, what, links)
    T = points if points is not None else read_poses(measured, what)[:, None]
    if points is None and links != 1:
        raise ShapeError(f"{what}: several links are measured as points (k, links, 3), and poses are of one link")
    if len(T) != k:
        raise ShapeError(f"{what} has {len(T)} rows and q has {k}; give one configuration for each measurement")
    chosen = one_of(TASKS, task, "task", "calibrate") if task is not None else "pose"
    if points is not None and chosen == "orientation":
        raise ShapeError("calibrate: points have no orientation; leave out task, or give poses (k, 4, 4)")
    return T, "position" if points is not None else chosen


def _as_points(measured: Any, what: str, links: int) -> Array | None:
    """Points (k, links, 3) as poses; None where poses are given."""
    try:
        shape = np.shape(measured)
    except Exception:
        return None
    if len(shape) < 2 or shape[-2:] == (4, 4) or (len(shape) == 2 and shape[0] == 2 and shape[1] != 3):
        return None
    array = rows_of(measured, 3, what, "x, y, z of a point, or poses (k, 4, 4)", "m").astype(float)
    refuse_nonfinite_rows(array, what)
    if links == 1 and array.ndim == 2:
        array = array[:, None]
    if array.ndim != 3 or array.shape[1] != links:
        raise ShapeError(f"{what} must be points (k, {links}, 3), one for each of the links, got shape {array.shape}")
    T = np.tile(np.eye(4), (*array.shape[:2], 1, 1))
    T[..., :3, 3] = array
    return T


def _names(parameters: Any) -> tuple[str, ...]:
    words = (parameters,) if isinstance(parameters, str) else names(parameters, "calibrate: parameters")
    if not words:
        raise ShapeError(
            "calibrate: parameters names none; give some, such as ['joint2.offset', 'tool.origin', 'base']"
        )
    return words


def _poses_on_the_way(robot: Mechanism, links: Sequence[str]) -> list[str]:
    """Places and turns of the links, and of each joint that moves one of them."""
    model = robot.model
    frames = {frame.name: frame.link for frame in model.frames}
    above = {joint.child: joint for joint in model.joints}
    on_the_way = set()
    for link in links:
        at = frames.get(link, link)
        while at in above:
            on_the_way.add(above[at].name)
            at = above[at].parent
    moving = [joint.name for joint in model.joints if joint.name in on_the_way and joint.dofs]
    ends = [link if link in frames else above[link].name for link in links if link in frames or link in above]
    parts = dict.fromkeys([*ends, *moving])
    return [f"{name}.{kind}" for name in parts for kind in ("origin", "turn")]


def first_guess(data: Measurements, base: Any, opens_base: bool) -> Guess:
    """The robot's own numbers, and its base: as given, or where its poses are nearest to the measured ones."""
    T = data.poses(data.own).reshape(-1, 4, 4)
    given = np.array(placement(base, "calibrate: base").rows(), dtype=float)
    if data.references is None:
        return Guess(data.own, given, _fixture(T, data.touching))
    if base is None and opens_base:
        given = common_motion(T, data.references.reshape(-1, 4, 4), data.task)
    return Guess(data.own, given, np.eye(4))


def _fixture(T: Array, touching: str | None) -> Array:
    """What the tip touches: the first pose, at the middle of the points, or with z across the plane of the points."""
    Z = T[0].copy()
    Z[:3, 3] = T[:, :3, 3].mean(axis=0)
    if touching == "plane":
        _, _, Vt = np.linalg.svd(T[:, :3, 3] - Z[:3, 3])
        Z[:3, :3] = np.stack([Vt[0], Vt[1], np.cross(Vt[0], Vt[1])], axis=1)
    return Z


def common_motion(T: Array, references: Array, task: str) -> Array:
    """The transform that brings poses nearest to measured ones; those that do not fit count less."""
    found, weights = np.eye(4), np.ones(len(T))
    points, measured = T[:, :3, 3], references[:, :3, 3]
    for _ in range(10):
        share = weights / weights.sum()
        a, b = share @ points, share @ measured
        M = (measured - b).T @ (share[:, None] * (points - a))
        if task != "position":
            M = np.einsum("k,kij,klj->il", share, references[:, :3, :3], T[:, :3, :3])
        found[:3, :3] = nearest_rotation(M)
        found[:3, 3] = b - found[:3, :3] @ a
        distance = np.linalg.norm(points @ found[:3, :3].T + found[:3, 3] - measured, axis=1)
        weights = 1 / np.maximum(distance, max(float(np.median(distance)), 1e-12))
    return found


def refuse_too_few(data: Measurements, unknown: int) -> None:
    """Raise where there are not more numbers measured than looked for."""
    rows = len(data.links) * len(data.kinds)
    if rows * len(data.q) <= unknown:
        raise ShapeError(
            f"calibrate: {len(data.q)} postures give {rows * len(data.q)} numbers, and no fewer are looked for"
            f"{f', with the place of the {data.touching}' if data.touching else ''}; measure in "
            f"{2 * unknown // rows + 1} postures or more, or name fewer parameters"
        )


def _refuse_other_units(data: Measurements) -> None:
    """Raise where measured positions spread as no positions of this robot do."""
    if data.references is None or data.task == "orientation" or len(data.q) < 2:
        return
    spread, expected = (
        float(np.median(np.linalg.norm(p - np.median(p, axis=0), axis=1)))
        for p in (data.references[:, 0, :3, 3], data.poses(data.own)[:, 0, :3, 3])
    )
    if expected > 0 and not expected / OTHER_UNIT < spread < expected * OTHER_UNIT and max(spread, expected) > FAR_M:
        unit = " They look like mm: divide by 1000." if 200 < spread / expected < 5000 else ""
        raise ShapeError(
            f"calibrate: measured positions spread by {spread:.3g} m, and those of {data.links[0]!r} in these "
            f"configurations by {expected:.3g} m.{unit or ' Are they in m, of this link, and in the order of q?'}"
        )


def refuse_other_frames(data: Measurements, x: Guess, residuals: Array, opens_base: bool) -> None:
    """Raise where the fit says that the measurements are of another frame, or in one."""
    if data.references is None:
        return
    Z, T = data.references.reshape(-1, 4, 4), data.poses(x.values).reshape(-1, 4, 4)
    if data.task != "orientation" and not opens_base and len(T) > 3:
        own = data.poses(data.own).reshape(-1, 4, 4)
        moved, placed = common_motion(own, Z, data.task) @ own, x.base @ T
        left, now = (float(np.median(np.linalg.norm(P[:, :3, 3] - Z[:, :3, 3], axis=1))) for P in (moved, placed))
        if now > FAR_M and now > OTHER_FRAME * left:
            raise ShapeError(
                f"calibrate: positions are off by {now:.3g} m (median) with these parameters, and by {left:.3g} m "
                "where the base may be elsewhere: they seem to be measured in another frame than the robot's base; add "
                "'base' to parameters, or give its pose there, base=..."
            )
    if data.task == "position":
        return
    off = float(np.median(np.linalg.norm(turns(inverse(Z)[:, :3, :3] @ x.base[:3, :3] @ T[:, :3, :3]), axis=1)))
    if off > OTHER_ORIENTATION_RAD:
        swapped = np.swapaxes(Z[:, :3, :3], -1, -2)
        turned = nearest_rotation(np.mean(swapped @ np.swapaxes(T[:, :3, :3], -1, -2), axis=0)) @ T[:, :3, :3]
        less = float(np.median(np.linalg.norm(turns(np.swapaxes(swapped, -1, -2) @ turned), axis=1)))
        raise ShapeError(
            f"calibrate: orientations are off by {off:.2g} rad (median) after the fit; "
            + (
                "the measured rotations are transposed"
                if less < off / 5
                else "are they of this link, in the order of q, and q in radians?"
            )
            + " (task='position' leaves them out)"
        )
