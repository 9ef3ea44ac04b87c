"""Tapes on NumPy arrays, one instruction after the other: slow, and the same arithmetic as compiled code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.compile.tape import Tape

OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative, "sqrt": np.sqrt,
    "abs": np.abs, "sin": np.sin, "cos": np.cos, "lt": np.less, "le": np.less_equal, "eq": np.equal,
    "ne": np.not_equal, "and": np.logical_and, "or": np.logical_or, "not": np.logical_not,
    "choose": lambda condition, x: np.where(condition, x, 0.0), "atan2": np.arctan2, "pow": np.power, "exp": np.exp,
    "log": np.log, "tan": np.tan, "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan,
}  # fmt: skip
"""The operations of a tape, on arrays."""


def evaluate(tape: Tape, arrays: Sequence[NDArray[Any]], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """The outputs of a tape for arrays (..., length), as one array (..., *shape)."""
    batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays))
    values: list[Any] = []
    with np.errstate(all="ignore"):
        for instruction in tape.instructions:
            if instruction.operation == "input":
                values.append(arrays[instruction.argument][..., instruction.entry].astype(float))
            elif instruction.operation == "constant":
                values.append(np.float64(instruction.constant))
            else:
                value = OPERATIONS[instruction.operation](*(values[k] for k in instruction.operands))
                values.append(value.astype(float) if value.dtype == bool else value)
    out = np.empty((*batch, len(tape.outputs)))
    for i, k in enumerate(tape.outputs):
        out[..., i] = values[k]
    return out.reshape((*batch, *shape))
