"""Any tape as a function of NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.compile.codegen.batch_loop import CoreSignature
from chainrule.compile.codegen.module import IrModule, batch_module
from chainrule.compile.fast_calls import builtins, gufunc, numpy_abi
from chainrule.compile.fast_calls.single_call import MAX_SINGLE_CALL_INSTRUCTIONS, add_single_call
from chainrule.compile.runtime import disk_cache, engine
from chainrule.compile.tape import Tape


def compile_ufunc(tape: Tape, name: str, label: str) -> np.ufunc:
    """A generalized ufunc that computes a tape, a vector of its outputs for vectors of its inputs."""
    signature = CoreSignature(tape.inputs, (len(tape.outputs),))
    return _ufunc(_machine_code(batch_module(tape, signature, engine.lanes(64)), name, label), signature, name, label)


class VectorCode:
    """A tape as a builtin for single vectors, and as a ufunc for all else."""

    def __init__(self, tape: Tape, quaternions: tuple[tuple[int, int], ...], name: str, label: str) -> None:
        signature = CoreSignature(tape.inputs, (len(tape.outputs),), quaternions)
        module = batch_module(tape, signature, engine.lanes(64))
        self.name = name
        self.is_direct = len(tape.instructions) <= MAX_SINGLE_CALL_INSTRUCTIONS and numpy_abi.single_calls_possible()
        if self.is_direct:
            add_single_call(module, tape, signature)
        self.code = _machine_code(module, name, label)
        self.ufunc = _ufunc(self.code, signature, name, label)

    def builtin(self, read: Callable[..., Sequence[Array]]) -> Callable[..., Array]:
        """The function of vectors, which hands what are none of its lengths to `read` first."""

        def call(*arguments: Any) -> Array:
            with np.errstate(all="ignore"):
                found: Array = self.ufunc(*read(*arguments))
            return found

        if not self.is_direct:
            return call
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code.address("setup"))(ctypes.addressof(builtins.setup_table()))
        made: Callable[..., Array] = builtins.python_function(
            self.code.address("call"), call, self.name, self.ufunc.__doc__ or "", self.ufunc
        )
        return made


def _machine_code(module: IrModule, name: str, label: str) -> engine.MachineCode:
    entry = disk_cache.read_or_compile(module.text(), {"robot": label, "function": name, "bits": 64})
    return engine.MachineCode(entry.code)


def _ufunc(code: engine.MachineCode, signature: CoreSignature, name: str, label: str) -> np.ufunc:
    core = gufunc.core_signature(signature.inputs, signature.output)
    return gufunc.generalized_ufunc(None, gufunc.InnerLoop(code), name, label, core)
