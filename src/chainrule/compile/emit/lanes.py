"""Vector code for a tape: LLVM IR text in which every value is a vector, a lane for each state.

A core function reads tiles, arrays [entry][lane], and writes one. Long tapes are split into parts that hand values on
through scratch memory, so that the compiler's time grows in proportion to the tape. So are the stores of outputs that
need no arithmetic, of which a matrix of a wide tree has thousands: zeros are filled in at once.
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass

from chainrule.compile.tape import SYSTEM_FUNCTIONS, Instruction, Tape, Value

PART_INSTRUCTIONS = 1000
"""Instructions in one part of a core function."""

PART_STORES = 250
"""Stores of outputs without arithmetic in one part of a core function."""

MAX_PLACES = 16
"""Places in the output of one value that are written where it is computed; with more, all are written at the end."""


@dataclass(frozen=True)
class Lanes:
    """A number of lanes of one floating-point type."""

    bits: int
    width: int

    @property
    def scalar(self) -> str:
        return "double" if self.bits == 64 else "float"

    @property
    def vector(self) -> str:
        return self.scalar if self.width == 1 else f"<{self.width} x {self.scalar}>"

    @property
    def mask(self) -> str:
        return "i1" if self.width == 1 else f"<{self.width} x i1>"

    @property
    def integer(self) -> str:
        return f"i{self.bits}" if self.width == 1 else f"<{self.width} x i{self.bits}>"

    @property
    def size(self) -> int:
        """Bytes of a vector."""
        return self.bits // 8 * self.width

    @property
    def suffix(self) -> str:
        """For the names of LLVM's intrinsics."""
        return f"f{self.bits}" if self.width == 1 else f"v{self.width}f{self.bits}"

    def number(self, x: float) -> str:
        """A constant in all lanes. LLVM writes floats, too, as the bits of a double."""
        rounded = x if self.bits == 64 else ctypes.c_float(x).value  # beyond its range infinity
        text = "0x" + struct.pack(">d", rounded).hex().upper()
        return text if self.width == 1 else f"splat ({self.scalar} {text})"

    def whole(self, x: int) -> str:
        """An integer constant in all lanes."""
        return f"{x}" if self.width == 1 else f"splat (i{self.bits} {x})"


def core(tape: Tape, lanes: Lanes, name: str) -> str:
    """IR of `void name(ptr in0, .., ptr out, ptr scratch)`, and of its parts; needs `sincos` of the same lanes."""
    return _Core(tape, lanes, name).text()


def core_parameters(tape: Tape) -> str:
    """The parameters of a core function."""
    inputs = [f"ptr noalias readonly %in{i}" for i in range(len(tape.inputs))]
    return ", ".join([*inputs, "ptr noalias %out", "ptr noalias %scratch"])


def scratch_size(tape: Tape, lanes: Lanes) -> int:
    """Bytes of scratch memory that the core needs."""
    return max(1, len(_crossing(tape))) * lanes.size


def _crossing(tape: Tape) -> dict[Value, int]:
    """Values that a later part uses, each with its place in scratch memory."""
    last_part = [i // PART_INSTRUCTIONS for i in range(len(tape.instructions))]
    crossing: dict[Value, int] = {}
    for i, instruction in enumerate(tape.instructions):
        for operand in instruction.operands:
            made = tape.instructions[operand]
            if (
                made.operation not in ("constant", "input")
                and last_part[operand] != i // PART_INSTRUCTIONS
                and operand not in crossing
            ):
                crossing[operand] = len(crossing)
    for value, places in output_places(tape).items():
        if len(places) > MAX_PLACES and not _has_no_arithmetic(tape, value) and value not in crossing:
            crossing[value] = len(crossing)
    return crossing


def output_places(tape: Tape) -> dict[Value, list[int]]:
    """Places of each value in the output."""
    places: dict[Value, list[int]] = {}
    for place, value in enumerate(tape.outputs):
        places.setdefault(value, []).append(place)
    return places


def _has_no_arithmetic(tape: Tape, value: Value) -> bool:
    return tape.instructions[value].operation in ("constant", "input")


def _is_zero(tape: Tape, value: Value) -> bool:
    """Whether a value is the constant whose bits are all zero."""
    instruction = tape.instructions[value]
    return instruction.operation == "constant" and struct.pack("d", instruction.constant) == bytes(8)


class Lines:
    """Lines of vector code: the operations of a tape on named values."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.begin()

    def begin(self) -> None:
        self.lines: list[str] = []
        self.names: dict[Value, str] = {}
        self.angles: dict[Value, str] = {}
        self.fresh = 0

    def new(self) -> str:
        self.fresh += 1
        return f"%v{self.fresh}"

    def line(self, text: str) -> str:
        name = self.new()
        self.lines.append(f"{name} = {text}")
        return name

    def use(self, value: Value) -> str:
        """The name of a value."""
        return self.names[value]

    def compute(self, instruction: Instruction) -> str:
        lanes, operation = self.lanes, instruction.operation
        if operation in ("sin", "cos"):
            return self.trigonometric(operation, instruction.operands[0])
        a = self.use(instruction.operands[0])
        b = self.use(instruction.operands[1]) if len(instruction.operands) > 1 else ""
        if operation in ("add", "sub", "mul", "div"):
            return self.line(f"f{operation} contract {lanes.vector} {a}, {b}")
        if operation == "neg":
            return self.line(f"fneg {lanes.vector} {a}")
        if operation in ("sqrt", "abs"):
            name = {"sqrt": "sqrt", "abs": "fabs"}[operation]
            return self.line(f"call {lanes.vector} @llvm.{name}.{lanes.suffix}({lanes.vector} {a})")
        if operation in SYSTEM_FUNCTIONS:
            arguments = ", ".join(f"{lanes.vector} {x}" for x in (a, b) if x)
            return self.line(f"call {lanes.vector} @{operation}.{lanes.suffix}({arguments})")
        zero, one = lanes.number(0.0), lanes.number(1.0)
        if operation == "choose":  # b where a holds, else zero
            holds = self.line(f"fcmp une {lanes.vector} {a}, {zero}")
            return self.line(f"select {lanes.mask} {holds}, {lanes.vector} {b}, {lanes.vector} {zero}")
        compared = {"lt": "olt", "le": "ole", "ne": "une", "eq": "oeq"}
        if operation in compared:
            truth = self.line(f"fcmp {compared[operation]} {lanes.vector} {a}, {b}")
        elif operation == "not":
            truth = self.line(f"fcmp oeq {lanes.vector} {a}, {zero}")
        else:
            both = [self.line(f"fcmp une {lanes.vector} {x}, {zero}") for x in (a, b)]
            truth = self.line(f"{operation} {lanes.mask} {both[0]}, {both[1]}")
        return self.line(f"select {lanes.mask} {truth}, {lanes.vector} {one}, {lanes.vector} {zero}")

    def trigonometric(self, operation: str, angle: Value) -> str:
        if angle not in self.angles:
            pair = f"{{ {self.lanes.vector}, {self.lanes.vector} }}"
            self.angles[angle] = self.line(
                f"call {pair} @sincos.{self.lanes.suffix}({self.lanes.vector} {self.use(angle)})"
            )
        pair = f"{{ {self.lanes.vector}, {self.lanes.vector} }}"
        return self.line(f"extractvalue {pair} {self.angles[angle]}, {0 if operation == 'sin' else 1}")


class _Core(Lines):
    def __init__(self, tape: Tape, lanes: Lanes, name: str) -> None:
        super().__init__(lanes)
        self.tape, self.name = tape, name
        self.crossing = _crossing(tape)
        places = output_places(tape)
        apart = {v: at for v, at in places.items() if _has_no_arithmetic(tape, v) or len(at) > MAX_PLACES}
        self.wanted = {value: at for value, at in places.items() if value not in apart}
        zeros = [value for value, at in apart.items() if _is_zero(tape, value) and len(at) > MAX_PLACES]
        self.fills_zeros = bool(zeros)
        self.stores = [(place, value) for value, at in apart.items() if value not in zeros for place in at]
        self.parameters = core_parameters(tape)

    def text(self) -> str:
        count = len(self.tape.instructions)
        starts = range(0, max(count, 1), PART_INSTRUCTIONS)
        parts = [self.part(k, start, min(start + PART_INSTRUCTIONS, count)) for k, start in enumerate(starts)]
        for start in range(0, len(self.stores), PART_STORES):
            parts.append(self.part_of_stores(len(parts), self.stores[start : start + PART_STORES]))
        arguments = ", ".join(p.replace("noalias ", "").replace("readonly ", "") for p in self.parameters.split(", "))
        calls = "".join(f"  call void @{self.name}.{k}({arguments})\n" for k in range(len(parts)))
        size = len(self.tape.outputs) * self.lanes.size
        zeros = f"  call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 {size}, i1 false)\n" if self.fills_zeros else ""
        main = f"define internal void @{self.name}({self.parameters}) nounwind {{\n{zeros}{calls}  ret void\n}}\n"
        return "".join(parts) + main

    def part(self, k: int, start: int, stop: int) -> str:
        self.begin()
        for i in range(start, stop):
            self.emit(i)
        return self.end(k)

    def part_of_stores(self, k: int, stores: list[tuple[int, Value]]) -> str:
        self.begin()
        for place, value in stores:
            self.store("out", place, self.use(value))
        return self.end(k)

    def end(self, k: int) -> str:
        body = "".join(f"  {line}\n" for line in self.lines)
        return f"define internal void @{self.name}.{k}({self.parameters}) noinline nounwind {{\n{body}  ret void\n}}\n"

    def load(self, base: str, place: int) -> str:
        address = self.line(f"getelementptr i8, ptr %{base}, i64 {place * self.lanes.size}")
        return self.line(f"load {self.lanes.vector}, ptr {address}, align {self.lanes.bits // 8}")

    def store(self, base: str, place: int, value: str) -> None:
        address = self.line(f"getelementptr i8, ptr %{base}, i64 {place * self.lanes.size}")
        self.lines.append(f"store {self.lanes.vector} {value}, ptr {address}, align {self.lanes.bits // 8}")

    def use(self, value: Value) -> str:
        """The name of a value in this part, loaded if it was made elsewhere."""
        if value not in self.names:
            instruction = self.tape.instructions[value]
            if instruction.operation == "constant":
                return self.lanes.number(instruction.constant)
            if instruction.operation == "input":
                self.names[value] = self.load(f"in{instruction.argument}", instruction.entry)
            else:
                self.names[value] = self.load("scratch", self.crossing[value])
        return self.names[value]

    def emit(self, i: Value) -> None:
        instruction = self.tape.instructions[i]
        if instruction.operation not in ("constant", "input"):
            self.names[i] = self.compute(instruction)
            if i in self.crossing:
                self.store("scratch", self.crossing[i], self.names[i])
        for place in self.wanted.get(i, ()):
            self.store("out", place, self.use(i))
