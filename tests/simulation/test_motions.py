"""Motions against what is known of them: closed forms, conserved quantities, MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from peers import MuJoCo
from scipy.special import ellipk
from tiers import with_slow
from trees import state, tree

import chainrule as cr
from chainrule.model import Free, Spherical
from chainrule.robot.building import to_urdf
from chainrule.spatial import Rotation, Vector

from .motions import ADAPTIVE, FIXED, body, kinds_of, with_tolerances


@pytest.mark.parametrize("method", ["rk4", *ADAPTIVE])
def test_a_pendulum_has_the_period_of_the_elliptic_integral(method):
    robot, start = cr.load("pendulum"), 2.0
    M = robot.mass_matrix([0.0])[0, 0]
    slope = abs(robot.gravity_torque([np.pi / 2])[0])
    period = 4 * np.sqrt(M / slope) * ellipk(np.sin(start / 2) ** 2)
    turning = cr.Event(lambda t, q, qd: qd[..., 0], direction=-1, terminal=False)
    motion = robot.simulate([start], None, 3.5 * period, integrator=with_tolerances(method, 1e-10), events=turning)
    times = [event.t for event in motion.events]
    assert len(times) == 3
    assert np.allclose(times, period * np.arange(1, 4), rtol=1e-7)


def test_a_top_precesses_steadily_at_the_rate_of_its_gyroscopic_equation():
    I1, I3, m, l, theta = 0.4, 0.15, 2.0, 0.3, 0.6
    top = body(Spherical(), m, (0.0, 0.0, l), (I1 - m * l * l, I1 - m * l * l, I3))
    spin = 60.0  # of the body about its axis
    slow = np.roots([I1 * np.cos(theta), -I3 * spin, m * 9.81 * l])  # I1 cos(theta) W^2 - I3 spin W + m g l = 0
    rate = float(np.min(slow.real))
    # in the body's frame, tilted by theta about x: precession about the vertical, and spin about its own z
    omega = [0.0, rate * np.sin(theta), spin]
    tilt = [np.sin(theta / 2), 0.0, 0.0, np.cos(theta / 2)]
    motion = top.simulate(tilt, omega, 2.0, dt=2e-4, record=10)
    axis = top.pose(motion.q, "body")[..., :3, 2]
    assert np.allclose(axis[:, 2], np.cos(theta), atol=1e-9)
    angle = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    assert np.allclose(angle - angle[0], rate * motion.t, atol=1e-6)
    L = top.momentum(motion.q, motion.qd)
    assert np.allclose(L[:, 2], L[0, 2], rtol=1e-9)


@pytest.mark.parametrize("method", FIXED + ADAPTIVE)
def test_a_free_body_keeps_its_momentum_and_runs_along_its_polhode(method):
    stone = body(Free(), gravity=(0.0, 0.0, 0.0))
    start = [0.01, 3.0, 0.02, 0.3, -0.2, 0.1]  # about the axis between, which does not hold
    dt = 1e-5 if "euler" in method else 5e-4
    every = round(1e-2 / dt)
    motion = stone.simulate(stone.neutral(), start, 4.0, integrator=with_tolerances(method, 1e-10, dt=dt), record=every)
    loose = 2e-3 if "euler" in method else 3e-6
    assert np.abs(np.linalg.norm(motion.q[:, 3:], axis=-1) - 1).max() < 1e-14
    p = stone.momentum(motion.q, motion.qd)
    assert np.abs(p - p[0]).max() < loose
    I, w = np.array([0.1, 0.2, 0.35]), motion.qd[:, :3]
    assert np.abs((I * w * w).sum(-1) - (I * w[0] * w[0]).sum()).max() < 10 * loose  # the energy's ellipsoid
    assert np.abs((I * I * w * w).sum(-1) - (I * I * w[0] * w[0]).sum()).max() < 10 * loose  # the momentum's
    assert w[:, 1].min() < -2.5  # and it tumbles over


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint", "dop853"])
def test_a_falling_body_falls_as_galileo_says_while_it_spins(method):
    stone = body(Free())
    turned = Rotation.exp(Vector(0.3, 0.2, -0.5))
    q0 = [1.0, 2.0, 3.0, *turned.quaternion()]
    velocity = np.array([1.0, -2.0, 4.0])
    R = np.array([list(row) for row in turned])
    motion = stone.simulate(q0, [0.0, 0.0, 5.0, *(R.T @ velocity)], 1.5, integrator=with_tolerances(method, 1e-11))
    t = motion.t[:, None]
    fall = np.array([1.0, 2.0, 3.0]) + velocity * t + np.array([0.0, 0.0, -9.81]) * t * t / 2
    loose = 1e-9 if method != "implicit_midpoint" else 1e-4
    assert np.abs(motion.q[:, :3] - fall).max() < loose
    assert np.abs(motion.energy_error).max() < 10 * loose


# --- conserved quantities ---


def test_internal_torques_leave_the_momentum_of_a_floating_robot_alone():
    robot = cr.load("quadruped").edit(gravity=[0, 0, 0]).without_friction()
    push = np.concatenate([np.zeros(6), np.random.default_rng(0).normal(size=robot.nv - 6) / 100])
    swing = cr.traceable(lambda t, q, qd: push * np.sin(9 * t))
    motion = robot.simulate(robot.neutral(), None, 0.5, swing, limits=False)
    assert np.abs(motion.qd[:, 6:]).max() > 0.1
    assert np.abs(robot.momentum(motion.q, motion.qd)).max() < 1e-10


@pytest.mark.parametrize("seed", with_slow(range(4), 3))
def test_energy_is_accounted_for_with_everything_a_joint_can_carry(seed):
    robot = tree(seed, kinds_of(seed))
    q, qd, tau = state(robot, seed)
    push = np.array([0.1, -0.2, 0.3, 1.0, 0.5, -0.4])
    motion = robot.simulate(
        q, qd, 0.2, tau, dt=1e-4, tip_wrench=push, external={"link1": push}, record=20, frame="body"
    )
    moved = np.abs(motion.work).max() + np.ptp(motion.energy)
    assert np.abs(motion.energy_error).max() < 1e-5 * moved  # the steps in which a joint comes to rest


@pytest.mark.parametrize("seed", with_slow(range(4), 3))
def test_forward_then_inverse_dynamics_round_trips_with_friction_stops_springs_and_rotors(seed):
    robot = tree(seed, kinds_of(seed))
    q, qd, tau = state(robot, seed)
    qd[: robot.nv // 2] = 0.0  # some joints at rest, held or not
    motion = robot.simulate(q, qd, 0.05, tau, stops=cr.Stops(100.0, 1.0), limits=False)
    bare = robot.without_friction()
    needed = bare.inverse_dynamics(motion.q, motion.qd, motion.qdd)
    scale = np.abs(needed).max()
    assert np.abs(needed - (motion.tau - motion.friction)).max() < 1e-9 * scale


def test_a_floating_quadruped_runs_compiled():
    robot = cr.load("quadruped")
    motion = robot.simulate(robot.neutral(), None, 0.1, limits=False)
    assert np.isfinite(motion.q).all()
    mass_center = robot.center_of_mass(motion.q)
    assert np.allclose(mass_center[-1, 2] - mass_center[0, 2], -9.81 * 0.01 / 2, atol=1e-8)


# --- a peer ---


def test_trajectories_are_those_of_mujoco_at_a_small_step():
    robot = cr.load("panda").without_friction()
    peer = MuJoCo(robot, to_urdf(robot))
    model, data = peer.model, peer.data
    model.opt.timestep, model.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    q0 = robot.random_state(np.random.default_rng(1))
    data.qpos[:] = q0
    samples = []
    for _ in range(2000):
        samples.append(data.qpos.copy())
        mujoco.mj_step(model, data)
    motion = robot.simulate(q0, None, 0.2, dt=1e-4)
    assert np.abs(motion.q[:-1] - np.array(samples)).max() < 1e-8
