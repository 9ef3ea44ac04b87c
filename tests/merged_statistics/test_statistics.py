"""Statistics of columns: as NumPy has them, and the same whatever the parts were."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule.statistics import log_bins, moments
from chainrule.statistics.statistics import ACCURACY

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e30, max_value=1e30, allow_subnormal=False),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0]),
)
ANY_NUMBERS = st.one_of(NUMBERS, st.sampled_from([np.nan, np.inf, -np.inf]))


def tables(numbers, width=3):
    rows = st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=1, max_size=12)
    return rows.map(lambda x: np.array(x).reshape(-1, width))


def exact_parts(statistics):
    """All arrays that must not depend on how the rows were divided."""
    return {name: x for name, x in statistics.arrays().items() if name not in ("mean", "squares")}


def assert_equal(one, other):
    for name, array in exact_parts(one).items():
        np.testing.assert_array_equal(array, exact_parts(other)[name], err_msg=name)
    size = np.nan_to_num(np.maximum(np.abs(one.minimum), np.abs(one.maximum)))
    np.testing.assert_array_less(np.nan_to_num(np.abs(one.mean - other.mean)), 1e-12 * size + 1e-300)
    np.testing.assert_array_less(np.abs(one.squares - other.squares), 1e-12 * one.count * size**2 + 1e-300)


@given(tables(NUMBERS))
def test_numpy_agrees(x):
    before = x.copy()
    found = cr.Statistics.of(x)
    np.testing.assert_array_equal(x, before)
    size = np.abs(x).max(axis=0)
    np.testing.assert_allclose(found.mean, x.mean(axis=0), atol=1e-14 * size.max() + 1e-300)
    np.testing.assert_array_less(np.abs(found.std - x.std(axis=0)), 1e-13 * size + 1e-150)
    np.testing.assert_allclose(found.rms, np.sqrt((x / 2**20 * x * 2**20).mean(axis=0)), rtol=1e-12, atol=1e-150)
    np.testing.assert_array_equal(found.minimum, x.min(axis=0))
    np.testing.assert_array_equal(found.maximum_row, x.argmax(axis=0))
    np.testing.assert_array_equal(found.minimum_row, x.argmin(axis=0))
    shares = [0.0, 0.1, 0.5, 0.77, 1.0]
    expected = np.quantile(x, shares, axis=0, method="lower")
    np.testing.assert_array_less(
        np.abs(found.quantile(shares) - expected), ACCURACY * 1.0001 * np.abs(expected) + 1e-37
    )
    np.testing.assert_array_equal(found.quantile([0, 1]), [x.min(axis=0), x.max(axis=0)])


@given(tables(ANY_NUMBERS), st.data())
def test_parts_in_any_order_are_the_whole(x, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(x)), max_size=6)))
    bounds = [0, *cuts, len(x)]
    parts = [cr.Statistics.of(x[a:b], where=a) for a, b in itertools.pairwise(bounds)]
    shuffled = data.draw(st.permutations(parts))
    one_by_one = shuffled[0]
    for part in shuffled[1:]:
        one_by_one = one_by_one.merge(part)
    whole = cr.Statistics.of(x)
    assert_equal(whole, one_by_one)
    assert_equal(whole, cr.Statistics.union(shuffled))
    np.testing.assert_array_equal(whole.quantile([0.3, 0.5]), one_by_one.quantile([0.3, 0.5]))


@given(tables(ANY_NUMBERS), st.randoms())
def test_the_order_of_rows_does_not_matter(x, random):
    order = list(range(len(x)))
    random.shuffle(order)
    assert_equal(cr.Statistics.of(x), cr.Statistics.of(x[order], where=order))


@settings(max_examples=5)
@given(st.integers(3 * moments.BLOCK_ROWS - 2, 3 * moments.BLOCK_ROWS + 2), st.integers(0, 2**32 - 1))
def test_many_rows_are_counted_in_blocks(rows, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(1e3, 1.0, (rows, 2)) * [1.0, -1e-9]
    x[rng.integers(0, rows, 5), 1] = np.nan
    few = log_bins.DENSE_ROWS // 2
    parts = [cr.Statistics.of(x[a : a + few], where=a) for a in range(0, rows, few)]
    whole = cr.Statistics.of(x)
    assert_equal(whole, cr.Statistics.union(parts))
    np.testing.assert_allclose(whole.std, np.nanstd(x, axis=0), rtol=1e-12)
    np.testing.assert_allclose(whole.mean, np.nanmean(x, axis=0), rtol=1e-13)


@pytest.mark.parametrize("form", ["float32", "columns apart", "rows backwards", "one column", "nan in a block"])
def test_many_rows_in_any_layout_are_as_numpy_has_them(form):
    x = np.random.default_rng(7).normal(3.0, 2.0, (2 * moments.BLOCK_ROWS + 5, 20))
    x = {
        "float32": x.astype(np.float32), "columns apart": np.asfortranarray(x)[:, ::2], "rows backwards": x[::-1, 1:],
        "one column": x[:, :1], "nan in a block": np.where(x == x[5, 3], np.nan, x),
    }[form]  # fmt: skip
    found = cr.Statistics.of(x)
    np.testing.assert_array_equal(found.minimum, np.nanmin(x, axis=0))
    np.testing.assert_array_equal(found.minimum_row, np.nanargmin(x, axis=0))
    np.testing.assert_array_equal(found.maximum_row, np.nanargmax(x, axis=0))
    np.testing.assert_allclose(found.mean, np.nanmean(x.astype(float), axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.std, np.nanstd(x.astype(float), axis=0), rtol=1e-12)
    few = log_bins.DENSE_ROWS - 1
    assert_equal(found, cr.Statistics.union([cr.Statistics.of(x[a : a + few], a) for a in range(0, len(x), few)]))


def test_a_large_mean_does_not_cost_the_deviation_its_digits():
    x = 1e9 + np.random.default_rng(0).normal(0, 1e-3, (50_000, 1))
    parts = cr.Statistics.union([cr.Statistics.of(part) for part in np.array_split(x, 37)])
    np.testing.assert_allclose(parts.std, (x - 1e9).std(axis=0), rtol=1e-6)


def test_columns_of_any_shape_and_many_of_them():
    x = np.random.default_rng(1).normal(size=(100, 7, 5, 3))
    found = cr.Statistics.of(x, names=["a", "b", "c"])
    assert found.shape == (7, 5, 3) == found.median.shape == found.maximum_row.shape
    assert found.quantile([0.1, 0.2]).shape == (2, 7, 5, 3)
    assert found.quantile([[0.1]]).shape == (1, 1, 7, 5, 3)
    np.testing.assert_array_equal(found.maximum, x.max(axis=0))
    assert_equal(found[3, 1], cr.Statistics.of(x[:, 3, 1], names=["a", "b", "c"]))
    assert_equal(found["b"], cr.Statistics.of(x[..., 1]))
    assert_equal(found[..., ::-1], cr.Statistics.of(x[..., ::-1], names=["c", "b", "a"]))
    assert found[3, 1, 2].shape == ()
    assert found[3, 1, 2].minimum == x[:, 3, 1, 2].min()
    numbers = cr.Statistics.of(x[:, 0, 0, 0])
    assert numbers.shape == ()
    assert repr(numbers).startswith("<Statistics of 100 numbers: mean")
    assert repr(found) == "<Statistics of columns (7, 5, 3) (a, b, c): 100 rows>"


def test_numbers_that_are_not_finite_are_counted_and_left_out():
    x = np.array([[1.0, np.nan], [np.inf, np.nan], [3.0, -np.inf], [1e300, np.nan]])
    found = cr.Statistics.of(x)
    assert found.nonfinite.tolist() == [1, 4]
    assert found.count.tolist() == [3, 0]
    assert found.maximum[0] == 1e300
    assert found.maximum_row.tolist() == [3, -1]
    assert found.quantile(0.4)[0] == 1.0
    assert np.isnan([found.mean[1], found.std[1], found.minimum[1], found.median[1]]).all()
    assert "5 not finite" in repr(found)
    assert found.merge(cr.Statistics.of(np.full((1, 2), 7.0), where=9)).maximum_row.tolist() == [3, 9]


def test_no_rows_at_all_change_nothing():
    none, some = cr.Statistics.of(np.zeros((0, 2))), cr.Statistics.of(np.arange(6.0).reshape(3, 2))
    for found in (none.merge(some), some.merge(none)):
        assert_equal(found, some)
        assert found.mean.tolist() == some.mean.tolist()
    assert none.count.tolist() == [0, 0]
    assert np.isnan(none.mean).all()
    assert cr.Statistics.of(np.zeros((4, 0))).shape == (0,)


def test_single_precision_and_whole_numbers_are_exact():
    x = np.random.default_rng(2).normal(size=(500, 2)).astype(np.float32)
    found = cr.Statistics.of(x)
    assert found.mean.dtype == float
    assert found.maximum.tolist() == x.max(axis=0).astype(float).tolist()
    np.testing.assert_allclose(found.mean, x.astype(float).mean(axis=0), rtol=1e-12)
    assert cr.Statistics.of(np.arange(11)).mean == 5.0


def test_extremes_say_where_they_are_and_the_first_of_equal_ones_counts():
    a = cr.Statistics.of([[1.0], [5.0], [5.0]], where=[7, 12, 3], label="b.parquet")
    assert a.maximum_row.tolist() == [3]
    assert a.maximum_label.tolist() == ["b.parquet"]
    b = cr.Statistics.of([[5.0], [0.0]], where=100, label="a.parquet")
    for both in (a.merge(b), b.merge(a)):
        assert (both.maximum_label[0], both.maximum_row[0]) == ("a.parquet", 100)
        assert (both.minimum_label[0], both.minimum_row[0]) == ("a.parquet", 101)


def test_bins_are_bounded_and_their_middles_accurate():
    places = np.arange(log_bins.SIZES + 64, log_bins.BINS - 64)
    low, high = log_bins.edges(places)
    middle = log_bins.middles(places)
    assert (high[:-1] == low[1:]).all()
    assert np.abs(middle / low - 1).max() <= ACCURACY * (1 + 1e-12) < 0.01
    assert np.abs(middle / high - 1).max() <= ACCURACY * (1 + 1e-12)
    np.testing.assert_array_equal(log_bins.middles(log_bins.BINS - 1 - places), -middle)
    wide = cr.Statistics.of(10.0 ** np.random.default_rng(0).uniform(-300, 300, 100_000))
    assert len(wide.bins.places) <= log_bins.BINS
    assert wide.bins.counts.sum() == 100_000
    assert wide.quantile(0.999) > 2.0**128


def test_a_histogram_counts_samples_between_edges():
    x = np.random.default_rng(3).normal(2.0, 1.0, 20_000)
    found = cr.Statistics.of(x)
    counts, edges = found.histogram(20)
    expected, same = np.histogram(x, 20)
    np.testing.assert_allclose(edges, same)
    assert abs(counts.sum() - 20_000) < 1e-6
    assert np.abs(counts - expected).max() < 0.02 * 20_000
    assert len(found.histogram()[0]) == 40
    inside, _ = found.histogram([0.0, 1.0, 4.0])
    np.testing.assert_allclose(inside, np.histogram(x, [0.0, 1.0, 4.0])[0], rtol=0.02)
    constant = cr.Statistics.of(np.full(5, 3.0))
    assert constant.histogram(1)[0].tolist() == [5.0] == constant.histogram([2.0, 3.0])[0].tolist()


def test_a_table_of_pandas():
    pytest.importorskip("pandas")
    x = np.random.default_rng(4).normal(size=(200, 2, 2))
    table = cr.Statistics.of(x, names=["hip", "knee"]).to_pandas(quantiles=(0.25,))
    assert list(table.index) == [(0, "hip"), (0, "knee"), (1, "hip"), (1, "knee")]
    np.testing.assert_allclose(table["mean"], x.mean(axis=0).ravel(), atol=1e-15)
    assert "0.25" in table
    assert "maximum_label" not in table
    assert cr.Statistics.of(x[:, 0], label="f").to_pandas()["minimum_label"].tolist() == ["f", "f"]


def test_files_hold_plain_arrays(tmp_path):
    x = np.random.default_rng(5).normal(size=(300, 2))
    x[3, 0] = np.nan
    found = cr.Statistics.of(x, label="walk é.parquet", names=["hip", "knee"])
    found.save(tmp_path / "s.npz")
    with np.load(tmp_path / "s.npz", allow_pickle=False) as stored:
        assert set(stored.files) == {*found.arrays(), "format"}
    again = cr.Statistics.load(tmp_path / "s.npz")
    assert again.names == ("hip", "knee")
    for name, array in found.arrays().items():
        np.testing.assert_array_equal(array, again.arrays()[name])
    text = json.dumps({name: x.tolist() for name, x in found.arrays().items()})
    arrays = {name: np.array(x) for name, x in json.loads(text).items()}
    assert_equal(cr.Statistics.from_arrays(arrays), found)


def test_damaged_files_are_refused(tmp_path):
    arrays = cr.Statistics.of(np.arange(10.0).reshape(5, 2)).arrays()
    for changed, match in (
        ({"mean": np.zeros(3)}, "mean of type float64 and shape"),
        ({"count": np.array([5, 6])}, "as many numbers"),
        ({"bin_places": arrays["bin_places"][::-1]}, "not in order"),
        ({"bin_places": arrays["bin_places"] + 10**6}, "not those of these columns"),
    ):
        with pytest.raises(cr.FormatError, match=match):
            cr.Statistics.from_arrays({**arrays, **changed})
    path = tmp_path / "s.npz"
    with pytest.raises(cr.FormatError, match="there is no file"):
        cr.Statistics.load(path)
    path.write_bytes(b"PK nothing")
    with pytest.raises(cr.FormatError, match="not a file of statistics that chainrule wrote, or it is damaged"):
        cr.Statistics.load(path)
    np.savez(path, format=np.array("something else"))
    with pytest.raises(cr.FormatError, match="holds no statistics that chainrule wrote"):
        cr.Statistics.load(path)
    with pytest.raises(cr.ShapeError, match="are kept in"):
        cr.Statistics.load(tmp_path / "s.json")
    with pytest.raises(cr.FormatError, match="cannot be written"):
        cr.Statistics.of([1.0]).save(tmp_path / "missing" / "s.npz")


def test_what_makes_no_sense_is_refused():
    x = np.zeros((4, 2))
    found = cr.Statistics.of(x)
    for call, match in (
        (lambda: cr.Statistics.of(3.0), "got a single number"),
        (lambda: cr.Statistics.of(["a"]), "must be real numbers"),
        (lambda: cr.Statistics.of(x, where=[0, 1]), "where must be 4 whole numbers"),
        (lambda: cr.Statistics.of(x, where=-1), "not negative"),
        (lambda: cr.Statistics.of(x, where=0.5), "where must be 4 whole numbers"),
        (lambda: cr.Statistics.of(x, label=3), "label must be a string"),
        (lambda: cr.Statistics.of(x, names=["a"]), "1 names for columns"),
        (lambda: cr.Statistics.union([]), "at least one part"),
        (lambda: found.merge(x), "takes other Statistics"),
        (lambda: found.merge(cr.Statistics.of(x[:, 0])), r"columns \(2,\) without names cannot be merged with columns"),
        (lambda: found.merge(cr.Statistics.of(x, names=["a", "b"])), r"cannot be merged with columns \(2,\) \(a, b\)"),
        (lambda: found.quantile(1.5), "a share from 0 to 1"),
        (lambda: found.quantile(np.nan), "a share from 0 to 1"),
        (found.histogram, "a histogram is of one column"),
        (lambda: cr.Statistics.of(np.full(3, np.nan)).histogram(), "no number of which"),
        (lambda: found[0].histogram([1.0, 0.0]), "increasing numbers"),
        (lambda: found[0].histogram(0), "at least 1"),
        (lambda: found[5], "is no place in columns"),
    ):
        with pytest.raises(cr.ShapeError, match=match):
            call()
    with pytest.raises(cr.UnknownNameError, match="column"):
        cr.Statistics.of(x, names=["a", "b"])["c"]
