"""Moments, extremes and bins of the columns of an array, in two passes of machine code.

The first pass adds up the columns. The second one, which knows their means, adds up distances from them and the squares
of these, keeps the smallest and the largest number, and counts each number in the bin of its float32's first bits.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.compile.runtime import disk_cache, memory_cache

ROWS_AT_ONCE = 4
"""Rows whose numbers are added to each other first, so that additions do not wait for those before them."""


class ColumnMoments:
    """The two passes, for bins by all but `dropped_bits` of a float32."""

    def __init__(self, dropped_bits: int) -> None:
        from chainrule.compile.runtime.engine import MachineCode

        self._code = MachineCode(disk_cache.read_or_compile(_module(dropped_bits), {"function": "column_moments"}).code)
        size, pointer = ctypes.c_int64, ctypes.c_void_p
        self._calls = {
            rows: (
                ctypes.CFUNCTYPE(None, pointer, size, size, size, pointer)(self._code.address(f"add_{rows}")),
                ctypes.CFUNCTYPE(None, pointer, size, size, size, *[pointer] * 6, size)(
                    self._code.address(f"scan_{rows}")
                ),
            )
            for rows in (1, ROWS_AT_ONCE)
        }

    def totals(self, block: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of each column of a block (rows, columns) whose rows are contiguous."""
        out = np.zeros(block.shape[1])
        for part, rows in self._parts(block):
            self._calls[rows][0](part.ctypes.data, len(part), part.shape[1], part.strides[0] // 8, out.ctypes.data)
        return out

    def scan(
        self, block: NDArray[np.float64], mean: NDArray[np.float64], counts: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], ...]:
        """Sums of distances and of their squares, smallest and largest number of each column, all finite.

        `counts` (columns, bins) receives the numbers.
        """
        width = block.shape[1]
        sums = np.zeros(width), np.zeros(width), np.full(width, np.inf), np.full(width, -np.inf)
        numbers: list[Any] = [mean, *sums, counts]
        for part, rows in self._parts(block):
            self._calls[rows][1](
                part.ctypes.data, len(part), width, part.strides[0] // 8, *(x.ctypes.data for x in numbers),
                counts.strides[0] // 8,
            )  # fmt: skip
        return sums

    @staticmethod
    def _parts(block: NDArray[np.float64]) -> list[tuple[NDArray[np.float64], int]]:
        even = len(block) // ROWS_AT_ONCE * ROWS_AT_ONCE
        return [(part, rows) for part, rows in ((block[:even], ROWS_AT_ONCE), (block[even:], 1)) if len(part)]


def column_moments(dropped_bits: int) -> ColumnMoments:
    """The two passes, compiled once."""
    return memory_cache.get_or_build(("column scan", dropped_bits), lambda: ColumnMoments(dropped_bits))


def _module(dropped_bits: int) -> str:
    declared = "declare double @llvm.minnum.f64(double, double)\ndeclare double @llvm.maxnum.f64(double, double)\n"
    return declared + "".join(_add(rows) + _scan(rows, dropped_bits) for rows in (1, ROWS_AT_ONCE))


def _add(rows: int) -> str:
    """LLVM IR of the first pass: `add(numbers, rows, columns, distance of rows, sums)`."""
    body = _load_rows(rows) + _tree("v", rows, "s") + _accumulate("sums", "fadd double", "%s")
    return _loops(f"add_{rows}", "ptr %sums", rows, body)


def _scan(rows: int, dropped_bits: int) -> str:
    """LLVM IR of the second pass."""
    body = _load_rows(rows) + "  %mp = getelementptr double, ptr %means, i64 %c\n  %mean = load double, ptr %mp\n"
    for k in range(rows):
        body += f"  %d{k} = fsub double %v{k}, %mean\n  %e{k} = fmul double %d{k}, %d{k}\n"
    body += _tree("d", rows, "ds") + _tree("e", rows, "es")
    body += _accumulate("sums", "fadd double", "%ds") + _accumulate("squares", "fadd double", "%es")
    for name, function in (("lows", "minnum"), ("highs", "maxnum")):
        last = "%v0"
        for k in range(1, rows):
            body += f"  %{name}{k} = call double @llvm.{function}.f64(double {last}, double %v{k})\n"
            last = f"%{name}{k}"
        body += _accumulate(name, f"call double @llvm.{function}.f64", last)
    body += "  %row = mul i64 %c, %bins\n"
    for k in range(rows):
        body += (
            f"  %f{k} = fptrunc double %v{k} to float\n  %b{k} = bitcast float %f{k} to i32\n"
            f"  %h{k} = lshr i32 %b{k}, {dropped_bits}\n  %i{k} = zext i32 %h{k} to i64\n"
            f"  %j{k} = add i64 %row, %i{k}\n"
            f"  %p{k} = getelementptr i64, ptr %counts, i64 %j{k}\n  %n{k} = load i64, ptr %p{k}\n"
            f"  %m{k} = add i64 %n{k}, 1\n  store i64 %m{k}, ptr %p{k}\n"
        )
    arguments = "ptr %means, ptr %sums, ptr %squares, ptr %lows, ptr %highs, ptr %counts, i64 %bins"
    return _loops(f"scan_{rows}", arguments, rows, body)


def _loops(name: str, arguments: str, rows: int, body: str) -> str:
    """A function that runs the body for each column %c of `rows` rows from %r on, and for all rows."""
    return (
        f"define void @{name}(ptr %x, i64 %rows, i64 %columns, i64 %distance, {arguments}) {{\n"
        "entry:\n  br label %outer\n"
        f"outer:\n  %r = phi i64 [ 0, %entry ], [ %rn, %next ]\n  br label %inner\n"
        "inner:\n  %c = phi i64 [ 0, %outer ], [ %cn, %inner ]\n"
        f"{body}"
        "  %cn = add i64 %c, 1\n  %cm = icmp slt i64 %cn, %columns\n  br i1 %cm, label %inner, label %next\n"
        f"next:\n  %rn = add i64 %r, {rows}\n  %rm = icmp slt i64 %rn, %rows\n  br i1 %rm, label %outer, label %done\n"
        "done:\n  ret void\n}\n"
    )


def _load_rows(rows: int) -> str:
    """The numbers %v0, %v1, .. of a column in neighboring rows."""
    return "".join(
        f"  %r{k} = add i64 %r, {k}\n  %o{k} = mul i64 %r{k}, %distance\n  %q{k} = add i64 %o{k}, %c\n"
        f"  %a{k} = getelementptr double, ptr %x, i64 %q{k}\n  %v{k} = load double, ptr %a{k}\n"
        for k in range(rows)
    )


def _tree(name: str, count: int, total: str) -> str:
    """The sum %total of %name0, %name1, .., by pairs."""
    level, text, made = [f"%{name}{k}" for k in range(count)], "", 0
    while len(level) > 1:
        pairs = []
        for a, b in zip(level[::2], level[1::2], strict=True):
            text += f"  %{total}.{made} = fadd double {a}, {b}\n"
            pairs.append(f"%{total}.{made}")
            made += 1
        level = pairs
    return f"{text}  %{total} = fadd double {level[0]}, 0.0\n"


def _accumulate(array: str, operation: str, value: str) -> str:
    """`array[c] = operation(array[c], value)`."""
    operands = f"(double %{array}.o, double {value})" if operation.startswith("call") else f" %{array}.o, {value}"
    return (
        f"  %{array}.p = getelementptr double, ptr %{array}, i64 %c\n  %{array}.o = load double, ptr %{array}.p\n"
        f"  %{array}.n = {operation}{operands}\n  store double %{array}.n, ptr %{array}.p\n"
    )
