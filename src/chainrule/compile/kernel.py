"""A kernel: one function of one robot, as machine code, behind a NumPy generalized ufunc."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from chainrule import __version__
from chainrule.arguments import is_lazy, real_array
from chainrule.compile.codegen.batch_loop import CoreSignature
from chainrule.compile.codegen.module import batch_module
from chainrule.compile.fast_calls import builtins, gufunc, numpy_abi
from chainrule.compile.fast_calls.dispatch_table import KernelLoops, LoopPointer
from chainrule.compile.fast_calls.single_call import MAX_SINGLE_CALL_INSTRUCTIONS, add_single_call
from chainrule.compile.fast_calls.xla_handler import XlaHandler
from chainrule.compile.jacobian_products import signature
from chainrule.compile.runtime import disk_cache, engine, memory_cache, threads
from chainrule.compile.tape import Tape
from chainrule.errors import ShapeError
from chainrule.functions.table import FUNCTIONS
from chainrule.model import Model
from chainrule.quantities import is_quantity

T = TypeVar("T")

MAX_PLAIN_ROWS = 1 << 20
"""Rows beyond which a call takes the longer way of a batch, whatever they cost."""

MAX_LOCKED_FLOPS = 500_000
"""Flops beyond which Python's lock is given up for the time of a loop: some tens of microseconds."""


class Kernel:
    """A compiled function, with its signature, size and code.

    Call it like any NumPy ufunc, with `out=`, `dtype=` and broadcasting; large batches are spread over threads.

    >>> import chainrule as cr
    >>> kernel = cr.load("planar_2r").compiled.kernel("mass_matrix")
    >>> kernel.signature, kernel([0.0, 0.0]).tolist()
    ('(2)->(2,2)', [[5.0, 2.0], [2.0, 1.0]])
    """

    def __init__(self, model: Model, name: str, fingerprint: str, options: dict[str, Any]) -> None:
        self.name = name
        self.robot = model.name
        self._model, self._options, self._fingerprint = model, options, fingerprint
        self._made: dict[str, Any] = {}
        entry = FUNCTIONS[name]
        lengths, shape = signature(model, entry, options)
        quaternions = tuple(
            (i, at)
            for i, argument in enumerate(entry.takes)
            if argument.is_configuration
            for _, at in model.quaternions
        )
        self._shape = CoreSignature(lengths, shape, quaternions)
        self._for_one_state = "products" not in options
        started = time.perf_counter()
        self._double, facts, self.cached = self._code(64)
        self.compile_seconds = time.perf_counter() - started
        """Time spent on tracing and compiling it, or on loading it from the cache; `cached` tells which."""
        self.instructions: int = facts["instructions"]
        self.flops: int = facts["flops"]
        """Floating-point operations for one state."""
        self.operations: dict[str, int] = facts["operations"]

    @property
    def signature(self) -> str:
        """Core dimensions, as a generalized ufunc writes them."""
        return gufunc.core_signature(self._shape.inputs, self._shape.output)

    @property
    def lanes(self) -> int:
        """States that one vector of doubles holds."""
        return engine.lanes(64).width

    @property
    def tape(self) -> Tape:
        """The arithmetic itself."""

        def build() -> Tape:
            from chainrule.compile.trace import trace

            return trace(self._model, self.name, **self._options)

        return self._made_once("tape", build)

    def _made_once(self, what: str, build: Callable[[], T]) -> T:
        """Something that is built when it is first asked for, under the lock of all compilations."""
        if what not in self._made:
            with memory_cache.compile_lock():
                if what not in self._made:
                    self._made[what] = build()
        thing: T = self._made[what]
        return thing

    def _code(self, bits: int) -> tuple[engine.MachineCode, dict[str, Any], bool]:
        """Machine code for one precision, from the cache or made now, and what is known of it."""
        key = disk_cache.key_of(
            {
                "model": self._fingerprint, "function": self.name, "options": self._options, "bits": bits,
                "version": __version__, "llvm": engine.version(),
            }
        )  # fmt: skip
        entry = disk_cache.read(key)
        if entry is not None:
            return engine.MachineCode(entry.code), entry.facts, True
        tape = self.tape
        facts = {
            "robot": self.robot, "function": self.name, "bits": bits, "instructions": len(tape.instructions),
            "flops": tape.flops(), "operations": dict(tape.counts()),
        }  # fmt: skip
        entry = disk_cache.CacheEntry(engine.compile_text(self.ir(bits)), facts)
        disk_cache.write(key, entry)
        return engine.MachineCode(entry.code), facts, False

    def ir(self, bits: int = 64) -> str:
        """The LLVM IR that the code is made from: for doubles, with the call on one state; or for floats."""
        is_small = len(self.tape.instructions) <= MAX_SINGLE_CALL_INSTRUCTIONS
        module = batch_module(self.tape, self._shape, engine.lanes(bits))
        if bits == 64 and self._for_one_state and is_small:
            add_single_call(module, self.tape, self._shape)
        return module.text()

    def assembly(self, bits: int = 64) -> str:
        """The machine code, as assembly text."""
        return engine.assembly(self.ir(bits))

    @property
    def _single(self) -> gufunc.InnerLoop:
        return self._made_once("single", lambda: gufunc.InnerLoop(self._code(32)[0]))

    @property
    def _double_loop(self) -> gufunc.InnerLoop:
        return self._made_once("double loop", lambda: gufunc.InnerLoop(self._double))

    def xla_handler(self, bits: int) -> XlaHandler:
        """A handler of XLA's foreign function interface that computes it in one precision."""
        loop = self._double_loop if bits == 64 else self._single
        return self._made_once(f"xla {bits}", lambda: XlaHandler(loop, self._shape, bits))

    @property
    def _double_ufunc(self) -> np.ufunc:
        found: np.ufunc | None = self._made.get("double ufunc")
        return found or self._made_once("double ufunc", lambda: self._ufunc(self._double_loop))

    @property
    def _single_ufunc(self) -> np.ufunc:
        return self._made_once("single ufunc", lambda: self._ufunc(None, self._single))

    @property
    def ufunc(self) -> np.ufunc:
        """The generalized ufunc, with loops for floats and for doubles."""
        return self._made_once("ufunc", lambda: self._ufunc(self._double_loop, self._single))

    def _ufunc(self, double: gufunc.InnerLoop | None, single: gufunc.InnerLoop | None = None) -> np.ufunc:
        doc = f"{self.name} of robot {self.robot}, compiled"
        return gufunc.generalized_ufunc(single, double, self.name, doc, self.signature)

    @property
    def has_plain_call(self) -> bool:
        """Whether a builtin can compute one state: not where its scratch memory would strain a stack."""
        is_small = self.instructions <= MAX_SINGLE_CALL_INSTRUCTIONS
        return self._for_one_state and is_small and numpy_abi.single_calls_possible()

    def plain_call(self, fallback: Callable[..., Any], doc: str, learn: builtins.Learn | None = None) -> Any:
        """A builtin with the signature of `fallback` for one state, and for what its records say."""
        code = self._double
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address("setup"))(ctypes.addressof(builtins.setup_table()))
        return builtins.python_function(
            code.address("call"), fallback, self.name.rpartition(".")[2], doc, self._double_ufunc, learn
        )

    @property
    def target(self) -> KernelLoops:
        """The loops, for calls that go straight to them."""
        return self._made_once("target", self._target)

    def _target(self) -> KernelLoops:
        loop, shape, flops = self._double_loop, self._shape, max(1, self.flops)
        return KernelLoops(
            LoopPointer(loop.address, loop.data, self._double_ufunc),
            self._plain_single_loop,
            shape.inputs,
            shape.output,
            shape.quaternions,
            max_rows=min(MAX_PLAIN_ROWS, (threads.MIN_FLOPS_TO_SPREAD - 1) // flops),
            max_rows_locked=MAX_LOCKED_FLOPS // flops,
        )

    def _plain_single_loop(self) -> LoopPointer | None:
        if "single ufunc" not in self._made:
            return None
        return LoopPointer(self._single.address, self._single.data, self._single_ufunc)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """As the ufunc; plain arrays of a large batch are spread over threads."""
        arrays = [a if type(a) is np.ndarray else self._read(a) for a in arguments]
        out = options.get("out")
        is_plain = all(type(a) is np.ndarray and a.ndim for a in arrays) and self._matches(arrays)
        if not is_plain or options.keys() - {"out"} or not (out is None or self._takes_result(out, arrays)):
            return self.ufunc(*arrays, **options)
        return self.spread(arrays, out)

    def _read(self, value: Any) -> Any:
        """An argument that is no plain array: lists as arrays; quantities are refused, for a kernel knows no units."""
        if is_lazy(value):
            raise ShapeError(
                f"kernel {self.name!r} takes numbers, and not Dask arrays, as the functions of a robot do; call one of "
                "these, or .compute() of the Dask array first"
            )
        if isinstance(value, (list, tuple)) or is_quantity(value):
            return real_array(value, f"kernel {self.name!r}: an argument")
        return value

    def _matches(self, arrays: list[NDArray[Any]]) -> bool:
        lengths = self._shape.inputs
        return len(arrays) == len(lengths) and all(a.shape[-1] == n for a, n in zip(arrays, lengths, strict=True))

    def _takes_result(self, out: Any, arrays: list[NDArray[Any]]) -> bool:
        """Whether parts of the result can be written into an array by several threads."""
        if type(out) is not np.ndarray or any(np.may_share_memory(out, a) for a in arrays):
            return False
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        dtype = np.float32 if all(a.dtype == np.float32 for a in arrays) else np.float64
        return out.dtype == dtype and out.shape == (*batch, *self._shape.output)

    def spread(self, arrays: Sequence[NDArray[Any]], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """The result for arrays whose shapes fit, into `out` if it is given; in single precision if all of them are."""
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        single = all(a.dtype == np.float32 for a in arrays)
        if out is None:
            out = np.empty((*batch, *self._shape.output), dtype=np.float32 if single else np.float64)
        threads.spread(self._single_ufunc if single else self._double_ufunc, arrays, out, batch, self.flops, self.lanes)
        return out

    def __reduce__(self) -> tuple[type[Kernel], tuple[Any, ...]]:
        """Machine code does not travel: what it is made from does."""
        return Kernel, (self._model, self.name, self._fingerprint, self._options)

    def __repr__(self) -> str:
        size = f"{self.instructions} instructions, {self.flops} flops"
        return f"<Kernel {self.name} of {self.robot!r} {self.signature}: {size}>"
