"""A robot in one posture, as figures need it: its skeleton, where it is, its names, and how it is seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.algorithms.kinematics import poses_of
from chainrule.arguments import Array, refuse_nonfinite
from chainrule.core.derived import backend_of, merged_model
from chainrule.core.mechanism import Mechanism
from chainrule.core.plausibility import warn_of_degrees
from chainrule.core.reading import read_argument
from chainrule.errors import ShapeError
from chainrule.figures.names import FigureNames
from chainrule.figures.view import Projection, across, best_view
from chainrule.kinematics.configurations import home
from chainrule.model import Body
from chainrule.shapes.parts import up_direction
from chainrule.shapes.skeleton import JointPlace, Skeleton, at, place, skeleton
from chainrule.symbolic.closed_form.choices import Choices

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class Posture:
    """A robot without fixed joints at q, its links numbered as in its equations, the base 0."""

    robot: Mechanism
    q: Array
    T: Array
    """The poses of all links in the base: (links, 4, 4)."""
    bones: Skeleton
    names: FigureNames
    view: Projection

    @staticmethod
    def of(
        robot: Mechanism, caller: str, q: ArrayLike | None, symbols: Mapping[Any, Any] | Choices | None = None
    ) -> Posture:
        """The posture at one configuration; that at home if none is given."""
        merged = Mechanism(merged_model(robot), backend_of(robot))
        state = home(robot) if q is None else one_state(robot, caller, "q", q)
        if q is not None:
            warn_of_degrees(robot, state, caller)
        T = poses_of(merged.model.at(state.tolist()))
        poses = np.array([X.rows() for X in T], dtype=float)
        bones = skeleton(merged)
        return Posture(merged, state, poses, bones, FigureNames.of(merged.model, symbols), _view(merged, bones, poses))

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The moving links with their joints, body i moving link i."""
        return tuple(self.robot.model.bodies)

    @property
    def tips(self) -> tuple[str, ...]:
        """The end-effector, or all tips where none is named."""
        model = self.robot.model
        return model.tips if model.end_effector is None else (model.end_effector,)

    def joints(self) -> Iterator[tuple[JointPlace, Body]]:
        """The joints that are drawn, with their bodies."""
        bodies = {body.index: body for body in self.bodies}
        for joint in self.bones.joints:
            yield joint, bodies[joint.child]

    def joint_point(self, joint: JointPlace) -> Array:
        """The place of what is drawn of a joint, in the base."""
        link, point = joint.symbol
        return at(self.T[link], point)

    def axis(self, joint: JointPlace) -> Array | None:
        """The axis of a joint in the base, a unit vector."""
        return None if joint.axis is None else np.asarray(self.T[joint.child, :3, :3] @ joint.axis)

    def com(self, k: int) -> Array:
        """The center of mass of a link, in the base."""
        return at(self.T[k], np.array([float(x) for x in self.robot.model.links[k].com]))

    def pose(self, name: str) -> Array:
        """The pose of a link or frame in the base."""
        k, offset = self.robot.model.locate(name)
        return np.asarray(self.T[k] @ np.array(offset.rows(), dtype=float))

    def has_mass(self, k: int) -> bool:
        """Whether a link has mass."""
        return float(self.robot.model.links[k].mass) > 0


def one_state(robot: Mechanism, caller: str, name: str, value: ArrayLike) -> Array:
    """One state of finite numbers."""
    array = read_argument(robot, caller, name, value)
    if array.ndim != 1:
        raise ShapeError(
            f"{caller}: {name} must be one state ({array.shape[-1]},) of a figure, got shape {array.shape}"
        )
    refuse_nonfinite(array, f"{caller}: {name}")
    return array


def _view(robot: Mechanism, bones: Skeleton, T: Array) -> Projection:
    """Across the plane of a planar robot, else one in which axes do not coincide; fitted to the paper."""
    model = robot.model
    masses = [
        at(T[k], np.array([float(x) for x in link.com])) for k, link in enumerate(model.links) if float(link.mass) > 0
    ]
    points = np.concatenate([bones.points_at(T), np.array(masses).reshape(-1, 3)])
    if bones.normal is not None and np.ptp(points[:, bones.normal]) <= 1e-6 * bones.reach:
        view = across(bones.normal)
    else:
        axes = [T[joint.child, :3, :3] @ joint.axis for joint in bones.joints if joint.axis is not None]
        segments = np.array([ends for _, ends in bones.segments_at(T)]).reshape(-1, 2, 3)
        ways = [b - a for a, b in segments]
        directions = _different(np.array([*np.eye(3), *axes, *(w / np.linalg.norm(w) for w in ways if w.any())]))
        places = np.array([at(T[j.symbol[0]], j.symbol[1]) for j in bones.joints] or [np.zeros(3)])
        view = best_view(up_direction(robot), directions, _apart(places, bones.reach), segments)
    size = 0.08 * bones.reach
    return view.fit(np.concatenate([points, place(T[0], size * np.array([[-1.0, -1, -1], [1, 1, 1]]))]))


def _different(directions: Array) -> Array:
    """Directions of which no two are parallel."""
    kept: list[Array] = []
    for direction in directions:
        if all(np.linalg.norm(np.cross(direction, other)) > 0.05 for other in kept):
            kept.append(direction)
    return np.array(kept)


def _apart(points: Array, reach: float) -> Array:
    """Points of which no two are at one place."""
    kept: list[Array] = []
    for point in points:
        if all(np.linalg.norm(point - other) > 1e-3 * reach for other in kept):
            kept.append(point)
    return np.array(kept)
