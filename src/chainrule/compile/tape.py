"""A tape: straight-line arithmetic, each value computed once from values before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

Value = int
"""The index of an instruction."""

SYSTEM_FUNCTIONS = {
    "atan2": 2, "pow": 2, "exp": 1, "log": 1, "tan": 1, "tanh": 1, "sinh": 1, "cosh": 1, "asin": 1, "acos": 1,
    "atan": 1,
}  # fmt: skip
"""Operations that are functions of the system, being rare here, and the number of operands of each."""

OPERATIONS = {
    "add": 2, "sub": 2, "mul": 2, "div": 2, "neg": 1, "sqrt": 1, "abs": 1, "sin": 1, "cos": 1,
    "lt": 2, "le": 2, "eq": 2, "ne": 2, "and": 2, "or": 2, "not": 1, "choose": 2, **SYSTEM_FUNCTIONS,
}  # fmt: skip
"""All operations with operands, and the number of operands of each.

Comparisons and logic give 1 or 0; any number but 0 is true. `choose` gives its second operand where the first is true,
else 0. Besides these there are `input`, an entry of an argument, and `constant`.
"""

CONDITIONS = frozenset({"lt", "le", "eq", "ne", "and", "or", "not"})
"""Operations that give 1 or 0."""

ARITHMETIC = ("add", "sub", "mul", "neg", "div", "sqrt")
"""Operations that count as one flop each."""

TRIGONOMETRIC_FLOPS = 20
"""Flops of the polynomial that computes a sine or a cosine."""


class Instruction(NamedTuple):
    """An operation on earlier values; or, without operands, an input's entry or a constant."""

    operation: str
    operands: tuple[Value, ...] = ()
    argument: int = 0
    entry: int = 0
    constant: float = 0.0


@dataclass(frozen=True)
class Tape:
    """The arithmetic of a function.

    `inputs` are the lengths of its arguments, `outputs` the values it returns, in row-major order.
    """

    inputs: tuple[int, ...]
    instructions: tuple[Instruction, ...]
    outputs: tuple[Value, ...]
    meanings: tuple[str, ...] = ()
    """Each argument and then the result in words, where somebody has given them: for people who read exported code."""
    is_reproducible: bool = False
    """Whether every operation is rounded by itself, and sines are plain arithmetic: `compile/portable.py`."""

    def walk(
        self,
        entry: Callable[[int, int], Any],
        constant: Callable[[float], Any],
        perform: Callable[[str, list[Any]], Any],
    ) -> list[Any]:
        """The results, value by value: entries of arguments, constants, and operations on values before them."""
        values: list[Any] = []
        for instruction in self.instructions:
            if instruction.operation == "input":
                values.append(entry(instruction.argument, instruction.entry))
            elif instruction.operation == "constant":
                values.append(constant(instruction.constant))
            else:
                values.append(perform(instruction.operation, [values[v] for v in instruction.operands]))
        return [values[v] for v in self.outputs]

    def counts(self) -> Counter[str]:
        """The number of times that each operation occurs."""
        return Counter(i.operation for i in self.instructions)

    def flops(self) -> int:
        """Floating-point operations for one state."""
        counts = self.counts()
        plain = sum(counts[name] for name in ARITHMETIC)
        return plain + TRIGONOMETRIC_FLOPS * (counts["sin"] + counts["cos"])


def with_shared_reciprocals(tape: Tape) -> Tape:
    """The same arithmetic with one division for each divisor: a / d, b / d as a r, b r with r = 1 / d.

    A vector division takes the time of a dozen multiplications. A divisor that is used once stays as it is.
    """
    uses = Counter(i.operands[1] for i in tape.instructions if i.operation == "div")
    instructions: list[Instruction] = []
    moved: list[Value] = []
    reciprocals: dict[Value, Value] = {}
    one: Value | None = None
    for old in tape.instructions:
        new = old._replace(operands=tuple(moved[v] for v in old.operands))
        if old.operation == "div" and uses[old.operands[1]] > 1:
            divisor = old.operands[1]
            if divisor not in reciprocals:
                if one is None:
                    instructions.append(Instruction("constant", constant=1.0))
                    one = len(instructions) - 1
                instructions.append(Instruction("div", (one, moved[divisor])))
                reciprocals[divisor] = len(instructions) - 1
            new = Instruction("mul", (new.operands[0], reciprocals[divisor]))
        instructions.append(new)
        moved.append(len(instructions) - 1)
    return Tape(tape.inputs, tuple(instructions), tuple(moved[v] for v in tape.outputs))
