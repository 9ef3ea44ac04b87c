"""Times of samples: in seconds, increasing, each once; what is not so is mended where that is safe, and reported."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.errors import ShapeError
from chainrule.motion.findings import Findings, list_places
from chainrule.motion.units import SECONDS, spell_unit

FIRST_DATE_S, LAST_DATE_S = 946_684_800.0, 4_102_444_800.0
"""The years 2000 to 2100 in seconds since 1970: dates at which recordings are made."""

QUICKEST_STEP_S, SLOWEST_STEP_S = 1e-5, 1.0
"""Steps between samples that recorded motions have, from 100,000 a second to more than one."""

SLOW_STEP_S = 0.15
"""Steps from it on are those of few recordings, or those of thousands of samples a second in ms."""

LATE_S = 1e8
"""Times above it count from an epoch, and start at 0 here."""

USUAL_STEP = 0.75
"""The quantile of steps that counts as the usual one: half of all steps may be between samples of one time."""

GAP_FACTOR = 5.0
"""A step of more than this many usual steps is a gap."""

SAME_TIME = 0.03
"""Samples that are nearer to each other than this share of the usual step are of one time.

Of 12 to 200 pairs of samples with noise, those so far apart give accelerations as good as single samples do, by the
smoothing spline; at a sixth of it they may be wrong by a factor of thousands, at a thousandth there is no spline."""

MAX_AT_ONE_TIME = 10
"""Samples of one time, at most: with more, the clock is too coarse for the recording, or stood still."""


MAX_TIME_S = 1e12
"""Times beyond this are none: 30,000 years."""


class CleanTimes(NamedTuple):
    """Times in s (T,), and for each sample the place of its time."""

    t: Array
    order: NDArray[np.intp]
    """Places of the samples in order of time."""
    groups: NDArray[np.intp]
    """For each sample in that order, the place in t."""


def in_seconds(t: Array, stated: str | None, time_unit: str | None, findings: Findings) -> Array:
    """Times in seconds; those since 1970 start at 0.

    stated: the unit that the recording says. time_unit: the one that a user says.
    """
    unit, why = _unit(stated or None, time_unit)
    finite = t[np.isfinite(t)]
    start = finite[0] if len(finite) else 0
    is_guess = False
    if unit is None:
        unit, why, is_guess = _infer_unit(finite)
    findings.assume("unit of time", unit, why, is_doubtful=is_guess)
    scale = SECONDS[unit]
    if float(start) * scale > LATE_S:
        findings.assume("start of time", "0 s", f"the first time is {float(start):.10g} {unit}: since 1970, say")
        return np.asarray((t - start) * scale, dtype=float)  # whole numbers are subtracted exactly
    return np.asarray(t * scale, dtype=float)


def _unit(stated: str | None, time_unit: str | None) -> tuple[str | None, str]:
    """The unit that somebody has stated, and who."""
    for unit in (stated, time_unit):
        if unit is not None and (not isinstance(unit, str) or spell_unit(unit) not in SECONDS):
            raise ShapeError(f"the unit of time must be one of {', '.join(SECONDS)}, got {unit!r}")
    said, asked = (None if unit is None else spell_unit(unit) for unit in (stated, time_unit))
    if said is not None and asked not in (None, said):
        raise ShapeError(
            f"the recording says that its times are in {said!r}, and time_unit={time_unit!r} says the opposite; leave "
            "out time_unit=..., or mend the heading"
        )
    return said or asked, "as the recording says" if said else "as time_unit=... says"


def _infer_unit(t: Array) -> tuple[str, str, bool]:
    """The unit of times that nobody has stated, why, and whether it is a guess: s, or that of dates since 1970."""
    step = usual_step(t)
    if not step:
        return "s", "nothing states another", False
    start = float(t[0])
    dates = [
        unit
        for unit in ("s", "ms", "us", "ns")
        if FIRST_DATE_S <= start * SECONDS[unit] < LAST_DATE_S and _is_likely(step * SECONDS[unit])
    ]
    if len(dates) == 1:
        (unit,) = dates
        why = (
            f"nothing states it; times of {start:.4g} are taken as {unit} since 1970, which is "
            f"{np.datetime64(int(start * SECONDS[unit]), 's')}, with samples {step * SECONDS[unit]:.3g} s apart"
        )
        return unit, why if unit == "s" else f"{why}; say time_unit={unit!r} if that is right", unit != "s"
    if _is_likely(step) and start <= FIRST_DATE_S:
        is_slow = step > SLOW_STEP_S
        asked = ", which is slow for a motion; say time_unit='s' if that is right, or time_unit='ms'"
        return "s", f"nothing states another; samples are {step:.3g} s apart{asked * is_slow}", is_slow
    likely = [f"time_unit={unit!r} ({step * SECONDS[unit]:.3g} s apart)" for unit in ("ms", "us", "ns") if
              _is_likely(step * SECONDS[unit])]  # fmt: skip
    frames = ", or rate=... if these are numbers of frames" if step == 1 else ""
    raise ShapeError(
        f"nothing states the unit of time: in s, from {start:.10g} on, samples would be {step:.4g} s apart; say "
        f"{' or '.join(likely) or 'time_unit=...'}, or time_unit='s' if they are{frames}; or put the unit into the "
        "heading, such as 'time [ms]'"
    )


def _is_likely(step: float) -> bool:
    return QUICKEST_STEP_S <= step < SLOWEST_STEP_S


def interval_in_seconds(step: float, time_unit: str | None, findings: Findings) -> float:
    """The time between two samples in s."""
    unit, why = _unit(None, time_unit)
    if unit is None and not _is_likely(step):
        raise ShapeError(
            f"samples would be {step:g} s apart; say time_unit='ms' or another, or time_unit='s' if they are"
        )
    findings.assume("times", f"samples {step:g} {unit or 's'} apart", why if unit else "nothing states another unit")
    return step * SECONDS[unit or "s"]


def usual_step(t: Array) -> float:
    """The step that samples usually have, whatever gaps and samples of one time there are; 0 where there is none."""
    steps = np.diff(np.unique(t))
    return float(np.quantile(steps, USUAL_STEP)) if len(steps) else 0.0


def frame_times(t: Array, rate: float, column: str, findings: Findings) -> Array:
    """Times in s of numbers of frames (T,), at so many frames a second."""
    finite = t[np.isfinite(t)]
    if usual_step(finite) != 1 or (finite != np.round(finite)).any():
        raise ShapeError(
            f"rate={rate:g} and the column {column!r} both say when samples were taken; leave out rate=..., or take "
            "that column out of the recording"
        )
    findings.assume("times", f"column {column!r} / {rate:g} a second", "whole numbers one apart count frames")
    return np.asarray((t - finite[0]) / rate, dtype=float)


def clean_times(t: Array, findings: Findings, *, sort: bool = False) -> CleanTimes:
    """Times that increase; samples at the same time, or nearly so, are counted as one."""
    bad = np.flatnonzero(~(np.abs(t) < MAX_TIME_S))
    if len(bad):
        raise ShapeError(f"the time of sample {bad[0]} is {t[bad[0]]}; leave out samples without a time")
    back = np.flatnonzero(np.diff(t) < 0)
    order = np.arange(len(t))
    if len(back):
        i = int(back[0])
        where = f"at sample {i + 1}, from {t[i]:g} to {t[i + 1]:g} s"
        if not sort:
            raise ShapeError(
                f"time goes backwards {where}{_more(len(back))}; split the recording there if several were put "
                "together, or pass sort=True if samples are out of order"
            )
        order = np.argsort(t, kind="stable")
        findings.assumed.append(f"time went backwards {where}{_more(len(back))}: samples were sorted by time")
    clean, groups = _merge_times(t[order], findings)
    _report_gaps(clean, findings)
    return CleanTimes(clean, order, groups)


def _merge_times(t: Array, findings: Findings) -> tuple[Array, NDArray[np.intp]]:
    """Increasing times that differ by more than rounding, and for each sample the place of its time."""
    is_first = _first_of_each(t, SAME_TIME * usual_step(t))
    groups = np.cumsum(is_first) - 1
    counts = np.bincount(groups)
    merged = len(t) - len(counts)
    if not merged:
        return t, groups
    if counts.max() > MAX_AT_ONE_TIME:
        k = int(counts.argmax())
        raise ShapeError(
            f"{counts[k]} samples have the time {t[groups == k][0]:.10g} s, or nearly so: the clock stood still, its "
            "times have too few digits, or several recordings were put together; give rate=... and leave the times "
            "out if samples are evenly spaced"
        )
    apart = (t - t[is_first][groups]).max()
    within = f", or come within {apart:.2g} s of it" if apart else ""
    findings.assume(
        "repeated times", f"{merged} of {len(t)} samples",
        f"{merged} samples repeat the time of another{within}: their mean is taken", is_doubtful=True,
    )  # fmt: skip
    mean = np.bincount(groups, weights=t - t[is_first][groups]) / counts
    return np.asarray(t[is_first] + mean), groups


def _first_of_each(t: Array, near: float) -> NDArray[np.bool_]:
    """Whether each of increasing times (T,) is a new one; the others are within `near` of the new one before them."""
    is_first = np.ones(len(t), dtype=bool)
    start = 0
    for i in np.flatnonzero(np.diff(t) <= near) + 1:
        start = int(i) - 1 if is_first[i - 1] else start
        is_first[i] = t[i] - t[start] > near
    return is_first


def _report_gaps(t: Array, findings: Findings) -> None:
    steps = np.diff(t)
    if len(steps) < 2:
        return
    usual = float(np.median(steps))
    gaps = np.flatnonzero(steps > GAP_FACTOR * usual)
    if len(gaps):
        places = [f"{t[i]:.6g} to {t[i + 1]:.6g} s" for i in gaps]
        findings.assume(
            "gaps in time", list_places(places),
            f"samples are usually {usual:.3g} s apart; the smooth curve goes across gaps, and means little there",
            is_doubtful=True,
        )  # fmt: skip


def _more(count: int) -> str:
    return f", and {count - 1} times more" if count > 1 else ""


def merge_samples(y: Array, times: CleanTimes) -> Array:
    """Samples (T, k) in order of time, the mean of those at one time; nan counts only where there is nothing else."""
    ordered = y[times.order]
    if len(times.t) == len(ordered):
        return ordered
    known = np.isfinite(ordered)
    sums, counts = np.zeros((len(times.t), y.shape[1])), np.zeros((len(times.t), y.shape[1]))
    np.add.at(sums, times.groups, np.where(known, ordered, 0.0))
    np.add.at(counts, times.groups, known)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums / counts)
