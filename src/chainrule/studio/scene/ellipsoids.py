"""Ellipsoids of what the end-effector can do, as scaled balls, and the directions that it loses near singularities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainrule.arguments import Array
from chainrule.kinematics.ellipsoids import ManipulabilityEllipsoid
from chainrule.kinematics.tasks import task_of
from chainrule.robot.robot import Robot
from chainrule.studio.scene.nodes import quaternions

NEAR = 0.05
"""The ratio of the smallest to the largest singular value below which a warning is given."""

SINGULAR = 1e-6
"""The ratio from which on a direction counts as lost, as of robot.is_singular."""

MAX_JOINTS = 9
"""Joints up to which those that have lined up are looked for at every update."""

FLATTEST = 0.012
"""The least thickness of an ellipsoid that is drawn, as a part of its largest semi-axis."""


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball of radius 1 turned and scaled to an ellipsoid."""

    quaternion: Array
    """(4,), w first."""
    scale: Array
    """(3,): semi-axes, in m."""


def ball_of(ellipsoid: ManipulabilityEllipsoid, length_of_unit: float, longest: float) -> Ball:
    """An ellipsoid as a scaled ball: 1 m/s, 1 N or 1 m/s^2 is drawn `length_of_unit` m long, at most `longest` m.

    Axes that have no extent stay visible as a thin disk.
    """
    R = np.array(ellipsoid.axes, dtype=float)
    R[:, 2] *= np.sign(np.linalg.det(R)) or 1.0
    lengths = np.minimum(ellipsoid.lengths * length_of_unit, longest)
    return Ball(quaternions(R), np.maximum(lengths, FLATTEST * max(float(lengths.max()), 1e-9)))


@dataclass(frozen=True, eq=False)
class Closeness:
    """The distance of a frame from a singularity, and the motion that it loses there."""

    ratio: float
    """The smallest singular value over the largest, of the directions that it has elsewhere."""
    lost: Array
    """(k, 6): unit twists (omega, v) in base axes that are lost, or the one that nearly is; none when far away."""
    joints: tuple[str, ...]
    """The joints that have lined up, where they were looked for."""

    @property
    def is_near(self) -> bool:
        """Whether there is something to warn of."""
        return self.ratio < NEAR

    @property
    def is_singular(self) -> bool:
        """Whether a direction is lost altogether."""
        return self.ratio <= SINGULAR


def closeness(robot: Robot, q: Array, link: str | None = None) -> Closeness:
    """The closeness of a link or frame to a singularity at q."""
    rank = robot.analysis.task_rank(link)
    values = robot.singular_values(q, link)
    ratio = float(values[rank - 1] / values[0]) if values[0] > 0 else 0.0
    if not ratio < NEAR:
        return Closeness(ratio, np.zeros((0, 6)), ())
    if robot.nv <= MAX_JOINTS and not robot.model.constraints:
        found = robot.analysis.singularity(q, link, tolerance=max(ratio * (1 + 1e-9), SINGULAR))
        return Closeness(ratio, found.lost, found.joints)
    return Closeness(ratio, _weakest(robot, q, link)[None], ())


def _weakest(robot: Robot, q: Array, link: str | None) -> Array:
    """The unit twist (6,) that takes the most joint velocity, of those that the link can have elsewhere."""
    task = task_of(robot, link)
    ellipsoid = robot.analysis.ellipsoid(q, link, task="pose")
    squares = (ellipsoid.axes * ellipsoid.lengths**2) @ ellipsoid.axes.T
    rows = list(task.rows)
    _, axes = np.linalg.eigh(squares[np.ix_(rows, rows)])
    twist = np.zeros(6)
    twist[rows] = axes[:, len(rows) - task.rank]
    return twist


def in_words(twist: Array) -> str:
    """A unit twist (omega, v) in base axes, in words.

    >>> in_words(np.array([0.0, 0, 0, 1, 0, 0])), in_words(np.array([0.0, 0, 1, 0, 0, 0]))
    ('moving along x', 'turning about z')
    >>> in_words(np.array([0.0, 0, 0, 0.6, 0, -0.8]))
    'moving along (0.60, 0.00, -0.80)'
    """
    omega, v = twist[:3], twist[3:]
    turning, moving = float(np.linalg.norm(omega)), float(np.linalg.norm(v))
    words = []
    if moving > 0.05 * turning:
        words.append(f"moving along {_direction(v / moving)}")
    if turning > 0.05 * moving:
        words.append(f"turning about {_direction(omega / turning)}")
    return " while ".join(words)


def _direction(d: Array) -> str:
    axis = int(np.abs(d).argmax())
    if abs(d[axis]) > 0.9995:
        return "xyz"[axis]
    return "(" + ", ".join(f"{x + 0.0:.2f}" for x in np.where(np.abs(d) < 0.005, 0.0, d)) + ")"


def warning(near: Closeness) -> list[str]:
    """A warning, sentence by sentence; none when far from singularities."""
    if not near.is_near:
        return []
    lost = " and ".join(in_words(twist) for twist in near.lost)
    if near.is_singular:
        said = [f"Singular: no joint motion gives {lost}."]
    else:
        said = [
            f"Near a singularity: {lost} takes {1 / near.ratio:.0f} times the joint speed of the easiest direction."
        ]
    if near.joints:
        said.append(f"Lined up: {', '.join(near.joints)}.")
    return said


def lost_arrows(near: Closeness, at: Array, length: float) -> Array:
    """Arrows both ways along the directions that a point loses, or about which it cannot turn: (k, 2, 3)."""
    found: list[Array] = []
    for twist in near.lost:
        part = max((twist[3:], twist[:3]), key=lambda x: float(np.linalg.norm(x)))
        step = length * part / np.linalg.norm(part)
        found += [np.stack([at + 0.15 * side * step, at + side * step]) for side in (1, -1)]
    return np.array(found).reshape(-1, 2, 3)
