"""Velocities and accelerations from samples of positions.

Differences of noisy samples are useless: noise of 0.2 degrees at 100 Hz makes accelerations of hundreds of rad/s^2. So
positions are smoothed first, by a rule that is stated, and the smooth curve is differentiated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.signal import butter, sosfiltfilt

from chainrule.arguments import Array
from chainrule.errors import ShapeError
from chainrule.motion import splines

MIN_SAMPLES = 6
"""The fewest samples that a curve of degree five goes through."""

FILTER_ORDER = 2
"""The order of the Butterworth filter, which goes over the samples twice: forth and back."""

TWO_PASSES = (np.sqrt(2.0) - 1) ** (1 / (2 * FILTER_ORDER))
"""The cut-off of two passes as a share of that of one (Winter, Biomechanics and Motor Control of Human Movement)."""

IRREGULAR = 0.01
"""The deviation of steps from their median, as a share of it, from which on samples count as irregular."""


class Smooth(NamedTuple):
    """Smoothed positions and their first two derivatives (T, k), and what was done, in words."""

    y: Array
    rate: Array
    second: Array
    statement: str


Smoother = Callable[[Array, Array, float | None, Array | None], Smooth]
"""From times (T,), samples (T, k) with nan where there is none, a cut-off (Hz) and noise (k,)."""


def smooth_spline(t: Array, y: Array, cutoff: float | None, noise: Array | None) -> Smooth:
    """The quintic smoothing spline of each column, its cut-off by generalized cross-validation unless it is given."""
    step = float(np.median(np.diff(t)))
    x = (t - t[0]) / step
    known = np.isfinite(y)
    results, cutoffs = [], []
    for k in range(y.shape[1]):
        weights = known[:, k].astype(float)
        of_column = splines.fit(
            x,
            np.where(known[:, k], y[:, k], 0.0),
            weights,
            None if cutoff is None else 2 * np.pi * cutoff * step,
            None if noise is None else float(noise[k]),
        )
        results.append(of_column.derivatives(x))
        cutoffs.append(of_column.cutoff / (2 * np.pi * step))
    value, rate, second = (np.stack(parts, axis=1) for parts in zip(*results, strict=True))
    how = "given" if cutoff is not None else "from the noise given" if noise is not None else "by cross-validation"
    low, high = min(cutoffs), max(cutoffs)
    span = f"{low:.3g}" if high - low < 0.01 * high else f"{low:.3g} to {high:.3g}"
    ranges = np.nanmax(y, axis=0) - np.nanmin(y, axis=0)
    share = (np.sqrt(np.nanmean((y - value) ** 2, axis=0)) / np.where(ranges > 0.0, ranges, np.inf)).max()
    statement = (
        f"smoothed by a quintic smoothing spline, no lag, half amplitude at {span} Hz ({how}); it moves samples by "
        f"{'less than 0.01' if share < 1e-4 else f'{100 * share:.2g}'}% of a column's range (rms) at most"
    )
    return Smooth(value, rate / step, second / step**2, statement)


def smooth_lowpass(t: Array, y: Array, cutoff: float | None, noise: Array | None) -> Smooth:
    """A Butterworth low-pass, forth and back, then the interpolating quintic spline of what comes out."""
    if cutoff is None:
        raise ShapeError(
            'smoothing="lowpass" needs a cut-off: give cutoff=... in Hz (6 is common for human motion), or take '
            'smoothing="spline", which finds one'
        )
    step = float(np.median(np.diff(t)))
    if not cutoff < 0.5 / step * TWO_PASSES:
        raise ShapeError(
            f"the cut-off of {cutoff:g} Hz must be below {0.5 / step * TWO_PASSES:.4g} Hz for samples every {step:g} s"
        )
    grid, filled = t, _fill(t, y)
    note = ""
    if is_irregular(t):
        count = max(round((t[-1] - t[0]) / step), MIN_SAMPLES - 1) + 1
        grid = np.linspace(t[0], t[-1], count)
        filled = CubicSpline(t, filled)(grid)
        note = ", after interpolation at equal steps"
    sections = butter(FILTER_ORDER, cutoff / TWO_PASSES, fs=1 / step, output="sos")
    pad = min(len(grid) - 1, int(np.ceil(1 / (cutoff * step))))
    filtered = sosfiltfilt(sections, filled, axis=0, padlen=pad)
    curve = make_interp_spline(grid, filtered, k=5)
    statement = (
        f"smoothed by a Butterworth low-pass of order {FILTER_ORDER} run forth and back, no lag, -3 dB at "
        f"{cutoff:g} Hz{note}"
    )
    return Smooth(curve(t), curve(t, nu=1), curve(t, nu=2), statement)


def interpolate(t: Array, y: Array, cutoff: float | None, noise: Array | None) -> Smooth:
    """The quintic spline through all samples: for clean data alone."""
    curve = make_interp_spline(t, _fill(t, y), k=5)
    return Smooth(curve(t), curve(t, nu=1), curve(t, nu=2), "not smoothed: a quintic spline goes through all samples")


SMOOTHERS: dict[str | None, Smoother] = {"spline": smooth_spline, "lowpass": smooth_lowpass, None: interpolate}


def differentiate(
    t: Array, y: Array, smoothing: str | None = "spline", cutoff: float | None = None, noise: Array | None = None
) -> Smooth:
    """Smoothed samples with velocities and accelerations: y (T, k), nan where a sample is missing, at times t (T,)."""
    if len(t) < MIN_SAMPLES:
        raise ShapeError(f"velocities and accelerations need at least {MIN_SAMPLES} samples, got {len(t)}")
    if smoothing is None and (cutoff is not None or noise is not None):
        raise ShapeError("cutoff and noise belong to a smoothing; give smoothing='spline' or 'lowpass'")
    if noise is not None and (smoothing != "spline" or cutoff is not None):
        raise ShapeError("noise chooses the cut-off of smoothing='spline'; leave out cutoff, or noise")
    try:
        return SMOOTHERS[smoothing](t, y, cutoff, noise)
    except np.linalg.LinAlgError as error:
        steps = np.diff(t)
        raise ShapeError(
            f"times are too uneven to be smoothed, with steps from {steps.min():.3g} to {steps.max():.3g} s: cut the "
            "recording at its gaps, or give a cutoff"
        ) from error


def is_irregular(t: Array) -> bool:
    """Whether the steps of time differ by more than rounding and a little jitter."""
    steps = np.diff(t)
    return bool(np.abs(steps - np.median(steps)).max() > IRREGULAR * np.median(steps))


def _fill(t: Array, y: Array) -> Array:
    """Samples with missing ones put on a cubic spline through the others."""
    filled = y.copy()
    for k in range(y.shape[1]):
        known = np.isfinite(y[:, k])
        if not known.all():
            filled[~known, k] = CubicSpline(t[known], y[known, k])(t[~known])
    return filled
