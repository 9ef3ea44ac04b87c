"""Streaming stores: rows to memory in whole cache lines, past the cache: LLVM IR text.

A line that is stored whole need not be read first, and displaces nothing in the cache. Rows seldom end where lines do,
so they are put together in a buffer, at the place in a line that they have in memory. Whole lines of the buffer are
streamed, and what is left of the last one becomes the beginning of the buffer for the rows that follow.
"""

from __future__ import annotations

from chainrule.compile.emit.lanes import Lanes

LINE = 64
"""Bytes of a cache line."""

MIN_STREAMED_BYTES = 4 << 20
"""Size of a result from which it is streamed: smaller ones stay in the cache, for whoever reads them next."""


def is_possible(rows_bytes: int) -> bool:
    """Whether rows that are moved at once fill a line, so that at most the first and the last line are not whole."""
    return rows_bytes >= LINE


def buffer_size(rows_bytes: int) -> int:
    """Bytes of the buffer for rows that are moved at once: a line before them, a line after, and one for alignment."""
    return rows_bytes + 3 * LINE


def stream(lanes: Lanes) -> str:
    """IR of `void stream(ptr buffer, ptr line, i64 skip, i64 end, i1 first, i1 last)`.

    Bytes `skip` to `end` of the buffer belong at the same places after the address of a line, `line`. Bytes before
    `skip` do so too unless these rows are the first ones; bytes after the last whole line are kept for the next rows
    unless these are the last.
    """
    item = lanes.bits // 8
    moves = _copy_line(lanes, "source", "target", f"align {lanes.size}, !nontemporal !1")
    keep = _copy_line(lanes, "kept", "buffer", f"align {item}")
    return f"""!1 = !{{i32 1}}
define internal void @stream(ptr %buffer, ptr %line, i64 %skip, i64 %end, i1 %first, i1 %last) noinline nounwind {{
entry:
  %whole.end = and i64 %end, {-LINE}
  %begun = icmp ne i64 %skip, 0
  %partial = and i1 %first, %begun
  br i1 %partial, label %begin, label %lines
begin:
  call void @copy_items(ptr %buffer, ptr %line, i64 %skip, i64 {LINE})
  br label %lines
lines:
  %start = phi i64 [ 0, %entry ], [ {LINE}, %begin ]
  br label %head
head:
  %at = phi i64 [ %start, %lines ], [ %next, %body ]
  %more = icmp slt i64 %at, %whole.end
  br i1 %more, label %body, label %rest
body:
  %source = getelementptr i8, ptr %buffer, i64 %at
  %target = getelementptr i8, ptr %line, i64 %at
{moves}  %next = add i64 %at, {LINE}
  br label %head
rest:
  br i1 %last, label %finish, label %keep
finish:
  call void @copy_items(ptr %buffer, ptr %line, i64 %whole.end, i64 %end)
  fence seq_cst
  ret void
keep:
  %kept = getelementptr i8, ptr %buffer, i64 %whole.end
{keep}  ret void
}}
define internal void @copy_items(ptr %from, ptr %to, i64 %start, i64 %stop) noinline nounwind {{
entry:
  br label %head
head:
  %at = phi i64 [ %start, %entry ], [ %next, %body ]
  %more = icmp slt i64 %at, %stop
  br i1 %more, label %body, label %done
body:
  %source = getelementptr i8, ptr %from, i64 %at
  %target = getelementptr i8, ptr %to, i64 %at
  %x = load {lanes.scalar}, ptr %source, align {item}
  store {lanes.scalar} %x, ptr %target, align {item}
  %next = add i64 %at, {item}
  br label %head
done:
  ret void
}}
"""


def _copy_line(lanes: Lanes, source: str, target: str, store: str) -> str:
    """IR lines that copy one line, with the alignment and other attributes of the stores."""
    V, lines = lanes.vector, []
    for k in range(0, LINE, lanes.size):
        lines.append(f"  %{source}{k} = getelementptr i8, ptr %{source}, i64 {k}\n")
        lines.append(f"  %{target}{k} = getelementptr i8, ptr %{target}, i64 {k}\n")
        lines.append(f"  %{source}.x{k} = load {V}, ptr %{source}{k}, align {lanes.bits // 8}\n")
        lines.append(f"  store {V} %{source}.x{k}, ptr %{target}{k}, {store}\n")
    return "".join(lines)
