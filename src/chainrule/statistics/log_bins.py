"""Bins of equal relative width for numbers of any size and sign: counts that merge exactly, in any order.

A number's bin is the first bits of its float32: sign, exponent and six bits of the fraction, so that an octave has 64
bins. Nothing is rounded in a way that depends on the machine, and a column has 32,768 bins at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.errors import FormatError

Counts = NDArray[np.int64]

FRACTION_BITS = 6
DROPPED_BITS = 23 - FRACTION_BITS
"""Bits of a float32 that its bin leaves out."""

SIZES = 1 << (8 + FRACTION_BITS)
"""Bins of one sign."""

BINS = 2 * SIZES
"""Bins of a column, from the most negative to the most positive."""

ACCURACY = 1 / (2 * 2**FRACTION_BITS + 1)
"""The largest relative error of a bin's middle: 0.8 percent, for magnitudes from 1.2e-38 to 3.4e38."""

NO_BIN = BINS
"""What stands in the place of a bin for a number that is not finite."""

DENSE_ROWS = 8192
"""From so many rows on, a column is counted in an array of all bins; fewer are sorted."""


class BinCounts(NamedTuple):
    """Non-empty bins of several columns, sorted, and the number of values in each."""

    places: Counts
    """Column times BINS plus bin."""
    counts: Counts

    @staticmethod
    def of_dense(dense: Counts) -> BinCounts:
        """Counts (columns, BINS) by the bits of the values."""
        ordered = np.concatenate([dense[:, : SIZES - 1 : -1], dense[:, :SIZES]], axis=1).ravel()
        filled = np.flatnonzero(ordered > 0)
        return BinCounts(filled, ordered[filled])

    @staticmethod
    def of_bits(bits: NDArray[np.uint16]) -> BinCounts:
        """Counts of values (columns, rows) by their bits, with NO_BIN for those that are left out."""
        ranked = (np.sort(bits, axis=1) + (2 * BINS * np.arange(len(bits), dtype=np.int64))[:, None]).ravel()
        starts = np.flatnonzero(np.diff(ranked, prepend=-1) > 0)
        column, size = np.divmod(ranked[starts], 2 * BINS)
        places = column * BINS + np.where(size >= SIZES, BINS - 1 - size, size + SIZES)
        counts = np.diff(starts, append=len(ranked))
        kept = np.flatnonzero(size != NO_BIN)
        order = kept[places[kept].argsort(kind="stable")]
        return BinCounts(places[order], counts[order])

    @staticmethod
    def side_by_side(parts: Sequence[BinCounts], width: int) -> BinCounts:
        """The counts of groups of columns, each of `width` columns but the last."""
        none = np.zeros(0, dtype=np.int64)
        places = [part.places + k * width * BINS for k, part in enumerate(parts)]
        return BinCounts(np.concatenate([none, *places]), np.concatenate([none, *(part.counts for part in parts)]))

    def merge(self, other: BinCounts) -> BinCounts:
        """The counts of both."""
        places, counts = np.concatenate([self.places, other.places]), np.concatenate([self.counts, other.counts])
        order = places.argsort(kind="stable")  # fast where both parts are sorted
        places, totals = places[order], np.append(0, counts[order].cumsum())
        starts = np.flatnonzero(np.diff(places, prepend=-1) > 0)
        return BinCounts(places[starts], np.diff(totals[np.append(starts, len(places))]))

    def check(self, count: Counts) -> None:
        """An error where these are not the bins of columns with so many values each."""
        places, counts, size = self.places, self.counts, len(count)
        if places.shape != counts.shape or (np.diff(places) <= 0).any() or (counts <= 0).any():
            raise FormatError("statistics: the bins are not in order")
        if len(places) and (places[0] < 0 or places[-1] >= size * BINS):
            raise FormatError("statistics: the bins are not those of these columns")
        held = np.zeros(size, dtype=np.int64)
        np.add.at(held, places // BINS, counts)
        if (held != count).any():
            raise FormatError("statistics: the bins do not hold as many numbers as the columns")

    def column(self, number: int) -> BinCounts:
        """The bins of one column, as if it were the only one."""
        first, last = np.searchsorted(self.places, [number * BINS, (number + 1) * BINS])
        return BinCounts(self.places[first:last] - number * BINS, self.counts[first:last])


def bits_of(values: Array) -> NDArray[np.uint32]:
    """The bits that decide the bin of each finite number."""
    with np.errstate(over="ignore"):  # numbers beyond float32 share the outermost bin
        bits: NDArray[np.uint32] = values.astype(np.float32).view(np.uint32)
    bits >>= DROPPED_BITS
    return bits


def edges(places: Counts) -> tuple[Array, Array]:
    """The lower and the upper edge of bins of one column."""
    is_positive = places >= SIZES
    size = np.where(is_positive, places - SIZES, SIZES - 1 - places)
    near, far = _magnitude(size), _magnitude(size + 1)
    return np.where(is_positive, near, -far), np.where(is_positive, far, -near)


def middles(places: Counts) -> Array:
    """The number in each bin that is nearest, relative to their size, to all numbers of it."""
    low, high = edges(places)
    near, far = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
    return np.where(places >= SIZES, 1.0, -1.0) * near * (2 / (1 + near / far))


def _magnitude(size: Counts) -> Array:
    """The smallest magnitude of a bin, by its bits without the sign. Beyond float32 there is one more, of the rest."""
    with np.errstate(invalid="ignore"):
        magnitude = (size.astype(np.uint32) << DROPPED_BITS).view(np.float32).astype(np.float64)
    return np.nan_to_num(magnitude, nan=np.finfo(float).max, posinf=2.0**128)


def counts_below(limits: Array, bins: BinCounts, least: float, most: float) -> Array:
    """The samples below each limit, where those of a bin are spread evenly in it, from the least sample to the most."""
    x, reached = _spread_evenly(bins, least, most)
    return np.interp(limits, x, reached)


def numbers_above(counts: Array, bins: BinCounts, least: float, most: float) -> Array:
    """The numbers below which there are so many samples, where those of a bin are spread evenly in it."""
    x, reached = _spread_evenly(bins, least, most)
    return np.interp(counts, reached, np.minimum(x, most))


def _spread_evenly(bins: BinCounts, least: float, most: float) -> tuple[Array, Array]:
    """Both ends of each bin, none beyond the least and the largest sample, and the samples below each end."""
    low, high = edges(bins.places)
    starts = np.maximum(low, least)
    ends = np.maximum(np.minimum(high, most), np.nextafter(starts, np.inf))
    reached = bins.counts.cumsum()
    x = np.stack([starts, ends], axis=1).ravel()
    return x, np.stack([reached - bins.counts, reached], axis=1).ravel().astype(float)
