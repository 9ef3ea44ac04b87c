"""Angles of recordings: degrees or radians, turns that were cut off at a half turn, jumps."""

from __future__ import annotations

import numpy as np

from chainrule.arguments import Array
from chainrule.model import Layout
from chainrule.model.layout import Coordinate
from chainrule.motion.findings import Findings, list_places

BEYOND = 1.05
"""The factor by which positions may exceed a limit before they look wrong."""

SHARE = 0.01
"""The share of samples that may lie beyond limits."""

MANY_TURNS = 8 * np.pi
"""A range of a joint without limits, in rad, that would be many turns."""

JUMP_FACTOR = 12.0
"""A step of more than this many times the usual size of large steps (their 99th percentile) is a jump."""

SPEED_FACTOR = 3.0
"""How often a speed may exceed its limit between two samples before it is called a jump."""


def in_radians(y: Array, layout: Layout, degrees: dict[int, bool | None], findings: Findings) -> Array:
    """Coordinates (T, nq) with angles in radians.

    `degrees` says of each coordinate whether it is in degrees, or None where nobody said: then it is inferred, from the
    robot's limits, for all such coordinates alike, and reported.
    """
    angles = [c for c in layout.coordinates if c.unit == "rad"]
    unsaid = [c for c in angles if degrees.get(c.index) is None]
    guess = False
    if unsaid:
        guess = _look_like_degrees(y, unsaid)
        sample = max(unsaid, key=lambda c: _largest(y[:, c.index]))
        largest = _largest(y[:, sample.index])
        if guess:
            findings.assumed.append(
                f"nothing says whether angles are in degrees: {sample.name!r} reaches {largest:.4g}, so that they are "
                "taken as DEGREES; say degrees=True or degrees=False"
            )
        else:
            findings.stated.append("angles are taken as radians, which nothing contradicts; say degrees=True if not")
    scaled = y.copy()
    for c in angles:
        said = degrees.get(c.index)
        if guess if said is None else said:
            scaled[:, c.index] = np.radians(y[:, c.index])
    return scaled


def suspect_degrees(y: Array, angles: list[Coordinate]) -> str | None:
    """Words on angles (T, nq) of many turns that make sense in degrees and not in radians; None if there are none."""
    sample = max(angles, key=lambda c: _largest(y[:, c.index]), default=None)
    if sample is None or _largest(y[:, sample.index]) < MANY_TURNS or not _look_like_degrees(y, angles):
        return None
    return f"nothing says whether angles are in degrees, and {sample.name!r} reaches {_largest(y[:, sample.index]):.4g}"


def _largest(column: Array) -> float:
    return float(np.nanmax(np.abs(column))) if np.isfinite(column).any() else 0.0


def _look_like_degrees(y: Array, angles: list[Coordinate]) -> bool:
    """Whether the angles make no sense in radians, and do in degrees."""
    as_radians = [_beyond(y[:, c.index], c) for c in angles]
    as_degrees = [_beyond(np.radians(y[:, c.index]), c) for c in angles]
    return max(as_radians) > SHARE and max(as_degrees) < max(as_radians)


def _beyond(column: Array, c: Coordinate) -> float:
    """The share of samples beyond the limits of a coordinate."""
    known = column[np.isfinite(column)]
    if not len(known):
        return 0.0
    low = c.lower - (BEYOND - 1) * abs(c.lower) if np.isfinite(c.lower) else -MANY_TURNS
    high = c.upper + (BEYOND - 1) * abs(c.upper) if np.isfinite(c.upper) else MANY_TURNS
    return float(((known < low) | (known > high)).mean())


def unwrap(y: Array, layout: Layout, findings: Findings) -> Array:
    """Angles (T, nq) without the steps of whole turns that a sensor or atan2 makes at a half turn."""
    whole = y.copy()
    cut: list[str] = []
    for c in layout.coordinates:
        if c.unit != "rad":
            continue
        known = np.isfinite(y[:, c.index])
        column = y[known, c.index]
        steps = np.diff(column)
        if not (np.abs(steps) > np.pi).any():
            continue
        whole[known, c.index] = np.unwrap(column)
        cut.append(f"{c.name!r} ({int((np.abs(steps) > np.pi).sum())} times)")
    if cut:
        findings.assumed.append(f"steps of more than half a turn are taken as wraps and undone: {list_places(cut)}")
    return whole


def report_jumps(t: Array, y: Array, layout: Layout, findings: Findings) -> None:
    """Report steps that are far larger than others, or much quicker than the joint can move."""
    places: list[str] = []
    for c in layout.coordinates:
        known = np.isfinite(y[:, c.index])
        times, column = t[known], y[known, c.index]
        if len(column) < 3 or c.velocity is None:
            continue
        steps, durations = np.abs(np.diff(column)), np.diff(times)
        usual = float(np.quantile(steps, 0.99)) if len(steps) > 100 else float(np.median(steps))
        limit = float(layout.velocities[c.velocity].dof.velocity)
        bound = np.inf if usual == 0 else JUMP_FACTOR * usual * np.maximum(durations / np.median(durations), 1.0)
        bound = np.minimum(bound, SPEED_FACTOR * limit * durations) if np.isfinite(limit) and limit > 0 else bound
        for i in np.flatnonzero(steps > bound):
            places.append(f"{c.name!r} by {column[i + 1] - column[i]:.3g} {c.unit} at {times[i + 1]:.6g} s")
    if places:
        findings.assumed.append(
            f"jumps: {list_places(places)}; they are kept, and make large accelerations: look at the recording there"
        )


def report_limits(y: Array, layout: Layout, findings: Findings) -> None:
    """Report coordinates beyond their limits."""
    beyond: list[str] = []
    for c in layout.coordinates:
        column = y[:, c.index]
        low, high = (float(np.nanmin(column)), float(np.nanmax(column))) if np.isfinite(column).any() else (0.0, 0.0)
        if low < c.lower - 1e-9 or high > c.upper + 1e-9:
            beyond.append(f"{c.name!r} ({low:.4g} to {high:.4g}, limits {c.lower:.4g} to {c.upper:.4g} {c.unit})")
    if beyond:
        findings.assumed.append(f"positions go beyond joint limits: {list_places(beyond)}")
