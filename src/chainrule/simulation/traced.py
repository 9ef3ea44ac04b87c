"""Functions of the user in plain arithmetic, compiled into the loop over time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ShapeError
from chainrule.functions.reference import scalars_of
from chainrule.simulation.sources import Source
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import caller_of

Scalars = Sequence[Scalar]


class traceable:  # noqa: N801 (a decorator)
    """Mark a function of (t, q, qd) as plain arithmetic, to be compiled into the loop of a simulation.

    It is called once with symbols instead of numbers: `+ - * / ** @`, np.sin, np.exp, np.tanh and similar functions,
    and indexing work; `if`, float(..) and random numbers do not, and are refused. q and qd are those of one motion,
    (n,), also in a batch. To choose by a value, use chainrule.spatial.scalar.where.

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


class Traced(Source):
    """A traceable function as a source. Its only signal is the time."""

    def __init__(self, function: traceable, size: int, nq: int, nv: int, what: str) -> None:
        super().__init__(size)
        self.function, self.what = function.function, what
        self.width = 1
        self.traced = self._trace(nq, nv)
        self.text = str(self.traced.serialize())
        """The traced function, with the values that it takes from elsewhere: they may differ the next time."""

    @property
    def fingerprint(self) -> tuple[Hashable, ...]:
        return (*super().fingerprint, self.text)

    def signals(self, t: Array, q: Array, qd: Array) -> Array:
        return t[:, None]

    def compute(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars]:
        call = caller_of(*q, *qd, *s)
        if call is not None:
            return call(self.traced, [s[:1], q, qd]), []
        batch = np.broadcast_shapes(*(np.shape(x) for x in (*q, *qd, s[0])))
        state = [np.stack([np.broadcast_to(x, batch) for x in part], axis=-1) for part in (s[:1], q, qd)]
        out = np.empty((*batch, self.size))
        for row in np.ndindex(batch):  # it may index joints as q[0], so that it gets one state at a time
            t, *arrays = (array[row] for array in state)
            out[row] = np.asarray(self.function(float(t[0]), *arrays), dtype=float)
        return scalars_of(out), []

    def _call_with_symbols(self, q: Scalars, qd: Scalars, t: Scalar) -> list[Scalar]:
        """The function of symbols, refused where it is not plain arithmetic."""
        import casadi

        try:
            with warnings.catch_warnings():  # CasADi tells of a coming change of its own NumPy support
                warnings.simplefilter("ignore", FutureWarning)
                value = self.function(t, _objects(q), _objects(qd))
        except Exception as error:
            raise ShapeError(
                f"simulate: {self.what} cannot be traced: {type(error).__name__}: {str(error).splitlines()[-1]:.120}. "
                "Write it in plain arithmetic, with where() in place of if; or pass it without traceable, to be called "
                "from Python"
            ) from error
        try:
            whole = value if isinstance(value, casadi.SX) else casadi.vertcat(*map(casadi.SX, np.ravel(value).tolist()))
        except (NotImplementedError, TypeError):
            raise ShapeError(f"simulate: {self.what} must return {self.size} numbers, got {value!r:.60}") from None
        entries = casadi.vertsplit(casadi.vec(whole))
        if len(entries) == 1 and self.size > 1:
            entries = entries * self.size
        if len(entries) != self.size:
            raise ShapeError(f"simulate: {self.what} must return {self.size} numbers, got {len(entries)}")
        return list(entries)

    def _trace(self, nq: int, nv: int) -> Any:
        """The traced function, compared with the function itself on numbers: tracing cannot see everything."""
        import casadi

        from chainrule.compile.casadi_tape import UnsupportedOperationError, tape_of

        symbols = [casadi.SX.sym("t"), casadi.SX.sym("q", nq), casadi.SX.sym("qd", nv)]
        q, qd = (list(casadi.vertsplit(x)) for x in symbols[1:])
        traced = casadi.Function("f", symbols, [casadi.vertcat(*self._call_with_symbols(q, qd, symbols[0]))])
        try:
            tape_of(traced, (1, nq, nv))
        except UnsupportedOperationError as error:
            raise ShapeError(
                f"simulate: {self.what} cannot be compiled: {error}; pass it without traceable, to be called"
            ) from None
        rng = np.random.default_rng(0)
        for _ in range(3):
            numbers = [float(rng.uniform(0, 10)), rng.normal(size=nq), rng.normal(size=nv)]
            expected = np.broadcast_to(np.asarray(self.function(*numbers), dtype=float), (self.size,))
            found = np.asarray(traced(*numbers)).ravel()
            if not np.allclose(found, expected, rtol=1e-9, atol=1e-12, equal_nan=True):
                raise ShapeError(
                    f"simulate: {self.what} gives {found.tolist()} when traced and {expected.tolist()} when called: it "
                    "is not plain arithmetic of its arguments (random numbers, or float() of a value?). Pass it "
                    "without traceable, to be called from Python"
                )
        return traced


def _objects(values: Scalars) -> Any:
    """An array of symbols, on which NumPy's arithmetic works."""
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array
