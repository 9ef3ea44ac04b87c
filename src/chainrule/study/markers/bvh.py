"""BVH: a skeleton and the angles of its joints, made into places of the joints' centers.

The rotations of a joint act in the order of its channels, each about the axes that the one before has turned:
R = R_1 R_2 R_3. Its translations are its place in its parent, in place of the offset, as motion capture and animation
programs write them; in files where they stay near zero instead, they are added to the offset.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import FormatError, quoted

AXES = {"X": 0, "Y": 1, "Z": 2}
MAX_JOINTS, MAX_FRAMES, MAX_NUMBER = 2000, 10**8, 1e9

STILL = 0.1
"""Share of a joint's offset below which its translations are shifts from there: no part of a body moves further."""


@dataclass
class Bone:
    """A joint of the skeleton: its offset in its parent, its channels, and where they stand in a frame."""

    name: str
    parent: int | None
    offset: Array = field(default_factory=lambda: np.zeros(3))
    channels: list[str] = field(default_factory=list)
    first: int = 0


class Words:
    """The words of a file, one after the other."""

    def __init__(self, text: str, file: str) -> None:
        self.words, self.place, self.file = text.split(), 0, file

    def next(self) -> str:
        """The next word."""
        if self.place >= len(self.words):
            raise FormatError(f"{self.file} ends too early")
        self.place += 1
        return self.words[self.place - 1]

    def expect(self, word: str) -> None:
        """Refuse any other word."""
        found = self.next()
        if found.upper() != word.upper():
            raise FormatError(f"{self.file}: expected {word!r}, found {found!r:.60}")

    def number(self) -> float:
        """The next word as a number."""
        word = self.next()
        try:
            value = float(word)
        except ValueError:
            value = np.nan
        if not abs(value) < MAX_NUMBER:
            raise FormatError(f"{self.file}: {word!r:.60} should be a number below {MAX_NUMBER:g}")
        return value


def joint_places(text: str, file: str) -> tuple[list[str], Array, Array, list[str]]:
    """Names of joints, times (T,), places of joints and ends (T, J, 3) in the file's unit, and what was assumed."""
    words = Words(text, file)
    words.expect("HIERARCHY")
    bones = _skeleton(words)
    words.expect("MOTION")
    words.expect("Frames:")
    frames = words.number()
    words.expect("Frame")
    words.expect("Time:")
    step = words.number()
    width = sum(len(bone.channels) for bone in bones)
    rest = words.words[words.place :]
    if not (2 <= frames < MAX_FRAMES and step > 0 and frames == int(frames)):
        raise FormatError(
            f"{file}: {frames:g} frames every {step:g} s: at least two, with time between them, are needed"
        )
    if len(rest) != int(frames) * width:
        raise FormatError(
            f"{file}: {int(frames)} frames of {width} numbers are stated, and there are {len(rest)} numbers"
        )
    try:
        table = np.array(rest, dtype=float).reshape(int(frames), width)
    except ValueError:
        table = np.full((1, 1), np.nan)
    if not (np.abs(table) < MAX_NUMBER).all():
        raise FormatError(f"{file}: the frames must be numbers below {MAX_NUMBER:g}")
    are_shifts, notes = _meaning_of_translations(bones, table, file)
    places = _forward(bones, table, are_shifts)
    return [bone.name for bone in bones], np.arange(int(frames), dtype=float) * step, places, notes


def _skeleton(words: Words) -> list[Bone]:
    """All joints, parents first."""
    bones: list[Bone] = []
    parents: list[int] = []
    used = 0
    while True:
        word = words.next().upper()
        if word in ("ROOT", "JOINT", "END"):
            if len(bones) >= MAX_JOINTS:
                raise FormatError(f"{words.file} has more than {MAX_JOINTS} joints")
            name = words.next()
            if word == "END":
                name = f"{bones[parents[-1]].name}_end" if parents else "end"
            bones.append(Bone(name, parents[-1] if parents else None))
            words.expect("{")
            parents.append(len(bones) - 1)
        elif word == "OFFSET" and parents:
            bones[parents[-1]].offset = np.array([words.number() for _ in range(3)])
        elif word == "CHANNELS" and parents:
            bone = bones[parents[-1]]
            count = words.number()
            if bone.channels:
                raise FormatError(f"{words.file}: the channels of joint {bone.name!r} are stated twice")
            if count not in range(7):
                raise FormatError(f"{words.file}: joint {bone.name!r} has {count:g} channels; there are up to 6")
            bone.channels, bone.first = [words.next() for _ in range(int(count))], used
            used += len(bone.channels)
            wrong = [
                c for c in bone.channels if c[:1].upper() not in AXES or c[1:].lower() not in ("position", "rotation")
            ]
            if wrong:
                raise FormatError(
                    f"{words.file}: joint {bone.name!r} has the channel {wrong[0]!r:.60}, which is not known"
                )
        elif word == "}" and parents:
            parents.pop()
            if not parents:
                return bones
        else:
            raise FormatError(f"{words.file}: {word!r:.60} is not expected in the hierarchy")


def _meaning_of_translations(bones: list[Bone], table: Array, file: str) -> tuple[bool, list[str]]:
    """Whether translations are added to offsets, and a note where that makes a difference."""
    doubtful, shifted = [], []
    for bone in bones:
        moved = [
            (AXES[c[0].upper()], bone.first + k) for k, c in enumerate(bone.channels) if c[1:].lower() == "position"
        ]
        length = float(np.linalg.norm(bone.offset[[axis for axis, _ in moved]]))
        if length:
            doubtful.append(bone.name)
            farthest = float(np.linalg.norm(table[:, [column for _, column in moved]], axis=1).max())
            if farthest < STILL * length:
                shifted.append(bone.name)
    if not doubtful:
        return False, []
    if shifted and len(shifted) < len(doubtful):
        other = next(name for name in doubtful if name not in shifted)
        raise FormatError(
            f"{file}: the translations of joint {shifted[0]!r} stay near zero, as if added to its offset, and those of "
            f"{other!r} do not; write all of them as places in the parent"
        )
    meaning = (
        "are added to offsets: they stay near zero" if shifted else "are places in the parent, in place of offsets"
    )
    return bool(shifted), [f"{file}: translations of {quoted(doubtful)} {meaning}"]


def _forward(bones: list[Bone], table: Array, are_shifts: bool) -> Array:
    rotations: list[Array] = []
    places: list[Array] = []
    for bone in bones:
        R = np.tile(np.eye(3), (len(table), 1, 1))
        p = np.tile(bone.offset, (len(table), 1))
        for k, channel in enumerate(bone.channels):
            values, axis = table[:, bone.first + k], AXES[channel[0].upper()]
            if channel[1:].lower() == "position":
                p[:, axis] = values + (bone.offset[axis] if are_shifts else 0.0)
            else:
                R = R @ _turn(axis, np.radians(values))
        if bone.parent is not None:
            p = places[bone.parent] + np.einsum("tij,tj->ti", rotations[bone.parent], p)
            R = rotations[bone.parent] @ R
        rotations.append(R)
        places.append(p)
    return np.stack(places, axis=1)


def _turn(axis: int, angle: Array) -> Array:
    """Rotations (T, 3, 3) about a coordinate axis."""
    R = np.zeros((len(angle), 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[:, axis, axis] = 1
    R[:, i, i] = R[:, j, j] = np.cos(angle)
    R[:, j, i] = np.sin(angle)
    R[:, i, j] = -R[:, j, i]
    return R
