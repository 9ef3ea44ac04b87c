"""Rigid bodies from numbers, symbols and shapes: mass, center of mass and inertia by density or by mass."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from chainrule.arguments import flag, number, one_of, positive, vector
from chainrule.calls import explains_arguments
from chainrule.errors import ShapeError, short_repr
from chainrule.formats.exact import snap
from chainrule.model import Link
from chainrule.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from chainrule.robot.body_values import is_symbolic, pose_of, scalar, symmetric_of, vector_of
from chainrule.robot.placing import place
from chainrule.robot.rigid_body import RigidBody, refuse_unphysical
from chainrule.spatial import Inertia, Rotation, Symmetric, Vector, shapes

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


@explains_arguments
def rigid_body(
    mass: Any = None,
    com: Any = None,
    inertia: Any = None,
    *,
    shape: str | Shape | None = None,
    size: Any = None,
    radius: Any = None,
    length: Any = None,
    density: Any = None,
    origin: Any = None,
    xyz: Any = None,
    rpy: Any = None,
    degrees: bool = False,
) -> RigidBody:
    """A rigid body, from its numbers or from a shape of uniform density; expressions of SymPy may stand for numbers.

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
    >>> import sympy as sp
    >>> m, r, h = sp.symbols("m r h", positive=True)
    >>> cr.rigid_body(m, shape="cylinder", radius=r, length=h).inertia[2, 2]
    m*r**2/2
    """
    here = "rigid_body"
    turned_in_degrees = flag(degrees, "rigid_body: degrees")
    if turned_in_degrees and is_symbolic((origin, xyz, rpy)):
        raise ShapeError("rigid_body: angles in symbols are in rad; leave out degrees")
    if is_symbolic((mass, inertia, size, radius, length, density, origin, xyz, rpy)) and not turned_in_degrees:
        T = pose_of(origin, xyz, rpy, here)
    else:
        T = place(origin, xyz, rpy, degrees=turned_in_degrees, what=here)
    dimensions = {"size": size, "radius": radius, "length": length}
    solid = None if shape is None else _solid(shape, dimensions)
    if solid is None:
        for name, value in (*dimensions.items(), ("density", density)):
            if value is not None:
                raise ShapeError(f"rigid_body: {name} belongs to a shape; give shape=..., such as 'box' or 'cylinder'")
    if (mass is None) == (density is None):
        raise ShapeError("rigid_body: give either mass (kg), or a shape and its density (kg/m^3)")
    if density is None:
        m = scalar(mass, "rigid_body: mass", "kg")
    else:
        if solid is None or solid.function not in shapes.VOLUMES:
            raise ShapeError(f"rigid_body: a {shape} has no volume, so that its mass is no density; give mass=...")
        what = "rigid_body: density"
        rho = (
            scalar(density, what, "")
            if is_symbolic(density)
            else positive(density, what, "positive, in kg/m^3", unit="kg/m^3")
        )
        m = rho * shapes.VOLUMES[solid.function](*solid.dimensions)
    own = Symmetric.zero() if solid is None else solid.function(m, *solid.dimensions).inertia.rotate(T.rotation)
    about = own if inertia is None else symmetric_of(inertia, "rigid_body: inertia")
    center = T.translation if com is None else vector_of(com, "rigid_body: com", "m")
    link = Link("body", m, center, about)
    refuse_unphysical(link, here)
    drawn = () if solid is None or solid.drawn is None or is_symbolic(T) else ((solid.drawn, T),)
    return RigidBody(link, drawn)


class _Solid(NamedTuple):
    """A shape: the function that computes its inertia about its center, its dimensions, and how it is drawn."""

    function: Callable[..., Inertia]
    dimensions: tuple[Any, ...]
    drawn: Shape | None


def _solid(shape: Any, dimensions: dict[str, Any]) -> _Solid:
    """The shape that is meant, with dimensions in numbers or symbols."""
    if is_symbolic(list(dimensions.values())) and isinstance(shape, str):
        return _solid_in_symbols(shape, dimensions)
    found = _shape(shape, dimensions)
    if found == "rod":
        return _Solid(shapes.rod, (number(dimensions["length"], "rigid_body: length", "m"),), None)
    if isinstance(found, str):
        return _Solid(_point, (), None)
    function, *lengths = _function(found)
    return _Solid(function, tuple(lengths), found)


def _solid_in_symbols(shape: str, dimensions: dict[str, Any]) -> _Solid:
    name = one_of(NEEDS, shape, "shape", "rigid_body")
    _refuse_other_dimensions(name, dimensions)
    needed = [dimensions[key] for key in NEEDS[name]]
    if name in ("box", "ellipsoid"):
        full = vector_of(needed[0], "rigid_body: size", "m")
        lengths = tuple(full if name == "box" else full / 2)
    else:
        lengths = tuple(scalar(x, f"rigid_body: {key}", "m") for key, x in zip(NEEDS[name], needed, strict=True))
    functions: dict[str, Callable[..., Inertia]] = {
        "box": shapes.box, "ellipsoid": shapes.ellipsoid, "sphere": shapes.sphere, "rod": shapes.rod,
        "cylinder": shapes.cylinder, "capsule": shapes.capsule,
    }  # fmt: skip
    return _Solid(functions[name], lengths, None)


def _point(mass: Any) -> Inertia:
    return Inertia(mass, Vector.zero(), Symmetric.zero())


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
    _refuse_other_dimensions(name, dimensions)
    if name in ("rod", "point"):
        if name == "rod":
            positive(dimensions["length"], "rigid_body: length", "a positive number of meters", unit="m")
        return name
    if name in ("box", "ellipsoid"):
        full = vector(dimensions["size"], "rigid_body: size", "m")
        for x in full:
            positive(x, "rigid_body: size", "positive lengths, in m", unit="m")
        return Box(full) if name == "box" else Ellipsoid(full / 2)
    r = positive(dimensions["radius"], "rigid_body: radius", "a positive number of meters", unit="m")
    if name == "sphere":
        return Sphere(r)
    along = positive(dimensions["length"], "rigid_body: length", "a positive number of meters", unit="m")
    return Cylinder(r, along) if name == "cylinder" else Capsule(r, along)


def _refuse_other_dimensions(name: str, dimensions: dict[str, Any]) -> None:
    """Refuse a shape that lacks a dimension, or has one too many."""
    for dimension, value in dimensions.items():
        if (value is None) == (dimension in NEEDS[name]):
            needs = " and ".join(NEEDS[name]) or "no dimension"
            raise ShapeError(
                f"rigid_body: a {name} takes {needs}, and {dimension} is {'missing' if value is None else 'given'}"
            )


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
