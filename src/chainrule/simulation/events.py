"""Events: conditions that a motion may meet, and how they are found to rounding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

import numpy as np

from chainrule.arguments import Array, flag, real_array, word
from chainrule.calls import explains_construction
from chainrule.errors import ShapeError, short_repr


@explains_construction
@dataclass(frozen=True)
class Event:
    """A zero crossing of function(t, q, qd), one number for each state.

    Parameters
    ----------
    function
        Takes t (...,), q (..., nq) and qd (..., n), and returns (...,).
    name
        The name in `trajectory.events`.
    direction
        1 for crossings upwards only, -1 for downwards, 0 for both.
    terminal
        The motion stops there. In a batch its row is nan from then on, and the simulation ends when every row has
        stopped.

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
        is_number = isinstance(self.direction, (int, float, np.number))
        if not callable(self.function) or not is_number or self.direction not in (-1, 0, 1):
            raise ShapeError(
                f"an Event takes a function of (t, q, qd), and a direction of -1, 0 or 1, got "
                f"{short_repr(self.function)} and {short_repr(self.direction)}"
            )
        word(self.name, "Event: name")
        flag(self.terminal, "Event: terminal")

    def values(self, t: Array, q: Array, qd: Array) -> Array:
        """The function on samples: one number, finite or nan, for each; anything else is refused."""
        values = real_array(self.function(t, q, qd), f"what event {self.name!r} returns").astype(float)
        expected = q.shape[:-1]
        if values.shape != expected:
            raise ShapeError(
                f"event {self.name!r} must give one number for each state: shape {expected} for q of shape {q.shape}, "
                f"got {values.shape}; index joints with q[..., i]"
            )
        return values

    def name_at(self, q: Array) -> str:
        """The name of the event in a configuration (nq,)."""
        return self.name

    def crossings(self, before: Array, after: Array) -> Array:
        """Whether the event lies between two samples; a start on zero does not count."""
        up, down = (before < 0) & (after >= 0), (before > 0) & (after <= 0)
        return np.asarray({1: up, -1: down, 0: up | down}[self.direction])


@dataclass(frozen=True)
class EventRecord:
    """An event of a motion: its name, its time, its row of the batch, and the state then."""

    name: str
    t: float
    row: tuple[int, ...]
    q: Array
    qd: Array


def as_events(events: Any) -> tuple[Event, ...]:
    """Events from one, a function, or a list of them."""
    if events is None:
        return ()
    items: Sequence[Any] = events if isinstance(events, (list, tuple)) else [events]
    return tuple(item if isinstance(item, Event) else Event(item) for item in items)


def find_root(function: Callable[[float], float], low: float, high: float) -> float:
    """The first point, to rounding, at which a function that is negative at `low` is no longer negative."""
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


# --- among the samples of a motion with fixed steps ---


class RecordedMotion(Protocol):
    """A motion under way, recorded at every step."""

    t: Array
    count: int
    """The number of samples so far."""

    def states(self) -> tuple[Array, Array]:
        """q (rows, count, nq) and qd (rows, count, nv) of all samples."""

    def partial_step(self, row: int, sample: int, share: float) -> Array:
        """The state (1, size) of one row, a share of a step after a sample."""

    def split(self, state: Array) -> tuple[Array, Array]:
        """q and qd of a state."""

    def index_of(self, row: int) -> tuple[int, ...]:
        """The place of a row in the batch."""

    def end_row(self, sample: int, t: float, state: Array) -> None:
        """End the motion of a row in the step after a sample, at the time t in this state."""


class EventSearch:
    """The search for events among samples, as they come in."""

    def __init__(self, events: Sequence[Event], rows: int) -> None:
        self.events = events
        self.records: list[EventRecord] = []
        self.has_stopped = np.zeros(rows, dtype=bool)
        """Rows that a terminal event has stopped."""
        self.stop_times = np.full(rows, np.inf)
        self._values: list[Array] = []
        """The function of each event on all samples so far: (rows, samples)."""

    @property
    def all_stopped(self) -> bool:
        """Whether every row has had a terminal event."""
        return bool(self.events) and bool(self.has_stopped.all())

    def look(self, samples: RecordedMotion) -> None:
        """Find the events among the samples that have come in since the last look."""
        if not self.events or not samples.count:
            return
        first = max(self._evaluate(samples) - 1, 0)
        crossings = []
        for k, event in enumerate(self.events):
            values = self._values[k][:, first:]
            crossed = event.crossings(values[:, :-1], values[:, 1:])
            crossings += [(int(sample) + first, int(row), k) for row, sample in np.argwhere(crossed)]
        for (sample, row), together in groupby(sorted(crossings), key=lambda each: each[:2]):
            if self.has_stopped[row]:
                continue
            for share, k in sorted((self._share(samples, sample, row, k), k) for *_, k in together):
                if not self.has_stopped[row]:
                    self._record(samples, sample, share, row, k)

    def _evaluate(self, samples: RecordedMotion) -> int:
        """Evaluate the functions on new samples; the number of samples that they were known for."""
        q, v = samples.states()
        known = len(self._values[0][0]) if self._values else 0
        for k, event in enumerate(self.events):
            t = np.broadcast_to(samples.t[known : samples.count], q[:, known:].shape[:2])
            values = event.values(t, q[:, known:], v[:, known:])
            if known:
                self._values[k] = np.concatenate([self._values[k], values], axis=1)
            else:
                self._values.append(values)
        return known

    def _share(self, samples: RecordedMotion, sample: int, row: int, k: int) -> float:
        """The share of the step after a sample at which an event lies."""
        event, start, width = self.events[k], samples.t[sample], samples.t[sample + 1] - samples.t[sample]

        def value(share: float) -> float:
            q, v = samples.split(samples.partial_step(row, sample, share))
            return float(event.values(np.array([start + share * width]), q, v)[0])

        sign = -1.0 if value(0.0) > 0 else 1.0
        return find_root(lambda s: sign * value(s), 0.0, 1.0)

    def _record(self, samples: RecordedMotion, sample: int, share: float, row: int, k: int) -> None:
        """Note an event, and end the row if it is terminal."""
        event = self.events[k]
        at = samples.t[sample] + share * (samples.t[sample + 1] - samples.t[sample])
        state = samples.partial_step(row, sample, share)
        q, v = samples.split(state)
        self.records.append(
            EventRecord(event.name_at(q[0]), float(at), samples.index_of(row), q[0].copy(), v[0].copy())
        )
        if event.terminal:
            self.has_stopped[row] = True
            self.stop_times[row] = at
            samples.end_row(sample, at, state)
