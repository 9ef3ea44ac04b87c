"""The regressor: joint torques as a linear function of the robot's own numbers, tau = Y(q, qd, qdd) p.

A link with mass m, first moment h = m c and inertia I about its frame's origin needs the wrench (Khalil & Dombre,
Modeling, Identification and Control of Robots, chapter 9)

    force = m a + K h,   moment = h x a + I w_dot + w x I w,   K = [w_dot] + [w]^2,

with a the acceleration of its origin, gravity being an acceleration -g of the base. It is linear in the ten numbers
(m, h, I). A joint that carries the link supplies its power along the joint's screw, seen in the link's frame. Rotors,
friction and springs add a column for each of their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chainrule.algorithms.friction import friction_columns
from chainrule.algorithms.joint_forces import deflections
from chainrule.algorithms.springs import posed_springs
from chainrule.algorithms.terms import external_torque
from chainrule.algorithms.vector_form import newton_euler
from chainrule.model import Body, Dof, Free, Model
from chainrule.model.layout import component
from chainrule.spatial import Scalar, Twist, Vector
from chainrule.spatial.linear import transpose
from chainrule.spatial.scalar import is_zero
from chainrule.spatial.vector import acceleration_matrix

Scalars = Sequence[Scalar]

PARTS = ("links", "rotors", "friction", "springs")
"""The parts of a robot that have parameters, in the order in which these come."""

LINK_NUMBERS = {
    "mass": "kg", "mcx": "kg m", "mcy": "kg m", "mcz": "kg m",
    "Ixx": "kg m^2", "Iyy": "kg m^2", "Izz": "kg m^2", "Ixy": "kg m^2", "Ixz": "kg m^2", "Iyz": "kg m^2",
}  # fmt: skip
"""The ten numbers of a link, with their units: mass, mass times center of mass, inertia about the frame's origin."""


SPRING = "spring_"
"""How the names of the numbers of a spring between links begin."""


@dataclass(frozen=True, slots=True)
class TorqueParameter:
    """One number in which the torques are linear: `number` of a link, of a degree of freedom or of a spring."""

    part: str
    owner: str
    number: str
    unit: str
    value: Scalar

    @property
    def name(self) -> str:
        """The name of the owner and of the number: "forearm.mass", "elbow.viscous"."""
        return f"{self.owner}.{self.number}"


class JointDof(NamedTuple):
    """A degree of freedom, those of mimic joints too: the k-th of its joint, `multiple` times as fast as qd[place]."""

    body: Body
    k: int
    place: int
    multiple: Scalar
    dof: Dof

    @property
    def name(self) -> str:
        """The name of the joint, and of the component where it has several."""
        return component(self.body.joint.name, self.body.joint.kind.velocity_names[self.k])

    @property
    def unit(self) -> str:
        """The unit of its displacement, rad or m."""
        return self.body.joint.kind.units[self.k]

    @property
    def effort(self) -> str:
        """The unit of its torque or force."""
        return "N m" if self.unit == "rad" else "N"

    @property
    def has_coordinate(self) -> bool:
        """Whether its velocity is the rate of a coordinate: not in a ball joint."""
        return self.body.joint.kind.nq == self.body.joint.kind.nv


def moved_links(model: Model) -> list[Body]:
    """The links that some joint moves, in order."""
    moved = {0: False}
    for body in model.bodies:
        moved[body.index] = moved[body.parent] or body.joint.kind.nv > 0
    return [body for body in model.bodies if moved[body.index]]


def axes(model: Model) -> Iterator[JointDof]:
    """The degrees of freedom of all joints; those of a free joint only where it has rotors, friction or springs."""
    for body in model.bodies:
        if body.joint.kind.name != Free.name or any(_resists(dof) for dof in body.joint.dofs):
            for k, (i, multiple, dof) in enumerate(body.dofs):
                yield JointDof(body, k, i, multiple, dof)


def _resists(dof: Dof) -> bool:
    """Whether it has a rotor, friction or a spring."""
    numbers = (dof.rotor, dof.viscous, dof.stiffness)
    return dof.has_dry_friction or dof.friction_function is not None or not all(is_zero(x) for x in numbers)


def parameters(model: Model, parts: Sequence[str] = PARTS) -> list[TorqueParameter]:
    """The parameters of a robot: of its links, then of rotors, friction and springs."""
    of = {"links": _of_links, "rotors": _of_rotors, "friction": _of_friction, "springs": _of_springs}
    return [TorqueParameter(part, *entry) for part in PARTS if part in parts for entry in of[part](model)]


Entry = tuple[str, str, str, Scalar]
"""Owner, number, unit and value of a parameter."""


def _of_links(model: Model) -> Iterator[Entry]:
    for body in moved_links(model):
        I = body.link.spatial_inertia
        values = (I.mass, *I.moment, *I.inertia.entries())
        for (number, unit), value in zip(LINK_NUMBERS.items(), values, strict=True):
            yield body.link.name, number, unit, value


def _of_rotors(model: Model) -> Iterator[Entry]:
    for axis in axes(model):
        yield axis.name, "armature", "kg m^2" if axis.unit == "rad" else "kg", axis.dof.armature


def _of_friction(model: Model) -> Iterator[Entry]:
    for axis in axes(model):
        units = {"viscous": f"{axis.effort} s/{axis.unit}", "friction_function": "1"}
        for number in friction_columns(axis.dof, 0, 0):
            value = 1 if number == "friction_function" else getattr(axis.dof, number)
            yield axis.name, number, units.get(number, axis.effort), value


def _of_springs(model: Model) -> Iterator[Entry]:
    for axis in axes(model):
        if not is_zero(axis.dof.stiffness):
            yield axis.name, "stiffness", f"{axis.effort}/{axis.unit}", axis.dof.stiffness
            if axis.has_coordinate:
                yield axis.name, "preload", axis.effort, -axis.dof.stiffness * axis.dof.rest
    for spring in model.springs:
        yield spring.name, f"{SPRING}stiffness", "N/m", spring.stiffness
        yield spring.name, f"{SPRING}damping", "N s/m", spring.damping
        yield spring.name, f"{SPRING}preload", "N", spring.force - spring.stiffness * spring.rest_length


def regressor(model: Model, q: Scalars, qd: Scalars, qdd: Scalars, parts: Sequence[str] = PARTS) -> list[list[Scalar]]:
    """Matrix Y, by rows, with Y p the joint torques for the numbers p of `parameters(model, parts)`."""
    columns: list[list[Scalar]] = []
    if "links" in parts:
        columns += link_columns(model, q, qd, qdd)
    if "rotors" in parts:
        columns += [_along(model, axis, qdd[axis.place] * axis.multiple) for axis in axes(model)]
    if "friction" in parts:
        columns += _friction(model, q, qd)
    if "springs" in parts:
        columns += [*_joint_springs(model, q), *_springs_between_links(model, q, qd)]
    return transpose(columns) if columns else [[] for _ in range(model.nv)]


def link_columns(model: Model, q: Scalars, qd: Scalars, qdd: Scalars) -> list[list[Scalar]]:
    """Columns of the ten numbers of each link: torques for a link that has one of them, and no others."""
    rows, _ = newton_euler(model, q, qd, qdd)
    J: list[dict[int, Twist]] = [{}]  # screws of the joints that carry each link, in its frame
    for body in model.at(q):
        J.append({i: body.T.inv * S for i, S in J[body.parent].items()})
        for i, S in body.S:
            J[-1][i] = J[-1][i] + S if i in J[-1] else S
    columns = []
    for link in moved_links(model):
        row = rows[link.index - 1]
        powers = {i: _powers(S, row.omega, row.omega_dot, row.v_dot) for i, S in J[link.index].items()}
        columns += [[powers[i][k] if i in powers else 0 for i in range(model.nv)] for k in range(len(LINK_NUMBERS))]
    return columns


def _powers(S: Twist, w: Vector, w_dot: Vector, a: Vector) -> list[Scalar]:
    """Power along a screw of the wrench that a link needs for each of its ten numbers, in the link's frame."""
    K = acceleration_matrix(w, w_dot)
    x, y, z = w
    moments = (  # I w_dot + w x I w for each entry of I, written in the entries of K
        Vector(w_dot.x, x * z, -(x * y)), Vector(-(y * z), w_dot.y, x * y), Vector(y * z, -(x * z), w_dot.z),
        Vector(-K.c.x, K.c.y, K.a.x - K.b.y), Vector(K.b.x, K.c.z - K.a.x, -K.b.z),
        Vector(K.b.y - K.c.z, -K.a.y, K.a.z),
    )  # fmt: skip
    first_moment = a.cross(S.angular) + K.transpose() * S.linear
    return [S.linear.dot(a), *first_moment, *(S.angular.dot(moment) for moment in moments)]


def _along(model: Model, axis: JointDof, torque: Scalar) -> list[Scalar]:
    """Torques of all joints where one degree of freedom needs a torque."""
    return [torque * axis.multiple if i == axis.place else 0 for i in range(model.nv)]


def _friction(model: Model, q: Scalars, qd: Scalars) -> Iterator[list[Scalar]]:
    """Columns of friction: torques of each law for a unit of each of its numbers."""
    for axis in axes(model):
        x, rate = axis.body.coordinates(q)[axis.k], axis.body.rates(qd)[axis.k]
        for torque in friction_columns(axis.dof, x, rate).values():
            yield _along(model, axis, torque)


def _joint_springs(model: Model, q: Scalars) -> Iterator[list[Scalar]]:
    """Columns of springs in joints: their torque is stiffness q + preload, and stiffness e in a ball joint."""
    for axis in axes(model):
        if is_zero(axis.dof.stiffness):
            continue
        if not axis.has_coordinate:
            yield _along(model, axis, deflections(axis.body, q)[axis.k])
            continue
        yield _along(model, axis, axis.body.coordinates(q)[axis.k])
        yield _along(model, axis, 1)


def _springs_between_links(model: Model, q: Scalars, qd: Scalars) -> Iterator[list[Scalar]]:
    """Columns of springs between links, which pull by stiffness l + damping dl/dt + preload, with l their length."""
    for posed in posed_springs(model, q, qd) if model.springs else ():
        unit = posed.r / posed.length
        for pull in (posed.r, unit * posed.rate, unit):
            yield external_torque(model, q, posed.wrenches(pull))
