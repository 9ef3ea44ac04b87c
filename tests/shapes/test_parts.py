"""Robots as they are drawn from their models, for a page and for print."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.plots.bodies import LOOK as PRINT
from chainrule.shapes import surfaces
from chainrule.shapes.parts import Look, model_parts
from chainrule.shapes.surfaces import COARSE, FINE

PAGE = Look(radius=0.028, slimming=0.5, fineness=FINE, triangles=24_000)


@pytest.mark.parametrize("look", [PAGE, PRINT], ids=["page", "print"])
@pytest.mark.parametrize("name", ["panda", "planar_2r", "delta", "stewart_platform", "humanoid", "cartesian_3p"])
def test_parts_are_finite_triangles_on_links(name, look):
    robot = cr.load(name)
    parts = model_parts(robot, look)
    assert {part.link for part in parts} <= set(range(len(robot.link_names)))
    for part in parts:
        assert np.isfinite(part.surface.corners).all()
        assert 0 <= part.surface.triangles.min() <= part.surface.triangles.max() < len(part.surface.corners)


@pytest.mark.parametrize(
    ("surface", "volume"),
    [
        (surfaces.cylinder(np.zeros(3), np.array([0.0, 0.0, 2.0]), 0.5), np.pi * 0.5),
        (surfaces.capsule(np.array([1.0, 0, 0]), np.array([3.0, 0, 0]), 0.5), np.pi * 0.5 + 4 / 3 * np.pi / 8),
        (surfaces.ball(np.ones(3), np.array([1.0, 2.0, 3.0])), 4 / 3 * np.pi * 6),
        (surfaces.box(np.array([1.0, 2.0, 3.0])), 6.0),
    ],
    ids=["cylinder", "capsule", "ellipsoid", "box"],
)
def test_surfaces_are_closed_and_face_outward(surface, volume):
    a, b, c = (surface.corners[surface.triangles[:, k]] for k in range(3))
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(volume, rel=0.03)


@pytest.mark.parametrize(
    "surface",
    [
        surfaces.box(np.array([1.0, 2.0, 3.0])),
        surfaces.ball(np.ones(3), 0.5, COARSE),
        surfaces.capsule(np.zeros(3), np.array([1.0, 1.0, 0.0]), 0.2, fineness=COARSE),
        surfaces.capsule(np.zeros(3), np.array([1.0, 1.0, 0.0]), 0.2, 0.1),
        surfaces.cylinder(np.zeros(3), np.array([0.0, 0.0, -1.0]), 0.2, fineness=COARSE),
        surfaces.cylinder(np.zeros(3), np.array([0.0, 0.0, -1.0]), 0.2, 0.02),
        surfaces.plate(np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0.5, 1.5, 0], [0, 1, 0]]), 0.1),
        surfaces.plate(np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0.5, 1.5, 0], [0, 1, 0]])[::-1], 0.1),
    ],
    ids=["box", "ball", "capsule", "tapered", "cylinder", "soft cylinder", "plate", "plate turned over"],
)
def test_faces_look_outward_as_faces_and_as_triangles(surface):
    assert surface.convex
    for faces in (surface.corners[surface.faces], surface.corners[surface.triangles]):
        normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
        outward = faces[:, :3].mean(axis=1) - surface.corners.mean(axis=0)
        assert (np.einsum("ij,ij->i", normals, outward) > 0).all()


def test_triangles_of_flat_faces_have_corners_of_their_own():
    box = surfaces.box(np.ones(3))
    assert (len(box.corners), len(box.for_shading().corners)) == (8, 36)
    ball = surfaces.ball(np.zeros(3))
    assert ball.for_shading() is ball


def test_a_driving_base_has_a_chassis_on_the_ground():
    from chainrule.wheels import MobileManipulator, Unicycle

    robot = MobileManipulator(Unicycle(), cr.load("planar_2r"), mass=10.0).robot
    chassis = next(body.index for body in robot.model.bodies if body.joint.type == "planar")
    lowest = min(part.surface.corners[:, 2].min() for part in model_parts(robot, PAGE) if part.link == chassis)
    assert lowest == pytest.approx(0.0, abs=0.05 * 2)
