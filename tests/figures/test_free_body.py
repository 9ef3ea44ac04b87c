"""Free-body diagrams: their arrows are the vectors of the Newton-Euler table, balance, and are to scale."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from trees import tree

import chainrule as cr
from figures.robots import NAMES, named, state

pytestmark = pytest.mark.interpreted


def moving_links(robot):
    return robot.textbook.newton_euler_table(*state(robot)).links


def points_of(robot, q, i, name):
    """Where a vector of link i acts: its mass center for F and N, else the origin of a frame."""
    merged = robot.merge_fixed()
    T = merged.poses(q)
    if name[0] in "FN":
        body = merged.model.links[i]
        return T[i, :3, :3] @ [float(x) for x in body.com] + T[i, :3, 3]
    if "tip" in name:
        return robot.pose(q)[:3, 3]
    return T[int(re.search(r"\d+", name)[0]), :3, 3]


def check_balance(robot, q, i, vectors):
    """The sum of forces is F, and that of moments about the mass center is N."""
    center = points_of(robot, q, i, "F")
    total = {"f": np.zeros(3), "n": np.zeros(3)}
    for name, value in vectors.items():
        letter = name.strip("-")[0]
        if letter in total:
            total[letter] = total[letter] + value
            if letter == "f":
                total["n"] = total["n"] + np.cross(points_of(robot, q, i, name) - center, value)
    largest = max(np.linalg.norm(value) for value in vectors.values())
    assert_allclose(total["f"], vectors.get(f"F_{{{i}}}", np.zeros(3)), atol=1e-7 * largest)
    assert_allclose(total["n"], vectors.get(f"N_{{{i}}}", np.zeros(3)), atol=1e-7 * largest)


@pytest.mark.parametrize("name", NAMES)
def test_forces_add_up_to_F_and_their_moments_about_the_mass_center_to_N(name):
    robot = named(name)
    q, qd, qdd = state(robot)
    table = robot.textbook.newton_euler_table(q, qd, qdd)
    merged = robot.merge_fixed()
    T = merged.poses(q)
    for i, link in enumerate(table.links, 1):
        if i > 4:
            break
        drawn = robot.textbook.free_body(q, qd, qdd, link=link).scene.vectors()
        vectors = {name: path.value for name, path in drawn.items()}
        check_balance(robot, q, i, vectors)
        for letter in "fnFN":
            expected = T[i, :3, :3] @ getattr(table, letter)[i - 1]
            assert_allclose(
                vectors.get(f"{letter}_{{{i}}}", np.zeros(3)), expected, atol=1e-7 * abs(expected).max() + 1e-9
            )


def test_a_link_that_carries_several_has_the_forces_of_each():
    robot = tree(5).reference
    q, qd, qdd = state(robot)
    merged = robot.merge_fixed()
    counts = [sum(body.parent == k for body in merged.model.bodies) for k in range(len(merged.links))]
    i = max(range(1, len(counts)), key=counts.__getitem__)
    assert counts[i] > 1
    vectors = {
        n: p.value for n, p in robot.textbook.free_body(q, qd, qdd, link=merged.link_names[i]).scene.vectors().items()
    }
    assert sum(name.startswith("-f") for name in vectors) == counts[i]
    check_balance(robot, q, i, vectors)


@pytest.mark.parametrize("name", ["planar_2r", "puma560"])
def test_arrows_are_to_one_scale_in_a_parallel_projection(name):
    robot = named(name)
    q, qd, qdd = state(robot)
    forces = {
        name: path for name, path in robot.textbook.free_body(q, qd, qdd, link="link2").scene.vectors().items()
        if name.strip("-")[0] in "fF"
    }  # fmt: skip
    values = np.array([path.value for path in forces.values()])
    arrows = np.array([path.points[-1] - path.points[0] for path in forces.values()])
    projection, *_ = np.linalg.lstsq(values, arrows, rcond=None)
    assert_allclose(values @ projection, arrows, atol=1e-9)
    if name == "planar_2r":  # the paper is the plane of x and y
        assert_allclose(arrows, arrows[0, 0] / values[0, 0] * values[:, :2], atol=1e-9)


def test_moments_across_the_paper_are_arcs_whose_angles_are_to_scale():
    robot = named("planar_2r")
    q, qd, qdd = state(robot)
    vectors = robot.textbook.free_body(q, qd, qdd, link="link1").scene.vectors()
    found = []
    for name in ("n_{1}", "-n_{2}"):
        path = vectors[name]
        steps = np.diff(path.points, axis=0)
        turns = steps[:-1, 0] * steps[1:, 1] - steps[:-1, 1] * steps[1:, 0]
        length = np.linalg.norm(steps, axis=1).sum()
        assert (np.sign(turns) == np.sign(path.value[2])).all()
        found.append(length / abs(path.value[2]))
    assert_allclose(found[0], found[1], rtol=2e-3)


@pytest.mark.parametrize("frame", ["world", "body", "space"])
def test_wrenches_of_the_world_are_drawn_and_balance(frame):
    robot = named("puma560")
    q, qd, qdd = state(robot)
    tip = np.array([0.3, -0.2, 0.5, 4.0, -7.0, 2.0])
    figure = robot.textbook.free_body(q, qd, qdd, tip_wrench=tip, frame=frame)
    vectors = {name: path.value for name, path in figure.scene.vectors().items()}
    check_balance(robot, q, 6, vectors)
    if frame == "world":
        assert_allclose(vectors[r"-f_{\mathrm{tip}}"], -tip[3:])
    pushed = robot.textbook.free_body(q, external={"link3": tip}, link="link3", frame=frame).scene.vectors()
    assert any("ext" in name for name in pushed)


def test_what_cannot_be_drawn_is_refused():
    arm = named("planar_2r")
    free_body = arm.textbook.free_body
    refused(lambda: free_body([[0.0, 0.0]]), cr.ShapeError, r"q must be one state \(2,\) of a figure")
    refused(lambda: free_body([0.0, np.nan]), cr.ShapeError, "q")
    refused(lambda: free_body([0.0, 0.0], link="base"), cr.ModelError, "does not move; the links that move are 'link1'")
    refused(lambda: free_body([0.0, 0.0], link="hand"), cr.UnknownNameError, "hand")
    refused(lambda: free_body([0.0, 0.0], tip_wrench=np.zeros((3, 6))), cr.ShapeError, "one wrench")
    refused(lambda: free_body([0.0, 0.0], frame="earth"), cr.UnknownNameError, "earth")
    loop = cr.load("four_bar").reference
    q = loop.home()
    refused(lambda: loop.textbook.free_body(q, link="coupler_link"), cr.ModelError, "closed loops or springs")
