"""Constraints that close kinematic loops: ties between two links besides the joints of the tree."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from chainrule.errors import ModelError, UnknownNameError
from chainrule.model.lifting import Lift, lift_transform
from chainrule.model.tree import refuse_duplicates
from chainrule.spatial import Scalar, Transform

CROSSED: dict[str, tuple[tuple[int, int], ...]] = {
    "point": (),
    "hinge": ((0, 2), (1, 2)),
    "weld": ((2, 1), (0, 2), (1, 0)),
    "distance": (),
}
"""For each kind, the pairs (axis of the first origin, axis of the second) that must be perpendicular."""

KINDS = tuple(CROSSED)


@dataclass(frozen=True)
class Constraint:
    """A tie between two links or frames, each at an origin given in its own frame.

    point: the origins coincide (3 equations). hinge: they coincide and so do their z axes, about which the links may
    turn (5). weld: the origins coincide in place and orientation (6). distance: they are `distance` apart, in m (1).
    """

    name: str
    kind: str
    link_a: str
    link_b: str
    origin_a: Transform = field(default=Transform.identity())
    origin_b: Transform = field(default=Transform.identity())
    distance: Scalar | None = None

    @property
    def crossed(self) -> tuple[tuple[int, int], ...]:
        """The pairs of axes, of the first origin and of the second, that must be perpendicular."""
        return CROSSED[self.kind]

    @property
    def size(self) -> int:
        """The number of its equations."""
        return 1 if self.kind == "distance" else 3 + len(self.crossed)

    def map(self, f: Lift) -> Constraint:
        return replace(
            self,
            origin_a=lift_transform(f, self.origin_a),
            origin_b=lift_transform(f, self.origin_b),
            distance=None if self.distance is None else f(self.distance, "m"),
        )


def refuse_bad_constraints(constraints: Sequence[Constraint], known: Collection[str], where: str) -> None:
    """Refuse constraints with the same name, with unknown links, or with a distance that does not fit their kind."""
    refuse_duplicates("constraint", [constraint.name for constraint in constraints], where)
    for constraint in constraints:
        here = f"{where}, constraint {constraint.name!r}"
        if constraint.kind not in KINDS:
            raise UnknownNameError.of("kind of constraint", constraint.kind, KINDS, f"{here}: chainrule")
        for link in (constraint.link_a, constraint.link_b):
            if link not in known:
                raise UnknownNameError.of("link or frame", link, known, f"{here}: the robot")
        if constraint.link_a == constraint.link_b:
            raise ModelError(f"{here} ties link {constraint.link_a!r} to itself; name two links")
        if constraint.kind == "distance" and constraint.distance is None:
            raise ModelError(f"{here} needs a distance, in m, between the two origins")
        if constraint.kind != "distance" and constraint.distance is not None:
            raise ModelError(
                f"{here} is a {constraint.kind}, which has no distance; leave it out, or make its kind 'distance'"
            )
