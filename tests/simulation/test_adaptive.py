"""Adaptive steps: events, impacts and friction between them."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.model import Joint, Link, Model, Screw
from chainrule.spatial import Symmetric, Transform, Vector


def thrown(**options):
    ball = cr.load("cartesian_3p").without_friction().lock({"joint2": 0.0, "joint3": 0.0})
    return ball.simulate([0.4], [2.0], 0.5, limits=False, **options)


@pytest.mark.parametrize("method", ["dop853", "radau", "lsoda"])
def test_adaptive_steps_do_not_leap_over_an_event_there_and_back(method):
    passing = cr.Event(lambda t, q, qd: q[..., 0] - 0.5, terminal=False)
    assert len(thrown(integrator=method, events=passing).events) == 2


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_adaptive_impacts_of_a_floating_robot_keep_its_momentum_and_its_limits(method):
    robot = cr.load("quadruped").edit(gravity=[0, 0, 0]).without_friction()
    robot = robot.edit(joints={name: {"lower": -0.5, "upper": 0.5} for name in robot.joint_names[1:]})
    v = np.zeros(robot.nv)
    v[[6, -2, -1]] = [2.0, 1.0, -2.0]
    motion = robot.simulate(robot.neutral(), v, 1.5, integrator=method, dt=1e-2, stops=cr.Impacts(1.0))
    assert np.abs(motion.q[:, 7:]).max() < 0.5 + 1e-9
    momentum = np.asarray(robot.momentum(motion.q, motion.qd))
    assert np.abs(momentum - momentum[0]).max() < 1e-8
    assert np.abs(motion.energy_error).max() < 1e-8


def test_adaptive_friction_never_holds_a_joint_beyond_its_limit():
    links = [
        Link("base"),
        *(Link(f"l{i}", 0.5, Vector(0.1, 0, 0), Symmetric(1e-3, 2e-3, 2e-3, 0, 0, 0)) for i in range(8)),
    ]
    joints = [
        Joint(f"j{i}", "base" if i == 0 else f"l{i - 1}", f"l{i}", Screw.revolute(Vector(0, 0, 1)),
              origin=Transform.from_xyz_rpy([0.2 * (i > 0), 0, 0]))
        for i in range(8)
    ]  # fmt: skip
    chain = cr.Robot(Model.build("chain", links, joints, gravity=Vector(0, -9.81, 0))).edit(
        joints={"*": {"coulomb": 0.5}}
    )
    motion = chain.simulate(np.zeros(8), None, 0.5, integrator="dop853", dt=1e-2)
    assert np.abs(motion.friction).max() <= 0.5 + 1e-9
