"""Marks on links: frames, axes, centers of mass and the solids that stand for inertias."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.model import Link
from chainrule.spatial import shapes
from chainrule.studio.scene import layers, marks


@pytest.mark.parametrize("solid", ["ellipsoid", "box"])
def test_the_equivalent_solid_of_a_solid_is_the_solid(solid):
    make = shapes.ellipsoid(3.0, 0.1, 0.2, 0.3) if solid == "ellipsoid" else shapes.box(3.0, 0.2, 0.4, 0.6)
    moments, turn = marks.principal_inertia(Link.from_inertia("body", make))
    half_axes = marks.equivalent_half_axes(3.0, moments, solid)
    in_link_axes = np.abs(turn) @ half_axes  # the principal axes are those of the link, in another order
    assert in_link_axes == pytest.approx([0.1, 0.2, 0.3])


def test_inertias_that_no_solid_has_are_drawn_flat():
    assert marks.equivalent_half_axes(1.0, np.array([1.0, 1.0, 5.0]), "ellipsoid")[2] == 0.0


def test_links_without_mass_have_no_marks():
    robot = cr.load("panda")
    with_mass = {k for k, link in enumerate(robot.model.links) if link.mass > 0}
    assert {mark.link for mark in marks.masses(robot)} == with_mass
    assert {mark.link for mark in marks.inertias(robot)} <= with_mass


def test_axes_point_along_the_screws_of_the_joints():
    robot = cr.load("stanford").reference
    q = robot.random_state(np.random.default_rng(1))
    poses = robot.poses(q)
    J = robot.jacobian(q, frame="space")
    for k, mark in enumerate(marks.axes(robot)):
        direction = poses[mark.link, :3, :3] @ (mark.ends[1] - mark.ends[0])
        screw = J[:3, k] if mark.turns else J[3:, k]
        assert np.cross(direction, screw) == pytest.approx([0, 0, 0], abs=1e-9)
        assert direction @ screw > 0


def test_the_trail_forgets_what_is_old_and_ignores_small_steps():
    trail = np.empty((0, 3))
    for k in range(layers.MAX_TRAIL_POINTS + 20):
        trail = layers.extend_trail(trail, np.array([0.1 * k, 0.0, 0.0]), 0.05)
    assert len(trail) == layers.MAX_TRAIL_POINTS
    assert layers.extend_trail(trail, trail[-1] + 0.01, 0.05) is trail


def test_a_ball_of_eight_parts_is_a_whole_ball():
    light, dark = marks.quartered_ball(np.zeros(3), 1.0)
    areas = [
        np.linalg.norm(
            np.cross(*(s.corners[s.triangles[:, k]] - s.corners[s.triangles[:, 0]] for k in (1, 2))), axis=1
        ).sum()
        / 2
        for s in (light, dark)
    ]
    assert areas == pytest.approx([2 * np.pi, 2 * np.pi], rel=0.05)
