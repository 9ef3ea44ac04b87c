"""NumPy generalized ufuncs, made from the addresses of compiled code."""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from chainrule.compile.fast_calls import numpy_abi as abi
from chainrule.compile.runtime.engine import MachineCode


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

    def __init__(self, code: MachineCode) -> None:
        self.code, self.address = code, code.address("loop")
        size = ctypes.CFUNCTYPE(ctypes.c_int64)(code.address("loop_reserve_bytes"))()
        self.reserve = Reserve(size) if size else None

    @property
    def data(self) -> int:
        """The last argument of the loop: the address of its reserve, or 0."""
        return self.reserve.address if self.reserve else 0


def core_signature(inputs: Sequence[int], output: Sequence[int]) -> str:
    """Core dimensions as NumPy writes them: "(7),(7)->(7,7)"."""
    return f"{','.join(f'({n})' for n in inputs)}->({','.join(map(str, output))})"


def generalized_ufunc(
    single: InnerLoop | None, double: InnerLoop | None, name: str, doc: str, signature: str
) -> np.ufunc:
    """A ufunc of loops for floats and for doubles, which it keeps alive; `core_signature` writes its signature.

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
