"""Collision bodies as parts that are drawn, for plots and the studio."""

from __future__ import annotations

import numpy as np

from chainrule.bodies.body import CollisionBody, Convex, Spheres
from chainrule.bodies.robot_bodies import bodies_of
from chainrule.core.mechanism import Mechanism
from chainrule.formats.meshes import TriangleMesh
from chainrule.shapes import surfaces
from chainrule.shapes.parts import Part, surface_of
from chainrule.shapes.surfaces import Fineness, Surface


def collision_parts(robot: Mechanism, fineness: Fineness) -> tuple[Part, ...]:
    """The collision bodies of a robot, in the frames of their links."""
    found = []
    for body in bodies_of(robot):
        surface = body_surface(body, fineness)
        if surface is not None:
            found.append(Part(robot.model.index_of[body.link or ""], surface, "collision", body.name))
    return tuple(found)


def body_surface(body: CollisionBody, fineness: Fineness) -> Surface | None:
    """The surface of a body in the frame of its link; None of a half-space."""
    shape = body.shape
    if isinstance(shape, Spheres):
        balls = zip(np.array(shape.centers, dtype=float), shape.radii, strict=True)
        surface: Surface | None = surfaces.join(surfaces.ball(center, radius, fineness) for center, radius in balls)
    elif isinstance(shape, Convex):
        hull = TriangleMesh(np.array(shape.points, dtype=float), np.empty((0, 3), dtype=np.int64)).hull()
        surface = surfaces.of_triangles(hull.points, hull.triangles)
    else:
        surface = surface_of(shape, fineness)
    return None if surface is None else surface.at(np.array(body.origin, dtype=float))
