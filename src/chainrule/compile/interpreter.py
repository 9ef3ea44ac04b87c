"""Tapes on arrays, one instruction after the other: slow, and the same arithmetic as compiled code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.compile.tape import CONDITIONS, Tape

NAMES = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative", "lt": "less",
    "le": "less_equal", "eq": "equal", "ne": "not_equal", "and": "logical_and", "or": "logical_or",
    "not": "logical_not", "atan2": "arctan2", "pow": "power", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
}  # fmt: skip
"""Names of a tape's operations in NumPy and in libraries like it, where they differ."""


def operations_of(library: Any, kind: Any) -> Callable[[str, list[Any]], Any]:
    """The operations of a tape by a library like NumPy, on numbers of one type."""

    def run_tape(operation: str, operands: list[Any]) -> Any:
        if operation == "choose":
            return library.where(operands[0] != 0, operands[1], library.zeros((), dtype=kind))
        value = getattr(library, NAMES.get(operation, operation))(*operands)
        return library.asarray(value, dtype=kind) if operation in CONDITIONS else value

    return run_tape


def run_tape(tape: Tape, arrays: Sequence[Any], library: Any) -> list[Any]:
    """The outputs of a tape for arrays (..., length), each (...) or a number, by a library like NumPy."""
    kind = arrays[0].dtype
    return tape.walk(
        lambda argument, entry: arrays[argument][..., entry],
        lambda x: library.asarray(x, dtype=kind),
        operations_of(library, kind),
    )


def evaluate(tape: Tape, arrays: Sequence[NDArray[Any]], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The outputs of a tape for arrays (..., length), as one array (..., *shape)."""
    batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
    out = np.empty((*batch, len(tape.outputs)))
    with np.errstate(all="ignore"):
        for i, value in enumerate(run_tape(tape, [np.asarray(a, dtype=float) for a in arrays], np)):
            out[..., i] = value
    return out.reshape((*batch, *shape))
