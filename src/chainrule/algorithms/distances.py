"""Distances of a robot's bodies from each other and from obstacles, and the derivative of the smallest.

Obstacles stand in the base's axes. A pair's distance changes by n . (v_b - v_a), the velocities of its nearest points
along its normal: where these are unique, that is its exact derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chainrule.algorithms.kinematics import poses_of
from chainrule.algorithms.separation import Separation, separation
from chainrule.algorithms.solids import Solid, solids_of
from chainrule.model import Model, PosedBody
from chainrule.spatial import Scalar, Transform, Twist
from chainrule.spatial.scalar import sqrt, where

Scalars = Sequence[Scalar]


@dataclass(frozen=True)
class BodyTable:
    """The bodies of a robot and the pairs that are checked: solids in the frames of their links."""

    links: tuple[str, ...] = ()
    solids: tuple[Solid, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    moving: tuple[int, ...] = ()
    """The bodies that are checked against obstacles: all but those that stand still with the base."""

    def __hash__(self) -> int:
        found = self.__dict__.get("_hash")
        if found is None:
            found = self.__dict__["_hash"] = hash((self.links, self.solids, self.pairs, self.moving))
        return int(found)

    def count(self, obstacles: int) -> int:
        """The number of pairs, those with so many obstacles included."""
        return len(self.pairs) + len(self.moving) * obstacles


class SeparatedPair(NamedTuple):
    """The separation of two bodies, and the index of the link that carries each; 0 for an obstacle."""

    link_a: int
    link_b: int
    found: Separation


def separations(
    model: Model, posed: Sequence[PosedBody], numbers: Scalars, bodies: BodyTable, obstacles: str
) -> list[SeparatedPair]:
    """The separations of all pairs: those of the robot's own bodies, then each body from all obstacles."""
    T = poses_of(posed)
    carriers = [model.locate(link) for link in bodies.links]
    own = [
        solid.moved_by(T[index] if offset is Transform.identity() else T[index] * offset)
        for (index, offset), solid in zip(carriers, bodies.solids, strict=True)
    ]
    links = [index for index, _ in carriers]
    others = solids_of(obstacles, numbers)
    return [
        *(SeparatedPair(links[a], links[b], separation(own[a], own[b])) for a, b in bodies.pairs),
        *(SeparatedPair(links[a], 0, separation(own[a], other)) for a in bodies.moving for other in others),
    ]


def distances(model: Model, q: Scalars, numbers: Scalars = (), *, bodies: BodyTable, obstacles: str) -> list[Scalar]:
    """The signed distance of each pair."""
    return [pair.found.distance for pair in separations(model, model.at(q), numbers, bodies, obstacles)]


def nearest(
    model: Model, q: Scalars, numbers: Scalars = (), *, bodies: BodyTable, obstacles: str
) -> list[list[Scalar]]:
    """The distance of each pair, the nearest points of both bodies, and the normal from the first to the second."""
    every = (pair.found for pair in separations(model, model.at(q), numbers, bodies, obstacles))
    return [[x.distance, *x.point_a, *x.point_b, *x.normal] for x in every]


def clearance(
    model: Model, q: Scalars, numbers: Scalars = (), *, bodies: BodyTable, obstacles: str, smooth: float
) -> Scalar:
    """The smallest distance, or with `smooth` a smooth function a little below it."""
    found = distances(model, q, numbers, bodies=bodies, obstacles=obstacles)
    while len(found) > 1:
        pairs = zip(found[::2], found[1::2], strict=False)
        found = [smaller(a, b, smooth)[0] for a, b in pairs] + found[len(found) // 2 * 2 :]
    return found[0]


def clearance_dq(
    model: Model, q: Scalars, numbers: Scalars = (), *, bodies: BodyTable, obstacles: str, smooth: float
) -> list[Scalar]:
    """The derivative of `clearance` along each velocity."""
    posed = model.at(q)
    pairs = separations(model, posed, numbers, bodies, obstacles)
    screws = [[(i, T * S) for i, S in body.S] for body, T in zip(posed, poses_of(posed)[1:], strict=True)]
    if smooth:
        rows = [(p.found.distance, _row(model, screws, p.found, _signs(model, p))) for p in pairs]
        while len(rows) > 1:
            joined = []
            for (a, row_a), (b, row_b) in zip(rows[::2], rows[1::2], strict=False):
                value, part = smaller(a, b, smooth)
                joined.append((value, [x * (1 - part) + y * part for x, y in zip(row_a, row_b, strict=True)]))
            rows = joined + rows[len(rows) // 2 * 2 :]
        return rows[0][1]
    best, signs = pairs[0].found, _signs(model, pairs[0])
    for pair in pairs[1:]:
        nearer = pair.found.distance < best.distance
        best = best.or_nearer(pair.found)
        own = zip(_signs(model, pair), signs, strict=True)
        signs = [x if isinstance(y, int) and x == y else where(nearer, x, y) for x, y in own]
    return _row(model, screws, best, signs)


def smaller(a: Scalar, b: Scalar, smooth: float) -> tuple[Scalar, Scalar]:
    """The smaller of two numbers and the part of its change that is b's; smooth where they are about as large.

    (a + b - sqrt((a - b)^2 + smooth^2)) / 2 is at most smooth / 2 below the smaller one, and never above it.
    """
    if not smooth:
        return where(b < a, b, a), where(b < a, 1.0, 0.0)
    root = sqrt((a - b) * (a - b) + smooth * smooth)
    return (a + b - root) * 0.5, (1 + (a - b) / root) * 0.5


def _signs(model: Model, pair: SeparatedPair) -> list[Scalar]:
    """Of each joint 1 if it moves the second body of a pair and not the first, -1 if the first alone, else 0."""
    a, b = ({body.index for body in model.ancestors(link)} for link in (pair.link_a, pair.link_b))
    return [(body.index in b) - (body.index in a) for body in model.bodies]


def _row(
    model: Model, screws: Sequence[Sequence[tuple[int, Twist]]], found: Separation, signs: Sequence[Scalar]
) -> list[Scalar]:
    """The change of a distance along each velocity, of the screws of all joints in the base's axes."""
    force, moment = found.normal, found.point_b.cross(found.normal)
    row: list[Scalar] = [0.0] * model.nv
    for joint, sign in zip(screws, signs, strict=True):
        for i, S in joint if not (isinstance(sign, int) and sign == 0) else ():
            row[i] = row[i] + (S.angular.dot(moment) + S.linear.dot(force)) * sign
    return row
