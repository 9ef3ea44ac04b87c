"""Poses as SciPy, Pinocchio, Drake and ROS have them, wherever a pose goes in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.spatial import transform

import chainrule as cr
from chainrule.spatial import Transform

ARM = cr.load("ur5")
Q = np.array([0.3, -1.0, 0.8, 0.2, 0.4, 0.1])
T = ARM.pose(Q)
POINT, ROTATION = T[:3, 3], transform.Rotation.from_matrix(T[:3, :3])


def pinocchio_pose() -> Any:
    return pytest.importorskip("pinocchio").SE3(T)


def drake_pose() -> Any:
    return pytest.importorskip("pydrake.math").RigidTransform(T)


def message(point: str, rotation: str) -> Any:
    xyz = SimpleNamespace(**dict(zip("xyz", POINT, strict=True)))
    quaternion = SimpleNamespace(**dict(zip("xyzw", ROTATION.as_quat(), strict=True)))
    return SimpleNamespace(**{point: xyz, rotation: quaternion})


def rigid_transform() -> Any:
    if not hasattr(transform, "RigidTransform"):
        pytest.skip("a newer SciPy has RigidTransform")
    return transform.RigidTransform.from_matrix(T)


FORMS = {
    "matrix": lambda: T,
    "nested lists": T.tolist,
    "Transform": lambda: Transform.of(T.tolist()),
    "RigidTransform": rigid_transform,
    "point and quaternion": lambda: (POINT, ROTATION.as_quat()),
    "lists of both": lambda: [POINT.tolist(), ROTATION.as_quat().tolist()],
    "a quaternion of another length": lambda: (POINT, 3.0 * ROTATION.as_quat()),
    "point and Rotation": lambda: (POINT, ROTATION),
    "SE3": pinocchio_pose,
    "Drake": drake_pose,
    "geometry_msgs/Pose": lambda: message("position", "orientation"),
    "geometry_msgs/Transform": lambda: message("translation", "rotation"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_pose_in_any_form(form: str) -> None:
    pose = FORMS[form]()
    assert np.allclose(ARM.inverse_kinematics(pose, Q).q, Q, atol=1e-6)
    placed = ARM.with_frame("placed", pose, link="base_link")
    assert np.allclose(placed.pose(Q, "placed"), ARM.pose(Q, "base_link") @ T)
    assert np.allclose(cr.plan_pose([pose, pose], times=1.0).poses, T)
    assert np.allclose(cr.Impedance(ARM, pose, 10.0).target.parameters.reshape(3, 4), T[:3])
    based = cr.Robot.from_dh([(0.3, 0, 0, 0)], convention="standard", base=pose, tool=pose, check=False)
    plain = cr.Robot.from_dh([(0.3, 0, 0, 0)], convention="standard", base=T, tool=T, check=False)
    assert np.allclose(based.pose([0.2]), plain.pose([0.2]))


@pytest.mark.parametrize("form", FORMS)
def test_batches_in_any_form(form: str) -> None:
    poses = [FORMS[form]() for _ in range(3)]
    assert np.allclose(ARM.inverse_kinematics(poses, Q).q, np.stack([Q] * 3), atol=1e-6)


def test_batches_of_the_packages_themselves() -> None:
    points = np.stack([POINT] * 2)
    assert ARM.inverse_kinematics((points, ROTATION.as_quat()), Q).success.tolist() == [True, True]
    assert ARM.inverse_kinematics((points, np.stack([ROTATION.as_quat()] * 2)), Q).success.all()
    both = transform.Rotation.concatenate([ROTATION, ROTATION])
    assert ARM.inverse_kinematics((points, both), Q).success.all()
    assert ARM.inverse_kinematics(both, Q, task="orientation").success.shape == (2,)


def test_points_in_other_units() -> None:
    pint = pytest.importorskip("pint")
    millimeters = pint.get_application_registry().Quantity(POINT * 1000, "mm")
    assert np.allclose(ARM.inverse_kinematics((millimeters, ROTATION), Q).q, Q, atol=1e-6)
    assert ARM.inverse_kinematics(millimeters, Q, task="position").success


def test_a_rotation_turns_a_frame_in_place() -> None:
    turned = ARM.with_frame("turned", ROTATION).pose(Q, "turned")
    assert np.allclose(turned, T @ np.block([[T[:3, :3], np.zeros((3, 1))], [np.zeros((1, 3)), np.eye(1)]]))


def test_what_is_no_pose_is_refused() -> None:
    with pytest.raises(cr.ShapeError, match=r"target is a Rotation, which has no position; give task='orientation'"):
        ARM.inverse_kinematics(ROTATION, Q)
    with pytest.raises(cr.ShapeError, match=r"its quaternion must be finite and not zero"):
        ARM.inverse_kinematics((POINT, [0.0, 0.0, 0.0, 0.0]), Q)
    with pytest.raises(cr.ShapeError, match=r"must be poses of one form, got a list of several"):
        ARM.inverse_kinematics([ROTATION, POINT], Q)
    with pytest.raises(cr.ShapeError, match=r"origin must be a 4-by-4"):
        ARM.with_frame("f", (POINT, POINT))
