"""A tape: straight-line arithmetic, each value computed once from values before it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

Value = int
"""The index of an instruction."""

ARITHMETIC = {"add": 1, "sub": 1, "mul": 1, "neg": 1, "div": 1, "sqrt": 1}
"""Operations that count as one flop each; a sine or cosine counts as the polynomial that computes it does."""

TRIGONOMETRIC_FLOPS = 20


@dataclass(frozen=True, slots=True)
class Instruction:
    """An operation on earlier values; or, without operands, an input's entry or a constant."""

    operation: str
    operands: tuple[Value, ...] = ()
    argument: int = 0
    entry: int = 0
    constant: float = 0.0


@dataclass(frozen=True)
class Tape:
    """What a function computes.

    `inputs` are the lengths of its arguments, `outputs` the values it returns, in row-major order.
    """

    inputs: tuple[int, ...]
    instructions: tuple[Instruction, ...]
    outputs: tuple[Value, ...]

    def counts(self) -> Counter[str]:
        """How often each operation occurs."""
        return Counter(i.operation for i in self.instructions)

    def flops(self) -> int:
        """Floating-point operations for one state."""
        counts = self.counts()
        plain = sum(counts[name] for name in ARITHMETIC)
        return plain + TRIGONOMETRIC_FLOPS * (counts["sin"] + counts["cos"])
