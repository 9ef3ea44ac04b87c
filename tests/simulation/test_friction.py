"""Dry friction that sticks: no creep, exact rest, breaking away."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr

from .motions import ALL, block


@pytest.mark.parametrize("method", ALL)
def test_a_block_within_the_friction_cone_does_not_creep_at_all(method):
    weight = 2 * 9.81 * np.sin(0.3)
    motion = block(0.3, weight * 1.0001).simulate([0.7], None, 20.0, integrator=method, dt=1e-2)
    assert (motion.q == 0.7).all()
    assert (motion.qd == 0.0).all()
    assert np.allclose(motion.friction, -weight)


@pytest.mark.parametrize("method", ALL)
def test_a_block_beyond_the_friction_cone_slides_as_newton_says(method):
    weight = 2 * 9.81 * np.sin(0.3)
    motion = block(0.3, weight * 0.5).simulate([0.0], None, 1.0, integrator=method, dt=1e-3)
    a = -weight * 0.5 / 2.0
    assert motion.qd[-1, 0] == pytest.approx(a, rel=1e-9)
    assert motion.q[-1, 0] == pytest.approx(a / 2, rel=2e-3 if "euler" in method else 1e-6)


@pytest.mark.parametrize("method", ALL)
def test_a_sliding_block_stops_where_friction_stops_it_and_stays(method):
    motion = block(0.0, 4.0).simulate([0.0], [1.0], 2.0, integrator=method, dt=1e-3)
    assert motion.q[-1, 0] == pytest.approx(1.0 / (2 * 2.0), abs=2e-3)  # v^2 / 2a
    resting = motion.qd[:, 0] == 0.0
    assert resting[-1000:].all()
    assert np.ptp(motion.q[resting]) < 1e-12


def test_friction_of_two_directions_holds_between_its_two_limits():
    robot = cr.load("pendulum").edit(gravity=[0, 0, 0]).edit(joints={"*": {"coulomb": 1.0, "coulomb_negative": 0.4}})
    for push, holds in ((0.9, True), (1.1, False), (-0.3, True), (-0.5, False)):
        motion = robot.simulate([0.0], None, 0.5, [push])
        assert (motion.qd == 0).all() == holds
        moving = motion.qd[-1, 0]
        assert np.sign(moving) == (0 if holds else np.sign(push))


def test_friction_at_several_joints_settles_as_the_adaptive_integrator_finds():
    robot = cr.load("double_pendulum").edit(joints={"*": {"coulomb": [3.0, 1.5]}})
    exact = robot.simulate([1.0, -0.4], None, 8.0, integrator=cr.DOP853(dt=4e-3, rtol=1e-10, atol=1e-12))
    gaps = []
    for dt in (4e-3, 1e-3, 2.5e-4):
        motion = robot.simulate([1.0, -0.4], None, 8.0, dt=dt, record=round(4e-3 / dt))
        gaps.append(np.abs(motion.q - exact.q).max())
        assert (motion.qd[-100:] == 0).all()
    assert gaps[0] < 0.03
    assert gaps[2] < gaps[1] < gaps[0]


def test_a_joint_at_rest_on_a_heavy_arm_breaks_away_only_with_those_that_pull_it():
    robot = cr.load("panda").edit(joints={"*": {"coulomb": 200.0, "viscous": 0.0}})
    motion = robot.simulate(robot.random_state(np.random.default_rng(0)), None, 0.2)
    assert (motion.qd == 0).all()
    robot = robot.edit(joints={"panda_joint4": {"coulomb": 0.0}})
    motion = robot.simulate([0.0, -0.3, 0.0, -1.5, 0.0, 1.5, 0.0], None, 0.2)
    assert (motion.qd[1:, [0, 1, 2, 4, 5, 6]] == 0).all()
    assert (motion.qd[1:, 3] != 0).all()


def accelerations_with_friction(W, a, limits):
    """Accelerations and friction of joints at rest, by projected Gauss-Seidel to the last digit."""
    f = np.zeros(len(a))
    for _ in range(200_000):
        before = f.copy()
        for i in range(len(a)):
            f[i] = np.clip(f[i] + (a[i] - W[i] @ f) / W[i, i], -limits[i], limits[i])
        if np.abs(f - before).max() < 1e-13:
            break
    return a - W @ f, f


@pytest.mark.parametrize("seed", range(3))
def test_which_joints_of_a_chain_of_six_break_away_is_found_at_once(seed):
    rng = np.random.default_rng(seed)
    strong = np.array([60.0, 80.0, 40.0, 8.0, 4.0, 1.0])
    limits = rng.uniform(0.0, 1.0, 6) * strong
    robot = cr.load("ur5").edit(joints={"*": {"coulomb": limits.tolist(), "viscous": 0.0}})
    q, tau = robot.random_state(rng, (30,)), rng.normal(size=(30, 6)) * strong
    motion = robot.simulate(q, None, 1e-3, tau, dt=1e-3, limits=False, torque_limits=False)
    for k in range(30):
        W = np.linalg.inv(robot.mass_matrix(q[k]))
        qdd, friction = accelerations_with_friction(W, W @ (tau[k] - robot.gravity_torque(q[k])), limits)
        assert np.allclose(motion.qdd[k, 0], qdd, atol=1e-6 * (1 + np.abs(qdd).max()))
        assert np.allclose(motion.friction[k, 0], friction, atol=1e-6 * limits.max())
