"""Exciting motions: within limits, from rest to rest, periodic, by an exact gradient, and better than random ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused

import chainrule as cr
from chainrule.identification.excitation import CRITERIA, SHAPES, ExcitationSearch, MotionBounds
from chainrule.inverse_kinematics.keep_clear import Room

ARM = cr.load("planar_3r").edit(joints={"*": {"lower": -2.0, "upper": 1.5, "velocity": 3.0, "effort": 60.0}})
QUICK = {"harmonics": 4, "starts": 2, "acceleration": 12.0}


def problem(shape="fourier", criterion="condition", effort=20.0, parts=None):
    n = np.ones(3)
    return ExcitationSearch(
        ARM, MotionBounds(-2 * n, 1.5 * n, 3 * n, 12 * n, effort * n), 4.0, 4, shape, parts, criterion
    )


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_gradient_is_that_of_the_criterion(shape, criterion):
    rng = np.random.default_rng(0)
    p = problem(shape, criterion, effort=10.0, parts=("links",) if shape == "spline" else None)
    x, d = 1.5 * rng.normal(size=(2, p.size))  # beyond limits, so that penalties count
    _, slope = p(x, 4)
    h = 1e-6
    assert slope @ d == pytest.approx((p(x + h * d, 4)[0] - p(x - h * d, 4)[0]) / (2 * h), rel=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_motions_are_periodic_from_rest_to_rest_and_polynomials_follow_them(shape):
    p = problem(shape)
    x = np.random.default_rng(1).normal(size=p.size)
    t = np.linspace(0, 4.0, 401)
    q, qd, qdd = p.states(x, p.basis(t))
    assert_allclose(q[-1], q[0], atol=1e-12)
    assert_allclose([qd[0], qd[-1], qdd[0], qdd[-1]], 0.0, atol=1e-10)
    curve = p.curve(x, 3)
    for order, y in enumerate((q, qd, qdd)):
        assert_allclose(curve(t + 4.0, nu=order), y, atol=1e-4 * np.abs(y).max())
    assert curve.x[-1] == 12.0


def test_the_motion_is_within_all_limits_and_better_than_random_ones():
    motion = cr.excite(ARM, 8.0, periods=2, **QUICK)
    t, q, qd, qdd = motion.sample(1e-3)
    assert t[-1] == pytest.approx(8.0)
    assert ((q >= -2.0) & (q <= 1.5)).all()
    assert np.abs(qd).max() <= 3.0
    assert np.abs(qdd).max() <= 12.0
    assert np.abs(ARM.inverse_dynamics(q, qd, qdd)).max() <= 60.0
    assert max(motion.use) > 0.9
    assert_allclose(motion(4.0)[0], motion(0.0)[0], atol=1e-12)
    assert_allclose(motion(1.0), motion(5.0), atol=1e-9)
    columns = list(ARM.parameters.base().columns)
    Y = ARM.parameters.regressor(q, qd, qdd)[..., columns].reshape(-1, len(columns))
    assert np.linalg.cond(Y) == pytest.approx(motion.condition, rel=0.05)
    assert motion.condition < min(c for c, _ in motion.random) / 2
    assert "condition number" in str(motion)
    again = cr.excite(ARM, 8.0, periods=2, **QUICK)
    assert_allclose(again(3.3), motion(3.3), atol=1e-9)


POST = cr.World().sphere("post", radius=0.3, xyz=(0.0, -1.6, 0.0))


def test_the_gradient_counts_what_is_too_near():
    rng = np.random.default_rng(0)
    bounds = MotionBounds(*np.outer([-2, 1.5, 3, 12, np.inf], np.ones(3)))
    p = ExcitationSearch(ARM, bounds, 4.0, 4, "fourier", None, "condition", Room(POST, 1.5))
    x, d = rng.normal(size=(2, p.size))
    p.around = None
    alone = p(x, 4)[0]
    p.around = Room(POST, 1.5)
    assert p(x, 4)[0] > alone + 0.1
    h = 1e-6
    assert p(x, 4)[1] @ d == pytest.approx((p(x + h * d, 4)[0] - p(x - h * d, 4)[0]) / (2 * h), rel=1e-4)


def test_motions_keep_clear_of_a_world_and_of_the_robot_itself():
    free = cr.excite(ARM, 4.0, **QUICK)
    clear = cr.excite(ARM, 4.0, world=POST, clearance=0.05, **QUICK)
    assert ARM.clearance(free.sample(1e-3).q, POST).min() < 0
    assert ARM.clearance(clear.sample(1e-3).q, POST).min() >= 0.05 - 1e-4
    assert clear.condition < min(c for c, _ in clear.random)
    around = cr.World().sphere("tank", radius=3.0)
    refused(
        lambda: cr.excite(ARM, 4.0, world=around, **{**QUICK, "starts": 1, "harmonics": 2}),
        cr.ModelError,
        "'tank' come to",
    )


def test_the_determinant_grows_and_a_controller_follows_it():
    motion = cr.excite(ARM, 4.0, criterion="determinant", shape="spline", parts=["links"], **QUICK)
    assert motion.log_determinant > max(d for _, d in motion.random) + 1
    followed = ARM.simulate(*motion(0.0)[:2], 1.0, cr.ComputedTorque(ARM, motion, 100.0, 20.0))
    assert_allclose(followed.q[-1], motion(1.0)[0], atol=1e-2)


@pytest.mark.parametrize(
    ("robot", "duration", "options", "error", "message"),
    [
        (cr.load("planar_2r"), 4.0, {}, cr.ShapeError, "nothing says how far or how fast joint 'joint1'"),
        (cr.load("four_bar"), 4.0, {}, cr.ModelError, "has closed loops"),
        (ARM.floating(), 4.0, {}, cr.ModelError, "coordinates that are no plain numbers"),
        (ARM, -4.0, {}, cr.ShapeError, "duration must be a positive number of seconds"),
        (ARM, 4.0, {"velocity": 0.0}, cr.ShapeError, "velocity must be a positive number, or 3 of them"),
        (ARM, 4.0, {"acceleration": [1.0, 2.0]}, cr.ShapeError, "acceleration"),
        (ARM, 4.0, {"harmonics": 1}, cr.ShapeError, "harmonics must be a whole number, at least 2"),
        (ARM, 4.0, {"shape": "fourie"}, cr.UnknownNameError, "did you mean 'fourier'"),
        (ARM, 4.0, {"criterion": "cond"}, cr.UnknownNameError, "no criterion named 'cond'"),
        (ARM, 4.0, {"parts": ["link"]}, cr.UnknownNameError, "did you mean 'links'"),
        ("panda", 4.0, {}, cr.ShapeError, "the first argument must be a Robot"),
        (ARM.edit(joints={"*": {"effort": 1.0}}), 4.0, {"starts": 1}, cr.ShapeError, "gravity alone takes"),
    ],
)
def test_bad_requests_are_named(robot, duration, options, error, message):
    refused(lambda: cr.excite(robot, duration, **{**QUICK, "acceleration": None, **options}), error, message)
