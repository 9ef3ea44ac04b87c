"""Conditions that a motion may meet: zero crossings of functions of its state, found to rounding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.arguments import Array, real_array
from chainrule.errors import ShapeError


@dataclass(frozen=True)
class Event:
    """Happens where function(t, q, qd), one number for each state, crosses zero.

    The function takes t (...,), q (..., nq) and qd (..., n) and returns (...,). direction: 1 for crossings upwards
    only, -1 for downwards, 0 for both. terminal: the motion stops there; in a batch its row is nan from then on, and
    the simulation ends when every row has stopped.

    >>> import chainrule as cr
    >>> bottom = cr.Event(lambda t, q, qd: q[..., 0], name="bottom")
    >>> fall = cr.load("pendulum").simulate([0.5], [0.0], 2.0, events=bottom)
    >>> fall.status, len(fall.events), bool(abs(fall.q[-1, 0]) < 1e-12)
    ('stopped', 1, True)
    """

    function: Callable[[Any, Any, Any], Any]
    name: str = "event"
    direction: int = 0
    terminal: bool = True

    def __post_init__(self) -> None:
        if not callable(self.function) or self.direction not in (-1, 0, 1):
            raise ShapeError(
                f"an Event takes a function of (t, q, qd), and a direction of -1, 0 or 1, got {self.function!r:.60} "
                f"and {self.direction!r}"
            )

    def values(self, t: Array, q: Array, qd: Array) -> Array:
        """The function on samples, refused where it is not one finite-or-nan number for each."""
        found = real_array(self.function(t, q, qd), f"what event {self.name!r} returns").astype(float)
        expected = q.shape[:-1]
        if found.shape != expected:
            raise ShapeError(
                f"event {self.name!r} must give one number for each state: shape {expected} for q of shape {q.shape}, "
                f"got {found.shape}; index joints with q[..., i]"
            )
        return found

    def crossed(self, before: Array, after: Array) -> Array:
        """Whether it happened between two samples; a start on zero does not count."""
        up, down = (before < 0) & (after >= 0), (before > 0) & (after <= 0)
        return np.asarray({1: up, -1: down, 0: up | down}[self.direction])


def listed(events: Any) -> tuple[Event, ...]:
    """Events from one, a function, or a list of them."""
    if events is None:
        return ()
    items: Sequence[Any] = events if isinstance(events, (list, tuple)) else [events]
    return tuple(item if isinstance(item, Event) else Event(item) for item in items)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """The point between two others at which a function that is negative at the first has just ceased to be so."""
    from scipy.optimize import brentq

    if function(low) >= 0:
        return low
    if function(high) <= 0:
        return high
    at = float(brentq(function, low, high, xtol=1e-15, rtol=1e-14))
    further = 2e-16 * (1 + abs(at))
    while at < high and function(at) < 0:
        at, further = min(at + further, high), 2 * further
    return at
