"""A tape: straight-line arithmetic, each value computed once from values before it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

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
        new = replace(old, operands=tuple(moved[v] for v in old.operands))
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
