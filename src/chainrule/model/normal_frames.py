"""Frames of links where dynamics is shortest: on common normals, whatever description a robot comes from.

The frame of a link has its z axis on the axis of its joint and its x axis on the common normal to the axis of the joint
that follows, as in the modified convention of Denavit and Hartenberg (Khalil and Kleinfinger, 1986). From one frame to
the next, coordinates then turn about x and about z alone. Torques, the mass matrix, energies, and whatever else refers
to the base and to joints only are the same. A table, screws and a file of one robot get the same frames.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from chainrule.model.joints import AXES, ConstantColumns, JointKind, Moved, RealCoordinates, Scalars, Screw
from chainrule.model.model import Model
from chainrule.model.parts import Frame, Joint, Link
from chainrule.spatial import Rotation, Symmetric, Transform, Twist, Vector
from chainrule.spatial.line import Line
from chainrule.spatial.scalar import cos, sin

IDENTITY = Transform.identity()
X, Y, Z = AXES

MIN_SINE = 0.02
"""Sine of the angle between two axes from which their common normal is used; that of a smaller one may be far away."""

ROUNDING = 1e-15
"""Distance of a number from 0, 1 or -1 that is put down to rounding."""

LENGTH_ROUNDING = 1e-12
"""Distance from 1 of the length of an axis that is meant to be 1."""

MAX_SCALE = 1e3
"""Length of an axis that is still taken for one; others are left as they are, for the sake of precision."""

MIN_LENGTH = 1e-9
"""Distance in m between parallel axes from which it has a direction."""


@dataclass(frozen=True)
class Turned(RealCoordinates, ConstantColumns):
    """A turn about z that begins at an angle: T(q) = Rz(length q) Rz(start).

    The rotations are multiplied, not the angles added: large angles would lose digits. So they would if `length`, that
    of an axis, were taken for 1 where it is rounded.
    """

    start: float
    length: float = 1.0
    name: str = "revolute"

    nv = 1
    units = ("rad",)

    def transform(self, q: Scalars) -> Transform:
        angle = q[0] * self.length if self.length != 1 else q[0]
        c, s, c0, s0 = cos(angle), sin(angle), math.cos(self.start), math.sin(self.start)
        x, y = c * c0 - s * s0, s * c0 + c * s0
        return Transform(Rotation(Vector(x, -y, 0), Vector(y, x, 0), Vector(0, 0, 1)), Vector.zero())

    def columns(self, q: Scalars) -> list[Twist]:
        return [Twist(Z * self.length, Vector.zero())]


def _alias(link: str) -> str:
    """The name of the frame that stays where the frame of a link was; no file can have such a name."""
    return f"{link}\0"


def original_frame(model: Model, name: str) -> str:
    """The name that a link or frame of a model has in `frames_on_normals` of it."""
    return _alias(name) if name in model.index_of else name


def has_frames_on_axes(model: Model) -> bool:
    """Whether every link that a screw moves has its frame on the axis of it."""
    kinds = [joint.kind for joint in model.joints if _screw(joint.kind) is not None]
    return not any(
        isinstance(kind, Moved) or (isinstance(kind, Screw) and kind.turns and any(kind.angular.cross(kind.linear)))
        for kind in kinds
    )


def frames_on_normals(model: Model) -> Model:
    """The same robot with the frames of links on common normals.

    Frames stay where they are, and so do springs. Every link gets a frame where its own one was, `original_frame`.
    Links of joints with several coordinates, whose velocities may be in their axes, keep their frames.
    """
    following = _following_axes(model)
    old = {model.links[0].name: IDENTITY}  # poses of the old frames in the new ones
    joints, links = [], [model.links[0]]
    for joint, link in zip(model.joints, model.links[1:], strict=True):
        O = old[joint.parent] * joint.origin * joint.kind.transform(joint.kind.neutral())  # the old frame at home
        screw = _screw(joint.kind)
        if screw is None:
            joints.append(replace(joint, origin=_round_off(old[joint.parent] * joint.origin)))
            old[link.name] = IDENTITY
        else:
            axis = _axis(screw).transform(old[joint.parent] * joint.origin)
            A = _joint_frame(axis, model.index_of[joint.parent] > 0)
            moved, N = _place_link(joint, screw, A, following.get(link.name), O)
            joints.append(moved)
            old[link.name] = _round_off(_orthonormal(N.inv * O))
        links.append(_moved_link(link, old[link.name]))
    frames = [replace(frame, origin=old[frame.link] * frame.origin) for frame in model.frames]
    frames += [Frame(_alias(link.name), link.name, old[link.name]) for link in model.links]
    return _with_springs(replace(model, joints=tuple(joints), links=tuple(links), frames=tuple(frames)), old)


def _moved_link(link: Link, T: Transform) -> Link:
    """The link with its old frame at T in the new one."""
    if T == IDENTITY:
        return link
    I = link.inertia.rotate(T.rotation)
    size = max(abs(I.xx), abs(I.yy), abs(I.zz))
    products = (0.0 if abs(x) < ROUNDING * size else x for x in (I.xy, I.xz, I.yz))
    return Link(link.name, link.mass, _round_off_vector(T * link.com), Symmetric(I.xx, I.yy, I.zz, *products))


def _with_springs(model: Model, old: Mapping[str, Transform]) -> Model:
    """The model with the points of springs on links in the new frames."""
    springs = [
        replace(
            spring,
            point_a=old[spring.link_a] * spring.point_a if spring.link_a in old else spring.point_a,
            point_b=old[spring.link_b] * spring.point_b if spring.link_b in old else spring.point_b,
        )
        for spring in model.springs
    ]
    return replace(model, springs=tuple(springs))


def _screw(kind: JointKind) -> Screw | None:
    """The screw of a joint with one degree of freedom, in its own frame."""
    inner = kind.inner if isinstance(kind, Moved) else kind
    if not isinstance(inner, Screw):
        return None
    length = (inner.angular if inner.turns else inner.linear).norm()
    return inner if 1 / MAX_SCALE < length < MAX_SCALE else None


def _axis(screw: Screw) -> Line:
    if not screw.turns:
        return Line(Vector.zero(), screw.linear / screw.linear.norm())
    square = screw.angular.dot(screw.angular)
    return Line(screw.angular.cross(screw.linear) / square, screw.angular / math.sqrt(square))


def _following_axes(model: Model) -> dict[str, Line]:
    """For each link the axis, in its frame, of the joint after it that carries the most links."""
    carried = [1] * len(model.links)
    for body in reversed(model.bodies):
        carried[body.parent] += carried[body.index]
    chosen: dict[str, tuple[int, Line]] = {}
    for body in model.bodies:
        joint, screw = body.joint, _screw(body.joint.kind)
        count = carried[body.index]
        if screw is not None and count > chosen.get(joint.parent, (0, None))[0]:
            chosen[joint.parent] = count, _axis(screw).transform(joint.origin)
    return {link: axis for link, (_, axis) in chosen.items()}


def _joint_frame(axis: Line, has_normal: bool) -> Transform:
    """A frame on an axis, given in the parent's frame, whose x axis is on the common normal with the parent's z axis.

    Where there is no such normal at the parent's x axis, x is as near to the parent's as it can be.
    """
    z, point = axis.direction, axis.point
    sine = -z.y  # Rx(angle) turns the parent's z to (0, -sin, cos)
    if has_normal and abs(z.x) < ROUNDING:
        c, s = _exact(z.z), _exact(sine)
        R = Rotation(Vector(1.0, 0.0, 0.0), Vector(0.0, c, -s), Vector(0.0, s, c))
        z = Vector(0.0, -s, c)
        return Transform(R, _round_off_vector(Line(point, z).nearest(Vector.zero())))
    x = X - z * z.x if abs(z.x) < 0.9 else Y - z * z.y
    x = x / x.norm()
    y = z.cross(x)
    R = Rotation(Vector(x.x, y.x, z.x), Vector(x.y, y.y, z.y), Vector(x.z, y.z, z.z))
    return _round_off(Transform(R, axis.nearest(Vector.zero())))


def _place_link(
    joint: Joint, screw: Screw, A: Transform, following: Line | None, O: Transform
) -> tuple[Joint, Transform]:
    """The joint from the frame A on its axis to the new frame of its link, and that frame's pose at home.

    `following` is the next axis in the link's old frame, whose pose at home is O.
    """
    R = A.rotation
    x, y, z = (R * e for e in AXES)
    x_new, rise = x, 0.0
    if following is not None:
        next_point, next_z = following.transform(O)
        normal = z.cross(next_z)
        sine = normal.norm()
        apart = next_point - A.translation
        if sine >= MIN_SINE:
            x_new = normal / sine
            rise = apart.dot(next_z.cross(normal)) / (sine * sine)  # foot of the common normal on this axis
        else:
            across = apart - z * z.dot(apart)
            x_new = across / across.norm() if across.norm() > MIN_LENGTH else x
    c, s = _exact(x.dot(x_new)), _exact(y.dot(x_new))
    if c < 0 or (c == 0 and s < 0):  # either direction of the normal will do
        c, s = -c, -s
    rise = 0.0 if abs(rise) < ROUNDING else rise
    turn = Rotation(Vector(c, -s, 0.0), Vector(s, c, 0.0), Vector(0.0, 0.0, 1.0))
    raised = A * Transform(Rotation.identity(), Vector(0.0, 0.0, rise)) if rise else A
    N = raised * Transform(turn, Vector.zero())
    length, advance = _length_and_advance(screw)
    if advance == 0 and abs(length - 1) < LENGTH_ROUNDING and c != 0 and s != 0:
        return replace(joint, origin=raised, kind=Turned(math.atan2(s, c), length, screw.name)), N
    along = Screw(Vector(0.0, 0.0, length), Vector(0.0, 0.0, advance), screw.name)
    return replace(joint, origin=_round_off(N), kind=along), N


def _length_and_advance(screw: Screw) -> tuple[float, float]:
    """Angle and distance by which a screw moves for each unit of its coordinate."""
    if not screw.turns:
        return 0.0, screw.linear.norm()
    length = screw.angular.norm()
    return length, _exact(screw.angular.dot(screw.linear) / length)


def _exact(x: float) -> float:
    nearest = round(x)
    return float(nearest) if abs(x - nearest) < ROUNDING else x


def _orthonormal(T: Transform) -> Transform:
    """The pose with a rotation that is orthonormal to rounding.

    `Transform.inv` transposes. A defect of orthonormality would therefore double at each link of a chain.
    """
    a, b, _ = T.rotation
    a = a / a.norm()
    b = b - a * a.dot(b)
    b = b / b.norm()
    return Transform(Rotation(a, b, a.cross(b)), T.translation)


def _round_off(T: Transform) -> Transform:
    rows = (Vector(*(_exact(x) for x in row)) for row in T.rotation)
    return Transform(Rotation(*rows), _round_off_vector(T.translation))


def _round_off_vector(v: Vector) -> Vector:
    return Vector(*(0.0 if abs(x) < ROUNDING else x for x in v))
