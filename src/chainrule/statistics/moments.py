"""Moments, extremes and bins of the columns of an array, block by block, so that it is read from memory once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.compile.column_moments import column_moments
from chainrule.statistics import log_bins
from chainrule.statistics.log_bins import BinCounts

BLOCK_ROWS = 8192
"""Rows whose moments are taken at once."""

GROUP = 16
"""Columns that are looked at together."""


class Moments(NamedTuple):
    """Moments and extremes of finite numbers, one of each for every column."""

    samples: NDArray[np.int64]
    """Their number."""
    mean: Array
    squares: Array
    """The sum of squared distances from the mean."""
    low: Array
    low_row: NDArray[np.int64]
    """The number of the row, -1 where a column is empty."""
    high: Array
    high_row: NDArray[np.int64]


def moments_and_bins(columns: Array, numbers: NDArray[np.int64]) -> tuple[Moments, BinCounts]:
    """Those of columns (rows, columns) whose rows have these increasing numbers."""
    width = columns.shape[1]
    groups = [_of_group(columns[:, first : first + GROUP], numbers) for first in range(0, width, GROUP)]
    bins = BinCounts.side_by_side([bins for _, bins in groups], GROUP)
    return Moments(*(np.concatenate(x) for x in zip(_nothing(0), *(m for m, _ in groups), strict=True))), bins


def merged_moments(
    count: NDArray[np.int64],
    mean: Array,
    squares: Array,
    more: NDArray[np.int64],
    mean_more: Array,
    squares_more: Array,
) -> tuple[NDArray[np.int64], Array, Array]:
    """Counts, means and sums of squares of two sets of samples together (Chan, Golub and LeVeque 1979)."""
    total = count + more
    share = more / np.maximum(total, 1)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.where((count > 0) & (more > 0), mean_more - mean, 0.0)
        base = np.where(count > 0, mean, mean_more)
        return total, base + apart * share, squares + squares_more + apart**2 * count * share


def _of_group(columns: Array, numbers: NDArray[np.int64]) -> tuple[Moments, BinCounts]:
    """Those of a few columns: of many rows by machine code, of a few by sorting."""
    rows, width = columns.shape
    if rows < log_bins.DENSE_ROWS:
        bits = np.empty((width, rows), dtype=np.uint16)
        few = [_of_block(np.array(columns.T, dtype=float, order="C"), numbers, bits)] if rows else []
        return _of_blocks([_nothing(width), *few]), BinCounts.of_bits(bits)
    dense = np.zeros((width, log_bins.BINS), dtype=np.int64)
    blocks = []
    for start in range(0, rows, BLOCK_ROWS):
        block = columns[start : start + BLOCK_ROWS]
        if block.dtype != float or block.strides[1] != block.itemsize:
            block = np.ascontiguousarray(block, dtype=float)
        blocks.append(_of_dense_block(block, start, dense))
    return _with_rows(_of_blocks(blocks), columns, numbers), BinCounts.of_dense(dense)


def _of_dense_block(block: Array, start: int, dense: NDArray[np.int64]) -> Moments:
    """The moments of a block (rows, columns) whose rows are contiguous; `dense` counts its bins.

    The rows of its extremes are given by the row `start` that it begins with.
    """
    rows, width = block.shape
    passes, starts = column_moments(log_bins.DROPPED_BITS), np.full(width, start)
    mean = passes.totals(block) / rows
    if not np.isfinite(mean).all():
        bits = np.empty((width, rows), dtype=np.uint16)
        moments = _of_block(np.array(block.T, order="C"), np.full(rows, start), bits)
        for counts, own in zip(dense, bits, strict=True):
            counts += np.bincount(own, minlength=log_bins.BINS + 1)[: log_bins.BINS]
        return moments
    apart, squares, low, high = passes.scan(block, mean, dense)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.where(np.isfinite(squares), np.maximum(squares - apart**2 / rows, 0.0), squares)
    return Moments(np.full(width, rows), mean + apart / rows, spread, low, starts, high, starts)


def _with_rows(moments: Moments, columns: Array, numbers: NDArray[np.int64]) -> Moments:
    """Moments with the numbers of the rows of extremes in place of the first rows of their blocks."""
    found = []
    for values, starts in ((moments.low, moments.low_row), (moments.high, moments.high_row)):
        places = [
            int(start + (columns[start : start + BLOCK_ROWS, k] == value).argmax()) if start >= 0 else -1
            for k, (value, start) in enumerate(zip(values, starts, strict=True))
        ]
        found.append(np.array([-1 if place < 0 else numbers[place] for place in places], dtype=np.int64))
    return moments._replace(low_row=found[0], high_row=found[1])


def _nothing(width: int) -> Moments:
    """The moments of no rows."""
    none, nowhere, nan = np.zeros(width, dtype=np.int64), np.full(width, -1), np.full(width, np.nan)
    return Moments(none, nan, np.zeros(width), nan, nowhere, nan, nowhere)


def _of_block(block: Array, numbers: NDArray[np.int64], bits: NDArray[np.uint16]) -> Moments:
    """The moments of a block (columns, rows), which is overwritten; `bits` receives its bins."""
    width, rows = block.shape
    column = np.arange(width)
    bits[...] = log_bins.bits_of(block)
    with np.errstate(invalid="ignore", over="ignore"):
        total = block.sum(axis=1)
        if np.isfinite(total).all():
            low, high = block.argmin(axis=1), block.argmax(axis=1)
            ends = block[column, low], block[column, high]
            mean = total / rows
            block -= mean[:, None]
            squares = np.einsum("ij,ij->i", block, block)
            return Moments(np.full(width, rows), mean, squares, ends[0], numbers[low], ends[1], numbers[high])
        is_finite = np.isfinite(block)
        bits[~is_finite] = log_bins.NO_BIN
        count = is_finite.sum(axis=1)
        low = np.where(is_finite, block, np.inf).argmin(axis=1)
        high = np.where(is_finite, block, -np.inf).argmax(axis=1)
        values = [np.where(count > 0, block[column, place], np.nan) for place in (low, high)]
        places = [np.where(count > 0, numbers[place], -1) for place in (low, high)]
        mean = np.where(is_finite, block, 0.0).sum(axis=1) / count
        squares = (np.where(is_finite, block - mean[:, None], 0.0) ** 2).sum(axis=1)
    return Moments(count, mean, squares, values[0], places[0], values[1], places[1])


def _of_blocks(blocks: Sequence[Moments]) -> Moments:
    """The moments of blocks of the same columns, first to last; of equal extremes the first is kept."""
    count, means, squares, low, low_row, high, high_row = (np.stack(x) for x in zip(*blocks, strict=True))
    total, is_filled, column = count.sum(axis=0), count > 0, np.arange(count.shape[1])
    with np.errstate(invalid="ignore", over="ignore"):
        means = np.where(is_filled, means, 0.0)
        mean = (count / total * means).sum(axis=0)
        spread = (squares + np.where(is_filled, count * (means - mean) ** 2, 0.0)).sum(axis=0)
    lowest = np.where(is_filled, low, np.inf).argmin(axis=0), column
    highest = np.where(is_filled, high, -np.inf).argmax(axis=0), column
    return Moments(total, mean, spread, low[lowest], low_row[lowest], high[highest], high_row[highest])
