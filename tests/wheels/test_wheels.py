"""Wheeled bases: the notes' equations, closed forms of ways, and uncertainty against many noisy runs."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.wheels import (
    Car,
    DifferentialDrive,
    MobileManipulator,
    Omnidirectional,
    Unicycle,
    encoder_speed,
    odometry,
    pose_after,
)
from chainrule.wheels.plane import step_derivatives

DRIVE = DifferentialDrive(radius=0.1, separation=0.4)
BASES = [DRIVE, Unicycle(), Car(2.5), Omnidirectional.mecanum(0.1, 0.5, 0.4), Omnidirectional.three_wheels(0.05, 0.2)]


def controls(base, shape=(), seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (*shape, base.twist_jacobian(np.zeros(_count(base))).shape[-1]))


def _count(base):
    return len(base._names())


def test_differential_drive_is_that_of_the_notes():
    r, b, f, per_turn = 0.1, 0.2, 10.0, 360.0
    ticks = np.array([[30.0, 50.0], [-10.0, 20.0]])
    v1, v2 = (2 * math.pi * r * f * ticks / per_turn).T
    v, w = DRIVE.velocity(encoder_speed(ticks, per_turn, f)).T
    assert_allclose(v, (v1 + v2) / 2)
    assert_allclose(w, (v2 - v1) / (2 * b))
    theta = 0.7
    rates = DRIVE.pose_rates([3.0, 4.0, theta], DRIVE.wheel_speeds(np.stack([v, w], -1)))
    assert_allclose(rates, np.stack([v * math.cos(theta), v * math.sin(theta), w], -1))


def test_wheel_speeds_and_velocities_are_inverse():
    u = np.random.default_rng(0).normal(size=(3, 4, 2))
    assert_allclose(DRIVE.velocity(DRIVE.wheel_speeds(u)), u, atol=1e-12)
    for base in BASES[3:]:
        V = np.random.default_rng(1).normal(size=(5, 3))
        assert_allclose(base.twist(base.wheel_speeds(V)), V, atol=1e-12)
        assert_allclose(base.slip(base.wheel_speeds(V)), 0, atol=1e-9)
    car = Car(2.5)
    v = np.array([[2.0, 0.5], [-1.0, 0.3], [1.0, 0.0]])
    assert_allclose(car.twist(car.steering(v))[:, [0, 2]], v)


def test_printed_matrices_of_omnidirectional_bases():
    """Lynch & Park, figure 13.4 and equations 13.8 and 13.10, there for (omega, vx, vy)."""
    r, d, l, w = 0.05, 0.2, 0.3, 0.25
    three = np.array([[-d, 1, 0], [-d, -0.5, -math.sin(math.pi / 3)], [-d, -0.5, math.sin(math.pi / 3)]]) / r
    assert_allclose(Omnidirectional.three_wheels(r, d).matrix[:, [2, 0, 1]], three, atol=1e-12)
    four = np.array([[-l - w, 1, -1], [l + w, 1, 1], [l + w, 1, -1], [-l - w, 1, 1]]) / r
    assert_allclose(Omnidirectional.mecanum(r, 2 * l, 2 * w).matrix[:, [2, 0, 1]], four, atol=1e-12)


def test_wheels_that_fight_each_other_slip():
    base = Omnidirectional.mecanum(0.1, 0.5, 0.4)
    speeds = np.array([1.0, 1.0, -1.0, -1.0])  # front forwards, rear backwards
    assert_allclose(base.twist(speeds), 0, atol=1e-12)
    assert_allclose(base.slip(speeds), speeds, atol=1e-12)


def test_ackermann_axles_meet_in_one_point():
    car = Car(wheelbase=2.6, track=1.5)
    for steering in (0.3, -0.4, 1e-3):
        R = float(car.turning_radius(steering))
        left, right = car.wheel_angles(steering)
        assert math.tan(left) == pytest.approx(car.wheelbase / (R - car.track / 2))
        assert math.tan(right) == pytest.approx(car.wheelbase / (R + car.track / 2))
    assert_allclose(car.wheel_angles(0.0), 0)


def test_the_inner_wheel_steers_on_beyond_a_right_angle():
    angles = Car(1.0, 1.5).wheel_angles(np.linspace(-1.5, 1.5, 301))
    assert np.abs(np.diff(angles, axis=0)).max() < 0.05
    assert_allclose(1 / np.tan(angles[-1]), 1 / np.tan(1.5) + np.array([-0.75, 0.75]), rtol=1e-9)


@pytest.mark.parametrize("base", BASES, ids=lambda b: type(b).__name__)
def test_twists_change_with_the_controls_as_their_jacobian_says(base):
    u = controls(base, (4,))
    h = 1e-6
    near = [(base.twist(u + h * e) - base.twist(u - h * e)) / (2 * h) for e in np.eye(u.shape[-1])]
    assert_allclose(base.twist_jacobian(u), np.stack(near, axis=-1), atol=1e-8)


# --- odometry ---


def test_a_circle_closes_in_any_number_of_steps():
    R, speed = 2.0, 1.0
    for steps in (1, 3, 50):
        dt = 2 * math.pi * R / speed / steps
        track = odometry(Unicycle(), [[speed, speed / R]] * steps, dt)
        assert_allclose(track.pose[-1], [0, 0, 2 * math.pi], atol=1e-12)
        angle = track.pose[:, 2]
        circle = np.stack([R * np.sin(angle), R * (1 - np.cos(angle)), angle], axis=1)
        assert_allclose(track.pose, circle, atol=1e-12)


def test_a_square_closes():
    side = [[1.0, 0.0]] * 3 + [[0.0, math.pi / 2]]
    track = odometry(Unicycle(), side * 4, 1.0, start=[1.0, 2.0, 0.0])
    assert_allclose(track.pose[-1], [1, 2, 2 * math.pi], atol=1e-12)
    assert_allclose(track.pose[8], [4, 5, math.pi], atol=1e-12)
    assert track.t[-1] == 16


@pytest.mark.parametrize("base", BASES, ids=lambda b: type(b).__name__)
def test_one_long_step_is_many_short_ones_and_the_integral_of_the_rates(base):
    u = controls(base)
    whole = odometry(base, u[None], 1.0, start=[0.1, 0.2, 0.3]).pose[-1]
    parts = odometry(base, np.tile(u, (100, 1)), 0.01, start=[0.1, 0.2, 0.3]).pose[-1]
    assert_allclose(whole, parts, atol=1e-12)
    p, h = np.array([0.1, 0.2, 0.3]), 1e-2
    for _ in range(100):  # Runge and Kutta
        k1 = base.pose_rates(p, u)
        k2 = base.pose_rates(p + h / 2 * k1, u)
        k3 = base.pose_rates(p + h / 2 * k2, u)
        k4 = base.pose_rates(p + h * k3, u)
        p = p + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert_allclose(whole, p, atol=1e-8)


def test_batches_are_loops():
    u = np.random.default_rng(2).normal(size=(2, 3, 7, 2))
    start = np.random.default_rng(3).normal(size=(3, 3))
    track = odometry(DRIVE, u, 0.1, start, noise=[0.01, 0.02])
    for i, j in np.ndindex(2, 3):
        alone = odometry(DRIVE, u[i, j], 0.1, start[j], noise=[0.01, 0.02])
        assert_allclose(track.pose[i, j], alone.pose, atol=1e-13)
        assert_allclose(track.covariance[i, j], alone.covariance, atol=1e-15)


@pytest.mark.parametrize("turn", [0.0, 1e-9, 1e-3, 0.009999, 0.010001, 0.5, -2.0, 7.0])
def test_derivatives_of_a_step_are_those_of_differences(turn):
    pose, d, h = np.array([0.3, -0.4, 0.9]), np.array([0.8, -0.3, turn]), 1e-6
    F, W = step_derivatives(pose[2], d)
    near_F = np.stack(
        [(pose_after(pose + h * e, d) - pose_after(pose - h * e, d)) / (2 * h) for e in np.eye(3)], axis=-1
    )
    near_W = np.stack(
        [(pose_after(pose, d + h * e) - pose_after(pose, d - h * e)) / (2 * h) for e in np.eye(3)], axis=-1
    )
    assert_allclose(F, near_F, atol=1e-8)
    assert_allclose(W, near_W, atol=1e-8)


def test_covariance_is_that_of_many_noisy_runs():
    rng = np.random.default_rng(4)
    u, dt, k = np.tile([4.0, 5.0], (40, 1)), 0.1, 1e-3
    track = odometry(DRIVE, u, dt, noise=k)
    turned = u * dt + rng.normal(size=(20_000, 40, 2)) * np.sqrt(k * np.abs(u) * dt)
    ends = odometry(DRIVE, turned / dt, dt).pose[:, -1]
    assert_allclose(np.cov(ends.T), track.covariance[-1], rtol=0.06, atol=2e-5)
    lengths, axes = track.ellipses()
    assert lengths[-1, 1] == pytest.approx(2 * math.sqrt(np.linalg.eigvalsh(track.covariance[-1, :2, :2])[-1]))
    assert_allclose(axes[-1].T @ axes[-1], np.eye(2), atol=1e-12)


def test_going_straight_spreads_as_the_closed_form():
    k, n, step, r, separation = 1e-3, 50, 0.02, DRIVE.radius, DRIVE.separation
    track = odometry(DRIVE, np.full((n, 2), step / r / 0.1), 0.1, noise=k)
    q = k * step / r * r * r  # variance of a wheel's way in a step, m^2
    heading = 2 * q / separation**2
    along = n * q / 2
    lever = step * (np.arange(n) + 0.5)[::-1]  # from the middle of each step to the end
    assert_allclose(track.covariance[-1][0, 0], along, rtol=1e-9)
    assert_allclose(track.covariance[-1][2, 2], n * heading, rtol=1e-9)
    assert_allclose(track.covariance[-1][1, 1], heading * (lever**2).sum(), rtol=1e-9)


# --- an arm on wheels ---


@pytest.mark.parametrize("base", [DRIVE, Omnidirectional.mecanum(0.1, 0.5, 0.4)], ids=["differential", "mecanum"])
def test_the_jacobian_of_the_whole_is_the_rate_of_the_pose(base):
    origin = np.eye(4)
    origin[:3, 3] = 0.1, 0.0, 0.3
    whole = MobileManipulator(base, cr.load("panda"), origin)
    rng = np.random.default_rng(5)
    q = np.concatenate([rng.normal(size=(6, 3)), cr.load("panda").random_state(rng, (6,))], axis=-1)
    u = rng.normal(size=(6, whole.n))
    qd = whole.joint_velocities(q, u)
    V = (whole.jacobian(q) @ u[..., None])[..., 0]
    assert_allclose(V, whole.robot.velocity(q, qd))
    h = 1e-6
    linear = (whole.robot.pose(q + h * qd)[:, :3, 3] - whole.robot.pose(q - h * qd)[:, :3, 3]) / (2 * h)
    assert_allclose(V[:, 3:], linear, atol=1e-7)
    sideways = -np.sin(q[:, 2]) * qd[:, 0] + np.cos(q[:, 2]) * qd[:, 1]
    assert_allclose(sideways, 0 if whole.n == 9 else u[:, 1], atol=1e-12)
    twist = rng.normal(size=(6, 6))
    made = whole.resolved_rate(q, twist)
    assert_allclose((whole.jacobian(q) @ made[..., None])[..., 0], twist, atol=1e-9)


def test_an_arm_on_wheels_is_a_robot_like_any_other():
    whole = MobileManipulator(DRIVE, cr.load("ur5"), mass=30.0, inertia=[1.0, 1.0, 2.0], prefix="arm_")
    assert whole.velocity_names[:3] == ("v", "omega", "arm_shoulder_pan_joint")
    q = np.zeros(9)
    tau = whole.robot.inverse_dynamics(q, q, np.eye(9)[0])
    assert tau[0] == pytest.approx(30.0 + cr.load("ur5").mass + 4.0)  # force for 1 m/s^2: all masses, the base's too


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: DifferentialDrive(0.0, 0.4), "wheels' radius must be positive"),
        (lambda: DifferentialDrive(0.1, -1), "separation of the wheels must be positive"),
        (lambda: DRIVE.velocity([1, 2, 3]), r"wheel speeds must have 2 numbers .*left, right"),
        (lambda: Car(2.5, most=0.5).twist([1.0, 0.6]), "steering angle 0.6 rad is beyond the largest, 0.5 rad"),
        (lambda: Car(2.5, most=3.0), "at most pi/2"),
        (lambda: Omnidirectional(0.1, np.zeros((2, 4))), "do not settle the motion"),
        (lambda: Omnidirectional(0.1, np.zeros(4)), "a row .x, y, beta, gamma. for each wheel"),
        (lambda: encoder_speed([1], 0, 10), "ticks_per_revolution must be positive"),
        (lambda: odometry(DRIVE, [1.0, 2.0], 0.1), "a row for each step"),
        (lambda: odometry(DRIVE, [[1.0, 2.0]], 0.0), "dt must be positive"),
        (lambda: odometry("drive", [[1.0, 2.0]], 0.1), "takes a wheeled base"),
        (lambda: odometry(DRIVE, [[1.0, 2.0]], 0.1, noise=-1), "none negative"),
        (lambda: odometry(DRIVE, [[1.0, 2.0]], 0.1, covariance=-np.eye(3)), "without negative eigenvalues"),
        (lambda: MobileManipulator(DRIVE, "panda"), "a wheeled base and a Robot"),
        (lambda: pose_after([0, 0], [1, 0, 0]), "pose must have 3 numbers"),
        (lambda: pose_after(np.zeros((3, 3)), np.zeros((2, 3))), "do not fit together"),
        (lambda: odometry(DRIVE, np.zeros((3, 5, 2)), 0.1, np.zeros((4, 3))), "do not fit together"),
        (
            lambda: odometry(DRIVE, np.zeros((3, 2)), 0.1, covariance=np.full((3, 3), np.inf)),
            "covariance must be finite",
        ),
        (lambda: odometry(DRIVE, np.zeros((3, 2)), 0.1, noise=np.inf), "noise must be finite"),
        (lambda: DRIVE.pose_rates(np.zeros((3, 3)), np.zeros((2, 2))), "do not fit together"),
        (
            lambda: MobileManipulator(DRIVE, cr.load("panda")).resolved_rate(np.zeros((3, 10)), np.zeros((2, 6))),
            "do not fit together",
        ),
        (
            lambda: MobileManipulator(DRIVE, cr.load("panda")).joint_velocities(np.zeros((3, 10)), np.zeros((2, 9))),
            "do not fit together",
        ),
        (lambda: Omnidirectional(0.1, np.zeros((0, 4))), "do not settle the motion"),
        (lambda: Car(2.5).wheel_angles("left"), "steering must be real numbers"),
        (lambda: Car(2.5).turning_radius("left"), "steering must be real numbers"),
    ],
)
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(cr.ChainruleError, match=message):
        call()


def test_a_track_prints_as_a_table_with_its_standard_deviations():
    track = cr.wheels.odometry(cr.wheels.Unicycle(), [[1.0, 0.0]] * 2, 0.5, noise=0.02)
    lines = str(track).splitlines()
    assert lines[0] == "Path of 2 steps; sd: standard deviations"
    assert [float(x) for x in lines[-1].split()] == pytest.approx(
        [1, 1, 0, 0, *np.sqrt(np.diag(track.covariance[-1]))], abs=1e-6
    )
    plain = str(cr.wheels.odometry(cr.wheels.Unicycle(), np.ones((3, 2, 2)), 0.5)).splitlines()
    assert plain[0] == "Path of 2 steps, the first of 3"
    assert plain[1].split() == ["t,", "s", "x,", "m", "y,", "m", "theta,", "rad"]
