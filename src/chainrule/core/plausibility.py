"""Numbers that cannot be right: joint positions that look like degrees."""

from __future__ import annotations

import math

import numpy as np

from chainrule.arguments import Array
from chainrule.core.derived import remember
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ModelWarning, warn_user
from chainrule.model import Layout

WARNED = "_warned_of_degrees"
"""The attribute of a robot whose user knows."""

BEYOND_LIMIT_RATIO = 2.0
"""How many times as large as its limit an angle has to be to look like degrees."""


STEP_DEG = 15.0
"""Angles that people type in degrees are multiples of this."""
STEP_TOLERANCE_DEG = 1e-6
MOST_DEG = 720.0
"""Angles in degrees are seldom larger."""
MAX_ROWS = 1000
"""Rows of a batch that are looked at."""


def degrees_hint(layout: Layout, q: Array, *, computed: bool = False) -> str:
    """A sentence about angles in configurations (..., nq) that look like degrees; empty where none do.

    They do where a joint that turns is far outside its limits, by half a turn and twice the limit, and every joint that
    turns would be within its limits if the numbers were degrees. Of a joint without limits, and of an array that may
    have been computed, all angles of a row have to be multiples of 15 too.
    """
    turning = [c for c in layout.coordinates if c.unit == "rad" and c.velocity is not None]
    if not turning or not q.size:
        return ""
    x = q[..., [c.index for c in turning]].reshape(-1, len(turning))[:MAX_ROWS]
    lower, upper = (np.array([float(getattr(c, side)) for c in turning]) for side in ("lower", "upper"))
    with np.errstate(invalid="ignore"):
        far = np.abs(x) > _largest_angles(layout)[[c.index for c in turning]]
        angles = np.deg2rad(x)
        fits = ((x == 0) | ((angles >= lower) & (angles <= upper))).all()
        steps = np.abs(x - STEP_DEG * np.round(x / STEP_DEG)).max(axis=1) <= STEP_TOLERANCE_DEG
        steps &= np.abs(x).max(axis=1) <= MOST_DEG
    limited = np.isfinite(lower) | np.isfinite(upper)
    far &= steps[:, None] | (limited & (not computed))
    if not far.any() or not fits:
        return ""
    row, column = np.argwhere(far)[0]
    value, joint = x[row, column], turning[column]
    beyond = (
        f"far outside its limits {lower[column]:.4g} to {upper[column]:.4g} rad, and {value:g} degrees would be within "
        "them"
        if limited[column]
        else f"{abs(value) / math.tau:.3g} turns, and all angles are multiples of 15"
    )
    return (
        f"joint {joint.name!r} is at {value:g} rad, {beyond}: if these are degrees, convert them with np.deg2rad, or "
        "call robot.degrees"
    )


def _largest_angles(layout: Layout) -> Array:
    """The positions (nq,) beyond which a joint that turns may be given in degrees; infinite for others."""
    largest = np.full(layout.nq, np.inf)
    for c in layout.coordinates:
        if c.unit == "rad" and c.velocity is not None:
            limit = max(abs(float(c.lower)), abs(float(c.upper)))
            largest[c.index] = max(math.pi, BEYOND_LIMIT_RATIO * limit) if math.isfinite(limit) else 2 * math.tau
    return largest


def warn_of_degrees(robot: Mechanism, q: Array, caller: str, *, computed: bool = False) -> None:
    """A warning where configurations look like degrees, once for a robot.

    computed: whether the numbers may come from a computation, whose angles go astray without being degrees.
    """
    if WARNED in robot.__dict__:
        return
    if not (np.abs(q) > remember(robot, "angles like degrees", lambda: _largest_angles(robot.model.layout))).any():
        return
    hint = degrees_hint(robot.model.layout, q, computed=computed)
    if hint:
        robot.__dict__[WARNED] = True
        warn_user(f"{caller}: {hint}" if caller else hint, ModelWarning)
