"""Distributions of samples: quartiles, whiskers and outliers as a box plot draws them, and their union."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, number
from chainrule.errors import ShapeError

SKETCH = 1025
"""Equally spaced quantiles that stand for the samples of a distribution when several are joined: an error of a
thousandth of the samples at most."""

WHISKER = 1.5
"""Whiskers reach to the last sample within so many interquartile ranges of the box (Tukey)."""

MAX_OUTLIERS = 64
"""Outliers that are kept, spread evenly over all of them."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """A set of samples, by its quantiles and moments."""

    count: int
    mean: float
    rms: float
    sketch: Array
    """Quantiles (SKETCH,) from the smallest sample to the largest."""
    whiskers: tuple[float, float]
    """The outermost samples within 1.5 interquartile ranges of the quartiles."""
    outliers: Array
    """Some of the samples beyond the whiskers, the extreme ones among them."""
    outlier_count: int

    @staticmethod
    def of(
        samples: NDArray[np.float32], count: int, total: float, squares: float, low: float, high: float
    ) -> Distribution:
        """The distribution of finite samples (N,), which are sorted in place, and stand for `count` in all.

        total, squares, low and high are the sum of all, the sum of their squares, and their extremes.
        """
        samples.sort()
        sketch = _between(samples, np.linspace(0, len(samples) - 1, SKETCH))
        sketch[0], sketch[-1] = low, high
        fences = _fences(sketch)
        first, last = np.searchsorted(samples, fences[0], "left"), np.searchsorted(samples, fences[1], "right")
        whiskers = (float(samples[first]), float(samples[last - 1]))
        return Distribution(
            count,
            total / count,
            float(np.sqrt(squares / count)),
            sketch,
            whiskers,
            np.concatenate([_some(samples[:first]), _some(samples[last:])]),
            round((first + len(samples) - last) * count / len(samples)),
        )

    @staticmethod
    def union(parts: Sequence[Distribution]) -> Distribution:
        """All samples of several distributions together; quantiles to a thousandth of the samples."""
        count = sum(part.count for part in parts)
        weights = np.concatenate([np.full(SKETCH, part.count / SKETCH) for part in parts])
        values = np.concatenate([part.sketch for part in parts])
        order = values.argsort(kind="stable")
        values, weights = values[order], weights[order]
        reached = weights.cumsum()
        sketch = np.interp(np.linspace(0, count, SKETCH), reached - weights / 2, values)
        low, high = _fences(sketch)
        inside = (values >= low) & (values <= high)
        kept = np.sort(np.concatenate([part.outliers for part in parts]))
        return Distribution(
            count,
            sum(part.mean * part.count for part in parts) / count,
            float(np.sqrt(sum(part.rms**2 * part.count for part in parts) / count)),
            sketch,
            (float(values[inside][0]), float(values[inside][-1])),
            np.concatenate([_some(kept[kept < low]), _some(kept[kept > high])]),
            round(float(weights[~inside].sum())),
        )

    def times(self, factor: float) -> Distribution:
        """The distribution in another unit, which is this many times smaller."""
        return Distribution(
            self.count,
            self.mean * factor,
            self.rms * factor,
            self.sketch * factor,
            (self.whiskers[0] * factor, self.whiskers[1] * factor),
            self.outliers * factor,
            self.outlier_count,
        )

    def quantile(self, share: float) -> float:
        """The value that this share of the samples, from 0 to 1, does not exceed."""
        if not 0 <= number(share, "quantile") <= 1:
            raise ShapeError(f"a quantile is that of a share from 0 to 1, got {share:g}")
        return float(_between(self.sketch, np.array([share * (SKETCH - 1)]))[0])

    @property
    def minimum(self) -> float:
        """The smallest sample."""
        return float(self.sketch[0])

    @property
    def maximum(self) -> float:
        """The largest sample."""
        return float(self.sketch[-1])

    @property
    def peak(self) -> float:
        """The largest magnitude."""
        return max(abs(self.minimum), abs(self.maximum))

    @property
    def median(self) -> float:
        """The middle sample."""
        return self.quantile(0.5)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The lower and the upper one."""
        return self.quantile(0.25), self.quantile(0.75)


def _fences(sketch: Array) -> tuple[float, float]:
    """The values beyond which a sample is an outlier."""
    q1, q3 = _between(sketch, np.array([0.25, 0.75]) * (len(sketch) - 1))
    reach = WHISKER * (q3 - q1)
    return float(q1 - reach), float(q3 + reach)


def _between(ordered: NDArray[np.floating], places: Array) -> Array:
    """Values at places that need not be whole, by linear interpolation."""
    below = np.minimum(places.astype(int), len(ordered) - 1)
    above = np.minimum(below + 1, len(ordered) - 1)
    low = ordered[below].astype(float)
    return low + (places - below) * (ordered[above] - low)


def _some(ordered: NDArray[np.floating], most: int = MAX_OUTLIERS) -> Array:
    """At most so many of sorted values, spread evenly, with both ends."""
    if len(ordered) <= most:
        return ordered.astype(float)
    return ordered[np.linspace(0, len(ordered) - 1, most).round().astype(int)].astype(float)
