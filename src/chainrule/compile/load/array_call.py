"""The builtin that takes arrays straight to compiled loops: its code, made once."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from chainrule.compile import memory
from chainrule.compile.emit import array_call as emit
from chainrule.compile.load import cache as disk
from chainrule.compile.load import engine
from chainrule.compile.load import numpy_abi as abi


def address() -> int:
    """The address of the builtin's code, which is compiled once; `numpy_abi.single_calls_possible` says whether."""
    return _code().address("call")


@cache
def _code() -> engine.Code:
    with memory.building():
        entry = disk.read_or_compile(emit.array_call(), {"robot": "all robots", "function": "array_call", "bits": 64})
        code = engine.Code(entry.code)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address("setup"))(ctypes.addressof(_table()))
        return code


@cache
def _table() -> Any:
    """The addresses of Python's and NumPy's objects and functions that compiled code needs."""
    python = ctypes.pythonapi
    addresses = {
        emit.ARRAY_TYPE: id(np.ndarray),
        emit.DOUBLE_TYPE: id(np.dtype(np.float64)),
        emit.FLOAT_TYPE: id(np.dtype(np.float32)),
        emit.STRING_TYPE: id(str),
        emit.NEW_ARRAY: abi.function_table("_ARRAY_API")[abi.NEW_ARRAY_SLOT],
        emit.VECTORCALL: _address_of(python.PyObject_Vectorcall),
        emit.COMPARE: _address_of(python.PyObject_RichCompareBool),
        emit.CALL_ONE: _address_of(python.PyObject_CallOneArg),
        emit.DECREF: _address_of(python.Py_DecRef),
        emit.SAVE_THREAD: _address_of(python.PyEval_SaveThread),
        emit.RESTORE_THREAD: _address_of(python.PyEval_RestoreThread),
    }
    return (ctypes.c_void_p * len(addresses))(*(addresses[k] for k in range(len(addresses))))


def _address_of(function: Any) -> int:
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)
