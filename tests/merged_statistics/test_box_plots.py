import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainrule as cr


@given(st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=300))
def test_whiskers_and_quartiles_are_in_order_within_the_extremes(values):
    x = np.array(values)
    box = cr.Statistics.of(x).box_plot()
    assert x.min() <= box.low <= box.high <= x.max()
    assert x.min() <= box.q1 <= box.median <= box.q3 <= x.max()


def test_quartiles_whiskers_and_outliers_are_those_of_a_box_plot():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(size=20_000), [9.0, -11.0, 12.5]])
    box = cr.Statistics.of(x).box_plot()
    q1, median, q3 = np.quantile(x, [0.25, 0.5, 0.75])
    np.testing.assert_allclose((box.q1, box.median, box.q3), (q1, median, q3), atol=2e-3)
    inside = x[(x >= q1 - 1.5 * (q3 - q1)) & (x <= q3 + 1.5 * (q3 - q1))]
    np.testing.assert_allclose((box.low, box.high), (inside.min(), inside.max()), rtol=0.008)
    assert box.outlier_count == pytest.approx(len(x) - len(inside), abs=5)
    assert {-11.0, 12.5} <= set(box.outliers.tolist())
    assert len(box.outliers) <= 128


def test_the_quartiles_of_samples_that_differ_little_differ():
    x = np.random.default_rng(2).uniform(1.5, 1.502, 10_000)
    box = cr.Statistics.of(x).box_plot()
    np.testing.assert_allclose((box.q1, box.median, box.q3), np.quantile(x, [0.25, 0.5, 0.75]), atol=1e-4)
    assert (box.low, box.high, box.outlier_count) == (x.min(), x.max(), 0)


def test_a_box_plot_is_of_one_column_with_numbers():
    with pytest.raises(cr.ShapeError, match=r"a box plot is of one column, and there are \(2,\)"):
        cr.Statistics.of(np.ones((3, 2))).box_plot()
    with pytest.raises(cr.ShapeError, match="no number of which to make a box plot"):
        cr.Statistics.of(np.array([np.nan])).box_plot()
