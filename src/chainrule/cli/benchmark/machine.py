"""What one core of this machine can do."""

from __future__ import annotations

import ctypes

import numpy as np

from chainrule.cli.benchmark.timing import best
from chainrule.compile.runtime import engine

CHAINS = 12
"""Independent multiply-adds in flight, enough to hide the latency of one."""

ROUNDS = 100_000
COPIED_NUMBERS = 8_000_000
"""Doubles in the array that is copied: more than any cache holds."""


def measure_peaks(seconds: float) -> dict[str, float]:
    """Fused multiply-adds in registers (flop/s), and copying of large arrays (B/s)."""
    width = engine.vector_bits() // 64
    code = engine.MachineCode(engine.compile_text(_multiply_adds(width)))
    peak = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(code.address("peak"))
    flops = 2 * width * CHAINS * ROUNDS / best(lambda: peak(ROUNDS), seconds)
    source = np.ones(COPIED_NUMBERS)
    target = np.empty_like(source)
    copied = 2 * source.nbytes / best(lambda: np.copyto(target, source), seconds)
    return {"flops": flops, "bytes": copied}


def _multiply_adds(width: int) -> str:
    """LLVM IR of `double peak(int64 n)`: n rounds of independent multiply-adds of vectors."""
    vector = f"<{width} x double>"
    phis = "".join(
        f"  %a{i} = phi {vector} [ splat (double {1 + i / 8}), %entry ], [ %b{i}, %loop ]\n" for i in range(CHAINS)
    )
    steps = "".join(
        f"  %b{i} = call {vector} @llvm.fma.v{width}f64({vector} %a{i}, {vector} splat (double 0.999), "
        f"{vector} splat (double 0.001))\n"
        for i in range(CHAINS)
    )
    total, sums = "%b0", ""
    for i in range(1, CHAINS):
        sums += f"  %s{i} = fadd {vector} {total}, %b{i}\n"
        total = f"%s{i}"
    return (
        f"declare {vector} @llvm.fma.v{width}f64({vector}, {vector}, {vector})\n"
        "define double @peak(i64 %n) {\nentry:\n  br label %loop\nloop:\n"
        "  %k = phi i64 [ 0, %entry ], [ %m, %loop ]\n"
        f"{phis}{steps}  %m = add i64 %k, 1\n  %more = icmp slt i64 %m, %n\n  br i1 %more, label %loop, label %done\n"
        f"done:\n{sums}  %x = extractelement {vector} {total}, i32 0\n  ret double %x\n}}\n"
    )
