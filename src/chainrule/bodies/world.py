"""`cr.World`: obstacles around a robot. Immutable: each method returns a new world."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from chainrule.algorithms.solids import layout
from chainrule.arguments import Array, number, positive, real_array, refuse_nonfinite, vector, word
from chainrule.bodies.body import CollisionBody, Convex, SolidShape, Spheres
from chainrule.bodies.mesh_points import MeshSource, hull_points, mesh_of
from chainrule.calls import explains_construction
from chainrule.errors import ModelError, ShapeError, UnknownNameError, quoted, short_repr
from chainrule.lazy import cached_property
from chainrule.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from chainrule.shapes.surfaces import rotation_along
from chainrule.spatial import Rotation, Transform, Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ORIGIN = (0.0, 0.0, 0.0)
SURFACE = ("friction", "restitution")


@explains_construction
@dataclass(frozen=True)
class World:
    """Obstacles in the base's axes, each a solid with a name; lengths in m, angles in rad.

    xyz is where the middle of a thing is, rpy its roll, pitch and yaw about the fixed x, y and z axes. friction and
    restitution say what its surface is like, where that matters.

    >>> import chainrule as cr
    >>> world = cr.World().box("table", size=(1, 1, 0.05), xyz=(0.5, 0, -0.03)).sphere("ball", 0.1, (0.4, 0.2, 0.4))
    >>> world.names, world["ball"].shape.radius
    (('table', 'ball'), 0.1)
    """

    bodies: tuple[CollisionBody, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.bodies, tuple) or not all(isinstance(body, CollisionBody) for body in self.bodies):
            raise ShapeError(f"World takes a tuple of collision bodies, got {short_repr(self.bodies)}; .box() adds one")

    @classmethod
    def ground(cls, height: float = 0.0, *, friction: float | None = None, restitution: float | None = None) -> Self:
        """A world with a level floor, called "ground": everything with z below the height is solid."""
        z = number(height, "World.ground: height", "m")
        return cls().half_space("ground", point=(0.0, 0.0, z), friction=friction, restitution=restitution)

    def box(self, name: str, size: ArrayLike, xyz: ArrayLike = ORIGIN, rpy: ArrayLike = ORIGIN, **surface: Any) -> Self:
        """Add a box; `size` are its full lengths along its own x, y and z."""
        lengths = vector(size, f"box {name!r}: size", "m")
        for x in lengths:
            _size(x, f"box {name!r}: each length of its size")
        return self._with(name, Box(lengths), xyz, rpy, surface)

    def sphere(self, name: str, radius: float, xyz: ArrayLike = ORIGIN, **surface: Any) -> Self:
        """Add a ball."""
        return self._with(name, Sphere(_size(radius, f"sphere {name!r}: radius")), xyz, ORIGIN, surface)

    def capsule(
        self, name: str, radius: float, length: float, xyz: ArrayLike = ORIGIN, rpy: ArrayLike = ORIGIN, **surface: Any
    ) -> Self:
        """Add a cylinder along its own z, of this length, with half a ball on each end."""
        shape = Capsule(_size(radius, f"capsule {name!r}: radius"), _size(length, f"capsule {name!r}: length"))
        return self._with(name, shape, xyz, rpy, surface)

    def cylinder(
        self, name: str, radius: float, length: float, xyz: ArrayLike = ORIGIN, rpy: ArrayLike = ORIGIN, **surface: Any
    ) -> Self:
        """Add a cylinder along its own z, of this length."""
        shape = Cylinder(_size(radius, f"cylinder {name!r}: radius"), _size(length, f"cylinder {name!r}: length"))
        return self._with(name, shape, xyz, rpy, surface)

    def ellipsoid(
        self, name: str, radii: ArrayLike, xyz: ArrayLike = ORIGIN, rpy: ArrayLike = ORIGIN, **surface: Any
    ) -> Self:
        """Add an ellipsoid; `radii` are its half axes along its own x, y and z."""
        half = vector(radii, f"ellipsoid {name!r}: radii", "m")
        for x in half:
            _size(x, f"ellipsoid {name!r}: each of its radii")
        return self._with(name, Ellipsoid(half), xyz, rpy, surface)

    def half_space(
        self, name: str, normal: ArrayLike = (0.0, 0.0, 1.0), point: ArrayLike = ORIGIN, **surface: Any
    ) -> Self:
        """Add everything on one side of a plane through a point; the normal points out of it, to where the robot is."""
        n = vector(normal, f"half_space {name!r}: normal")
        if not n.norm() > 0:
            raise ShapeError(f"half_space {name!r}: its normal must not be zero, got {normal!r}")
        axes = Rotation.of(rotation_along(np.array(n)).tolist())
        place = Transform(axes, vector(point, f"half_space {name!r}: point", "m"))
        return self.put(CollisionBody(self._new_name(name), Plane(), place, **_surface(name, surface)))

    def mesh(
        self,
        name: str,
        mesh: MeshSource,
        xyz: ArrayLike = ORIGIN,
        rpy: ArrayLike = ORIGIN,
        *,
        scale: ArrayLike = 1.0,
        spheres: int | None = None,
        **surface: Any,
    ) -> Self:
        """Add a mesh: a file, or (points (n, 3), triangles (m, 3)) in m.

        It counts as its convex hull; with spheres=40 as so many balls that cover its surface, for what is hollow or
        bent.
        """
        label = f"mesh {name!r}"
        points, triangles = mesh_of(mesh, label)
        factor = np.broadcast_to(real_array(scale, f"{label}: scale"), (3,))
        refuse_nonfinite(factor, f"{label}: scale")
        if not factor.all():
            raise ShapeError(f"{label}: its scale must not be zero, got {scale!r}")
        points = points * factor
        if spheres is None:
            corners, margin = hull_points(points)
            shape: SolidShape = Convex(tuple(Vector(*p) for p in corners.tolist()), margin)
        else:
            from chainrule.bodies.fitting import cover_with_spheres

            centers, radii = cover_with_spheres(points, triangles, spheres)
            shape = Spheres(tuple(Vector(*p) for p in centers.tolist()), tuple(radii.tolist()))
        return self._with(name, shape, xyz, rpy, surface)

    def put(self, body: CollisionBody) -> Self:
        """Add a body as it is."""
        self._new_name(body.name)
        return replace(self, bodies=(*self.bodies, body))

    def join(self, other: World, prefix: str = "") -> Self:
        """Add the obstacles of another world, with a prefix before their names."""
        joined = self
        for body in other:
            joined = joined.put(replace(body, name=prefix + body.name))
        return joined

    def remove(self, name: str) -> Self:
        """Take an obstacle out."""
        gone = self[name]
        return replace(self, bodies=tuple(body for body in self.bodies if body is not gone))

    def move(self, name: str, xyz: ArrayLike, rpy: ArrayLike = ORIGIN) -> Self:
        """Move an obstacle to another place. Nothing is compiled again for it."""
        moved = replace(self[name], origin=_place(name, xyz, rpy))
        return replace(self, bodies=tuple(moved if body.name == name else body for body in self.bodies))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the obstacles, in order."""
        return tuple(body.name for body in self.bodies)

    @cached_property
    def layout(self) -> str:
        """The kinds of the obstacles: what functions are compiled for, whatever the numbers are."""
        return layout([body.solid for body in self.bodies])

    @cached_property
    def numbers(self) -> Array:
        """The sizes and places of all obstacles, in order, as kernels take them."""
        return np.array([float(x) for body in self.bodies for x in body.solid.numbers()])

    @cached_property
    def by_kind(self) -> dict[str, tuple[list[int], Array]]:
        """The obstacles of each kind, as of `layout`: their indices, and their numbers, a row for each."""
        kinds: dict[str, tuple[list[int], list[list[float]]]] = {}
        for k, body in enumerate(self.bodies):
            solid = body.solid
            indices, rows = kinds.setdefault(layout([solid]), ([], []))
            indices.append(k)
            rows.append([float(x) for x in solid.numbers()])
        return {kind: (indices, np.array(rows)) for kind, (indices, rows) in kinds.items()}

    def __getitem__(self, name: str) -> CollisionBody:
        for body in self.bodies:
            if body.name == name:
                return body
        raise UnknownNameError.of("obstacle", name, self.names, "the world")

    def __iter__(self) -> Iterator[CollisionBody]:
        return iter(self.bodies)

    def __len__(self) -> int:
        return len(self.bodies)

    def __repr__(self) -> str:
        things = (f"{type(body.shape).__name__.lower()} {body.name!r}" for body in self.bodies)
        return f"<World: {', '.join(things) or 'empty'}>"

    def _with(self, name: str, shape: SolidShape, xyz: ArrayLike, rpy: ArrayLike, surface: dict[str, Any]) -> Self:
        place = _place(name, xyz, rpy)
        return self.put(CollisionBody(self._new_name(name), shape, place, **_surface(name, surface)))

    def _new_name(self, name: str) -> str:
        if word(name, "the name of an obstacle") in self.names:
            raise ModelError(f"the world has an obstacle {name!r} already; names are {quoted(self.names)}")
        return name


def _size(value: Any, what: str) -> float:
    return positive(value, what, "a positive length in m", unit="m")


def _place(name: str, xyz: ArrayLike, rpy: ArrayLike) -> Transform:
    at, turn = vector(xyz, f"{name!r}: xyz", "m"), vector(rpy, f"{name!r}: rpy", "rad")
    return Transform.from_xyz_rpy((*at,), (*turn,))


def _surface(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The coefficients of a surface, checked."""
    found: dict[str, Any] = {}
    for key, value in given.items():
        if key not in SURFACE:
            raise UnknownNameError.of("option", key, SURFACE, f"obstacle {name!r}")
        x = None if value is None else number(value, f"{name!r}: {key}")
        if x is not None and not 0 <= x <= (1.0 if key == "restitution" else math.inf):
            most = "between 0 and 1" if key == "restitution" else "not negative"
            raise ShapeError(f"{name!r}: {key} must be {most}, got {value!r}")
        found[key] = x
    return found
