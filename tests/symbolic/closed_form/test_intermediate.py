"""Intermediate variables: the same numbers, assignment by assignment."""

import numpy as np
import pytest
from tiers import with_slow

import chainrule as cr


@pytest.mark.parametrize("name", with_slow(["planar_3r", "puma560", "stanford", "panda"], "stanford", "panda"))
def test_intermediate_variables_compute_the_same(name):
    robot = cr.load(name).without_friction()
    listed = robot.equations().intermediate("mass_matrix", "gravity_torque")
    q = robot.random_state(np.random.default_rng(0))
    values = dict(robot.equations().parameters) | dict(zip(robot.equations().q, q.tolist(), strict=True))
    for symbol, expression in listed.assignments:
        values[symbol] = float(expression.subs(values))
    M = np.array([float(x.subs(values)) for x in listed.results["mass_matrix"]]).reshape(robot.nv, robot.nv)
    assert np.abs(M - robot.mass_matrix(q)).max() < 1e-10
    g = np.array([float(x.subs(values)) for x in listed.results["gravity_torque"]])
    assert np.abs(g - robot.gravity_torque(q)).max() < 1e-9


def test_robots_by_screws_are_as_short_as_others():
    arm = cr.load("planar_3r")
    lists = arm.textbook.to_screws()
    robot = cr.Robot.from_screws(
        home=lists.home, screws=lists.screws, frames=lists.frames, inertias=lists.inertias, gravity=[0, -9.81, 0]
    )
    by_screws, by_frames = (r.equations().intermediate("inverse_dynamics") for r in (robot, arm))
    assert by_screws.operations == by_frames.operations
    assert cr.load("modern_robotics_3r").equations().intermediate("inverse_dynamics").operations["total"] > 0


def test_functions_of_frames_are_those_of_the_links_own_frames():
    robot = cr.load("puma560")
    listed = robot.equations().intermediate("pose")  # compared with the robot's own function
    assert listed.results["pose"].shape == (16, 1)
