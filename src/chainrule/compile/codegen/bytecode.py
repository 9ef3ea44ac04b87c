"""Vector code for very long tapes: a loop over encoded instructions, LLVM IR text.

Straight-line code of a hundred thousand instructions takes the compiler many seconds. Here the instructions are data,
and the code is one loop that carries them out, on vectors wide enough that fetching an instruction costs little. Sums
of products, of which most of the arithmetic here consists, are one instruction each: their terms are added up in
registers.

Values live in slots of scratch memory, which are used again after a value's last use. The first slots hold the
constants and the inputs. A result that nothing else uses is written to its place in the output at once.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from chainrule.compile.codegen.vectorize import Lanes, VectorBuilder, core_parameters, output_slots
from chainrule.compile.tape import OPERATIONS, Instruction, Tape, Value

MAX_STRAIGHT_LINE = 100_000
"""Instructions beyond which a tape is encoded."""

MAX_PAIRS = 6
"""Products that one instruction adds up."""

WIDENING = 2
"""Vectors of doubles, as the hardware has them, in one value: fetching an instruction serves all of them."""


def is_long(tape: Tape) -> bool:
    """Whether a tape is encoded."""
    return len(tape.instructions) > MAX_STRAIGHT_LINE


def widen(tape: Tape, lanes: Lanes) -> Lanes:
    """The lanes for a tape, of vectors that the hardware has."""
    is_wider = is_long(tape) and lanes.width > 1 and lanes.bits == 64
    return Lanes(lanes.bits, lanes.width * WIDENING) if is_wider else lanes


Pairs = list[tuple[Value, Value]]


@dataclass(frozen=True)
class SumOfProducts:
    """The sum of products of values, less the sum of others."""

    value: Value
    added: Pairs
    subtracted: Pairs


class _ProductSums:
    """The sums of products in a tape; the value -1 is the number one."""

    def __init__(self, tape: Tape) -> None:
        self.instructions = tape.instructions
        uses = Counter(v for i in tape.instructions for v in i.operands)
        uses.update(tape.outputs)
        self.inner = self._find_inner(uses)
        """Values that are computed inside the sum that is their only use."""

    def _find_inner(self, uses: Counter[Value]) -> set[Value]:
        found = set()
        for instruction in self.instructions:
            if instruction.operation in ("add", "sub", "neg"):
                for v in instruction.operands:
                    if uses[v] == 1 and self.instructions[v].operation in ("add", "sub", "neg", "mul"):
                        found.add(v)
        return found

    def of(self, value: Value) -> SumOfProducts:
        """A value as a sum of products: the terms that are added and those that are subtracted."""
        added: Pairs = []
        subtracted: Pairs = []
        stack = [(value, added, subtracted)]
        while stack:
            v, plus, minus = stack.pop()
            operation, operands = self.instructions[v].operation, self.instructions[v].operands
            if v != value and v not in self.inner:
                plus.append((v, -1))
            elif operation == "mul":
                plus.append((operands[0], operands[1]))
            elif operation == "neg":
                stack.append((operands[0], minus, plus))
            else:
                rest = (plus, minus) if operation == "add" else (minus, plus)
                stack += [(operands[1], *rest), (operands[0], plus, minus)]
        return SumOfProducts(value, added, subtracted)


class _SlotAllocator:
    """Places in scratch memory, used again when they are free."""

    def __init__(self, first: int) -> None:
        self.count = first
        self.free: list[int] = []

    def take(self) -> int:
        if self.free:
            return self.free.pop()
        self.count += 1
        return self.count - 1


@dataclass(frozen=True)
class Bytecode:
    """A tape as data: words of 32 bits, constants, the number of slots, and whether outputs start at zero."""

    words: array[int]
    constants: tuple[float, ...]
    slots: int
    fills_zeros: bool


END, COPY = 0, 1
"""Codes of the end, and of writing a value to a place."""

OUTPUT = 1 << 31
"""Added to a place in the output, to tell it from a slot."""

SUMS = {(k, m): 2 + i for i, (k, m) in enumerate((k, m) for k in range(1, MAX_PAIRS + 1) for m in range(k + 1))}
"""Codes of sums of k products, the last m of which are subtracted."""

OTHERS = {
    name: 2 + len(SUMS) + i
    for i, name in enumerate(name for name in OPERATIONS if name not in ("add", "sub", "mul", "neg"))
}
"""Codes of the other operations."""


def encode(tape: Tape) -> Bytecode:
    """The instructions of a tape as data."""
    return _Encoder(tape).encode()


class _Encoder:
    def __init__(self, tape: Tape) -> None:
        self.tape, self.sums = tape, _ProductSums(tape)
        self.steps = list(self._steps())
        numbers = {i.constant: None for i in tape.instructions if i.operation == "constant"}
        self.constants = tuple(dict.fromkeys([1.0, *numbers]))
        slots = {x: k for k, x in enumerate(self.constants)}
        starts = [len(self.constants)]
        for length in tape.inputs:
            starts.append(starts[-1] + length)
        self.slot: dict[Value, int] = {-1: slots[1.0]}
        for v, i in enumerate(tape.instructions):
            if i.operation == "constant":
                self.slot[v] = slots[i.constant]
            elif i.operation == "input":
                self.slot[v] = starts[i.argument] + i.entry
        self.slots = _SlotAllocator(starts[-1])
        self.words: array[int] = array("I")

    def _steps(self) -> Iterable[SumOfProducts | tuple[Value, Instruction]]:
        """What is computed, in order."""
        for v, instruction in enumerate(self.tape.instructions):
            if instruction.operation in ("input", "constant") or v in self.sums.inner:
                continue
            is_sum = instruction.operation in ("add", "sub", "mul", "neg")
            yield self.sums.of(v) if is_sum else (v, instruction)

    def encode(self) -> Bytecode:
        outputs = output_slots(self.tape)
        zeros = [v for v, at in outputs.items() if self.tape.instructions[v] == Instruction("constant", constant=0.0)]
        last = self._last_uses()
        for step, what in enumerate(self.steps):
            value, operands = self._operands(what)
            for v in {*operands}:
                if last.get(v) == step:
                    self.slots.free.append(self.slot[v])
            slots = outputs.get(value, [])
            into = OUTPUT + slots[0] if slots and value not in last else None
            if isinstance(what, SumOfProducts):
                self._sum(what, into)
            else:
                self._emit(OTHERS[what[1].operation], value, operands, into)
            self._copy(value, slots if into is None else slots[1:])
        for v, at in outputs.items():
            if self.tape.instructions[v].operation in ("input", "constant") and v not in zeros:
                self._copy(v, at)
        self.words.append(END)
        return Bytecode(self.words, self.constants, self.slots.count, bool(zeros))

    def _operands(self, step: SumOfProducts | tuple[Value, Instruction]) -> tuple[Value, list[Value]]:
        if isinstance(step, SumOfProducts):
            return step.value, [v for pair in (*step.added, *step.subtracted) for v in pair]
        return step[0], list(step[1].operands)

    def _last_uses(self) -> dict[Value, int]:
        """The last step that uses each value that has a slot of its own."""
        last: dict[Value, int] = {}
        for step, what in enumerate(self.steps):
            for v in self._operands(what)[1]:
                if v >= 0 and self.tape.instructions[v].operation not in ("input", "constant"):
                    last[v] = step
        return last

    def _copy(self, value: Value, slots: Sequence[int]) -> None:
        for place in slots:
            self.words.extend((COPY, OUTPUT + place, self.slot[value]))

    def _emit(self, code: int, value: Value, operands: Sequence[Value], into: int | None) -> None:
        slots = [self.slot[v] for v in operands]
        self.slot[value] = self.slots.take() if into is None else into
        self.words.extend((code, self.slot[value], *slots))

    def _sum(self, what: SumOfProducts, into: int | None) -> None:
        """The instructions of a sum; a long one takes several, and adds up in a slot."""
        pairs = [(pair, 0) for pair in what.added] + [(pair, 1) for pair in what.subtracted]
        slots = [(self.slot[a], self.slot[b], sign) for (a, b), sign in pairs]
        if len(slots) > MAX_PAIRS:
            subtotal = self._beside(slots)
            while len(slots) > MAX_PAIRS:
                self._add_up(slots[:MAX_PAIRS], subtotal)
                slots = [(subtotal, self.slot[-1], 0), *slots[MAX_PAIRS:]]
            self.slots.free.append(subtotal)
        self.slot[what.value] = self.slots.take() if into is None else into
        self._add_up(slots, self.slot[what.value])

    def _add_up(self, slots: Sequence[tuple[int, int, int]], into: int) -> None:
        subtracted = sum(sign for *_, sign in slots)
        self.words.extend((SUMS[len(slots), subtracted], into, *(x for a, b, _ in slots for x in (a, b))))

    def _beside(self, slots: Sequence[tuple[int, int, int]]) -> int:
        """A slot that is none of the operands', which later parts of a sum still need."""
        read = {slot for a, b, _ in slots for slot in (a, b)}
        passed = []
        slot = self.slots.take()
        while slot in read:
            passed.append(slot)
            slot = self.slots.take()
        self.slots.free += passed
        return slot


def scratch_size(encoded: Bytecode, lanes: Lanes) -> int:
    """Bytes of scratch memory that the core needs."""
    return encoded.slots * lanes.size


def core(tape: Tape, encoded: Bytecode, lanes: Lanes, name: str) -> str:
    """IR of `void name(ptr in0, .., ptr out, ptr scratch)`, as `vectorize.Core` has it."""
    return _Dispatcher(tape, encoded, lanes, name).text()


class _Dispatcher(VectorBuilder):
    """The loop, a block for each code that occurs."""

    def __init__(self, tape: Tape, encoded: Bytecode, lanes: Lanes, name: str) -> None:
        super().__init__(lanes)
        self.tape, self.encoded, self.name = tape, encoded, name
        self.parameters = core_parameters(tape)

    def text(self) -> str:
        blocks = {END: "", COPY: self.copy()}
        blocks |= {code: self.sum(*kind) for kind, code in SUMS.items()}
        blocks |= {code: self.other(operation) for operation, code in OTHERS.items() if operation in self.occurring}
        cases = " ".join(f"i32 {code}, label %code{code}" for code in blocks if code != END)
        bodies = "".join(f"code{code}:\n{body}  br label %next\n" for code, body in blocks.items() if code != END)
        nexts = ", ".join(f"[ %pc{code}, %code{code} ]" for code in blocks if code != END)
        return f"""{self.data()}define internal void @{self.name}({self.parameters}) noinline nounwind {{
entry:
{self.start()}  br label %fill
fill:
  %k = phi i64 [ 0, %entry ], [ %k1, %fill ]
  %number.at = getelementptr {self.lanes.scalar}, ptr @{self.name}.numbers, i64 %k
  %number = load {self.lanes.scalar}, ptr %number.at
{self.splat("number")}  %into = getelementptr {self.lanes.vector}, ptr %scratch, i64 %k
  store {self.lanes.vector} %all, ptr %into, align {self.lanes.bits // 8}
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, {len(self.encoded.constants)}
  br i1 %more, label %fill, label %begin
begin:
  br label %head
head:
  %pc = phi ptr [ @{self.name}.words, %begin ], [ %after, %next ]
  %code = load i32, ptr %pc
  switch i32 %code, label %done [ {cases} ]
{bodies}next:
  %after = phi ptr {nexts}
  br label %head
done:
  ret void
}}
"""

    @property
    def occurring(self) -> set[str]:
        return {instruction.operation for instruction in self.tape.instructions}

    def data(self) -> str:
        """The instructions and the constants, as bytes."""
        with np.errstate(over="ignore"):  # beyond the range of floats a number is infinite
            numbers = np.array(self.encoded.constants).astype(f"f{self.lanes.bits // 8}").tobytes()
        return "".join(
            f'@{self.name}.{label} = internal constant [{len(content)} x i8] c"{_escape(content)}", align 64\n'
            for label, content in (("words", self.encoded.words.tobytes()), ("numbers", numbers))
        )

    def start(self) -> str:
        """Zeros in the output, and inputs in their slots."""
        lines, at = [], len(self.encoded.constants)
        if self.encoded.fills_zeros:
            size = len(self.tape.outputs) * self.lanes.size
            lines.append(f"  call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 {size}, i1 false)\n")
        for k, length in enumerate(self.tape.inputs):
            lines.append(f"  %slot{k} = getelementptr {self.lanes.vector}, ptr %scratch, i64 {at}\n")
            size = length * self.lanes.size
            lines.append(f"  call void @llvm.memcpy.p0.p0.i64(ptr %slot{k}, ptr %in{k}, i64 {size}, i1 false)\n")
            at += length
        return "".join(lines)

    def splat(self, name: str) -> str:
        vector, width = self.lanes.vector, self.lanes.width
        if width == 1:
            return f"  %all = fadd {vector} %{name}, {self.lanes.number(-0.0)}\n"
        return (
            f"  %one = insertelement {vector} poison, {self.lanes.scalar} %{name}, i32 0\n"
            f"  %all = shufflevector {vector} %one, {vector} poison, <{width} x i32> zeroinitializer\n"
        )

    def word(self, k: int) -> str:
        at = self.line(f"getelementptr i32, ptr %pc, i64 {k}")
        return self.line(f"load i32, ptr {at}")

    def address(self, base: str, index: str) -> str:
        wide = self.line(f"zext i32 {index} to i64")
        return self.line(f"getelementptr {self.lanes.vector}, ptr {base}, i64 {wide}")

    def anywhere(self, word: int) -> str:
        """The address of the slot, or of the place in the output, that a word of the instruction names."""
        index = self.word(word)
        is_output = self.line(f"icmp slt i32 {index}, 0")
        base = self.line(f"select i1 {is_output}, ptr %out, ptr %scratch")
        return self.address(base, self.line(f"and i32 {index}, {OUTPUT - 1}"))

    def operand(self, word: int) -> str:
        return self.load_vector(self.address("%scratch", self.word(word)))

    def load_vector(self, address: str) -> str:
        return self.line(f"load {self.lanes.vector}, ptr {address}, align {self.lanes.bits // 8}")

    def block(self, result: str, words: int, code: int) -> str:
        """The lines since the last block, then the store of the result and the step to the next instruction."""
        into = self.anywhere(1)
        self.lines.append(f"store {self.lanes.vector} {result}, ptr {into}, align {self.lanes.bits // 8}")
        self.lines.append(f"%pc{code} = getelementptr i32, ptr %pc, i64 {words}")
        text = "".join(f"  {line}\n" for line in self.lines)
        self.lines, self.names, self.angles = [], {}, {}
        return text

    def copy(self) -> str:
        return self.block(self.load_vector(self.anywhere(2)), 3, COPY)

    def sum(self, count: int, subtracted: int) -> str:
        vector, suffix = self.lanes.vector, self.lanes.suffix
        total = ""
        for k in range(count):
            a, b = self.operand(2 + 2 * k), self.operand(3 + 2 * k)
            if k >= count - subtracted:
                a = self.line(f"fneg {vector} {a}")
            if total:
                total = self.line(f"call {vector} @llvm.fma.{suffix}({vector} {a}, {vector} {b}, {vector} {total})")
            else:
                total = self.line(f"fmul {vector} {a}, {b}")
        return self.block(total, 2 + 2 * count, SUMS[count, subtracted])

    def other(self, operation: str) -> str:
        count = OPERATIONS[operation]
        self.names = {k: self.operand(2 + k) for k in range(count)}
        result = self.compute(Instruction(operation, tuple(range(count))))
        return self.block(result, 2 + count, OTHERS[operation])


def _escape(content: bytes) -> str:
    """Bytes as LLVM writes them."""
    return "\\" + content.hex("\\")
