"""A base that is driven: its true way, its odometry, and what is drawn of both."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule import wheels
from chainrule.studio.driving import KINDS, MAX_SPEED, STEP_S, TRAIL_SAMPLES, DrivenBase, Errors
from chainrule.studio.scene.base import doubt, outline, segments

EXACT = Errors(0.0, 0.0, 10**9)


def driven(kind, errors, steps=100, **command):
    drive = DrivenBase(kind, errors)
    drive.command(**command)
    for _ in range(steps):
        drive.step()
    return drive


@pytest.mark.parametrize("kind", KINDS)
def test_without_errors_odometry_is_the_truth(kind):
    drive = driven(kind, EXACT, forward=5, turn=3)
    assert_allclose(drive.believed, drive.pose, atol=1e-6)
    assert drive.pose[2] > 0.2
    controls = KINDS[kind].controls(drive.base, drive.twist)
    track = wheels.odometry(drive.base, np.tile(controls, (100, 1)), STEP_S)
    assert_allclose(drive.pose, track.pose[-1], atol=1e-9)


def test_a_larger_right_wheel_turns_the_base_to_the_left():
    drive = driven("Differential drive", Errors(0.05, 0.0, 10**9), forward=10)
    assert_allclose(drive.believed[[1, 2]], 0.0, atol=1e-6)
    assert drive.pose[2] > 0.1
    distance, angle = drive.error
    assert_allclose(distance, np.hypot(*(drive.believed - drive.pose)[:2]))
    assert_allclose(angle, -drive.pose[2], atol=1e-6)


def test_coarse_encoders_lose_no_ticks():
    drive = driven("Differential drive", Errors(0.0, 0.0, 4), forward=5)
    assert_allclose(drive.believed[0], drive.pose[0], atol=2 * np.pi * 0.06 / 4)


def test_slip_makes_doubt_that_covers_the_error():
    inside = 0
    for seed in range(20):
        drive = DrivenBase("Differential drive", Errors(0.0, 0.2), seed=seed)
        drive.command(forward=8, turn=2)
        for _ in range(100):
            drive.step()
        apart = (drive.believed - drive.pose)[:2]
        inside += apart @ np.linalg.solve(drive.covariance[:2, :2], apart) < 9.0
    assert inside >= 16


def test_only_omnidirectional_bases_go_sideways():
    for kind, about in KINDS.items():
        drive = driven(kind, EXACT, left=3)
        assert (abs(drive.pose[1]) > 0.1) == about.sideways
        assert drive.is_at_rest != about.sideways


def test_speeds_have_limits_and_halt():
    drive = DrivenBase("Car", EXACT)
    drive.command(forward=99, turn=99)
    assert drive.twist[0] == MAX_SPEED
    drive.step()
    drive.command(stop=True)
    assert drive.is_at_rest
    drive.command(turn=3)
    assert drive.is_at_rest  # a car that stands only turns its wheels
    with pytest.raises(cr.UnknownNameError, match=r"wheeled base.*'Tank'.*Car"):
        DrivenBase("Tank")


def test_the_way_is_bounded():
    drive = driven("Unicycle", EXACT, steps=TRAIL_SAMPLES + 100, forward=1)
    assert len(drive.history) == TRAIL_SAMPLES
    way, believed = drive.ways(50)
    assert len(way) == len(believed) <= 50
    assert_allclose(way[-1], drive.pose[:2])


def test_lines_on_the_ground():
    assert_allclose(outline(np.array([1.0, 2.0, np.pi / 2]))[2, :2], [1.0, 2.0 + 1.25 * 0.24], atol=1e-12)
    drive = driven("Differential drive", Errors(0.0, 0.2), forward=8)
    ring = doubt(drive)[:, :2] - drive.believed[:2]
    assert_allclose(np.einsum("ki,ki->k", ring @ np.linalg.inv(drive.covariance[:2, :2]), ring), 4.0)
    pieces = segments(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), 4, height=0.5)
    assert pieces.shape == (4, 2, 3)
    assert_allclose(pieces[-1], [[1.0, 0.0, 0.5], [1.0, 1.0, 0.5]])
    assert_allclose(pieces[0, 0], pieces[0, 1])
