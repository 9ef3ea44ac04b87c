"""NumPy generalized ufuncs and Python functions, made from the addresses of compiled code."""

from __future__ import annotations

import ast
import ctypes
import gc
import inspect
import os
import sys
import weakref
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from chainrule.compile import memory
from chainrule.compile.load import array_call
from chainrule.compile.load import numpy_abi as abi
from chainrule.compile.load.engine import Code
from chainrule.compile.load.records import Records


class Reserve:
    """Memory for one run of a loop, for when the system has no more: a lock, 1 while it is taken, and an address."""

    def __init__(self, size: int) -> None:
        self.memory = np.empty(size, dtype=np.uint8)
        self.fields = (ctypes.c_int64 * 2)(0, self.memory.ctypes.data)
        _reserves.add(self)

    @property
    def address(self) -> int:
        """Address of the lock, which the address of the memory follows."""
        return ctypes.addressof(self.fields)

    @staticmethod
    def unlock_all() -> None:
        """Unlock every reserve: in a forked child, which has not the threads that had taken them."""
        for reserve in list(_reserves):
            reserve.fields[0] = 0


_reserves: weakref.WeakSet[Reserve] = weakref.WeakSet()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=Reserve.unlock_all)


class InnerLoop:
    """The function `loop` in code, as a ufunc calls it, with its reserve."""

    def __init__(self, code: Code) -> None:
        self.code, self.address = code, code.address("loop")
        size = ctypes.CFUNCTYPE(ctypes.c_int64)(code.address("loop_reserve_bytes"))()
        self.reserve = Reserve(size) if size else None

    @property
    def data(self) -> int:
        """The last argument of the loop: the address of its reserve, or 0."""
        return self.reserve.address if self.reserve else 0


def generalized_ufunc(
    single: InnerLoop | None, double: InnerLoop | None, name: str, doc: str, signature: str
) -> np.ufunc:
    """A ufunc of loops for floats and for doubles, which it keeps alive.

    NumPy takes the first loop that its arguments can be cast to safely, so floats come first.
    """
    arguments = signature.split("->", maxsplit=1)[0].count("(") + 1
    loops = [(kind, loop) for kind, loop in ((abi.FLOAT, single), (abi.DOUBLE, double)) if loop is not None]
    kinds = [kind for kind, _ in loops]
    functions = (ctypes.c_void_p * len(kinds))(*(loop.address for _, loop in loops))
    data = (ctypes.c_void_p * len(kinds))(*(loop.data for _, loop in loops))
    types = (ctypes.c_char * (len(kinds) * arguments)).from_buffer_copy(
        bytes(kind for kind in kinds for _ in range(arguments))
    )
    texts = (
        ctypes.c_char_p(name.encode(errors="replace")),
        ctypes.c_char_p(doc.encode(errors="replace")),
        ctypes.c_char_p(signature.encode()),
    )
    make = abi.NEW_UFUNC(abi.function_table("_UFUNC_API")[abi.NEW_UFUNC_SLOT])
    ufunc: np.ufunc = make(functions, data, types, len(kinds), arguments - 1, 1, -1, texts[0], texts[1], 0, texts[2])
    _keep_alive(ufunc, (functions, data, types, texts, single, double))
    return ufunc


def _keep_alive(ufunc: np.ufunc, keep: Any) -> None:
    place = ctypes.c_void_p.from_address(id(ufunc) + abi.UFUNC_OBJECT)
    if place.value is not None:
        raise RuntimeError(f"NumPy {np.__version__} lays out ufuncs in a way this library does not know")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(keep))
    place.value = id(keep)


@cache
def setup_table() -> Any:
    """Addresses that calls on one state need: the array type, the double's descriptor, PyArray_New, the array call."""
    new = abi.function_table("_ARRAY_API")[abi.NEW_ARRAY_SLOT]
    return (ctypes.c_void_p * 4)(id(np.ndarray), id(np.dtype(np.float64)), new, array_call.address())


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


Learn = Callable[[Records, tuple[Any, ...], dict[str, Any]], None]
"""What is called after each call that the builtin did not take: it may add a record of it."""


class _Fallback(Records):
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
        with memory.building():
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
    return python_function(array_call.address(), fallback, name, doc, None, learn)


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
