"""Robots as they are drawn from their models."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.studio.scene import surfaces, view
from chainrule.studio.scene.parts import model_parts


@pytest.mark.parametrize("name", ["panda", "planar_2r", "delta", "stewart_platform", "humanoid", "cartesian_3p"])
def test_parts_are_finite_triangles_on_links(name):
    robot = cr.load(name)
    parts = model_parts(robot)
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


def test_the_camera_sees_the_whole_robot_and_the_ground_lies_under_it():
    robot = cr.load("panda")
    points = view.drawn_points(robot, model_parts(robot), robot.reference.poses(robot.home()))
    camera, ground = view.first_camera(robot, points), view.ground(robot, points)
    forward = camera.look_at - camera.position
    rays = points - camera.position
    cosines = rays @ forward / np.linalg.norm(rays, axis=1) / np.linalg.norm(forward)
    assert np.arccos(cosines.min()) < view.FIELD_OF_VIEW / 2
    assert ((points - ground.point) @ ground.up).min() == pytest.approx(0, abs=1e-9)


def test_a_narrow_page_sees_the_robot_from_farther_away():
    robot = cr.load("planar_2r")
    points = view.drawn_points(robot, model_parts(robot), robot.reference.poses(robot.home()))
    wide, narrow = (view.first_camera(robot, points, aspect=aspect) for aspect in (1.5, 0.5))
    far, near = (np.linalg.norm(camera.position - camera.look_at) for camera in (narrow, wide))
    assert far == pytest.approx(2 * near)


def test_an_upright_planar_robot_is_seen_from_across_and_cannot_touch_the_ground():
    robot = cr.load("planar_2r")
    points = view.drawn_points(robot, model_parts(robot), robot.reference.poses(robot.home()))
    camera, ground = view.first_camera(robot, points), view.ground(robot, points)
    assert camera.up.tolist() == [0.0, 1.0, 0.0]
    assert (camera.position - camera.look_at)[2] > 0.8 * np.linalg.norm(camera.position - camera.look_at)
    assert ground.point[1] < -2.0


def test_a_driving_base_has_a_chassis_on_the_ground():
    from chainrule.wheels import MobileManipulator, Unicycle

    robot = MobileManipulator(Unicycle(), cr.load("planar_2r"), mass=10.0).robot
    chassis = next(body.index for body in robot.model.bodies if body.joint.type == "planar")
    lowest = min(part.surface.corners[:, 2].min() for part in model_parts(robot) if part.link == chassis)
    assert lowest == pytest.approx(0.0, abs=0.05 * 2)
