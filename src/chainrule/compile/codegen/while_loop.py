"""The loop of a program over a batch whose rows end at different times: LLVM IR text.

Every lane has a row of its own. When a row has ended, its state is written back and the lane takes the next row that
waits, so that no lane runs idle as long as rows are left. A row that has failed may have another state to begin with,
which the lane takes before any other row.
"""

from __future__ import annotations

from chainrule.compile.codegen.module import IrModule
from chainrule.compile.codegen.scan_loop import Buffers, program_tapes, segment_calls
from chainrule.compile.codegen.vectorize import Lanes
from chainrule.compile.program import Program

WHILE_FIELDS = ("rows", "others", "state", "state_stride", "parameters", "parameters_stride", "scratch")
"""The arguments of the compiled loop: counts, addresses and strides in bytes between rows, all 64 bits wide.

Where `others` is not zero, it is the number of rows from each state to the other one that the row begins with again.
"""


def while_module(program: Program, lanes: Lanes) -> tuple[str, int]:
    """IR of `void until(int64 *arguments)`, and the bytes of scratch memory that it needs.

    The inputs of the program are parameters, state and no signals; a row has ended when the last number of its state
    is positive after a repetition, and it has failed when that is more than one.
    """
    module = IrModule()
    buffers = Buffers(program, lanes, module.add_cores(program_tapes(program), lanes))
    rows = buffers.place("lane.rows", 8 * lanes.width)
    module.add(_move("take", lanes) + _move("give", lanes) + _text(program, lanes, buffers, rows))
    return module.text(), buffers.size


def _move(name: str, lanes: Lanes) -> str:
    """IR of a function that copies a row of adjacent numbers into a lane of a tile (`take`), or back (`give`)."""
    row, tile = ("%at.row", "%at.tile") if name == "take" else ("%at.tile", "%at.row")
    scalar = lanes.scalar
    return f"""define internal void @{name}(ptr %row, ptr %tile, i64 %lane, i64 %count) noinline nounwind {{
entry:
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k.next, %move ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %move, label %done
move:
  %at.row = getelementptr {scalar}, ptr %row, i64 %k
  %tile.k = mul i64 %k, {lanes.width}
  %tile.lane = add i64 %tile.k, %lane
  %at.tile = getelementptr {scalar}, ptr %tile, i64 %tile.lane
  %x = load {scalar}, ptr {row}
  store {scalar} %x, ptr {tile}
  %k.next = add i64 %k, 1
  br label %next
done:
  ret void
}}
"""


def _fill(buffer: str, byte: int, size: int) -> str:
    return f"  call void @llvm.memset.p0.i64(ptr {buffer}, i8 {byte}, i64 {size}, i1 false)\n"


def _text(program: Program, lanes: Lanes, buffers: Buffers, rows: str) -> str:
    parameters, state, _ = program.inputs
    width = lanes.width
    clear = _fill(rows, -1, 8 * width) + _fill("%in0", 0, parameters * lanes.size)
    clear += _fill("%in1", 0, state * lanes.size)
    copy = f"  call void @llvm.memcpy.p0.p0.i64(ptr %in1, ptr %out, i64 {state * lanes.size}, i1 false)\n"
    ended = f"%ends = fcmp ogt {lanes.vector} %last, {lanes.number(0.0)}\n"
    if width > 1:
        ended += f"  %bits = bitcast {lanes.mask} %ends to i{width}\n  %some = icmp ne i{width} %bits, 0\n"
    else:
        ended += "  %some = or i1 %ends, false\n"
    return f"""define void @until(ptr %arguments) nounwind {{
entry:
{buffers.text(WHILE_FIELDS)}{clear}  br label %change
change:
  %waiting = phi i64 [ 0, %entry ], [ %waiting.now, %checked ]
  %busy = phi i64 [ 0, %entry ], [ %busy.now, %checked ]
  br label %lanes
lanes:
  %lane = phi i64 [ 0, %change ], [ %lane.next, %set ]
  %first = phi i64 [ %waiting, %change ], [ %first.next, %set ]
  %running = phi i64 [ %busy, %change ], [ %running.next, %set ]
  %all = icmp eq i64 %lane, {width}
  br i1 %all, label %changed, label %look
look:
  %at.own = getelementptr i64, ptr {rows}, i64 %lane
  %own = load i64, ptr %at.own
  %idle = icmp slt i64 %own, 0
  br i1 %idle, label %free, label %works
works:
  %last.k = add i64 %lane, {(state - 1) * width}
  %at.end = getelementptr {lanes.scalar}, ptr %in1, i64 %last.k
  %end = load {lanes.scalar}, ptr %at.end
  %over = fcmp ogt {lanes.scalar} %end, 0.0
  br i1 %over, label %give.back, label %keep
keep:
  br label %set
give.back:
  %give.o = mul i64 %own, %state_stride
  %give.i = add i64 %give.o, %state
  %give.to = inttoptr i64 %give.i to ptr
  call void @give(ptr %give.to, ptr %in1, i64 %lane, i64 {state})
  %failed = fcmp ogt {lanes.scalar} %end, 1.0
  %is.first = icmp slt i64 %own, %rows
  %has.other = icmp sgt i64 %others, 0
  %may = and i1 %is.first, %has.other
  %again = and i1 %failed, %may
  br i1 %again, label %take.other, label %finish
take.other:
  %other = add i64 %own, %others
  %other.o = mul i64 %other, %state_stride
  %other.i = add i64 %other.o, %state
  %other.from = inttoptr i64 %other.i to ptr
  call void @take(ptr %other.from, ptr %in1, i64 %lane, i64 {state})
  store i64 %other, ptr %at.own
  br label %set
finish:
  store i64 -1, ptr %at.own
  %running.less = sub i64 %running, 1
  br label %free
free:
  %running.free = phi i64 [ %running, %look ], [ %running.less, %finish ]
  %left = icmp slt i64 %first, %rows
  br i1 %left, label %take.next, label %none
none:
  br label %set
take.next:
  %take.o = mul i64 %first, %state_stride
  %take.i = add i64 %take.o, %state
  %take.from = inttoptr i64 %take.i to ptr
  call void @take(ptr %take.from, ptr %in1, i64 %lane, i64 {state})
  %par.o = mul i64 %first, %parameters_stride
  %par.i = add i64 %par.o, %parameters
  %par.from = inttoptr i64 %par.i to ptr
  call void @take(ptr %par.from, ptr %in0, i64 %lane, i64 {parameters})
  store i64 %first, ptr %at.own
  %first.more = add i64 %first, 1
  %running.more = add i64 %running.free, 1
  br label %set
set:
  %first.next = phi i64 [ %first, %keep ], [ %first, %take.other ], [ %first, %none ], [ %first.more, %take.next ]
  %running.next = phi i64 [ %running, %keep ], [ %running, %take.other ], [ %running.free, %none ],
    [ %running.more, %take.next ]
  %lane.next = add i64 %lane, 1
  br label %lanes
changed:
  %stop = icmp eq i64 %running, 0
  br i1 %stop, label %done, label %step
step:
  %waiting.now = phi i64 [ %first, %changed ], [ %waiting.now, %checked ]
  %busy.now = phi i64 [ %running, %changed ], [ %busy.now, %checked ]
{segment_calls(program, buffers)}{copy}  %at.last = getelementptr i8, ptr %in1, i64 {(state - 1) * lanes.size}
  %last = load {lanes.vector}, ptr %at.last, align {lanes.bits // 8}
  {ended}  br label %checked
checked:
  br i1 %some, label %change, label %step
done:
  ret void
}}
"""
