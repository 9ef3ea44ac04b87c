"""The bundled five-bar, Delta and humanoid against independent computations."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.robot.building import to_urdf

pin = pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")
from peers import Pinocchio  # noqa: E402


def test_the_humanoid_moves_as_in_pinocchio():
    robot = cr.load("humanoid")
    plain = cr.Robot(replace(robot.model, geometries=(), configurations=()))
    peer = Pinocchio(plain, to_urdf(plain))
    rng = np.random.default_rng(0)
    q, qd, qdd = robot.random_state(rng), *rng.normal(size=(2, robot.nv))
    tau = robot.reference.inverse_dynamics(q, qd, qdd)
    assert_allclose(tau, peer.inverse_dynamics(q, qd, qdd), rtol=1e-9, atol=1e-9)
    poses = peer.poses(q)
    for name, T in zip(robot.link_names, robot.reference.poses(q), strict=True):
        assert_allclose(T, poses[name], atol=1e-12)


def test_the_humanoid_has_the_mass_and_the_symmetry_of_a_body():
    robot = cr.load("humanoid")
    standing = robot.configurations["standing"]
    assert robot.mass == pytest.approx(73.0)
    x, y, z = robot.reference.center_of_mass(standing)
    height = robot.reference.pose(standing, "head")[2, 3] + 0.2429
    assert height == pytest.approx(1.7703, abs=1e-4)
    assert y == pytest.approx(0.0, abs=1e-12)
    assert 0.0 < x < 0.01
    assert 0.54 < z / height < 0.58  # of the order of 0.56 in adults
    assert robot.reference.pose(standing, "left_foot")[2, 3] == pytest.approx(0.0679)
    q = robot.q({"right_elbow_flexion": np.pi / 2, "left_hip_flexion": 0.5, "left_knee_flexion": 0.3})
    assert robot.reference.pose(q, "right_hand")[0, 3] == pytest.approx(0.2689)
    assert robot.reference.pose(q, "left_foot")[0, 3] > 0.2


def test_the_delta_accelerates_as_in_pinocchio():
    robot = cr.load("delta")
    model, joints = pin.Model(), {"base": 0}
    for joint, link in zip(robot.model.joints, robot.model.links[1:], strict=True):
        parent, origin = joints[joint.parent], pin.SE3(np.array(joint.origin.rows(), dtype=float))
        turns = [(part.angular, part.linear) for part in getattr(joint.kind, "parts", (joint.kind,))]
        for k, (angular, linear) in enumerate(turns):
            axis = np.array([*angular]) if any(angular) else np.array([*linear])
            kind = pin.JointModelRevoluteUnaligned if any(angular) else pin.JointModelPrismaticUnaligned
            parent = model.addJoint(parent, kind(axis), origin if k == 0 else pin.SE3.Identity(), f"{joint.name}{k}")
            model.armature[-1] = float(joint.dofs[k].armature)
        xx, yy, zz, xy, xz, yz = (float(x) for x in link.inertia.entries())
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        model.appendBodyToJoint(
            parent, pin.Inertia(float(link.mass), np.array([*link.com], dtype=float), inertia), pin.SE3.Identity()
        )
        joints[link.name] = parent
    model.gravity.linear = robot.gravity
    ties = [
        pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, model,
            joints[c.link_a], pin.SE3(np.array(c.origin_a.rows(), dtype=float)),
            joints[c.link_b], pin.SE3(np.array(c.origin_b.rows(), dtype=float)), pin.ReferenceFrame.LOCAL,
        )
        for c in robot.model.constraints
    ]  # fmt: skip
    rng = np.random.default_rng(1)
    start = robot.q({"arm1": 0.2, "arm2": 0.1, "arm3": -0.1})
    q = robot.loops.close(start, hold=["arm1", "arm2", "arm3"])
    qd = robot.loops.consistent_velocity(q, rng.normal(size=12))
    tau = np.where(robot.limits.effort > 0, rng.normal(size=12), 0.0)
    data, datas = model.createData(), [tie.createData() for tie in ties]
    pin.initConstraintDynamics(model, data, ties, datas)
    expected = pin.constraintDynamics(model, data, q, qd, tau, ties, datas, pin.ProximalSettings(1e-12, 0.0, 1))
    assert_allclose(robot.forward_dynamics(q, qd, tau), expected, rtol=1e-7, atol=1e-7)


def test_the_five_bar_s_tool_is_where_two_circles_meet():
    robot = cr.load("five_bar")
    left, right = np.random.default_rng(2).uniform(-0.5, 0.5, size=(2, 20))
    start = np.stack([left, 0 * left, right, 0 * right], axis=-1)
    q = robot.loops.close(start, hold=["left_crank", "right_crank"])
    elbows = [
        np.stack([x - 0.2 * np.sin(angle), 0.2 * np.cos(angle)], axis=-1) for x, angle in ((-0.1, left), (0.1, right))
    ]
    middle, apart = (elbows[0] + elbows[1]) / 2, elbows[1] - elbows[0]
    d = np.linalg.norm(apart, axis=-1, keepdims=True)
    up = np.stack([-apart[:, 1], apart[:, 0]], axis=-1) / d
    assert_allclose(robot.pose(q)[:, :2, 3], middle + up * np.sqrt(0.26**2 - (d / 2) ** 2), atol=1e-9)
