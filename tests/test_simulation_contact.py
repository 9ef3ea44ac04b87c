"""Friction that sticks, stops that stop, torques that saturate, events that are found."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.model import Joint, Link, Model, Screw
from chainrule.spatial import Vector


def block(angle, friction, method="rk4"):
    """A block of 2 kg on a slope."""
    gravity = Vector(-9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle))
    link = Link("block", 2.0)
    joint = Joint("slide", "ground", "block", Screw.prismatic(Vector(1, 0, 0)))
    robot = cr.Robot(Model.build("slope", [Link("ground"), link], [joint], gravity=gravity))
    return robot.with_joint_properties(coulomb=friction)


METHODS = ("euler", "semi_implicit_euler", "rk4", "implicit_midpoint", "dop853", "radau", "lsoda")


@pytest.mark.parametrize("method", METHODS)
def test_a_block_within_the_friction_cone_does_not_creep_at_all(method):
    weight = 2 * 9.81 * np.sin(0.3)
    motion = block(0.3, weight * 1.0001).simulate([0.7], None, 20.0, method=method, dt=1e-2)
    assert (motion.q == 0.7).all()
    assert (motion.qd == 0.0).all()
    assert np.allclose(motion.friction, -weight)


@pytest.mark.parametrize("method", METHODS)
def test_a_block_beyond_the_friction_cone_slides_as_newton_says(method):
    weight = 2 * 9.81 * np.sin(0.3)
    motion = block(0.3, weight * 0.5).simulate([0.0], None, 1.0, method=method, dt=1e-3)
    a = -weight * 0.5 / 2.0
    assert motion.qd[-1, 0] == pytest.approx(a, rel=1e-9)
    assert motion.q[-1, 0] == pytest.approx(a / 2, rel=2e-3 if "euler" in method else 1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_sliding_block_stops_where_friction_stops_it_and_stays(method):
    motion = block(0.0, 4.0).simulate([0.0], [1.0], 2.0, method=method, dt=1e-3)
    assert motion.q[-1, 0] == pytest.approx(1.0 / (2 * 2.0), abs=2e-3)  # v^2 / 2a
    resting = motion.qd[:, 0] == 0.0
    assert resting[-1000:].all()
    assert np.ptp(motion.q[resting]) < 1e-12


def test_friction_of_two_directions_holds_between_its_two_limits():
    robot = cr.load("pendulum").with_gravity([0, 0, 0]).with_joint_properties(coulomb=1.0, coulomb_negative=0.4)
    for push, holds in ((0.9, True), (1.1, False), (-0.3, True), (-0.5, False)):
        motion = robot.simulate([0.0], None, 0.5, [push])
        assert (motion.qd == 0).all() == holds
        moving = motion.qd[-1, 0]
        assert np.sign(moving) == (0 if holds else np.sign(push))


def test_friction_at_several_joints_settles_as_the_adaptive_integrator_finds():
    robot = cr.load("double_pendulum").with_joint_properties(coulomb=[3.0, 1.5])
    exact = robot.simulate([1.0, -0.4], None, 8.0, method="dop853", dt=4e-3, rtol=1e-10, atol=1e-12)
    gaps = []
    for dt in (4e-3, 1e-3, 2.5e-4):
        motion = robot.simulate([1.0, -0.4], None, 8.0, dt=dt, record_every=round(4e-3 / dt))
        gaps.append(np.abs(motion.q - exact.q).max())
        assert (motion.qd[-100:] == 0).all()
    assert gaps[0] < 0.03
    assert gaps[2] < gaps[1] < gaps[0]


def test_a_joint_at_rest_on_a_heavy_arm_breaks_away_only_with_those_that_pull_it():
    robot = cr.load("panda").with_joint_properties(coulomb=200.0, viscous=0.0)
    motion = robot.simulate(robot.random_state(np.random.default_rng(0)), None, 0.2)
    assert (motion.qd == 0).all()
    robot = robot.with_joint_properties(coulomb={"panda_joint4": 0.0})
    motion = robot.simulate([0.0, -0.3, 0.0, -1.5, 0.0, 1.5, 0.0], None, 0.2)
    assert (motion.qd[1:, [0, 1, 2, 4, 5, 6]] == 0).all()
    assert (motion.qd[1:, 3] != 0).all()


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "dop853"])
def test_a_hard_stop_returns_the_share_of_speed_it_is_told(method):
    robot = block(0.0, 0.0).with_joint_properties(coulomb=0.0, upper=1.0)
    motion = robot.simulate([0.0], [2.0], 1.0, method=method, dt=1e-4, stops=cr.Impacts(0.5))
    assert motion.q.max() <= 1.0 + 1e-12
    assert motion.qd[-1, 0] == pytest.approx(-1.0, rel=1e-9)
    assert motion.q[-1, 0] == pytest.approx(0.5, abs=1e-3)


def test_a_bouncing_block_comes_to_rest_at_its_stop_and_leaves_it_when_pulled():
    robot = block(0.3, 0.0).with_joint_properties(coulomb=0.0, lower=0.0)
    pull = cr.Samples([0.0, 6.0, 6.0 + 1e-9, 7.0], [[0.0], [0.0], [10.0], [10.0]])
    motion = robot.simulate([0.5], None, 7.0, pull, stops=cr.Impacts(0.4))
    at_rest = (motion.t > 5) & (motion.t < 6)
    assert (motion.q[at_rest] == 0).all()
    assert (motion.qd[at_rest] == 0).all()
    assert motion.qd[-1, 0] == pytest.approx((10 - 2 * 9.81 * np.sin(0.3)) / 2, rel=1e-2)


def test_an_impact_at_one_joint_moves_the_others_by_the_impulse_alone():
    robot = cr.load("double_pendulum").with_joint_properties(upper={"upper_hinge": 0.3})
    q, qd = np.array([0.3 - 1e-9, 0.4]), np.array([2.0, -1.0])
    motion = robot.simulate(q, qd, 1e-6, dt=1e-6, stops=cr.Impacts(0.5))
    jump = motion.qd[-1] - qd
    impulse = robot.mass_matrix(q) @ jump
    assert motion.qd[-1, 0] == pytest.approx(-1.0, rel=1e-4)
    assert abs(impulse[1]) < 1e-4 * abs(impulse[0])


def test_springy_stops_hold_a_weight_where_their_stiffness_says():
    robot = block(0.3, 0.0).with_joint_properties(coulomb=0.0, viscous=0.0, lower=0.0)
    motion = robot.simulate([0.01], None, 10.0, stops=cr.Stops(1000.0, 50.0))
    assert motion.q[-1, 0] == pytest.approx(-2 * 9.81 * np.sin(0.3) / 1000.0, rel=1e-6)
    assert np.abs(motion.energy_error).max() < 1e-3


def test_torques_saturate_at_the_effort_limits_and_only_there():
    robot = cr.load("pendulum").with_gravity([0, 0, 0]).with_joint_properties(effort=2.0)
    motion = robot.simulate([0.0], None, 1.0, [10.0])
    assert (motion.tau == 2.0).all()
    assert (robot.simulate([0.0], None, 1.0, [-10.0]).tau == -2.0).all()
    assert (robot.simulate([0.0], None, 1.0, [10.0], torque_limits=False).tau == 10.0).all()
    assert np.allclose(motion.qd[-1], 2.0 / robot.mass_matrix([0.0])[0])


# --- events ---


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint", "dop853", "lsoda"])
def test_an_event_stops_the_motion_where_its_function_is_zero(method):
    robot = cr.load("double_pendulum")
    event = cr.Event(lambda t, q, qd: q[..., 0] + q[..., 1] - 0.2, name="crossing")
    motion = robot.simulate([1.0, 0.5], None, 3.0, method=method, events=event)
    assert motion.status == "stopped"
    assert abs(motion.q[-1].sum() - 0.2) < 1e-9
    assert motion.events[0].name == "crossing"
    assert motion.t[-1] == motion.events[0].t
    assert (motion.q[:-1].sum(-1) > 0.2).all()


def test_events_in_a_batch_are_found_row_by_row_and_in_one_direction():
    robot = cr.load("pendulum")
    event = cr.Event(lambda t, q, qd: q[..., 0], direction=-1, terminal=False)
    motion = robot.simulate([[0.5], [1.0], [-0.5]], None, 2.0, events=event, record_every=100)
    assert len(motion) == 21
    rows = sorted(happened.row for happened in motion.events)
    assert set(rows) == {(0,), (1,), (2,)}
    for happened in motion.events:
        assert abs(happened.q[0]) < 1e-12
        assert happened.qd[0] < 0


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_batch_stops_when_every_row_has_had_its_event(method):
    robot = cr.load("pendulum")
    motion = robot.simulate([[0.2], [2.0]], None, 50.0, events=lambda t, q, qd: q[..., 0], method=method)
    assert motion.status == "stopped"
    first, second = sorted(motion.events, key=lambda happened: happened.t)
    assert motion.t[-1] <= second.t < motion.t[-1] + 1e-3
    rows = motion.row(*first.row), motion.row(*second.row)
    assert (np.isnan(rows[0].q[:, 0]) == (motion.t > first.t)).all()
    assert np.isfinite(rows[1].q).all()


def test_hard_stops_refuse_followers_with_narrower_limits_of_their_own():
    robot = cr.load("panda_hand")
    q = robot.neutral()
    q[3], q[5] = -1.5, 1.5
    robot.simulate(q, None, 0.01, stops=cr.Impacts(0.5))
    wider = robot.with_joint_properties(upper={robot.joint_names[-1]: 0.5})
    with pytest.raises(cr.ShapeError, match="follows"):
        wider.simulate(q, None, 0.01, stops=cr.Impacts(0.5))


def test_friction_at_several_joints_of_a_loop_is_warned_of():
    robot = cr.load("four_bar").with_joint_properties(coulomb=0.05)
    with pytest.warns(cr.SimulationWarning, match="several joints"):
        robot.simulate(robot.neutral(), None, 0.01)
