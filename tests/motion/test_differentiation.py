"""Velocities and accelerations from noisy samples, against known ones and against SciPy's best."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import make_smoothing_spline
from scipy.signal import savgol_filter

import chainrule as cr
from chainrule.motion import splines
from chainrule.motion.differentiation import differentiate

from .signals import ARM, swing, with_noise


def reach(t):
    """A sum of two sines, and its second derivative."""
    a, b = 2 * np.pi * 0.4, 2 * np.pi * 1.1
    return 1.5 * np.sin(a * t) + 0.3 * np.sin(b * t + 1), -1.5 * a**2 * np.sin(a * t) - 0.3 * b**2 * np.sin(b * t + 1)


@pytest.mark.parametrize(("count", "step"), [(60, 0.05), (500, 0.01), (3000, 0.002)])
def test_accelerations_are_better_than_scipys_best(count, step):
    t = np.arange(count) * step
    y, second = reach(t)
    noisy = with_noise(y)
    ours = differentiate(t, noisy[:, None]).second[:, 0]
    spline = make_smoothing_spline(t, noisy).derivative(2)(t)
    windows = [w for w in (7, 11, 21, 41, 81, 161) if w < count]
    filters = [savgol_filter(noisy, w, order, deriv=2, delta=step) for w in windows for order in (2, 3, 4, 5)]
    middle = slice(count // 20, -count // 20)

    def error(found):
        return np.sqrt(np.mean((found - second)[middle] ** 2))

    assert error(ours) < 0.5 * error(spline)
    assert error(ours) < 1.1 * min(map(error, filters))  # whose window was chosen by looking at the answer


def test_noise_of_a_fifth_of_a_degree_leaves_accelerations_within_a_part_of_their_peak():
    t = np.arange(0.0, 10.0, 0.01)
    q, qd, qdd = swing(t)
    motion = cr.Trajectory.from_samples(ARM, t, with_noise(q))
    inside = slice(30, -30)
    assert abs(motion.q - q)[inside].max() < np.radians(0.2)
    assert abs(motion.qd - qd)[inside].max() < 0.05
    assert abs(motion.qdd - qdd)[inside].max() < 0.06 * abs(qdd).max()


@settings(max_examples=25)
@given(
    st.integers(20, 400), st.floats(1e-4, 10.0), st.lists(st.floats(-3, 3), min_size=3, max_size=3), st.integers(0, 99)
)
def test_parabolas_pass_at_any_steps(count, step, coefficients, seed):
    """The penalty does not see them, whatever the cut-off."""
    rng = np.random.default_rng(seed)
    t = np.cumsum(rng.uniform(0.2, 1.8, count)) * step
    x = (t - t.mean()) / np.ptp(t)
    c, b, a = coefficients
    y = c + b * x + a * x**2
    found = differentiate(t, y[:, None], cutoff=0.05 / step)
    scale = max(np.abs(coefficients))
    assert abs(found.y[:, 0] - y).max() <= 1e-6 * scale + 1e-9
    assert abs(found.second[:, 0] * np.ptp(t) ** 2 - 2 * a).max() <= 1e-2 * scale + 1e-6


@pytest.mark.parametrize("frequency", [0.5, 1.0, 2.0])
def test_the_stated_cut_off_is_where_half_the_amplitude_is_left(frequency):
    t = np.arange(0.0, 40.0, 0.01)
    y = np.sin(2 * np.pi * frequency * t)
    found = differentiate(t, y[:, None], cutoff=frequency)
    inside = slice(1000, -1000)
    assert np.std(found.y[inside, 0]) / np.std(y[inside]) == pytest.approx(0.5, abs=0.01)
    assert abs(np.corrcoef(found.y[inside, 0], y[inside])[0, 1]) > 1 - 1e-6  # no lag


def test_the_low_pass_has_three_decibels_at_its_cut_off_and_no_lag():
    t = np.arange(0.0, 40.0, 0.01)
    y = np.sin(2 * np.pi * 3.0 * t)
    found = differentiate(t, y[:, None], "lowpass", cutoff=3.0)
    inside = slice(1000, -1000)
    assert np.std(found.y[inside, 0]) / np.std(y[inside]) == pytest.approx(np.sqrt(0.5), abs=0.02)
    assert np.corrcoef(found.y[inside, 0], y[inside])[0, 1] > 1 - 1e-4
    assert "-3 dB at 3 Hz" in found.statement


def test_the_noise_that_is_given_is_the_residual():
    t = np.arange(0.0, 10.0, 0.01)
    y, second = reach(t)
    noisy = with_noise(y, 0.2)
    found = differentiate(t, noisy[:, None], noise=np.array([np.radians(0.2)]))
    assert np.std(found.y[:, 0] - noisy) == pytest.approx(np.radians(0.2), rel=0.05)
    assert abs(found.second[50:-50, 0] - second[50:-50]).max() < 0.1 * abs(second).max()


def test_a_hundred_thousand_samples_need_thinned_knots_and_stay_right():
    t = np.arange(100_000) * 1e-3
    y, second = reach(t)
    found = differentiate(t, with_noise(y)[:, None])
    assert np.std((found.second[:, 0] - second)[2000:-2000]) < 0.02 * abs(second).max()


def test_a_very_low_cut_off_is_solved_by_fewer_knots():
    t = np.arange(50_000) * 1e-3
    found = splines.fit(np.arange(50_000.0), np.sin(0.2 * t), np.ones(50_000), cutoff=1e-2)
    assert len(found.spline.c) < 20_000
    assert abs(found.derivatives(np.arange(50_000.0))[0] - np.sin(0.2 * t)).max() < 1e-3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"smoothing": "lowpass"}, "needs a cut-off"),
        ({"smoothing": "lowpass", "cutoff": 49.0}, "must be below"),
        ({"smoothing": None, "cutoff": 5.0}, "belong to a smoothing"),
        ({"smoothing": "lowpass", "cutoff": 5.0, "noise": 0.1}, "noise chooses"),
        ({"smoothing": "kalman"}, "no smoothing named 'kalman'"),
        ({"cutoff": -1.0}, "positive frequency in Hz"),
        ({"noise": 0.0}, "positive standard deviation"),
        ({"noise": [0.1, 0.1]}, "or 7 of them"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_smoothing_is_refused(options, words):
    t = np.arange(0.0, 1.0, 0.01)
    with pytest.raises(cr.ChainruleError, match=words):
        cr.Trajectory.from_samples(ARM, t, swing(t)[0], **options)
