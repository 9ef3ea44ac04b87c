"""A tape computed once more, on scalars of another kind: numbers, or nodes of a graph that it becomes a part of."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from chainrule.compile.tape import Tape
from chainrule.spatial import Scalar

ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "abs": abs, "pow": operator.pow,
}  # fmt: skip
"""Operations that Python has."""

LOGIC: dict[str, Callable[..., Any]] = {
    "lt": lambda a, b: float(a < b), "le": lambda a, b: float(a <= b), "eq": lambda a, b: float(a == b),
    "ne": lambda a, b: float(a != b), "and": lambda a, b: float(bool(a) and bool(b)),
    "or": lambda a, b: float(bool(a) or bool(b)), "not": lambda a: float(not a), "choose": lambda a, b: b if a else 0.0,
}  # fmt: skip
"""Comparisons of numbers, 1 where they hold and else 0, and what follows from them."""


def replay(tape: Tape, arguments: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """The results of a tape on lists of scalars."""
    return walk(tape, lambda argument, entry: arguments[argument][entry], lambda x: x, _perform)


def walk(
    tape: Tape,
    entry: Callable[[int, int], Any],
    constant: Callable[[float], Any],
    perform: Callable[[str, list[Any]], Any],
) -> list[Any]:
    """The results of a tape, value by value: entries of arguments, constants, and operations on values before them."""
    values: list[Any] = []
    for instruction in tape.instructions:
        if instruction.operation == "input":
            values.append(entry(instruction.argument, instruction.entry))
        elif instruction.operation == "constant":
            values.append(constant(instruction.constant))
        else:
            values.append(perform(instruction.operation, [values[v] for v in instruction.operands]))
    return [values[v] for v in tape.outputs]


def _perform(operation: str, values: list[Scalar]) -> Scalar:
    graph = next((x.graph for x in values if hasattr(x, "graph")), None)
    if graph is not None:
        return graph.perform(operation, *values)
    plain = ARITHMETIC.get(operation) or LOGIC.get(operation) or getattr(math, operation)
    return plain(*values)
