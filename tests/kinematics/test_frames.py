"""One default frame: Jacobians, velocities and accelerations of a frame's origin in base axes belong together."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import tree

import chainrule as cr
from chainrule.functions.table import FUNCTIONS

FRAMES = ["world", "body", "space"]
ROBOTS = ["planar_2r", "stanford", "panda", "panda_hand", "quadruped", "human_arm"]


def motion(robot, count=4, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random_state(rng, (count,)), rng.normal(size=(count, robot.nv)), rng.normal(size=(count, robot.nv))


def links_of(robot):
    return [robot.link_names[-1], robot.link_names[1], *(frame.name for frame in robot.model.frames[:1])]


# --- one default ---


@pytest.mark.parametrize("name", ROBOTS)
def test_the_jacobian_times_velocities_is_the_velocity(name):
    robot = cr.load(name)
    q, qd, _ = motion(robot)
    for link in links_of(robot):
        V = robot.velocity(q, qd, link)
        assert_allclose((robot.jacobian(q, link) @ qd[..., None])[..., 0], V, atol=1e-12)
        assert_allclose(robot.jacobian(q[0], link) @ qd[0], robot.velocity(q[0], qd[0], link), atol=1e-12)
        assert_allclose(V[:, 3:], (robot.jacobian(q, link, "world") @ qd[..., None])[:, 3:, 0], atol=1e-12)


def test_every_way_to_a_jacobian_has_the_same_default():
    robot = cr.load("panda")
    (q, *_), (qd, *_), _ = motion(robot)
    expected = robot.reference.jacobian(q, frame="world")
    for _ in range(2):  # the second call goes to machine code
        assert_allclose(robot.jacobian(q), expected, atol=1e-13)
    assert_allclose(robot.jacobian(q[None])[0], expected, atol=1e-13)
    assert_allclose(robot.reference.jacobian(q), expected, atol=1e-13)
    assert_allclose(robot.kernel("jacobian")(q), expected, atol=1e-13)
    rate = robot.reference.jacobian_derivative(q, qd, frame="world")
    for _ in range(2):
        assert_allclose(robot.jacobian_derivative(q, qd), rate, atol=1e-13)
    assert_allclose(robot.kernel("jacobian_derivative")(q, qd), rate, atol=1e-13)


def test_a_lazy_jacobian_has_the_same_default():
    array = pytest.importorskip("dask.array")
    robot = cr.load("panda")
    q, qd, _ = motion(robot)
    J = robot.jacobian(array.from_array(q, chunks=(2, -1))).compute()
    assert_allclose((J @ qd[..., None])[..., 0], robot.velocity(q, qd), atol=1e-12)


def test_every_function_with_a_frame_has_the_same_default():
    for name in ("jacobian", "jacobian_derivative", "velocity", "resolved_rate", "balanced_wrench", "wrench_capacity"):
        assert inspect.signature(getattr(cr.Robot, name)).parameters["frame"].default == "world", name
    for name, function in FUNCTIONS.items():
        if "frame" in function.options and not function.loaded:
            assert cr.load("planar_2r").options(name, {})["frame"] == "world", name


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("seed", [3, 4])
def test_frames_of_a_jacobian_are_one_motion(frame, seed):
    robot = tree(seed)
    q, qd, _ = motion(robot)
    link = robot.link_names[-1]
    T, V = robot.pose(q, link), robot.velocity(q, qd, link)
    R, p = T[:, :3, :3], T[:, :3, 3]
    omega, v = V[:, :3], V[:, 3:]
    expected = {
        "world": (omega, v),
        "body": ((omega[:, None] @ R)[:, 0], (v[:, None] @ R)[:, 0]),
        "space": (omega, v + np.cross(p, omega)),
    }[frame]
    assert_allclose(robot.velocity(q, qd, link, frame), np.concatenate(expected, axis=-1), atol=1e-11)
