"""Planned motions: through their way-points, smooth as promised, within limits, and as quick as these allow."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.interpolate import PPoly
from trees import tree

import chainrule as cr
from chainrule import ModelError, ShapeError, UnknownNameError
from chainrule.control.motions.curves import METHODS, extremes, minimum_jerk, quintic

PANDA = cr.load("panda").reference
SCARA = cr.load("scara").reference
ARM = cr.load("planar_2r").reference
SPINNING = tree(3, ("spherical", "revolute", "free", "prismatic"), mimic=False).reference
WAYPOINTS = [[0.0, 0.0], [0.7, -0.3], [0.2, 0.4], [1.0, 1.0]]
TIMES = [0.0, 0.5, 1.4, 2.0]
SMOOTHNESS = {"minimum_jerk": 4, "cubic": 2, "quintic": 2, "trapezoidal": 1}
"""How many derivatives are continuous inside."""

methods = pytest.mark.parametrize("method", METHODS)


def slope(f, t, h=1e-5):
    """The derivative of f by a fourth-order central difference."""
    return (8 * (f(t + h) - f(t - h)) - (f(t + 2 * h) - f(t - 2 * h))) / (12 * h)


def between(reference, count=41):
    """Times inside the motion, away from its break points."""
    t = np.linspace(0, reference.duration, count)[1:-1] + 0.00037
    return t[np.abs(t[:, None] - reference.curve.x).min(axis=1) > 1e-3]


def pose(rotation_vector, position):
    from scipy.spatial.transform import Rotation

    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(rotation_vector).as_matrix()
    T[:3, 3] = position
    return T


POSES = [
    pose([0.1, 0.2, -0.3], [0.4, 0.0, 0.5]),
    pose([1.1, -0.4, 0.3], [0.5, 0.2, 0.4]),
    pose([0.9, 0.6, -1.3], [0.3, 0.3, 0.6]),
]


# --- through the way-points, smoothly ---


@methods
def test_motion_passes_its_waypoints_and_rests_at_both_ends(method):
    motion = cr.plan(ARM, WAYPOINTS, times=TIMES, method=method)
    q, qd, _ = motion(TIMES)
    assert_allclose(q, WAYPOINTS, atol=1e-12)
    assert_allclose(qd[[0, -1]], 0, atol=1e-9)
    for t, end in ((-1.0, 0), (9.0, -1)):
        q, qd, qdd = motion(t)
        assert_allclose(q, WAYPOINTS[end], atol=1e-15)
        assert not qd.any()
        assert not qdd.any()


@methods
def test_velocity_and_acceleration_are_the_derivatives(method):
    motion = cr.plan(ARM, WAYPOINTS, times=TIMES, method=method)
    t = between(motion)
    assert_allclose(slope(lambda t: motion(t)[0], t), motion(t)[1], atol=1e-8)
    assert_allclose(slope(lambda t: motion(t)[1], t), motion(t)[2], atol=1e-7)


@methods
def test_derivatives_are_continuous_as_far_as_promised(method):
    curve = cr.plan(ARM, WAYPOINTS, times=TIMES, method=method).curve
    for order in range(SMOOTHNESS[method] + 1):
        derivative = curve.derivative(order)
        inner = curve.x[1:-1]
        assert_allclose(derivative(inner), derivative(inner - 1e-9), atol=1e-4, rtol=1e-5)


def test_quintic_has_the_velocities_that_are_given_and_no_acceleration_at_waypoints():
    velocities = [[0, 0], [0.3, -0.5], [0.1, 0.9], [0, 0]]
    motion = cr.plan(ARM, WAYPOINTS, times=TIMES, method="quintic", velocities=velocities)
    _, qd, qdd = motion(TIMES)
    assert_allclose(qd, velocities, atol=1e-12)
    assert_allclose(qdd, 0, atol=1e-10)
    assert_allclose(motion(np.array(TIMES[1:]) - 1e-9)[2], 0, atol=1e-5)


def test_estimated_velocities_turn_round_at_the_waypoint():
    motion = cr.plan(ARM, [[0, 0], [1, 1], [0, 3]], times=[0, 1, 2], method="quintic")
    assert_allclose(motion(1.0)[1], [0.0, 1.5], atol=1e-12)
    assert_allclose(extremes(motion.curve).high[0], 1.0)


def test_any_shape_of_time():
    motion = cr.plan(ARM, WAYPOINTS, times=TIMES)
    t = np.linspace(-1, 3, 12).reshape(3, 2, 2)
    for whole, shape in zip(motion(t), [(3, 2, 2, 2)] * 3, strict=True):
        assert whole.shape == shape
    assert_allclose(motion(t)[0][1, 0, 1], motion(t[1, 0, 1])[0])
    assert np.isnan(motion([math.nan, 1.0])[0][0]).all()
    assert np.isfinite(motion([math.nan, 1.0])[0][1]).all()


def test_samples_cover_the_motion():
    motion = cr.plan(ARM, WAYPOINTS, times=TIMES)
    samples = motion.sample(0.3)
    assert_allclose(samples.t, np.arange(8) * 0.3)
    assert_allclose(samples.q[-1], WAYPOINTS[-1])
    assert len(motion.sample(0.1).t) == 21


def test_reference_travels_by_pickle():
    for motion in (cr.plan(ARM, WAYPOINTS, times=TIMES), cr.plan_pose(POSES, times=2.0), cr.hold([0.1])):
        twin = pickle.loads(pickle.dumps(motion))
        for a, b in zip(twin(0.3), motion(0.3), strict=True):
            assert_allclose(a, b)


# --- closed forms ---


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(0.1, 10), st.floats(0, 1))
def test_minimum_jerk_between_two_points_is_the_polynomial_10_15_6(a, b, T, u):
    q = cr.plan(ARM, [[a, b], [b, a]], times=T)(u * T)[0]
    s = 10 * u**3 - 15 * u**4 + 6 * u**5
    assert_allclose(q, [a + (b - a) * s, b + (a - b) * s], atol=1e-9)


def squared_jerk(curve):
    """The integral of squared jerk, by Gauss-Legendre on each piece: exact for polynomials."""
    x, w = np.polynomial.legendre.leggauss(8)
    total = 0.0
    for a, b in zip(curve.x[:-1], curve.x[1:], strict=True):
        t = (a + b) / 2 + (b - a) / 2 * x
        total += (b - a) / 2 * (w @ (curve.derivative(3)(t) ** 2)).sum()
    return total


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(2, 6))
def test_no_other_feasible_motion_has_less_squared_jerk(seed, count):
    """Add bumps t^3 (T - t)^3 prod (t - t_i) ^ 1: zero at way-points, at rest to second order at both ends."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(np.concatenate([[0], rng.uniform(0.3, 1.0, count - 1)]))
    best = minimum_jerk(times, rng.normal(size=(count, 1)))
    roots = [0.0] * 3 + [times[-1]] * 3 + list(times[1:-1])
    bump = np.poly(roots + ([rng.uniform(0, times[-1])] if seed % 2 else []))
    pieces = np.zeros((len(bump), count - 1, 1))
    for i, start in enumerate(times[:-1]):
        pieces[:, i, 0] = np.poly1d(bump)(np.poly1d([1.0, start])).coeffs
    for size in (-1e-3, 1e-3, 0.1):
        c = size * pieces / np.abs(pieces).max()
        c[-6:] += best.c
        other = PPoly(c, times)
        assert_allclose(other(times), best(times), atol=1e-9)
        assert squared_jerk(other) >= squared_jerk(best) * (1 - 1e-9)


def test_minimum_jerk_has_less_squared_jerk_than_every_other_method_that_is_smooth_enough():
    best = squared_jerk(cr.plan(ARM, WAYPOINTS, times=TIMES).curve)
    assert best < squared_jerk(cr.plan(ARM, WAYPOINTS, times=TIMES, method="quintic").curve)


@given(st.floats(0.2, 3), st.floats(0.5, 4), st.floats(0.5, 20))
def test_trapezoid_takes_the_time_of_the_closed_form(d, v, a):
    robot = limited([v])
    motion = cr.plan(robot, [[0], [d]], method="trapezoidal", acceleration=a)
    full = d * a > v * v
    assert_allclose(motion.duration, d / v + v / a if full else 2 * math.sqrt(d / a), rtol=1e-9)
    assert_allclose(motion.peak.velocity, [v if full else math.sqrt(d * a)], rtol=1e-6)
    assert_allclose(motion.peak.acceleration, [a], rtol=1e-6)


def test_trapezoid_with_times_cruises_as_its_acceleration_says():
    """Craig: t_b = T/2 - sqrt(a^2 T^2 - 4 a d)/(2 a)."""
    motion = cr.plan(limited([math.inf]), [[0], [2]], times=3.0, method="trapezoidal", acceleration=4.0)
    t_b = 1.5 - math.sqrt(16 * 9 - 4 * 4 * 2) / 8
    assert_allclose(motion.curve.x, [0, t_b, 3 - t_b, 3])
    assert_allclose(motion(1.5)[1], [4 * t_b])


def test_trapezoid_without_acceleration_spends_a_third_on_each_phase_and_joints_stay_in_step():
    motion = cr.plan(ARM, [[0, 0], [1, -2], [1, -2], [2, 2]], times=[0, 3, 4, 7], method="trapezoidal")
    assert_allclose(motion.curve.x[:4], [0, 1, 2, 3])
    q, _, _ = motion(np.linspace(0, 3, 17))
    assert_allclose(q[:, 1], -2 * q[:, 0], atol=1e-12)
    assert_allclose(motion(3.5)[0], [1, -2])
    assert_allclose(motion([3, 4])[1], 0, atol=1e-12)


def test_hold_stays():
    motion = cr.hold([0.3, -0.2])
    assert motion.duration == 0
    q, qd, qdd = motion([-1.0, 0.0, 5.0])
    assert_allclose(q, [[0.3, -0.2]] * 3)
    assert not qd.any()
    assert not qdd.any()
    assert not motion.peak.velocity.any()


# --- limits ---


def limited(velocity, lower=-math.inf, upper=math.inf):
    """A row of sliders with these limits."""
    from chainrule.model import Dof, Joint, Link, Model, Screw
    from chainrule.spatial import Vector

    links = [Link(f"link{i}", 1.0) for i in range(len(velocity) + 1)]
    joints = [
        Joint(f"slide{i}", f"link{i}", f"link{i + 1}", Screw.prismatic(Vector(1, 0, 0)), dofs=(Dof(lower, upper, v),))
        for i, v in enumerate(velocity)
    ]
    return cr.Robot(Model.build("sliders", links, joints)).reference


@methods
@pytest.mark.parametrize("acceleration", [None, 3.0, [1.0, 2.0, 0.4, 8.0]])
def test_without_times_a_limit_is_met_with_equality_and_none_is_passed(method, acceleration):
    points = [[0, 0, -0.1, 0], [1, 1, -0.15, 0.3], [1.5, 0.2, -0.1, 1], [0, 0.1, -0.12, 0]]
    motion = cr.plan(SCARA, points, method=method, acceleration=acceleration)
    used = np.concatenate(
        [
            motion.peak.velocity / SCARA.limits.velocity,
            [0] if acceleration is None else motion.peak.acceleration / acceleration,
        ]
    )
    assert_allclose(used.max(), 1.0, rtol=1e-6)
    dense = motion(np.linspace(0, motion.duration, 5001))
    assert (np.abs(dense[1]) <= motion.peak.velocity * (1 + 1e-9) + 1e-12).all()
    assert (np.abs(dense[2]) <= motion.peak.acceleration * (1 + 1e-9) + 1e-12).all()


@methods
def test_the_duration_that_the_error_names_is_the_smallest(method):
    robot = limited([1.0, 2.0])
    points, times = [[0, 0], [1, 0.5], [0.5, 2]], np.array([0, 0.5, 1.5])
    options = {"method": method, "acceleration": 5.0}
    with pytest.raises(ShapeError, match=r"joint 'slide\d' would reach .* m/s.* at t = .* s, and its .* limit is") as e:
        cr.plan(robot, points, times=times, **options)
    least = float(str(e.value).split("at least ")[1].split(" s,")[0])
    cr.plan(robot, points, times=times * (least / 1.5 * 1.0001), **options)
    with pytest.raises(ShapeError, match="would reach"):
        cr.plan(robot, points, times=times * (least / 1.5 * 0.999), **options)


def test_positions_beyond_a_limit_are_refused_by_joint_and_way_point():
    robot = limited([math.inf], -1.0, 1.0)
    with pytest.raises(ShapeError, match=r"'slide0' would be at 1.2 m at way-point 1, and its upper limit"):
        cr.plan(robot, [[0], [1.2], [0]], times=[0, 1, 2])
    swings = {"waypoints": [[0], [-1.0], [-0.9], [0]], "times": [0, 0.5, 1.0, 1.5]}
    with pytest.raises(ShapeError, match=r"'slide0' would be at .* between way-points 1 and 2, and its lower limit is"):
        cr.plan(robot, **swings, method="minimum_jerk")
    assert_allclose(extremes(cr.plan(robot, **swings).curve).low, -1.0)
    assert cr.plan(robot, [[0], [1.2], [0]], times=[0, 1, 2], limits=False).duration == 2


@given(st.integers(2, 8), st.integers(0, 2**32))
def test_a_quintic_never_leaves_the_range_of_the_way_points_that_it_is_between(count, seed):
    rng = np.random.default_rng(seed)
    times = np.concatenate([[0.0], np.cumsum(rng.uniform(0.01, 1.0, count - 1))])
    points = rng.standard_normal((count, 3)).round(1)
    curve = quintic(times, points)
    for i in range(count - 1):
        q = curve(np.linspace(times[i], times[i + 1], 200))
        low, high = np.minimum(points[i], points[i + 1]), np.maximum(points[i], points[i + 1])
        assert (q >= low - 1e-9).all()
        assert (q <= high + 1e-9).all()


@given(st.integers(2, 6), st.integers(0, 2**32))
def test_way_points_within_limits_always_have_a_plan(count, seed):
    points = PANDA.random_state(np.random.default_rng(seed), (count,))
    motion = cr.plan(PANDA, points)
    low, _, high, _ = extremes(motion.curve)
    assert (low >= PANDA.limits.lower - 1e-5).all()
    assert (high <= PANDA.limits.upper + 1e-5).all()
    assert (motion.peak.velocity <= PANDA.limits.velocity * (1 + 1e-5)).all()
    assert_allclose(motion(motion.times)[0], points, atol=1e-9)


def test_speed_limits_can_be_left_out():
    assert cr.plan(PANDA, [PANDA.neutral(), PANDA.neutral() + 1], times=0.01, limits=False).duration == 0.01


# --- quaternions ---


@methods
def test_motion_on_the_manifold_passes_its_waypoints_and_rates_are_derivatives(method):
    points = SPINNING.random_state(np.random.default_rng(1), 3)
    motion = cr.plan(SPINNING, points, times=[0, 1.0, 1.7], method=method)
    q, qd, _ = motion([0, 1.0, 1.7])
    assert_allclose(SPINNING.difference(q, points), 0, atol=1e-7)
    assert_allclose(qd, 0, atol=1e-9)
    t, h = between(motion), 1e-6
    q, qd, qdd = motion(t)
    ahead, behind = motion(t + h), motion(t - h)
    assert_allclose((SPINNING.difference(q, ahead[0]) - SPINNING.difference(q, behind[0])) / (2 * h), qd, atol=1e-6)
    assert_allclose((ahead[1] - behind[1]) / (2 * h), qdd, atol=1e-5)


def test_hold_on_the_manifold():
    q0 = SPINNING.random_state(np.random.default_rng(2))
    q, qd, qdd = cr.hold(q0, SPINNING)([0.0, 3.0])
    assert_allclose(SPINNING.difference(q, np.stack([q0, q0])), 0, atol=1e-7)
    assert qd.shape == qdd.shape == (2, SPINNING.nv)


# --- poses ---


@methods
def test_pose_motion_passes_its_poses_and_derivatives_are_exact(method):
    motion = cr.plan_pose(POSES, times=[0, 1.1, 2.0], method=method)
    assert_allclose(motion([0, 1.1, 2.0])[0], POSES, atol=1e-12)
    t = np.linspace(0.01, 1.99, 23)
    t = t[np.abs(t[:, None] - np.concatenate([motion.position.x, motion.rotation.x])).min(axis=1) > 1e-3]
    T, V, A = motion(t)
    rate = slope(lambda t: motion(t)[0], t)
    assert_allclose(rate[:, :3, 3], V[:, 3:], atol=1e-8)
    W = rate[:, :3, :3] @ np.swapaxes(T[:, :3, :3], 1, 2)  # [omega] = dR/dt R^T, in base axes
    assert_allclose(np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=1), V[:, :3], atol=1e-8)
    assert_allclose(slope(lambda t: motion(t)[1], t), A, atol=1e-7)
    assert_allclose(motion([0, 2.0])[1], 0, atol=1e-9)
    for before, end in ((-1.0, 0), (5.0, -1)):
        T, V, A = motion(before)
        assert_allclose(T, POSES[end], atol=1e-14)
        assert not V.any()
        assert not A.any()


@methods
def test_pose_motion_is_as_quick_as_its_speeds_allow(method):
    motion = cr.plan_pose(POSES, speed=0.2, turn_speed=1.0, method=method)
    V = motion(np.linspace(0, motion.duration, 20001))[1]
    turn, speed = np.linalg.norm(V[:, :3], axis=1).max(), np.linalg.norm(V[:, 3:], axis=1).max()
    assert_allclose([motion.peak_speed, motion.peak_turn_speed], [speed, turn], rtol=1e-4)
    assert_allclose(max(speed / 0.2, turn / 1.0), 1.0, rtol=1e-4)
    assert motion.sample(0.01).T.shape[1:] == (4, 4)


def test_rotations_are_the_shortest():
    motion = cr.plan_pose([np.eye(4), pose([0, 0, 3.0], [0, 0, 0])], times=1.0)
    assert_allclose(motion(0.5)[0], pose([0, 0, 1.5], [0, 0, 0]), atol=1e-12)


# --- what is refused ---

SAME = [[0, 0], [1, 1], [1, 1]]
BAD = [
    (lambda: cr.plan(ARM, [[0, 0]], times=1.0), ShapeError, r"at least two configurations.*cr.hold"),
    (lambda: cr.plan(ARM, [0, 0], times=1.0), ShapeError, r"at least two configurations"),
    (lambda: cr.plan(ARM, [[0, 0, 0], [1, 1, 1]], times=1.0), ShapeError, r"plan: q must have 2 numbers"),
    (lambda: cr.plan(ARM, [[0, 0], [math.nan, 1]], times=1.0), ShapeError, r"way-points must be finite"),
    (lambda: cr.plan("panda", [[0, 0], [1, 1]], times=1.0), ShapeError, r"first argument must be a Robot, got 'panda'"),
    (lambda: cr.plan(ARM, WAYPOINTS), ShapeError, r"how fast joint 'joint1' of robot 'planar_2r'.*give times"),
    (lambda: cr.plan(SCARA, np.zeros((2, 4))), ShapeError, r"way-points 0 and 1 are the same"),
    (lambda: cr.plan(limited([0.0]), [[0], [1]]), ShapeError, r"'slide0' has to move .* speed limit is zero"),
    (lambda: cr.plan(ARM, WAYPOINTS, times=[0, 1, 2]), ShapeError, r"times must be 4 numbers.*got shape \(3,\)"),
    (lambda: cr.plan(ARM, WAYPOINTS, times=[0, 1, 1, 2]), ShapeError, r"times must increase, from 0 on"),
    (lambda: cr.plan(ARM, WAYPOINTS, times=[1, 2, 3, 4]), ShapeError, r"times must increase, from 0 on"),
    (lambda: cr.plan(ARM, WAYPOINTS, times=[0, 1, 2, math.inf]), ShapeError, r"times must be finite"),
    (lambda: cr.plan(ARM, WAYPOINTS, times=0.0), ShapeError, r"times must be a positive duration"),
    (lambda: cr.plan(ARM, WAYPOINTS, times=1.0, method="cubik"), UnknownNameError, r"no method.*mean 'cubic'"),
    (lambda: cr.plan(ARM, WAYPOINTS, times=1.0, acceleration=-1), ShapeError, r"acceleration must be a positive"),
    (lambda: cr.plan(ARM, WAYPOINTS, times=1.0, acceleration=[1, 2, 3]), ShapeError, r"or 2 of them"),
    (lambda: cr.plan(ARM, WAYPOINTS, times=1.0, velocities=WAYPOINTS), ShapeError, r"belong to method='quintic'"),
    (lambda: cr.plan(ARM, WAYPOINTS, times=1.0, method="quintic", velocities=WAYPOINTS), ShapeError, r"last zero"),
    (lambda: cr.plan(SCARA, np.eye(4), method="quintic", velocities=np.eye(4)), ShapeError, r"need times"),
    (lambda: cr.plan(ARM, WAYPOINTS, times=TIMES).sample(0), ShapeError, r"dt must be a positive number"),
    (lambda: cr.plan(ARM, WAYPOINTS, times=TIMES)("now"), ShapeError, r"t must be real numbers"),
    (lambda: cr.hold(0.3), ShapeError, r"one configuration"),
    (lambda: cr.hold([0.3], ARM), ShapeError, r"must have 2 numbers"),
    (lambda: cr.plan_pose(POSES), ShapeError, r"from pose 0 to pose 1: give times=..., or speed"),
    (lambda: cr.plan_pose([POSES[0], POSES[0]], speed=1.0), ShapeError, r"poses 0 and 1 are the same"),
    (lambda: cr.plan_pose(POSES[0], speed=1.0), ShapeError, r"at least two, shape \(k, 4, 4\)"),
    (lambda: cr.plan_pose(np.ones((2, 4, 4)), times=1.0), ShapeError, r"rotation is off by"),
    (lambda: cr.plan_pose(np.ones((2, 3, 3)), times=1.0), ShapeError, r"4-by-4 homogeneous"),
    (lambda: cr.plan_pose(POSES, times=1.0, speed=0.0), ShapeError, r"speed must be a positive number"),
    (lambda: cr.plan_pose(POSES, times=0.1, speed=0.1), ShapeError, r"and speed is 0.1 m/s; the motion takes at least"),
    (lambda: cr.plan_pose(POSES, times=0.1, turn_speed=0.1), ShapeError, r"turn_speed is 0.1 rad/s"),
    (lambda: cr.plan_pose(POSES, times=1.0, method="spline"), UnknownNameError, r"no method named 'spline'"),
    (lambda: cr.plan(ARM.lock({"joint1": 0, "joint2": 0}), [[], []], times=1.0), ModelError, r"no degrees of freedom"),
]


@pytest.mark.parametrize(("call", "error", "pattern"), BAD)
def test_bad_input_is_refused_by_name(call, error, pattern):
    with pytest.raises(error, match=pattern):
        call()


def test_way_points_that_no_joint_reaches_are_refused():
    with pytest.raises(ShapeError, match=r"way-points go up to 1e\+308"):
        cr.plan(cr.load("pendulum"), [[0.0], [1e308]], acceleration=1.0)
