"""Geometry on links, for pictures and for contact: shapes, meshes, their places and colors. Dynamics ignores it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal, TypeAlias

from chainrule.errors import ModelError, UnknownNameError, short_repr
from chainrule.spatial import Scalar, Transform, Vector

Role = Literal["visual", "collision"]
ROLES: tuple[Role, ...] = ("visual", "collision")
Color: TypeAlias = tuple[float, float, float, float]
"""Red, green, blue and opacity, each between 0 and 1."""


@dataclass(frozen=True)
class Box:
    """A box about its origin; `size` has its full lengths along x, y and z, in m."""

    size: Vector


@dataclass(frozen=True)
class Sphere:
    """A sphere about its origin; radius in m."""

    radius: Scalar


@dataclass(frozen=True)
class Cylinder:
    """A cylinder about its origin, along z; radius and full length in m."""

    radius: Scalar
    length: Scalar


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z with a half ball on each end; `length`, in m, is that of the cylinder between the balls."""

    radius: Scalar
    length: Scalar


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid about its origin; `radii` are its half axes along x, y and z, in m."""

    radii: Vector


@dataclass(frozen=True)
class Plane:
    """A plane through its origin, with its normal along z; its full lengths along x and y in m, for pictures."""

    length_x: Scalar = math.inf
    length_y: Scalar = math.inf


@dataclass(frozen=True)
class Mesh:
    """A surface in a file, `path`, whose coordinates are multiplied by `scale`.

    The path is kept as the robot's file has it: "package://arm/meshes/hand.stl", "meshes/hand.stl" or an absolute
    one. A relative path starts at `folder`, the folder of the robot's file; None where the robot came from a text. Two
    meshes with the same path and scale are equal wherever their robots' files are.
    """

    path: str
    scale: Vector = field(default=Vector(1.0, 1.0, 1.0))
    folder: str | None = field(default=None, compare=False)


Shape: TypeAlias = Box | Sphere | Cylinder | Capsule | Ellipsoid | Plane | Mesh
SHAPES: dict[str, type[Shape]] = {
    "box": Box, "sphere": Sphere, "cylinder": Cylinder, "capsule": Capsule, "ellipsoid": Ellipsoid, "plane": Plane,
    "mesh": Mesh,
}  # fmt: skip
"""The shapes by the name that files give them."""


@dataclass(frozen=True)
class Geometry:
    """A shape on a link, at `origin` in the link's frame: what is seen of it ("visual"), or what touches ("collision").

    >>> from chainrule.spatial import Transform, Vector
    >>> Geometry("hand", Box(Vector(0.1, 0.2, 0.05)), Transform.identity(), "visual", (1.0, 0.0, 0.0, 1.0)).link
    'hand'
    """

    link: str
    shape: Shape
    origin: Transform = field(default=Transform.identity())
    role: Role = "visual"
    color: Color | None = None
    name: str | None = None


@dataclass(frozen=True)
class PairChoice:
    """Whether two links are checked against each other, where a file or a person says so: it comes before any rule."""

    link_a: str
    link_b: str
    checked: bool = False
    reason: str = ""


def objection(shape: Shape) -> str | None:
    """The fault of a shape, as the end of a sentence about it; None if it has none."""
    if not isinstance(shape, tuple(SHAPES.values())):
        return f"is no shape: {short_repr(shape)}"
    if isinstance(shape, Mesh):
        if not isinstance(shape.path, str) or not shape.path:
            return f"is a mesh without the path of a file: {short_repr(shape.path)}"
        wrong = [x for x in shape.scale if not math.isfinite(x) or x == 0]
        return f"is a mesh with the scale {wrong[0]!r}, which must be finite and not zero" if wrong else None
    for entry in fields(shape):
        value = getattr(shape, entry.name)
        for number in value if isinstance(value, Vector) else (value,):
            if not number >= 0 or (not math.isfinite(number) and not isinstance(shape, Plane)):
                what = type(shape).__name__.lower()
                return f"is a {what} with the {entry.name} {number!r} m, which must be finite and not negative"
    return None


def refuse_bad_geometries(geometries: Sequence[Geometry], links: Collection[str], where: str) -> None:
    """Refuse geometry on unknown links, with impossible sizes or places, roles or colors."""
    for i, geometry in enumerate(geometries):
        label = repr(geometry.name) if geometry.name else str(i)
        here = f"{where}, geometry {label}"
        if geometry.link not in links:
            raise UnknownNameError.of("link", geometry.link, links, f"{here}: the robot")
        here = f"{here} on link {geometry.link!r}"
        if geometry.role not in ROLES:
            raise UnknownNameError.of("role", geometry.role, ROLES, f"{here}: chainrule")
        wrong = objection(geometry.shape)
        if wrong:
            raise ModelError(f"{here} {wrong}")
        if not all(math.isfinite(x) for row in geometry.origin.rows() for x in row):
            raise ModelError(f"{here}: its origin must be finite numbers")
        if geometry.color is not None and not (len(geometry.color) == 4 and all(0 <= x <= 1 for x in geometry.color)):
            raise ModelError(
                f"{here}: its color must be red, green, blue and opacity, each between 0 and 1, got "
                f"{short_repr(geometry.color)}"
            )
