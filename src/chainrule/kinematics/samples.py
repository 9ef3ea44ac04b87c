"""Random postures in blocks, and what a frame does in them: position, approach direction and manipulability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from chainrule.algorithms.kinematics import pose as pose_of
from chainrule.algorithms.manipulability import manipulability as manipulability_of
from chainrule.arguments import Array
from chainrule.compile.backend import Traceable, active
from chainrule.core.derived import backend_of, fingerprint
from chainrule.core.mechanism import Mechanism
from chainrule.functions.table import FUNCTIONS
from chainrule.kinematics.configurations import random_state
from chainrule.kinematics.manipulability import manipulability
from chainrule.kinematics.poses import pose
from chainrule.kinematics.tasks import MotionTask, moving_task
from chainrule.model import Model
from chainrule.spatial import Scalar

BLOCK_POSTURES = 1 << 14
"""Postures of a block, which has a random generator of its own and is measured at once."""


class PostureMeasures(NamedTuple):
    """A frame in postures (N, nq): position (3, N) in m, approach (3, N), its z axis, and manipulability (N,)."""

    position: Array
    approach: Array
    manipulability: Array


def block_of_postures(robot: Mechanism, seed: int, block: int, count: int = BLOCK_POSTURES) -> Array:
    """The postures (count, nq) of one block: those of its number and the seed, on whatever machine."""
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,)))
    return random_state(robot, generator, (count,))


def measure_postures(robot: Mechanism, q: Array, link: str, task: str | None = None) -> PostureMeasures:
    """Position, approach and manipulability in postures (N, nq), by one kernel where manipulability is a volume."""
    chosen = moving_task(robot, link, task=task)
    if not chosen.is_spanned:
        T = pose(robot, q, link)
        w = manipulability(robot, q, link, task=task)
        return PostureMeasures(np.ascontiguousarray(T[:, :3, 3].T), np.ascontiguousarray(T[:, :3, 2].T), w)
    key = ("workspace", fingerprint(robot), chosen.link, chosen.rows, chosen.by_columns)
    cost = FUNCTIONS["manipulability"].visits(robot.model)
    source = Traceable(_PostureText(robot.model, chosen), key, robot.name, "workspace", cost)
    measure = active(backend_of(robot)).function(source, [robot.nq])
    with np.errstate(all="ignore"):
        rows = np.ascontiguousarray(measure(q).T)
    return PostureMeasures(rows[:3], rows[3:6], rows[6])


class _PostureText:
    """Position, approach and manipulability of a frame, seven numbers one after the other."""

    def __init__(self, model: Model, task: MotionTask) -> None:
        self.model, self.task = model, task

    def __call__(self, q: Sequence[Scalar]) -> list[Scalar]:
        task = self.task
        T = pose_of(self.model, q, task.link).rows()
        w = manipulability_of(self.model, q, task.link, task.rows, task.by_columns)
        return [*(row[3] for row in T[:3]), *(row[2] for row in T[:3]), w]
