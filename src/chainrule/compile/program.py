"""A program: straight-line code with calls of larger functions in between, traced from one Python text.

A text that computes with symbols may hand part of its work to a named function: an outlined call. The function is
compiled once, however often it is called, and the text between two calls becomes a segment of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi

from chainrule.compile.tape import Tape
from chainrule.compile.trace import tape_of

Symbols = Sequence[Any]


def symbols(name: str, count: int) -> list[casadi.SX]:
    return [casadi.SX.sym(f"{name}{i}") for i in range(count)]


def tape(inputs: Sequence[Symbols], outputs: Symbols) -> Tape:
    """The tape of expressions in lists of symbols."""
    columns = [_column(part) for part in inputs]
    function = casadi.Function("f", columns, casadi.cse([_column(outputs)]))
    return tape_of(function, tuple(len(part) for part in inputs))


def _column(values: Symbols) -> casadi.SX:
    return casadi.vertcat(*(casadi.SX(value) for value in values)) if len(values) else casadi.SX(0, 1)


@dataclass(frozen=True)
class Segment:
    """Code whose outputs are the arguments of a call, or the result of the program where it is the last.

    The inputs of its tape are those of the program, then the results of all calls before it.
    """

    tape: Tape
    calls: str | None


@dataclass(frozen=True)
class Program:
    """Functions by name, and the segments in order."""

    inputs: tuple[int, ...]
    functions: dict[str, Tape]
    segments: tuple[Segment, ...]

    @property
    def size(self) -> int:
        """Numbers in the result."""
        return len(self.segments[-1].tape.outputs)


class Outliner:
    """Traces a text into a program."""

    def __init__(self, inputs: Sequence[int]) -> None:
        self.lengths = tuple(inputs)
        self.inputs = [symbols(f"i{k}_", n) for k, n in enumerate(inputs)]
        self.functions: dict[str, Tape] = {}
        self.segments: list[Segment] = []
        self.results: list[list[casadi.SX]] = []

    def call(self, name: str, compute: Callable[..., Symbols], *arguments: Symbols) -> list[casadi.SX]:
        """The result of `compute` on these lists, as a call of the function `name`, traced at its first use."""
        lengths = [len(part) for part in arguments]
        if name not in self.functions:
            own = [symbols(f"a{k}_", n) for k, n in enumerate(lengths)]
            flat = [x for part in own for x in part]
            self.functions[name] = tape([flat], compute(*own))
        self._end([x for part in arguments for x in part], name)
        self.results.append(symbols(f"r{len(self.results)}_", len(self.functions[name].outputs)))
        return self.results[-1]

    def _end(self, outputs: Symbols, calls: str | None) -> None:
        self.segments.append(Segment(tape([*self.inputs, *self.results], outputs), calls))

    def program(self, outputs: Symbols) -> Program:
        """The program with this result."""
        self._end(outputs, None)
        return Program(self.lengths, self.functions, tuple(self.segments))
