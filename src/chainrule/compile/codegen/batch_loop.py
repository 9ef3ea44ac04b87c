"""The loop over a batch, as NumPy calls it: LLVM IR text.

It has the signature of a generalized ufunc's inner loop. It moves as many rows as there are lanes from arrays of
any strides into tiles, calls the core, and moves the results out. Large tiles live on the heap. Where the heap has no
more memory, they live in the loop's reserve, which was allocated with the ufunc and serves one thread at a time: a loop
cannot tell NumPy of an error, so that it must not have any.

Large results in adjacent rows are streamed to memory past the cache (`streaming`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainrule.compile.codegen import streaming_stores
from chainrule.compile.codegen.vectorize import Lanes

MAX_STACK_BYTES = 1 << 14
"""Size up to which tiles live on the stack; larger ones live on the heap."""


@dataclass(frozen=True)
class CoreSignature:
    """Lengths of the inputs, shape of the output, and the input and place of each quaternion, never to be zero."""

    inputs: tuple[int, ...]
    output: tuple[int, ...]
    quaternions: tuple[tuple[int, int], ...] = ()

    @property
    def size(self) -> int:
        """Numbers in the output."""
        size = 1
        for n in self.output:
            size *= n
        return size


class _TileBuilder:
    """IR lines with fresh names."""

    def __init__(self, lanes: Lanes, prefix: str) -> None:
        self.lanes, self.prefix = lanes, prefix
        self.text: list[str] = []

    def new(self, line: str) -> str:
        name = f"%{self.prefix}{len(self.text)}"
        self.text.append(f"  {name} = {line}\n")
        return name

    def add(self, line: str) -> None:
        self.text.append(f"  {line}\n")

    def transpose(self, rows: list[str], vector: str, step: int) -> list[str]:
        """A square of vectors turned over its diagonal, by exchanging ever smaller blocks, of `step` lanes first."""
        W = len(rows)
        while step:
            turned = list(rows)
            for i in range(W):
                if not i & step:
                    upper = [k if not k & step else W + k - step for k in range(W)]
                    lower = [k + step if not k & step else W + k for k in range(W)]
                    for place, order in ((i, upper), (i + step, lower)):
                        turned[place] = self.shuffle(vector, rows[i], rows[i + step], order)
            rows = turned
            step //= 2
        return rows

    def shuffle(self, vector: str, a: str, b: str, order: Sequence[int]) -> str:
        mask = ", ".join(f"i32 {k}" for k in order)
        return self.new(f"shufflevector {vector} {a}, {vector} {b}, <{len(order)} x i32> <{mask}>")

    def first(self, count: str, width: int) -> str:
        """A mask of the first `count` of `width` lanes."""
        one = self.new(f"insertelement <{width} x i64> poison, i64 {count}, i32 0")
        all_ = self.new(f"shufflevector <{width} x i64> {one}, <{width} x i64> poison, <{width} x i32> zeroinitializer")
        places = ", ".join(f"i64 {k}" for k in range(width))
        return self.new(f"icmp slt <{width} x i64> <{places}>, {all_}")


def square(lanes: Lanes) -> Lanes:
    """Rows and columns of the squares that are turned at once: few enough that short rows do not waste them."""
    return Lanes(lanes.bits, min(lanes.width, 8))


PACK = "ptr %src, i64 %outer, i64 %inner, i64 %cols, i64 %rows, ptr noalias %tile"
UNPACK = "ptr noalias %tile, ptr %dst, i64 %outer, i64 %inner, i64 %cols, i64 %rows"


def pack(lanes: Lanes) -> str:
    """IR of `pack`: rows with any strides into a tile; missing rows repeat the last one.

    Where the numbers of a row are adjacent, square blocks are loaded and transposed; elsewhere one number at a time.
    """
    W, V, s, size, item = lanes.width, lanes.vector, lanes.scalar, lanes.size, lanes.bits // 8
    rows = []
    for r in range(W):
        rows.append(f"  %i{r} = call i64 @llvm.smin.i64(i64 {r}, i64 %last)\n")
        rows.append(f"  %o{r} = mul i64 %i{r}, %outer\n  %p{r} = getelementptr i8, ptr %src, i64 %o{r}\n")
    block, lines = square(lanes), _TileBuilder(lanes, "s")
    mask = lines.first(lines.new("sub i64 %cols, %k"), block.width)
    offset = lines.new(f"mul i64 %k, {item}")
    into = lines.new(f"mul i64 %k, {size}")
    parts = []
    for start in range(0, W, block.width):
        loaded = []
        for r in range(start, start + block.width):
            address = lines.new(f"getelementptr i8, ptr %p{r}, i64 {offset}")
            arguments = f"ptr {address}, i32 1, {block.mask} {mask}, {block.vector} zeroinitializer"
            loaded.append(lines.new(f"call {block.vector} @llvm.masked.load.{block.suffix}.p0({arguments})"))
        parts.append(lines.transpose(loaded, block.vector, block.width // 2))
    for r, pieces in enumerate(zip(*parts, strict=True)):
        column = pieces[0] if len(pieces) == 1 else lines.shuffle(block.vector, pieces[0], pieces[1], range(W))
        place = lines.new(f"add i64 {into}, {r * size}")
        address = lines.new(f"getelementptr i8, ptr %tile, i64 {place}")
        lines.add(f"store {V} {column}, ptr {address}, align {item}")
    single = _TileBuilder(lanes, "n")
    value = "poison"
    for r in range(W):
        address = single.new(f"getelementptr i8, ptr %p{r}, i64 %offset")
        x = single.new(f"load {s}, ptr {address}, align 1")
        value = single.new(f"insertelement {V} {value}, {s} {x}, i32 {r}")
    return f"""define internal void @pack.{lanes.suffix}({PACK}) noinline nounwind {{
entry:
  %last = sub i64 %rows, 1
{"".join(rows)}  %adjacent = icmp eq i64 %inner, {item}
  br i1 %adjacent, label %squares, label %numbers
squares:
  br label %shead
shead:
  %k = phi i64 [ 0, %squares ], [ %knext, %sbody ]
  %smore = icmp slt i64 %k, %cols
  br i1 %smore, label %sbody, label %done
sbody:
{"".join(lines.text)}  %knext = add i64 %k, {block.width}
  br label %shead
numbers:
  br label %head
head:
  %c = phi i64 [ 0, %numbers ], [ %next, %body ]
  %more = icmp slt i64 %c, %cols
  br i1 %more, label %body, label %done
body:
  %offset = mul i64 %c, %inner
{"".join(single.text)}  %t = mul i64 %c, {size}
  %into = getelementptr i8, ptr %tile, i64 %t
  store {V} {value}, ptr %into, align {item}
  %next = add i64 %c, 1
  br label %head
done:
  ret void
}}
"""


def unpack(lanes: Lanes) -> str:
    """IR of `unpack`: a tile out to rows with any strides, as transposed square blocks where a row is contiguous."""
    W, s, size, item = lanes.width, lanes.scalar, lanes.size, lanes.bits // 8
    rows = "".join(
        f"  %o{r} = mul i64 {r}, %outer\n  %p{r} = getelementptr i8, ptr %dst, i64 %o{r}\n" for r in range(W)
    )
    block, lines = square(lanes), _TileBuilder(lanes, "s")
    mask = lines.first(lines.new("sub i64 %cols, %k"), block.width)
    begin, offset = lines.new(f"mul i64 %k, {size}"), lines.new(f"mul i64 %k, {item}")
    half = block.width // 2
    narrow = f"<{half} x {s}>"

    def load(column: int, lane: int) -> str:
        place = lines.new(f"add i64 {begin}, {column * size + lane * item}")
        address = lines.new(f"getelementptr i8, ptr %tile, i64 {place}")
        return lines.new(f"load {narrow}, ptr {address}, align {item}")

    for start in range(0, W, block.width):
        halves = []  # the largest blocks are exchanged by loading them from where they belong
        for r in range(block.width):
            column, lane = r % half, start + r // half * half
            halves.append(lines.shuffle(narrow, load(column, lane), load(column + half, lane), range(block.width)))
        for r, row in enumerate(lines.transpose(halves, block.vector, half // 2), start):
            address = lines.new(f"getelementptr i8, ptr %p{r}, i64 {offset}")
            arguments = f"{block.vector} {row}, ptr {address}, i32 1, {block.mask} {mask}"
            lines.add(f"call void @llvm.masked.store.{block.suffix}.p0({arguments})")
    return f"""define internal void @unpack.{lanes.suffix}({UNPACK}) noinline nounwind {{
entry:
  %full = icmp eq i64 %rows, {W}
  %adjacent = icmp eq i64 %inner, {item}
  %fast = and i1 %full, %adjacent
  br i1 %fast, label %all, label %row
all:
{rows}  br label %shead
shead:
  %k = phi i64 [ 0, %all ], [ %knext, %sbody ]
  %smore = icmp slt i64 %k, %cols
  br i1 %smore, label %sbody, label %done
sbody:
{"".join(lines.text)}  %knext = add i64 %k, {block.width}
  br label %shead
row:
  %r = phi i64 [ 0, %entry ], [ %r1, %rowend ]
  %morerows = icmp slt i64 %r, %rows
  br i1 %morerows, label %col, label %done
col:
  %c = phi i64 [ 0, %row ], [ %c1, %one ]
  %morecols = icmp slt i64 %c, %cols
  br i1 %morecols, label %one, label %rowend
one:
  %cw = mul i64 %c, {W}
  %at = add i64 %cw, %r
  %source = getelementptr {s}, ptr %tile, i64 %at
  %y = load {s}, ptr %source, align {item}
  %ro = mul i64 %r, %outer
  %ki = mul i64 %c, %inner
  %both = add i64 %ro, %ki
  %target = getelementptr i8, ptr %dst, i64 %both
  store {s} %y, ptr %target, align 1
  %c1 = add i64 %c, 1
  br label %col
rowend:
  %r1 = add i64 %r, 1
  br label %row
done:
  ret void
}}
"""


def batch_loop(signature: CoreSignature, lanes: Lanes, core: str, scratch: int, name: str) -> str:
    """IR of the inner loop of a generalized ufunc: `void name(char **args, intp *dimensions, intp *steps, void *data)`.

    `int64 name_reserve_bytes()` says how much memory `data` must offer: it points to a lock, an int64 that is zero, and
    the address of the memory. No bytes, and it may be null.
    """
    count = len(signature.inputs)
    whole = [-(-n // lanes.width) * lanes.width for n in (*signature.inputs, signature.size + lanes.width)]  # squares
    sizes = [n * lanes.size for n in whole] + [scratch]
    tiles = [f"%in{i}" for i in range(count)] + ["%out", "%scratch"]
    rows_bytes = lanes.size * signature.size
    streams = streaming_stores.is_possible(rows_bytes)
    if streams:
        sizes.append(streaming_stores.buffer_size(rows_bytes))
    lines = []
    place = 0
    total = sum((size + 63) // 64 * 64 for size in sizes) + 64
    on_stack = total <= MAX_STACK_BYTES
    lines.append(f"  %work = alloca i8, i64 {total}, align 64\n" if on_stack else _take_memory(total))
    for tile, size in zip([*tiles, "%unaligned"][: len(sizes)], sizes, strict=True):
        lines.append(f"  {tile} = getelementptr i8, ptr %work, i64 {place}\n")
        place += (size + 63) // 64 * 64
    lines.append("  %n = load i64, ptr %dims\n")
    for i in range(count + 1):
        lines.append(f"  %ap{i} = getelementptr ptr, ptr %args, i64 {i}\n  %a{i} = load ptr, ptr %ap{i}\n")
        lines.append(f"  %sp{i} = getelementptr i64, ptr %steps, i64 {i}\n  %s{i} = load i64, ptr %sp{i}\n")
    strides = count + max(1, len(signature.output)) if signature.output else count
    for j in range(strides):
        lines.append(f"  %cp{j} = getelementptr i64, ptr %steps, i64 {count + 1 + j}\n  %c{j} = load i64, ptr %cp{j}\n")
    lines += _contiguous(signature.output, lanes, count)
    if streams:
        lines.append(_decide_to_stream(signature, lanes, count))
    body = []
    for i, n in enumerate(signature.inputs):
        body.append(f"  %q{i} = mul i64 %base, %s{i}\n  %r{i} = getelementptr i8, ptr %a{i}, i64 %q{i}\n")
        body.append(
            f"  call void @pack.{lanes.suffix}(ptr %r{i}, i64 %s{i}, i64 %c{i}, i64 {n}, i64 %rows, ptr %in{i})\n"
        )
    arguments = ", ".join(f"ptr {tile}" for tile in tiles)
    body.append(f"  call void @{core}({arguments})\n")
    body.append(
        f"  %q{count} = mul i64 %base, %s{count}\n  %r{count} = getelementptr i8, ptr %a{count}, i64 %q{count}\n"
    )
    if streams:
        body.append(_stream(signature, lanes, count))
    body += _out(signature, lanes, count)
    start, release = ("entry", "  ret void\n") if on_stack else ("ready", RELEASE_MEMORY)
    return f"""define i64 @{name}_reserve_bytes() nounwind {{
  ret i64 {0 if on_stack else total}
}}
define void @{name}(ptr %args, ptr %dims, ptr %steps, ptr %data) nounwind {{
entry:
{"".join(lines)}  br label %head
head:
  %base = phi i64 [ 0, %{start} ], [ %next, %stored ]
  %more = icmp slt i64 %base, %n
  br i1 %more, label %body, label %done
body:
  %left = sub i64 %n, %base
  %rows = call i64 @llvm.smin.i64(i64 %left, i64 {lanes.width})
{"".join(body)}  br label %stored
stored:
  %next = add i64 %base, {lanes.width}
  br label %head
done:
{release}}}
"""


def _take_memory(size: int) -> str:
    """Memory from the heap, or else the reserve, as soon as no other thread has it."""
    return f"""  %heap = call ptr @malloc(i64 {size})
  %none = icmp eq ptr %heap, null
  br i1 %none, label %wait, label %ready
wait:
  %lock = cmpxchg ptr %data, i64 0, i64 1 acquire monotonic
  %mine = extractvalue {{ i64, i1 }} %lock, 1
  br i1 %mine, label %take, label %wait
take:
  %reserve.at = getelementptr i64, ptr %data, i64 1
  %reserve = load ptr, ptr %reserve.at
  br label %ready
ready:
  %work = phi ptr [ %heap, %entry ], [ %reserve, %take ]
"""


RELEASE_MEMORY = """  br i1 %none, label %unlock, label %release
unlock:
  store atomic i64 0, ptr %data release, align 8
  ret void
release:
  call void @free(ptr %heap)
  ret void
"""


def _out(signature: CoreSignature, lanes: Lanes, count: int) -> list[str]:
    """Move the output tile out, a matrix row by row."""
    shape = signature.output
    unpack = f"call void @unpack.{lanes.suffix}"
    if len(shape) < 2:
        inner = f"%c{count}" if shape else f"{lanes.bits // 8}"
        return [f"  {unpack}(ptr %out, ptr %r{count}, i64 %s{count}, i64 {inner}, i64 {signature.size}, i64 %rows)\n"]
    wide = shape[-1]
    rows = signature.size // wide if wide else 0
    whole = (
        f"  {unpack}(ptr %out, ptr %r{count}, i64 %s{count}, i64 {lanes.bits // 8}, i64 {signature.size}, i64 %rows)\n"
    )
    lines = ["  br i1 %whole, label %together, label %apart\ntogether:\n", whole]
    lines.append("  br label %stored\napart:\n")
    for k in range(rows):
        offset, rest = [], k
        for dimension, n in reversed(list(enumerate(shape[:-1]))):
            offset.append((dimension, rest % n))
            rest //= n
        address = f"%r{count}"
        for dimension, index in offset:
            lines.append(f"  %m{k}.{dimension} = mul i64 {index}, %c{count + dimension}\n")
            lines.append(f"  %b{k}.{dimension} = getelementptr i8, ptr {address}, i64 %m{k}.{dimension}\n")
            address = f"%b{k}.{dimension}"
        lines.append(f"  %t{k} = getelementptr i8, ptr %out, i64 {k * wide * lanes.size}\n")
        inner = f"%c{count + len(shape) - 1}"
        lines.append(f"  {unpack}(ptr %t{k}, ptr {address}, i64 %s{count}, i64 {inner}, i64 {wide}, i64 %rows)\n")
    return lines


def _decide_to_stream(signature: CoreSignature, lanes: Lanes, count: int) -> str:
    """Lines that set `%streams`: whether the result is large, in adjacent rows of aligned numbers."""
    item = lanes.bits // 8
    return f"""  %address = ptrtoint ptr %a{count} to i64
  %odd = and i64 %address, {item - 1}
  %even = icmp eq i64 %odd, 0
  %adjacent = icmp eq i64 %s{count}, {signature.size * item}
  %bytes = mul i64 %n, {signature.size * item}
  %large = icmp sge i64 %bytes, {streaming_stores.MIN_STREAMED_BYTES}
  %streams.0 = and i1 %whole, %even
  %streams.1 = and i1 %streams.0, %adjacent
  %streams = and i1 %streams.1, %large
  %buffer.0 = ptrtoint ptr %unaligned to i64
  %buffer.1 = add i64 %buffer.0, {streaming_stores.LINE - 1}
  %buffer.2 = and i64 %buffer.1, {-streaming_stores.LINE}
  %buffer = inttoptr i64 %buffer.2 to ptr
"""


def _stream(signature: CoreSignature, lanes: Lanes, count: int) -> str:
    """Move the output tile out through the buffer, where the result is streamed."""
    item = lanes.bits // 8
    row = signature.size * item
    return f"""  br i1 %streams, label %stream, label %plain
stream:
  %to = ptrtoint ptr %r{count} to i64
  %skip = and i64 %to, {streaming_stores.LINE - 1}
  %back = sub i64 0, %skip
  %line = getelementptr i8, ptr %r{count}, i64 %back
  %into = getelementptr i8, ptr %buffer, i64 %skip
  call void @unpack.{lanes.suffix}(ptr %out, ptr %into, i64 {row}, i64 {item}, i64 {signature.size}, i64 %rows)
  %moved = mul i64 %rows, {row}
  %end = add i64 %skip, %moved
  %first = icmp eq i64 %base, 0
  %last = icmp sle i64 %left, {lanes.width}
  call void @stream(ptr %buffer, ptr %line, i64 %skip, i64 %end, i1 %first, i1 %last)
  br label %stored
plain:
"""


def _contiguous(shape: tuple[int, ...], lanes: Lanes, count: int) -> list[str]:
    """Whether the core dimensions of the output lie in memory one after the other."""
    lines, expected, truth = [], lanes.bits // 8, "true"
    for dimension, n in reversed(list(enumerate(shape))):
        lines.append(f"  %k{dimension} = icmp eq i64 %c{count + dimension}, {expected}\n")
        lines.append(f"  %w{dimension} = and i1 {truth}, %k{dimension}\n")
        truth = f"%w{dimension}"
        expected *= n
    return [*lines, f"  %whole = and i1 {truth}, true\n"]


def masked_declarations(lanes: Lanes) -> str:
    """Declarations of loads and stores of some lanes only."""
    lanes = square(lanes)
    V = lanes.vector
    load = f"declare {V} @llvm.masked.load.{lanes.suffix}.p0(ptr, i32, {lanes.mask}, {V})\n"
    return load + f"declare void @llvm.masked.store.{lanes.suffix}.p0({V}, ptr, i32, {lanes.mask})\n"


DECLARATIONS = """declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare ptr @malloc(i64)
declare void @free(ptr)
"""
