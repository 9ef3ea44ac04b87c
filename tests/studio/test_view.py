"""The first view of a robot that is drawn from its model."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.studio.scene import view
from chainrule.studio.scene.visuals import drawing


def test_the_camera_sees_the_whole_robot_and_the_ground_lies_under_it():
    robot = cr.load("panda")
    points = view.drawn_points(robot, drawing(robot, "model").parts, robot.reference.poses(robot.home()))
    camera, ground = view.first_camera(robot, points), view.ground(robot, points)
    forward = camera.look_at - camera.position
    rays = points - camera.position
    cosines = rays @ forward / np.linalg.norm(rays, axis=1) / np.linalg.norm(forward)
    assert np.arccos(cosines.min()) < view.FIELD_OF_VIEW / 2
    assert ((points - ground.point) @ ground.up).min() == pytest.approx(0, abs=1e-9)


def test_a_narrow_page_sees_the_robot_from_farther_away():
    robot = cr.load("planar_2r")
    points = view.drawn_points(robot, drawing(robot, "model").parts, robot.reference.poses(robot.home()))
    wide, narrow = (view.first_camera(robot, points, aspect=aspect) for aspect in (1.5, 0.5))
    far, near = (np.linalg.norm(camera.position - camera.look_at) for camera in (narrow, wide))
    assert far == pytest.approx(2 * near)


def test_an_upright_planar_robot_is_seen_from_across_and_cannot_touch_the_ground():
    robot = cr.load("planar_2r")
    points = view.drawn_points(robot, drawing(robot, "model").parts, robot.reference.poses(robot.home()))
    camera, ground = view.first_camera(robot, points), view.ground(robot, points)
    assert camera.up.tolist() == [0.0, 1.0, 0.0]
    assert (camera.position - camera.look_at)[2] > 0.8 * np.linalg.norm(camera.position - camera.look_at)
    assert ground.point[1] < -2.0


def test_a_camera_sees_what_is_near_the_middle_of_its_picture():
    camera, look_at = np.array([3.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.5])
    assert view.is_seen(np.array([0.3, 0.0, 0.5]), camera, look_at, 0.6)
    assert not view.is_seen(np.array([0.0, 0.0, -2.0]), camera, look_at, 0.6)
    assert not view.is_seen(np.array([0.0, -9.0, 0.0]), camera, look_at, 0.6)
