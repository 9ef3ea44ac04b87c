"""Ellipsoids and lost directions as they are drawn and said; the mass matrix as a map; wrenches as arrows."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import chainrule as cr
from chainrule.doctor.findings import Finding
from chainrule.studio import world
from chainrule.studio.charts import heat_map
from chainrule.studio.panels.ellipsoids import links_to_choose
from chainrule.studio.panels.motion import FASTEST, velocity_ranges
from chainrule.studio.postures import default_tip
from chainrule.studio.scene import elements, ellipsoids, loads


def test_a_scaled_ball_is_the_ellipsoid():
    arm = cr.load("panda").reference
    q = arm.home()
    found = arm.analysis.ellipsoid(q, task="position")
    shape = ellipsoids.ball_of(found, 0.5, 10.0)
    R = Rotation.from_quat(shape.quaternion, scalar_first=True).as_matrix()
    directions = np.random.default_rng(0).normal(size=(20, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    radii = 1 / np.linalg.norm(directions @ R / shape.scale, axis=1)
    assert radii == pytest.approx(0.5 * np.array([found.along(d) for d in directions]))


def test_a_flat_or_endless_ellipsoid_stays_within_bounds():
    arm = cr.load("planar_2r").reference
    flat = ellipsoids.ball_of(arm.analysis.ellipsoid([0.0, 0.0]), 1.0, 10.0)
    assert flat.scale.min() == pytest.approx(ellipsoids.FLATTEST * flat.scale.max())
    endless = ellipsoids.ball_of(arm.analysis.ellipsoid([0.0, 0.0], kind="force"), 1.0, 0.7)
    assert endless.scale.max() == pytest.approx(0.7)


def test_the_direction_that_is_lost_is_the_librarys_and_is_said_in_words():
    arm = cr.load("planar_2r").reference
    near = ellipsoids.closeness(arm, np.array([0.0, 0.0]))
    assert near.is_singular
    assert near.lost == pytest.approx(arm.analysis.singularity([0.0, 0.0]).lost)
    said = ellipsoids.warning(near)
    assert said == ["Singular: no joint motion gives moving along x.", "Lined up: joint1, joint2."]
    arrows = ellipsoids.lost_arrows(near, np.array([2.0, 0, 0]), 0.5)
    assert arrows[:, 1] == pytest.approx(np.array([[2.5, 0, 0], [1.5, 0, 0]]))


def test_near_a_singularity_the_weakest_direction_is_said_and_far_from_it_nothing():
    arm = cr.load("planar_2r").reference
    near = ellipsoids.closeness(arm, np.array([0.0, 0.05]))
    assert not near.is_singular
    values = arm.singular_values([0.0, 0.05])
    assert near.ratio == pytest.approx(values[1] / values[0])
    assert re.match(
        rf"Near a singularity: moving along .* takes {1 / near.ratio:.0f} times", ellipsoids.warning(near)[0]
    )
    far = ellipsoids.closeness(arm, np.array([0.0, 1.0]))
    assert ellipsoids.warning(far) == []
    assert ellipsoids.lost_arrows(far, np.zeros(3), 1.0).shape == (0, 2, 3)


def test_a_robot_with_loops_or_many_joints_is_told_its_weakest_direction_without_a_search():
    arm = cr.load("planar_3r").reference
    small = arm.analysis.singularity([0.3, 0.0, 0.0]).lost
    many = ellipsoids.MAX_JOINTS
    try:
        ellipsoids.MAX_JOINTS = 2
        near = ellipsoids.closeness(arm, np.array([0.3, 0.0, 0.0]))
    finally:
        ellipsoids.MAX_JOINTS = many
    assert abs(near.lost[0] @ small[0]) == pytest.approx(1.0)
    assert near.joints == ()


def test_the_map_has_the_entries_of_the_mass_matrix():
    arm = cr.load("planar_rp").reference
    M = arm.mass_matrix([0.3, 0.7])
    page = heat_map.heat_map(arm.velocity_names, M)
    shown = [float(x) for x in re.findall(r"<td[^>]*>([^<]*)</td>", page)]
    assert np.reshape(shown, (2, 2)) == pytest.approx(M, rel=5e-3, abs=1e-9)
    assert heat_map.entry_units(arm) == [["kg m²", "kg m"], ["kg m", "kg"]]
    wide = heat_map.heat_map(("<b>",) * 10, np.eye(10))
    assert re.findall(r"<td[^>]*>([^<]+)</td>", wide) == []
    assert "<b>" not in wide
    assert "too fine" in heat_map.heat_map(("x",) * 41, np.eye(41))


def test_colors_of_the_map_follow_value_or_coupling():
    M = np.array([[4.0, -1.0], [-1.0, 1.0]])
    by_value, by_coupling = (heat_map.heat_map(("a", "b"), M, by) for by in heat_map.COLORINGS)
    alphas = [[float(x) for x in re.findall(r"rgba\([^)]*,([\d.]+)\)", page)] for page in (by_value, by_coupling)]
    assert alphas[0][0] == 0.9 > alphas[0][3]
    assert alphas[1][0] == alphas[1][3] == 0.9
    assert heat_map.NEGATIVE in by_value


def test_forces_and_moments_are_drawn_at_the_links_that_they_act_on():
    arm = cr.load("planar_2r").reference
    poses = arm.poses([0.3, 0.4])
    wrench = np.array([0.0, 0.0, 2.0, 3.0, 4.0, 0.0])
    paths = loads.force_paths(arm, {"link2": wrench}, poses)
    k = arm.link_names.index("link2")
    assert paths[k, 1] - paths[k, 0] == pytest.approx(loads.meters_per_newton(arm) * wrench[3:])
    assert (np.delete(paths[:, 1] - paths[:, 0], k, axis=0) == 0).all()
    arcs = loads.moment_paths(arm, {"link2": wrench}, poses)
    rays = arcs[k] - poses[k, :3, 3]
    assert np.cross(rays[0], rays[1])[2] > 0
    assert rays[:, 2] == pytest.approx(0)
    assert (4 / 3 * np.pi * loads.payload_radius(2.0) ** 3 * loads.DENSITY) == pytest.approx(2.0)


def test_gravity_tilts_from_the_robots_own_direction():
    arm = cr.load("planar_2r")
    assert world.gravity_vector(arm, 9.81, 0.0, 1.0) == pytest.approx(arm.gravity)
    tilted = world.gravity_vector(arm, 2.0, 0.5, 1.0)
    assert np.linalg.norm(tilted) == pytest.approx(2.0)
    assert tilted @ arm.gravity / 9.81 == pytest.approx(2.0 * np.cos(0.5))
    assert world.gravity_vector(arm.edit(gravity=(0, 0, 0)), 3.0, 0.0, 0.0) == pytest.approx([0, 0, -3.0])


def test_links_and_ranges_of_controls():
    robot = cr.load("quadruped")
    names = links_to_choose(robot)
    assert names[0] == default_tip(robot)
    assert len(names) == len(set(names))
    arm = cr.load("planar_2r").edit(joints={"*": {"velocity": [2.0, np.inf]}})
    assert velocity_ranges(arm).tolist() == [2.0, FASTEST]


def test_elements_of_findings_are_links_and_joints_of_the_robot():
    arm = cr.load("planar_2r").rename({"link1": 'it\'s "one"'})
    name = 'it\'s "one"'
    found = elements.elements_of(arm, Finding("note", f"links {name!r} and 'link2'", "differ"))
    assert found.links == (name, "link2")
    assert elements.elements_of(arm, Finding("note", "the robot", "is heavy")).links == arm.link_names[1:]
    assert not elements.elements_of(arm, Finding("note", "configuration 'home'", "is wrong"))
    assert not elements.elements_of(arm, Finding("note", "joint 'unknown'", "is wrong"))
    poses = arm.reference.poses([0.3, 0.4])
    both = elements.Elements((name,), ("joint2",))
    lines = elements.joint_lines(arm, both.joints, poses)
    assert lines.shape == (25, 2, 3)
    places = dict(elements.middles(arm, both, poses))
    assert places["joint2"] == pytest.approx(poses[2, :3, 3])
    assert lines[-1].mean(axis=0) == pytest.approx(poses[2, :3, 3])
