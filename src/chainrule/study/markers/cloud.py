"""Markers: places of named points over time, and what looks wrong with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from chainrule.arguments import Array, real_array
from chainrule.errors import ShapeError, UnknownNameError, quoted
from chainrule.motion.times import MAX_TIME_S, SLOWEST_STEP_S

MAX_BODY_SPAN_M = 20.0
"""Markers on one body that move through a larger room are in another unit."""

MAX_PLACE_M = 1e9
"""Places farther away are none."""

MIN_BODY_SPAN_M = 0.02
"""Markers that are all nearer to each other than this are in another unit."""

JUMP_M, JUMP_RATIO = 0.05, 12.0
"""A step from one frame to the next is a jump if it exceeds both: a length, and so many times the median step."""


@dataclass(frozen=True, eq=False)
class Markers:
    """Places of points (T, M, 3) in m at the times t (T,) in s; nan where a marker was not seen."""

    names: tuple[str, ...]
    t: Array
    places: Array
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        t, places = real_array(self.t, "t", "s"), real_array(self.places, "places", "m")
        count = len(self.names)
        if t.ndim != 1 or places.shape != (len(t), count, 3):
            raise ShapeError(
                f"places of {count} markers at {t.size} times must be ({t.size}, {count}, 3), got {places.shape}"
            )
        if (np.abs(places) > MAX_PLACE_M).any():
            raise ShapeError(
                f"a place of a marker is {np.nanmax(np.abs(places)):g} m away; nan says that it was not seen"
            )
        twice = [name for name in dict.fromkeys(self.names) if self.names.count(name) > 1]
        if twice:
            raise ShapeError(f"two markers have the same name, {quoted(twice)}; rename one of them")
        if len(t) < 2 or not (np.abs(t) < MAX_TIME_S).all() or not (np.diff(t) > 0).all():
            raise ShapeError(f"times of markers must be at least two, increase, and be within {MAX_TIME_S:g} s")

    def __repr__(self) -> str:
        return f"<Markers: {len(self.names)} at {len(self.t)} times, {self.t[0]:g} to {self.t[-1]:g} s>"

    def of(self, name: str) -> Array:
        """The places of one marker (T, 3)."""
        if name not in self.names:
            raise UnknownNameError.of("marker", name, self.names, "the recording")
        return self.places[:, self.names.index(name)]

    def only(self, names: Iterable[str]) -> Markers:
        """Some of the markers."""
        chosen = tuple(names)
        return replace(self, names=chosen, places=np.stack([self.of(name) for name in chosen], axis=1))

    def findings(self) -> list[str]:
        """Sentences about what looks wrong: units, gaps, jumps, and markers that were taken for each other."""
        return [*self._wrong_unit(), *self._slow_times(), *self._gaps(), *self._swaps_and_jumps()]

    def _wrong_unit(self) -> list[str]:
        seen = self.places[np.isfinite(self.places).all(axis=-1)]
        if not len(seen):
            return ["no marker was ever seen"]
        span = float(np.ptp(seen, axis=0).max())
        if span > MAX_BODY_SPAN_M:
            return [f"markers move through {span:.3g} m: they look like millimeters; give unit='mm'"]
        if span < MIN_BODY_SPAN_M and len(self.names) > 1:
            return [f"all markers are within {span:.3g} m: their unit is not that of the file; give unit=..."]
        return []

    def _slow_times(self) -> list[str]:
        step = float(np.median(np.diff(self.t)))
        return [f"frames are {step:g} s apart: their times look like milliseconds"] if step >= SLOWEST_STEP_S else []

    def _gaps(self) -> list[str]:
        lines = []
        for name, seen in zip(self.names, np.asarray(np.isfinite(self.places).all(axis=-1)).T, strict=True):
            if not seen.any():
                lines.append(f"marker {name!r} was never seen")
            elif not seen.all():
                lines.append(f"marker {name!r} is missing in {np.count_nonzero(~seen)} of {len(seen)} frames")
        return lines

    def _swaps_and_jumps(self) -> list[str]:
        lines = []
        steps = np.linalg.norm(np.diff(self.places, axis=0), axis=-1)  # (T - 1, M)
        with np.errstate(invalid="ignore"):
            usual = np.nanmedian(steps) if np.isfinite(steps).any() else 0.0
            jumps = (steps > JUMP_M) & (steps > JUMP_RATIO * max(float(usual), 1e-9))
        swapped = np.zeros_like(jumps)
        for i, j in combinations(range(len(self.names)), 2):
            both = np.flatnonzero(jumps[:, i] & jumps[:, j])
            across = [
                np.linalg.norm(self.places[both + 1, a] - self.places[both, b], axis=-1) for a, b in ((i, j), (j, i))
            ]
            exchange = both[(across[0] < 0.3 * steps[both, i]) & (across[1] < 0.3 * steps[both, j])]
            if len(exchange):
                swapped[exchange, i] = swapped[exchange, j] = True
                when = ", ".join(f"{self.t[k + 1]:.3g}" for k in exchange[:5])
                lines.append(f"markers {self.names[i]!r} and {self.names[j]!r} seem to be exchanged at {when} s")
        for m, name in enumerate(self.names):
            places = np.flatnonzero(jumps[:, m] & ~swapped[:, m])
            if len(places):
                when = ", ".join(f"{self.t[k + 1]:.3g}" for k in places[:5])
                lines.append(f"marker {name!r} jumps by up to {steps[places, m].max():.3g} m, at {when} s")
        return lines
