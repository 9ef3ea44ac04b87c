"""A kernel on graphics processors: one function of one robot, as CUDA code, on arrays that lie on a device."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from chainrule import __version__
from chainrule.compile.cuda import codegen as emit
from chainrule.compile.cuda import device_arrays
from chainrule.compile.cuda.device_arrays import DeviceArray
from chainrule.compile.cuda.driver import CudaCode, processors
from chainrule.compile.jacobian_products import signature
from chainrule.compile.runtime import disk_cache, memory_cache
from chainrule.compile.tape import Tape
from chainrule.errors import ModelError, ShapeError
from chainrule.functions.table import FUNCTIONS
from chainrule.model import Model

MAX_INSTRUCTIONS = 100_000
"""Instructions beyond which the CUDA compiler would take minutes."""


class CudaKernel:
    """A function on arrays of CuPy, PyTorch or JAX on a CUDA device, in float32 or float64.

    Call it with arrays (..., length) of one type on one device; batch dimensions broadcast. The result is an array of
    the same library on the same device, or `out`. Nothing is copied, and nothing is waited for: the work is queued in
    the library's current stream. Code is made at the first call with a type, and kept on disk.

    >>> import chainrule as cr
    >>> kernel = cr.load("planar_2r").compiled.kernel("mass_matrix", target="cuda")
    >>> kernel.signature, "__global__" in kernel.source(32)
    ('(2)->(2,2)', True)
    """

    def __init__(self, model: Model, name: str, fingerprint: str, options: dict[str, Any]) -> None:
        self.name = name
        self.robot = model.name
        self._model, self._options, self._fingerprint = model, options, fingerprint
        self._lengths, self._shape = signature(model, FUNCTIONS[name], options)
        self._names = _argument_names(name, options, len(self._lengths))
        self._codes: dict[int, CudaCode] = {}
        self._facts: dict[int, dict[str, Any]] = {}
        self.compile_seconds = 0.0
        """Time spent on tracing, on writing code, or on loading it from the cache."""

    @property
    def signature(self) -> str:
        """Core dimensions, as a generalized ufunc writes them."""
        core = ",".join(f"({n})" for n in self._lengths)
        return f"{core}->({','.join(map(str, self._shape))})"

    @property
    def tape(self) -> Tape:
        """The arithmetic itself."""
        from chainrule.compile.trace import trace

        return trace(self._model, self.name, **self._options)

    @property
    def instructions(self) -> int:
        """Instructions of the tape."""
        return int(self._facts_of(32)["instructions"])

    @property
    def flops(self) -> int:
        """Floating-point operations for one state."""
        return int(self._facts_of(32)["flops"])

    def source(self, bits: int = 32) -> str:
        """The CUDA C that the code is made from, for floats (32) or doubles (64)."""
        if bits not in emit.REALS:
            raise ShapeError(f"bits must be 32 or 64, got {bits!r}")
        return self._code(bits).text

    def build(self, architecture: str = "sm_90", bits: Sequence[int] = (32, 64)) -> None:
        """Make code for a kind of processor, such as "sm_90", and keep it on disk; no device is needed."""
        for each in bits:
            self._code(each).machine_code(architecture)

    def _facts_of(self, bits: int) -> dict[str, Any]:
        self._code(bits)
        return self._facts[bits]

    def _code(self, bits: int) -> CudaCode:
        """The code for one precision; its text comes from the cache or is written now."""
        if bits not in self._codes:
            with memory_cache.compile_lock():
                if bits not in self._codes:
                    started = time.perf_counter()
                    text, self._facts[bits] = self._text(bits)
                    self._codes[bits] = CudaCode(text, self._facts[bits])
                    self.compile_seconds += time.perf_counter() - started
        return self._codes[bits]

    def _text(self, bits: int) -> tuple[str, dict[str, Any]]:
        key = disk_cache.key_of(
            {
                "model": self._fingerprint, "function": self.name, "options": self._options, "bits": bits,
                "version": __version__, "target": "cuda",
            }
        )  # fmt: skip
        entry = disk_cache.read(key)
        if entry is None:
            tape = self.tape
            if len(tape.instructions) > MAX_INSTRUCTIONS:
                raise ModelError(
                    f"{self.name} of robot {self.robot!r} has {len(tape.instructions)} instructions, more than the "
                    f"{MAX_INSTRUCTIONS} that are compiled for graphics processors; target='cpu' computes it"
                )
            layout = emit.shared_memory_of(tape, bits)
            facts = {
                "robot": self.robot, "function": self.name, "bits": bits, "instructions": len(tape.instructions),
                "flops": tape.flops(), "threads": layout.threads, "parts": len(layout.parts),
                "blocks": layout.blocks,
            }  # fmt: skip
            text = emit.prelude(bits) + emit.batch_kernel(self.name, tape, bits)
            entry = disk_cache.CacheEntry(text.encode("ascii"), facts)
            disk_cache.write(key, entry)
        return entry.code.decode("ascii"), entry.facts

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        """The result for arrays on a device, of shape (..., shape of the function's answer)."""
        arrays = self._read(arguments)
        bits, device = device_arrays.common(arrays, self._names, self.name)
        batch = self._batch(arrays)
        strides = self._strides(arrays, batch)
        library = arrays[0].library
        shape = (*batch, *self._shape)
        if out is None:
            made = device_arrays.empty(library, shape, bits, device, f"the result of {self.name}")
            target, result = device_arrays.read(made, "the result"), made
        else:
            target, result = self._target(out, shape, arrays, bits, device), None
        count = math.prod(batch)
        if count and math.prod(self._shape):
            code, facts = self._code(bits), self._facts[bits]
            rows = [x for array, stride in zip(arrays, strides, strict=True) for x in (array.pointer, stride)]
            most = facts["blocks"] * processors(device)
            blocks = (min(-(-count // facts["threads"]), most), facts["parts"])
            stream = library.stream(device)
            code.launch(
                self.name, blocks, facts["threads"], [count, *rows, target.pointer], device=device, stream=stream
            )
        return out if out is not None else library.result(result)

    def _read(self, arguments: Sequence[Any]) -> list[DeviceArray]:
        if len(arguments) != len(self._lengths):
            raise ShapeError(
                f"{self.name} takes {len(self._lengths)} arguments ({', '.join(self._names)}), got {len(arguments)}"
            )
        arrays = [device_arrays.read(x, f"{self.name}: {name}") for x, name in zip(arguments, self._names, strict=True)]
        for array, length, name in zip(arrays, self._lengths, self._names, strict=True):
            if not array.shape or array.shape[-1] != length:
                raise ShapeError(
                    f"{self.name}: {name} must have {length} numbers in its last dimension, got shape {array.shape}"
                )
        return arrays

    def _batch(self, arrays: Sequence[DeviceArray]) -> tuple[int, ...]:
        first = arrays[0].shape[:-1]
        if all(a.shape[:-1] == first for a in arrays):
            return first
        try:
            return np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        except ValueError:
            shapes = ", ".join(f"{name} {a.shape}" for name, a in zip(self._names, arrays, strict=True))
            raise ShapeError(
                f"{self.name}: the leading (batch) dimensions of the arguments do not fit together: {shapes}"
            ) from None

    def _strides(self, arrays: Sequence[DeviceArray], batch: tuple[int, ...]) -> list[int]:
        strides = []
        for array, name in zip(arrays, self._names, strict=True):
            stride = array.row_stride(batch)
            if stride is None:
                raise ShapeError(
                    f"{self.name}: the numbers of each row of {name} must lie one after the other, and its rows at "
                    f"equal distances over the batch {batch}; make a contiguous copy of it of shape "
                    f"{(*batch, array.shape[-1])}"
                )
            strides.append(stride)
        return strides

    def _target(
        self, out: Any, shape: tuple[int, ...], arrays: Sequence[DeviceArray], bits: int, device: int
    ) -> DeviceArray:
        """The array that the user wants the result to be written into."""
        target = device_arrays.read(out, f"{self.name}: out")
        if target.library is device_arrays.JAX:
            raise ShapeError(f"{self.name}: out cannot be an array of JAX, whose arrays do not change")
        if target.shape != shape or target.bits != bits or target.device != device or not target.is_contiguous:
            raise ShapeError(
                f"{self.name}: out must be contiguous, of shape {shape} and type float{bits} on CUDA device {device}, "
                f"got shape {target.shape} and type float{target.bits} on device {target.device}"
            )
        if any(target.overlaps(array) for array in arrays):
            raise ShapeError(f"{self.name}: out shares memory with an argument, which is read while out is written")
        return target

    def __reduce__(self) -> tuple[type[CudaKernel], tuple[Any, ...]]:
        """What it is made from travels."""
        return CudaKernel, (self._model, self.name, self._fingerprint, self._options)

    def __repr__(self) -> str:
        return f"<CudaKernel {self.name} of {self.robot!r} {self.signature}>"


def _argument_names(function: str, options: dict[str, Any], count: int) -> list[str]:
    """The names of all arguments, for messages."""
    names = [*FUNCTIONS[function].arguments, *(f"wrench on {link!r}" for link in options.get("loads", ()))]
    names += [f"parameter {name!r}" for name in options.get("parameters", ())]
    return names + [f"argument {k}" for k in range(len(names), count)]
