"""Springs and dampers between points of two links: forces along the line that joins them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from chainrule.errors import ModelError, UnknownNameError
from chainrule.model.lifting import Lift, lift_vector
from chainrule.model.tree import refuse_duplicates
from chainrule.spatial import Scalar, Vector


@dataclass(frozen=True)
class Spring:
    """A spring and a damper between a point of one link or frame and a point of another, each in its own frame, in m.

    With l the distance of the points, they are pulled together by stiffness (l - rest_length) + damping dl/dt + force,
    in N: stiffness in N/m, rest_length in m, damping in N s/m, and a constant force, negative where it pushes them
    apart, as a gas spring does.
    """

    name: str
    link_a: str
    link_b: str
    point_a: Vector = field(default=Vector(0.0, 0.0, 0.0))
    point_b: Vector = field(default=Vector(0.0, 0.0, 0.0))
    stiffness: Scalar = 0
    rest_length: Scalar = 0
    damping: Scalar = 0
    force: Scalar = 0

    def map(self, f: Lift) -> Spring:
        return replace(
            self,
            point_a=lift_vector(f, self.point_a, "m"),
            point_b=lift_vector(f, self.point_b, "m"),
            stiffness=f(self.stiffness, "N/m"),
            rest_length=f(self.rest_length, "m"),
            damping=f(self.damping, "N*s/m"),
            force=f(self.force, "N"),
        )


def refuse_bad_springs(springs: Sequence[Spring], known: Collection[str], where: str) -> None:
    """Refuse springs with the same name, or with unknown links, or between points of one link."""
    refuse_duplicates("spring", [spring.name for spring in springs], where)
    for spring in springs:
        here = f"{where}, spring {spring.name!r}"
        for link in (spring.link_a, spring.link_b):
            if link not in known:
                raise UnknownNameError.of("link or frame", link, known, f"{here}: the robot")
        if spring.link_a == spring.link_b:
            raise ModelError(f"{here} joins link {spring.link_a!r} to itself; name two links")
