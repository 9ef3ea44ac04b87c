"""Control of robots with closed loops: motors hold and move the whole mechanism, and passive joints get no torque."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.core.closure import closure_of

LOOPS = ["five_bar", pytest.param("delta", marks=pytest.mark.slow), pytest.param("stewart_platform", marks=pytest.mark.slow)]  # fmt: skip


def around(name, amount=0.03, count=6):
    """A robot, and configurations that lead its platform once around a circle."""
    robot = cr.load(name)
    s = np.linspace(0, 2 * np.pi, count)
    T = np.tile(robot.pose(robot.home()), (count, 1, 1))
    T[:, 0, 3] += amount * np.sin(s)
    T[:, 1, 3] -= amount * (1 - np.cos(s))
    if name == "delta":
        T[:, 2, 3] -= 0.05
    task = "pose" if name == "stewart_platform" else "position"
    path = robot.ik.follow(T if task == "pose" else T[:, :3, 3], q0=robot.home(), task=task)
    assert path.success.all()
    return robot, path.q


@pytest.mark.parametrize("name", LOOPS)
def test_computed_torque_follows_a_motion_and_the_energy_is_accounted_for(name):
    robot, points = around(name)
    motion = cr.plan(robot, points, times=1.5)
    run = robot.simulate(points[0], None, 1.5, cr.ComputedTorque(robot, motion, bandwidth=4.0), dt=1e-3)
    assert np.abs(robot.difference(run.q, motion(run.t)[0])).max() < 1e-6
    assert not run.tau[:, robot.limits.effort == 0].any()
    assert_allclose(run.tau, robot.inverse_dynamics(run.q, run.qd, run.qdd), atol=1e-8)
    assert np.abs(run.energy_error).max() < 1e-6 * np.ptp(run.energy)


@pytest.mark.parametrize("name", LOOPS)
def test_gravity_compensation_holds_the_mechanism_wherever_it_is(name):
    robot, points = around(name)
    run = robot.simulate(points[2], None, 0.3, cr.GravityCompensation(robot), dt=2e-3)
    assert np.abs(run.qd).max() < 1e-10
    tau = cr.GravityCompensation(robot)(0.0, points, np.zeros((len(points), robot.nv)))
    still = np.zeros(robot.nv)
    assert_allclose(tau, robot.inverse_dynamics(points, still, still), atol=1e-10)


def test_pd_with_gravity_arrives():
    robot, points = around("five_bar")
    for law in (cr.PD(robot, points[2]), cr.PID(robot, points[2])):
        run = robot.simulate(points[0], None, 2.5, law, dt=2e-3)
        assert np.abs(run.q[-1] - points[2]).max() < 1e-3
        assert not run.tau[:, robot.limits.effort == 0].any()


def test_a_perturbed_start_converges_as_the_gains_say():
    """With an exact model the error of the driven joints obeys e'' + kd e' + kp e = 0."""
    robot, points = around("five_bar")
    start = robot.loops.close(points[0] + [0.1, 0.0, -0.05, 0.0], hold=["left_crank", "right_crank"])
    run = robot.simulate(start, None, 0.5, cr.ComputedTorque(robot, points[0], kp=100.0, kd=20.0), dt=1e-3)
    cranks = [0, 2]
    e0 = (start - points[0])[cranks]
    expected = e0 * ((1 + 10 * run.t) * np.exp(-10 * run.t))[:, None]
    assert_allclose(run.q[:, cranks] - points[0][cranks], expected, atol=1e-6)


def test_more_motors_than_freedoms_share_the_torque():
    robot = cr.load("five_bar").edit(joints={"left_coupler": {"effort": 5.0}})
    q = robot.home()
    law = cr.GravityCompensation(robot)
    tau, least = law(0.0, q, np.zeros(4)), cr.GravityCompensation(cr.load("five_bar"))(0.0, q, np.zeros(4))
    assert tau[1] != 0
    assert np.linalg.norm(tau) < np.linalg.norm(least)
    assert_allclose(robot.forward_dynamics(q, np.zeros(4), tau), 0, atol=1e-10)


def test_too_few_motors_are_refused_with_the_reason():
    robot = cr.load("five_bar")
    for make in (cr.GravityCompensation, lambda r, **o: cr.PD(r, r.home(), **o)):
        with pytest.raises(cr.ModelError, match=r"joints with motors \('left_crank'\) determine 1 of the 2 degrees"):
            make(robot, actuated=["left_crank"])
    with pytest.raises(cr.ModelError, match="closed loops, and this law knows of none; GravityCompensation, PD"):
        cr.Impedance(robot, robot.pose(robot.home()))


def test_plans_keep_loops_closed_and_refuse_open_way_points():
    robot, points = around("five_bar")
    motion = cr.plan(robot, points, times=2.0)
    q, qd, _ = motion(np.linspace(-0.1, 2.1, 40))
    assert closure_of(robot).is_closed(q).all()
    assert_allclose(robot.loops.consistent_velocity(q, qd), qd, atol=1e-10)
    step = 1e-5
    t = np.linspace(0.1, 1.9, 10)
    assert_allclose((motion(t + step)[0] - motion(t - step)[0]) / (2 * step), motion(t)[1], atol=1e-6)
    assert_allclose((motion(t + step)[1] - motion(t - step)[1]) / (2 * step), motion(t)[2], atol=1e-5)
    with pytest.raises(cr.ModelError, match="way-point 1 is not closed: constraint 'pin' stays open"):
        cr.plan(robot, [points[0], points[0] + 0.3])
    with pytest.raises(cr.ShapeError, match="closed loops, along which method='time_optimal' knows no torques"):
        cr.plan(robot, points, method="time_optimal")
