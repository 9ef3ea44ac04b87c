"""Poses of targets: checked, and their rotations without rounding errors, for each row by itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np

from chainrule.arguments import ROTATION_TOLERANCE, Array, rigid_transforms
from chainrule.compile.backend import COMPILED, LoopShape, OutlinedCall, Scan, Traceable, active
from chainrule.spatial import Matrix, Scalar, Vector
from chainrule.spatial.scalar import maximum, where
from chainrule.spatial.transform import LAST_ROW_TOLERANCE

Scalars = Sequence[Scalar]

ROTATION_ROUNDING = 1e-13
"""The largest entry of R^T R - 1 that is left in a target; larger ones are corrected."""
POSE_ENTRIES = 16
POSE_NUMBERS = 12
"""Numbers of a rotation by rows, then of a position."""


def pose_numbers(T: Array, what: str) -> Array:
    """Rotations by rows and positions (..., 12) of poses (..., 4, 4).

    Poses that are not rigid are refused; the numbers of those that are not finite are nan.
    """
    state = np.zeros((T.size // POSE_ENTRIES, POSE_ENTRIES + 1))
    state[:, :POSE_ENTRIES] = T.reshape(len(state), POSE_ENTRIES)
    _loop()(state, np.zeros((len(state), 0)), 1)
    numbers, is_rigid = state[:, :POSE_NUMBERS], state[:, -1] > 0
    if not is_rigid.all():
        unclear = ~is_rigid
        rigid = rigid_transforms(T, what, finite=False).reshape(-1, 4, 4)[unclear]
        numbers[unclear, :9] = orthonormalize(rigid[:, :3, :3]).reshape(-1, 9)
        numbers[unclear, 9:] = rigid[:, :3, 3]
    return numbers.reshape(*T.shape[:-2], POSE_NUMBERS)


def numbers_of_one(T: Array) -> Array | None:
    """The same for one pose (4, 4) that is plainly rigid; None for others."""
    try:
        reader = _readers.pop()
    except IndexError:
        reader = _Reader()
    reader.pose[...] = T
    reader.run()
    numbers = reader.numbers.copy() if reader.state.item(POSE_ENTRIES) > 0 else None
    _readers.append(reader)
    return numbers


class _Reader:
    """Arrays for one pose, which compiled code reads where they are; one thread uses them at a time."""

    def __init__(self) -> None:
        self.state = np.zeros((1, POSE_ENTRIES + 1))
        self.pose = self.state[0, :POSE_ENTRIES].reshape(4, 4)
        self.numbers = self.state[0, :POSE_NUMBERS]
        self.run = bind_one_repetition(_loop(), self.state, np.zeros((1, 0)))


_readers: list[_Reader] = []


def bind_one_repetition(loop: Scan, state: Array, parameters: Array) -> Callable[[], None]:
    """One repetition of a loop on these arrays, which are read and written where they are."""
    bind = getattr(loop, "bind", None)
    if bind is None:
        return lambda: loop(state, parameters, 1)
    run: Callable[[], None] = bind(state, parameters)
    return run


def _loop() -> Scan:
    return active(COMPILED).scan(Traceable(_text, "poses of targets", "all", "targets"), LoopShape(0, POSE_ENTRIES + 1))


def _text(_: OutlinedCall, __: Scalars, state: Scalars, ___: Scalars) -> list[Scalar]:
    """The rotation by rows, the position, zeros, and 1 where the pose is rigid and finite."""
    rotation, p, is_proper = rigid_pose(state)
    return [*rotation, *p, *([0.0] * (POSE_ENTRIES - POSE_NUMBERS)), is_proper]


def rigid_pose(entries: Scalars) -> tuple[list[Scalar], list[Scalar], Scalar]:
    """The rotation by rows, the position, and 1 where the entries of a pose (16,) are rigid and finite, else 0."""
    rows = [Vector(*entries[4 * i : 4 * i + 3]) for i in range(3)]
    p, last = [entries[4 * i + 3] for i in range(3)], entries[12:16]
    R = Matrix(*rows)
    square = R.transpose() @ R
    off = [list(square)[i] for i in range(3)]
    deviation: Scalar = 0.0
    for i in range(3):
        for j in range(i + 1):
            deviation = maximum(_absolute(list(off[i])[j] - (1.0 if i == j else 0.0)), deviation)
    half = [Vector(*((1.5 if i == j else 0.0) - x / 2 for j, x in enumerate(off[i]))) for i in range(3)]
    corrected = R @ Matrix(*half)
    rotation = [
        where(deviation > ROTATION_ROUNDING, b, a)
        for x, y in zip(R, corrected, strict=True)
        for a, b in zip(x, y, strict=True)
    ]
    columns = list(R.transpose())
    is_proper = where(columns[0].cross(columns[1]).dot(columns[2]) >= 0, 1.0, 0.0)
    is_proper = where(deviation <= ROTATION_TOLERANCE, is_proper, 0.0)
    for x in p:
        is_proper = where(_absolute(x) <= sys.float_info.max, is_proper, 0.0)
    for x, right in zip(last, (0.0, 0.0, 0.0, 1.0), strict=True):
        is_proper = where(_absolute(x - right) <= LAST_ROW_TOLERANCE, is_proper, 0.0)
    return rotation, p, is_proper


def _absolute(x: Scalar) -> Scalar:
    return maximum(x, -x)


def orthonormalize(R: Array) -> Array:
    """Rotations (..., 3, 3) with their rounding errors removed: a Newton step towards the nearest rotation."""
    with np.errstate(invalid="ignore", over="ignore"):
        square = np.swapaxes(R, -1, -2) @ R
        deviation = np.abs(square - np.eye(3)).max(axis=(-1, -2), initial=0.0, keepdims=True)
        return np.where(deviation > ROTATION_ROUNDING, R @ (1.5 * np.eye(3) - square / 2), R)
