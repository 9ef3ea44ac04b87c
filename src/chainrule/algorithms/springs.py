"""Springs and dampers between points of links: their forces, energy and dissipated power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainrule.algorithms.kinematics import poses_of, twists_of
from chainrule.algorithms.loads import Wrenches, add
from chainrule.model import Model, Spring
from chainrule.spatial import Rotation, Scalar, Transform, Twist, Vector, Wrench
from chainrule.spatial.scalar import is_zero, maximum, sqrt

Scalars = Sequence[Scalar]

MIN_SQUARED_LENGTH = 1e-24
"""The square of a length, in m^2, below which a spring has no direction, and pulls nowhere."""


@dataclass(frozen=True, slots=True)
class PosedSpring:
    """A spring in one state.

    `r` leads from its first point to its second, in base axes; the ends are the index of the link that carries each
    point, the point in that link, and the orientation of the link in the base.
    """

    spring: Spring
    r: Vector
    speed: Vector | None
    ends: tuple[tuple[int, Vector, Rotation], ...]

    @property
    def length(self) -> Scalar:
        """The distance of the points, in m."""
        return sqrt(maximum(self.r.dot(self.r), MIN_SQUARED_LENGTH))

    @property
    def rate(self) -> Scalar:
        """The rate of the length, in m/s; zero at rest."""
        return 0 if self.speed is None else self.r.dot(self.speed) / self.length

    @property
    def elastic_pull(self) -> Vector:
        """The force of stiffness and constant force on the first point; without a square root where none is needed."""
        spring = self.spring
        pull = self.r * spring.stiffness
        if not (is_zero(spring.rest_length) and is_zero(spring.force)):
            pull = pull + self.r * ((spring.force - spring.stiffness * spring.rest_length) / self.length)
        return pull

    @property
    def damping_pull(self) -> Vector:
        """The force of the damper on the first point."""
        if self.speed is None or is_zero(self.spring.damping):
            return Vector.zero()
        return self.r * (self.spring.damping * self.rate / self.length)

    def wrenches(self, pull: Vector) -> Wrenches:
        """Wrenches on the two links, each in its frame, where the first point is pulled by a force in base axes."""
        total: Wrenches = {}
        for (index, point, R), force in zip(self.ends, (pull, -pull), strict=True):
            f = R.inv * force
            total = add(total, {index: Wrench(point.cross(f), f)})
        return total


def posed_springs(model: Model, q: Scalars, qd: Scalars | None = None) -> list[PosedSpring]:
    """Every spring in a state; at rest where no velocity is given."""
    bodies = model.at(q)
    return springs_on(model, poses_of(bodies), None if qd is None else twists_of(bodies, qd))


def springs_on(model: Model, T: Sequence[Transform], V: Sequence[Twist] | None = None) -> list[PosedSpring]:
    """Every spring, for the poses of all links in the base and their twists in their own frames, by index."""
    posed = []
    for spring in model.springs:
        ends, points, speeds = [], [], []
        for link, point in ((spring.link_a, spring.point_a), (spring.link_b, spring.point_b)):
            index, offset = model.locate(link)
            p, R = offset * point, T[index].rotation
            ends.append((index, p, R))
            points.append(T[index] * p)
            if V is not None:
                speeds.append(R * (V[index].linear + V[index].angular.cross(p)))
        speed = speeds[1] - speeds[0] if speeds else None
        posed.append(PosedSpring(spring, points[1] - points[0], speed, tuple(ends)))
    return posed


def elastic_wrenches(model: Model, q: Scalars) -> Wrenches:
    """Wrenches of the springs on links, by link index, each in its link's frame."""
    total: Wrenches = {}
    for posed in posed_springs(model, q):
        total = add(total, posed.wrenches(posed.elastic_pull))
    return total


def damper_wrenches(model: Model, q: Scalars, qd: Scalars) -> Wrenches:
    """Wrenches of the dampers on links, by link index, each in its link's frame."""
    total: Wrenches = {}
    for posed in posed_springs(model, q, qd):
        if not is_zero(posed.spring.damping):
            total = add(total, posed.wrenches(posed.damping_pull))
    return total


def with_springs(model: Model, q: Scalars, qd: Scalars, wrenches: Wrenches | None) -> Wrenches:
    """Wrenches from outside, and those of springs and dampers."""
    return add_pulls(posed_springs(model, q, qd), wrenches) if model.springs else wrenches or {}


def add_pulls(springs: Sequence[PosedSpring], wrenches: Wrenches | None = None) -> Wrenches:
    """Wrenches on links, and those of springs and dampers in a state."""
    total: Wrenches = wrenches or {}
    for posed in springs:
        total = add(total, posed.wrenches(posed.elastic_pull + posed.damping_pull))
    return total


def spring_energy(model: Model, q: Scalars) -> Scalar:
    """Energy of the springs, k (l - l_0)^2 / 2 + f l, in J."""
    energy: Scalar = 0
    for posed in posed_springs(model, q) if model.springs else ():
        spring, square = posed.spring, posed.r.dot(posed.r)
        energy = energy + spring.stiffness * square / 2
        if not (is_zero(spring.rest_length) and is_zero(spring.force)):
            slope = spring.force - spring.stiffness * spring.rest_length
            energy = energy + slope * posed.length + spring.stiffness * spring.rest_length * spring.rest_length / 2
    return energy


def damper_power(model: Model, q: Scalars, qd: Scalars) -> Scalar:
    """Power that the dampers dissipate, c (dl/dt)^2, in W."""
    power: Scalar = 0
    for posed in posed_springs(model, q, qd) if model.springs else ():
        if not is_zero(posed.spring.damping):
            power = power + posed.spring.damping * posed.rate * posed.rate
    return power


def spring_forces(model: Model, q: Scalars, qd: Scalars) -> list[Scalar]:
    """The force with which each spring and damper pulls its points together, in N; negative where it pushes."""
    return [
        posed.spring.stiffness * (posed.length - posed.spring.rest_length)
        + posed.spring.damping * posed.rate
        + posed.spring.force
        for posed in posed_springs(model, q, qd)
    ]
