"""NumPy generalized ufuncs and Python functions, made from the addresses of compiled code."""

from __future__ import annotations

import ast
import ctypes
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from chainrule.compile.load import numpy_abi as abi


def generalized_ufunc(
    single: int | None, double: int | None, name: str, doc: str, signature: str, keep: Any
) -> np.ufunc:
    """A ufunc with loops for floats and doubles at the given addresses, which keeps `keep`, their code, alive.

    NumPy takes the first loop that its arguments can be cast to safely, so floats come first.
    """
    count = signature.split("->", maxsplit=1)[0].count("(") + 1
    loops = [(kind, address) for kind, address in ((abi.FLOAT, single), (abi.DOUBLE, double)) if address is not None]
    kinds, addresses = [kind for kind, _ in loops], [address for _, address in loops]
    functions = (ctypes.c_void_p * len(kinds))(*addresses)
    data = (ctypes.c_void_p * len(kinds))()
    types = (ctypes.c_char * (len(kinds) * count)).from_buffer_copy(bytes(kind for kind in kinds for _ in range(count)))
    texts = (
        ctypes.c_char_p(name.encode(errors="replace")),
        ctypes.c_char_p(doc.encode(errors="replace")),
        ctypes.c_char_p(signature.encode()),
    )
    make = abi.NEW_UFUNC(abi.function_table("_UFUNC_API")[abi.NEW_UFUNC_SLOT])
    ufunc: np.ufunc = make(functions, data, types, len(kinds), count - 1, 1, -1, texts[0], texts[1], 0, texts[2])
    _keep_alive(ufunc, (functions, data, types, texts, keep))
    return ufunc


def _keep_alive(ufunc: np.ufunc, keep: Any) -> None:
    place = ctypes.c_void_p.from_address(id(ufunc) + abi.UFUNC_OBJECT)
    if place.value is not None:
        raise RuntimeError(f"NumPy {np.__version__} lays out ufuncs in a way this library does not know")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(keep))
    place.value = id(keep)


@cache
def setup_table() -> Any:
    """Addresses that compiled calls need: the array type, the double's descriptor, PyArray_New, PyObject_Vectorcall."""
    vectorcall = ctypes.cast(ctypes.pythonapi.PyObject_Vectorcall, ctypes.c_void_p).value
    new = abi.function_table("_ARRAY_API")[abi.NEW_ARRAY_SLOT]
    return (ctypes.c_void_p * 4)(id(np.ndarray), id(np.dtype(np.float64)), new, vectorcall)


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Fallback:
    """The method of a robot that a builtin hands its other cases to.

    It also keeps the builtin's code alive, by way of the ufunc of the same code. A ufunc's hold on its code is one the
    garbage collector does not see, so that the code outlives every finalizer that may still call the builtin.
    """

    __slots__ = ("call", "keep")

    def __init__(self, call: Callable[..., Any], keep: np.ufunc) -> None:
        self.call, self.keep = call, keep

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.call(*arguments, **keywords)

    def __reduce__(self) -> tuple[Callable[[Any], Any], tuple[Any]]:
        """Pickle as the robot: a builtin is pickled as an attribute of what it is bound to."""
        return _itself, (getattr(self.call, "__self__", None),)


def _itself(robot: Any) -> Any:
    return robot


def _bound_fallback(call: Callable[..., Any], keep: np.ufunc) -> _Fallback:
    """The fallback of a builtin, in a class with the name of the robot's, which `help` and `repr` show."""
    owner = getattr(call, "__self__", None)
    made = _Fallback if owner is None else _fallback_class(type(owner).__module__, type(owner).__qualname__)
    fallback: _Fallback = made(call, keep)
    return fallback


@cache
def _fallback_class(module: str, name: str) -> Any:
    return type(name, (_Fallback,), {"__slots__": (), "__module__": module, "__qualname__": name})


_DEFINITIONS: list[_MethodDef] = []
"""Definitions of builtins, kept for good: they are read until the very end of a builtin's life, and are small."""


def python_function(address: int, fallback: Callable[..., Any], name: str, doc: str, keep: np.ufunc) -> Any:
    """A builtin function at an address, which hands to `fallback` what it does not take, and keeps `keep` alive.

    Its signature is that of `fallback`.
    """
    parameters = text_signature(fallback)
    text = doc if parameters is None else f"{name}{parameters}\n--\n\n{doc}"
    definition = _MethodDef(
        name.encode(errors="replace"), address, abi.FASTCALL_WITH_KEYWORDS, text.encode(errors="replace")
    )
    _DEFINITIONS.append(definition)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    return make(ctypes.byref(definition), _bound_fallback(fallback, keep), getattr(fallback, "__module__", __name__))


def text_signature(function: Callable[..., Any]) -> str | None:
    """The parameters of a function as `inspect` reads them from a builtin's docstring, without annotations.

    None where a default cannot be read back from its text.

    >>> def function(q: float, link: str | None = None, *, frame: str = "space") -> float: ...
    >>> text_signature(function)
    "(q, link=None, *, frame='space')"
    """
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    empty = inspect.Parameter.empty
    if not all(p.default is empty or _is_literal(p.default) for p in parameters):
        return None
    bare = [p.replace(annotation=empty) for p in parameters]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _is_literal(value: Any) -> bool:
    """Whether a value can be read back from its text."""
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError):
        return False
