"""A kernel: one function of one robot, as machine code, behind a NumPy generalised ufunc."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule import __version__
from chainrule.compile.emit import batch_loop, elementary, single_call
from chainrule.compile.emit.lanes import Lanes, core, scratch_size
from chainrule.compile.load import cache, engine, gufunc, threads
from chainrule.compile.parameters import parameter_length
from chainrule.compile.tape import Tape
from chainrule.functions.table import FUNCTIONS, argument_lengths, shape
from chainrule.model import Model

PLAIN = 50_000
"""Instructions beyond which a call on one state takes the way of a batch."""


class Kernel:
    """The compiled function, and what is known of it.

    Call it like any NumPy ufunc, with `out=`, `dtype=` and broadcasting; large batches are spread over threads.

    >>> import chainrule as cr
    >>> kernel = cr.load("planar_2r").kernel("mass_matrix")
    >>> kernel.signature, kernel([0.0, 0.0]).tolist()
    ('(2)->(2,2)', [[5.0, 2.0], [2.0, 1.0]])
    """

    def __init__(self, model: Model, name: str, fingerprint: str, options: dict[str, Any]) -> None:
        self.name = name
        self.robot = model.name
        self._model, self._options, self._fingerprint = model, options, fingerprint
        parameters = options.get("parameters", ())
        lengths = argument_lengths(model, name, options.get("loads", ()))
        lengths += tuple(parameter_length(model, parameter) for parameter in parameters)
        starts = tuple(at for _, at in model.quaternions) if FUNCTIONS[name].arguments[0] in ("q", "q0") else ()
        self._shape = batch_loop.Signature(lengths, shape(model, name, **options), starts)
        started = time.perf_counter()
        self._double, facts, self.cached = self._code(64)
        self.compile_seconds = time.perf_counter() - started
        """What it took to trace and compile it, or to load it from the cache; `cached` tells which."""
        self.instructions: int = facts["instructions"]
        self.flops: int = facts["flops"]
        """Floating-point operations for one state."""
        self.operations: dict[str, int] = facts["operations"]

    @property
    def signature(self) -> str:
        """Core dimensions, as a generalised ufunc writes them."""
        return self._shape.numpy

    @property
    def lanes(self) -> int:
        """States that one vector of doubles holds."""
        return _wide(64).width

    @cached_property
    def tape(self) -> Tape:
        """The arithmetic itself."""
        from chainrule.compile.trace import trace

        return trace(self._model, self.name, **self._options)

    def _code(self, bits: int) -> tuple[engine.Code, dict[str, Any], bool]:
        """Machine code for one precision, from the cache or made now, and what is known of it."""
        key = cache.key_of(
            {
                "model": self._fingerprint, "function": self.name, "options": self._options, "bits": bits,
                "version": __version__, "llvm": engine.version(),
            }
        )  # fmt: skip
        entry = cache.read(key)
        if entry is not None:
            return engine.Code(entry.code), entry.facts, True
        tape = self.tape
        facts = {
            "robot": self.robot, "function": self.name, "bits": bits, "instructions": len(tape.instructions),
            "flops": tape.flops(), "operations": dict(tape.counts()),
        }  # fmt: skip
        entry = cache.Entry(engine.compile_text(self.ir(bits)), facts)
        cache.write(key, entry)
        return engine.Code(entry.code), facts, False

    def ir(self, bits: int = 64) -> str:
        """The LLVM IR that the code is made from: for doubles, with the plain call on one state; or for floats."""
        tape, lanes = self.tape, _wide(bits)
        parts = [elementary.SYSTEM, batch_loop.DECLARATIONS, _functions(tape, lanes, "core"), batch_loop.masked(lanes)]
        loop = batch_loop.batch_loop(self._shape, lanes, "core", scratch_size(tape, lanes), "loop")
        parts += [batch_loop.pack(lanes), batch_loop.unpack(lanes), loop]
        if bits == 64:
            one = Lanes(64, 1)
            parts.append(_functions(tape, one, "core_one"))
            parts.append(single_call.plain_call(self._shape, "core_one", scratch_size(tape, one), "call"))
        return "".join([*parts, elementary.LIKELY])

    def assembly(self, bits: int = 64) -> str:
        """The machine code, as assembly text."""
        return engine.assembly(self.ir(bits))

    @cached_property
    def _single(self) -> engine.Code:
        return self._code(32)[0]

    @cached_property
    def _double_ufunc(self) -> np.ufunc:
        return self._ufunc(self._double)

    @cached_property
    def _single_ufunc(self) -> np.ufunc:
        return self._ufunc(None, self._single)

    @cached_property
    def ufunc(self) -> np.ufunc:
        """The generalised ufunc, with loops for floats and for doubles."""
        return self._ufunc(self._double, self._single)

    def _ufunc(self, double: engine.Code | None, single: engine.Code | None = None) -> np.ufunc:
        doc = f"{self.name} of robot {self.robot}, compiled"
        floats, doubles = (code.address("loop") if code else None for code in (single, double))
        return gufunc.generalised_ufunc(floats, doubles, self.name, doc, self.signature, keep=(single, double))

    @property
    def has_plain_call(self) -> bool:
        """Whether one state can be computed by a plain call: not where its scratch memory would strain a stack."""
        return gufunc.plain_calls_possible() and self.instructions <= PLAIN

    def plain_call(self, fallback: Callable[..., Any], doc: str) -> Any:
        """A builtin function for one state, which hands everything else to `fallback`."""
        code = self._double
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address("setup"))(ctypes.addressof(gufunc.setup_table()))
        return gufunc.python_function(code.address("call"), fallback, self.name, doc, keep=self._double_ufunc)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """As the ufunc; plain arrays of a large batch are spread over threads."""
        arrays = [np.asarray(a) if isinstance(a, (list, tuple)) else a for a in arguments]
        if options or not all(type(a) is np.ndarray and a.ndim for a in arrays) or not self._matches(arrays):
            return self.ufunc(*arrays, **options)
        return self.spread(arrays)

    def _matches(self, arrays: list[NDArray[Any]]) -> bool:
        lengths = self._shape.inputs
        return len(arrays) == len(lengths) and all(a.shape[-1] == n for a, n in zip(arrays, lengths, strict=True))

    def spread(self, arrays: list[NDArray[Any]]) -> NDArray[Any]:
        """The result for arrays whose shapes fit; in single precision if all of them are."""
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
        single = all(a.dtype == np.float32 for a in arrays)
        out = np.empty((*batch, *self._shape.output), dtype=np.float32 if single else np.float64)
        threads.spread(self._single_ufunc if single else self._double_ufunc, arrays, out, batch, self.flops, self.lanes)
        return out

    def __repr__(self) -> str:
        size = f"{self.instructions} instructions, {self.flops} flops"
        return f"<Kernel {self.name} of {self.robot!r} {self.signature}: {size}>"


def _wide(bits: int) -> Lanes:
    return Lanes(bits, engine.vector_bits() // bits)


def _functions(tape: Tape, lanes: Lanes, name: str) -> str:
    """A core with all that it calls."""
    return elementary.functions(lanes, [tape]) + core(tape, lanes, name)
