"""The quickest motion along a path: against a peer, against a bound, and its limits on a fine grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import chainrule as cr
from chainrule.control.motions import time_optimal
from chainrule.control.motions.time_optimal import DofLimits, geometric_path, time_path

ARM = cr.load("panda")
FREE = np.full(7, np.inf)


def waypoints(seed, count=4):
    middle = (ARM.limits.lower + ARM.limits.upper) / 2
    return middle + 0.6 * (ARM.random_state(np.random.default_rng(seed), (count,)) - middle)


def check_limits(robot, motion, acceleration=np.inf, jerk=np.inf, torque=True):
    """Limits at places that have nothing to do with the planner's grid."""
    t = np.linspace(0.0, motion.duration, 20_011)[1:-1]  # at rest, dry friction has no sign
    q, qd, qdd = motion(t)
    assert (np.abs(qd) <= robot.limits.velocity * (1 + 1e-5)).all()
    assert (np.abs(qdd) <= acceleration * (1 + 1e-5)).all()
    if torque:
        assert (np.abs(robot.inverse_dynamics(q, qd, qdd)) <= robot.limits.effort * (1 + 1e-5)).all()
    assert (motion.peak.jerk <= jerk * (1 + 1e-5)).all()


@pytest.mark.parametrize("seed", range(3))
def test_it_takes_as_long_as_toppra_says(seed):
    toppra = pytest.importorskip("toppra")
    points = waypoints(seed)
    path, s = geometric_path(points)
    rate = np.full(7, 10.0)
    ours = time_path(ARM, path, s, DofLimits(ARM.limits.velocity, rate, FREE, FREE)).times[-1]
    limits = [np.stack([-bound, bound], axis=1) for bound in (ARM.limits.velocity, rate)]
    scheme = toppra.constraint.DiscretizationType.Interpolation
    constraints = [
        toppra.constraint.JointVelocityConstraint(limits[0]),
        toppra.constraint.JointAccelerationConstraint(limits[1], discretization_scheme=scheme),
    ]
    spline = toppra.SplineInterpolator(s, points, "natural")
    grid = np.linspace(0.0, s[-1], 501)
    peer = toppra.algorithm.TOPPRA(constraints, spline, gridpoints=grid, parametrizer="ParametrizeConstAccel")
    assert ours == pytest.approx(peer.compute_trajectory().duration, rel=2e-3)


def test_no_profile_is_quicker_by_more_than_a_thousandth():
    """A linear program over all profiles on the grid bounds the sum of x."""
    path, s = geometric_path(waypoints(5))
    bounds = DofLimits(ARM.limits.velocity, np.full(7, 10.0), ARM.limits.effort, FREE)
    grid = np.linspace(0.0, s[-1], 120)
    rows = time_optimal.constraint_rows(time_optimal.sample_path(ARM, path, grid, has_torques=True), bounds, None)
    x = time_optimal.profile_of(ARM, rows, grid)
    from chainrule.control.motions.jerk_limits import _program_rows

    A, b = _program_rows(rows, grid)
    upper = rows.x_max.copy()
    upper[[0, -1]] = 0.0
    best = linprog(-np.ones(len(grid)), A_ub=A, b_ub=b, bounds=np.stack([0 * upper, upper], axis=1), method="highs")
    assert (A @ x <= b + 1e-9).all()
    assert x.sum() > (1 - 1e-3) * best.x.sum()


@pytest.mark.parametrize("options", [{}, {"acceleration": 8.0}, {"acceleration": 8.0, "jerk": 150.0}, {"jerk": 60.0}])
def test_limits_hold_between_grid_points(options):
    motion = cr.plan(ARM, waypoints(1), method="time_optimal", **options)
    check_limits(ARM, motion, **options)
    assert np.allclose(motion(motion.times)[0], waypoints(1), atol=1e-9)
    slower = cr.plan(ARM, waypoints(1), **({} if "acceleration" not in options else {"acceleration": 8.0}))
    assert motion.duration < slower.duration or "jerk" in options


@settings(max_examples=10)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_way_points_within_limits_always_have_a_quickest_motion(seed, count):
    points = ARM.random_state(np.random.default_rng(seed), (count,))
    motion = cr.plan(ARM, points, method="time_optimal")
    check_limits(ARM, motion)
    q = motion(np.linspace(0.0, motion.duration, 2000))[0]
    assert (q >= ARM.limits.lower - 1e-5).all()
    assert (q <= ARM.limits.upper + 1e-5).all()


@pytest.mark.slow
def test_more_limits_take_longer():
    durations = [
        cr.plan(ARM, waypoints(2), method="time_optimal", acceleration=10.0, jerk=jerk).duration
        for jerk in (None, 1000.0, 100.0, 10.0)
    ]
    assert durations == sorted(durations)
    assert durations[3] > 1.2 * durations[0]


def seven_segments(d, v, a, j):
    """The duration of the quickest motion from rest to rest, by the three cases of the textbook."""
    rise = v / a + a / j if v * j >= a * a else 2 * np.sqrt(v / j)
    if d >= v * rise:
        return rise + d / v
    if d >= 2 * a**3 / j**2:
        peak = (-a * a / j + np.sqrt((a * a / j) ** 2 + 4 * a * d)) / 2
        return 2 * (peak / a + a / j)
    return 4 * (d / (2 * j)) ** (1 / 3)


DECADES = st.floats(-3.0, 3.0).map(lambda power: 10.0**power)
TWO = cr.load("planar_2r")


def straight_duration(d, v, a, j):
    free = np.inf
    path, s = geometric_path(np.array([[0.0, 0.0], [d, 0.3 * d]]))
    bounds = DofLimits(np.array([v, free]), np.array([a, free]), np.full(2, free), np.array([j, free]))
    return time_path(TWO, path, s, bounds).times[-1]


@given(DECADES, DECADES, DECADES, DECADES)
def test_a_straight_motion_is_the_s_curve_of_seven_segments(d, v, a, j):
    assert straight_duration(d, v, a, j) == pytest.approx(seven_segments(d, v, a, j), rel=1e-9)


@given(DECADES, DECADES, DECADES, DECADES)
@settings(max_examples=10)
def test_the_program_for_curved_paths_comes_near_the_s_curve_too(d, v, a, j):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time_optimal, "_straight_law", lambda *_: None)
        assert straight_duration(d, v, a, j) < 1.06 * seven_segments(d, v, a, j)


def test_the_unit_of_time_does_not_matter():
    """Speeds 1000 times as large, accelerations a million times, jerks a billion times: 1000 times as quick."""
    path, s = geometric_path(waypoints(3))
    durations = [
        k * time_path(ARM, path, s, DofLimits(k * ARM.limits.velocity, np.full(7, 10 * k**2), FREE,
                                              np.full(7, 100 * k**3))).times[-1]
        for k in (1e-3, 1.0, 1e3)
    ]  # fmt: skip
    assert durations == pytest.approx([durations[1]] * 3, rel=1e-3)


def test_a_straight_motion_that_torques_slow_down_holds_all_limits():
    weak = ARM.edit(joints={"*": {"effort": 0.5 * ARM.limits.effort}})
    points = np.array([[0.0, -0.8, 0.0, -2.3, 0.0, 1.5, 0.8], [0.6, -0.2, 0.3, -1.8, 0.2, 1.9, 0.3]])
    motion = cr.plan(weak, points, method="time_optimal", acceleration=30.0, jerk=2000.0)
    check_limits(weak, motion, acceleration=30.0, jerk=2000.0)
    assert motion.duration > cr.plan(weak, points, method="time_optimal", acceleration=30.0, jerk=2000.0,
                                     torque=False).duration  # fmt: skip


def test_torque_limits_are_felt():
    weak = ARM.edit(joints={"*": {"effort": 0.45 * ARM.limits.effort}})
    points = np.array([[0.0, -0.8, 0.0, -2.3, 0.0, 1.5, 0.8], [0.6, -0.2, 0.3, -1.8, 0.2, 1.9, 0.3]])
    motion = cr.plan(weak, points, method="time_optimal")
    check_limits(weak, motion)
    t = np.linspace(0.0, motion.duration, 5000)
    used = np.abs(weak.inverse_dynamics(*motion(t))) / weak.limits.effort
    assert used.max(axis=1).mean() > 0.5
    assert motion.duration > cr.plan(ARM, points, method="time_optimal").duration
    free = cr.plan(weak, points, method="time_optimal", torque=False, acceleration=50.0)
    assert (np.abs(weak.inverse_dynamics(*free(np.linspace(0, free.duration, 999)))) > weak.limits.effort).any()


def test_friction_counts():
    rough = cr.load("planar_2r").edit(
        joints={
            "*": {"viscous": 4.0, "coulomb": 3.0, "coulomb_negative": 5.0, "effort": [80.0, 40.0], "velocity": 20.0}
        }
    )
    motion = cr.plan(rough, [[-1.0, 0.5], [1.0, -0.5], [-1.0, 0.2]], method="time_optimal")
    check_limits(rough, motion)


def test_a_path_that_gravity_forbids_is_refused():
    weak = cr.load("planar_2r").edit(joints={"*": {"effort": [8.0, 2.0]}})
    with pytest.raises(cr.ModelError, match="cannot start this path from rest"):
        cr.plan(weak, [[-1.5, 0.0], [1.5, 0.0]], method="time_optimal")
    slow = weak.edit(joints={"*": {"effort": [25.0, 8.0], "velocity": 0.05}})  # too slow to swing through
    with pytest.raises(cr.ModelError, match=r"within its limits: .* % along it"):
        cr.plan(slow, [[-1.5, 0.0], [1.5, 0.0]], method="time_optimal")


@settings(max_examples=10)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_any_path_is_timed(seed, count):
    points = waypoints(seed, count)
    motion = cr.plan(ARM, points, method="time_optimal", acceleration=15.0, limits=False, torque=False)
    assert (motion.peak.acceleration <= 15.0 * (1 + 1e-5)).all()
    assert np.allclose(motion(motion.times)[0], points, atol=1e-8)
    assert motion.peak.velocity.max() > 0


# --- poses ---

READY = np.array([0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4])


def poses():
    first = ARM.pose(READY)
    moved = [first.copy() for _ in range(3)]
    moved[1][:3, 3] += 0.1, 0.3, -0.1
    moved[2][:3, 3] += 0.1, -0.3, 0.1
    return moved


def test_a_motion_through_poses_passes_them_within_limits():
    motion = cr.plan(ARM, poses=poses(), q0=READY, acceleration=10.0)
    check_limits(ARM, motion, acceleration=10.0)
    assert np.allclose(ARM.pose(motion(motion.times)[0]), poses(), atol=1e-8)
    q = motion(np.linspace(0.0, motion.duration, 500))[0]
    turned = ARM.pose(q)[:, :3, :3]
    assert np.allclose(turned, poses()[0][:3, :3], atol=1e-4)  # the orientation is the same in all poses


def test_poses_that_cannot_be_reached_are_named():
    far = poses()
    far[1][:3, 3] += 3.0
    with pytest.raises(cr.ModelError, match="from pose 0 to pose 1 cannot be followed"):
        cr.plan(ARM, poses=far, q0=READY)


def test_a_followed_path_is_a_target():
    path = ARM.ik.follow(cr.plan_pose(poses()[:2], times=1.0).sample(0.02).T, READY)
    motion = cr.plan(ARM, path, method="time_optimal", acceleration=10.0)
    controller = cr.ComputedTorque(ARM, path, 400.0, 40.0)
    run = ARM.simulate(READY, None, 2.0, controller)
    assert np.allclose(run.q[-1], motion(motion.duration)[0], atol=1e-2)


def test_a_trajectory_is_a_target():
    motion = cr.plan(ARM, waypoints(3), acceleration=3.0)
    run = ARM.simulate(waypoints(3)[0], None, motion.duration, cr.ComputedTorque(ARM, motion, 900.0, 60.0))
    again = run.reference()
    t = np.linspace(0.0, run.duration, 100)
    assert np.allclose(again(t)[0], run.resample(t).q, atol=1e-6)
    cr.PD(ARM, again, 100.0, 10.0)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((), {}, "either way-points"),
        (([READY, READY + 0.1],), {"poses": poses()}, "either way-points"),
        (([READY, READY + 0.1],), {"q0": READY}, "belong to poses"),
        (([READY, READY + 0.1],), {"jerk": 5.0}, "method='time_optimal' alone takes jerk"),
        (([READY, READY + 0.1],), {"method": "time_optimal", "times": 1.0}, "does not take times"),
        (([READY, READY + 0.1],), {"method": "time_optimal", "jerk": -1.0}, "jerk must be a positive number"),
        (([READY, READY],), {"method": "time_optimal"}, "way-points 0 and 1 are the same"),
        (([READY, READY + 0.1],), {"method": "quickest"}, "no method named 'quickest'"),
        ((), {"poses": poses(), "method": "cubic"}, "poses are timed by method='time_optimal'"),
    ],
)
def test_contradictions_are_refused(arguments, options, words):
    with pytest.raises(cr.ChainruleError, match=words):
        cr.plan(ARM, *arguments, **options)


def test_a_robot_that_nothing_limits_is_refused():
    free = cr.load("pendulum").edit(joints={"*": {"velocity": np.inf, "effort": np.inf}})
    with pytest.raises(cr.ShapeError, match="nothing limits robot"):
        cr.plan(free, [[0.0], [1.0]], method="time_optimal")
