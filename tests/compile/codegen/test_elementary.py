"""Elementary functions in vector code: right to an ulp."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as cr
from compile.support import close


@given(st.lists(st.floats(-1e300, 1e300, allow_nan=False), min_size=2, max_size=20))
@settings(max_examples=200)
def test_sine_and_cosine_are_right_to_an_ulp_over_the_whole_range(angles):
    check_trigonometry(np.array(angles))


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1.0, 10.0, 1e3, 9.9e4, 1e5, 1.1e5, 1e10, 1e22])
def test_sine_and_cosine_at_every_scale_and_at_multiples_of_half_pi(scale):
    rng = np.random.default_rng(0)
    check_trigonometry(rng.uniform(-scale, scale, 5000))
    check_trigonometry(np.round(rng.uniform(-scale, scale, 5000)) * (np.pi / 2))


def check_trigonometry(angles):
    """The pose of a pendulum shows the sine and the cosine of its angle."""
    pendulum = cr.load("pendulum")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.ModelWarning)  # 15 rad look like degrees
        T = pendulum.pose(angles[:, None], "rod")
    for ours, exact in ((T[:, 1, 0], np.sin(angles)), (T[:, 0, 0], np.cos(angles))):
        assert (np.abs(ours - exact) <= 1.5 * np.spacing(np.abs(exact))).all()


def test_absolute_values_are_compiled():
    arm = cr.load("human_arm")
    q = arm.random_state(np.random.default_rng(0), (5,))
    close(arm.textbook.analytic_jacobian(q, "shoulder_1"), arm.reference.textbook.analytic_jacobian(q, "shoulder_1"))
