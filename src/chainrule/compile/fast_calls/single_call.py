"""The call on one state, as Python calls it: LLVM IR of a builtin that reads arrays where they lie."""

from __future__ import annotations

from chainrule.compile.codegen.batch_loop import CoreSignature
from chainrule.compile.codegen.module import IrModule
from chainrule.compile.codegen.vectorize import Lanes
from chainrule.compile.fast_calls import numpy_abi as abi
from chainrule.compile.tape import Tape

MAX_SINGLE_CALL_INSTRUCTIONS = 50_000
"""Size beyond which a call on one state takes the way of a batch."""


def add_single_call(module: IrModule, tape: Tape, signature: CoreSignature) -> None:
    """Add the builtin for one state, `call`, and its `setup` to a module of LLVM IR."""
    scratch = module.add_cores({"core_one": tape}, Lanes(64, 1))
    module.add(single_call(signature, "core_one", scratch, "call"))


def single_call(signature: CoreSignature, core: str, scratch: int, name: str) -> str:
    """IR of a Python function of one state: `PyObject *name(self, args, nargs, keywords)`.

    Arguments that are contiguous vectors of doubles of the right length are read where they lie; anything else goes
    to the call on arrays (`array_call`), with the same arguments; so does one with a quaternion of zeros. Addresses of
    that call and of Python's and NumPy's own objects come from the table that `setup` was given.
    """
    count = len(signature.inputs)
    checks = []
    for i, n in enumerate(signature.inputs):
        checks.append(f"""c{i}:
  %ap{i} = getelementptr ptr, ptr %args, i64 {i}
  %a{i} = load ptr, ptr %ap{i}
  %tp{i} = getelementptr i8, ptr %a{i}, i64 {abi.TYPE}
  %t{i} = load ptr, ptr %tp{i}
  %is{i} = icmp eq ptr %t{i}, %ndarray
  br i1 %is{i}, label %d{i}, label %other
d{i}:
  %np{i} = getelementptr i8, ptr %a{i}, i64 {abi.NDIM}
  %n{i} = load i32, ptr %np{i}
  %flat{i} = icmp eq i32 %n{i}, 1
  %ep{i} = getelementptr i8, ptr %a{i}, i64 {abi.DESCRIPTOR}
  %e{i} = load ptr, ptr %ep{i}
  %real{i} = icmp eq ptr %e{i}, %double
  %both{i} = and i1 %flat{i}, %real{i}
  br i1 %both{i}, label %e{i}x, label %other
e{i}x:
  %lp{i} = getelementptr i8, ptr %a{i}, i64 {abi.DIMENSIONS}
  %lq{i} = load ptr, ptr %lp{i}
  %l{i} = load i64, ptr %lq{i}
  %long{i} = icmp eq i64 %l{i}, {n}
  %sp{i} = getelementptr i8, ptr %a{i}, i64 {abi.STRIDES}
  %sq{i} = load ptr, ptr %sp{i}
  %s{i} = load i64, ptr %sq{i}
  %tight{i} = icmp eq i64 %s{i}, 8
  %fp{i} = getelementptr i8, ptr %a{i}, i64 {abi.FLAGS}
  %f{i} = load i32, ptr %fp{i}
  %fa{i} = and i32 %f{i}, {abi.ALIGNED}
  %al{i} = icmp ne i32 %fa{i}, 0
  %g{i} = and i1 %long{i}, %tight{i}
  %good{i} = and i1 %g{i}, %al{i}
  %dp{i} = getelementptr i8, ptr %a{i}, i64 {abi.DATA}
  %in{i} = load ptr, ptr %dp{i}
  br i1 %good{i}, label %{f"c{i + 1}" if i + 1 < count else "proper"}, label %other
""")
    checks.append(_no_zero_quaternion(signature.quaternions))
    shape = signature.output
    dims = "".join(
        f"  %dim{k} = getelementptr i64, ptr %dims, i64 {k}\n  store i64 {n}, ptr %dim{k}\n"
        for k, n in enumerate(shape)
    )
    inputs = "".join(f"ptr %in{i}, " for i in range(count))
    allocation = (
        f"ptr %ndarray, i32 {len(shape)}, ptr %dims, i32 {abi.DOUBLE}, ptr null, ptr null, i32 0, i32 0, ptr null"
    )
    return f"""@table = internal global ptr null
define void @setup(ptr %table) nounwind {{
  store ptr %table, ptr @table
  ret void
}}
define ptr @{name}(ptr %self, ptr %args, i64 %nargs, ptr %keywords) nounwind {{
entry:
  %scratch = alloca i8, i64 {scratch}, align 64
  %dims = alloca i64, i64 {max(1, len(shape))}
  %tables = load ptr, ptr @table
  %ndarray = load ptr, ptr %tables
  %p1 = getelementptr ptr, ptr %tables, i64 1
  %double = load ptr, ptr %p1
  %p2 = getelementptr ptr, ptr %tables, i64 2
  %new = load ptr, ptr %p2
  %p3 = getelementptr ptr, ptr %tables, i64 3
  %arraycall = load ptr, ptr %p3
  %right = icmp eq i64 %nargs, {count}
  %plain = icmp eq ptr %keywords, null
  %go = and i1 %right, %plain
  br i1 %go, label %c0, label %other
{"".join(checks)}compute:
{dims}  %result = call ptr %new({allocation})
  %none = icmp eq ptr %result, null
  br i1 %none, label %failed, label %fill
fill:
  %op = getelementptr i8, ptr %result, i64 {abi.DATA}
  %out = load ptr, ptr %op
  call void @{core}({inputs}ptr %out, ptr %scratch)
  ret ptr %result
failed:
  ret ptr null
other:
  %answer = call ptr %arraycall(ptr %self, ptr %args, i64 %nargs, ptr %keywords)
  ret ptr %answer
}}
"""


def _no_zero_quaternion(quaternions: tuple[tuple[int, int], ...]) -> str:
    """Go on to compute only if no quaternion is zero."""
    text, proper = "proper:\n", "true"
    for k, (i, place) in enumerate(quaternions):
        total = "0.0"
        for j in range(4):
            text += f"  %zp{k}.{j} = getelementptr double, ptr %in{i}, i64 {place + j}\n"
            text += f"  %z{k}.{j} = load double, ptr %zp{k}.{j}\n  %zz{k}.{j} = fmul double %z{k}.{j}, %z{k}.{j}\n"
            text += f"  %zs{k}.{j} = fadd double {total}, %zz{k}.{j}\n"
            total = f"%zs{k}.{j}"
        text += f"  %zt{k} = fcmp une double {total}, 0.0\n  %zu{k} = and i1 {proper}, %zt{k}\n"
        proper = f"%zu{k}"
    return text + f"  br i1 {proper}, label %compute, label %other\n"
