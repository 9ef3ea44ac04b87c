"""Kernels of Pallas from tapes: the arithmetic of an operator on a GPU, inside programs of JAX.

A program of the kernel computes a block of states, one in each thread: each value of the tape is a vector with a number
for each of them. Triton compiles it while JAX compiles the program around it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from chainrule.compile.partition import partition
from chainrule.compile.tape import Tape
from chainrule.errors import import_optional

jax = import_optional("jax", "robot.jax")
jnp = import_optional("jax.numpy", "robot.jax")
lax = import_optional("jax.lax", "robot.jax")
pallas = import_optional("jax.experimental.pallas", "robot.jax")
triton = import_optional("jax.experimental.pallas.triton", "robot.jax")

BLOCK = 128
"""States of one program of a kernel."""

WARPS = 4
"""Warps of one program: as many threads as states."""

MAX_INSTRUCTIONS = 2500
"""Size of a tape beyond which it becomes several kernels, for Triton's time grows with the square of the size.

Measured beside an H200: 1 s for 900 instructions, 4 s for 1,900, 16 s for 3,100.
"""

PIECE = 700
"""Operations of each of several kernels, that hand values on through memory.

Measured beside an H200, 4,900 instructions: 8 s in pieces of 700, 21 s of 1200, for four fifths of the speed.
"""

MAX_ROW = 8
"""Numbers of a result up to which threads write its rows themselves; wider ones are written by columns, then turned."""

OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lax.add, "sub": lax.sub, "mul": lax.mul, "div": lax.div, "neg": lax.neg, "sqrt": lax.sqrt, "abs": lax.abs,
    "sin": lax.sin, "cos": lax.cos, "atan2": lax.atan2, "pow": lax.pow, "exp": lax.exp, "log": lax.log, "tan": lax.tan,
    "tanh": lax.tanh, "sinh": lax.sinh, "cosh": lax.cosh, "asin": lax.asin, "acos": lax.acos, "atan": lax.atan,
}  # fmt: skip
"""Operations of a tape on numbers; the others are comparisons, logic and choices."""

TESTS: dict[str, Callable[..., Any]] = {
    "lt": lax.lt, "le": lax.le, "eq": lax.eq, "ne": lax.ne,
    "and": lambda a, b: lax.bitwise_and(_is_true(a), _is_true(b)),
    "or": lambda a, b: lax.bitwise_or(_is_true(a), _is_true(b)),
    "not": lambda a: lax.eq(a, _like(a, 0.0)),
}  # fmt: skip
"""Operations that give 1 or 0; any number but 0 is true."""


class StateTable(NamedTuple):
    """Numbers of all states, in an array or in the memory of a kernel: a row for each state, or a column."""

    numbers: Any
    by_columns: bool = False

    def at(self, state: Any, entry: int) -> Any:
        """The memory of an entry of some states."""
        return self.numbers.at[(entry, state) if self.by_columns else (state, entry)]


def evaluate(tape: Tape, arrays: Sequence[Any], *, interpret: bool = False) -> Any:
    """The outputs of a tape, (states, outputs), for arrays (states, length)."""
    tables = [StateTable(array) for array in arrays]
    if len(tape.instructions) <= MAX_INSTRUCTIONS:
        by_columns = len(tape.outputs) > MAX_ROW
        result = _call(tape, tables, by_columns, interpret)
        return result.T if by_columns else result
    pieces = partition(tape, PIECE)
    for piece in pieces.tapes:
        tables.append(StateTable(_call(piece, tables, True, interpret), by_columns=True))
    counts = [0] * len(pieces.tapes)
    for k, place in pieces.outputs:
        counts[k] = max(counts[k], place + 1)
    made = [table.numbers[:count] for table, count in zip(tables[len(arrays) :], counts, strict=True)]
    starts = np.cumsum([0, *counts])
    return jnp.concatenate(made)[np.array([starts[k] + place for k, place in pieces.outputs])].T


def _call(tape: Tape, tables: Sequence[StateTable], by_columns: bool, interpret: bool) -> Any:
    """The outputs of a tape by one kernel, a row or a column for each state."""
    states, kind = tables[0].numbers.shape[0], tables[0].numbers.dtype
    shape = (len(tape.outputs), states) if by_columns else (states, len(tape.outputs))
    read = {i.argument for i in tape.instructions if i.operation == "input"}
    used = {k: table for k, table in enumerate(tables) if k in read}
    layouts = [table.by_columns for table in used.values()]

    def kernel(*memory: Any) -> None:
        given = [StateTable(*pair) for pair in zip(memory, [*layouts, by_columns], strict=True)]
        _compute(tape, dict(zip(used, given[:-1], strict=True)), given[-1], states)

    return pallas.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct(shape, kind, **_axes(tables[0].numbers)),
        grid=(math.ceil(states / BLOCK),),
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=1),
        interpret=interpret,
        name="chainrule",
    )(*(table.numbers for table in used.values()))


def _axes(array: Any) -> dict[str, Any]:
    """The axes of a mesh along which an array differs between devices, as JAX's versions take them."""
    kind = jax.typeof(array)
    return {name: getattr(kind, name) for name in ("manual_axis_type", "vma") if hasattr(kind, name)}


def _compute(tape: Tape, arguments: dict[int, StateTable], out: StateTable, states: int) -> None:
    """The program of a kernel: the outputs for one block of states; those beyond the last are left alone."""
    kind = out.numbers.dtype
    state = pallas.program_id(0) * BLOCK + lax.iota(jnp.int32, BLOCK)
    inside = None if states % BLOCK == 0 else lax.lt(state, lax.full((BLOCK,), states, jnp.int32))

    def entry(argument: int, place: int) -> Any:
        return triton.load(arguments[argument].at(state, place), mask=inside, other=None if inside is None else 0.0)

    values = tape.walk(entry, lambda x: lax.full((BLOCK,), x, kind), _perform)
    for place, value in enumerate(values):
        triton.store(out.at(state, place), value, mask=inside)


def _perform(operation: str, operands: list[Any]) -> Any:
    if operation == "choose":
        return lax.select(_is_true(operands[0]), operands[1], _like(operands[1], 0.0))
    if operation in TESTS:
        return lax.convert_element_type(TESTS[operation](*operands), operands[0].dtype)
    return OPERATIONS[operation](*operands)


def _is_true(x: Any) -> Any:
    return lax.ne(x, _like(x, 0.0))


def _like(x: Any, number: float) -> Any:
    return lax.full(x.shape, number, x.dtype)
