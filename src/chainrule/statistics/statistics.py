"""Running statistics of columns, which merge: the same numbers whatever the parts were, and in whatever order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chainrule import arguments
from chainrule.arguments import Array, is_lazy, npz_path, number, real_array, whole_number, word
from chainrule.core.tables import data_frame
from chainrule.errors import FormatError, ShapeError, short_repr
from chainrule.formats.arrays import load_arrays, reading, save_arrays
from chainrule.statistics import log_bins
from chainrule.statistics.log_bins import BinCounts
from chainrule.statistics.moments import Moments, merged_moments, moments_and_bins

FORMAT = "chainrule statistics 1"
NPZ_RULE = "statistics are kept in .npz files"

ACCURACY = log_bins.ACCURACY
"""The largest relative error of a quantile: 0.8 percent."""

SHOWN_QUANTILES = (0.05, 0.5, 0.95)
"""Those in tables."""


WHISKER = 1.5
"""Whiskers reach to the last sample within so many interquartile ranges of the box (Tukey)."""

MAX_OUTLIERS = 64
"""Outliers on each side of a box that are told, spread evenly over all of them."""


class BoxPlot(NamedTuple):
    """The numbers that a box plot draws."""

    low: float
    """The end of the lower whisker: the least sample that is no outlier."""
    q1: float
    median: float
    q3: float
    high: float
    """The end of the upper whisker."""
    outliers: Array
    """Some of the samples beyond 1.5 interquartile ranges from the quartiles, the extreme ones among them."""
    outlier_count: int


class Extreme(NamedTuple):
    """The smallest or the largest number of each column, and the row that has it; -1 where a column is empty."""

    values: Array
    rows: NDArray[np.int64]
    labels: NDArray[Any]

    def merge(self, other: Extreme, sign: int) -> Extreme:
        """The smaller ones with sign +1, the larger ones with -1; of equal ones, the first by label and row."""
        mine, theirs = sign * self.values, sign * other.values
        is_earlier = (other.labels < self.labels) | ((other.labels == self.labels) & (other.rows < self.rows))
        better = (other.rows >= 0) & ((self.rows < 0) | (theirs < mine) | ((theirs == mine) & is_earlier))
        return Extreme(*(np.where(better, b, a) for a, b in zip(self, other, strict=True)))


@dataclass(frozen=True, eq=False)
class Statistics:
    """Count, mean, deviation, extremes and quantiles of the columns of an array; each attribute has a column's place.

    Parts of an array, made on several machines, merge to the statistics of the whole: counts, extremes and quantiles
    are exactly the same, means and deviations to rounding. A quantile is within 0.8 percent of the sample that it
    stands for. Numbers that are not finite are counted and left out.

    >>> import numpy as np, chainrule as cr
    >>> x = np.random.default_rng(0).normal(5.0, 2.0, (10_000, 3))
    >>> parts = [cr.Statistics.of(part, where=1000 * k) for k, part in enumerate(np.split(x, 10))]
    >>> whole = cr.Statistics.union(parts)
    >>> bool(abs(whole.mean - x.mean(axis=0)).max() < 1e-12), bool((whole.maximum_row == x.argmax(axis=0)).all())
    (True, True)
    >>> bool((abs(whole.quantile(0.9) / np.quantile(x, 0.9, axis=0) - 1) < 0.01).all())
    True
    """

    count: NDArray[np.int64]
    """Finite numbers of each column."""
    nonfinite: NDArray[np.int64]
    """Numbers that are nan or infinite."""
    mean: Array
    squares: Array
    """The sum of squared distances from the mean."""
    lowest: Extreme
    highest: Extreme
    bins: BinCounts
    names: tuple[str, ...] = ()
    """Names along the last dimension of the columns, if they have any."""

    # --- of an array, and of parts ---

    @staticmethod
    def of(
        values: ArrayLike, where: ArrayLike | None = None, *, label: str = "", names: Sequence[str] = ()
    ) -> Statistics:
        """The statistics of an array (rows, ...), a column for each place in the other dimensions.

        Parameters
        ----------
        values
            Numbers; nan and infinite ones are counted and left out. A Dask array is reduced chunk by chunk, now, by the
            scheduler that is in use.
        where
            The number of each row (rows,), not negative, or that of the first one; they count from 0 otherwise.
            Extremes say it: which run, or which sample.
        label
            What all rows belong to, such as a file. Extremes say it too.
        names
            Names along the last dimension.
        """
        if is_lazy(values):
            return _of_chunks(values, where, label, names)
        array = real_array(values, "statistics: values")
        if not array.ndim:
            raise ShapeError("statistics: values must be an array (rows, ...), got a single number")
        shape = array.shape[1:]
        known = arguments.names(names, "statistics: names")
        if known and (not shape or len(known) != shape[-1]):
            raise ShapeError(f"statistics: {len(known)} names for columns of shape {shape}; name the last dimension")
        numbers = _row_numbers(where, len(array))
        flat = array.reshape(len(array), int(np.prod(shape, dtype=int)))
        if where is not None and np.ndim(where) and (np.diff(numbers) < 0).any():
            order = numbers.argsort(kind="stable")
            numbers, flat = numbers[order], flat[order]
        moments, bins = moments_and_bins(flat, numbers)
        shaped: Any = [x.reshape(shape) for x in moments]
        of = Moments(*shaped)
        labels = np.full(shape, word(label, "statistics: label"))
        ends = Extreme(of.low, of.low_row, labels), Extreme(of.high, of.high_row, labels)
        return Statistics(of.samples, len(array) - of.samples, of.mean, of.squares, *ends, bins, known)

    @staticmethod
    def union(parts: Sequence[Statistics]) -> Statistics:
        """Those of all parts together, merged by pairs: errors of rounding grow with the logarithm of their number."""
        if not len(parts):
            raise ShapeError("statistics: a union needs at least one part")
        return _by_pairs(parts, Statistics.merge)

    def merge(self, other: Statistics) -> Statistics:
        """Those of both together, of columns of the same shape and names."""
        if not isinstance(other, Statistics):
            raise ShapeError(f"statistics: merge takes other Statistics, got {short_repr(other)}")
        if self.shape != other.shape or self.names != other.names:
            raise ShapeError(
                f"statistics: columns {self.shape} {_with_names(self.names)} cannot be merged with columns "
                f"{other.shape} {_with_names(other.names)}"
            )
        count, mean, squares = merged_moments(
            self.count, self.mean, self.squares, other.count, other.mean, other.squares
        )
        return Statistics(
            count,
            self.nonfinite + other.nonfinite,
            mean,
            squares,
            self.lowest.merge(other.lowest, 1),
            self.highest.merge(other.highest, -1),
            self.bins.merge(other.bins),
            self.names,
        )

    # --- what they say ---

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the columns."""
        return self.count.shape

    @property
    def variance(self) -> Array:
        """The mean squared distance from the mean; nan where a column is empty."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.squares / self.count)

    @property
    def std(self) -> Array:
        """Standard deviation, the root of the variance."""
        return np.sqrt(self.variance)

    @property
    def rms(self) -> Array:
        """The root of the mean square."""
        return np.hypot(self.mean, self.std)

    @property
    def minimum(self) -> Array:
        """The smallest number."""
        return self.lowest.values

    @property
    def maximum(self) -> Array:
        """The largest number."""
        return self.highest.values

    @property
    def minimum_row(self) -> NDArray[np.int64]:
        """The number of the row that has the smallest number, the first of several."""
        return self.lowest.rows

    @property
    def maximum_row(self) -> NDArray[np.int64]:
        """The number of the row that has the largest number, the first of several."""
        return self.highest.rows

    @property
    def minimum_label(self) -> NDArray[Any]:
        """The label of the row that has the smallest number."""
        return self.lowest.labels

    @property
    def maximum_label(self) -> NDArray[Any]:
        """The label of the row that has the largest number."""
        return self.highest.labels

    @property
    def peak(self) -> Array:
        """The largest magnitude."""
        return np.maximum(np.abs(self.minimum), np.abs(self.maximum))

    @property
    def median(self) -> Array:
        """The middle number, as of `quantile`."""
        return self.quantile(0.5)

    def quantile(self, share: ArrayLike) -> Array:
        """The numbers that these shares of the samples, from 0 to 1, do not exceed: (shares..., ...).

        Each is within 0.8 percent of a sample, the one that numpy.quantile(..., method="lower") gives; 0 and 1 give
        the extremes exactly. nan where a column is empty.
        """
        shares = real_array(share, "statistics: quantile")
        if not ((shares >= 0) & (shares <= 1)).all():
            raise ShapeError(f"statistics: a quantile is that of a share from 0 to 1, got {short_repr(share)}")
        out = np.full((self.count.size, shares.size), np.nan)
        for k, count in enumerate(self.count.ravel()):
            if count:
                out[k] = self._in_order(k, np.floor(shares.ravel() * (count - 1)).astype(np.int64))
        found: Array = out.T.reshape(shares.shape + self.shape)[()]
        return found

    def _in_order(self, column: int, ranks: NDArray[np.int64]) -> Array:
        """The samples of a column by their places in increasing order, from 0: the middles of their bins."""
        places, counts = self.bins.column(column)
        low, high = self.minimum.ravel()[column], self.maximum.ravel()[column]
        found = log_bins.middles(places[np.searchsorted(counts.cumsum(), ranks, side="right")])
        found[ranks == 0], found[ranks == self.count.ravel()[column] - 1] = low, high
        return np.clip(found, low, high)

    def box_plot(self) -> BoxPlot:
        """Quartiles, whiskers and outliers of a single column, as a box plot draws them.

        The samples of a bin, which is 1.6 percent of their size wide, are taken to be spread evenly in it.
        """
        least, most = self._ends_of_one("box plot")
        count, bins = int(self.count.sum()), self.bins.column(0)
        q1, median, q3 = map(float, log_bins.numbers_above(np.array([0.25, 0.5, 0.75]) * count, bins, least, most))
        low, high = q1 - WHISKER * (q3 - q1), q3 + WHISKER * (q3 - q1)
        below, upto = log_bins.counts_below(np.array([low, high]), bins, least, most).round().astype(int)
        ranks = np.concatenate([_spread(0, below), _spread(upto, count)])
        starts, ends = log_bins.edges(bins.places)
        whiskers = max(low, least, starts[ends >= low][0]), min(high, most, ends[starts <= high][-1])
        outliers = self._in_order(0, ranks)
        return BoxPlot(float(whiskers[0]), q1, median, q3, float(whiskers[1]), outliers, int(below + count - upto))

    def histogram(self, edges: ArrayLike | None = None) -> tuple[Array, Array]:
        """The number of samples between edges, and the edges, as of numpy.histogram; of a single column.

        Edges are increasing numbers, or how many bins of equal width there are from the smallest to the largest number,
        40 otherwise. A bin of 1.6 percent of a number's size that an edge cuts is shared in proportion, so that counts
        need not be whole. `bins` has the counts as they are.
        """
        low, high = self._ends_of_one("histogram")
        given = real_array(40 if edges is None else edges, "statistics: edges")
        if not given.ndim:
            parts = whole_number(edges if edges is not None else 40, "statistics: bins", least=1, most=1_000_000)
            given = np.linspace(low, high if high > low else low + max(abs(low), 1.0) * 1e-9, parts + 1)
        if given.ndim != 1 or len(given) < 2 or not (np.diff(given) > 0).all():
            raise ShapeError(f"statistics: edges must be at least two increasing numbers, got {short_repr(edges)}")
        limits = np.append(given[:-1], np.nextafter(given[-1], np.inf))  # the last edge belongs to the last bin
        return np.diff(log_bins.counts_below(limits, self.bins.column(0), low, high)), given

    def _ends_of_one(self, what: str) -> tuple[float, float]:
        """The smallest and the largest number, of one column."""
        if self.count.size != 1:
            raise ShapeError(f"statistics: a {what} is of one column, and there are {self.shape}; take one by [...]")
        if not self.count.sum():
            raise ShapeError(f"statistics: there is no number of which to make a {what}")
        return float(self.minimum.ravel()[0]), float(self.maximum.ravel()[0])

    def __getitem__(self, place: Any) -> Statistics:
        """The statistics of some columns, by their place, or by a name along the last dimension."""
        key = place
        if isinstance(place, str):
            key = (..., self.names.index(arguments.one_of(self.names, place, "column", "these statistics")))
        try:
            kept = np.asarray(np.arange(self.count.size).reshape(self.shape)[key])
        except (IndexError, TypeError, ValueError):
            raise ShapeError(f"statistics: {short_repr(place)} is no place in columns of shape {self.shape}") from None
        bins = BinCounts.side_by_side([self.bins.column(int(k)) for k in kept.ravel()], 1)
        ends = [Extreme(*(x.ravel()[kept] for x in end)) for end in (self.lowest, self.highest)]
        return Statistics(
            self.count.ravel()[kept],
            self.nonfinite.ravel()[kept],
            self.mean.ravel()[kept],
            self.squares.ravel()[kept],
            ends[0],
            ends[1],
            bins,
            self._names_of(kept),
        )

    def _names_of(self, columns: NDArray[np.int64]) -> tuple[str, ...]:
        """The names along the last dimension of chosen columns, where each of its places has one name."""
        if not self.names or not columns.size or not columns.ndim:
            return ()
        along = (columns % len(self.names)).reshape(-1, columns.shape[-1])
        is_along = len(np.unique(along[0])) == len(along[0]) and (along == along[0]).all()
        return tuple(self.names[k] for k in along[0]) if is_along else ()

    def __repr__(self) -> str:
        if not self.shape:
            ends = f"{float(self.minimum):g} to {float(self.maximum):g}"
            return f"<Statistics of {int(self.count)} numbers: mean {self.mean:g}, std {self.std:g}, {ends}>"
        rows = int((self.count + self.nonfinite).max(initial=0))
        lost = f", {int(self.nonfinite.sum())} not finite" if self.nonfinite.any() else ""
        return f"<Statistics of columns {self.shape} {_with_names(self.names)}: {rows} rows{lost}>"

    def to_pandas(self, quantiles: Sequence[float] = SHOWN_QUANTILES) -> Any:
        """A DataFrame of pandas with a row for each column: moments, extremes and where they are, and quantiles."""
        table: dict[str, Any] = {
            name: getattr(self, name).ravel()
            for name in ("count", "nonfinite", "mean", "std", "rms", "minimum", "minimum_row", "maximum", "maximum_row")
        }
        if any(np.any(x.labels != "") for x in (self.lowest, self.highest)):
            table |= {"minimum_label": self.minimum_label.ravel(), "maximum_label": self.maximum_label.ravel()}
        for share in quantiles:
            table[f"{number(share, 'statistics: quantile'):.6g}"] = self.quantile(share).ravel()
        return data_frame(table, {}, list(self._column_names()))

    def _column_names(self) -> Iterator[Any]:
        for place in np.ndindex(self.shape):
            head = place[:-1] if self.names else place
            tail = (self.names[place[-1]],) if self.names else ()
            whole = (*head, *tail)
            yield whole[0] if len(whole) == 1 else whole

    # --- files ---

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it as plain arrays by name, of which `from_arrays` makes it again."""
        return {
            **{name: getattr(self, name) for name in ("count", "nonfinite", "mean", "squares")},
            **{f"{end}_{part}": x for end in ("lowest", "highest") for part, x in getattr(self, end)._asdict().items()},
            **{f"bin_{part}": x for part, x in self.bins._asdict().items()},
            "names": np.array(self.names, dtype=str),
        }

    @staticmethod
    def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Statistics:
        """Statistics of the arrays that `arrays` gave, checked for fitting together."""
        shape = np.shape(arrays["count"])

        def read(name: str, kind: str, shape: tuple[int, ...] | None = shape) -> NDArray[Any]:
            array = arrays[name]
            if array.dtype.kind != kind or (array.ndim != 1 if shape is None else array.shape != shape):
                raise FormatError(f"statistics: {name} of type {array.dtype} and shape {array.shape} does not fit")
            return array

        def extreme(name: str) -> Extreme:
            return Extreme(read(f"{name}_values", "f"), read(f"{name}_rows", "i"), read(f"{name}_labels", "U"))

        count, bins = read("count", "i"), BinCounts(read("bin_places", "i", None), read("bin_counts", "i", None))
        bins.check(count.ravel())
        numbers = read("nonfinite", "i"), read("mean", "f"), read("squares", "f")
        names = tuple(str(name) for name in read("names", "U", None))
        return Statistics(count, *numbers, extreme("lowest"), extreme("highest"), bins, names)

    def save(self, path: str | PathLike[str]) -> None:
        """Write them to an .npz file of plain arrays."""
        save_arrays(npz_path(path, NPZ_RULE), {"format": np.array(FORMAT), **self.arrays()})

    @staticmethod
    def load(path: str | PathLike[str]) -> Statistics:
        """Read them from a file that `save` wrote."""
        source = npz_path(path, NPZ_RULE)
        with reading(path, "a file of statistics"):
            stored = load_arrays(source)
            if str(stored["format"]) != FORMAT:
                raise FormatError(f"{str(path)!r} holds no statistics that chainrule wrote")
            return Statistics.from_arrays(stored)


def _of_chunks(values: Any, where: ArrayLike | None, label: str, names: Sequence[str]) -> Statistics:
    """The statistics of a Dask array: those of its chunks of rows, merged by pairs."""
    import dask

    if not values.ndim or any(np.isnan(n) for n in values.shape):
        raise ShapeError(
            f"statistics: values must be a Dask array (rows, ...) of known shape, got shape {values.shape}"
        )
    whole_rows = values.rechunk(dict.fromkeys(range(1, values.ndim), -1))
    numbers, ends = _row_numbers(where, len(values)), np.cumsum(whole_rows.chunks[0])
    starts = ends - whole_rows.chunks[0]
    of, merge = dask.delayed(Statistics.of, pure=True), dask.delayed(Statistics.merge, pure=True)
    level = [
        of(block, numbers[start:end], label=label, names=tuple(names))
        for block, start, end in zip(whole_rows.to_delayed().ravel(), starts, ends, strict=True)
    ]
    found: Statistics = dask.compute(_by_pairs(level, merge))[0]
    return found


def _by_pairs(parts: Sequence[Any], merge: Callable[[Any, Any], Any]) -> Any:
    """All parts merged: neighbors, then neighbors of those, so that few errors of rounding add up."""
    level = list(parts)
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        level = [merge(a, b) for a, b in zip(level[::2], level[1::2], strict=False)] + odd
    return level[0]


def _row_numbers(where: ArrayLike | None, rows: int) -> NDArray[np.int64]:
    """The numbers of rows, given each, or by the first one, or not at all."""
    given = np.asarray(0 if where is None else where)
    if given.dtype.kind not in "iu" or given.shape not in ((), (rows,)) or (given < 0).any():
        raise ShapeError(
            f"statistics: where must be {rows} whole numbers, not negative, or the number of the first row, got "
            f"{short_repr(where)}"
        )
    return given.astype(np.int64) + (0 if given.ndim else np.arange(rows))


def _spread(start: int, stop: int) -> NDArray[np.int64]:
    """Some of the numbers from start to stop, spread evenly, with both ends."""
    return np.linspace(start, stop - 1, min(stop - start, MAX_OUTLIERS)).round().astype(np.int64)


def _with_names(names: Sequence[str]) -> str:
    return f"({', '.join(names)})" if names else "without names"
