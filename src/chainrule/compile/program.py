"""A program: straight-line code with calls of larger functions in between, traced from one Python text.

A text that computes with symbols may hand part of its work to a named function: an outlined call. The function is
compiled once, however often it is called, and the text between two calls becomes a segment of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from chainrule.compile.graph import Graph
from chainrule.compile.tape import Tape

Symbols = Sequence[Any]


def tape_of_text(text: Callable[..., Symbols], lengths: Sequence[int]) -> Tape:
    """The tape of a function of lists with these lengths."""
    graph = Graph()
    return graph.tape(lengths, text(*graph.inputs(lengths)))


def split(values: Symbols, lengths: Sequence[int]) -> list[Symbols]:
    """A list cut into lists of these lengths."""
    parts, at = [], 0
    for length in lengths:
        parts.append(values[at : at + length])
        at += length
    return parts


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

    @property
    def flops(self) -> int:
        """Flops of one run, for one state."""
        called = [self.functions[segment.calls] for segment in self.segments if segment.calls]
        return sum(tape.flops() for tape in (*(segment.tape for segment in self.segments), *called))


class Outliner:
    """Traces a text into a program."""

    def __init__(self, inputs: Sequence[int]) -> None:
        self.lengths = tuple(inputs)
        self._graph = Graph()
        self.inputs = self._graph.inputs(inputs)
        self._lengths = list(inputs)
        """Lengths of the inputs, then of the results of all calls so far: the arguments of the next segment."""
        self.functions: dict[str, Tape] = {}
        self.segments: list[Segment] = []

    def call(self, name: str, compute: Callable[..., Symbols], *arguments: Symbols) -> Symbols:
        """The result of `compute` on these lists, as a call of the function `name`, traced at its first use."""
        lengths = [len(part) for part in arguments]
        if name not in self.functions:
            graph = Graph()
            flat = graph.argument(0, sum(lengths))
            self.functions[name] = graph.tape([sum(lengths)], compute(*split(flat, lengths)))
        self._end([x for part in arguments for x in part], name)
        self._lengths.append(len(self.functions[name].outputs))
        return self._graph.argument(len(self._lengths) - 1, self._lengths[-1])

    def _end(self, outputs: Symbols, calls: str | None) -> None:
        self.segments.append(Segment(self._graph.tape(self._lengths, outputs), calls))

    def program(self, outputs: Symbols) -> Program:
        """The program with this result."""
        self._end(outputs, None)
        return Program(self.lengths, self.functions, tuple(self.segments))
