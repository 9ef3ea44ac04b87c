"""Source code in Julia."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp
from sympy.printing.julia import JuliaCodePrinter  # type: ignore[import-untyped]

from chainrule.symbolic.source_code.routine import ExpressionWriter, Routine


class JuliaPrinter(JuliaCodePrinter):  # type: ignore[misc]
    """Julia's expressions; atan of two arguments is what others call atan2."""

    def _print_atan2(self, expr: sp.atan2) -> str:
        return f"atan({self._print(expr.args[0])}, {self._print(expr.args[1])})"


def julia(prefix: str, routines: Sequence[Routine]) -> str:
    """The Julia text of functions."""
    parts = [f"# Written by chainrule: {prefix}. SI units.\n"]
    for routine in routines:
        write = ExpressionWriter(JuliaPrinter(), routine, "{x}[{i}]", 1)
        rows, columns = routine.matrix.shape
        shape = f"{rows}" if routine.is_column else f"{rows}, {columns}"
        lines = [f"function {routine.name}({', '.join(routine.arguments)})"]
        lines += [f"    {a.name} = {write(a.value)}" for a in routine.assignments]
        lines.append(f"    out = zeros({shape})")
        for i, j, x in routine.entries:
            place = f"{i + 1}" if routine.is_column else f"{i + 1}, {j + 1}"
            if x != 0:
                lines.append(f"    out[{place}] = {write(x)}")
        parts.append("\n".join([*lines, "    return out", "end\n"]))
    return "\n".join(parts)
