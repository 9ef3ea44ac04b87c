"""Rigid bodies from shapes: mass, center of mass and inertia by density or by mass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, number, one_of, positive, symmetric, vector
from chainrule.errors import ModelError, ShapeError, short_repr
from chainrule.formats.exact import snap
from chainrule.model import Link
from chainrule.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from chainrule.robot.parts import short, tuple_text
from chainrule.robot.placing import place
from chainrule.spatial import Inertia, Rotation, Symmetric, Transform, Vector, shapes
from chainrule.spatial.physical import objection

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

NEEDS: dict[str, tuple[str, ...]] = {
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
    "ellipsoid": ("size",),
    "rod": ("length",),
    "point": (),
}
"""The shapes, and the dimensions that each needs."""


@dataclass(frozen=True)
class RigidBody:
    """Mass, center of mass and inertia of a body in its frame, and the shapes that it is made of.

    Two bodies in the same frame are joined with `+`.
    """

    link: Link
    """The numbers, which are those of a link."""
    shapes: tuple[tuple[Shape, Transform], ...] = ()
    """Each with its pose in the frame."""

    @property
    def spatial_inertia(self) -> Inertia:
        """About the frame's origin."""
        return self.link.spatial_inertia

    @property
    def mass(self) -> float:
        """Mass, in kg."""
        return float(self.link.mass)

    @property
    def com(self) -> Array:
        """Center of mass (3,), in m."""
        return np.array([*self.link.com], dtype=float)

    @property
    def inertia(self) -> Array:
        """Inertia matrix (3, 3) about the center of mass, in kg m^2."""
        return np.array([[*row] for row in self.link.inertia], dtype=float)

    def __add__(self, other: RigidBody) -> RigidBody:
        if not isinstance(other, RigidBody):
            return NotImplemented
        return RigidBody(self.link.together_with(other.link), (*self.shapes, *other.shapes))

    def __repr__(self) -> str:
        moments = tuple_text(np.diag(self.inertia))
        return f"<RigidBody: {short(self.mass)} kg at {tuple_text(self.com)} m, inertia xx, yy, zz {moments} kg m^2>"


def rigid_body(
    mass: float | None = None,
    com: ArrayLike | None = None,
    inertia: ArrayLike | None = None,
    *,
    shape: str | Shape | None = None,
    size: ArrayLike | None = None,
    radius: float | None = None,
    length: float | None = None,
    density: float | None = None,
    origin: Any = None,
    xyz: ArrayLike | None = None,
    rpy: ArrayLike | None = None,
    degrees: bool = False,
) -> RigidBody:
    """A rigid body, from its numbers or from a shape of uniform density.

    Parameters
    ----------
    mass
        In kg; or `density`, in kg/m^3, for a shape.
    com
        Center of mass (3,), in m. That of the shape, or the origin, unless given.
    inertia
        About the center of mass, in kg m^2: (xx, yy, zz), (xx, yy, zz, xy, xz, yz) or 3-by-3. That of the shape, or
        none (a point mass), unless given.
    shape
        "box" (size), "cylinder" and "capsule" (radius, length, along z), "sphere" (radius), "ellipsoid" (size),
        "rod" (length, along z, thin), or one of `chainrule.model.geometry`. Its center is at its origin. The length
        of a capsule is that of the cylinder between its half balls.
    size, radius, length
        Dimensions of the shape, in m; size has the full lengths along x, y and z.
    density
        In kg/m^3, in place of the mass.
    origin, xyz, rpy
        The pose of the shape in the body's frame, or its place (m) and its roll, pitch, yaw (rad).
    degrees
        Whether rpy is in degrees.

    Examples
    --------

    >>> import chainrule as cr
    >>> cr.rigid_body(shape="box", size=(0.1, 0.2, 0.3), density=1000.0)
    <RigidBody: 6 kg at (0, 0, 0) m, inertia xx, yy, zz (0.065, 0.05, 0.025) kg m^2>
    >>> tool = cr.rigid_body(0.4, shape="cylinder", radius=0.02, length=0.1, xyz=(0, 0, 0.05))
    >>> (tool + cr.rigid_body(0.1, com=(0, 0, 0.1))).mass
    0.5
    """
    T = place(origin, xyz, rpy, degrees=degrees, what="rigid_body")
    solid = None if shape is None else _shape(shape, {"size": size, "radius": radius, "length": length})
    if solid is None:
        for name, value in (("size", size), ("radius", radius), ("length", length), ("density", density)):
            if value is not None:
                raise ShapeError(f"rigid_body: {name} belongs to a shape; give shape=..., such as 'box' or 'cylinder'")
    if (mass is None) == (density is None):
        raise ShapeError("rigid_body: give either mass (kg), or a shape and its density (kg/m^3)")
    if density is None:
        m = number(mass, "rigid_body: mass", "kg")
    else:
        if solid is None or isinstance(solid, str):
            raise ShapeError(f"rigid_body: a {shape} has no volume, so that its mass is no density; give mass=...")
        m = positive(density, "rigid_body: density", "positive, in kg/m^3", unit="kg/m^3") * _volume(solid)
    body = Inertia(m, Vector.zero(), Symmetric.zero())
    if solid is not None:
        body = T * _inertia(solid, m, length)
    about = body.about_com() if inertia is None else symmetric(inertia, "rigid_body: inertia")
    center = body.com if com is None else vector(com, "rigid_body: com", "m")
    wrong = objection(m, center, about)
    if wrong:
        raise ModelError(f"rigid_body: the body {wrong}; correct its mass (kg) or its inertia (kg m^2)")
    drawn = () if solid is None or isinstance(solid, str) else ((solid, T),)
    return RigidBody(Link("body", m, center, about), drawn)


def _shape(shape: Any, dimensions: dict[str, Any]) -> Shape | str:
    """The shape, or the name of one that has no surface."""
    if isinstance(shape, (Box, Cylinder, Capsule, Sphere, Ellipsoid)):
        given = [name for name, value in dimensions.items() if value is not None]
        if given:
            raise ShapeError(f"rigid_body: the shape has its own dimensions; leave out {', '.join(given)}")
        return shape
    if not isinstance(shape, str):
        raise ShapeError(f"rigid_body: shape must be a name such as 'box', or a shape, got {short_repr(shape)}")
    name = one_of(NEEDS, shape, "shape", "rigid_body")
    for dimension, value in dimensions.items():
        if (value is None) == (dimension in NEEDS[name]):
            needs = " and ".join(NEEDS[name]) or "no dimension"
            raise ShapeError(
                f"rigid_body: a {name} takes {needs}, and {dimension} is {'missing' if value is None else 'given'}"
            )
    if name in ("rod", "point"):
        if name == "rod":
            positive(dimensions["length"], "rigid_body: length", "a positive number of metres", unit="m")
        return name
    if name in ("box", "ellipsoid"):
        full = vector(dimensions["size"], "rigid_body: size", "m")
        for x in full:
            positive(x, "rigid_body: size", "positive lengths, in m", unit="m")
        return Box(full) if name == "box" else Ellipsoid(full / 2)
    r = positive(dimensions["radius"], "rigid_body: radius", "a positive number of metres", unit="m")
    if name == "sphere":
        return Sphere(r)
    along = positive(dimensions["length"], "rigid_body: length", "a positive number of metres", unit="m")
    return Cylinder(r, along) if name == "cylinder" else Capsule(r, along)


def _volume(shape: Shape) -> float:
    """In m^3."""
    function, *dimensions = _function(shape)
    return float(shapes.VOLUMES[function](*dimensions))


def _inertia(shape: Shape | str, mass: float, length: Any) -> Inertia:
    """About the shape's own center."""
    if not isinstance(shape, str):
        function, *dimensions = _function(shape)
        return function(mass, *dimensions)
    if shape == "rod":
        return shapes.rod(mass, number(length, "rigid_body: length", "m"))
    return Inertia(mass, Vector.zero(), Symmetric.zero())


def _function(shape: Shape) -> tuple[Any, ...]:
    """The function of `spatial.shapes` for a shape, and its dimensions."""
    if isinstance(shape, Box):
        return (shapes.box, *shape.size)
    if isinstance(shape, Ellipsoid):
        return (shapes.ellipsoid, *shape.radii)
    if isinstance(shape, Sphere):
        return (shapes.sphere, shape.radius)
    assert isinstance(shape, (Cylinder, Capsule))
    return (shapes.cylinder if isinstance(shape, Cylinder) else shapes.capsule, shape.radius, shape.length)


def turn_z_to(direction: Vector) -> Rotation:
    """A rotation that turns the z axis into a direction of length one, exact for the coordinate axes."""
    x, y, z = direction
    if z == 1:
        return Rotation.identity()
    if z == -1:
        return Rotation(Vector(1.0, 0.0, 0.0), Vector(0.0, -1.0, 0.0), Vector(0.0, 0.0, -1.0))
    axis = Vector(-y, x, 0.0)
    return snap(Rotation.about(axis / axis.norm(), math.acos(max(-1.0, min(1.0, float(z))))))
