"""NumPy on symbols: its functions compute element by element where an operand is a symbol, or an array of symbols.

NumPy hands a call over to operands that ask for it (`__array_ufunc__`, `__array_function__`), as symbols and their
arrays do. It does not do so for lists, and what makes an array, as np.array and np.zeros, knows nothing of symbols:
`with_symbols` is a copy of a function for which NumPy's module does these things too.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from chainrule.spatial.linear import solve
from chainrule.spatial.scalar import atan2, where

MAX_TABLE = 200
"""Entries of a table that np.interp takes: each is a choice in every evaluation."""


class Symbol:
    """An operand without a value, a real number, that NumPy's functions leave to this module."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return _call_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Callable[..., Any], types: Any, arguments: Any, options: Any) -> Any:
        return _call_function(function, arguments, options)

    def conjugate(self) -> Any:
        """The symbol itself."""
        return self


class SymbolArray(np.ndarray[Any, Any]):
    """An array of symbols and numbers."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return _call_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        return _call_function(function, arguments, options)

    def astype(self, dtype: Any, *_: Any, **__: Any) -> Any:
        """A copy, where floats are asked for: they are what symbols stand for."""
        if not _is_float(dtype):
            raise TypeError(f"symbols stand for floats, and cannot be made {dtype}")
        return self.copy()


def array_of(values: Any) -> SymbolArray:
    """Symbols and numbers as an array; NumPy's numbers become Python's, whose operators know symbols."""
    whole = np.array([values] if isinstance(values, Symbol) else values, dtype=object)
    if isinstance(values, Symbol):
        whole = whole.reshape(())
    for k, x in enumerate(whole.flat):
        if isinstance(x, np.generic):
            whole.flat[k] = x.item()
    return whole.view(SymbolArray)


def _result(values: Any) -> Any:
    """What NumPy would return: an array, or the only element of one without dimensions."""
    if type(values) in (tuple, list):
        return type(values)(map(_result, values))
    if not isinstance(values, np.ndarray) or values.dtype != object:
        return values
    return values.view(SymbolArray) if values.ndim else values[()]


def _by_element(compute: Callable[..., Any], *operands: Any) -> Any:
    together = np.broadcast(*map(array_of, operands))
    out = np.empty(together.shape, dtype=object)
    for k, values in enumerate(together):
        out.flat[k] = compute(*values)
    return _result(out)


# --- ufuncs ---


def _call_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    targets, condition = options.pop("out", None), options.pop("where", True)
    if method not in _METHODS or (condition is not True and targets is None):
        raise TypeError(f"np.{ufunc.__name__} takes symbols without where=.. but with out=.., and without .at")
    result = _METHODS[method](ufunc, *inputs, **options)
    if targets is None:
        return result
    targets[0][...] = result if condition is True else _where(condition, result, targets[0])
    return targets[0]


def _call(ufunc: np.ufunc, *operands: Any, **_: Any) -> Any:
    on_objects = all(set(types) <= {"O", "-", ">"} for types in ufunc.types)  # np.vectorize, np.frompyfunc
    if on_objects or ufunc.signature is not None:  # np.matmul: sums of products, which NumPy does on objects itself
        return _result(ufunc(*(np.asarray(array_of(x)) for x in operands)))
    return _by_element(functools.partial(_element, ufunc), *operands)


def _element(ufunc: np.ufunc, *values: Any) -> Any:
    """A ufunc of symbols and Python's numbers."""
    if not any(isinstance(x, Symbol) for x in values):
        return ufunc(*values)
    if ufunc.__name__ in _OPERATIONS:
        return _OPERATIONS[ufunc.__name__](*values)
    if ufunc.nin > 1:
        raise TypeError(f"np.{ufunc.__name__} has no form for symbols")
    return getattr(values[0], ufunc.__name__)()


def _reduce(ufunc: np.ufunc, values: Any, axis: Any = 0, keepdims: bool = False, initial: Any = None, **_: Any) -> Any:
    array = array_of(values)
    given = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = sorted(k % array.ndim for k in given) if array.ndim else []
    rest = [n for k, n in enumerate(array.shape) if k not in axes]
    count = math.prod(array.shape[k] for k in axes)
    rows = list(np.moveaxis(array, axes, range(len(axes))).reshape(count, *rest))
    start = ufunc.identity if initial in (None, np._NoValue) else initial
    if not rows or start != ufunc.identity:
        rows.insert(0, np.full(rest, start))
    total = array_of(functools.reduce(ufunc, rows))
    return np.expand_dims(total, axes) if keepdims else _result(total)


def _accumulate(ufunc: np.ufunc, values: Any, axis: int = 0, **_: Any) -> Any:
    rows = np.moveaxis(array_of(values), axis, 0).copy()
    for k in range(1, len(rows)):
        rows[k] = ufunc(rows[k - 1], rows[k])
    return np.moveaxis(rows, 0, axis)


def _outer(ufunc: np.ufunc, a: Any, b: Any, **_: Any) -> Any:
    first, second = array_of(a), array_of(b)
    return ufunc(first.reshape(*first.shape, *[1] * second.ndim), second)


def _extreme(comes_first: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """The larger or the smaller of two; a nan if one of them is."""
    if not isinstance(b, Symbol):
        a, b = b, a
    return where(comes_first(a, b) | _is_nan(a) if isinstance(a, Symbol) else comes_first(a, b), a, b)


def _xor(a: Any, b: Any) -> Any:
    return (a != 0) != (b != 0)


def _is_nan(x: Any) -> Any:
    return x != x  # noqa: PLR0124 (as only a nan does)


_METHODS: dict[str, Callable[..., Any]] = {
    "__call__": _call, "reduce": _reduce, "accumulate": _accumulate, "outer": _outer
}  # fmt: skip

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "power": operator.pow, "float_power": operator.pow, "negative": operator.neg, "positive": operator.pos,
    "conjugate": operator.pos, "absolute": abs, "fabs": abs, "square": lambda x: x * x, "reciprocal": lambda x: 1 / x,
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne, "logical_and": operator.and_, "logical_or": operator.or_,
    "logical_not": operator.invert, "logical_xor": _xor, "bitwise_xor": _xor, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "invert": operator.invert, "sign": lambda x: (x > 0) - (x < 0), "arctan2": atan2,
    "maximum": functools.partial(_extreme, operator.ge), "minimum": functools.partial(_extreme, operator.le),
    "fmax": lambda a, b: where((a >= b) | _is_nan(b), a, b), "fmin": lambda a, b: where((a <= b) | _is_nan(b), a, b),
    "clip": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "heaviside": lambda x, at_zero: where(x > 0, 1.0, where(x < 0, 0.0, at_zero)),
    "hypot": lambda a, b: np.sqrt(a * a + b * b), "exp2": lambda x: 2.0**x, "log2": lambda x: np.log(x) / math.log(2),
    "log10": lambda x: np.log(x) / math.log(10), "deg2rad": lambda x: x * (math.pi / 180),
    "radians": lambda x: x * (math.pi / 180), "rad2deg": lambda x: x * (180 / math.pi),
    "degrees": lambda x: x * (180 / math.pi),
}  # fmt: skip
"""What ufuncs do to symbols; others of one operand are methods of the symbol, under the same name."""


# --- other functions ---


def _call_function(function: Callable[..., Any], arguments: Any, options: Any) -> Any:
    if function in _FUNCTIONS:
        return _FUNCTIONS[function](*arguments, **options)
    given = (_lift(arguments), {name: _lift(x) for name, x in options.items()})
    return _result(np.ndarray.__array_function__(array_of(0.0), function, (SymbolArray,), *given))


def _lift(value: Any) -> Any:
    """An argument of a function in which every symbol, and every list with symbols, is an array."""
    if isinstance(value, Symbol) or (type(value) is np.ndarray and value.dtype == object):
        return array_of(value)
    if type(value) in (tuple, list):
        return type(value)(map(_lift, value))
    return value


def _where(condition: Any, *branches: Any) -> Any:
    if len(branches) != 2:
        raise TypeError("np.where of symbols takes a condition and two values")
    choose = lambda c, a, b: where(c, a, b) if isinstance(c, Symbol) else a if c else b  # noqa: E731
    return _by_element(choose, condition, *branches)


def _select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Any:
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        default = _where(condition, choice, default)
    return default


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    if period is not None or len(xp) > MAX_TABLE:
        raise TypeError(f"np.interp takes symbols without a period, in a table of at most {MAX_TABLE} entries")
    found = fp[0] if left is None else _where(x < xp[0], left, fp[0])
    for k in range(len(xp) - 1):
        slope = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
        found = _where(x >= xp[k], slope * (x - xp[k]) + fp[k], found)
    found = _where(x >= xp[-1], fp[-1], found)
    return found if right is None else _where(x > xp[-1], right, found)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    array = array_of(x)
    of_vector = array.ndim == 1 or isinstance(axis, int)
    if ord in (1, math.inf) and of_vector:
        return (np.sum if ord == 1 else np.max)(np.abs(array), axis=axis, keepdims=keepdims)
    if ord is None or (ord == 2 and of_vector):
        return np.sqrt(np.sum(array * array, axis=axis, keepdims=keepdims))
    raise TypeError(f"np.linalg.norm of symbols takes no ord={ord} here")


def _solve(a: Any, b: Any) -> Any:
    rows, right = array_of(a).tolist(), array_of(b)
    if right.ndim == 1:
        return array_of(solve(rows, right.tolist()))
    return array_of([solve(rows, column) for column in right.T.tolist()]).T


def _refuse(*_: Any, **__: Any) -> Any:
    raise TypeError("np.nan_to_num has no form for symbols")


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where, np.select: _select, np.interp: _interp, np.linalg.norm: _norm, np.linalg.solve: _solve,
    np.linalg.inv: lambda a: _solve(a, np.eye(len(a))), np.nan_to_num: _refuse,
}  # fmt: skip
"""Functions that NumPy's own text cannot do on symbols, or would do wrongly."""


# --- NumPy's module inside of a function ---


def with_symbols(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a function, for which NumPy's module makes arrays of symbols, and takes lists of symbols.

    So have the functions beside it in its module, and those in its closure. What is no function of Python stays.
    """
    if isinstance(function, functools.partial):
        return functools.partial(with_symbols(function.func), *function.args, **function.keywords)
    if isinstance(function, MethodType):
        return MethodType(with_symbols(function.__func__), function.__self__)
    if not isinstance(function, FunctionType):
        own = getattr(function, "__call__", None)  # noqa: B004 (of an object whose class has one)
        return with_symbols(own) if isinstance(own, MethodType) else function
    return _copy(function, {}, {})


def _copy(function: FunctionType, copies: dict[int, FunctionType], worlds: dict[int, dict[str, Any]]) -> FunctionType:
    if id(function) in copies:
        return copies[id(function)]
    old, cells = function.__globals__, [CellType() for _ in function.__closure__ or ()]
    is_new = id(old) not in worlds
    world = worlds.setdefault(id(old), dict(old))
    copy = FunctionType(function.__code__, world, function.__name__, function.__defaults__, tuple(cells))
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__dict__.update(function.__dict__)
    copies[id(function)] = copy

    def stand_in(value: Any, is_near: bool) -> Any:
        if isinstance(value, FunctionType) and is_near and not _is_numpys(value):
            return _copy(value, copies, worlds)
        return _Numpy(value) if _is_numpys(value) else value

    for cell, original in zip(cells, function.__closure__ or (), strict=True):
        try:
            cell.cell_contents = stand_in(original.cell_contents, True)
        except ValueError:  # a name that has no value yet
            continue
    if is_new:
        world.update({name: stand_in(x, getattr(x, "__globals__", None) is old) for name, x in old.items()})
    return copy


def _is_numpys(value: Any) -> bool:
    """Whether a value is a module or a function of NumPy; its classes stay what they are."""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] == "numpy"
    is_function = isinstance(value, (FunctionType, BuiltinFunctionType, type(np.where)))
    return isinstance(value, np.ufunc) or (is_function and (value.__module__ or "").partition(".")[0] == "numpy")


_MAKERS = {np.zeros, np.ones, np.empty, np.full, np.eye, np.identity, np.zeros_like, np.ones_like, np.full_like}
"""Functions that make arrays to be written into."""

_CONVERTERS = {np.array, np.asarray, np.asanyarray, np.ascontiguousarray}


class _Numpy:
    """A module or function of NumPy that takes and makes arrays of symbols."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        return _Numpy(value) if _is_numpys(value) or isinstance(self._target, np.ufunc) else value

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        target = self._target
        if target in _CONVERTERS and _holds_symbols(arguments[0]):
            return array_of(arguments[0]).astype(*(arguments[1:2] or (options.get("dtype") or float,)))
        result = target(*(_from_lists(x, isinstance(target, np.ufunc)) for x in arguments), **options)
        if target in _MAKERS and isinstance(result, np.ndarray) and _is_float(result.dtype):
            return array_of(result)
        return _result(result)


def _from_lists(value: Any, whole: bool) -> Any:
    """Lists with symbols as arrays; where they hold arrays, the lists are kept, but for a ufunc."""
    if type(value) not in (tuple, list) or not _holds_symbols(value):
        return value
    if whole or not _holds(value, np.ndarray):
        return array_of(value)
    return type(value)(_from_lists(x, whole) for x in value)


def _holds_symbols(value: Any) -> bool:
    return _holds(value, (Symbol, SymbolArray))


def _holds(value: Any, kind: Any) -> bool:
    """Whether nested lists hold an instance of a class."""
    return any(_holds(x, kind) for x in value) if type(value) in (tuple, list) else isinstance(value, kind)


def _is_float(dtype: Any) -> bool:
    return bool(np.issubdtype(dtype, np.floating)) or dtype is object or np.dtype(dtype) == object
