"""A program: straight-line code with calls of larger functions in between, traced from one Python function.

A function that computes with symbols may hand part of its work to a named function: an outlined call. That function is
compiled once, however often it is called, and what lies between two calls becomes a segment of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from chainrule.compile.graph import Graph, Node
from chainrule.compile.portable import Reproducible
from chainrule.compile.tape import Tape

Symbols = Sequence[Any]


def trace_function(function: Callable[..., Symbols], lengths: Sequence[int]) -> Tape:
    """The tape of a function of lists with these lengths."""
    graph = Graph()
    tape = graph.tape(lengths, function(*graph.inputs(lengths)))
    return replace(tape, is_reproducible=isinstance(function, Reproducible))


def unflatten(values: Symbols, lengths: Sequence[int]) -> list[Symbols]:
    """A list cut into lists of these lengths."""
    parts, at = [], 0
    for length in lengths:
        parts.append(values[at : at + length])
        at += length
    return parts


class Location(NamedTuple):
    """The location of a list of numbers that is an argument of a call.

    `source` counts the inputs of the program and then the results of the calls so far; it is None for the outputs of
    the segment before the call. `start` is the first entry.
    """

    source: int | None
    start: int


@dataclass(frozen=True)
class Segment:
    """Code before a call, which computes those arguments that lie nowhere yet; the last one computes the result.

    The inputs of its tape are those of the program, then the results of all calls before it.
    """

    tape: Tape
    calls: str | None
    arguments: tuple[Location, ...] = ()
    when: int | None = None
    """The output of its tape that is 0 where the call is not needed and gives zeros; None where it always is needed."""
    is_iteration: bool = False
    """Whether it is one of a row of calls of one function: the first that is not needed ends the row, and those after
    it give the result of the last one that was made."""


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
    """Traces a function into a program; with `conditions`, one that says when a call is not needed."""

    def __init__(self, inputs: Sequence[int], *, conditions: bool = False) -> None:
        self.conditions = conditions
        self.lengths = tuple(inputs)
        self._graph = Graph()
        self.inputs = self._graph.inputs(inputs)
        self._lengths = list(inputs)
        """Lengths of the inputs, then of the results of all calls so far: the arguments of the next segment."""
        self.functions: dict[str, Tape] = {}
        self.segments: list[Segment] = []

    def call(
        self,
        name: str,
        compute: Callable[..., Symbols],
        *arguments: Symbols,
        when: Callable[[], Any] | None = None,
        is_iteration: bool = False,
    ) -> Symbols:
        """The result of `compute` on these lists, as a call of the function `name`, traced at its first use.

        `when` gives 0 where the call is not needed, as `Segment` says.
        """
        lengths = [len(part) for part in arguments]
        if name not in self.functions:
            self.functions[name] = trace_function(compute, lengths)
        places: list[Location] = []
        computed: list[Any] = []
        for part in arguments:
            place = _place(part)
            if place is None:
                place = Location(None, len(computed))
                computed += part
            places.append(place)
        condition = None
        if self.conditions and when is not None:
            condition = len(computed)
            computed.append(when())
        self._end(computed, name, tuple(places), condition, is_iteration)
        self._lengths.append(len(self.functions[name].outputs))
        return self._graph.argument(len(self._lengths) - 1, self._lengths[-1])

    def _end(
        self,
        outputs: Symbols,
        calls: str | None,
        arguments: tuple[Location, ...] = (),
        when: int | None = None,
        is_iteration: bool = False,
    ) -> None:
        self.segments.append(Segment(self._graph.tape(self._lengths, outputs), calls, arguments, when, is_iteration))

    def program(self, outputs: Symbols) -> Program:
        """The program with this result."""
        self._end(outputs, None)
        return Program(self.lengths, self.functions, tuple(self.segments))


def trace_program(body: Callable[..., Symbols], lengths: Sequence[int], *, conditions: bool = False) -> Program:
    """The program of the body of a loop, a function of (call, *lists with these lengths)."""
    outliner = Outliner(lengths, conditions=conditions)
    return outliner.program(body(outliner.call, *outliner.inputs))


def _place(values: Symbols) -> Location | None:
    """Where these values lie one after the other, in an input or in the result of a call; None where they do not."""
    if not values:
        return Location(None, 0)
    first = values[0]
    if not isinstance(first, Node) or first.operation != "input":
        return None
    source, start = first.a, first.b
    for k, x in enumerate(values):
        if not isinstance(x, Node) or x.operation != "input" or x.a != source or x.b != start + k:
            return None
    return Location(source, start)
