"""A call that XLA makes of compiled code on the CPU: LLVM IR text of a handler of its foreign function interface.

XLA hands over a call frame, a structure of its C interface (`xla/ffi/api/c_api.h` in `jax.ffi.include_dir()`), with the
addresses of dense buffers. The handler finds them, counts the rows, and calls the inner loop of a generalized ufunc.
"""

from __future__ import annotations

from chainrule.compile.codegen.batch_loop import CoreSignature

API_MAJOR = 0
API_MINOR = 3
"""The version of the interface whose structures the offsets below describe."""

EXTENSION = 8
ARGUMENTS = 40 + 32
RESULTS = 80 + 32
"""Offsets in a call frame: the first extension, and the lists of addresses of argument and result buffers."""
EXTENSION_TYPE = 8
EXTENSION_METADATA = 24
METADATA_TYPE = 1
"""Of an extension: its type, and the address of the metadata in one that asks for them."""
METADATA_MAJOR = 8 + 16
METADATA_MINOR = 8 + 20
BUFFER_DATA = 24
BUFFER_RANK = 32
BUFFER_DIMENSIONS = 40


def xla_handler(signature: CoreSignature, bits: int, loop: int, data: int, name: str) -> str:
    """IR of a handler: `XLA_FFI_Error *name(XLA_FFI_CallFrame *frame)`, which calls the loop at an address.

    Buffers are (..., length) for each input and (..., size) for the output, with equal leading dimensions, row by row.
    """
    item = bits // 8
    count = len(signature.inputs)
    outer = [item * n for n in (*signature.inputs, signature.size)]
    core = [item for _ in signature.inputs]
    stride = signature.size * item
    for n in signature.output:
        stride //= n
        core.append(stride)
    lines = []
    for k in range(count):
        lines.append(_load(f"buffer{k}", "ptr", "%arguments", 8 * k))
        lines.append(_load(f"data{k}", "ptr", f"%buffer{k}", BUFFER_DATA))
    lines.append(_load(f"buffer{count}", "ptr", "%results", 0))
    lines.append(_load(f"data{count}", "ptr", f"%buffer{count}", BUFFER_DATA))
    stores = [_store("ptr", f"%data{k}", "%addresses", 8 * k) for k in range(count + 1)]
    stores += [_store("i64", str(step), "%steps", 8 * k) for k, step in enumerate([*outer, *core])]
    return f"""define ptr @{name}(ptr %frame) nounwind {{
entry:
  %addresses = alloca [{count + 1} x ptr]
  %steps = alloca [{len(outer) + len(core)} x i64]
  %count = alloca i64
{_load("extension", "ptr", "%frame", EXTENSION)}  %plain = icmp eq ptr %extension, null
  br i1 %plain, label %run, label %extended
extended:
{_load("type", "i32", "%extension", EXTENSION_TYPE)}  %asks = icmp eq i32 %type, {METADATA_TYPE}
  br i1 %asks, label %answer, label %run
answer:
{_load("metadata", "ptr", "%extension", EXTENSION_METADATA)}\
{_store("i32", str(API_MAJOR), "%metadata", METADATA_MAJOR)}\
{_store("i32", str(API_MINOR), "%metadata", METADATA_MINOR)}  ret ptr null
run:
{_load("arguments", "ptr", "%frame", ARGUMENTS)}{_load("results", "ptr", "%frame", RESULTS)}{"".join(lines)}\
{_load("rank", "i64", f"%buffer{count}", BUFFER_RANK)}{_load("lengths", "ptr", f"%buffer{count}", BUFFER_DIMENSIONS)}\
  %last = sub i64 %rank, 1
  br label %head
head:
  %k = phi i64 [ 0, %run ], [ %next, %body ]
  %rows = phi i64 [ 1, %run ], [ %product, %body ]
  %more = icmp slt i64 %k, %last
  br i1 %more, label %body, label %call
body:
  %place = getelementptr i64, ptr %lengths, i64 %k
  %length = load i64, ptr %place
  %product = mul i64 %rows, %length
  %next = add i64 %k, 1
  br label %head
call:
{"".join(stores)}  store i64 %rows, ptr %count
  call void inttoptr (i64 {loop} to ptr)(ptr %addresses, ptr %count, ptr %steps, ptr inttoptr (i64 {data} to ptr))
  ret ptr null
}}
"""


def _load(name: str, kind: str, base: str, offset: int) -> str:
    """Lines that load a value at an offset from an address."""
    return f"  %{name}.at = getelementptr i8, ptr {base}, i64 {offset}\n  %{name} = load {kind}, ptr %{name}.at\n"


def _store(kind: str, value: str, base: str, offset: int) -> str:
    """Lines that store a value at an offset from an address."""
    place = f"{base}.{offset}"
    return f"  {place} = getelementptr i8, ptr {base}, i64 {offset}\n  store {kind} {value}, ptr {place}\n"
