"""BVH: a skeleton and the angles of its joints, made into places of the joints' centers.

The channels of a joint are its translations and rotations in the order in which they act, each about the axes that the
one before has turned: R = R_1 R_2 R_3.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import FormatError

AXES = {"X": 0, "Y": 1, "Z": 2}
MAX_JOINTS, MAX_FRAMES = 2000, 10**8


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
            return float(word)
        except ValueError:
            raise FormatError(f"{self.file}: {word!r:.60} should be a number") from None


def joint_places(text: str, file: str) -> tuple[list[str], Array, Array]:
    """Names of joints, times (T,), and places of joints and ends (T, J, 3) in the file's unit."""
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
        raise FormatError(f"{file}: the frames must be numbers") from None
    return [bone.name for bone in bones], np.arange(int(frames), dtype=float) * step, _forward(bones, table)


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


def _forward(bones: list[Bone], table: Array) -> Array:
    rotations: list[Array] = []
    places: list[Array] = []
    for bone in bones:
        R = np.tile(np.eye(3), (len(table), 1, 1))
        p = np.tile(bone.offset, (len(table), 1))
        for k, channel in enumerate(bone.channels):
            values, axis = table[:, bone.first + k], AXES[channel[0].upper()]
            if channel[1:].lower() == "position":
                p[:, axis] += values
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
