"""What a reader of the documentation tried on kinematics and wheels, and found wrong."""

import warnings

import numpy as np
import pytest

import chainrule as cr
from chainrule.errors import ChainruleError
from chainrule.wheels import (
    Car,
    DifferentialDrive,
    MobileManipulator,
    Omnidirectional,
    moved,
    odometry,
)

DRIVE = DifferentialDrive(0.1, 0.4)
PANDA = cr.load("panda")


def test_closed_loops_have_no_analytic_solutions_of_their_opened_tree():
    robot = cr.load("four_bar")
    with pytest.raises(ChainruleError, match="closed loops"):
        robot.analytic_inverse_kinematics(robot.pose(robot.neutral()))


def test_the_condition_number_of_a_singularity_is_not_negative():
    assert PANDA.condition_number(np.zeros(7)) > 1e15


@pytest.mark.parametrize("size", [1e-8, 1e-3, 1e6])
def test_only_the_proportions_of_weights_matter(size):
    targets = PANDA.pose(PANDA.random_state(np.random.default_rng(1), (10,)))
    answer = PANDA.inverse_kinematics(targets, weights=[size] * 6)
    assert answer.success.all()
    np.testing.assert_array_equal(answer.q, PANDA.inverse_kinematics(targets).q)


def test_proportions_between_links_are_kept():
    q = PANDA.random_state(np.random.default_rng(1), (5,))
    targets = {"panda_link8": PANDA.pose(q), "panda_link4": PANDA.pose(q, "panda_link4")}
    few = PANDA.inverse_kinematics(targets, weights={"panda_link8": [1e-6] * 6, "panda_link4": [1e-7] * 6})
    many = PANDA.inverse_kinematics(targets, weights={"panda_link8": [1.0] * 6, "panda_link4": [0.1] * 6})
    np.testing.assert_allclose(few.q, many.q, atol=1e-5)


@pytest.mark.parametrize("length", [1e-310, 1e-200, 1e300])
def test_directions_may_have_any_length(length):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = PANDA.inverse_kinematics([length, 0.0, 0.0], task="pointing")
        assert PANDA.workspace(50).reach([length, 0.0, 0.0]).distance > 0
    assert answer.success
    np.testing.assert_allclose(PANDA.pose(answer.q)[:3, 2], [1, 0, 0], atol=1e-5)


@pytest.mark.parametrize("far", [1e40, 1e100])
def test_a_place_far_away_is_not_reached_and_warns_of_nothing(far):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not PANDA.inverse_kinematics([far, 0.0, 0.0], task="position").success


def test_the_tips_that_may_be_meant_are_those_of_the_robot_itself():
    with pytest.raises(ChainruleError, match="FL_FOOT"):
        cr.load("quadruped").inverse_kinematics([0.0, 0.0, 0.0], task="position")


def test_the_inner_wheel_steers_on_beyond_a_right_angle():
    angles = Car(1.0, 1.5).wheel_angles(np.linspace(-1.5, 1.5, 301))
    assert np.abs(np.diff(angles, axis=0)).max() < 0.05
    np.testing.assert_allclose(1 / np.tan(angles[-1]), 1 / np.tan(1.5) + np.array([-0.75, 0.75]), rtol=1e-9)


def test_a_message_about_long_arrays_is_short():
    poses = np.full((5000, 4, 4), np.nan)
    with pytest.raises(ChainruleError) as caught:
        PANDA.follow(poses, np.zeros(7))
    assert len(str(caught.value)) < 400


WRONG = {
    "a task that is a list": lambda: PANDA.inverse_kinematics(np.eye(4), task=["pose"]),
    "weights of another link": lambda: PANDA.inverse_kinematics(np.eye(4), weights={"hand": [1] * 6}),
    "a task of another link": lambda: PANDA.inverse_kinematics(
        {"panda_link8": np.eye(4)}, task={"panda_link8": "pose", "hand": "pose"}
    ),
    "a negative seed": lambda: PANDA.workspace(10, rng=-1),
    "a seed that is no number": lambda: PANDA.workspace(10, rng="a"),
    "no starts": lambda: PANDA.workspace(10).reach([1, 0, 0], starts=0),
    "negative starts": lambda: PANDA.workspace(10).reach([1, 0, 0], starts=-1),
    "tiny cells": lambda: PANDA.workspace(10).volume(1e-12),
    "batches of resolved_rate": lambda: PANDA.resolved_rate(np.zeros((3, 7)), np.zeros((2, 6))),
    "batches of null velocities": lambda: PANDA.resolved_rate(
        np.zeros((3, 7)), np.zeros(6), null_velocity=np.zeros((2, 7))
    ),
    "batches of odometry": lambda: odometry(DRIVE, np.zeros((3, 5, 2)), 0.1, np.zeros((4, 3))),
    "infinite covariance": lambda: odometry(DRIVE, np.zeros((3, 2)), 0.1, covariance=np.full((3, 3), np.inf)),
    "infinite noise": lambda: odometry(DRIVE, np.zeros((3, 2)), 0.1, noise=np.inf),
    "batches of moved": lambda: moved(np.zeros((3, 3)), np.zeros((2, 3))),
    "batches of pose_rates": lambda: DRIVE.pose_rates(np.zeros((3, 3)), np.zeros((2, 2))),
    "batches of a mobile arm": lambda: MobileManipulator(DRIVE, PANDA).resolved_rate(
        np.zeros((3, 10)), np.zeros((2, 6))
    ),
    "batches of its velocities": lambda: MobileManipulator(DRIVE, PANDA).joint_velocities(
        np.zeros((3, 10)), np.zeros((2, 9))
    ),
    "no wheels": lambda: Omnidirectional(0.1, np.zeros((0, 4))),
    "steering in words": lambda: Car(2.5).wheel_angles("left"),
    "a radius in words": lambda: Car(2.5).turning_radius("left"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused_in_the_librarys_own_words(name):
    with pytest.raises(ChainruleError):
        WRONG[name]()
