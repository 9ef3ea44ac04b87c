"""Keyframes of an MJCF model as named configurations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from chainrule.errors import FormatError
from chainrule.formats.mjcf.document import Document
from chainrule.formats.xml import Node
from chainrule.model import Configuration, Joint
from chainrule.model.layout import component

Start = Mapping[str, Sequence[float]]
"""MuJoCo's qpos0: the coordinates of each joint in the pose that the file describes, by the joint's name."""


def configurations_of(
    document: Document, joints: Sequence[Joint], start: Start, notes: list[str]
) -> list[Configuration]:
    """The configuration of each <key>; one without a name is called key0, key1, .. by its place.

    MuJoCo's qpos has the numbers of every joint in order, with quaternions scalar first and of any length. A joint that
    follows another here has no number of its own: its number in the keyframe is not kept. A key without qpos stands in
    the pose that the file describes.
    """
    keys = [*document.entries("keyframe", "key")]
    taken = {key.get("name") for key in keys}
    found = []
    for index, key in enumerate(keys):
        name = key.get("name") or f"key{index}"
        while not key.get("name") and name in taken:
            name += "_"
        try:
            positions = _positions(key, joints, start)
        except FormatError as error:
            notes.append(f"keyframe {name!r} is left out: {error}")
            continue
        found.append(Configuration(name, tuple(positions)))
    return found


def _positions(key: Node, joints: Sequence[Joint], start: Start) -> list[tuple[str, float]]:
    moving = [joint for joint in joints if joint.kind.nq]
    numbers = key.numbers("qpos")
    if not numbers:
        numbers = [x for joint in moving for x in start[joint.name]]
    expected = sum(joint.kind.nq for joint in moving)
    if len(numbers) != expected:
        raise key.error(f"qpos has {len(numbers)} numbers, and the model has {expected} coordinates")
    positions: list[tuple[str, float]] = []
    for joint in moving:
        kind = joint.kind
        own, numbers = numbers[: kind.nq], numbers[kind.nq :]
        if kind.nq != kind.nv:
            own = [*own[:-4], *_scalar_last(own[-4:])]
        if joint.mimic is None:
            names = (component(joint.name, part) for part in kind.coordinate_names)
            positions += zip(names, own, strict=True)
    return positions


def _scalar_last(quaternion: Sequence[float]) -> list[float]:
    """A unit quaternion (x, y, z, w) from (w, x, y, z) of any length; no turn where it is zero, as in MuJoCo."""
    length = math.hypot(*quaternion)
    if not length > 1e-15:
        return [0.0, 0.0, 0.0, 1.0]
    w, *vector = (x if abs(length - 1) < 1e-15 else x / length for x in quaternion)
    return [*vector, w]
