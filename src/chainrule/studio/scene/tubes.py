"""Tubes with arrowheads along paths, as instances of one cylinder and one cone: all that changes is small arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.shapes.surfaces import Surface, join, lathe
from chainrule.studio.scene.nodes import arrays_of

if TYPE_CHECKING:
    from viser import SceneApi

SIDES = 12
"""Corners around a tube."""

HEAD = (2.4, 5.2)
"""Radius and length of an arrowhead, in radii of its tube."""

OVERLAP = 1.08
"""The length of a piece of tube in lengths of its part of the path, so that bends show no gaps."""

HIDDEN = 1e-6
"""The scale of instances that are not to be seen."""


@dataclass(frozen=True, eq=False)
class Instances:
    """Places of the instances of a surface that is one long along z and has the radius one."""

    positions: Array
    """(k, 3), in m."""
    quaternions: Array
    """(k, 4), w first."""
    scales: Array
    """(k, 3), in m."""


def tube() -> Surface:
    """A cylinder of radius 1 from z = 0 to 1, closed at both ends."""
    return join([lathe([(0, 0), (1, 0)], SIDES), lathe([(1, 0), (1, 1)], SIDES), lathe([(1, 1), (0, 1)], SIDES)])


def cone() -> Surface:
    """A cone of radius 1 from z = 0 to its tip at z = 1."""
    return join([lathe([(0, 0), (1, 0)], SIDES), lathe([(1, 0), (0, 1)], SIDES)])


def turn_from_z(directions: Array) -> Array:
    """Unit quaternions (..., 4), w first, that turn the z axis into unit vectors (..., 3).

    >>> turn_from_z(np.array([0.0, 0.0, -1.0])).tolist()
    [0.0, 1.0, 0.0, 0.0]
    """
    x, y, z = np.moveaxis(directions, -1, 0)
    half = np.stack([1 + z, -y, x, np.zeros_like(z)], axis=-1)
    half = np.where((1 + z > 1e-9)[..., None], half, [0.0, 1.0, 0.0, 0.0])
    return np.asarray(half / np.linalg.norm(half, axis=-1, keepdims=True))


def tubes_along(paths: Array, radii: Array) -> tuple[Instances, Instances]:
    """Pieces of tube along each of the paths (n, k, 3), n (k - 1) of them, and the n arrowheads at their ends.

    radii (n,): of each tube; those that are zero are not seen, and those that are negative have no arrowhead.
    """
    steps = np.diff(paths, axis=1)
    lengths = np.linalg.norm(steps, axis=-1)
    directions = np.where(lengths[..., None] > 0, steps / np.maximum(lengths, 1e-300)[..., None], [0.0, 0.0, 1.0])
    seen = np.broadcast_to(((radii != 0) & (lengths.sum(axis=1) > 0))[:, None], lengths.shape)
    wide = np.where(seen, np.abs(radii)[:, None], HIDDEN)
    long = np.where(seen, OVERLAP * lengths, HIDDEN)
    pieces = Instances(
        paths[:, :-1].reshape(-1, 3),
        turn_from_z(directions).reshape(-1, 4),
        np.stack([wide, wide, long], axis=-1).reshape(-1, 3),
    )
    heads = Instances(
        paths[:, -1],
        turn_from_z(directions[:, -1]),
        np.where(seen[:, :1] & (radii > 0)[:, None], radii[:, None] * np.array([HEAD[0], HEAD[0], HEAD[1]]), HIDDEN),
    )
    return pieces, heads


class DrawnTubes:
    """Tubes with arrowheads in a scene; their number stays the same."""

    def __init__(self, scene: SceneApi, name: str, count: int, points: int) -> None:
        """`count` tubes along paths of so many points, not seen until they are moved."""
        self._per_path = points - 1
        parts = tubes_along(np.zeros((count, points, 3)), np.zeros(count))
        self._nodes: list[Any] = [
            scene.add_batched_meshes_simple(
                f"{name}/{word}",
                *arrays_of(surface),
                batched_wxyzs=part.quaternions,
                batched_positions=part.positions,
                batched_scales=part.scales,
                batched_colors=np.zeros((len(part.positions), 3), dtype=np.uint8),
                lod="off",
                cast_shadow=False,
                receive_shadow=False,
            )
            for word, surface, part in zip(("tubes", "heads"), (tube(), cone()), parts, strict=True)
        ]

    def move(self, paths: Array, radii: Array, colors: NDArray[np.uint8]) -> None:
        """Draw other paths; only what changed is sent."""
        hues = np.repeat(colors, self._per_path, axis=0), colors
        for node, part, hue in zip(self._nodes, tubes_along(paths, radii), hues, strict=True):
            node.batched_positions = part.positions
            node.batched_wxyzs = part.quaternions
            node.batched_scales = part.scales
            node.batched_colors = hue

    def show(self, visible: bool) -> None:
        """Show or hide them."""
        for node in self._nodes:
            node.visible = visible

    def remove(self) -> None:
        """Remove them from the scene."""
        for node in self._nodes:
            node.remove()
