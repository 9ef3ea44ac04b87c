"""Prescribed motions of joints: followed exactly, and the torque that they need is that of inverse dynamics."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.errors import SimulationWarning


def test_a_crank_at_constant_speed_moves_the_piston_as_geometry_says():
    robot = cr.load("slider_crank")
    start = robot.loops.close([0.0, 0.0, 0.0], hold=["crank"])
    run = robot.simulate(start, None, 0.4, prescribed={"crank": 20.0}, dt=1e-3)
    angle = np.pi / 2 + 20 * run.t  # the crank points up at q = 0
    piston = 0.06 * np.cos(angle) + np.sqrt(0.1**2 - (0.06 * np.sin(angle)) ** 2) - 0.08
    assert_allclose(run.q[:, 0], 20 * run.t, atol=1e-14)
    assert_allclose(run.q[:, 2], piston, atol=1e-9)
    assert_allclose(run.tau, robot.inverse_dynamics(run.q, run.qd, run.qdd), atol=1e-10)
    assert not run.tau[:, 1:].any()
    assert np.abs(run.energy_error).max() < 1e-6


def test_a_function_of_time_drives_a_joint_of_an_open_chain():
    arm = cr.load("planar_2r").edit(joints={"*": {"viscous": 0.2}})
    run = arm.simulate([0.0, 0.3], [1.5, 0.0], 1.0, prescribed={"joint1": lambda t: 0.3 * np.sin(5 * t)}, dt=1e-3)
    assert_allclose(run.q[:, 0], 0.3 * np.sin(5 * run.t), atol=1e-14)
    assert_allclose(run.qdd[:, 0], -7.5 * np.sin(5 * run.t), atol=1e-12)
    assert_allclose(run.tau, arm.inverse_dynamics(run.q, run.qd, run.qdd), atol=1e-9)
    assert_allclose(run.tau[:, 1], 0, atol=1e-12)
    assert np.abs(run.energy_error).max() < 1e-6
    adaptive = arm.simulate(
        [0.0, 0.3], [1.5, 0.0], 1.0, prescribed={"joint1": lambda t: 0.3 * np.sin(5 * t)}, integrator="dop853", dt=0.1
    )
    assert_allclose(adaptive.q[-1], run.q[-1], atol=1e-7)


def test_three_numbers_and_samples_are_motions_too():
    arm = cr.load("planar_2r").reference
    exact = lambda t: (t**3, 3 * t**2, 6 * t)  # noqa: E731
    t = np.linspace(0, 0.2, 9)
    runs = [
        arm.simulate([0.0, 0.3], None, 0.1, prescribed={"joint1": motion}, dt=1e-2)
        for motion in (exact, (t, t**3), cr.Samples(t, (t**3)[:, None], "cubic"), lambda t: t**3)
    ]
    for run in runs[1:]:
        assert_allclose(run.q, runs[0].q, atol=1e-9)
        assert_allclose(run.tau, runs[0].tau, atol=1e-6)


def test_each_row_of_a_batch_goes_on_from_its_own_start():
    arm = cr.load("planar_2r").reference
    starts = np.array([[0.0, 0.3], [1.0, 0.3]])
    run = arm.simulate(starts, None, 0.05, prescribed={"joint1": 2.0}, dt=1e-2)
    assert_allclose(run.q[..., 0], starts[:, :1] + 2 * run.t, atol=1e-14)
    alone = arm.simulate(starts[1], None, 0.05, prescribed={"joint1": 2.0}, dt=1e-2)
    assert_allclose(run.q[1], alone.q, atol=1e-14)


def test_a_start_that_does_not_fit_is_moved_and_that_is_said():
    arm = cr.load("planar_2r").reference
    with pytest.warns(SimulationWarning, match=r"q0 was moved by 0\.5 at 'joint1', to where its prescribed motion"):
        run = arm.simulate([0.5, 0.3], None, 0.02, prescribed={"joint1": lambda t: 2 * t}, dt=1e-2)
    assert run.q[0].tolist() == [0.0, 0.3]
    assert run.qd[0].tolist() == [2.0, 0.0]
    with pytest.warns(SimulationWarning, match="qd0 was moved by 1 at 'joint1'"):
        arm.simulate([0.0, 0.3], [1.0, 0.0], 0.02, prescribed={"joint1": 2.0}, dt=1e-2)


def test_what_is_refused():
    arm, bar = cr.load("planar_2r").reference, cr.load("four_bar").reference
    for motion, words in {
        "speed": (lambda: {"joint1": "fast"}, "prescribed"),
        "joint": (lambda: {"elbow": 1.0}, "no joint named 'elbow'"),
        "list": (lambda: [1.0], "must be a dictionary of joints and motions"),
        "math": (lambda: {"joint1": math.sin}, r"let it return \(q, qd, qdd\)"),
        "class": (lambda: {"joint1": dict}, "is the class dict; give a speed"),
        "two": (lambda: {"joint1": lambda t: (t, 1.0)}, r"the three numbers \(q, qd, qdd\)"),
        "nan": (lambda: {"joint1": lambda t: (np.nan, 0.0, 0.0)}, "is not finite at t = 0 s"),
        "linear": (lambda: {"joint1": cr.Samples([0, 1], [[0], [1]])}, "with interpolation='cubic'"),
        "pair": (lambda: {"joint1": ([0.0, 1.0], [0.0])}, r"a pair \(t, q\) of equal lengths"),
        "branch": (lambda: {"joint1": lambda t: t if t > 0.5 else 0.0 * t}, r"let it return \(q, qd, qdd\)"),
    }.values():
        with pytest.raises(cr.ChainruleError, match=words):
            arm.simulate([0.0, 0.0], None, 0.1, prescribed=motion())
    with pytest.raises(cr.ModelError, match=r"leave robot 'four_bar' 1 degrees of freedom .*depend on each other"):
        bar.simulate(bar.home(), None, 0.1, prescribed={"crank": 0.0, "rocker": 0.0})
    with pytest.raises(cr.ModelError, match=r"prescribed motions and dry friction \('joint1'\)"):
        cr.load("planar_2r").edit(joints={"joint1": {"coulomb": 1.0}}).simulate(
            [0.0, 0.0], None, 0.1, prescribed={"joint2": 1.0}
        )
    with pytest.raises(cr.ShapeError, match="know no impacts"):
        arm.simulate([0.0, 0.0], None, 0.1, prescribed={"joint1": 1.0}, stops=cr.Impacts(0.5))
    ball = cr.build("ball").link("base").spherical("ball").link("bob", mass=1.0, length=1.0, radius=0.1).robot()
    with pytest.raises(cr.ModelError, match="only joints with one degree of freedom can"):
        ball.reference.simulate(ball.neutral(), None, 0.1, prescribed={"ball": 1.0})
