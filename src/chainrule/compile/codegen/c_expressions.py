"""The arithmetic of a tape as statements of C, which C and CUDA share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from chainrule.compile.liveness import Spill
from chainrule.compile.tape import SYSTEM_FUNCTIONS, Instruction, Tape, Value


class Real(NamedTuple):
    """The type of numbers in a text: its name, and what its numbers and functions end with."""

    name: str = "double"
    suffix: str = ""
    sincos: str | None = None
    """The function that gives the sine and the cosine of any angle at once, where there is one."""
    reciprocal: str | None = None
    """The function for one divided by a number, where the division itself is not the best."""


class NearAngles(NamedTuple):
    """Variables that hold angles, by their values in the tape, and the function for those that are not large."""

    names: Mapping[Value, str]
    sincos: str


DOUBLE = Real()


NO_ANGLES = NearAngles({}, "")


def statements(
    tape: Tape,
    real: Real = DOUBLE,
    *,
    outputs_last: bool = True,
    angles: NearAngles = NO_ANGLES,
    kept: Mapping[Value, Spill] | None = None,
) -> str:
    """Each value as a constant `v<k>`, and each entry of `out`, last or as soon as it is known.

    `x<i>` are the arguments. Where the outputs come last, `out` may be one of them. `kept` are values that are read
    from `KEEP(slot)` from some place on.
    """
    used = {t.argument for t in tape.instructions if t.operation == "input"}
    lines = [f"  (void)x{i};\n" for i in range(len(tape.inputs)) if i not in used]
    writer = _StatementWriter(tape, real, angles, kept or {})
    for k in range(len(tape.instructions)):
        lines += [f"  {line}\n" for line in writer.value(k)]
        lines += [] if outputs_last else [f"  {line}\n" for line in writer.outputs(k)]
        lines += [f"  {line}\n" for line in writer.moves(k)]
    if outputs_last:
        lines += [f"  out[{place}] = {writer.operand(value)};\n" for place, value in enumerate(tape.outputs)]
    return "".join(lines)


def number(x: float, real: Real = DOUBLE) -> str:
    """A number, exactly."""
    if not math.isfinite(x):
        return "NAN" if math.isnan(x) else "INFINITY" if x > 0 else "(-INFINITY)"
    text = repr(x) + real.suffix
    return f"({text})" if x < 0 else text


class _StatementWriter:
    """Writes the statements of one tape."""

    def __init__(self, tape: Tape, real: Real, angles: NearAngles, kept: Mapping[Value, Spill]) -> None:
        self.tape, self.real, self.angles = tape, real, angles
        self.memory: dict[Value, str] = {}
        self.moved: dict[int, list[tuple[Value, int]]] = {}
        for value, (slot, after) in kept.items():
            self.moved.setdefault(after, []).append((value, slot))
        self.pairs = sines_and_cosines(tape) if real.sincos else {}
        self.places: dict[Value, list[int]] = {}
        for place, value in enumerate(tape.outputs):
            self.places.setdefault(value, []).append(place)

    def value(self, k: Value) -> Iterator[str]:
        """The statements that compute one value."""
        name, instruction = self.real.name, self.tape.instructions[k]
        if k in self.pairs:
            sine, cosine = self.pairs[k]
            if k == min(sine, cosine):
                value = instruction.operands[0]
                near = self.angles.names.get(value)
                function, angle = (self.angles.sincos, near) if near else (self.real.sincos, self.operand(value))
                yield f"{name} v{sine}, v{cosine};"
                yield f"{function}({angle}, &v{sine}, &v{cosine});"
        elif instruction.operation not in ("input", "constant"):
            yield f"const {name} v{k} = {self.expression(instruction)};"

    def outputs(self, k: Value) -> Iterator[str]:
        """The statements that write one value to all of its places in the result."""
        for place in self.places.get(k, ()):
            yield f"out[{place}] = {self.operand(k)};"

    def moves(self, k: Value) -> Iterator[str]:
        """The statements that move values to memory after one value was computed."""
        for value, slot in self.moved.get(k, ()):
            yield f"KEEP({slot}) = v{value};"
            self.memory[value] = f"KEEP({slot})"

    def operand(self, value: Value) -> str:
        """A value where it is used."""
        if value in self.memory:
            return self.memory[value]
        instruction = self.tape.instructions[value]
        if instruction.operation == "input":
            return f"x{instruction.argument}[{instruction.entry}]"
        if instruction.operation == "constant":
            return number(instruction.constant, self.real)
        return f"v{value}"

    def _is_one(self, value: Value) -> bool:
        instruction = self.tape.instructions[value]
        return instruction.operation == "constant" and instruction.constant == 1.0

    def expression(self, instruction: Instruction) -> str:
        """The right side of a statement."""
        operands = [self.operand(value) for value in instruction.operands]
        operation, (a, b) = instruction.operation, (operands[0], operands[-1])
        one, zero, suffix = number(1.0, self.real), number(0.0, self.real), self.real.suffix
        if operation == "div" and self.real.reciprocal and self._is_one(instruction.operands[0]):
            return f"{self.real.reciprocal}({b})"
        signs = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
        if operation in signs:
            return f"{a} {signs[operation]} {b}"
        tests = {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "and": "&&", "or": "||"}
        if operation in tests:
            return f"{a} {tests[operation]} {b} ? {one} : {zero}"
        if operation in SYSTEM_FUNCTIONS:
            return f"{operation}{suffix}({', '.join(operands)})"
        others = {
            "neg": f"-{a}", "sin": f"sin{suffix}({a})", "cos": f"cos{suffix}({a})", "sqrt": f"sqrt{suffix}({a})",
            "abs": f"fabs{suffix}({a})", "not": f"{a} == {zero} ? {one} : {zero}",
            "choose": f"{a} != {zero} ? {b} : {zero}",
        }  # fmt: skip
        return others[operation]


def sines_and_cosines(tape: Tape) -> dict[Value, tuple[Value, Value]]:
    """For each sine or cosine whose angle has both, the values of the two."""
    found: dict[Value, dict[str, Value]] = {}
    for k, instruction in enumerate(tape.instructions):
        if instruction.operation in ("sin", "cos"):
            found.setdefault(instruction.operands[0], {})[instruction.operation] = k
    pairs = [(both["sin"], both["cos"]) for both in found.values() if len(both) == 2]
    return {value: pair for pair in pairs for value in pair}
