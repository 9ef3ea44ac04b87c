"""A function whose arithmetic is known: traced once, and carried out on scalars of any kind from then on."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from traceback import FrameSummary, walk_tb
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.compile.autodiff import jvp
from chainrule.compile.graph import ARITHMETIC, Graph, Node
from chainrule.compile.interpreter import operations_of
from chainrule.compile.program import trace_function, unflatten
from chainrule.compile.tape import OPERATIONS, Tape
from chainrule.errors import ShapeError
from chainrule.lazy import cached_property
from chainrule.spatial import Scalar
from chainrule.spatial.dual import Dual, dual, parts_of

Scalars = Sequence[Scalar]


class TracedFunction:
    """A function of lists of scalars, as a tape.

    >>> double = TracedFunction.of(lambda x: [2 * x[0], x[0] * x[1]], [2])
    >>> [float(y) for y in double([1.0, 3.0])]
    [2.0, 3.0]
    """

    def __init__(self, tape: Tape) -> None:
        self.tape = tape

    @classmethod
    def of(cls, function: Callable[..., Scalars], lengths: Sequence[int]) -> TracedFunction:
        """The function, called once with lists of symbols of these lengths."""
        return cls(trace_function(function, lengths))

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the arithmetic."""
        return sha256(repr((self.tape.inputs, self.tape.instructions, self.tape.outputs)).encode()).hexdigest()

    def __call__(self, *arguments: Scalars) -> list[Scalar]:
        """The results on lists of scalars: numbers, arrays, dual numbers, symbols."""
        flat = [x for part in arguments for x in part]
        tags = [x.tag for x in flat if isinstance(x, Dual)]
        if tags:
            tag = max(tags)
            found = self._tangent(*map(list, zip(*(parts_of(x, tag) for x in flat), strict=True)))
            half = len(found) // 2
            return [dual(value, rate, tag) for value, rate in zip(found[:half], found[half:], strict=True)]
        lift, perform = _arithmetic_of(flat)
        with np.errstate(all="ignore"):
            return self.tape.walk(lambda k, entry: lift(arguments[k][entry]), lift, perform)

    @cached_property
    def _tangent(self) -> TracedFunction:
        """The results and their rates, as a function of all arguments and their rates."""
        graph, count = Graph(), sum(self.tape.inputs)
        values, rates = graph.inputs([count, count])
        results = self(*unflatten(values, self.tape.inputs))
        return TracedFunction(graph.tape([count, count], [*results, *jvp(graph, results, values, rates)]))

    def derivative(self, k: int = 0) -> TracedFunction:
        """The derivatives of all results with respect to the first entry of argument `k`."""
        graph = Graph()
        arguments = graph.inputs(self.tape.inputs)
        results = self(*arguments)
        return TracedFunction(graph.tape(self.tape.inputs, jvp(graph, results, arguments[k][:1], [1.0])))


LIBRARIES = {"jax": "jax.numpy", "jaxlib": "jax.numpy", "torch": "torch"}
"""Libraries like NumPy, by the packages of their arrays."""

ADVICE = "Write it in plain arithmetic of its arguments, with np.where in place of if"


def trace_of_user(
    function: Callable[..., Scalars], lengths: Sequence[int], what: str, advice: str = ADVICE
) -> TracedFunction:
    """The trace of a function of the user's own, of lists of symbols; a ShapeError where it needs their values."""
    try:
        return TracedFunction.of(function, lengths)
    except Exception as error:
        reason = (str(error).splitlines() or [""])[-1]
        line = _line_of_user(error)
        raise ShapeError(f"{what} cannot be traced{line}: {type(error).__name__}: {reason:.160}. {advice}") from error


def _line_of_user(error: Exception) -> str:
    """The last line outside of this library and NumPy that was carried out before an error."""
    lines = [
        FrameSummary(frame.f_code.co_filename, number, frame.f_code.co_name)
        for frame, number in walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__", "").partition(".")[0] not in ("chainrule", "numpy")
    ]
    if not lines:
        return ""
    last = lines[-1]
    return f", at line {last.lineno} of {Path(last.filename).name}" + f" ({last.line:.60})" * bool(last.line)


def refuse_difference(
    traced: TracedFunction, values: Sequence[Any], expected: Array, what: str, atol: float = 1e-12
) -> None:
    """Raise where a function of the user's own returned other values than its trace: tracing cannot see everything."""
    found = np.array([float(x) for x in traced(*values)])
    if not np.allclose(found, expected, rtol=1e-9, atol=atol, equal_nan=True):
        raise ShapeError(
            f"{what} gives {found.tolist()!s:.80} when traced and {expected.tolist()!s:.80} when called: it is not "
            "plain arithmetic of its arguments (random values, a counter, or float() of a value?)"
        )


def _arithmetic_of(scalars: Scalars) -> tuple[Callable[[Any], Any], Callable[[str, list[Any]], Any]]:
    """What makes a number one of these scalars, and what carries out an operation of a tape on them."""
    own: Any = next((x for x in scalars if not isinstance(x, (int, float, np.ndarray, np.generic))), 0.0)
    package = type(own).__module__.partition(".")[0]
    if isinstance(own, Node):
        return lambda x: x, lambda operation, operands: own.graph.perform(operation, *operands)
    if package == "casadi":
        return lambda x: 0 * own + x if isinstance(x, (int, float)) else x, casadi_operation
    if package in LIBRARIES:
        library = import_module(LIBRARIES[package])
        return lambda x: x if hasattr(x, "dtype") else library.asarray(x, dtype=own.dtype), operations_of(
            library, own.dtype
        )
    return partial(np.asarray, dtype=float), operations_of(np, np.float64)


def casadi_operation(operation: str, operands: Sequence[Any]) -> Any:
    """An operation of a tape on scalars of CasADi, which whoever has made them has imported."""
    return _casadi_operations()[operation](*operands)


@cache
def _casadi_operations() -> dict[str, Callable[..., Any]]:
    casadi = sys.modules["casadi"]
    plain = {name: getattr(casadi, name) for name in OPERATIONS if hasattr(casadi, name)}
    return plain | ARITHMETIC | {
        "lt": operator.lt, "le": operator.le, "eq": operator.eq, "ne": operator.ne, "and": casadi.logic_and,
        "or": casadi.logic_or, "not": casadi.logic_not, "choose": lambda condition, x: casadi.if_else(condition, x, 0),
        "abs": casadi.fabs,
    }  # fmt: skip
