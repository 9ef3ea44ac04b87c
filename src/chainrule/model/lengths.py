"""Links made longer or shorter: everything on a link is stretched along the line to the joint that it carries."""

from __future__ import annotations

from dataclasses import replace

from chainrule.errors import ModelError, UnknownNameError, quoted
from chainrule.model.constraints import Constraint
from chainrule.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Shape
from chainrule.model.joints import Moved, Screw
from chainrule.model.model import Model
from chainrule.model.parts import Joint, Link
from chainrule.model.springs import Spring
from chainrule.spatial import Scalar, Symmetric, Transform, Vector
from chainrule.spatial.physical import objection
from chainrule.spatial.scalar import is_zero

PARALLEL_TOLERANCE = 1e-9
"""Sine of the angle up to which two directions count as the same."""


def link_length(model: Model, link: str, toward: str | None = None) -> Vector:
    """The way from a link's own joint to the joint that it carries, in the link's frame.

    `toward` names the joint, link or frame that it leads to, where there are several.
    """
    ways = {name: _way_from_own_joint(model, link, point) for name, point in _ends(model, link).items()}
    if toward is not None:
        if toward not in ways:
            raise UnknownNameError.of("joint, link or frame", toward, ways, f"link {link!r} of robot {model.name!r}")
        if _is_zero(ways[toward]):
            raise ModelError(
                f"link {link!r} has no length toward {toward!r}, which is where the link's own joint is; move it with "
                "robot.edit(joints=...)"
            )
        return ways[toward]
    joints = [joint.name for joint in model.joints if joint.parent == link]
    names = [name for name in joints if not _is_zero(ways[name])]
    if not names:
        names = [f.name for f in model.frames if f.link == link and not _is_zero(ways[f.name])]
    if not names:
        raise ModelError(
            f"link {link!r} of robot {model.name!r} has no length: the joints and frames that it carries are where its "
            "own joint is, or it carries none; move them with robot.edit(joints=...) or with_frame"
        )
    longest = max(names, key=lambda name: float(ways[name].norm()))
    apart = [name for name in names if _sine(ways[name], ways[longest]) > PARALLEL_TOLERANCE]
    if apart:
        raise ModelError(
            f"link {link!r} of robot {model.name!r} carries {quoted(names)} in different directions; say along which "
            f"it is stretched, with toward={longest!r} or another"
        )
    return ways[longest]


def stretch_link(model: Model, name: str, factor: Scalar, along: Vector) -> Model:
    """Multiply by `factor` all that a link has along a direction: joints, frames, center of mass, inertia, geometry.

    The mass stays. The inertia becomes that of the same body stretched: its second moment along the direction grows
    with the square of the factor.
    """
    u = along / along.norm()
    stretch = Stretch(u, factor)
    index = model.index_of[name]
    link = model.links[index]
    links = (*model.links[:index], stretch.link(link), *model.links[index + 1 :])
    frames = tuple(replace(f, origin=stretch.pose(f.origin)) if f.link == name else f for f in model.frames)
    joints = []
    for joint in model.joints:
        if joint.parent == name:
            joints.append(replace(joint, origin=stretch.pose(joint.origin)))
        elif joint.child == name:
            joints.append(stretch.own_joint(joint))
        else:
            joints.append(joint)
    stretched = replace(model, links=links, joints=tuple(joints), frames=frames)
    return replace(
        stretched,
        geometries=tuple(stretch.geometry(g) if g.link == name else g for g in model.geometries),
        constraints=tuple(_stretch_constraint(model, stretched, c, index, stretch) for c in model.constraints),
        springs=tuple(_stretch_spring(s, name, stretch) for s in model.springs),
    )


def _stretch_spring(spring: Spring, link: str, stretch: Stretch) -> Spring:
    """A spring whose points on the link move along; its rest length stays."""
    if spring.link_a == link:
        spring = replace(spring, point_a=stretch.point(spring.point_a))
    if spring.link_b == link:
        spring = replace(spring, point_b=stretch.point(spring.point_b))
    return spring


class Stretch:
    """The linear map x -> x + (factor - 1) (u . x) u of points in a link's frame, u of length one."""

    def __init__(self, u: Vector, factor: Scalar) -> None:
        self.u, self.factor = u, factor

    def point(self, x: Vector) -> Vector:
        """A point, moved along u."""
        along = self.u.dot(x)
        return x if along == 0 or is_zero(self.factor - 1) else x + self.u * (along * (self.factor - 1))

    def pose(self, T: Transform) -> Transform:
        """A frame whose origin is moved, and whose axes stay."""
        return Transform(T.rotation, self.point(T.translation))

    def link(self, link: Link) -> Link:
        """The link with its center of mass moved and its inertia that of the stretched body.

        An inertia that no body has, or one without mass, stays as it is.
        """
        moved = replace(link, com=self.point(link.com))
        if not link.mass > 0 or objection(link.mass, link.com, link.inertia):
            return moved
        I = link.inertia
        second = Symmetric.scaled_identity(I.trace() / 2) - I  # the second moment of mass about the com
        su = second * self.u
        s = self.factor - 1
        # (1 + s u u^T) Sigma (1 + s u u^T) = Sigma + s (u su^T + su u^T) + s^2 (u . su) u u^T
        u, uu = self.u, s * s * self.u.dot(su)
        grown = Symmetric(
            2 * s * u.x * su.x + uu * u.x * u.x,
            2 * s * u.y * su.y + uu * u.y * u.y,
            2 * s * u.z * su.z + uu * u.z * u.z,
            s * (u.x * su.y + u.y * su.x) + uu * u.x * u.y,
            s * (u.x * su.z + u.z * su.x) + uu * u.x * u.z,
            s * (u.y * su.z + u.z * su.y) + uu * u.y * u.z,
        )
        return replace(moved, inertia=I + (Symmetric.scaled_identity(grown.trace()) - grown))

    def own_joint(self, joint: Joint) -> Joint:
        """The joint that moves the link, with its axis moved where it does not pass through the link's frame."""
        kind = joint.kind
        if isinstance(kind, Moved):
            back = kind.offset.inverse()
            return replace(joint, kind=Moved(kind.inner, self.pose(back).inverse()))
        if isinstance(kind, Screw) and kind.turns and any(kind.linear):
            w = kind.angular
            point = w.cross(kind.linear) / w.dot(w)
            advance = w * (w.dot(kind.linear) / w.dot(w))
            moved = self.point(point)
            if moved is not point:
                return replace(joint, kind=replace(kind, linear=moved.cross(w) + advance))
        return joint

    def geometry(self, geometry: Geometry) -> Geometry:
        """The shape, moved, and stretched as well where one of its own axes is along u."""
        axis = geometry.origin.rotation.inv * self.u
        aligned = [abs(x) > 1 - PARALLEL_TOLERANCE for x in axis]
        return replace(geometry, origin=self.pose(geometry.origin), shape=self._shape(geometry.shape, aligned))

    def _shape(self, shape: Shape, aligned: list[bool]) -> Shape:
        def scale(v: Vector) -> Vector:
            return Vector(*(x * self.factor if yes else x for x, yes in zip(v, aligned, strict=True)))

        if isinstance(shape, Box):
            return Box(scale(shape.size))
        if isinstance(shape, Ellipsoid):
            return Ellipsoid(scale(shape.radii))
        if isinstance(shape, Mesh):
            return replace(shape, scale=scale(shape.scale))
        if isinstance(shape, (Cylinder, Capsule)) and aligned[2]:
            return replace(shape, length=shape.length * self.factor)
        return shape


def _stretch_constraint(old: Model, new: Model, constraint: Constraint, index: int, stretch: Stretch) -> Constraint:
    """A constraint with its ends on the link moved."""
    changes = {}
    for end, place in (("link_a", "origin_a"), ("link_b", "origin_b")):
        owner, offset = old.locate(getattr(constraint, end))
        if owner == index:
            _, moved = new.locate(getattr(constraint, end))
            changes[place] = moved.inverse() * stretch.pose(offset * getattr(constraint, place))
    return replace(constraint, **changes) if changes else constraint  # type: ignore[arg-type]


def _way_from_own_joint(model: Model, link: str, end: Vector) -> Vector:
    """The way from the joint that moves a link to a point on it, both in the link's frame.

    It starts at the joint's own frame. Where the axis does not pass through that, it starts at the axis, square to it.
    """
    index = model.index_of[link]
    kind = model.joints[index - 1].kind if index else None
    if isinstance(kind, Moved):
        return end - kind.offset.inverse().translation
    if isinstance(kind, Screw) and kind.turns and any(kind.linear):
        w = kind.angular / kind.angular.norm()
        point = kind.angular.cross(kind.linear) / kind.angular.dot(kind.angular)
        if not _is_zero(point):
            way = end - point
            return way - w * w.dot(way)
    return end


def _ends(model: Model, link: str) -> dict[str, Vector]:
    """The places of the joints, their links, and the frames that a link carries, by name."""
    ends = {frame.name: frame.origin.translation for frame in model.frames if frame.link == link}
    for joint in model.joints:
        if joint.parent == link:
            ends[joint.child] = ends[joint.name] = joint.origin.translation
    return ends


def _is_zero(v: Vector) -> bool:
    return bool(v.norm() < 1e-12)


def _sine(a: Vector, b: Vector) -> float:
    """Sine of the angle between two vectors; 2 where they point away from each other."""
    if a.dot(b) < 0:
        return 2.0
    return float(a.cross(b).norm() / (a.norm() * b.norm()))
