"""Vector code for a tape: LLVM IR text in which every value is a vector, a lane for each state.

A core function reads tiles, arrays [entry][lane], and writes one. Long tapes are split into parts that hand values on
through scratch memory, so that the compiler's time grows in proportion to the tape. So are the stores of outputs that
need no arithmetic, of which a matrix of a wide tree has thousands: zeros are filled in at once.
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass

from chainrule.compile.portable import with_portable_trigonometry
from chainrule.compile.tape import SYSTEM_FUNCTIONS, Instruction, Tape, Value

PART_INSTRUCTIONS = 1000
"""Instructions in one part of a core function."""

PART_STORES = 250
"""Stores of outputs without arithmetic in one part of a core function."""

LONG_TAPE = 6000
"""Instructions of a tape beyond which values go to scratch memory where registers run out, and parts are shorter."""

LONG_TAPE_PART_INSTRUCTIONS = 400
"""Instructions in one part of the core function of a long tape."""

MAX_LIVE_VALUES = 28
"""Values that wait for their next use in registers, in a long tape."""

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


def core_parameters(tape: Tape) -> str:
    """The parameters of a core function."""
    inputs = [f"ptr noalias readonly %in{i}" for i in range(len(tape.inputs))]
    return ", ".join([*inputs, "ptr noalias %out", "ptr noalias %scratch"])


def output_slots(tape: Tape) -> dict[Value, list[int]]:
    """Places of each value in the output."""
    slots: dict[Value, list[int]] = {}
    for place, value in enumerate(tape.outputs):
        slots.setdefault(value, []).append(place)
    return slots


def _uses(tape: Tape) -> dict[Value, list[int]]:
    """The instructions that use each value, the last one first."""
    uses: dict[Value, list[int]] = {}
    for i in range(len(tape.instructions) - 1, -1, -1):
        for operand in tape.instructions[i].operands:
            uses.setdefault(operand, []).append(i)
    return uses


def _has_no_arithmetic(tape: Tape, value: Value) -> bool:
    return tape.instructions[value].operation in ("constant", "input")


def _is_zero(tape: Tape, value: Value) -> bool:
    """Whether a value is the constant whose bits are all zero."""
    instruction = tape.instructions[value]
    return instruction.operation == "constant" and struct.pack("d", instruction.constant) == bytes(8)


class VectorBuilder:
    """VectorBuilder of vector code: the operations of a tape on named values."""

    fused = "contract "
    """The flag by which sums of products may become one operation."""

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
            return self.line(f"f{operation} {self.fused}{lanes.vector} {a}, {b}")
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


class Core(VectorBuilder):
    """IR of `void name(ptr in0, .., ptr out, ptr scratch)`, and of its parts; needs `sincos` of the same lanes.

    A value that a later part uses is written to scratch memory where it is computed, and read where it is used. In a
    long tape this also happens within a part: where more values wait than there are registers, the one whose next use
    is farthest away is spilled, to scratch memory. The compiler would choose as well, and take most of its time for it.
    """

    def __init__(self, tape: Tape, lanes: Lanes, name: str) -> None:
        super().__init__(lanes)
        if tape.is_reproducible:
            tape, self.fused = with_portable_trigonometry(tape), ""
        self.tape, self.name = tape, name
        slots = output_slots(tape)
        apart = {v: at for v, at in slots.items() if _has_no_arithmetic(tape, v) or len(at) > MAX_PLACES}
        self.wanted = {value: at for value, at in slots.items() if value not in apart}
        zeros = [value for value, at in apart.items() if _is_zero(tape, value) and len(at) > MAX_PLACES]
        self.fills_zeros = bool(zeros)
        self.stores = [(place, value) for value, at in apart.items() if value not in zeros for place in at]
        self.parameters = core_parameters(tape)
        self.uses = _uses(tape)
        self.kept = {value for value in apart if not _has_no_arithmetic(tape, value)}
        """Values that stay in scratch memory to the end."""
        self.slots: dict[Value, int] = {}
        """Places in scratch memory of values that are there now."""
        self.free: list[int] = []
        self.slot_count = 0
        is_long = len(tape.instructions) > LONG_TAPE
        self.most = MAX_LIVE_VALUES if is_long else len(tape.instructions)
        self.size = LONG_TAPE_PART_INSTRUCTIONS if is_long else PART_INSTRUCTIONS
        self.text = self._text()

    @property
    def scratch_bytes(self) -> int:
        """Bytes of scratch memory that the code needs."""
        return max(1, self.slot_count) * self.lanes.size

    def _text(self) -> str:
        count = len(self.tape.instructions)
        starts = range(0, max(count, 1), self.size)
        parts = [self.part(k, start, min(start + self.size, count)) for k, start in enumerate(starts)]
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
            self.emit(i, stop)
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
        """The name of a value in this part, loaded where it is not at hand."""
        name = self.names.get(value)
        if name is None:
            instruction = self.tape.instructions[value]
            if instruction.operation == "constant":
                return self.lanes.number(instruction.constant)
            if instruction.operation == "input":
                name = self.load(f"in{instruction.argument}", instruction.entry)
            else:
                name = self.load("scratch", self.slots[value])
            self.names[value] = name
        return name

    def emit(self, i: Value, stop: int) -> None:
        """An instruction, in the part that ends before the instruction `stop`."""
        instruction = self.tape.instructions[i]
        if instruction.operation in ("constant", "input"):
            return
        name = self.compute(instruction)
        for place in self.wanted.get(i, ()):
            self.store("out", place, name)
        later = self.uses.get(i)
        if i in self.kept or (later and later[0] >= stop):
            self.put_away(i, name)
        if later:
            self.names[i] = name
        for operand in instruction.operands:
            self.release(operand, i)
        while len(self.names) > self.most:
            farthest = max(self.names, key=lambda value: self.uses[value][-1])
            name = self.names.pop(farthest)
            if farthest not in self.slots and not _has_no_arithmetic(self.tape, farthest):
                self.put_away(farthest, name)

    def put_away(self, value: Value, name: str) -> None:
        """Write a value to scratch memory."""
        if not self.free:
            self.free.append(self.slot_count)
            self.slot_count += 1
        self.slots[value] = self.free.pop()
        self.store("scratch", self.slots[value], name)

    def release(self, operand: Value, i: Value) -> None:
        """Forget the use of an operand by the instruction `i`; after its last use, the operand."""
        later = self.uses[operand]
        while later and later[-1] <= i:
            later.pop()
        if not later:
            self.names.pop(operand, None)
            if operand in self.slots and operand not in self.kept:
                self.free.append(self.slots.pop(operand))
