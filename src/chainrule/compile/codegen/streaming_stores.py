"""Streaming stores: rows to memory in whole cache lines, past the cache: LLVM IR text.

A line that is stored whole need not be read first, and displaces nothing in the cache. Rows seldom end where lines do,
so they are put together in a buffer, at the place in a line that they have in memory. Whole lines of the buffer are
streamed, and what is left of the last one becomes the beginning of the buffer for the rows that follow.
"""

from __future__ import annotations

import platform

from chainrule.compile.codegen.vectorize import Lanes

LINE = 64
"""Bytes of a cache line."""

MIN_STREAMED_BYTES = 8 << 20
"""Size of a result from which it is streamed: smaller ones stay in the cache, for whoever reads them next."""

_IS_X86 = platform.machine().lower() in ("x86_64", "amd64", "i386", "i686", "x86")
FENCE = "call void @llvm.x86.sse.sfence()" if _IS_X86 else "fence seq_cst"
"""The instruction after which other threads see what was streamed."""

DECLARATIONS = "declare void @llvm.x86.sse.sfence()\n" if _IS_X86 else ""


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
    narrow = Lanes(lanes.bits, min(lanes.width, LINE * 8 // lanes.bits))
    V, item, moves = narrow.vector, narrow.bits // 8, []
    for k in range(0, LINE, narrow.size):
        moves.append(f"  %from{k} = getelementptr i8, ptr %source, i64 {k}\n")
        moves.append(f"  %to{k} = getelementptr i8, ptr %target, i64 {k}\n")
        moves.append(f"  %x{k} = load {V}, ptr %from{k}, align {item}\n")
        moves.append(f"  store {V} %x{k}, ptr %to{k}, align {narrow.size}, !nontemporal !1\n")
    copy = "call void @llvm.memcpy.p0.p0.i64"
    return f"""{DECLARATIONS}!1 = !{{i32 1}}
define internal void @stream(ptr %buffer, ptr %line, i64 %skip, i64 %end, i1 %first, i1 %last) noinline nounwind {{
entry:
  %whole.end = and i64 %end, {-LINE}
  %rest = sub i64 %end, %whole.end
  %begun = icmp ne i64 %skip, 0
  %partial = and i1 %first, %begun
  br i1 %partial, label %begin, label %lines
begin:
  %begin.from = getelementptr i8, ptr %buffer, i64 %skip
  %begin.to = getelementptr i8, ptr %line, i64 %skip
  %begin.bytes = sub i64 {LINE}, %skip
  {copy}(ptr %begin.to, ptr %begin.from, i64 %begin.bytes, i1 false)
  br label %lines
lines:
  %start = phi i64 [ 0, %entry ], [ {LINE}, %begin ]
  br label %head
head:
  %at = phi i64 [ %start, %lines ], [ %next, %body ]
  %source = getelementptr i8, ptr %buffer, i64 %at
  %target = getelementptr i8, ptr %line, i64 %at
  %more = icmp slt i64 %at, %whole.end
  br i1 %more, label %body, label %left
body:
{"".join(moves)}  %next = add i64 %at, {LINE}
  br label %head
left:
  br i1 %last, label %finish, label %keep
finish:
  {copy}(ptr %target, ptr %source, i64 %rest, i1 false)
  {FENCE}
  ret void
keep:
  {copy}(ptr %buffer, ptr %source, i64 {LINE}, i1 false)
  ret void
}}
"""
