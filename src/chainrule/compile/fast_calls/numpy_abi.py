"""What compiled code assumes about the objects and the C interface of CPython and NumPy, with a test of it.

Public headers fix all of this, for one major version of NumPy. The test runs once, at the first use: it reads a small
array through the assumed offsets and compares with what NumPy says. Where something is wrong, the way that depends on
it is not taken, and a warning says so: single states go through the ufunc, or everything is interpreted.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

# Fields of a Python object and of NumPy's array, in bytes from its start.
TYPE = 8
DATA, NDIM, DIMENSIONS, STRIDES, DESCRIPTOR, FLAGS = 16, 24, 32, 40, 56, 64

CONTIGUOUS, ALIGNED = 0x1, 0x100
"""Bits in the flags of an array: rows follow each other without gaps; numbers lie at multiples of their size."""

FIRST_SLOT = object.__basicsize__
"""Place of the first of the slots of a class."""

TUPLE_SIZE, TUPLE_ITEMS = 16, tuple.__basicsize__
"""Places in a tuple: its length, and its items."""

FLOAT, DOUBLE = 11, 12
"""NumPy's numbers of its types."""

UFUNC_OBJECT = 88
"""Place in a ufunc, in bytes from its start, of an object that lives as long as the ufunc does."""

ARRAY_ABI_SLOT, ARRAY_ABI = 0, 0x02000000
"""Place of the function that tells the version of the binary interface of arrays, and that version."""

NEW_ARRAY_SLOT = 93
"""Place of PyArray_New in the table of array functions."""

NEW_UFUNC_SLOT = 31
"""Place of PyUFunc_FromFuncAndDataAndSignature in the table of ufunc functions."""

FASTCALL_WITH_KEYWORDS = 0x0080 | 0x0002
"""METH_FASTCALL | METH_KEYWORDS: how a builtin is called."""


class NumpyLayoutWarning(UserWarning):
    """This Python or NumPy is laid out in a way that compiled code does not know."""


def function_table(name: str) -> Any:
    """One of NumPy's tables of functions: `_ARRAY_API` or `_UFUNC_API`."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = getattr(import_module("numpy._core._multiarray_umath"), name)
    return ctypes.cast(get(capsule, None), ctypes.POINTER(ctypes.c_void_p))


NEW_UFUNC = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int,
    ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p,
)  # fmt: skip
"""functions, data, types, their count, inputs, outputs, identity, name, doc, unused, signature."""

NEW_ARRAY = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.py_object, ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p,
    ctypes.c_int, ctypes.c_int, ctypes.c_void_p,
)  # fmt: skip
"""type, dimensions, lengths, type number, strides, data, size of an item, flags, object."""

INNER_LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""A ufunc's loop: addresses of arguments, counts, strides, data."""


def single_calls_possible() -> bool:
    """Whether compiled code can read arrays by itself, as the builtin for one state does."""
    return ufuncs_possible() and not _problems_of_single_calls()


def ufuncs_possible() -> bool:
    """Whether ufuncs can be made of compiled code."""
    return not _problems_of_ufuncs()


def test_again() -> None:
    """Let the next use test everything again."""
    _problems_of_single_calls.cache_clear()
    _problems_of_ufuncs.cache_clear()


@cache
def _problems_of_single_calls() -> tuple[str, ...]:
    known = tuple(_of_interpreter())
    if known:
        return known
    problems = _collect(_of_arrays())
    if problems:
        _warn(problems, "single states take the way of a batch")
    return problems


@cache
def _problems_of_ufuncs() -> tuple[str, ...]:
    problems = _collect(_of_ufuncs())
    if problems:
        _warn(problems, "everything is interpreted, as with CHAINRULE_KERNELS=off")
    return problems


def _collect(test: Iterator[str]) -> tuple[str, ...]:
    """The problems that a test finds, an error among them."""
    problems = []
    try:
        for problem in test:
            problems.append(problem)
    except Exception as error:  # whatever it is, compiled code is not to be relied on
        problems.append(f"{type(error).__name__}: {error}")
    return tuple(dict.fromkeys(problems))


def _warn(problems: tuple[str, ...], consequence: str) -> None:
    warnings.warn(
        f"NumPy {np.__version__} on Python {sys.version.split()[0]} is laid out otherwise than compiled code expects "
        f"({'; '.join(problems)}): {consequence}, which is slower and gives the same numbers",
        NumpyLayoutWarning,
        stacklevel=2,
    )


def _of_interpreter() -> Iterator[str]:
    """Interpreters whose objects are known to be laid out otherwise."""
    if sys.implementation.name != "cpython":
        yield f"the interpreter is {sys.implementation.name}"
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        yield "pointers have not 64 bits"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        yield "there is no global lock"
    if hasattr(sys, "getobjects"):
        yield "objects are traced"


def _of_arrays() -> Iterator[str]:
    """Fields of arrays that are not where they should be, and PyArray_New; the version is tested with the ufuncs."""
    tested = np.zeros((3, 10, 2, 1, 2, 1, 2), dtype=np.float64)[:2, 1:9:3]
    unaligned = np.zeros(17, dtype=np.uint8)[1:].view(np.float64)
    places = (TYPE, DATA, NDIM, DIMENSIONS, STRIDES, DESCRIPTOR, FLAGS)
    if not all(0 <= place <= np.ndarray.__basicsize__ - 8 for place in places):
        yield "an array is smaller"
        return
    if _pointer(tested, TYPE) != id(np.ndarray):
        yield "type of an object"
    if _pointer(tested, DATA) != tested.ctypes.data:
        yield "data of an array"
    if _int(tested, NDIM) != tested.ndim:
        yield "dimensions of an array"
    if _pointer(tested, DESCRIPTOR) != id(tested.dtype) or id(tested.dtype) != id(np.dtype(np.float64)):
        yield "type of an array's numbers"
    for array in (tested, unaligned, np.zeros((2, 3))):
        found = _int(array, FLAGS)
        right = bool(found & ALIGNED) == array.flags.aligned and bool(found & CONTIGUOUS) == array.flags.c_contiguous
        if found != array.flags.num or not right:
            yield "flags of an array"
    if np.dtype(np.float64).num != DOUBLE:
        yield "number of the type double"
    yield from _of_objects()
    yield from _of_shape(tested)
    made = NEW_ARRAY(function_table("_ARRAY_API")[NEW_ARRAY_SLOT])(
        np.ndarray, 2, ctypes.addressof((ctypes.c_int64 * 2)(2, 3)), DOUBLE, None, None, 0, 0, None
    )
    if type(made) is not np.ndarray or made.shape != (2, 3) or made.dtype != np.float64 or not made.flags.owndata:
        yield "PyArray_New"


class _Slotted:
    __slots__ = ("only",)
    only: object


def _of_objects() -> Iterator[str]:
    """Slots of objects and items of tuples that are not where they should be."""
    slotted, names = _Slotted(), tuple(map(str, range(11)))
    slotted.only = names
    if not 0 <= FIRST_SLOT <= _Slotted.__basicsize__ - 8 or _pointer(slotted, FIRST_SLOT) != id(names):
        yield "slots of an object"
    if not (0 <= TUPLE_SIZE <= tuple.__basicsize__ - 8 and 0 <= TUPLE_ITEMS <= tuple.__basicsize__):
        yield "a tuple is smaller"
    elif _pointer(names, TUPLE_SIZE) != len(names):
        yield "length of a tuple"
    elif any(_pointer(names, TUPLE_ITEMS + 8 * k) != id(name) for k, name in enumerate(names)):
        yield "items of a tuple"


def _of_shape(array: Any) -> Iterator[str]:
    """NumPy keeps strides right behind lengths, which tells whether the addresses may be followed."""
    lengths, strides = _pointer(array, DIMENSIONS), _pointer(array, STRIDES)
    if not lengths or strides != lengths + 8 * array.ndim:
        yield "lengths and strides of an array"
        return
    several = ctypes.c_int64 * array.ndim
    if tuple(several.from_address(lengths)) != array.shape or tuple(several.from_address(strides)) != array.strides:
        yield "lengths and strides of an array"


def _of_ufuncs() -> Iterator[str]:
    """The place of a ufunc's object, and the function that makes ufuncs, tried on a sum."""
    if not 0 <= UFUNC_OBJECT <= np.ufunc.__basicsize__ - 8 or ctypes.sizeof(ctypes.c_void_p) != 8:
        yield "a ufunc is smaller"
        return

    def function(x: Any) -> Any:
        return x

    if _pointer(np.frompyfunc(function, 1, 1), UFUNC_OBJECT) != id(function):
        yield "object of a ufunc"
    if (np.dtype(np.float32).num, np.dtype(np.float64).num) != (FLOAT, DOUBLE):
        yield "numbers of the types float and double"
        return
    if _array_abi() != ARRAY_ABI:
        yield "version of the array interface"
        return
    loop = INNER_LOOP(_sum_of_two)
    functions = (ctypes.c_void_p * 1)(ctypes.cast(loop, ctypes.c_void_p).value)
    data, types = (ctypes.c_void_p * 1)(), (ctypes.c_char * 2).from_buffer_copy(bytes((DOUBLE, DOUBLE)))
    make = NEW_UFUNC(function_table("_UFUNC_API")[NEW_UFUNC_SLOT])
    made = make(functions, data, types, 1, 1, 1, -1, b"sum", b"", 0, b"(2)->()")
    if not isinstance(made, np.ufunc) or made.signature != "(2)->()" or made(np.array([1.0, 2.0])) != 3.0:
        yield "PyUFunc_FromFuncAndDataAndSignature"


def _sum_of_two(arguments: int, counts: int, strides: int, data: int) -> None:
    source, target = (ctypes.c_int64 * 2).from_address(arguments)
    if ctypes.c_int64.from_address(counts).value == 1:
        ctypes.c_double.from_address(target).value = sum((ctypes.c_double * 2).from_address(source))


def _array_abi() -> int:
    return int(ctypes.PYFUNCTYPE(ctypes.c_uint)(function_table("_ARRAY_API")[ARRAY_ABI_SLOT])())


def _pointer(thing: object, place: int) -> int | None:
    return ctypes.c_void_p.from_address(id(thing) + place).value


def _int(thing: object, place: int) -> int:
    return ctypes.c_int.from_address(id(thing) + place).value
