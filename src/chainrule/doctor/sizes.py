"""Sizes of links, from their geometry, or else from the joints and frames on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainrule.arguments import Array
from chainrule.model import Joint, Model, Moved
from chainrule.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere


@dataclass(frozen=True)
class Extent:
    """A box in a link's frame, in m, that holds what is known of the link."""

    low: Array
    high: Array
    is_geometry: bool
    """Whether the link's shapes are known, and not only the joints and frames on it."""

    @property
    def diagonal(self) -> float:
        """The length of its diagonal, in m."""
        return float(np.linalg.norm(self.high - self.low))

    @property
    def volume(self) -> float:
        """Its volume, in m^3."""
        return float(np.prod(self.high - self.low))

    def distance(self, point: Array) -> float:
        """The distance from a point to the box, in m; 0 inside."""
        return float(np.linalg.norm(np.maximum(np.maximum(self.low - point, point - self.high), 0.0)))


def extents(model: Model) -> dict[str, Extent]:
    """The extent of each link: of its shapes, or of its origin and the joints and frames on it."""
    points: dict[str, list[Array]] = {link.name: [np.zeros(3)] for link in model.links}
    for joint in model.joints:
        points[joint.parent].append(np.array(list(joint.origin.translation), dtype=float))
        points[joint.child] += _own_points(joint)
        travel = _travel(joint)
        points[joint.parent] += travel
        points[joint.child] += travel
    for frame in model.frames:
        points[frame.link].append(np.array(list(frame.origin.translation), dtype=float))
    shapes: dict[str, list[Array]] = {}
    for geometry in model.geometries:
        corners = _corners(geometry)
        if corners is not None:
            shapes.setdefault(geometry.link, []).append(corners)
    has_mesh = {geometry.link for geometry in model.geometries if isinstance(geometry.shape, Mesh)}
    found = {}
    for link in model.links:
        is_geometry = link.name in shapes and link.name not in has_mesh
        cloud = np.vstack(shapes[link.name] if is_geometry else points[link.name])
        found[link.name] = Extent(cloud.min(axis=0), cloud.max(axis=0), is_geometry)
    return found


def _own_points(joint: Joint) -> list[Array]:
    """A point of the joint's axis, in the child's frame, where it is not the origin."""
    if isinstance(joint.kind, Moved):
        return [np.array(list(joint.kind.offset.inverse().translation), dtype=float)]
    return []


def _travel(joint: Joint) -> list[Array]:
    """Corners of a box as long in each direction as a joint slides, which a link that it slides on must be."""
    ends = [
        abs(x)
        for dof, unit in zip(joint.dofs, joint.kind.units, strict=True)
        for x in (dof.lower, dof.upper)
        if unit == "m" and np.isfinite(x)
    ]
    return [np.full(3, sign * max(ends)) for sign in (-1.0, 1.0)] if ends else []


def reach(model: Model) -> float:
    """The length of the longest path from the base over joint origins to a frame or shape, in m."""
    far = {model.links[0].name: 0.0}
    for joint in model.joints:
        far[joint.child] = far[joint.parent] + float(joint.origin.translation.norm())
    ends = [*far.values(), *(far[frame.link] + float(frame.origin.translation.norm()) for frame in model.frames)]
    sizes = extents(model)
    ends += [far[name] + extent.diagonal for name, extent in sizes.items() if extent.is_geometry]
    return max(ends)


def _corners(geometry: Geometry) -> Array | None:
    """The corners of a box around a shape, in the link's frame: (8, 3); None where the shape has no size here."""
    shape = geometry.shape
    match shape:
        case Box():
            half = [x / 2 for x in shape.size]
        case Sphere():
            half = [shape.radius] * 3
        case Cylinder():
            half = [shape.radius, shape.radius, shape.length / 2]
        case Capsule():
            half = [shape.radius, shape.radius, shape.length / 2 + shape.radius]
        case Ellipsoid():
            half = list(shape.radii)
        case Plane() | Mesh():
            return None
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    R = np.array([list(row) for row in geometry.origin.rotation], dtype=float)
    return signs * np.array(half, dtype=float) @ R.T + np.array(list(geometry.origin.translation), dtype=float)
