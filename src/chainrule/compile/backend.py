"""Compiled or interpreted: the two backends, and the only place that chooses between them.

A backend evaluates four kinds of functions over scalars: functions of the table, any other function of lists of
scalars, a scan (a step repeated in time), and a while loop (a step repeated on each row until the row has ended).
Compiled, each is traced and becomes machine code. Interpreted, the same Python function runs on NumPy arrays, a scalar
being one entry of every row of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.compile.jacobian_products import PRODUCT_COST, signature
from chainrule.compile.runtime import memory_cache, settings
from chainrule.errors import MissingPackageError, warn_user
from chainrule.functions import reference
from chainrule.functions.reference import scalars_of
from chainrule.functions.table import FUNCTIONS
from chainrule.model import Model
from chainrule.spatial import Scalar

if TYPE_CHECKING:
    from chainrule.compile.cuda.kernel import CudaKernel
    from chainrule.compile.kernel import Kernel
    from chainrule.compile.scan import CompiledScan
    from chainrule.compile.ufunc import VectorCode
    from chainrule.compile.while_loop import CompiledWhileLoop

Scalars = Sequence[Scalar]

MAX_VISITS = 200_000
"""Visits of bodies beyond which tracing and compiling would take minutes, so that a function is interpreted."""


@dataclass(frozen=True)
class Call:
    """A function of the table, for one model and fixed options.

    Two calls are equal if the fingerprint of the model, the function and the options are.
    """

    model: Model = field(compare=False, repr=False)
    fingerprint: str
    function: str
    options: tuple[tuple[str, Any], ...] = ()

    @staticmethod
    def of(model: Model, function: str, options: Mapping[str, Any] | None = None) -> Call:
        """A call with options from a mapping, whose lists become tuples."""
        pairs = ((name, tuple(x) if isinstance(x, list) else x) for name, x in (options or {}).items())
        return Call(model, model.digest(), function, tuple(sorted(pairs)))

    @property
    def signature(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The lengths of its arguments, and the shape of its result for one state."""
        return signature(self.model, FUNCTIONS[self.function], dict(self.options))

    @property
    def needs_trace(self) -> bool:
        """Whether it is another function than that of the table: one with parameters, or a product."""
        return any(name in ("parameters", "products") for name, _ in self.options)


ScalarFunction = Callable[..., Scalars]
"""A function of lists of scalars, that returns a list of scalars."""


@dataclass(frozen=True)
class Traceable:
    """A function over scalars that a backend traces and compiles, or calls on arrays.

    `key` identifies the function in this process: equal keys mean equal arithmetic. `label` says whose it is and `name`
    what it computes, for people who look at the cache. `cost` is the number of visits of bodies that straight-line code
    would make.
    """

    function: ScalarFunction
    key: Hashable
    label: str
    name: str
    cost: float = 0

    @property
    def is_large(self) -> bool:
        """Whether it is interpreted because compiling it would take minutes."""
        return self.cost > MAX_VISITS


class OutlinedCall(Protocol):
    """A call of an outlined function: one that is compiled once, however often a program calls it."""

    def __call__(
        self,
        name: str,
        compute: Callable[..., Scalars],
        *arguments: Scalars,
        when: Callable[[], Scalar] | None = None,
        is_iteration: bool = False,
    ) -> Scalars:
        """The result of `compute(*arguments)`; one name stands for one function of the arguments alone.

        `when` gives 0 where the result is zeros, or is not used, so that the call may be left out. Of the iterations of
        an unrolled loop it gives 0 where this one and the later ones would repeat the last result.
        """


ReadArrays = Callable[..., Sequence[Array]]
"""What reads the arguments of a function and gives arrays whose batch dimensions fit together."""

Quaternions = tuple[tuple[int, int], ...]
"""The argument and the place in it of each quaternion, which must not be zero."""

LoopBody = Callable[[OutlinedCall, Scalars, Scalars, Scalars], Scalars]
"""The body of a loop: one step as a function of (call, parameters, state, signals).

It returns the state after the step, followed by the record of it. The signals are those of the three stages of a step:
its start, its middle and its end, one after the other.
"""


@dataclass(frozen=True)
class LoopShape:
    """Lengths of what a loop reads and writes in each row: parameters, state, signals of one stage, record."""

    parameters: int
    state: int
    signals: int = 0
    record: int = 0

    @property
    def inputs(self) -> tuple[int, int, int]:
        """The lengths of the lists that the body takes."""
        return self.parameters, self.state, 3 * self.signals


Scan: TypeAlias = "InterpretedScan | CompiledScan"
"""A step repeated in time over rows of states, as `jax.lax.scan`: the state is carried, records are stacked."""

WhileLoop: TypeAlias = "InterpretedWhileLoop | CompiledWhileLoop"
"""A step repeated on each row until the last entry of its state is positive."""


class Backend(Protocol):
    """An evaluator of functions over scalars on arrays."""

    compiles: bool

    def evaluate(self, call: Call, arrays: Sequence[Array], out: Array | None = None) -> Array:
        """A function of the table on arrays whose last dimensions fit: (..., shape of the answer).

        The answer is written into `out` where it is given; it has the right shape and shares no memory with arguments.
        """

    def function(self, source: Traceable, lengths: Sequence[int]) -> Callable[..., Array]:
        """A function of arrays: (..., length) for each list in, (..., count) out."""

    def vector_function(
        self, source: Traceable, lengths: Sequence[int], read: ReadArrays, quaternions: Quaternions = ()
    ) -> Callable[..., Array]:
        """A function of vectors for loops of one's own; what are not plain vectors of their lengths go to `read`."""

    def outlined_call(self, key: Hashable, label: str) -> OutlinedCall:
        """Calls on rows of values, lists of arrays (rows,); each function is compiled at its first call."""

    def scan(self, source: Traceable, shape: LoopShape, rows: int | None = None) -> Scan:
        """A loop body repeated in time; for a single row, code without vectors."""

    def while_loop(self, source: Traceable, shape: LoopShape) -> WhileLoop:
        """A loop body without signals and records, repeated on each row until its state ends with a positive entry."""


def is_enabled() -> bool:
    """Whether compiled code is used at all: CHAINRULE_KERNELS=off makes everything interpreted, and so does no LLVM."""
    return settings.word("CHAINRULE_KERNELS") not in settings.OFF and _has_compiler()


@cache
def _has_compiler() -> bool:
    """Whether there is LLVM, as everywhere but on platforms for which llvmlite has no wheel; a warning, once."""
    try:
        with memory_cache.compile_lock():  # a fork must not happen in an import
            import_module("chainrule.compile.runtime.engine")
    except MissingPackageError as error:
        warn_user(
            "everything is interpreted, which gives the same numbers and is slower, single calls and simulations about "
            "a thousand times, large batches about thirty times: llvmlite, which makes machine code, cannot be "
            f"imported ({error.__cause__}). CHAINRULE_KERNELS=off asks for this without a warning",
            UserWarning,
        )
        return False
    return True


def active(backend: Backend) -> Backend:
    """The backend that evaluates where this one is wanted: INTERPRETED wherever compiled code cannot be used."""
    if not (backend.compiles and is_enabled()):
        return INTERPRETED
    from chainrule.compile.fast_calls import numpy_abi

    return COMPILED if numpy_abi.ufuncs_possible() else INTERPRETED


class InterpretingBackend:
    """Functions as they are written, on NumPy arrays: slow, transparent, and the oracle of compiled code."""

    compiles = False

    def evaluate(self, call: Call, arrays: Sequence[Array], out: Array | None = None) -> Array:
        """The algorithm of the table on arrays; its products with vectors instruction by instruction."""
        result = self._evaluate(call, arrays)
        if out is None:
            return result
        out[...] = result
        return out

    def _evaluate(self, call: Call, arrays: Sequence[Array]) -> Array:
        if _is_empty(arrays):
            return _no_results(call, arrays, np.dtype(np.float64))
        if call.needs_trace:
            return memory_cache.get_or_build(("tape", call), lambda: _interpreted_tape(call))(arrays)
        return reference.evaluate(call.model, call.function, arrays, **dict(call.options))

    def function(self, source: Traceable, lengths: Sequence[int]) -> Callable[..., Array]:
        """The function on the columns of arrays."""

        def evaluate(*arrays: Array) -> Array:
            batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
            result = source.function(*([array[..., i] for i in range(array.shape[-1])] for array in arrays))
            return columns(result, batch)

        return evaluate

    def vector_function(
        self, source: Traceable, lengths: Sequence[int], read: ReadArrays, quaternions: Quaternions = ()
    ) -> Callable[..., Array]:
        """The function on the columns of what is read."""
        function = self.function(source, lengths)

        def call(*arguments: Any) -> Array:
            with np.errstate(all="ignore"):
                return function(*read(*arguments))

        return call

    def outlined_call(self, key: Hashable, label: str) -> OutlinedCall:
        """Calls of the functions themselves."""
        return call_inline

    def scan(self, source: Traceable, shape: LoopShape, rows: int | None = None) -> InterpretedScan:
        """The body, step by step."""
        return InterpretedScan(source.function)

    def while_loop(self, source: Traceable, shape: LoopShape) -> InterpretedWhileLoop:
        """The body, step by step."""
        return InterpretedWhileLoop(InterpretedScan(source.function))

    def __reduce__(self) -> str:
        return "INTERPRETED"


def _interpreted_tape(call: Call) -> Callable[..., Array]:
    """A traced function, evaluated on NumPy arrays."""
    from chainrule.compile.interpreter import evaluate
    from chainrule.compile.trace import trace

    return partial(evaluate, trace(call.model, call.function, **dict(call.options)), shape=call.signature[1])


class InterpretedScan:
    """A loop body repeated on NumPy arrays."""

    def __init__(self, body: LoopBody) -> None:
        self.body = body
        self.completed = 0
        """Steps that the last call has completed, all of them unless it was interrupted."""

    def __call__(
        self,
        state: Array,
        parameters: Array,
        steps: int,
        signals: Array | None = None,
        records: Array | None = None,
        every: int = 1,
    ) -> None:
        """Move states (rows, state) on in place by `steps` steps; write the record of every `every`-th.

        parameters (rows, count), signals (rows, 3 steps, count) and records (rows, n, record) may be left out where
        the shape has none. Rows of parameters and signals may be broadcast.
        """
        rows, size = state.shape
        given = scalars_of(np.broadcast_to(parameters, (rows, parameters.shape[-1])))
        self.completed = 0
        with np.errstate(all="ignore"):
            for k in range(steps if rows else 0):
                stages = [] if signals is None else [x for j in range(3) for x in scalars_of(signals[:, 3 * k + j])]
                result = columns(self.body(call_inline, given, scalars_of(state.copy()), stages), (rows,))
                if records is not None and k % every == 0:
                    records[:, k // every] = result[:, size:]
                state[:] = result[:, :size]
                self.completed = k + 1


class InterpretedWhileLoop:
    """A loop body repeated on NumPy arrays, on fewer and fewer rows."""

    rows_at_once = 8
    """Rows that take no longer than one: the width of a vector."""

    def __init__(self, loop: InterpretedScan) -> None:
        self.loop = loop

    def __call__(self, state: Array, parameters: Array) -> None:
        """Repeat on states (rows, state) in place, with parameters (rows, count); both contiguous along each row.

        With twice as many states, a row that fails, its last entry being more than one, begins again with the state in
        the second half.
        """
        count = len(parameters)
        self._repeat(state, parameters, np.arange(count))
        if len(state) > count:
            self._repeat(state[count:], parameters, np.flatnonzero(state[:count, -1] > 1))

    def _repeat(self, state: Array, parameters: Array, rows: NDArray[np.intp]) -> None:
        while len(rows):
            some = state[rows]
            self.loop(some, parameters[rows], 1)
            state[rows] = some
            rows = rows[~(some[:, -1] > 0)]

    def bind(self, state: Array, parameters: Array) -> Callable[[], None]:
        """A function that repeats on these arrays, which are read and written where they are."""
        return lambda: self(state, parameters)


class CompilingBackend:
    """Functions traced, compiled to machine code, and cached in memory and on disk."""

    compiles = True

    def evaluate(self, call: Call, arrays: Sequence[Array], out: Array | None = None) -> Array:
        """The kernel on arrays, unless the function is empty or too large."""
        kernel = memory_cache.lookup(call)
        if kernel is None:
            if not is_worth_compiling(call):
                return INTERPRETED.evaluate(call, arrays, out)
            if _is_empty(arrays):
                single = all(array.dtype == np.float32 for array in arrays)
                return _no_results(call, arrays, np.dtype(np.float32 if single else np.float64)) if out is None else out
            kernel = self.kernel(call)
        with np.errstate(all="ignore"):
            result: Array = kernel.spread(arrays, out)
        return result

    def kernel(self, call: Call) -> Kernel:
        """The compiled function of a call."""

        def build() -> Kernel:
            from chainrule.compile.kernel import Kernel  # under the lock: a fork must not happen in an import either

            return Kernel(call.model, call.function, call.fingerprint, dict(call.options))

        return memory_cache.get_or_build(call, build)

    def cuda_kernel(self, call: Call) -> CudaKernel:
        """The function of a call for graphics processors."""
        from chainrule.compile.cuda.kernel import CudaKernel

        build = partial(CudaKernel, call.model, call.function, call.fingerprint, dict(call.options))
        return memory_cache.get_or_build(("cuda", call), build)

    def function(self, source: Traceable, lengths: Sequence[int]) -> Callable[..., Array]:
        """A generalized ufunc."""
        if source.is_large:
            return INTERPRETED.function(source, lengths)

        def build() -> np.ufunc:
            from chainrule.compile.program import trace_function
            from chainrule.compile.ufunc import compile_ufunc

            return compile_ufunc(trace_function(source.function, lengths), source.name, source.label)

        ufunc: Callable[..., Array] = memory_cache.get_or_build(("function", source.key, tuple(lengths)), build)
        return ufunc

    def vector_function(
        self, source: Traceable, lengths: Sequence[int], read: ReadArrays, quaternions: Quaternions = ()
    ) -> Callable[..., Array]:
        """A builtin."""
        if source.is_large:
            return INTERPRETED.vector_function(source, lengths, read)

        def build() -> VectorCode:
            from chainrule.compile.program import trace_function
            from chainrule.compile.ufunc import VectorCode

            return VectorCode(trace_function(source.function, lengths), quaternions, source.name, source.label)

        code: VectorCode = memory_cache.get_or_build(("vectors", source.key, tuple(lengths)), build)
        return code.builtin(read)

    def outlined_call(self, key: Hashable, label: str) -> OutlinedCall:
        """Calls of generalized ufuncs, one for each function."""
        from chainrule.compile.portable import Reproducible
        from chainrule.compile.program import unflatten

        made: dict[tuple[str, tuple[int, ...]], Callable[..., Array]] = {}

        def call(name: str, compute: Callable[..., Scalars], *arguments: Scalars, **_: Any) -> Scalars:
            flat = [x for part in arguments for x in part]
            lengths = tuple(map(len, arguments))
            if (name, lengths) not in made:
                function: ScalarFunction = lambda x: compute(*unflatten(x, lengths))  # noqa: E731
                function = Reproducible(function) if isinstance(compute, Reproducible) else function
                source = Traceable(function, (key, name, lengths), label, name)
                made[name, lengths] = self.function(source, (len(flat),))
            return scalars_of(made[name, lengths](columns(flat, (len(flat[0]),))))

        return call

    def scan(self, source: Traceable, shape: LoopShape, rows: int | None = None) -> Scan:
        """The loop over rows and steps as machine code."""
        if source.is_large:
            return INTERPRETED.scan(source, shape, rows)
        one_row = rows == 1

        def build() -> CompiledScan:
            from chainrule.compile.codegen.vectorize import Lanes
            from chainrule.compile.program import trace_program
            from chainrule.compile.runtime import engine
            from chainrule.compile.scan import CompiledScan

            lanes = Lanes(64, 1) if one_row else engine.lanes(64)
            program = trace_program(source.function, shape.inputs)
            return CompiledScan(program, shape.record, lanes, source.name, source.label)

        return memory_cache.get_or_build(("scan", source.key, shape, one_row), build)

    def while_loop(self, source: Traceable, shape: LoopShape) -> WhileLoop:
        """The loop over rows, each until its end, as machine code."""
        if source.is_large:
            return INTERPRETED.while_loop(source, shape)

        def build() -> CompiledWhileLoop:
            from chainrule.compile.program import trace_program
            from chainrule.compile.runtime import engine
            from chainrule.compile.while_loop import CompiledWhileLoop

            return CompiledWhileLoop(
                trace_program(source.function, shape.inputs), engine.lanes(64), source.name, source.label
            )

        return memory_cache.get_or_build(("while", source.key, shape), build)

    def __reduce__(self) -> str:
        return "COMPILED"


INTERPRETED = InterpretingBackend()
COMPILED = CompilingBackend()


def is_worth_compiling(call: Call) -> bool:
    """Whether a function is compiled: not where it cannot move, answers nothing, or would take minutes to make."""
    visits = FUNCTIONS[call.function].visits(call.model) * PRODUCT_COST ** len(dict(call.options).get("products", ()))
    return bool(call.model.nv) and 0 not in call.signature[1] and visits <= MAX_VISITS


def _is_empty(arrays: Sequence[Array]) -> bool:
    """Whether a batch has no states, so that there is nothing to evaluate or to compile."""
    return any(0 in array.shape[:-1] for array in arrays)


def _no_results(call: Call, arrays: Sequence[Array], dtype: np.dtype[Any]) -> Array:
    """The result for an empty batch."""
    return np.zeros((*np.broadcast_shapes(*(array.shape[:-1] for array in arrays)), *call.signature[1]), dtype)


def call_inline(name: str, compute: Callable[..., Scalars], *arguments: Scalars, **_: Any) -> Scalars:
    """The function itself, called."""
    return compute(*arguments)


def columns(values: Scalars, batch: tuple[int, ...]) -> Array:
    """Scalars, each a number or an array (*batch), as the last dimension of one array."""
    out = np.empty((*batch, len(values)))
    for i, value in enumerate(values):
        out[..., i] = value
    return out
