"""A point that moves in a moving frame: its terms sum to the second derivative of its position."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import state, tree

import chainrule as cr
from chainrule.algorithms.moving_point import carries

SEEDS = st.integers(0, 10_000)
few = settings(max_examples=5)
ARM = cr.load("planar_2r").reference


@given(SEEDS)
@few
def test_the_terms_of_a_moving_point_are_the_derivatives_of_its_position(seed):
    robot = tree(seed).reference
    q, qd, qdd = state(robot, seed)
    P, V, V_dot = np.random.default_rng(seed).normal(size=(3, 3))

    def position(t):
        T = robot.pose(robot.integrate(q, qd * t + qdd * t**2 / 2), "tool")
        return T[:3, :3] @ (P + V * t + V_dot * t**2 / 2) + T[:3, 3]

    h = 1e-4
    speeds = robot.textbook.velocity_terms(q, qd, "tool", P, point_velocity=V)
    assert_allclose(speeds.total, (position(h) - position(-h)) / (2 * h), rtol=1e-5, atol=1e-5)
    if robot.nq == robot.nv:  # a step with quaternions is no parabola
        terms = robot.textbook.acceleration_terms(q, qd, qdd, "tool", P, point_velocity=V, point_acceleration=V_dot)
        by_steps = (position(h) - 2 * position(0.0) + position(-h)) / h**2
        assert_allclose(terms.total, by_steps, rtol=1e-4, atol=1e-4)
        assert_allclose(sum(terms.terms.values()), terms.total, atol=1e-9)


@given(SEEDS)
@few
def test_a_frame_that_the_link_carries_moves_as_the_robot_moves_it(seed):
    robot = tree(seed).reference
    q, qd, qdd = state(robot, seed)
    expected, speed = robot.acceleration(q, qd, qdd, "tool")[3:], robot.velocity(q, qd, "tool")[3:]
    R = robot.pose(q, "tool")[:3, :3]
    for link in robot.link_names:
        if carries(robot.model, link, "tool"):
            terms = robot.textbook.acceleration_terms(q, qd, qdd, link, "tool")
            assert_allclose(terms.total, expected, rtol=1e-8, atol=1e-8)
            assert_allclose(robot.textbook.velocity_terms(q, qd, link, "tool").total, speed, rtol=1e-9, atol=1e-9)
            own = robot.textbook.acceleration_terms(q, qd, qdd, link, "tool", frame="body")
            turn = robot.pose(q, link)[:3, :3]
            for name, values in terms.terms.items():
                assert_allclose(turn @ getattr(own, name), values, rtol=1e-8, atol=1e-8)
    assert_allclose(
        robot.textbook.acceleration_terms(q, qd, qdd, "tool", frame="body").total, R.T @ expected, atol=1e-8
    )


def test_a_point_that_is_fixed_has_no_relative_and_no_coriolis_acceleration():
    x = [0.3, -0.4], [1.0, 0.5], [0.2, 0.7]
    terms = ARM.textbook.acceleration_terms(*x, "link2", [0.2, 0.1, 0.0])
    assert_allclose(terms.total, ARM.acceleration(*x, "link2", point=[0.2, 0.1, 0.0])[3:], atol=1e-12)
    assert not terms.relative.any()
    assert not terms.coriolis.any()


def test_a_collar_on_a_turning_rod_has_the_accelerations_of_the_textbook():
    """r = 0.5 m, outward at 2 m/s and 3 m/s^2, omega = 4 rad/s, alpha = 5 rad/s^2."""
    given = {"point_velocity": [2, 0, 0], "point_acceleration": [3, 0, 0]}
    terms = ARM.textbook.acceleration_terms([0.3, 0.0], [4.0, 0.0], [5.0, 0.0], "link1", [0.5, 0, 0], **given)
    sizes = {name: float(np.linalg.norm(values)) for name, values in terms.terms.items()}
    assert sizes == pytest.approx(
        {"origin": 0.0, "relative": 3.0, "coriolis": 16.0, "euler": 2.5, "centripetal": 8.0}, abs=1e-12
    )


def test_gravity_is_in_the_acceleration_of_the_origin():
    terms = ARM.textbook.acceleration_terms([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], "link1", "tip", gravity=True)
    assert_allclose(terms.origin, [0, 9.81, 0])
    assert_allclose(terms.total, [0, 9.81, 0])


def test_batches_of_states_and_of_points_broadcast():
    q = np.zeros((5, 1, 2))
    points = np.zeros((3, 3))
    points[:, 0] = range(3)
    terms = ARM.textbook.acceleration_terms(q, [3.0, 0.0], [0.0, 0.0], "link1", points)
    assert terms.total.shape == (5, 3, 3)
    assert_allclose(terms.centripetal[2, :, 0], [0, -9, -18])
    assert "batch of shape (5, 3)" in " ".join(str(terms).split())
    assert "(5, 3)" in terms._repr_html_()
    with pytest.raises(cr.ShapeError, match=r"a batch of shape \(5, 3\) is no table"):
        terms.to_pandas()


def test_the_terms_are_text_html_and_pandas():
    terms = ARM.textbook.velocity_terms([0.0, 0.0], [1.0, 2.0], "link1", "tip")
    assert str(terms).splitlines()[0] == "velocity of the origin of tip in the frame of link1 in base axes, m/s"
    assert repr(terms) == str(terms)
    assert terms._repr_html_().count("<tr>") == 1 + 4
    pytest.importorskip("pandas")
    frame = terms.to_pandas()
    assert frame.loc["total", "y"] == 4.0
    assert frame.attrs["units"]["x"] == "m/s"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"point": [1.0, 2.0]}, cr.ShapeError, r"acceleration_terms: point must have 3 numbers"),
        ({"point_velocity": 3.0}, cr.ShapeError, r"acceleration_terms: point_velocity must have 3 numbers"),
        ({"point_acceleration": "x"}, cr.ShapeError, r"acceleration_terms: point_acceleration must be real numbers"),
        ({"point": "tip", "point_velocity": np.zeros(3)}, cr.ShapeError, "moves as the joints do; leave out point_vel"),
        ({"link": "link2", "point": "link1"}, cr.ModelError, "'link2' does not carry 'link1'"),
        ({"point": "nowhere"}, cr.UnknownNameError, "nowhere"),
        ({"frame": "space"}, cr.UnknownNameError, "frame of an acceleration"),
        ({"point": np.zeros((3, 3))}, None, ""),
        ({"q": np.zeros((2, 2)), "point": np.zeros((3, 3))}, cr.ShapeError, "batch.* do not fit together"),
    ],
)
def test_wrong_points_are_refused(arguments, error, message):
    given = {"q": [0.0, 0.0], "qd": [0.0, 0.0], "qdd": [0.0, 0.0], **arguments}
    if error is None:
        assert ARM.textbook.acceleration_terms(**given).total.shape == (3, 3)
        return
    with pytest.raises(error, match=message):
        ARM.textbook.acceleration_terms(**given)
