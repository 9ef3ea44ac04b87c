"""Random postures in blocks, and what a frame does in them: position, approach direction and manipulability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.algorithms.kinematics import pose as pose_of
from chainrule.algorithms.manipulability import manipulability as manipulability_of
from chainrule.arguments import Array
from chainrule.compile.backend import active
from chainrule.core.mechanism import Mechanism
from chainrule.functions.table import FUNCTIONS
from chainrule.kinematics.configurations import random_state
from chainrule.kinematics.manipulability import manipulability
from chainrule.kinematics.poses import pose
from chainrule.kinematics.tasks import Task, moving_task
from chainrule.model import Model
from chainrule.spatial import Scalar

Indices = NDArray[np.int64]

BLOCK_POSTURES = 1 << 14
"""Postures of a block, which has a random generator of its own and is measured at once."""

BANDS = 6
"""Bands of equal area into which approach directions are sorted; each band has twice as many sectors."""

PATCHES = 2 * BANDS * BANDS
"""Patches of equal area on the sphere of approach directions."""


class Measured(NamedTuple):
    """A frame in postures (N, nq): position (3, N) in m, approach (3, N), its z axis, and manipulability (N,)."""

    position: Array
    approach: Array
    manipulability: Array


def block_of_postures(robot: Mechanism, seed: int, block: int, count: int = BLOCK_POSTURES) -> Array:
    """The postures (count, nq) of one block: those of its number and the seed, on whatever machine."""
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,)))
    return random_state(robot, generator, (count,))


def measure_postures(robot: Mechanism, q: Array, link: str, part: str | None = None) -> Measured:
    """Position, approach and manipulability in postures (N, nq), by one kernel where manipulability is a volume."""
    task = moving_task(robot, link, part=part)
    if not task.is_spanned:
        T = pose(robot, q, link)
        w = manipulability(robot, q, link, part=part)
        return Measured(np.ascontiguousarray(T[:, :3, 3].T), np.ascontiguousarray(T[:, :3, 2].T), w)
    text = _PostureText(robot.model, task)
    measure = active(robot.backend).function(
        text,
        [robot.nq],
        ("workspace", robot.fingerprint, task.link, task.rows, task.by_columns),
        robot.name,
        name="workspace",
        cost=FUNCTIONS["manipulability"].visits(robot.model),
    )
    with np.errstate(all="ignore"):
        rows = np.ascontiguousarray(measure(q).T)
    return Measured(rows[:3], rows[3:6], rows[6])


class _PostureText:
    """Position, approach and manipulability of a frame, seven numbers one after the other."""

    def __init__(self, model: Model, task: Task) -> None:
        self.model, self.task = model, task

    def __call__(self, q: Sequence[Scalar]) -> list[Scalar]:
        task = self.task
        T = pose_of(self.model, q, task.link).rows()
        w = manipulability_of(self.model, q, task.link, task.rows, task.by_columns)
        return [*(row[3] for row in T[:3]), *(row[2] for row in T[:3]), w]


def approach_patches(approach: Array) -> Indices:
    """The patch of each approach direction, (3, N): a number from 0 to 71."""
    sectors = 2 * BANDS
    band = np.minimum(((approach[2] + 1) / 2 * BANDS).astype(np.int64), BANDS - 1)
    turn = np.arctan2(approach[1], approach[0])
    turn /= 2 * np.pi
    turn += 0.5
    turn *= sectors
    return np.asarray(band * sectors + np.minimum(turn.astype(np.int64), sectors - 1))
