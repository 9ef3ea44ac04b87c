"""The quickest motion from rest to rest over a distance: seven segments of constant jerk, or fewer."""

from __future__ import annotations

import numpy as np
import scipy

from chainrule.control.motions.curves import Curve


def s_curve(distance: float, speed: float, acceleration: float, jerk: float) -> Curve:
    """s as a function of time, in the least time within the limits; any may be infinite, but not all of the last two.

    Acceleration rises, stays, and falls; speed stays; and the same backwards.
    """
    peak = speed
    rise, stay = _ramp(peak, acceleration, jerk)
    if peak * (2 * rise + stay) > distance:
        peak = _largest_speed(distance, acceleration, jerk)
        rise, stay = _ramp(peak, acceleration, jerk)
    cruise = max(distance / peak - (2 * rise + stay), 0.0)
    most = peak / (rise + stay)
    durations = np.array([rise, stay, rise, cruise, rise, stay, rise])
    start = np.array([0.0, most, most, 0.0, 0.0, -most, -most])
    end = np.array([most, most, 0.0, 0.0, -most, -most, 0.0])
    present = durations > 1e-12 * durations.sum()
    durations, start, end = durations[present], start[present], end[present]
    t = np.concatenate([[0.0], np.cumsum(durations)])
    return scipy.interpolate.PPoly(np.stack([(end - start) / durations, start]), t).antiderivative(2)


def _ramp(peak: float, acceleration: float, jerk: float) -> tuple[float, float]:
    """How long acceleration rises and how long it stays, from rest to a peak of speed."""
    if peak * jerk >= acceleration**2:
        return acceleration / jerk, peak / acceleration - acceleration / jerk
    return float(np.sqrt(peak / jerk)), 0.0


def _largest_speed(distance: float, acceleration: float, jerk: float) -> float:
    """The peak of speed where a motion speeds up and slows down again without cruising."""
    if distance * jerk**2 >= 2 * acceleration**3:  # peak (peak / acceleration + acceleration / jerk) = distance
        rise = acceleration / jerk
        return 2 * distance / (rise + float(np.sqrt(rise**2 + 4 * distance / acceleration)))
    return float((distance**2 * jerk / 4) ** (1 / 3))  # 2 peak sqrt(peak / jerk) = distance
