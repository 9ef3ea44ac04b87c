"""Angles of recordings: degrees or radians, turns that were cut off at a half turn, jumps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ShapeError
from chainrule.model import Layout
from chainrule.model.layout import Coordinate
from chainrule.motion.findings import Findings, list_places

FULL_TURN = 2 * np.pi
"""Angles up to it, in rad, are radians unless somebody says otherwise."""

BEYOND = 1.05
"""The factor by which positions may exceed a limit before they look wrong."""

SHARE = 0.01
"""The share of samples that may lie beyond: jumps of a sensor say nothing of units."""

FAR_BEYOND = 3.0
"""A joint whose angles are so many times its limits cannot be in radians."""

MIN_WITNESSES = 2
"""Joints, at least, whose angles have to be far beyond their limits in radians, before degrees are taken."""

JUMP_FACTOR = 12.0
"""A step of more than this many times the usual size of large steps (their 99th percentile) is a jump."""

SPEED_FACTOR = 3.0
"""How often a speed may exceed its limit between two samples before it is called a jump."""


def scale_angles(
    y: Array,
    coordinates: Sequence[Coordinate],
    factors: Sequence[float | None],
    findings: Findings,
    *,
    guess: bool = True,
) -> list[float]:
    """The factor to SI of each coordinate, from those that are stated; None among them is a unit that nobody said.

    Angles (..., n) whose unit nobody said are radians. If they leave a full turn and the limits of their joints in
    radians, they are taken for degrees where nothing else is possible, or refused, as always without `guess`.
    """
    rows = y.reshape(-1, y.shape[-1])
    silent = [k for k, factor in enumerate(factors) if factor is None]
    columns = {coordinates[k].name: (rows[:, k], coordinates[k]) for k in silent}
    stated = [f for f, c in zip(factors, coordinates, strict=True) if c.unit == "rad" and f is not None]
    is_degrees = bool(columns) and _are_degrees(columns, findings, guess and not stated)
    return [(np.pi / 180 if is_degrees else 1.0) if factor is None else factor for factor in factors]


def _are_degrees(columns: dict[str, tuple[Array, Coordinate]], findings: Findings, guess: bool) -> bool:
    """Whether angles whose unit nobody has stated are in degrees."""
    outside = {name: _reach(column) for name, (column, c) in columns.items() if _is_outside(column, c)}
    if not outside:
        findings.assume(
            "unit of angles", "rad",
            "nothing states one: taken as radians, which nothing contradicts; say degrees=True if not",
        )  # fmt: skip
        return False
    worst = max(outside, key=lambda name: outside[name])
    limited = {name: (x, c) for name, (x, c) in columns.items() if np.isfinite([c.lower, c.upper]).all() and x.any()}
    far = {
        name: _reach(x) / max(abs(c.lower), abs(c.upper), 1e-3) for name, (x, c) in limited.items() if name in outside
    }
    witnesses = [name for name, factor in far.items() if factor > FAR_BEYOND]
    fit = all(_share_beyond(np.radians(x), c.lower, c.upper) <= SHARE for x, c in limited.values())
    if guess and fit and len(witnesses) >= max(MIN_WITNESSES, len(limited) / 2):
        findings.assume(
            "unit of angles", "deg",
            f"nothing states one; in radians {len(witnesses)} of {len(limited)} joints would be up to "
            f"{max(far.values()):.3g} times beyond their limits ({worst!r} reaches {outside[worst]:.4g}), and in "
            "degrees all are within them: taken as DEGREES; say degrees=True or degrees=False", is_doubtful=True,
        )  # fmt: skip
        return True
    c = columns[worst][1]
    limits = f", its limits being {c.lower:.4g} to {c.upper:.4g} rad" if np.isfinite([c.lower, c.upper]).any() else ""
    raise ShapeError(
        f"nothing says whether angles are in degrees, and {worst!r} reaches {outside[worst]:.4g}: "
        f"{outside[worst] / (2 * np.pi):.3g} turns in radians{limits}; say degrees=True or degrees=False, or put the "
        f"unit into the headings, such as '{worst} [deg]'"
    )


def _reach(column: Array) -> float:
    """The size of the angles of a column, but for single ones."""
    known = np.abs(column[np.isfinite(column)])
    return float(np.quantile(known, 1 - SHARE, method="higher")) if len(known) else 0.0


def _is_outside(column: Array, c: Coordinate) -> bool:
    """Whether a column, in radians, leaves both a full turn and the limits of its joint."""
    return _share_beyond(column, min(c.lower, -FULL_TURN) if np.isfinite(c.lower) else -FULL_TURN,
                         max(c.upper, FULL_TURN) if np.isfinite(c.upper) else FULL_TURN) > SHARE  # fmt: skip


def _share_beyond(column: Array, lower: float, upper: float) -> float:
    """The share of samples beyond limits, with some room."""
    known = column[np.isfinite(column)]
    room = (BEYOND - 1) * max(abs(lower), abs(upper))
    return float(((known < lower - room) | (known > upper + room)).mean()) if len(known) else 0.0


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
            fits_in_mm = c.unit == "m" and low >= 1e3 * c.lower and high <= 1e3 * c.upper
            hint = f"; in mm it would be within them: put the unit into its heading, '{c.name} [mm]'" * fits_in_mm
            beyond.append(f"{c.name!r} ({low:.4g} to {high:.4g}, limits {c.lower:.4g} to {c.upper:.4g} {c.unit}{hint})")
    if beyond:
        findings.assumed.append(f"positions go beyond joint limits: {list_places(beyond)}")
