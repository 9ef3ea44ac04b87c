"""Translucent copies of a robot, one for each motion that is compared with the one shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.kinematics.poses import poses as link_poses
from chainrule.simulation.trajectory import Trajectory
from chainrule.studio.scene.appearance import Color
from chainrule.studio.scene.robot import DrawnRobot

if TYPE_CHECKING:
    from viser import SceneApi

OPACITY = 0.35

COLORS: tuple[Color, ...] = (
    (230, 126, 34), (39, 174, 96), (155, 89, 182), (231, 76, 60), (22, 160, 133), (241, 196, 15), (52, 73, 94),
    (233, 30, 99), (121, 85, 72), (96, 125, 139), (139, 195, 74),
)  # fmt: skip

POSES_A_SECOND = 60.0
"""Poses that are kept of a second of each motion."""


def kept_poses(robot: Mechanism, motion: Trajectory) -> tuple[Array, Array]:
    """Times (T,) and poses of all links (T, links, 4, 4) of a motion, at most 60 in a second."""
    times = np.arange(motion.t[0], motion.t[-1], 1 / POSES_A_SECOND)
    places = np.unique(np.searchsorted(motion.t, [*times, motion.t[-1]]))
    return motion.t[places], np.asarray(link_poses(robot, motion.q[places]))


class Ghosts:
    """Robots that move along motions of their own, each in a color."""

    def __init__(self, scene: SceneApi, robot: Mechanism, motions: Sequence[Trajectory], name: str) -> None:
        self._poses = [kept_poses(robot, motion) for motion in motions]
        self._drawn = [
            DrawnRobot(scene, robot, f"{name}{k}", opacity=OPACITY, color=color(k)) for k in range(len(motions))
        ]
        for drawn in self._drawn:
            drawn.links[0].visible = False  # all stand on the same base

    def __len__(self) -> int:
        return len(self._drawn)

    def move(self, time: float) -> None:
        """Show the moment of each motion; before its start and after its end it stands still."""
        for drawn, (times, poses) in zip(self._drawn, self._poses, strict=True):
            k = int(np.clip(np.searchsorted(times, time + 1e-9) - 1, 0, len(times) - 1))
            drawn.move(poses[k])

    def remove(self) -> None:
        """Remove all of them from the scene."""
        for drawn in self._drawn:
            drawn.remove()
        self._drawn, self._poses = [], []


def color(k: int) -> Color:
    """The color of a ghost."""
    return COLORS[k % len(COLORS)]
