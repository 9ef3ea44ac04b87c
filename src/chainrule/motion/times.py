"""Times of samples: in seconds, increasing, each once; what is not so is mended where that is safe, and reported."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.errors import ShapeError
from chainrule.motion.findings import Findings, list_places

SECONDS = {"s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0}
"""Seconds in each unit of time."""

EPOCHS = (("ns", 1e17), ("us", 1e14), ("ms", 1e11), ("s", 1e8))
"""Times since 1970 in each unit are above these numbers for any date from 1973 on."""

GAP_FACTOR = 5.0
"""A step of more than this many median steps is a gap."""


class CleanTimes(NamedTuple):
    """Times in s (T,), and for each the first and the one-past-last of the samples that it stands for."""

    t: Array
    order: NDArray[np.intp]
    """Places of the samples in order of time."""
    groups: NDArray[np.intp]
    """For each sample in that order, the place in t."""


def in_seconds(t: Array, unit: str | None, findings: Findings) -> Array:
    """Times in seconds; those since 1970 start at 0."""
    if unit is not None and unit not in SECONDS:
        raise ShapeError(f"the unit of time must be one of {', '.join(SECONDS)}, got {unit!r}")
    finite = t[np.isfinite(t)]
    start = finite[0] if len(finite) else 0
    for name, least in EPOCHS:
        if abs(float(start)) > least:
            if unit is None and name != "s":
                findings.assumed.append(f"times of about {float(start):.3g} are taken as {name} since 1970")
            scale = SECONDS[unit or name]
            findings.stated.append("times since 1970 start at 0 here")
            return np.asarray((t - start) * scale)  # whole numbers are subtracted exactly
    if unit is not None:
        return np.asarray(t * SECONDS[unit], dtype=float)
    steps = np.diff(finite)
    if len(steps) and np.median(steps) >= 1 and (finite == np.round(finite)).all():
        findings.assumed.append(
            f"times are whole numbers, {np.median(steps):g} apart: taken as seconds; say time_unit='ms' if they are ms"
        )
    return np.asarray(t, dtype=float)


def clean_times(t: Array, findings: Findings, *, sort: bool = False) -> CleanTimes:
    """Times that increase; samples at the same time are counted as one."""
    bad = np.flatnonzero(~np.isfinite(t))
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
    unique, groups = np.unique(t[order], return_inverse=True)
    repeated = len(t) - len(unique)
    if repeated:
        findings.assumed.append(f"{repeated} samples repeat the time of another: their mean is taken")
    _report_gaps(unique, findings)
    return CleanTimes(unique, order, groups)


def _report_gaps(t: Array, findings: Findings) -> None:
    steps = np.diff(t)
    if len(steps) < 2:
        return
    usual = float(np.median(steps))
    gaps = np.flatnonzero(steps > GAP_FACTOR * usual)
    if len(gaps):
        places = [f"{t[i]:.6g} to {t[i + 1]:.6g} s" for i in gaps]
        findings.assumed.append(
            f"gaps in time, {list_places(places)}, where samples are usually {usual:.3g} s apart: the smooth curve "
            "goes across them, and means little there"
        )


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
