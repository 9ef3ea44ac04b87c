"""The arithmetic of a tape as statements of languages that differ in their words alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from chainrule.compile.tape import Tape, Value


def exact_number(x: float, not_a_number: str, infinity: str) -> str:
    """A number, exactly, by the words of a language for those that are not finite."""
    text = repr(x) if math.isfinite(x) else not_a_number if math.isnan(x) else infinity if x > 0 else f"-{infinity}"
    return f"({text})" if math.copysign(1.0, x) < 0 else text


class Syntax(NamedTuple):
    """The words of a language: its operations by name, its numbers, and how a value is set."""

    expressions: Mapping[str, str]
    number: Callable[[float], str]
    assignment: str

    def operand(self, tape: Tape, value: Value) -> str:
        """A value where it is used."""
        instruction = tape.instructions[value]
        return self.number(instruction.constant) if instruction.operation == "constant" else f"v{value}"

    def outputs(self, tape: Tape) -> list[str]:
        """The outputs of a tape, as they stand in the text."""
        return [self.operand(tape, value) for value in tape.outputs]

    def statements(self, tape: Tape, arguments: Sequence[str]) -> list[str]:
        """A line for each entry of an argument that is used, and for each operation."""
        lines = []
        for k, instruction in enumerate(tape.instructions):
            if instruction.operation == "input":
                value = f"{arguments[instruction.argument]}[{instruction.entry}]"
            elif instruction.operands:
                operands = [self.operand(tape, v) for v in instruction.operands]
                value = self.expressions[instruction.operation].format(*operands)
            else:
                continue
            lines.append(self.assignment.format(k=k, value=value))
        return lines
