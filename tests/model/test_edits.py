"""Edits return a new robot, and change what they say and nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import KINDS, state, tree

import chainrule as cr
from chainrule.model.geometry import Geometry, Sphere
from chainrule.spatial import Transform, Vector

pytestmark = pytest.mark.interpreted

SEEDS = st.integers(0, 10_000)
few = settings(max_examples=10)


def split(robot, names, q, qd):
    """A state of the robot, and that of the robot with some joints locked where they are."""
    keep_q, keep_v, locked = [], [], {}
    i = j = 0
    for joint in robot.model.moving:
        nq, nv = joint.kind.nq, joint.kind.nv
        if joint.name in names:
            locked[joint.name] = q[i : i + nq]
            qd = qd.copy()
            qd[j : j + nv] = 0
        else:
            keep_q += range(i, i + nq)
            keep_v += range(j, j + nv)
        i, j = i + nq, j + nv
    return locked, qd, keep_q, keep_v


@given(SEEDS)
@few
def test_locking_joints_keeps_energies_torques_and_poses(seed):
    robot = tree(seed, drives=False)
    rng = np.random.default_rng(seed)
    q, qd, _ = state(robot, seed)
    names = set(rng.choice(robot.joint_names, size=3, replace=False))
    positions, qd, keep_q, keep_v = split(robot, names, q, qd)
    locked = robot.lock(positions)
    assert locked.nv == len(keep_v)
    small = q[keep_q], qd[keep_v]
    assert_allclose(locked.kinetic_energy(*small), robot.kinetic_energy(q, qd), rtol=1e-9)
    assert_allclose(locked.potential_energy(small[0]), robot.potential_energy(q), rtol=1e-9, atol=1e-9)
    qdd = np.zeros(robot.nv)
    qdd[keep_v] = 1.0
    assert_allclose(
        locked.inverse_dynamics(*small, qdd[keep_v]), robot.inverse_dynamics(q, qd, qdd)[keep_v], rtol=1e-8, atol=1e-8
    )
    assert_allclose(locked.poses(small[0]), robot.poses(q), atol=1e-9)


@given(SEEDS)
@few
def test_merging_fixed_joints_changes_nothing_that_can_be_measured(seed):
    robot = tree(seed, [*KINDS, "fixed", "fixed"])
    merged = robot.merge_fixed()
    q, qd, qdd = state(robot, seed)
    assert len(merged.link_names) < len(robot.link_names)
    assert_allclose(merged.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), rtol=1e-9, atol=1e-9)
    for link in robot.link_names:
        assert_allclose(merged.pose(q, link), robot.pose(q, link), atol=1e-9)
    from chainrule.algorithms.rnea import inverse_dynamics

    whole = inverse_dynamics(robot.model, q.tolist(), qd.tolist(), qdd.tolist())
    assert_allclose(whole, robot.inverse_dynamics(q, qd, qdd), rtol=1e-8, atol=1e-8)


@given(SEEDS)
@few
def test_a_payload_is_a_body_welded_to_the_tip(seed):
    robot = tree(seed)
    q, qd, qdd = state(robot, seed)
    loaded = robot.with_payload(1.5, com=(0.1, 0.2, 0.3), inertia=(0.02, 0.03, 0.04))
    J = robot.jacobian(q, frame="body")
    G = np.array(
        [[0.02 + 1.5 * (0.04 + 0.09), -1.5 * 0.02, -1.5 * 0.03, 0, -0.45, 0.3],
         [-1.5 * 0.02, 0.03 + 1.5 * (0.01 + 0.09), -1.5 * 0.06, 0.45, 0, -0.15],
         [-1.5 * 0.03, -1.5 * 0.06, 0.04 + 1.5 * (0.01 + 0.04), -0.3, 0.15, 0],
         [0, 0.45, -0.3, 1.5, 0, 0], [-0.45, 0, 0.15, 0, 1.5, 0], [0.3, -0.15, 0, 0, 0, 1.5]]
    )  # fmt: skip
    assert_allclose(loaded.mass_matrix(q), robot.mass_matrix(q) + J.T @ G @ J, rtol=1e-8, atol=1e-8)
    assert_allclose(loaded.mass, robot.mass + 1.5)
    assert_allclose(robot.inverse_dynamics(q, qd, qdd), tree(seed).inverse_dynamics(q, qd, qdd))


@given(SEEDS)
@few
def test_a_robot_held_by_another_link_has_the_same_motion_between_links(seed):
    robot = tree(seed, ["revolute", "prismatic", "helical", "screw", "fixed", "revolute", "continuous"], mimic=False)
    q, _, _ = state(robot, seed)
    for link in robot.link_names:
        held = robot.rebase(link)
        order = [robot.joint_names.index(name) for name in held.joint_names]
        for other in robot.link_names:
            between = np.linalg.solve(robot.pose(q, link), robot.pose(q, other))
            assert_allclose(held.pose(q[order], other), between, atol=1e-9)
        back = held.rebase("base")
        again = [back.joint_names.index(name) for name in robot.joint_names]
        assert_allclose(back.pose(q[np.argsort(again)]), robot.pose(q), atol=1e-8)
        assert_allclose(back.gravity, robot.gravity, atol=1e-9)


def test_attaching_an_arm_to_another_makes_one_robot_of_both():
    panda, ur5 = cr.load("panda"), cr.load("ur5")
    both = panda.attach(ur5, prefix="second_")
    assert both.nv == 13
    assert both.end_effector == "second_tool0"
    rng = np.random.default_rng(0)
    q = both.random_state(rng)
    T = panda.pose(q[:7]) @ ur5.pose(q[7:])
    assert_allclose(both.pose(q), T, atol=1e-12)
    assert_allclose(both.mass, panda.mass + sum(link.mass for link in ur5.model.links))
    with pytest.raises(cr.ModelError, match=r"has 2 links named 'panda_link0'"):
        panda.attach(panda)


def test_a_chain_is_cut_out_of_a_tree():
    leg = cr.load("quadruped").chain("FL_FOOT")
    assert leg.joint_names == ("floating_base", "FL_HAA", "FL_HFE", "FL_KFE")
    assert leg.end_effector == "FL_FOOT"


def test_frames_gravity_masses_and_friction():
    arm = cr.load("panda")
    q = arm.random_state(np.random.default_rng(1))
    offset = np.eye(4)
    offset[:3, 3] = [0, 0, 0.1]
    tool = arm.with_frame("tool", offset).with_end_effector("tool")
    assert_allclose(tool.pose(q), arm.pose(q) @ offset)
    assert_allclose(arm.edit(gravity=[0, 0, 0]).gravity_torque(q), 0, atol=1e-12)
    assert_allclose(arm.scale_masses(2.0).mass_matrix(q), 2 * arm.mass_matrix(q))
    assert arm.friction_torque(np.ones(7)).any()
    assert not arm.without_friction().friction_torque(np.ones(7)).any()


def test_a_floating_robot_falls():
    arm = cr.load("ur5").floating()
    assert (arm.nq, arm.nv) == (13, 12)
    fall = arm.forward_dynamics(arm.neutral(), np.zeros(12), np.zeros(12))
    assert_allclose(fall, [0, 0, 0, 0, 0, -9.81, 0, 0, 0, 0, 0, 0], atol=1e-9)


def test_locking_a_finger_locks_the_one_that_mimics_it():
    hand = cr.load("panda_hand")
    assert hand.nv == 8
    locked = hand.lock({"panda_finger_joint1": 0.02})
    assert locked.nv == 7
    q = hand.random_state(np.random.default_rng(2))
    q[7] = 0.02
    assert_allclose(locked.pose(q[:7], "panda_rightfinger"), hand.pose(q, "panda_rightfinger"), atol=1e-12)


def test_models_are_immutable_and_edits_leave_the_old_robot_alone():
    arm = cr.load("panda")
    before = cr.load("panda")
    arm.lock({"panda_joint1": 0.3}), arm.with_payload(1.0), arm.without_friction(), arm.edit(gravity=[0, 0, 0])
    assert arm == before
    with pytest.raises(AttributeError):
        arm.model.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        arm.limits.lower[0] = 0


@pytest.mark.parametrize("name", ["panda_hand", "human_arm", "stanford", "four_bar", "quadruped", "puma560"])
def test_frames_at_mass_centers_change_no_torque(name):
    robot = cr.load(name)
    centered = robot.textbook.with_frames_at_mass_centers()
    q, qd, qdd = state(robot, 3)
    if robot.model.constraints:
        q = robot.loops.close(q)
        qd = robot.loops.consistent_velocity(q, qd)
    tau = robot.forward_dynamics(q, qd, qdd)
    assert_allclose(centered.forward_dynamics(q, qd, qdd), tau, rtol=1e-8, atol=1e-8)
    assert_allclose(centered.bias(q, qd), robot.bias(q, qd), rtol=1e-9, atol=1e-9)
    assert_allclose(centered.mass_matrix(q), robot.mass_matrix(q), rtol=1e-9, atol=1e-9)
    assert_allclose(centered.kinetic_energy(q, qd), robot.kinetic_energy(q, qd), rtol=1e-9)
    assert_allclose(centered.loops.residual(q), robot.loops.residual(q), atol=1e-9)
    assert centered.joint_names == robot.joint_names
    assert centered.link_names == robot.link_names
    for ours, theirs in zip(centered.limits, robot.limits, strict=True):
        assert ours.tolist() == theirs.tolist()
    heavy = [link for link in robot.links.values() if link.mass][1:]
    at = {link: robot.link_names.index(link) for link in robot.link_names}
    for link in heavy:
        assert not centered.links[link.name].com.any() or link.parent is None
        place = robot.poses(q)[at[link.name]]
        assert_allclose(centered.poses(q)[at[link.name]][:3, 3], place[:3, :3] @ link.com + place[:3, 3], atol=1e-9)


def test_frames_at_mass_centers_keep_the_end_effector_geometry_and_frames():
    robot = cr.load("panda").chain("panda_link7").with_frame("tool", Transform.from_xyz_rpy((0.1, 0.0, 0.2)))
    centered = robot.textbook.with_frames_at_mass_centers()
    q = robot.random_state(np.random.default_rng(1))
    assert centered.end_effector == "panda_link7_tip"
    assert_allclose(centered.pose(q), robot.pose(q), atol=1e-12)
    assert_allclose(centered.pose(q, "tool"), robot.pose(q, "tool"), atol=1e-12)
    wrench = np.arange(6.0)
    assert_allclose(
        centered.inverse_dynamics(q, q, q, tip_wrench=wrench, frame="body"),
        robot.inverse_dynamics(q, q, q, tip_wrench=wrench, frame="body"),
        atol=1e-9,
    )
    ball = Geometry("panda_link3", Sphere(0.1), Transform.from_xyz_rpy((0.1, 0.2, 0.3)))
    drawn = cr.Robot(replace(robot.model, geometries=(ball,)))
    moved = drawn.textbook.with_frames_at_mass_centers()
    before, after = (
        r.poses(q)[r.link_names.index(ball.link)] @ np.asarray(r.model.geometries[0].origin) for r in (drawn, moved)
    )
    assert_allclose(after, before, atol=1e-12)
    assert centered.textbook.with_frames_at_mass_centers() == centered


def test_the_spatial_inertia_of_a_link_is_that_of_its_body():
    robot = cr.load("puma560")
    link = robot.links["link3"]
    G, c = link.spatial_inertia, np.asarray(Vector.of(link.com).skew())
    assert_allclose(G[:3, :3], link.inertia + link.mass * c @ c.T)
    assert_allclose(G[:3, 3:], link.mass * c)
    assert_allclose(G[3:, 3:], link.mass * np.eye(3))
