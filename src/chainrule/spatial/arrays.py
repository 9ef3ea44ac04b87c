"""Spatial objects and arrays: numbers taken from lists and arrays, and given back as arrays of NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from chainrule.errors import ShapeError, short_repr
from chainrule.spatial.scalar import Scalar


class ArrayOfScalars:
    """An object that NumPy sees as an array of its scalars: floats, or objects where scalars are symbols.

    Scalars that are arrays themselves, one number for each state of a batch, make the batch the leading dimensions.
    Arithmetic with arrays is refused by NumPy, which would not know whether a Vector is a point or three numbers.
    """

    __slots__ = ()
    __array_ufunc__ = None

    def table(self) -> Sequence[Any]:
        """The scalars, as a list or as a list of rows."""
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError(f"a {type(self).__name__} holds scalars, not an array: np.asarray copies them")
        return _array(self.table(), dtype)


def _array(table: Sequence[Any], dtype: Any) -> Any:
    np = import_module("numpy")
    nested = isinstance(table[0], (list, tuple))
    flat = [x for row in table for x in row] if nested else list(table)
    shape = (len(table), len(table[0])) if nested else (len(table),)
    if all(isinstance(x, (int, float, np.generic, np.ndarray)) for x in flat):
        batch = np.broadcast_shapes(*(np.shape(x) for x in flat))
        numbers = np.empty((*batch, len(flat)), dtype=dtype or float)
        for i, x in enumerate(flat):
            numbers[..., i] = x
        return numbers.reshape(*batch, *shape)
    objects = np.empty(len(flat), dtype=object)
    for i, x in enumerate(flat):
        objects[i] = x
    return objects.reshape(shape) if dtype is None else objects.reshape(shape).astype(dtype)


def components(values: Any, count: int | None, what: str) -> list[Scalar]:
    """The `count` scalars of a list, tuple or array, any number where it is None; others are refused."""
    try:
        scalars = values.tolist() if _is_numeric_array(values) else list(values)
    except Exception:  # whatever a foreign object raises
        scalars = None
    if scalars is None or isinstance(values, (str, bytes)):
        raise ShapeError(f"{what} takes numbers in a list or array, got {short_repr(values)}")
    if count is not None and len(scalars) != count:
        raise ShapeError(f"{what} takes {count} numbers, got {len(scalars)}")
    return scalars


def rows(values: Any, count: int | None, what: str) -> list[Any]:
    """The `count` rows of a nested list, of an array or of a matrix of SymPy."""
    package = type(values).__module__.partition(".")[0]
    return components(values.tolist() if package == "sympy" and hasattr(values, "tolist") else values, count, what)


def _is_numeric_array(values: Any) -> bool:
    """Whether it is an array of NumPy of one dimension, whose entries then become Python's own numbers."""
    return type(values).__module__ == "numpy" and getattr(values, "ndim", 0) == 1
