"""Velocities from link to link and the product of exponentials: the rules of the page, and the numbers of other functions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import KINDS, state, tree

import chainrule as cr

SEEDS = st.integers(0, 10_000)
few = settings(max_examples=5)
REAL = [kind for kind in KINDS if kind not in ("spherical", "free", "moved")]


@given(SEEDS)
@few
def test_velocities_go_from_link_to_link_by_the_rule_of_the_page(seed):
    robot = tree(seed).reference
    q, qd, _ = state(robot, seed)
    table = robot.textbook.velocity_table(q, qd)
    omega, v = np.vstack([np.zeros(3), table.omega]), np.vstack([np.zeros(3), table.v])
    for body in robot.model.bodies:
        i, p = body.index, body.parent
        R, P = table.R[i - 1], table.P[i - 1]
        joint = np.array(list(body.at(q.tolist()).along(qd.tolist())), dtype=float)
        assert_allclose(omega[i], R.T @ omega[p] + joint[:3], atol=1e-9)
        assert_allclose(v[i], R.T @ (v[p] + np.cross(omega[p], P)) + joint[3:], atol=1e-9)
    for k, name in enumerate(table.links):
        assert_allclose(np.r_[table.omega_0[k], table.v_0[k]], robot.velocity(q, qd, name), atol=1e-9)


def test_the_end_effector_has_a_row_where_it_is_a_frame():
    arm = cr.load("planar_2r").reference
    table = arm.textbook.velocity_table([0.3, 0.4], [1.0, 2.0])
    assert table.links == ("link1", "link2", "tip")
    assert_allclose(table.v[2], [np.sin(0.4), np.cos(0.4) + 3.0, 0])
    assert_allclose(table.P[2], [1, 0, 0], atol=1e-12)
    assert "\nlink1  omega " in str(table)
    assert table._repr_html_().count("<tr>") == 1 + 3 * 4
    batch = arm.textbook.velocity_table(np.zeros((4, 2)), [1.0, 2.0])
    one = arm.textbook.velocity_table([0.0, 0.0], [1.0, 2.0])
    for name in (*table.units, "R", "P"):
        assert_allclose(getattr(batch, name)[3], getattr(one, name))
    assert "batch of shape (4,)" in str(batch)


@given(SEEDS)
@few
def test_poses_and_jacobians_by_exponentials_are_those_of_the_robot(seed):
    robot = tree(seed, REAL).reference
    q, _, _ = state(robot, seed)
    table = robot.textbook.exponential_table(q)
    for k, link in enumerate(table.links):
        assert_allclose(table.poses[k], robot.pose(q, link), atol=1e-9)
        assert_allclose(table.J[k], robot.jacobian(q, link, frame="space"), atol=1e-9)
        assert_allclose(table.J_body[k], robot.jacobian(q, link, frame="body"), atol=1e-9)
    for k in range(len(table.joints)):
        S, theta = cr.spatial.Twist.of((table.S[k] * table.theta[k]).tolist()), table.exponentials[k]
        assert_allclose(np.asarray(cr.spatial.Transform.exp(S)), theta, atol=1e-9)


def test_joints_whose_frame_is_not_the_links_are_products_too():
    arm = cr.load("stanford").reference  # standard Denavit-Hartenberg parameters
    q = np.array([0.3, -0.5, 0.4, 0.2, 0.7, -0.1])
    table = arm.textbook.exponential_table(q)
    assert_allclose(table.poses[-1], arm.pose(q), atol=1e-12)
    assert_allclose(table.J[-1], arm.jacobian(q, frame="space"), atol=1e-12)


def test_the_product_of_a_chain_ends_at_the_end_effector():
    robot = cr.load("modern_robotics_3r").reference
    q = np.array([0.3, -0.5, 0.8])
    table = robot.textbook.exponential_table(q)
    assert_allclose(table.products[2] @ table.home[-1], robot.pose(q), atol=1e-12)
    assert_allclose(table.products[1], table.exponentials[0] @ table.exponentials[1], atol=1e-12)
    assert_allclose(table.columns.T, robot.jacobian(q, frame="space"), atol=1e-12)
    assert_allclose(table.S.T, robot.textbook.to_screws().screws, atol=1e-12)


def test_fixed_and_mimic_joints_have_their_place_in_the_product():
    robot = cr.load("panda_hand").reference
    q = robot.home()
    table = robot.textbook.exponential_table(q)
    assert len(table.joints) == sum(body.joint.kind.nv for body in robot.model.bodies)
    assert set(robot.link_names[1:]) <= set(table.links)
    for k, link in enumerate(table.links):
        assert_allclose(table.poses[k], robot.pose(q, link), atol=1e-12)
        assert_allclose(table.J[k], robot.jacobian(q, link, frame="space"), atol=1e-12)


def test_the_product_of_exponentials_is_text_html_and_a_batch():
    arm = cr.load("planar_rp").reference
    table = arm.textbook.exponential_table([0.5, 0.2])
    lines = str(table).splitlines()
    assert lines[0] == "theta, rad or m: 0.5 0.2"
    assert lines[3].split()[:2] == ["joint1", "S"]
    assert [float(x) for x in lines[3].split()[2:]] == [0, 0, 1, 0, 0, 0]
    assert repr(table) == str(table)
    assert table._repr_html_().count("<tr>") == 3 + 2 * 2 + 2 * (2 * 4)
    batch = arm.textbook.exponential_table(np.zeros((5, 2)))
    assert batch.J.shape == (5, len(batch.links), 6, 2)
    assert str(batch) == "Product of exponentials of 2 joints for a batch of shape (5,)"
    assert "(5,)" in batch._repr_html_()


def test_quaternions_are_no_product_of_exponentials():
    with pytest.raises(cr.ModelError, match=r"joint 'floating_base' is free, which is no product of exponentials"):
        cr.load("quadruped").textbook.exponential_table(cr.load("quadruped").neutral())
    with pytest.raises(cr.ShapeError, match="exponential_table: q must have 2 numbers"):
        cr.load("planar_2r").textbook.exponential_table([0.0])
