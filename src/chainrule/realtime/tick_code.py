"""What all languages need of a tick: its arithmetic, its tables, recorded numbers, and words about it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from chainrule.compile.codegen.c import MARK, inert
from chainrule.compile.portable import with_portable_trigonometry
from chainrule.compile.tape import SYSTEM_FUNCTIONS
from chainrule.control.tick import Running, Tick
from chainrule.kinematics.configurations import random_state

RECORDED_TICKS = 64
"""Ticks in the self-test."""

SIZES = {"velocity": 0.5, "effort": 10.0}
"""Sizes of random inputs in the self-test, by their quantity; 1 otherwise."""

MAX_DIFFERENCE = 1e-14
"""The difference from recorded numbers that the self-test allows, relative to 1 + their size."""

CALLS = 10_000_000
"""Calls whose times the README proposes to measure."""


class TickCode:
    """A tick to be written in some language; `stem` is the identifier that names begin with."""

    def __init__(self, tick: Tick, stem: str) -> None:
        self.tick, self.stem, self.period = tick, stem, tick.period
        self.tape = with_portable_trigonometry(tick.tape())
        self.inputs = {x.name: len(x.names) for x in tick.inputs}
        self.outputs = {x.name: len(x.names) for x in tick.outputs}
        self.memory: list[float] = tick.memory.tolist()
        reference = tick.reference
        self.breaks: list[float] = [] if reference is None else reference.breaks
        """Times between the pieces of the reference, in s; their numbers, and those before and after, are the rows."""
        self.rows: list[list[float]] = [] if reference is None else [row.tolist() for row in reference.rows]
        self.tables = {"parameters": tick.parameters.tolist(), "breaks": self.breaks}
        width = len(self.rows[0]) if self.rows else 0
        lengths = self.inputs | {
            "memory": len(self.memory),
            "row": width,
            "times": 2,
            "parameters": len(tick.parameters),
        }
        self.arguments = {name: length for name, length in lengths.items() if length}
        """The lists that the arithmetic takes, and their lengths."""
        self.system = sorted(set(SYSTEM_FUNCTIONS) & set(self.tape.counts()))
        """Functions of the system that it calls, whose last bits may differ."""
        self.stride = 1 << (max(len(self.breaks), 1).bit_length() - 1)
        """The first stride of the search for a piece, which goes down to 1 by halves."""
        self.comparisons = self.stride.bit_length()

    @property
    def results(self) -> list[tuple[str, int, int]]:
        """The outputs, then the memory: where each begins and ends among the results of the arithmetic."""
        lengths = self.outputs | ({"memory": len(self.memory)} if self.memory else {})
        ends = np.cumsum([*lengths.values()]).tolist()
        return [(name, end - n, end) for (name, n), end in zip(lengths.items(), ends, strict=True)]

    def record(self) -> dict[str, list[list[float]]]:
        """Random inputs, and outputs as this library computes them, at ticks over the motion and a little longer."""
        robot, rng, running = self.tick.robot, np.random.default_rng(0), Running(self.tick)
        columns = {x.name: rng.normal(size=(RECORDED_TICKS, len(x.names))) for x in self.tick.inputs}
        for x in self.tick.inputs:
            states = x.quantity == "position"
            columns[x.name] = random_state(robot, rng, (RECORDED_TICKS,)) if states else (
                SIZES.get(x.quantity or "", 1.0) * columns[x.name]
            )  # fmt: skip
        found = []
        for k, running.count in enumerate(self.ticks):
            found.append(running(*(columns[name][k] for name in self.inputs)))
        columns |= zip(self.outputs, map(np.array, zip(*found, strict=True)), strict=True)
        return {name: values.tolist() for name, values in columns.items()}

    @property
    def ticks(self) -> list[int]:
        """Ticks of the self-test."""
        last = RECORDED_TICKS + 1.1 * (self.breaks[-1] if self.breaks else 0.0) / self.period
        return [int(x) for x in np.linspace(0, last, RECORDED_TICKS)]

    # --- words ---

    @property
    def title(self) -> str:
        """The law, the robot and the rate."""
        return f"{inert(self.tick.kind)} of robot {inert(self.tick.robot.name)}, {1 / self.period:.10g} ticks a second"

    def comment(self, start: str) -> str:
        """Lines about inputs and outputs, each beginning with the sign of a comment."""
        lines = [self.title + "."]
        for x in (*self.tick.inputs, *self.tick.outputs):
            named = ", ".join(f"{inert(n)} {inert(unit)}".strip() for n, unit in zip(x.names, x.units, strict=True))
            text = f"{x.name}[{len(x.names)}]: {inert(x.meaning)}: {named}"
            lines += textwrap.wrap(text, 110, subsequent_indent="    ")
        return "\n".join(start + line for line in lines)

    def readme(self, what: Mapping[str, str], commands: str, call: str) -> str:
        """The text beside the code, in Markdown: signals, use, files and commands."""
        entries = [
            f"| {x.name}[{k}] | {inert(name)} | {inert(unit)} | {inert(x.meaning) if not k else ''} |"
            for x in (*self.tick.inputs, *self.tick.outputs)
            for k, (name, unit) in enumerate(zip(x.names, x.units, strict=True))
        ]
        comparisons = f", with {self.comparisons} comparisons for the piece of the motion" if self.breaks else ""
        exact = "are those of the simulation to the last bit, with any compiler and processor that keep to it."
        if self.system:
            exact = f"are those of the simulation to 1e-14: those of {', '.join(self.system)} are the system's."
        parts = [
            f"<!-- {MARK} -->\n# {self.title}",
            "SI units. Quaternions are (x, y, z, w); velocities of a free joint are angular first, in its own axes.",
            "\n".join(["| | | unit | |", "| --- | --- | --- | --- |", *entries]),
            f"Once every {self.period:.10g} s:",
            textwrap.indent(call, "    "),
            f"It remembers {inert(self.tick.memory_meaning)}; `reset` begins again." if self.memory else "",
            f"The motion is in the code and begins at tick 0: {len(self.breaks) - 1} pieces, {self.breaks[-1]:.6g} s. "
            "After it the reference stands still." if self.breaks else "",
            f"Every tick does the same operations{comparisons}. Nothing is allocated or locked, and no loop depends on "
            f"data. Each operation is rounded by itself, as IEEE 754 says, and sine and cosine are arithmetic: numbers "
            f"{exact} Do not compile with `-ffast-math` or the like.",
            "Not part of it are limits of position and speed, measurements that are old or missing, and the stop.",
            "\n".join(["| file | |", "| --- | --- |", *(f"| {name} | {text} |" for name, text in what.items())]),
            "The self-test, then the times of so many calls (longest, median, 99.99 per cent):",
            textwrap.indent(commands, "    "),
        ]  # fmt: skip
        return "\n\n".join(part for part in parts if part) + "\n"


def table(
    rows: Sequence[Sequence[float]], write: Callable[[float], str], opening: str = "[", closing: str = "]"
) -> str:
    """Rows of numbers, a line for each."""
    return ",\n".join(f"  {opening}{', '.join(map(write, row))}{closing}" for row in rows)
