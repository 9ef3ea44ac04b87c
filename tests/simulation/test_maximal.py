"""Maximal coordinates: the same motion as in reduced ones, with joints that are held together."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import state, tree

import chainrule as cr
from chainrule.simulation import maximal


def closed(name):
    robot = cr.load(name)
    return robot, robot.loops.close([1.0, 0.0, 0.0], hold=["crank"]) if robot.model.constraints else np.array(
        [0.3, 0.4]
    )


@pytest.mark.parametrize("name", ["planar_2r", "planar_rp", "four_bar"])
def test_projected_it_is_the_reduced_motion(name):
    robot, q = closed(name)
    motion = robot.textbook.simulate_maximal(q, None, 0.2, dt=2e-3, record=10)
    comparison = motion.compare()
    assert motion.position_drift.max() < 1e-12
    assert motion.velocity_drift.max() < 1e-12
    assert comparison.position_difference.max() < 1e-8
    assert comparison.velocity_difference.max() < 1e-7
    place = robot.link_names.index(robot.merge_fixed().link_names[-1])
    assert_allclose(motion.poses[:, -1], robot.poses(motion.q)[:, place], atol=1e-10)
    wrenches = robot.joint_wrenches(
        motion.q, motion.qd, robot.forward_dynamics(motion.q, motion.qd, 0 * motion.qd), frame="body"
    )
    assert_allclose(motion.joint_wrenches, wrenches, rtol=1e-7, atol=1e-7)


def test_without_stabilization_it_drifts_and_with_feedback_less_and_converges():
    robot, q = closed("four_bar")
    drift = {}
    for way in ("none", "baumgarte"):
        for dt in (5e-3, 2.5e-3):
            motion = robot.textbook.simulate_maximal(q, None, 0.5, dt=dt, loops=way)
            drift[way, dt] = motion.position_drift[-1]
    assert drift["none", 5e-3] > 1e-7
    assert drift["none", 2.5e-3] < drift["none", 5e-3] / 8
    assert drift["baumgarte", 2.5e-3] < drift["none", 2.5e-3]


@pytest.mark.parametrize(
    ("seed", "kinds"),
    [(6, ["spherical", "revolute"]), (7, ["universal", "prismatic"]), pytest.param(4, None, marks=pytest.mark.slow)],
)
def test_every_joint_kind_with_torques_springs_and_viscous_friction(seed, kinds):
    robot = (
        (tree(seed) if kinds is None else tree(seed, kinds, mimic=False))
        .without_friction()
        .edit(joints={"*": {"viscous": 0.1}})
        .reference
    )
    q, qd, tau = state(robot, seed)
    motion = robot.textbook.simulate_maximal(q, qd, 0.02, tau, 2e-3)
    comparison = motion.compare()
    assert motion.position_drift.max() < 1e-9
    assert comparison.position_difference.max() < 1e-5


def test_a_torque_function_and_a_given_reduced_motion():
    robot, q = closed("planar_2r")

    def torque(t, q, qd):
        return np.array([np.sin(5 * t), -q[1] - 2.0 * qd[1]])

    motion = robot.textbook.simulate_maximal(q, [1.0, 0.0], 0.1, torque, 2e-3)
    reduced = robot.simulate(q, [1.0, 0.0], 0.1, torque, dt=2e-3)
    comparison = motion.compare(reduced)
    assert comparison.position_difference.max() < 1e-8
    text = str(comparison)
    assert "26 numbers of state instead of 4" in text
    assert "difference of qd" in comparison._repr_html_()
    assert "stabilization 'projection'" in repr(motion)
    with pytest.raises(cr.ShapeError, match="has other times"):
        motion.compare(reduced[:5])


def test_equations_that_depend_on_each_other_are_refused():
    with pytest.raises(cr.SimulationError, match="depend on each other in this state, a change point"):
        maximal._solve(np.zeros((2, 2)), np.ones(2))


def test_what_it_cannot_do_is_refused():
    robot, q = closed("planar_2r")
    with pytest.raises(cr.ModelError, match="simulate_maximal: joint 'joint1' has dry friction"):
        robot.edit(joints={"*": {"coulomb": 1.0}}).textbook.simulate_maximal(q)
    with pytest.raises(cr.ShapeError, match="takes one start, got a batch"):
        robot.textbook.simulate_maximal(np.zeros((2, 2)))
    with pytest.raises(cr.UnknownNameError, match="way to close loops"):
        robot.textbook.simulate_maximal(q, loops="glue")
    with pytest.raises(cr.ShapeError, match="torque must be 2 numbers, got shape"):
        robot.textbook.simulate_maximal(q, torque=np.zeros((2, 2)))
    with pytest.raises(cr.ShapeError, match="torque must return 2 numbers"):
        robot.textbook.simulate_maximal(q, torque=lambda t, q, qd: np.zeros(3))
    with pytest.raises(cr.ShapeError, match="dt must be a positive time"):
        robot.textbook.simulate_maximal(q, dt=0.0)
    with pytest.raises(cr.ShapeError, match=r"are 1e\+09 steps, more than 1e\+07"):
        robot.textbook.simulate_maximal(q, None, 1e6)
    with pytest.raises(cr.SimulationError, match="the motion has come apart; take a smaller dt"):
        robot.textbook.simulate_maximal(q, [30.0, -40.0], 2.0, dt=0.1, loops="none")
