"""Tapes that give the same numbers, bit by bit, in machine code made here and in exported code.

Sums, products, quotients and square roots are rounded the same everywhere, as IEEE 754 says, where no two of them are
fused into one. Sine and cosine are not: each library of C has its own. So they are written out here in arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from chainrule.compile.subtape import subtape
from chainrule.compile.tape import Instruction, Tape, Value

HALF_PI = (1.570796325802803, 9.920935739593517e-10, 5.721188726109832e-18)
"""pi/2 in parts, the first two of 27 bits: their products with whole numbers below 2**26 are exact (Cody and Waite)."""

SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
    -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
"""Coefficients of sin(x) = x + x^3 (s0 + s1 x^2 + ..) on [-pi/4, pi/4] (fdlibm, Sun Microsystems, 1993)."""

COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05, -2.75573143513906633035e-07,
    2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip
"""The same of cos(x) = 1 - x^2/2 + x^4 (c0 + c1 x^2 + ..)."""

ROUNDING = 1.5 * 2.0**52
"""Added to a number and taken away again, it rounds the number to a whole one."""


def with_portable_trigonometry(tape: Tape) -> Tape:
    """The tape with sine and cosine in plain arithmetic, right to 1.2e-16."""
    if not any(instruction.operation in ("sin", "cos") for instruction in tape.instructions):
        return tape
    writer = _Writer()
    moved: list[Value] = []
    angles: dict[Value, _Angle] = {}
    for instruction in tape.instructions:
        operands = tuple(moved[v] for v in instruction.operands)
        if instruction.operation in ("sin", "cos"):
            angle = angles.setdefault(operands[0], _Angle(writer, operands[0]))
            moved.append(angle.sine() if instruction.operation == "sin" else angle.cosine())
        else:
            moved.append(writer.add(instruction._replace(operands=operands)))
    outputs = tuple(moved[v] for v in tape.outputs)
    used = subtape(replace(tape, instructions=tuple(writer.instructions), outputs=outputs), outputs)
    return replace(used, is_reproducible=tape.is_reproducible)


class _Writer:
    """Instructions that are added one by one."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self._numbers: dict[float, Value] = {}

    def add(self, instruction: Instruction) -> Value:
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def number(self, x: float) -> Value:
        if x not in self._numbers:
            self._numbers[x] = self.add(Instruction("constant", constant=x))
        return self._numbers[x]

    def __call__(self, operation: str, a: Value, b: Value) -> Value:
        return self.add(Instruction(operation, (a, b)))


class _Angle:
    """An angle as k quarter turns and a rest in [-pi/4, pi/4]."""

    def __init__(self, writer: _Writer, x: Value) -> None:
        self.write = writer
        number, add, sub, mul = writer.number, *(partial(writer, name) for name in ("add", "sub", "mul"))
        big, one, two = number(ROUNDING), number(1.0), number(2.0)
        k = sub(add(mul(x, number(2 / 3.141592653589793)), big), big)
        rest = x
        for part in HALF_PI:
            rest = sub(rest, mul(k, number(part)))
        turns = sub(add(sub(mul(k, number(0.25)), number(0.375)), big), big)
        quadrant = sub(k, mul(number(4.0), turns))
        upper = writer("le", two, quadrant)
        self.odd = sub(quadrant, mul(two, upper))
        self.even = sub(one, self.odd)
        self.sign = sub(one, mul(two, upper))
        """That of the sine."""
        square = mul(rest, rest)
        self.near_sine = add(rest, mul(mul(square, rest), self._polynomial(SINE, square)))
        half = mul(number(0.5), square)
        most = sub(one, half)
        lost = sub(sub(one, most), half)
        self.near_cosine = add(most, add(lost, mul(mul(square, square), self._polynomial(COSINE, square))))

    def _polynomial(self, coefficients: tuple[float, ...], z: Value) -> Value:
        number = self.write.number
        value = number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            value = self.write("add", self.write("mul", value, z), number(c))
        return value

    def _choose(self, in_odd: Value, in_even: Value, sign: Value) -> Value:
        """One of two values, by the quadrant."""
        odd, even = self.write("mul", self.odd, in_odd), self.write("mul", self.even, in_even)
        return self.write("mul", sign, self.write("add", odd, even))

    def sine(self) -> Value:
        return self._choose(self.near_cosine, self.near_sine, self.sign)

    def cosine(self) -> Value:
        write, number = self.write, self.write.number
        sign = write("mul", self.sign, write("sub", number(1.0), write("mul", number(2.0), self.odd)))
        return self._choose(self.near_sine, self.near_cosine, sign)


class Reproducible:
    """A function of lists of scalars whose tape gives the same numbers, bit by bit, wherever it is carried out."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)
