"""Numbers that cannot be right: joint positions that look like degrees."""

from __future__ import annotations

import math

import numpy as np

from chainrule.arguments import Array
from chainrule.core.derived import remember
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ModelWarning, warn_user
from chainrule.model import Layout

BEYOND_LIMIT_RATIO = 2.0
"""How many times as large as its limit an angle has to be to look like degrees."""


def degrees_hint(layout: Layout, q: Array) -> str:
    """A sentence about angles in configurations (..., nq) that look like degrees; empty where none do.

    They do where a joint that turns is far outside its limits, by half a turn and twice the limit, and every joint that
    turns would be within its limits if the numbers were degrees.
    """
    turning = [c for c in layout.coordinates if c.unit == "rad" and c.velocity is not None]
    if not turning or not q.size:
        return ""
    x = q[..., [c.index for c in turning]].reshape(-1, len(turning))
    lower, upper = (np.array([float(getattr(c, side)) for c in turning]) for side in ("lower", "upper"))
    with np.errstate(invalid="ignore"):
        far = np.abs(x) > _largest_angles(layout)[[c.index for c in turning]]
        angles = np.deg2rad(x)
        fits = ((angles >= lower) & (angles <= upper)).all()
    if not far.any() or not fits:
        return ""
    row, column = np.argwhere(far)[0]
    value, joint = x[row, column], turning[column]
    return (
        f"joint {joint.name!r} is at {value:g} rad, far outside its limits {lower[column]:.4g} to {upper[column]:.4g} "
        f"rad, and {value:g} degrees would be within them: if these are degrees, convert them with np.deg2rad"
    )


def _largest_angles(layout: Layout) -> Array:
    """The positions (nq,) beyond which a joint that turns may be given in degrees; infinite for others."""
    largest = np.full(layout.nq, np.inf)
    for c in layout.coordinates:
        if c.unit == "rad" and c.velocity is not None:
            largest[c.index] = max(math.pi, BEYOND_LIMIT_RATIO * max(abs(float(c.lower)), abs(float(c.upper))))
    return largest


def warn_of_degrees(robot: Mechanism, q: Array, caller: str) -> None:
    """A warning where configurations look like degrees."""
    if not (np.abs(q) > remember(robot, "angles like degrees", lambda: _largest_angles(robot.model.layout))).any():
        return
    hint = degrees_hint(robot.model.layout, q)
    if hint:
        warn_user(f"{caller}: {hint}", ModelWarning)
