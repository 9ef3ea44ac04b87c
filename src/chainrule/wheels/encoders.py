"""Wheel speeds from encoder ticks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, real_array
from chainrule.wheels.bases import positive_parameter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def encoder_speed(ticks: ArrayLike, ticks_per_revolution: float, rate: float) -> Array:
    """Wheel speeds in rad/s from the ticks counted in each sample, with `rate` samples a second.

    2 pi rate ticks / ticks_per_revolution; times the wheel's radius, its speed over the ground.

    >>> encoder_speed([90, 180], ticks_per_revolution=360, rate=10).round(6).tolist()
    [15.707963, 31.415927]
    """
    counted = real_array(ticks, "ticks")
    per_turn = positive_parameter(ticks_per_revolution, "ticks_per_revolution")
    return np.asarray(2 * np.pi * positive_parameter(rate, "rate") * counted / per_turn)
