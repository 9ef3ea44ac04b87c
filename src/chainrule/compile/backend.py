"""Compiled or interpreted: the two backends, and the only place that chooses between them.

A backend evaluates four kinds of text over scalars: functions of the table, any other function of lists of scalars, a
text that is repeated in time, and a text that is repeated on each row until the row has ended. Compiled, each becomes
machine code; interpreted, the same text runs on NumPy arrays, a scalar being the numbers of a whole batch.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.compile.jacobian_products import COST, signature
from chainrule.compile.runtime import jit_cache, settings
from chainrule.errors import MissingPackageError, warn_user
from chainrule.functions import reference
from chainrule.functions.reference import scalars_of
from chainrule.functions.table import FUNCTIONS
from chainrule.model import Model
from chainrule.spatial import Scalar

if TYPE_CHECKING:
    from chainrule.compile.cuda.kernel import CudaKernel
    from chainrule.compile.kernel import Kernel
    from chainrule.compile.scan import Rollout
    from chainrule.compile.while_loop import Until

Scalars = Sequence[Scalar]

MAX_VISITS = 200_000
"""Visits of bodies beyond which the arithmetic would take minutes to write down, so that a text is interpreted."""


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
    def of(model: Model, fingerprint: str, function: str, options: Mapping[str, Any] | None = None) -> Call:
        """A call with options from a mapping, whose lists become tuples."""
        pairs = ((name, tuple(x) if isinstance(x, list) else x) for name, x in (options or {}).items())
        return Call(model, fingerprint, function, tuple(sorted(pairs)))

    @property
    def signature(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The lengths of its arguments, and the shape of its result for one state."""
        return signature(self.model, FUNCTIONS[self.function], dict(self.options))

    @property
    def needs_trace(self) -> bool:
        """Whether it is another function than that of the table: one with parameters, or a product."""
        return any(name in ("parameters", "products") for name, _ in self.options)


Text = Callable[..., Scalars]
"""A function of lists of scalars, that returns a list of scalars."""


class Caller(Protocol):
    """Calls of a part of a text that is compiled once, however often it is called."""

    def __call__(
        self,
        name: str,
        compute: Callable[..., Scalars],
        *arguments: Scalars,
        when: Callable[[], Scalar] | None = None,
        is_in_row: bool = False,
    ) -> Scalars:
        """The result of `compute(*arguments)`; one name stands for one function of the arguments alone.

        `when` gives 0 where the result is zeros, or is not used, so that the call may be left out. Of calls in a row it
        gives 0 where this one and the later ones would repeat the last result.
        """


LoopText = Callable[[Caller, Scalars, Scalars, Scalars], Scalars]
"""One repetition of a loop, as a function of (call, parameters, state, signals).

It returns the state after the repetition, followed by the record of it. The signals are those of the three stages of a
step: its start, its middle and its end, one after the other.
"""


@dataclass(frozen=True)
class LoopShape:
    """Numbers that a loop reads and writes in each row: parameters, state, signals of one stage, record."""

    parameters: int
    state: int
    signals: int = 0
    record: int = 0


class Loop(Protocol):
    """A text repeated over rows of states."""

    def __call__(
        self,
        state: Array,
        parameters: Array,
        steps: int,
        signals: Array | None = None,
        records: Array | None = None,
        every: int = 1,
    ) -> None:
        """Move states (rows, state) on in place by `steps` repetitions; write the record of every `every`-th.

        parameters (rows, count), signals (rows, 3 steps, count) and records (rows, n, record) may be left out where
        the shape has none. Rows of parameters and signals may be broadcast.
        """


class UntilLoop(Protocol):
    """A text repeated on each row until the last number of its state is positive."""

    @property
    def rows_at_once(self) -> int:
        """Rows that take no longer than one."""

    def __call__(self, state: Array, parameters: Array) -> None:
        """Repeat on states (rows, state) in place, with parameters (rows, count); in both, rows of adjacent numbers.

        With twice as many states, a row that fails, its last number being more than one, begins again with the state
        in the second half.
        """

    def bind(self, state: Array, parameters: Array) -> Callable[[], None]:
        """A function that repeats on these arrays, which are read and written where they are."""


class Backend(Protocol):
    """An evaluator of texts over scalars on arrays.

    `key` identifies a text in this process: equal keys mean equal arithmetic. `label` says whose it is and `name` what
    it computes, for people who look at the cache. `cost` is the number of visits of bodies that straight-line code
    for the text would make.
    """

    compiles: bool

    def evaluate(self, call: Call, arrays: Sequence[Array], out: Array | None = None) -> Array:
        """A function of the table on arrays whose last dimensions fit: (..., shape of the answer).

        The answer is written into `out` where it is given; it has the right shape and shares no memory with arguments.
        """

    def function(
        self, text: Text, lengths: Sequence[int], key: Hashable, label: str, *, name: str = "function", cost: float = 0
    ) -> Callable[..., Array]:
        """A text as a function of arrays: (..., length) for each list in, (..., count) out."""

    def caller(self, key: Hashable, label: str) -> Caller:
        """Calls on rows of numbers, lists of arrays (rows,), each function being made at its first call."""

    def loop(
        self,
        text: LoopText,
        shape: LoopShape,
        key: Hashable,
        label: str,
        rows: int | None = None,
        *,
        name: str = "rollout",
        cost: float = 0,
    ) -> Loop:
        """A text repeated in time; for a single row, code without vectors."""

    def until(
        self, text: LoopText, shape: LoopShape, key: Hashable, label: str, *, name: str = "until", cost: float = 0
    ) -> UntilLoop:
        """A text, without signals and records, repeated on each row until the last number of its state is positive."""


def is_enabled() -> bool:
    """Whether compiled code is used at all: CHAINRULE_KERNELS=off makes everything interpreted, and so does no LLVM."""
    return settings.word("CHAINRULE_KERNELS") not in settings.OFF and _has_compiler()


@cache
def _has_compiler() -> bool:
    """Whether there is LLVM, as everywhere but on platforms for which llvmlite has no wheel; a warning, once."""
    try:
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


class Interpreted:
    """Texts as they are written, on NumPy arrays: slow, transparent, and the measure of compiled code."""

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
            return jit_cache.keep(("tape", call), lambda: _Interpretation(call))(arrays)
        return reference.evaluate(call.model, call.function, arrays, **dict(call.options))

    def function(
        self, text: Text, lengths: Sequence[int], key: Hashable, label: str, *, name: str = "function", cost: float = 0
    ) -> Callable[..., Array]:
        """The text on the columns of arrays."""

        def evaluate(*arrays: Array) -> Array:
            batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
            result = text(*([array[..., i] for i in range(array.shape[-1])] for array in arrays))
            return columns(result, batch)

        return evaluate

    def caller(self, key: Hashable, label: str) -> Caller:
        """Calls of the functions themselves."""
        return call_directly

    def loop(
        self,
        text: LoopText,
        shape: LoopShape,
        key: Hashable,
        label: str,
        rows: int | None = None,
        *,
        name: str = "rollout",
        cost: float = 0,
    ) -> InterpretedLoop:
        """The text, repetition by repetition."""
        return InterpretedLoop(text, shape)

    def until(
        self, text: LoopText, shape: LoopShape, key: Hashable, label: str, *, name: str = "until", cost: float = 0
    ) -> InterpretedUntil:
        """The text, repetition by repetition."""
        return InterpretedUntil(InterpretedLoop(text, shape))

    def __reduce__(self) -> str:
        return "INTERPRETED"


class _Interpretation:
    """A traced function, evaluated on NumPy arrays."""

    def __init__(self, call: Call) -> None:
        from chainrule.compile.trace import trace

        self.tape = trace(call.model, call.function, **dict(call.options))
        _, self.shape = call.signature

    def __call__(self, arrays: Sequence[Array]) -> Array:
        from chainrule.compile.interpreter import evaluate

        return evaluate(self.tape, arrays, self.shape)


class InterpretedLoop:
    """A text repeated on NumPy arrays."""

    def __init__(self, text: LoopText, shape: LoopShape) -> None:
        self.text, self.shape = text, shape
        self.completed = 0
        """Repetitions that the last call has completed, all of them unless it was interrupted."""

    def __call__(
        self,
        state: Array,
        parameters: Array,
        steps: int,
        signals: Array | None = None,
        records: Array | None = None,
        every: int = 1,
    ) -> None:
        """Move states on in place."""
        rows, size = state.shape
        given = scalars_of(np.broadcast_to(parameters, (rows, parameters.shape[-1])))
        self.completed = 0
        with np.errstate(all="ignore"):
            for k in range(steps if rows else 0):
                stages = [] if signals is None else [x for j in range(3) for x in scalars_of(signals[:, 3 * k + j])]
                result = columns(self.text(call_directly, given, scalars_of(state.copy()), stages), (rows,))
                if records is not None and k % every == 0:
                    records[:, k // every] = result[:, size:]
                state[:] = result[:, :size]
                self.completed = k + 1


class InterpretedUntil:
    """A text repeated on NumPy arrays, on fewer and fewer rows."""

    rows_at_once = 8

    def __init__(self, loop: InterpretedLoop) -> None:
        self.loop = loop

    def __call__(self, state: Array, parameters: Array) -> None:
        """Repeat on states in place."""
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
        """The loop on these arrays."""
        return lambda: self(state, parameters)


class Compiled:
    """Texts as machine code, kept in memory and on disk."""

    compiles = True

    def evaluate(self, call: Call, arrays: Sequence[Array], out: Array | None = None) -> Array:
        """The kernel on arrays, unless the function is empty or too large."""
        kernel = jit_cache.find(call)
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
        if not call.fingerprint:
            raise ValueError("a call is compiled by the fingerprint of its model, and this one has none")

        def build() -> Kernel:
            from chainrule.compile.kernel import Kernel  # under the lock: a fork must not happen in an import either

            return Kernel(call.model, call.function, call.fingerprint, dict(call.options))

        return jit_cache.keep(call, build)

    def cuda_kernel(self, call: Call) -> CudaKernel:
        """The function of a call for graphics processors."""
        from chainrule.compile.cuda.kernel import CudaKernel

        build = partial(CudaKernel, call.model, call.function, call.fingerprint, dict(call.options))
        return jit_cache.keep(("cuda", call), build)

    def function(
        self, text: Text, lengths: Sequence[int], key: Hashable, label: str, *, name: str = "function", cost: float = 0
    ) -> Callable[..., Array]:
        """A generalized ufunc."""
        if cost > MAX_VISITS:
            return INTERPRETED.function(text, lengths, key, label)

        def build() -> np.ufunc:
            from chainrule.compile.program import tape_of_text
            from chainrule.compile.ufunc import batch_function

            return batch_function(tape_of_text(text, lengths), name, label)

        ufunc: Callable[..., Array] = jit_cache.keep(("function", key, tuple(lengths)), build)
        return ufunc

    def caller(self, key: Hashable, label: str) -> Caller:
        """Calls of generalized ufuncs, one for each function."""
        from chainrule.compile.program import split

        made: dict[tuple[str, tuple[int, ...]], Callable[..., Array]] = {}

        def call(name: str, compute: Callable[..., Scalars], *arguments: Scalars, **_: Any) -> Scalars:
            flat = [x for part in arguments for x in part]
            lengths = tuple(map(len, arguments))
            if (name, lengths) not in made:

                def text(whole: Scalars) -> Scalars:
                    return compute(*split(whole, lengths))

                made[name, lengths] = self.function(text, (len(flat),), (key, name, lengths), label, name=name)
            return scalars_of(made[name, lengths](columns(flat, (len(flat[0]),))))

        return call

    def loop(
        self,
        text: LoopText,
        shape: LoopShape,
        key: Hashable,
        label: str,
        rows: int | None = None,
        *,
        name: str = "rollout",
        cost: float = 0,
    ) -> Loop:
        """The loop over rows and repetitions as machine code."""
        if cost > MAX_VISITS:
            return INTERPRETED.loop(text, shape, key, label, rows)
        one_row = rows == 1

        def build() -> Rollout:
            from chainrule.compile.program import Outliner
            from chainrule.compile.runtime import engine
            from chainrule.compile.scan import Rollout

            lanes = 1 if one_row else engine.vector_bits() // 64
            outliner = Outliner((shape.parameters, shape.state, 3 * shape.signals))
            parameters, state, signals = outliner.inputs
            program = outliner.program(text(outliner.call, parameters, state, signals))
            return Rollout(program, shape.record, lanes, name, label)

        return jit_cache.keep(("loop", key, shape, one_row), build)

    def until(
        self, text: LoopText, shape: LoopShape, key: Hashable, label: str, *, name: str = "until", cost: float = 0
    ) -> UntilLoop:
        """The loop over rows, each until its end, as machine code."""
        if cost > MAX_VISITS:
            return INTERPRETED.until(text, shape, key, label)

        def build() -> Until:
            from chainrule.compile.program import Outliner
            from chainrule.compile.runtime import engine
            from chainrule.compile.while_loop import Until

            outliner = Outliner((shape.parameters, shape.state, 0))
            parameters, state, _ = outliner.inputs
            program = outliner.program(text(outliner.call, parameters, state, []))
            return Until(program, engine.vector_bits() // 64, name, label)

        return jit_cache.keep(("until", key, shape), build)

    def __reduce__(self) -> str:
        return "COMPILED"


INTERPRETED = Interpreted()
COMPILED = Compiled()


def is_worth_compiling(call: Call) -> bool:
    """Whether a function is compiled: not where it cannot move, answers nothing, or would take minutes to make."""
    visits = FUNCTIONS[call.function].visits(call.model) * COST ** len(dict(call.options).get("products", ()))
    return bool(call.model.nv) and 0 not in call.signature[1] and visits <= MAX_VISITS


def _is_empty(arrays: Sequence[Array]) -> bool:
    """Whether a batch has no states, so that there is nothing to evaluate or to compile."""
    return any(0 in array.shape[:-1] for array in arrays)


def _no_results(call: Call, arrays: Sequence[Array], dtype: np.dtype[Any]) -> Array:
    """The result for an empty batch."""
    return np.zeros((*np.broadcast_shapes(*(array.shape[:-1] for array in arrays)), *call.signature[1]), dtype)


def call_directly(name: str, compute: Callable[..., Scalars], *arguments: Scalars, **_: Any) -> Scalars:
    """The function itself, called."""
    return compute(*arguments)


def columns(values: Scalars, batch: tuple[int, ...]) -> Array:
    """Scalars, each a number or an array (*batch), as the last dimension of one array."""
    out = np.empty((*batch, len(values)))
    for i, value in enumerate(values):
        out[..., i] = value
    return out
