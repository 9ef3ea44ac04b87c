"""Postures of a motion at equal steps of time: what animations and replays show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, number, real_array, refuse_nonfinite
from chainrule.core.plausibility import warn_of_degrees
from chainrule.core.reading import read_argument
from chainrule.errors import ShapeError, short_repr
from chainrule.kinematics.configurations import difference, integrate
from chainrule.plots.trajectory import drawn_row

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

MAX_FRAMES = 5000
"""Postures of one animation."""
USUAL_STEP, USUAL_FRAMES = 1 / 30, 3000
"""Seconds between postures where no step is given, and how many of them at most."""


def postures_in_time(
    robot: Mechanism, motion: Any, *, t: Any, row: Any, step: float | None, caller: str
) -> tuple[Array, Array]:
    """Times (k,) every `step` seconds, and the postures (k, nq) of a motion at them.

    The motion is a trajectory, one of a batch being chosen by `row`; a motion as of cr.plan; or postures with times t.
    Without a step there are 30 postures a second, fewer of a motion longer than 100 s.
    """
    when, states = _samples(robot, motion, t, row, caller)
    if step is None:
        step = max(USUAL_STEP, float(when[-1] - when[0]) / USUAL_FRAMES)
    count = int(np.floor((when[-1] - when[0]) / step * (1 + 1e-12))) + 1
    if count > MAX_FRAMES:
        raise ShapeError(f"{caller}: {count} frames are too many; take fewer fps, more speed, or a part of the motion")
    times = when[0] + min(step, 1e300) * np.arange(count)
    return times, _at_times(robot, when, states, times)


def _samples(robot: Mechanism, motion: Any, t: Any, row: Any, caller: str) -> tuple[Array, Array]:
    """Times (k,) and postures (k, nq) of a motion."""
    if hasattr(motion, "row") and hasattr(motion, "q") and hasattr(motion, "t"):
        if motion.robot.nq != robot.nq:
            raise ShapeError(
                f"{caller}: the trajectory is of robot {motion.robot.name!r} with {motion.robot.nq} coordinates, and "
                f"robot {robot.name!r} has {robot.nq}"
            )
        one = drawn_row(motion, row)
        return one.t, one.q
    if callable(motion):
        end = number(getattr(motion, "duration", np.nan), f"{caller}: the duration of the motion")
        when = np.linspace(0.0, max(end, 1e-9), max(2, min(5000, int(200 * end) + 1)))
        return when, read_argument(robot, caller, "q", motion(when)[0])
    states = read_argument(robot, caller, "q", motion)
    if states.ndim != 2 or not len(states):
        raise ShapeError(
            f"{caller}: motion must be a trajectory, or postures (k, {robot.nq}), got {short_repr(states.shape)}"
        )
    if t is None:
        raise ShapeError(f"{caller}: postures need their times in s, one for each: t=...")
    warn_of_degrees(robot, states, caller)
    return _times(t, len(states), caller), states


def _times(t: Any, count: int, caller: str) -> Array:
    """Times that grow, one for each posture."""
    when = real_array(t, f"{caller}: t").astype(float)
    if when.shape != (count,):
        raise ShapeError(f"{caller}: t must have {count} numbers, one a posture, got shape {when.shape}")
    refuse_nonfinite(when, f"{caller}: t")
    if (np.diff(when) <= 0).any():
        raise ShapeError(f"{caller}: t must grow from posture to posture")
    return when


def _at_times(robot: Mechanism, when: Array, states: Array, times: Array) -> Array:
    """Postures at other times: those of the nearest samples in between, along the configuration manifold."""
    if len(when) == 1:
        return np.repeat(states, len(times), axis=0)
    k = np.clip(np.searchsorted(when, times, side="right") - 1, 0, len(when) - 2)
    share = np.clip((times - when[k]) / (when[k + 1] - when[k]), 0.0, 1.0)[:, None]
    way = difference(robot, states[k], states[k + 1])
    return integrate(robot, states[k], way * share)
