"""The skeleton of a robot: where its links are joined, and which of these points each link connects.

A link carries several points: the joint that moves it, the joints of its children, the ends of constraints, its frames.
Two are connected by a bar, three or more joints by a plate. So closed loops look closed, and a platform is a plate.
Positions are in m, in the frame of the link that carries them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.core.derived import remember
from chainrule.core.mechanism import Mechanism
from chainrule.model import Body, Model

LOOSE_KINDS = ("free", "planar")
"""Kinds of joints that tie a link to no place of its parent: there is nothing to draw between the two."""

SAME_PLACE = 1e-6
"""Points nearer than this part of the robot's reach are one."""


@dataclass(frozen=True)
class JointPlace:
    """The place of a joint: in its parent and in its child, which differ by the way that it has slid."""

    name: str
    parent: int
    child: int
    in_parent: Array
    in_child: Array
    axis: Array | None
    """Its axis in the child's frame; None for joints of several axes, and for those that do not move."""
    axis_in_parent: Array | None
    kind: str
    """"turns", "slides", "ball" or "fixed"."""
    first_v: int
    """The place of its first velocity in qd."""
    travel: tuple[float, float] | None = None
    """The limits of a slide, in m; None where it has none."""

    @property
    def symbol(self) -> tuple[int, Array]:
        """The link that carries what is drawn of it, and the point there: of a slide, the sleeve on the parent."""
        return (self.parent, self.in_parent) if self.kind == "slides" else (self.child, self.in_child)


@dataclass(frozen=True)
class TiePlace:
    """The two ends of a constraint, each on its link."""

    name: str
    kind: str
    link_a: int
    link_b: int
    in_a: Array
    in_b: Array


@dataclass(frozen=True)
class LinkPlaces:
    """The points of a link (k, 3), the bars between them, and the points of its plate, if it is one."""

    points: Array
    bars: tuple[tuple[int, int], ...]
    plate: tuple[int, ...]


@dataclass(frozen=True)
class Skeleton:
    """The joints, constraints and links of a robot, as they are drawn."""

    joints: tuple[JointPlace, ...]
    ties: tuple[TiePlace, ...]
    links: tuple[LinkPlaces, ...]
    reach: float
    """The longest way from the base along links and slides, in m; 1 for a robot of no size."""
    normal: int | None
    """The axis across which a planar robot never moves: 0, 1 or 2 for x, y or z; None for other robots."""

    def points_at(self, poses: Array) -> Array:
        """All points in the base frame, for poses (..., links, 4, 4): (..., points, 3)."""
        parts = [place(poses[..., k, :, :], link.points) for k, link in enumerate(self.links) if len(link.points)]
        parts += [place(poses[..., joint.parent, :, :], joint.in_parent[None]) for joint in self.joints]
        return np.concatenate(parts, axis=-2) if parts else place(poses[..., 0, :, :], np.zeros((1, 3)))

    def segments_at(self, poses: Array) -> list[tuple[str, Array]]:
        """The bars and the edges of plates in one posture, in the base frame: (kind, ends (2, 3)) for each."""
        found = []
        for k, link in enumerate(self.links):
            points = place(poses[k], link.points)
            found += [("bar", points[[a, b]]) for a, b in link.bars]
            found += [("plate", points[[a, b]]) for a, b in zip(link.plate, np.roll(link.plate, -1), strict=True)]
        for joint in self.joints:
            ends = self.slide_at(joint, poses)
            if joint.kind == "slides" and np.ptp(ends, axis=0).max() > 0:
                found.append(("slide", ends))
        for tie in self.ties:
            ends = self.tie_at(tie, poses)
            if tie.kind == "distance":
                found.append(("rod", ends))
            elif np.linalg.norm(ends[1] - ends[0]) > SAME_PLACE * self.reach:
                found.append(("gap", ends))
        return found

    def travels_at(self, poses: Array) -> list[Array]:
        """The ways that slides can go within their limits, in the base frame: (2, 3) each; none in closed loops."""
        found = []
        for joint in self.joints:
            if joint.travel is not None and joint.axis_in_parent is not None and not self.ties:
                ends = joint.in_parent + np.outer(joint.travel, joint.axis_in_parent)
                found.append(place(poses[joint.parent], ends))
        return found

    def slide_at(self, joint: JointPlace, poses: Array) -> Array:
        """The place of a joint in its parent and in its child, in the base frame: (2, 3)."""
        return np.stack([at(poses[joint.parent], joint.in_parent), at(poses[joint.child], joint.in_child)])

    def tie_at(self, tie: TiePlace, poses: Array) -> Array:
        """The ends of a constraint in the base frame: (2, 3); one place where its loop is closed."""
        return np.stack([at(poses[tie.link_a], tie.in_a), at(poses[tie.link_b], tie.in_b)])


def place(T: Array, points: Array) -> Array:
    """Points (k, 3) of a frame, in the frame that poses (..., 4, 4) are in: (..., k, 3)."""
    return np.asarray(points @ np.swapaxes(T[..., :3, :3], -1, -2) + T[..., None, :3, 3])


def at(T: Array, point: Array) -> Array:
    """One point of a frame, in the frame that its pose is in."""
    return np.asarray(T[:3, :3] @ point + T[:3, 3])


def skeleton(robot: Mechanism) -> Skeleton:
    """The skeleton of a robot, worked out once."""
    return remember(robot, "skeleton", lambda: _build(robot.model))


def _build(model: Model) -> Skeleton:
    joints = tuple(_joint_place(body) for body in model.bodies if body.joint.type not in LOOSE_KINDS)
    ties = tuple(_tie_places(model))
    reach = _reach(model, joints, ties)
    links = tuple(_link_places(model, k, joints, ties, reach) for k in range(len(model.links)))
    return Skeleton(joints, ties, links, reach, _normal(model, reach))


def _joint_place(body: Body) -> JointPlace:
    joint, kind = body.joint, body.joint.kind
    zero = np.array(kind.transform(kind.neutral()))
    origin = np.array(joint.origin) @ zero
    in_child: Array = np.linalg.inv(zero)[:3, 3].astype(float)
    axis, word = None, "ball" if kind.nv else "fixed"
    if kind.nv == 0:
        in_child = np.zeros(3)
    if kind.nv == 1:
        screw = kind.columns(kind.neutral())[0]
        w, v = (np.array([float(x) for x in part]) for part in (screw.angular, screw.linear))
        word = "turns" if w.any() else "slides"
        axis = (w if w.any() else v) / np.linalg.norm(w if w.any() else v)
        if w.any():  # the point of the axis nearest to the link's origin: of an axis off the frame, its foot
            in_child = np.asarray(np.cross(w, v) / (w @ w), dtype=float)
    outer = None if axis is None else origin[:3, :3] @ axis
    here = at(origin, in_child)
    travel = None
    if word == "slides" and joint.mimic is None:
        low, high = float(joint.dofs[0].lower), float(joint.dofs[0].upper)
        travel = (low, high) if np.isfinite([low, high]).all() and low < high else None
    return JointPlace(joint.name, body.parent, body.index, here, in_child, axis, outer, word, body.first_v, travel)


def _tie_places(model: Model) -> list[TiePlace]:
    found = []
    for constraint in model.constraints:
        ends = []
        sides = ((constraint.link_a, constraint.origin_a), (constraint.link_b, constraint.origin_b))
        for name, origin in sides:
            index, offset = model.locate(name)
            ends.append((index, (np.array(offset, dtype=float) @ np.array(origin, dtype=float))[:3, 3]))
        (a, in_a), (b, in_b) = ends
        found.append(TiePlace(constraint.name, constraint.kind, a, b, in_a, in_b))
    return found


def _reach(model: Model, joints: Sequence[JointPlace], ties: Sequence[TiePlace]) -> float:
    """The longest way from the base, along straight lines between the points of links and the ranges of slides."""
    by_child = {joint.child: joint for joint in joints}
    far = np.zeros(len(model.links))
    longest = 0.0
    for body in model.bodies:
        joint = by_child.get(body.index)
        start = np.zeros(3) if joint is None else joint.in_child
        if joint is not None:
            above = by_child.get(joint.parent)
            step = float(np.linalg.norm(joint.in_parent - (np.zeros(3) if above is None else above.in_child)))
            slid = 0.0 if joint.travel is None else max(map(abs, joint.travel))
            far[body.index] = far[joint.parent] + step + slid
        ends = [
            np.zeros(3),
            *(np.array(frame.origin)[:3, 3] for frame in model.frames if frame.link == body.link.name),
        ]
        ends += [tie.in_a for tie in ties if tie.link_a == body.index]
        ends += [tie.in_b for tie in ties if tie.link_b == body.index]
        ends.append(np.array([float(x) for x in body.link.com]))
        longest = max(longest, *(far[body.index] + float(np.linalg.norm(end - start)) for end in ends))
    return longest if 1e-9 < longest < 1e9 else 1.0


def _link_places(
    model: Model, k: int, joints: Sequence[JointPlace], ties: Sequence[TiePlace], reach: float
) -> LinkPlaces:
    """The points of a link: joints and constraints first, then frames; bars between them, or a plate."""
    hard = [joint.in_child for joint in joints if joint.child == k]
    hard += [joint.in_parent for joint in joints if joint.parent == k and joint.kind != "fixed"]
    hard += [tie.in_a for tie in ties if tie.link_a == k] + [tie.in_b for tie in ties if tie.link_b == k]
    soft = [joint.in_parent for joint in joints if joint.parent == k and joint.kind == "fixed"]
    link = model.links[k]
    is_leaf = not any(joint.parent == k for joint in joints)
    for frame in model.frames:
        if frame.link == link.name and (is_leaf or frame.name == model.end_effector):
            soft.append(np.array(frame.origin)[:3, 3])
    points = _distinct(hard, reach)
    joined = len(points)
    points = _distinct([*points, *soft], reach)
    if len(points) < 2:
        extra = [np.zeros(3)] if is_leaf or not k else []
        if k and is_leaf:  # nothing is beyond the last joint: show where its mass is
            extra.append(np.array([float(x) for x in link.com]))
        for point in extra:
            points = _distinct([*points, point], reach) if len(points) < 2 else points
    plate = _plate(np.array(points[:joined])) if joined >= 3 else ()
    bars = _bars(np.array(points), plate)
    return LinkPlaces(np.array(points).reshape(-1, 3), bars, plate)


def _distinct(points: Sequence[Array], reach: float) -> list[Array]:
    """The points, those at the place of an earlier one left out."""
    kept: list[Array] = []
    for point in points:
        if all(np.linalg.norm(point - other) > SAME_PLACE * reach for other in kept):
            kept.append(point)
    return kept


def _plate(points: Array) -> tuple[int, ...]:
    """The corners of the plate through the points, in order around it; none where they lie on a line or far off it."""
    centered = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(centered)
    if sizes[1] < 1e-3 * sizes[0]:
        return ()
    if len(sizes) > 2 and sizes[2] > 0.2 * sizes[0]:
        return ()
    return tuple(hull_2d(centered @ axes[:2].T))


def hull_2d(points: Array) -> list[int]:
    """The corners of the convex hull of points (k, 2), counter-clockwise (Andrew's monotone chain)."""
    order = np.lexsort((points[:, 1], points[:, 0])).tolist()
    rows: list[tuple[float, float]] = [tuple(row) for row in points.tolist()]

    def half(indices: Sequence[int]) -> list[int]:
        chain: list[int] = []
        for i in indices:
            while len(chain) > 1:
                (ax, ay), (bx, by), (cx, cy) = rows[chain[-2]], rows[chain[-1]], rows[i]
                if (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) > 0:
                    break
                chain.pop()
            chain.append(i)
        return chain[:-1]

    return [*half(order), *half(order[::-1])] if len(order) > 1 else order


def _bars(points: Array, plate: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """The shortest bars that join all points (Prim); those of a plate are joined by it."""
    if len(points) < 2:
        return ()
    if plate:
        inside = set(range(len(points))) if _all_within(points, plate) else set(plate)
    else:
        inside = {0}
    bars = []
    while len(inside) < len(points):
        outside = [i for i in range(len(points)) if i not in inside]
        pairs = [(float(np.linalg.norm(points[i] - points[j])), i, j) for i in sorted(inside) for j in outside]
        _, i, j = min(pairs)
        bars.append((i, j))
        inside.add(j)
    return tuple(bars)


def _all_within(points: Array, plate: Sequence[int]) -> bool:
    """Whether all points lie in the plane of a plate and inside of it, and need no bars."""
    centered = points - points[list(plate)].mean(axis=0)
    _, sizes, axes = np.linalg.svd(centered[list(plate)])
    if np.abs(centered @ axes[2]).max() > 0.05 * sizes[0]:
        return False
    flat = centered @ axes[:2].T
    return len(hull_2d(np.concatenate([flat[list(plate)], 0.999 * flat]))) <= len(plate)


def _normal(model: Model, reach: float) -> int | None:
    """The axis of the base across which nothing moves; None where joints turn or slide out of one plane."""
    axes: list[NDArray[Any]] = []
    slides: list[NDArray[Any]] = []
    T = [np.eye(4)]
    for body in model.bodies:
        kind = body.joint.kind
        T.append(T[body.parent] @ np.array(body.joint.origin, dtype=float) @ np.array(kind.transform(kind.neutral())))
        if kind.nv > 1:
            return None
        for screw in kind.columns(kind.neutral()):
            w, v = (np.array([float(x) for x in part]) for part in (screw.angular, screw.linear))
            (axes if w.any() else slides).append(T[-1][:3, :3] @ (w if w.any() else v))
    candidates = [
        k
        for k in range(3)
        if all(abs(abs(a[k]) - np.linalg.norm(a)) < 1e-9 for a in axes) and all(abs(a[k]) < 1e-9 for a in slides)
    ]
    if not candidates or (not axes and len(slides) < 2):
        candidates = candidates[1:2] if candidates else []  # one slide moves in many planes: take that of x and z
    return candidates[0] if candidates else None
