"""Builtin functions of Python, made from the addresses of compiled code: single calls, and the array call."""

from __future__ import annotations

import ast
import ctypes
import gc
import inspect
import sys
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from chainrule.compile.fast_calls import array_call
from chainrule.compile.fast_calls import numpy_abi as abi
from chainrule.compile.fast_calls.dispatch_table import DispatchTable
from chainrule.compile.runtime import disk_cache, engine, memory_cache


def array_call_address() -> int:
    """The address of the builtin's code, which is compiled once; `numpy_abi.single_calls_possible` says whether."""
    return _code().address("call")


@cache
def _code() -> engine.MachineCode:
    with memory_cache.compile_lock():
        entry = disk_cache.read_or_compile(
            array_call.array_call(), {"robot": "all robots", "function": "array_call", "bits": 64}
        )
        code = engine.MachineCode(entry.code)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address("setup"))(ctypes.addressof(_table()))
        return code


@cache
def _table() -> Any:
    """The addresses of Python's and NumPy's objects and functions that compiled code needs."""
    python = ctypes.pythonapi
    addresses = {
        array_call.ARRAY_TYPE: id(np.ndarray),
        array_call.DOUBLE_TYPE: id(np.dtype(np.float64)),
        array_call.FLOAT_TYPE: id(np.dtype(np.float32)),
        array_call.STRING_TYPE: id(str),
        array_call.NEW_ARRAY: abi.function_table("_ARRAY_API")[abi.NEW_ARRAY_SLOT],
        array_call.VECTORCALL: _address_of(python.PyObject_Vectorcall),
        array_call.COMPARE: _address_of(python.PyObject_RichCompareBool),
        array_call.CALL_ONE: _address_of(python.PyObject_CallOneArg),
        array_call.DECREF: _address_of(python.Py_DecRef),
        array_call.SAVE_THREAD: _address_of(python.PyEval_SaveThread),
        array_call.RESTORE_THREAD: _address_of(python.PyEval_RestoreThread),
    }
    return (ctypes.c_void_p * len(addresses))(*(addresses[k] for k in range(len(addresses))))


def _address_of(function: Any) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


@cache
def setup_table() -> Any:
    """Addresses that calls on one state need: the array type, the double's descriptor, PyArray_New, the array call."""
    new = abi.function_table("_ARRAY_API")[abi.NEW_ARRAY_SLOT]
    return (ctypes.c_void_p * 4)(id(np.ndarray), id(np.dtype(np.float64)), new, array_call_address())


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


Learn = Callable[[DispatchTable, tuple[Any, ...], dict[str, Any]], None]
"""What is called after each call that the builtin did not take: it may add a record of it."""


class _Fallback(DispatchTable):
    """The method of a robot that a builtin hands its other cases to.

    It also keeps the builtin's definition from being used again, and the builtin's code alive, by way of the ufunc of
    the same code. A ufunc's hold on its code is one the garbage collector does not see, so that the code outlives every
    finalizer that may still call the builtin.
    """

    __slots__ = ("call", "keep", "learn")

    def __init__(self, call: Callable[..., Any], learn: Learn | None, keep: tuple[object, object]) -> None:
        super().__init__()
        self.call, self.learn, self.keep = call, learn, keep

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        result = self.call(*arguments, **keywords)
        if self.learn is not None:
            self.learn(self, arguments, keywords)
        if any(type(x) is np.ndarray and x.dtype == np.float32 for x in arguments):
            self.add_single_loops()
        return result

    def __reduce__(self) -> tuple[Callable[[Any], Any], tuple[Any]]:
        """Pickle as the robot: a builtin is pickled as an attribute of what it is bound to."""
        return _itself, (getattr(self.call, "__self__", None),)


def _itself(robot: Any) -> Any:
    return robot


def _bound_fallback(call: Callable[..., Any], learn: Learn | None, keep: tuple[object, object]) -> _Fallback:
    """The fallback of a builtin, in a class with the name of the robot's, which `help` and `repr` show."""
    owner = getattr(call, "__self__", None)
    made = _Fallback if owner is None else _fallback_class(type(owner).__module__, type(owner).__qualname__)
    fallback: _Fallback = made(call, learn, keep)
    return fallback


@cache
def _fallback_class(module: str, name: str) -> Any:
    return type(name, (_Fallback,), {"__slots__": (), "__module__": module, "__qualname__": name})


class _Definitions:
    """Definitions of builtins, which are used again when their builtins are gone.

    Python reads a definition until the very end of a builtin's life, so that its memory is never given back. The end is
    seen by the count of references to an object that the builtin holds: weak references and finalizers are told of an
    end that another finalizer may still prevent.
    """

    MIN_SCANNED = 64

    def __init__(self) -> None:
        self.in_use: list[tuple[_MethodDef, object]] = []
        self.gone: deque[tuple[int, _MethodDef]] = deque()
        """Definitions to use again, each with the number of collections of garbage when it was seen to be free."""
        self.next_scan = self.MIN_SCANNED

    def new(self, name: str, address: int, text: str) -> tuple[_MethodDef, object]:
        """A definition, and an object that the builtin must hold."""
        with memory_cache.compile_lock():
            if len(self.in_use) >= self.next_scan:
                self._scan()
            usable = self.gone and self.gone[0][0] < _collections()  # in a collection, builtins are gone in part only
            definition = self.gone.popleft()[1] if usable else _MethodDef()
            definition.name, definition.doc = name.encode(errors="replace"), text.encode(errors="replace")
            definition.method, definition.flags = address, abi.FASTCALL_WITH_KEYWORDS
            hold = object()
            self.in_use.append((definition, hold))
            return definition, hold

    def _scan(self) -> None:
        """Find the definitions whose builtins are gone: their objects have as few references as one of no builtin."""
        scanned = [*self.in_use, (_MethodDef(), object())]
        *references, fewest = [sys.getrefcount(hold) for _, hold in scanned]
        now, kept = _collections(), []
        for pair, count in zip(self.in_use, references, strict=True):
            if count > fewest:
                kept.append(pair)
            else:
                self.gone.append((now, pair[0]))
        self.in_use = kept
        self.next_scan = max(self.MIN_SCANNED, 2 * len(self.in_use))


def _collections() -> int:
    """Number of collections of garbage that are over."""
    return sum(generation["collections"] for generation in gc.get_stats())


_definitions = _Definitions()


def python_function(
    address: int, fallback: Callable[..., Any], name: str, doc: str, keep: object, learn: Learn | None = None
) -> Any:
    """A builtin function at an address, which hands to `fallback` what it does not take, and keeps `keep` alive.

    Its signature is that of `fallback`, and its `__self__` the records of the array call.
    """
    parameters = text_signature(fallback)
    text = doc if parameters is None else f"{name}{parameters}\n--\n\n{doc}"
    definition, hold = _definitions.new(name, address, text)
    bound = _bound_fallback(fallback, learn, (keep, hold))
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    return make(ctypes.byref(definition), bound, getattr(fallback, "__module__", __name__))


def array_function(fallback: Callable[..., Any], name: str, doc: str, learn: Learn) -> Any:
    """A builtin that takes the arrays which its records tell it to, and hands everything else to `fallback`."""
    return python_function(array_call_address(), fallback, name, doc, None, learn)


def text_signature(function: Callable[..., Any]) -> str | None:
    """The parameters of a function as `inspect` reads them from a builtin's docstring, without annotations.

    None where a default cannot be read back from its text.

    >>> def function(q: float, link: str | None = None, *, frame: str = "world") -> float: ...
    >>> text_signature(function)
    "(q, link=None, *, frame='world')"
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
