"""NumPy generalised ufuncs and Python functions, made from the addresses of compiled code."""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

_FROM_SIGNATURE = 31
"""Place of PyUFunc_FromFuncAndDataAndSignature in NumPy's table of ufunc functions, which its header fixes."""

_NEW = 93
"""Place of PyArray_New in NumPy's table of array functions."""

_FLOAT, _DOUBLE = 11, 12
_FASTCALL_KEYWORDS = 0x0080 | 0x0002


def _capsule(name: str) -> Any:
    _multiarray_umath = import_module("numpy._core._multiarray_umath")

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(getattr(_multiarray_umath, name), None), ctypes.POINTER(ctypes.c_void_p))


_OBJECT = 88
"""Place in a ufunc, fixed by NumPy's header, of an object that lives as long as the ufunc does."""


def generalised_ufunc(
    single: int | None, double: int | None, name: str, doc: str, signature: str, keep: Any
) -> np.ufunc:
    """A ufunc with loops for floats and doubles at the given addresses, which keeps `keep`, their code, alive.

    NumPy takes the first loop that its arguments can be cast to safely, so floats come first.
    """
    count = signature.split("->", maxsplit=1)[0].count("(") + 1
    loops = [(kind, address) for kind, address in ((_FLOAT, single), (_DOUBLE, double)) if address is not None]
    kinds, addresses = [kind for kind, _ in loops], [address for _, address in loops]
    functions = (ctypes.c_void_p * len(kinds))(*addresses)
    data = (ctypes.c_void_p * len(kinds))()
    types = (ctypes.c_char * (len(kinds) * count)).from_buffer_copy(bytes(kind for kind in kinds for _ in range(count)))
    texts = (
        ctypes.c_char_p(name.encode(errors="replace")),
        ctypes.c_char_p(doc.encode(errors="replace")),
        ctypes.c_char_p(signature.encode()),
    )
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int,
        ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p,
    )  # fmt: skip
    make = prototype(_capsule("_UFUNC_API")[_FROM_SIGNATURE])
    ufunc = make(functions, data, types, len(kinds), count - 1, 1, -1, texts[0], texts[1], 0, texts[2])
    _keep_alive(ufunc, (functions, data, types, texts, keep))
    return ufunc


def _keep_alive(ufunc: np.ufunc, keep: Any) -> None:
    place = ctypes.c_void_p.from_address(id(ufunc) + _OBJECT)
    if place.value is not None:
        raise RuntimeError(f"NumPy {np.__version__} lays out ufuncs in a way this library does not know")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(keep))
    place.value = id(keep)


@cache
def setup_table() -> Any:
    """Addresses that compiled calls need: the array type, the double's descriptor, PyArray_New, PyObject_Vectorcall."""
    vectorcall = ctypes.cast(ctypes.pythonapi.PyObject_Vectorcall, ctypes.c_void_p).value
    new = _capsule("_ARRAY_API")[_NEW]
    return (ctypes.c_void_p * 4)(id(np.ndarray), id(np.dtype(np.float64)), new, vectorcall)


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Fallback:
    """What a builtin hands its other cases to: a method of a robot.

    It also keeps the builtin's code alive, by way of the ufunc of the same code. A ufunc's hold on its code is one the
    garbage collector does not see, so that the code outlives every finalizer that may still call the builtin.
    """

    __slots__ = ("call", "keep")

    def __init__(self, call: Callable[..., Any], keep: np.ufunc) -> None:
        self.call, self.keep = call, keep

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.call(*arguments, **keywords)

    def __reduce__(self) -> tuple[Callable[[Any], Any], tuple[Any]]:
        """A builtin is pickled as an attribute of what it is bound to: let that be the robot."""
        return _itself, (self.call.__self__,)  # type: ignore[attr-defined]


def _itself(robot: Any) -> Any:
    return robot


_DEFINITIONS: list[_MethodDef] = []
"""Definitions of builtins, kept for good: they are read until the very end of a builtin's life, and are small."""


def plain_calls_possible() -> bool:
    """Whether objects are laid out as the compiled calls expect: CPython with a global lock, 64 bits."""
    usual = sys.implementation.name == "cpython" and ctypes.sizeof(ctypes.c_void_p) == 8
    return usual and not sysconfig.get_config_var("Py_GIL_DISABLED") and not hasattr(sys, "getobjects")


def python_function(address: int, fallback: Callable[..., Any], name: str, doc: str, keep: np.ufunc) -> Any:
    """A builtin function at an address, which hands to `fallback` what it does not take, and keeps `keep` alive."""
    texts = (name.encode(errors="replace"), doc.encode(errors="replace"))
    definition = _MethodDef(texts[0], address, _FASTCALL_KEYWORDS, texts[1])
    _DEFINITIONS.append(definition)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(ctypes.byref(definition), _Fallback(fallback, keep), None)
