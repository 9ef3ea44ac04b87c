"""Stops and impacts at the joint limits, and torques that saturate."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr

from .motions import block


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "dop853"])
def test_a_hard_stop_returns_the_share_of_speed_it_is_told(method):
    robot = block(0.0, 0.0).edit(joints={"*": {"coulomb": 0.0, "upper": 1.0}})
    motion = robot.simulate([0.0], [2.0], 1.0, integrator=method, dt=1e-4, stops=cr.Impacts(0.5))
    assert motion.q.max() <= 1.0 + 1e-12
    assert motion.qd[-1, 0] == pytest.approx(-1.0, rel=1e-9)
    assert motion.q[-1, 0] == pytest.approx(0.5, abs=1e-3)


def test_a_bouncing_block_comes_to_rest_at_its_stop_and_leaves_it_when_pulled():
    robot = block(0.3, 0.0).edit(joints={"*": {"coulomb": 0.0, "lower": 0.0}})
    pull = cr.Samples([0.0, 6.0, 6.0 + 1e-9, 7.0], [[0.0], [0.0], [10.0], [10.0]])
    motion = robot.simulate([0.5], None, 7.0, pull, stops=cr.Impacts(0.4))
    at_rest = (motion.t > 5) & (motion.t < 6)
    assert (motion.q[at_rest] == 0).all()
    assert (motion.qd[at_rest] == 0).all()
    assert motion.qd[-1, 0] == pytest.approx((10 - 2 * 9.81 * np.sin(0.3)) / 2, rel=1e-2)


def test_an_impact_at_one_joint_moves_the_others_by_the_impulse_alone():
    robot = cr.load("double_pendulum").edit(joints={"upper_hinge": {"upper": 0.3}})
    q, qd = np.array([0.3 - 1e-9, 0.4]), np.array([2.0, -1.0])
    motion = robot.simulate(q, qd, 1e-6, dt=1e-6, stops=cr.Impacts(0.5))
    jump = motion.qd[-1] - qd
    impulse = robot.mass_matrix(q) @ jump
    assert motion.qd[-1, 0] == pytest.approx(-1.0, rel=1e-4)
    assert abs(impulse[1]) < 1e-4 * abs(impulse[0])


def test_springy_stops_hold_a_weight_where_their_stiffness_says():
    robot = block(0.3, 0.0).edit(joints={"*": {"coulomb": 0.0, "viscous": 0.0, "lower": 0.0}})
    motion = robot.simulate([0.01], None, 10.0, stops=cr.Stops(1000.0, 50.0))
    assert motion.q[-1, 0] == pytest.approx(-2 * 9.81 * np.sin(0.3) / 1000.0, rel=1e-6)
    assert np.abs(motion.energy_error).max() < 1e-3


def test_hard_stops_refuse_followers_with_narrower_limits_of_their_own():
    robot = cr.load("panda_hand")
    q = robot.neutral()
    q[3], q[5] = -1.5, 1.5
    robot.simulate(q, None, 0.01, stops=cr.Impacts(0.5))
    wider = robot.edit(joints={robot.joint_names[-1]: {"upper": 0.5}})
    with pytest.raises(cr.ShapeError, match="follows"):
        wider.simulate(q, None, 0.01, stops=cr.Impacts(0.5))


def test_torques_saturate_at_the_effort_limits_and_only_there():
    robot = cr.load("pendulum").edit(gravity=[0, 0, 0]).edit(joints={"*": {"effort": 2.0}})
    motion = robot.simulate([0.0], None, 1.0, [10.0])
    assert (motion.tau == 2.0).all()
    assert (robot.simulate([0.0], None, 1.0, [-10.0]).tau == -2.0).all()
    assert (robot.simulate([0.0], None, 1.0, [10.0], torque_limits=False).tau == 10.0).all()
    assert np.allclose(motion.qd[-1], 2.0 / robot.mass_matrix([0.0])[0])
