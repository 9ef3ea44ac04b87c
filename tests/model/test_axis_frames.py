"""Frames on the axes of joints: other frames, the same robot."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import tree

import chainrule as cr
from chainrule.core.derived import merged_model
from chainrule.functions import reference
from chainrule.model.axis_frames import frames_on_axes
from chainrule.model.joints import Moved, Screw


def off_axis():
    """A chain by screws whose frames are all the base's, with a helical joint and a sliding one."""
    screws = np.array([[0, 0, 1, 0.3, -0.2, 0], [0, 0, 0, 1, 0, 0], [0, 1, 0, -0.4, 0.05, 0.6]]).T
    inertias = [np.diag([0.1, 0.2, 0.3, 2.0, 2.0, 2.0])] * 3
    return cr.Robot.from_screws(home=np.eye(4), screws=screws, inertias=inertias)


ROBOTS = {"puma560": lambda: cr.load("puma560"), "screws": off_axis, "tree": lambda: tree(3, ["moved", "revolute"])}


@pytest.mark.parametrize("name", ROBOTS)
def test_torques_and_energies_stay(name):
    robot = ROBOTS[name]()
    model = merged_model(robot)
    other = frames_on_axes(model)
    rng = np.random.default_rng(5)
    q = robot.random_state(rng)
    qd, qdd = rng.normal(size=(2, robot.nv))
    for function, arguments in {
        "inverse_dynamics": (q, qd, qdd), "mass_matrix": (q,), "kinetic_energy": (q, qd), "potential_energy": (q,)
    }.items():  # fmt: skip
        expected = reference.evaluate(model, function, [x[None] for x in arguments])
        found = reference.evaluate(other, function, [x[None] for x in arguments])
        assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_frames_on_links_stay_where_they_are():
    robot = cr.load("puma560").with_frame("camera", [[0, -1, 0, 0.1], [1, 0, 0, 0.2], [0, 0, 1, 0.3], [0, 0, 0, 1]])
    q = np.linspace(0.2, -0.9, 6)
    found = reference.evaluate(frames_on_axes(merged_model(robot)), "pose", [q[None]], link="camera")
    assert_allclose(found[0], robot.pose(q, "camera"), atol=1e-12)


def test_every_axis_passes_through_its_frame():
    for robot in (cr.load("puma560"), off_axis()):
        for joint in frames_on_axes(merged_model(robot)).joints:
            assert not isinstance(joint.kind, Moved)
            assert isinstance(joint.kind, Screw)
            if joint.kind.turns:
                assert_allclose(list(joint.kind.angular.cross(joint.kind.linear)), 0.0, atol=1e-15)
    plain = merged_model(cr.load("planar_3r"))
    assert frames_on_axes(plain) == plain
