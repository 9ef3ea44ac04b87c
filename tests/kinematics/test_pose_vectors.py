"""Poses as six numbers and back, in all thirteen orders of angles, singular ones too."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import chainrule as cr
from chainrule.algorithms.euler import ORDERS
from chainrule.errors import ShapeError, UnknownNameError

ENDS = [sign * k * np.pi / 2 + nudge for k in range(3) for sign in (-1, 1) for nudge in (0.0, 1e-13, -1e-8, 1e-5)]
ANGLE = st.one_of(st.floats(-np.pi, np.pi), st.sampled_from(ENDS))


@pytest.mark.parametrize("order", ORDERS)
@given(angles=st.tuples(ANGLE, ANGLE, ANGLE))
@example(angles=(0.4, np.pi / 2, -1.1))
@example(angles=(0.4, -np.pi / 2, -1.1))
@example(angles=(0.4, 0.0, -1.1))
@example(angles=(0.4, np.pi, -1.1))
@example(angles=(0.4, np.pi / 2 - 1e-8, -1.1))
@example(angles=(0.4, 1e-8, -1.1))
def test_a_pose_comes_back_from_its_vector_at_singular_angles_too(order, angles):
    T = cr.pose_from_vector([1.0, -2.0, 3.0, *angles], order=order)
    x = cr.vector_from_pose(T, order=order)
    again = cr.pose_from_vector(x, order=order)
    np.testing.assert_allclose(again, T, atol=2e-9 if cr.angles_are_singular(T, order=order, tolerance=1e-9) else 1e-14)
    low, high = (0.0, np.pi) if order[0] == order[2] else (-np.pi / 2, np.pi / 2)
    assert low <= x[4] <= high
    assert np.abs(x[[3, 5]]).max() <= np.pi


@pytest.mark.parametrize("order", ORDERS)
@given(first=st.floats(-3, 3), second=st.floats(0.01, 1.55), third=st.floats(-3, 3))
def test_a_vector_of_regular_angles_comes_back_from_its_pose(order, first, second, third):
    x = [1.0, -2.0, 3.0, first, second, third]
    T = cr.pose_from_vector(x, order=order)
    np.testing.assert_allclose(cr.vector_from_pose(T, order=order), x, atol=1e-12)
    assert not cr.angles_are_singular(T, order=order)


@pytest.mark.parametrize("order", ORDERS)
def test_singular_angles_are_told_and_the_last_letter_is_zero(order):
    ends = (0.0, np.pi) if order[0] == order[2] else (-np.pi / 2, np.pi / 2)
    for end in ends:
        T = cr.pose_from_vector([0, 0, 0, 0.3, end, 0.5], order=order)
        assert cr.angles_are_singular(T, order=order)
        x = cr.vector_from_pose(T, order=order)
        assert x[3 if order == "rpy" else 5] == 0.0
        assert x[4] == pytest.approx(end)


@pytest.mark.parametrize("order", ORDERS)
def test_batches_are_scipys_angles(order):
    x = np.random.default_rng(3).uniform(-1.5, 1.5, (4, 2, 6))
    T = cr.pose_from_vector(x, order=order)
    letters = "xyz" if order == "rpy" else order.upper()
    expected = Rotation.from_euler(letters, x[..., 3:].reshape(-1, 3)).as_matrix().reshape(4, 2, 3, 3)
    np.testing.assert_allclose(T[..., :3, :3], expected, atol=1e-14)
    np.testing.assert_array_equal(T[..., :3, 3], x[..., :3])
    assert cr.vector_from_pose(T, order=order).shape == (4, 2, 6)


@pytest.mark.parametrize("order", ORDERS)
def test_the_pose_vector_of_a_robot_gives_its_pose(order):
    robot = cr.load("puma560")
    q = robot.random_state(np.random.default_rng(4), (5,))
    x = robot.reference.textbook.pose_vector(q, order=order)
    np.testing.assert_allclose(cr.pose_from_vector(x, order=order), robot.reference.pose(q), atol=1e-14)
    np.testing.assert_allclose(cr.vector_from_pose(robot.reference.pose(q), order=order), x, atol=1e-14)


def test_undefined_numbers_stay_undefined():
    T = cr.pose_from_vector([[0, 0, 0, np.nan, 0, 0], [0, 0, 0, 0, 0, 0]])
    assert np.isnan(T[0, :3, :3]).any()
    assert np.isnan(cr.vector_from_pose(T)[0]).all()
    assert not np.isnan(cr.vector_from_pose(T)[1]).any()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: cr.pose_from_vector([1, 2, 3]), ShapeError, "pose_from_vector: x must have 6 numbers"),
        (lambda: cr.pose_from_vector([0] * 6, order="xxy"), UnknownNameError, "no order of angles named 'xxy'"),
        (lambda: cr.vector_from_pose(np.eye(4), order="quaternion"), UnknownNameError, "no order of angles named"),
        (lambda: cr.vector_from_pose(np.eye(3)), ShapeError, "vector_from_pose: T must be 4-by-4"),
        (lambda: cr.vector_from_pose(2 * np.eye(4)), ShapeError, "not a rigid transform"),
        (
            lambda: cr.angles_are_singular(np.eye(4), order="ZYX"),
            UnknownNameError,
            "no order of angles named 'ZYX'",
        ),
        (lambda: cr.angles_are_singular(np.full((4, 4), np.nan)), ShapeError, "angles_are_singular: T"),
        (lambda: cr.angles_are_singular(np.eye(4), tolerance="small"), ShapeError, "tolerance"),
    ],
)
def test_what_is_no_pose_or_no_order_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_quantities_are_converted_and_refused_by_dimension():
    pint = pytest.importorskip("pint")
    unit = pint.UnitRegistry()
    x = [100 * unit.cm, 0 * unit.m, 0 * unit.m, 90 * unit.deg, 0 * unit.rad, 0 * unit.rad]
    np.testing.assert_allclose(cr.pose_from_vector(x), cr.pose_from_vector([1, 0, 0, np.pi / 2, 0, 0]), atol=1e-15)
    with pytest.raises(ShapeError, match="angle 1"):
        cr.pose_from_vector([*x[:3], 1 * unit.m, *x[4:]])
