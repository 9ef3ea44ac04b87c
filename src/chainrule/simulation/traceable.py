"""Functions of the user that can be traced: plain arithmetic, compiled into the loop over time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.calls import explains_construction
from chainrule.compile.symbol_array import array_of, with_symbols
from chainrule.compile.traced_function import ADVICE, TracedFunction, refuse_difference, trace_of_user
from chainrule.errors import ShapeError
from chainrule.functions.reference import scalars_of
from chainrule.simulation.sources import Source, are_numeric
from chainrule.spatial import Scalar

Scalars = Sequence[Scalar]


@explains_construction
class traceable:  # noqa: N801 (a decorator)
    """Mark a function of (t, q, qd) as plain arithmetic, to be compiled into the loop of a simulation.

    It is called once with symbols instead of numbers. NumPy works on them: arithmetic, indexing, np.array, np.sin,
    np.where, np.clip and many more (docs/simulation.md lists them). `if`, float(..) and random numbers do not, and are
    refused: np.where chooses by a value. q and qd are those of one motion, (n,), also in a batch.

    >>> import numpy as np, chainrule as cr
    >>> @cr.traceable
    ... def spring(t, q, qd):
    ...     return -20.0 * np.sin(q) - 2.0 * qd
    >>> spring(0.0, np.zeros(1), np.ones(1)).tolist()
    [-2.0]
    """

    def __init__(self, function: Callable[[Any, Any, Any], Any]) -> None:
        if not callable(function):
            raise ShapeError(f"traceable takes a function of (t, q, qd), got {function!r:.60}")
        self.function = function

    def __call__(self, t: Any, q: Any, qd: Any) -> Any:
        return self.function(t, q, qd)


class TracedSource(Source):
    """A traceable function as a source. Its only signal is the time."""

    def __init__(self, function: traceable, size: int, nq: int, nv: int, what: str) -> None:
        super().__init__(size)
        self.function, self.what = function.function, what
        self.width = 1
        self.traced = self._trace(nq, nv)

    @property
    def fingerprint(self) -> tuple[Hashable, ...]:
        """With the traced function, and so with the values that it takes from elsewhere: they may differ next time."""
        return (*super().fingerprint, self.traced.fingerprint)

    def signals(self, t: Array, q: Array, qd: Array) -> Array:
        return t[:, None]

    def compute(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars]:
        if not are_numeric(*q, *qd, *s):
            return self.traced(s[:1], q, qd), []
        batch = np.broadcast_shapes(*(np.shape(x) for x in (*q, *qd, s[0])))
        state = [np.stack([np.broadcast_to(x, batch) for x in part], axis=-1) for part in (s[:1], q, qd)]
        out = np.empty((*batch, self.size))
        for row in np.ndindex(batch):  # it may index joints as q[0], so that it gets one state at a time
            t, *arrays = (array[row] for array in state)
            out[row] = np.asarray(self.function(float(t[0]), *arrays), dtype=float)
        return scalars_of(out), []

    def _trace(self, nq: int, nv: int) -> TracedFunction:
        """The traced function, compared with the function itself on numbers."""
        rng, symbolic, what = np.random.default_rng(0), with_symbols(self.function), f"simulate: {self.what}"
        samples = [(rng.uniform(0, 10, 1), rng.normal(size=nq), rng.normal(size=nv)) for _ in range(3)]
        expected = [self._evaluate(float(t[0]), q.copy(), qd.copy()) for t, q, qd in samples]

        def on_symbols(t: Scalars, q: Scalars, qd: Scalars) -> list[Scalar]:
            found = array_of(symbolic(t[0], array_of(q), array_of(qd))).reshape(-1).tolist()
            return found * self.size if len(found) == 1 else found

        traced = trace_of_user(
            on_symbols, (1, nq, nv), what, f"{ADVICE}; or pass it without traceable, to be called from Python"
        )
        if len(traced.tape.outputs) != self.size:
            raise ShapeError(f"{what} must return {self.size} numbers, got {len(traced.tape.outputs)}")
        for sample, numbers in zip(samples, expected, strict=True):
            refuse_difference(traced, sample, numbers, what)
        return traced

    def _evaluate(self, t: float, q: Array, qd: Array) -> Array:
        """What the function itself returns; its own errors are left to the user as they are."""
        with np.errstate(all="ignore"):
            value = self.function(t, q, qd)
        try:
            return np.broadcast_to(np.asarray(value, dtype=float).reshape(-1), (self.size,))
        except (TypeError, ValueError):
            raise ShapeError(f"simulate: {self.what} must return {self.size} numbers, got {value!r:.60}") from None
