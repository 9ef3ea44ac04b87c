"""Columns scanned by machine code: as NumPy has them, for any number of rows."""

import numpy as np
import pytest

from chainrule.compile.column_moments import ROWS_AT_ONCE, column_moments

DROPPED = 17


@pytest.mark.parametrize("rows", [1, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, 10 * ROWS_AT_ONCE + 3])
def test_sums_extremes_and_bins(rows):
    x = np.random.default_rng(rows).normal(2.0, 3.0, (rows, 9))[:, 1:6]
    passes, counts = column_moments(DROPPED), np.zeros((5, 1 << (32 - DROPPED)), dtype=np.int64)
    np.testing.assert_allclose(passes.totals(x), x.sum(axis=0), rtol=1e-13)
    mean = x.mean(axis=0)
    apart, squares, low, high = passes.scan(x, mean, counts)
    np.testing.assert_allclose(apart, 0.0, atol=1e-12)
    np.testing.assert_allclose(squares, ((x - mean) ** 2).sum(axis=0), rtol=1e-12, atol=1e-20)
    np.testing.assert_array_equal([low, high], [x.min(axis=0), x.max(axis=0)])
    bins = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32) >> DROPPED
    for column, own in zip(bins.T, counts, strict=True):
        np.testing.assert_array_equal(np.bincount(column, minlength=len(own)), own)
    assert column_moments(DROPPED) is passes
