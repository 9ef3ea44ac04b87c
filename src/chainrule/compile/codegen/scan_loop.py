"""The loop of a program over time and over a batch: LLVM IR text.

For as many rows as there are lanes at once, the state is read into tiles, moved on step by step, recorded every so
many steps, and written back. Between two records the state stays in the tiles.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.compile.codegen.module import IrModule
from chainrule.compile.codegen.vectorize import Lanes
from chainrule.compile.program import Program
from chainrule.compile.tape import Tape

SCAN_FIELDS = (
    "rows", "steps", "every", "state", "state_stride", "parameters", "parameters_stride", "signals", "signals_stride",
    "records", "records_stride", "scratch",
)  # fmt: skip
"""The arguments of the compiled loop: counts, addresses and strides in bytes between rows, all 64 bits wide."""


def scan_module(program: Program, record: int, lanes: Lanes) -> tuple[str, int]:
    """IR of `void rollout(int64 *arguments)`, and the bytes of scratch memory that it needs."""
    module = IrModule()
    buffers = Buffers(program, lanes, module.add_cores(program_tapes(program), lanes))
    if lanes.width > 1:
        module.add_tiles(lanes)
    module.add(_ScanWriter(program, record, lanes, buffers).text())
    return module.text(), buffers.size


def program_tapes(program: Program) -> dict[str, Tape]:
    """The tapes of a program's functions and segments, by the names of their cores."""
    tapes = {f"call.{name}": tape for name, tape in program.functions.items()}
    segments = enumerate(program.segments)
    return tapes | {f"segment.{k}": segment.tape for k, segment in segments if segment.tape.outputs}


class Buffers:
    """The places in scratch memory of a program's inputs, of the results of its calls, and of its outputs, as tiles."""

    def __init__(self, program: Program, lanes: Lanes, scratch: int) -> None:
        self.lanes = lanes
        self.size = 0
        self.offsets: list[tuple[str, int]] = []
        self.place("scratch", scratch)
        self.inputs = [self.tile(f"in{k}", n) for k, n in enumerate(program.inputs)]
        self.results = [
            self.tile(f"result{k}", len(program.functions[segment.calls].outputs))
            for k, segment in enumerate(program.segments)
            if segment.calls
        ]
        self.tile("out", max(len(segment.tape.outputs) for segment in program.segments))

    def place(self, name: str, size: int) -> str:
        """A buffer of so many bytes."""
        self.offsets.append((name, self.size))
        self.size += (size + 63) // 64 * 64
        return f"%{name}"

    def tile(self, name: str, entries: int) -> str:
        """A buffer for so many vectors; tiles are filled and read in squares, which may reach beyond their end."""
        wide = self.lanes.width
        return self.place(name, (-(-entries // wide) + 1) * wide * self.lanes.size)

    def text(self, fields: Sequence[str]) -> str:
        """IR that reads the arguments, of which "scratch" is the address of this memory, and finds the buffers."""
        values = {name: "scratch.base" if name == "scratch" else name for name in fields}
        arguments = "".join(
            f"  %at.{name} = getelementptr i64, ptr %arguments, i64 {i}\n  %{value} = load i64, ptr %at.{name}\n"
            for i, (name, value) in enumerate(values.items())
        )
        return arguments + "".join(
            f"  %i.{name} = add i64 %scratch.base, {at}\n  %{name} = inttoptr i64 %i.{name} to ptr\n"
            for name, at in self.offsets
        )


def segment_calls(program: Program, buffers: Buffers) -> str:
    """IR of one repetition: every segment writes those arguments of its call that lie nowhere yet."""
    lines = []
    for k, segment in enumerate(program.segments):
        tiles = [*buffers.inputs, *buffers.results[:k]]
        if segment.tape.outputs:
            read = "".join(f"ptr {name}, " for name in tiles)
            lines.append(f"  call void @segment.{k}({read}ptr %out, ptr %scratch)\n")
        if segment.calls:
            for j, (source, start) in enumerate(segment.arguments):
                tile = "%out" if source is None else tiles[source]
                offset = start * buffers.lanes.size
                lines.append(f"  %call{k}.{j} = getelementptr i8, ptr {tile}, i64 {offset}\n")
            read = "".join(f"ptr %call{k}.{j}, " for j in range(len(segment.arguments)))
            lines.append(f"  call void @call.{segment.calls}({read}ptr {buffers.results[k]}, ptr %scratch)\n")
    return "".join(lines)


class _ScanWriter:
    """The text of the loop."""

    def __init__(self, program: Program, record: int, lanes: Lanes, buffers: Buffers) -> None:
        self.program, self.record, self.lanes, self.buffers = program, record, lanes, buffers

    def text(self) -> str:
        lanes, program = self.lanes, self.program
        parameters, state, three = program.inputs
        signals = three // 3
        size = lanes.bits // 8
        take_signals = "" if not signals else (
            f"  %sig.k = mul i64 %k, {3 * signals * size}\n  %sig.at = add i64 %sig.row, %sig.k\n"
            + self.read_rows("%sig.at", "%signals_stride", three, "%in2", "sig")
        )  # fmt: skip
        names = {"par": "parameters", "sta": "state", "sig": "signals", "rec": "records"}
        start = "".join(self.row(f"{short}.row", field) for short, field in names.items())
        start += self.read_rows("%par.row", "%parameters_stride", parameters, "%in0", "par")
        start += self.read_rows("%sta.row", "%state_stride", state, "%in1", "sta")
        return f"""define void @rollout(ptr %arguments) nounwind {{
entry:
{self.buffers.text(SCAN_FIELDS)}  br label %tiles
tiles:
  %base = phi i64 [ 0, %entry ], [ %base.next, %written ]
  %more = icmp slt i64 %base, %rows
  br i1 %more, label %tile, label %done
tile:
  %left = sub i64 %rows, %base
  %live = call i64 @llvm.smin.i64(i64 %left, i64 {lanes.width})
{start}  br label %times
times:
  %k = phi i64 [ 0, %tile ], [ %k.next, %moved ]
  %record.k = phi i64 [ 0, %tile ], [ %record.next, %moved ]
  %phase = phi i64 [ 0, %tile ], [ %phase.next, %moved ]
  %going = icmp slt i64 %k, %steps
  br i1 %going, label %step, label %finished
step:
{take_signals}{segment_calls(program, self.buffers)}  %due = icmp eq i64 %phase, 0
  br i1 %due, label %record, label %moved
record:
  %rec.k = mul i64 %record.k, {self.record * size}
  %rec.at = add i64 %rec.row, %rec.k
  %rec.from = getelementptr i8, ptr %out, i64 {state * lanes.size}
{self.write_rows("%rec.from", "%rec.at", "%records_stride", self.record, "rec")}  br label %moved
moved:
  %due.int = zext i1 %due to i64
  %record.next = add i64 %record.k, %due.int
  call void @llvm.memcpy.p0.p0.i64(ptr %in1, ptr %out, i64 {state * lanes.size}, i1 false)
  %phase.one = add i64 %phase, 1
  %wraps = icmp eq i64 %phase.one, %every
  %phase.next = select i1 %wraps, i64 0, i64 %phase.one
  %k.next = add i64 %k, 1
  br label %times
finished:
{self.write_rows("%in1", "%sta.row", "%state_stride", state, "end")}  br label %written
written:
  %base.next = add i64 %base, {lanes.width}
  br label %tiles
done:
  ret void
}}
"""

    def row(self, name: str, field: str) -> str:
        """The address of the first row of this tile in one of the arrays."""
        return f"  %{name}.o = mul i64 %base, %{field}_stride\n  %{name} = add i64 %{name}.o, %{field}\n"

    def read_rows(self, address: str, stride: str, count: int, tile: str, name: str) -> str:
        """Rows of adjacent numbers into a tile."""
        if not count:
            return ""
        lanes = self.lanes
        source = f"  %{name}.src = inttoptr i64 {address} to ptr\n"
        if lanes.width == 1:
            moved = (
                f"  call void @llvm.memcpy.p0.p0.i64(ptr {tile}, ptr %{name}.src, i64 {count * lanes.size}, i1 false)\n"
            )
        else:
            arguments = f"ptr %{name}.src, i64 {stride}, i64 {lanes.bits // 8}, i64 {count}, i64 %live, ptr {tile}"
            moved = f"  call void @pack.{lanes.suffix}({arguments})\n"
        return source + moved

    def write_rows(self, tile: str, address: str, stride: str, count: int, name: str) -> str:
        """A tile out to rows of adjacent numbers."""
        lanes = self.lanes
        target = f"  %{name}.dst = inttoptr i64 {address} to ptr\n"
        if lanes.width == 1:
            moved = (
                f"  call void @llvm.memcpy.p0.p0.i64(ptr %{name}.dst, ptr {tile}, i64 {count * lanes.size}, i1 false)\n"
            )
        else:
            arguments = f"ptr {tile}, ptr %{name}.dst, i64 {stride}, i64 {lanes.bits // 8}, i64 {count}, i64 %live"
            moved = f"  call void @unpack.{lanes.suffix}({arguments})\n"
        return target + moved
