"""The layout of q and qd: one record for each coordinate and for each velocity of a robot.

Names of coordinates, their places, units, limits and neutral values are worked out here and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from chainrule.lazy import cached_property
from chainrule.model.parts import Dof, Joint

Quantity = Literal["position", "velocity", "acceleration", "effort"]
"""What the numbers of a vector of joints are: positions in the order of q, the others in that of qd."""

UNITS: Mapping[Quantity, Mapping[str, str]] = {
    "position": {"rad": "rad", "m": "m", "1": "1"},
    "velocity": {"rad": "rad/s", "m": "m/s"},
    "acceleration": {"rad": "rad/s^2", "m": "m/s^2"},
    "effort": {"rad": "N m", "m": "N"},
}
"""The SI unit of each quantity along an angle, a length, or an entry of a quaternion."""


@dataclass(frozen=True)
class Coordinate:
    """One number of q."""

    index: int
    """Its place in q."""
    joint: str
    name: str
    """The joint's name, followed by the component where the joint has several: "elbow", "base.x", "base.qw"."""
    unit: str
    """"rad", "m", or "1" for an entry of a quaternion."""
    neutral: float
    lower: Any
    """Limits in its unit, infinite where there are none."""
    upper: Any
    velocity: int | None
    """The place in qd of its rate; None where the rate is no single velocity, as for quaternions."""


@dataclass(frozen=True)
class Velocity:
    """One number of qd, and of everything that has one number for each degree of freedom."""

    index: int
    """Its place in qd."""
    joint: str
    name: str
    """The joint's name, followed by the component where the joint has several: "elbow", "base.wx"."""
    unit: str
    """"rad" or "m": of the velocity times a second."""
    coordinate: int | None
    """The place in q of the coordinate whose rate it is; None for joints with a quaternion."""
    dof: Dof
    """Limits, friction, rotor and spring along it."""


class JointPlaces(NamedTuple):
    """A joint with coordinates of its own, and where in q and qd they are."""

    joint: Joint
    q: slice
    v: slice


@dataclass(frozen=True)
class Layout:
    """The meaning of each number of q and qd.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").floating().model.layout.coordinate_names[:4]
    ('floating_base.x', 'floating_base.y', 'floating_base.z', 'floating_base.qx')
    """

    joints: tuple[JointPlaces, ...]
    coordinates: tuple[Coordinate, ...]
    velocities: tuple[Velocity, ...]

    @staticmethod
    def of(joints: Iterable[Joint]) -> Layout:
        """The layout of joints in order; fixed and mimic joints have no place in it."""
        places: list[JointPlaces] = []
        coordinates: list[Coordinate] = []
        velocities: list[Velocity] = []
        for joint in joints:
            kind = joint.kind
            if not kind.nv or joint.mimic is not None:
                continue
            i, j = len(coordinates), len(velocities)
            flat = kind.nq == kind.nv
            places.append(JointPlaces(joint, slice(i, i + kind.nq), slice(j, j + kind.nv)))
            for k, (part, neutral) in enumerate(zip(kind.coordinate_names, kind.neutral(), strict=True)):
                unit = kind.units[k] if flat else "m" if k < kind.nq - 4 else "1"  # a quaternion comes last
                low, high = (joint.dofs[k].lower, joint.dofs[k].upper) if flat else (-math.inf, math.inf)
                rate = j + k if flat else None
                coordinates.append(
                    Coordinate(i + k, joint.name, component(joint.name, part), unit, neutral, low, high, rate)
                )
            for k, (part, dof) in enumerate(zip(kind.velocity_names, joint.dofs, strict=True)):
                place = i + k if flat else None
                velocities.append(Velocity(j + k, joint.name, component(joint.name, part), kind.units[k], place, dof))
        return Layout(tuple(places), tuple(coordinates), tuple(velocities))

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        """The number of velocities: the degrees of freedom."""
        return len(self.velocities)

    @cached_property
    def by_joint(self) -> Mapping[str, JointPlaces]:
        """The places of each joint, by its name."""
        return {places.joint.name: places for places in self.joints}

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """The joints with coordinates of their own."""
        return tuple(self.by_joint)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """The name of each number of q."""
        return tuple(coordinate.name for coordinate in self.coordinates)

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """The name of each number of qd."""
        return tuple(velocity.name for velocity in self.velocities)

    @cached_property
    def neutral(self) -> tuple[float, ...]:
        """The configuration of zeros and unit quaternions."""
        return tuple(coordinate.neutral for coordinate in self.coordinates)

    @cached_property
    def lower(self) -> tuple[Any, ...]:
        """Lower limits of q, infinite where there are none."""
        return tuple(coordinate.lower for coordinate in self.coordinates)

    @cached_property
    def upper(self) -> tuple[Any, ...]:
        """Upper limits of q, infinite where there are none."""
        return tuple(coordinate.upper for coordinate in self.coordinates)

    @cached_property
    def quaternions(self) -> tuple[tuple[str, int], ...]:
        """Joints whose coordinates end in a quaternion, and where in q it starts."""
        return tuple(
            (places.joint.name, places.q.stop - 4)
            for places in self.joints
            if places.joint.kind.nq != places.joint.kind.nv
        )

    @cached_property
    def dofs(self) -> tuple[Dof, ...]:
        """The properties along each degree of freedom."""
        return tuple(velocity.dof for velocity in self.velocities)

    def names_of(self, quantity: Quantity) -> tuple[str, ...]:
        """The name of each number of a vector of positions, velocities, accelerations or efforts."""
        return self.coordinate_names if quantity == "position" else self.velocity_names

    def units_of(self, quantity: Quantity) -> tuple[str, ...]:
        """The SI unit of each number of a vector of positions, velocities, accelerations or efforts."""
        return tuple(UNITS[quantity][record.unit] for record in self.records_of(quantity))

    @cached_property
    def labeled_units(self) -> Mapping[Quantity, tuple[tuple[str, str], ...]]:
        """The joint and the SI unit of each number of each quantity, for messages: ("joint 'elbow'", "rad")."""
        return {
            quantity: tuple((f"joint {record.name!r}", units[record.unit]) for record in self.records_of(quantity))
            for quantity, units in UNITS.items()
        }

    def records_of(self, quantity: Quantity) -> tuple[Coordinate, ...] | tuple[Velocity, ...]:
        """The record of each number of a vector of positions, velocities, accelerations or efforts."""
        return self.coordinates if quantity == "position" else self.velocities

    def velocities_of(self, joints: Iterable[str]) -> tuple[int, ...]:
        """The places in qd of joints, by their names, in the order of the names."""
        return tuple(index for name in joints for index in range(self.nv)[self.by_joint[name].v])


def component(joint: str, part: str) -> str:
    """The name of one component of a joint: the joint's own where it has only one."""
    return f"{joint}.{part}" if part else joint
