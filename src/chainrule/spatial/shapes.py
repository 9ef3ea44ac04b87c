"""Inertias of uniform bodies, each about its own center of mass unless it says otherwise.

Formulas over generic scalars; masses in kg, lengths in m. Place a body with ``T * body`` and join bodies with
``+``: the sum is the compound body.

>>> compound = cylinder(2.0, radius=0.1, height=0.2) + Transform.from_xyz_rpy((0.3, 0, 0)) * box(1.0, 0.4, 0.1, 0.1)
>>> round(compound.com.x, 12)
0.1
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from chainrule.errors import ShapeError, short_repr
from chainrule.spatial.inertia import Inertia
from chainrule.spatial.scalar import Scalar
from chainrule.spatial.transform import Transform
from chainrule.spatial.vector import Symmetric, Vector, steiner

__all__ = [
    "Transform", "box", "by_density", "capsule", "cone", "cylinder", "ellipsoid", "mesh", "parallel_axis", "point_mass",
    "rod", "sphere",
]  # fmt: skip


def _about_center(mass: Scalar, xx: Scalar, yy: Scalar, zz: Scalar) -> Inertia:
    return Inertia(mass, Vector.zero(), Symmetric(xx, yy, zz))


def point_mass(mass: Scalar, at: Vector) -> Inertia:
    """A point mass, about the origin."""
    return Inertia.from_com(mass, at, Symmetric.zero())


def box(mass: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Inertia:
    """A box with full edge lengths x, y, z."""
    m = mass / 12
    return _about_center(mass, m * (y * y + z * z), m * (x * x + z * z), m * (x * x + y * y))


def cylinder(mass: Scalar, radius: Scalar, height: Scalar) -> Inertia:
    """A solid cylinder along z."""
    side = mass * (3 * radius * radius + height * height) / 12
    return _about_center(mass, side, side, mass * radius * radius / 2)


def rod(mass: Scalar, length: Scalar) -> Inertia:
    """A thin rod along z."""
    side = mass * length * length / 12
    return _about_center(mass, side, side, 0)


def ellipsoid(mass: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Inertia:
    """A solid ellipsoid with semi-axes x, y, z."""
    m = mass / 5
    return _about_center(mass, m * (y * y + z * z), m * (x * x + z * z), m * (x * x + y * y))


def sphere(mass: Scalar, radius: Scalar) -> Inertia:
    return ellipsoid(mass, radius, radius, radius)


def capsule(mass: Scalar, radius: Scalar, length: Scalar) -> Inertia:
    """A cylinder of the given length along z with a half ball on each end."""
    tube = 3 * length
    balls = 4 * radius  # volumes, both over pi r^2 / 3
    m_tube, m_balls = mass * tube / (tube + balls), mass * balls / (tube + balls)
    core = cylinder(m_tube, radius, length).inertia
    along = m_balls * radius * radius * 2 / 5
    across = along + m_balls * (length * length / 4 + length * radius * 3 / 8)
    return _about_center(mass, core.xx + across, core.yy + across, core.zz + along)


def cone(mass: Scalar, radius: Scalar, height: Scalar) -> Inertia:
    """A solid cone along z about its center of mass, which lies a quarter of the height above the base."""
    side = mass * (4 * radius * radius + height * height) * 3 / 80
    return _about_center(mass, side, side, mass * radius * radius * 3 / 10)


def _pi(x: Scalar) -> Scalar:
    """The number pi: exact beside symbols of SymPy."""
    return import_module("sympy").pi if type(x).__module__.partition(".")[0] == "sympy" else math.pi


def _ellipsoid_volume(x: Scalar, y: Scalar, z: Scalar) -> Scalar:
    return x * y * z * 4 * _pi(x) / 3


def _cylinder_volume(radius: Scalar, height: Scalar) -> Scalar:
    return radius * radius * height * _pi(radius)


def _sphere_volume(radius: Scalar) -> Scalar:
    return _ellipsoid_volume(radius, radius, radius)


def _capsule_volume(radius: Scalar, length: Scalar) -> Scalar:
    return _cylinder_volume(radius, length) + _sphere_volume(radius)


VOLUMES: dict[Callable[..., Inertia], Callable[..., Scalar]] = {
    box: lambda x, y, z: x * y * z,
    cylinder: _cylinder_volume,
    ellipsoid: _ellipsoid_volume,
    sphere: _sphere_volume,
    capsule: _capsule_volume,
    cone: lambda radius, height: _cylinder_volume(radius, height) / 3,
}
"""Volumes of the shapes that have one, in m^3, by the function that computes the shape's inertia."""


def by_density(density: Scalar, shape: Callable[..., Inertia], *dimensions: Any, **named: Any) -> Inertia:
    """Inertia of a uniform shape, one of the functions of this module with its dimensions, by its density in kg/m^3.

    >>> by_density(1000.0, box, 0.5, 0.5, 0.25).mass
    62.5
    >>> import sympy as sp
    >>> by_density(sp.Symbol("rho"), cylinder, radius=sp.Symbol("r"), height=sp.Symbol("h")).mass
    pi*h*r**2*rho
    """
    if shape not in VOLUMES:
        known = ", ".join(function.__name__ for function in VOLUMES)
        raise ShapeError(f"by_density takes a shape with a volume ({known}), got {short_repr(shape)}")
    return shape(density * VOLUMES[shape](*dimensions, **named), *dimensions, **named)


def mesh(mass: Scalar, vertices: Sequence[Sequence[Scalar]], triangles: Sequence[Sequence[int]]) -> Inertia:
    """A uniform solid bounded by a closed triangle mesh, about the origin of its vertices.

    The triangles are counter-clockwise seen from outside. Each spans a signed tetrahedron with the origin, and the
    sum of those is the solid.
    """
    volume, first, second = _mesh_moments(vertices, triangles)
    density = mass / volume
    about_origin = Symmetric.scaled_identity(second.trace()) - second
    return Inertia(mass, first * density, about_origin.scale(density))


def _mesh_moments(
    vertices: Sequence[Sequence[Scalar]], triangles: Sequence[Sequence[int]]
) -> tuple[Scalar, Vector, Symmetric]:
    """Volume of a closed mesh, and the integrals of r and of r r^T over it."""
    _check_closed(triangles)
    volume: Scalar = 0
    first = Vector.zero()
    second = Symmetric.zero()
    points = [Vector.of(v) for v in vertices]
    for i, j, k in triangles:
        a, b, c = points[i], points[j], points[k]
        v = a.dot(b.cross(c)) / 6
        s = a + b + c
        volume = volume + v
        first = first + s * (v / 4)
        squares = Symmetric.outer(a) + Symmetric.outer(b) + Symmetric.outer(c) + Symmetric.outer(s)
        second = second + squares.scale(v / 20)
    if isinstance(volume, (int, float)) and not volume > 0:
        raise ValueError(
            f"mesh encloses a volume of {volume:.3g} m^3, which must be positive: "
            "list each triangle counter-clockwise seen from outside"
        )
    return volume, first, second


VOLUMES[mesh] = lambda vertices, triangles: _mesh_moments(vertices, triangles)[0]


def _check_closed(triangles: Sequence[Sequence[int]]) -> None:
    edges = {(t[a], t[b]) for t in triangles for a, b in ((0, 1), (1, 2), (2, 0))}
    for a, b in edges:
        if (b, a) not in edges:
            raise ValueError(
                f"mesh is not closed: the edge from vertex {a} to {b} belongs to one triangle only; "
                "close the surface, or orient all triangles the same way"
            )


def parallel_axis(mass: Scalar, offset: Vector) -> Symmetric:
    """Term m (q.q 1 - q q^T) of Steiner's theorem, in kg m^2."""
    return steiner(offset, offset * mass)
