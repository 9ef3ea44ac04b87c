"""Observers: torques of the world by the momentum, wrenches, contacts, and velocities from encoders."""

import pickle

import numpy as np
import pytest
import trees
from scipy.linalg import solve_discrete_are

import chainrule as cr
from chainrule.algorithms.generalized_momentum import momentum_and_drift
from chainrule.core.derived import merged_model

PANDA, ARM = cr.load("panda"), cr.load("planar_2r")
F = np.array([0.0, 0.0, 0.0, 0.0, 10.0, 0.0])


@pytest.mark.interpreted
@pytest.mark.parametrize("seed", range(12))
def test_the_momentum_changes_by_the_transposed_coriolis_matrix_less_what_holds_the_robot(seed):
    robot = trees.tree(seed).reference
    q, qd = trees.state(robot, seed)[:2]
    momentum, drift = momentum_and_drift(merged_model(robot), list(q), list(qd))
    C = robot.coriolis_matrix(q, qd)
    np.testing.assert_allclose(momentum, robot.mass_matrix(q) @ qd, rtol=1e-10, atol=1e-10)
    expected = C.T @ qd + C @ qd - robot.bias(q, qd)
    np.testing.assert_allclose(drift, expected, rtol=1e-9, atol=1e-9 * (1 + np.abs(expected).max(initial=0)))


def held(observer, torque, samples):
    """Estimates at rest, while the world pushes with a constant torque."""
    q = observer.robot.home()
    tau = observer.robot.gravity_torque(q) - torque
    return np.array([observer(q, np.zeros(observer.robot.nv), tau) for _ in range(samples)])


@pytest.mark.parametrize("gain", [20.0, 5000.0])
def test_a_constant_torque_is_followed_by_the_exact_response_of_one_or_two_filters_at_any_gain(gain):
    torque, t = np.array([2.0, 0.5]), np.arange(100)[:, None] / 1000
    first = held(cr.MomentumObserver(ARM, gain), torque, 100)
    np.testing.assert_allclose(first, torque * (1 - np.exp(-gain * t)), atol=1e-12)
    second = held(cr.MomentumObserver(ARM, gain, order=2), torque, 100)
    np.testing.assert_allclose(second, torque * (1 - (1 + gain * t) * np.exp(-gain * t)), atol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_an_unknown_force_on_a_moving_arm_is_found_with_the_lag_of_the_theory_to_second_order_in_the_period(order):
    law = cr.PD(PANDA, PANDA.home() + 0.2)
    swing = PANDA.simulate(PANDA.home(), np.full(7, 0.2), 0.3, law, external={PANDA.end_effector: F})
    errors = [lag_error(swing[::every], 25.0, order, 1000 / every) for every in (1, 2)]
    assert errors[0] < 5e-3
    assert 3.0 < errors[1] / errors[0] < 5.0


def lag_error(motion, gain, order, rate):
    """How far estimates, in N m, are from the torques of the world through one filter or two."""
    found = cr.MomentumObserver(PANDA, gain, rate, order=order).follow(motion)
    torque = np.einsum("tij,i->tj", PANDA.jacobian(motion.q), F)
    decay, expected = np.exp(-gain / rate), np.zeros((len(motion), 2, 7))
    for k in range(1, len(motion)):
        mean, (first, second) = (torque[k] + torque[k - 1]) / 2, expected[k - 1]
        expected[k, 0] = mean + decay * (first - mean)
        expected[k, 1] = mean + decay * (second - mean + gain / rate * (first - mean))
    return np.abs(found - expected[:, order - 1]).max()


def test_compiled_and_reference_observers_agree_and_reset_begins_again():
    rng = np.random.default_rng(1)
    robot = trees.tree(3)
    pair = [cr.MomentumObserver(r, 30.0, order=2) for r in (robot, robot.reference)]
    states = [(*trees.state(robot, k)[:2], rng.normal(size=robot.nv)) for k in range(5)]
    runs = [np.array([observer(*state) for state in states]) for observer in pair]
    np.testing.assert_allclose(*runs, rtol=1e-9, atol=1e-6)
    pair[0].reset()
    assert (np.array([pair[0](*state) for state in states]) == runs[0]).all()


def test_rows_of_a_batch_are_observed_each_by_itself():
    rng = np.random.default_rng(2)
    q, qd, tau = rng.normal(size=(3, 6, 4, 2))
    many = cr.MomentumObserver(ARM, gain=[10.0, 40.0])
    batch = np.array([many(*state) for state in zip(q, qd, tau, strict=True)])
    for row in range(4):
        one = cr.MomentumObserver(ARM, gain={"joint1": 10.0, "joint2": 40.0})
        single = np.array([one(*state) for state in zip(q[:, row], qd[:, row], tau[:, row], strict=True)])
        np.testing.assert_allclose(batch[:, row], single, rtol=1e-12, atol=1e-9)


def test_an_observer_is_pickled_with_its_memory():
    observer = cr.MomentumObserver(ARM)
    held(observer, [1.0, 2.0], 5)
    other = pickle.loads(pickle.dumps(observer))
    state = [0.1, 0.2], [0.3, 0.4], [1.0, 2.0]
    assert (observer(*state) == other(*state)).all()


def test_the_disturbance_of_a_constant_inertia_is_its_acceleration_less_the_torque():
    J, gain = np.array([3.0, 0.5]), 30.0
    observer = cr.DisturbanceObserver(ARM, gain, inertia=J)
    qdd, tau = np.array([1.0, -2.0]), np.array([4.0, 1.0])
    for k in range(300):
        t = k / 1000
        d = observer(qdd * t * t / 2, qdd * t, tau)
        np.testing.assert_allclose(d, (J * qdd - tau) * (1 - np.exp(-gain * t)), atol=1e-9)
    assert cr.DisturbanceObserver(ARM)([0.0, 0.0], [0.0, 0.0], [1.0, 1.0]).tolist() == [0.0, 0.0]


# --- wrenches and contacts ---


def test_the_wrench_on_the_tip_comes_back_from_its_torques():
    q = PANDA.home() + 0.1
    found = cr.MomentumObserver(PANDA).wrench(q, PANDA.jacobian(q).T @ F)
    np.testing.assert_allclose(found.wrench, F, atol=1e-9)
    np.testing.assert_allclose(found.residual, 0, atol=1e-9)
    np.testing.assert_allclose(found.unseen, 0, atol=1e-9)
    assert "directions" not in repr(found)


def test_what_no_joint_feels_is_said():
    q, link = PANDA.home(), "panda_link3"
    w = np.random.default_rng(0).normal(size=6)
    J = PANDA.jacobian(q, link)
    found = cr.MomentumObserver(PANDA).wrench(q, J.T @ w, link)
    np.testing.assert_allclose(J.T @ found.unseen, 0, atol=1e-9)
    np.testing.assert_allclose(found.wrench + found.unseen @ w, w, atol=1e-9)
    assert "3 of 6 directions seen" in repr(found)


def test_a_force_alone_is_looked_for_where_a_point_touches():
    q = np.array([0.2, 0.5])
    force = np.array([0.0, 0.0, 0.0, 3.0, -2.0, 0.0])
    found = cr.MomentumObserver(ARM).wrench(q, ARM.jacobian(q).T @ force, task="position")
    np.testing.assert_allclose(found.wrench, force, atol=1e-9)
    assert "2 of 3 directions seen" in repr(found)


def test_a_force_on_another_link_leaves_a_residual():
    q = PANDA.home() + 0.1
    torque = PANDA.jacobian(q, "panda_link3").T @ F + [0, 0, 0, 0, 0, 0, 1.0]
    assert np.abs(cr.MomentumObserver(PANDA).wrench(q, torque, "panda_link3").residual).max() > 0.9


def test_the_touched_link_is_that_of_the_last_joint_that_feels_it():
    observer = cr.MomentumObserver(PANDA)
    q = PANDA.home() + 0.1
    torque = PANDA.jacobian(q, "panda_link4").T @ np.array([1.0, 1.0, 1.0, 0.0, 10.0, 0.0])
    touched = observer.contact(torque, 0.1)
    assert touched.links == ("panda_link4",)
    assert observer.contact(torque, 100.0) is None
    assert observer.contact(torque, {"panda_joint4": 100.0}).links != touched.links


def test_contacts_on_two_branches_are_told_apart():
    robot = cr.load("go2")
    observer = cr.MomentumObserver(robot)
    joints = [name for name in robot.joint_names if name.endswith("calf_joint")][:2]
    torque = np.zeros(robot.nv)
    torque[list(robot.model.layout.velocities_of(joints))] = 5.0
    assert observer.contact(torque, 1.0).joints == tuple(joints)
    assert len(observer.contact(torque, 1.0).links) == 2


def test_thresholds_are_standard_deviations_of_the_torques_of_uncertain_parameters():
    rng = np.random.default_rng(4)
    q, qd, qdd = rng.normal(size=(3, 2))
    count = len(ARM.parameters.names)
    A = rng.normal(size=(count, count)) * 0.1
    found = cr.MomentumObserver(ARM).threshold(q, qd, qdd, A @ A.T, deviations=3.0)
    draws = ARM.parameters.regressor(q, qd, qdd) @ A
    np.testing.assert_allclose(found, 3 * np.linalg.norm(draws, axis=1))


# --- velocities ---


@pytest.mark.interpreted
def test_the_gains_of_the_velocity_filter_are_those_of_the_stationary_kalman_filter():
    T, resolution, acceleration = 1e-3, 1e-4, 30.0
    observer = cr.VelocityObserver(ARM.reference, 1 / T, resolution=resolution, acceleration=acceleration)
    alpha, beta = observer.parameters[0], observer.parameters[2]
    A, C = np.array([[1, T], [0, 1]]), np.array([[1.0, 0.0]])
    G = np.array([T * T / 2, T]) * acceleration
    P = solve_discrete_are(A.T, C.T, np.outer(G, G), np.array([[resolution**2 / 12]]))
    K = P[:, 0] / (P[0, 0] + resolution**2 / 12)
    np.testing.assert_allclose([alpha, beta / T], K, rtol=1e-6)


@pytest.mark.parametrize(
    "options",
    [{"resolution": 1e-3, "acceleration": 20.0}, {"method": "filter", "bandwidth": 30.0},
     {"method": "sliding", "acceleration": 50.0}],
)  # fmt: skip
def test_velocities_from_coarse_encoders_are_better_than_differences(options):
    t = np.arange(3000) * 1e-3
    q, v = np.round(np.sin(4 * t) / 1e-3) * 1e-3, 4 * np.cos(4 * t)
    observer = cr.VelocityObserver(ARM, 1000, **options)
    found = np.array([observer([x, -x]) for x in q])
    np.testing.assert_array_equal(found[:, 0], -found[:, 1])
    error = np.std((found[:, 0] - v)[1000:])
    assert error < 0.25 * np.std((np.diff(q) / 1e-3 - v[1:])[1000:])


def test_a_ball_joint_that_turns_evenly_has_its_angular_velocity():
    robot = trees.tree(5, ("spherical", "revolute"))
    qd = np.linspace(0.2, 1.0, robot.nv)
    for options in ({"resolution": 1e-4, "acceleration": 50.0}, {"method": "filter", "bandwidth": 50.0}):
        observer, q = cr.VelocityObserver(robot, 500, **options), trees.state(robot, 0)[0]
        for _ in range(400):
            found = observer(q)
            q = robot.integrate(q, qd / 500)
        np.testing.assert_allclose(found, qd, rtol=1e-4)


# --- in a controller ---


def test_a_compensated_law_holds_an_unknown_payload_where_the_law_alone_sags():
    heavy = ARM.with_payload(1.0)
    law = cr.ComputedTorque(ARM, [0.5, 0.5], bandwidth=1.0)
    ends = [heavy.simulate([0.5, 0.5], None, 2.0, torque).q[-1] for torque in (law, cr.Compensated(law))]
    assert np.abs(ends[0] - 0.5).max() > 0.05
    assert np.abs(ends[1] - 0.5).max() < 1e-4


def test_a_compensated_law_estimates_in_a_simulation_what_its_theory_says():
    gain = 20.0
    law = cr.Compensated(cr.GravityCompensation(ARM, damping=2.0), gain)
    motion = ARM.simulate([0.5, 0.5], None, 0.2, law, external={"link2": F})
    sigma, torque = motion.states, np.einsum("tij,i->tj", ARM.jacobian(motion.q, "link2"), F)
    p = (ARM.mass_matrix(motion.q) @ motion.qd[..., None])[..., 0]
    r, expected = gain * (p - sigma), np.zeros(2)
    for k in range(1, len(motion)):
        expected = torque[k] + np.exp(-gain * 1e-3) * (expected - torque[k])
    np.testing.assert_allclose(r[-1], expected, rtol=2e-2, atol=1e-9)


def test_calls_of_a_compensated_law_are_its_law_as_written():
    class Clocked(cr.Controller):
        def torque(self, q, qd, z, s, p, t):
            return [t - x for x in q], []

    for inner in (cr.PID(ARM, [0.1, 0.2]), Clocked(ARM, {})):
        law = cr.Compensated(inner)
        z = np.zeros(law.states)
        for k in range(4):
            state = [0.1 * k, 0.2], [0.3, 0.1 * k]
            expected, rates = law.evaluate(k * 1e-3, *state, z)
            np.testing.assert_allclose(law(k * 1e-3, *state), expected, rtol=1e-10)
            z = z + 1e-3 * rates


def test_a_compensated_law_stays_within_effort_limits_and_does_not_wind_up():
    weak = ARM.edit(joints={"joint1": {"effort": 5.0}})
    law = cr.Compensated(cr.PD(weak, [0.0, 0.0]))
    for k in range(2000):
        tau = law(k * 1e-3, [0.0, 0.0], [0.0, 0.0])
    assert tau[0] == 5.0
    assert np.isfinite(tau).all()


# --- mistakes ---


def test_mistakes_are_named():
    with pytest.raises(cr.ModelError, match="closed loops"):
        cr.MomentumObserver(cr.load("four_bar"))
    with pytest.raises(cr.ModelError, match="closed loops"):
        cr.Compensated(cr.GravityCompensation(cr.load("four_bar")))
    with pytest.raises(cr.ShapeError, match="order must be 1 or 2, got 3"):
        cr.MomentumObserver(ARM, order=3)
    with pytest.raises(cr.ShapeError, match="rate"):
        cr.MomentumObserver(ARM, rate=0)
    with pytest.raises(cr.UnknownNameError, match="elbow"):
        cr.MomentumObserver(ARM, gain={"elbow": 3.0})
    with pytest.raises(cr.ShapeError, match="takes resolution and acceleration"):
        cr.VelocityObserver(ARM, bandwidth=30.0)
    with pytest.raises(cr.ShapeError, match="must be positive"):
        cr.VelocityObserver(ARM, method="filter", bandwidth=0.0)
    with pytest.raises(cr.ArgumentError, match="nope"):
        cr.MomentumObserver(ARM, nope=1)
    with pytest.raises(cr.ShapeError, match="must be a controller"):
        cr.Compensated(lambda t, q, qd: q)
    observer = cr.MomentumObserver(ARM, rate=100)
    with pytest.raises(cr.ShapeError, match=r"motion.resample\(0.01\)"):
        observer.follow(ARM.simulate([0.1, 0.2], None, 0.1))
    with pytest.raises(cr.ShapeError, match="qd"):
        observer([0.0, 0.0], [0.0], [0.0, 0.0])
    with pytest.raises(cr.ArgumentError, match="missing a required argument: 'qd'"):
        observer([0.0, 0.0])
    with pytest.raises(cr.ShapeError, match="inertia must be positive"):
        cr.DisturbanceObserver(ARM, inertia=0.0)
    with pytest.raises(cr.ShapeError, match="covariance must be"):
        observer.threshold([0.0, 0.0], 0, 0, np.eye(3))
    with pytest.raises(cr.ShapeError, match="one sample"):
        observer.contact(np.zeros((3, 2)), 1.0)
