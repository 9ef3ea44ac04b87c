"""Source code in C99."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp
from sympy.printing.c import C99CodePrinter  # type: ignore[import-untyped]

from chainrule.symbolic.source_code.routine import ExpressionWriter, Routine


class CPrinter(C99CodePrinter):  # type: ignore[misc]
    """C's expressions, with squares as products, and digits for pi, whose name M_PI is not in the standard."""

    def __init__(self) -> None:
        super().__init__({"math_macros": {}})

    def _print_NumberSymbol(self, expr: sp.NumberSymbol) -> str:
        return repr(float(expr))

    def _print_Pow(self, expr: sp.Pow) -> str:
        if expr.exp in (2, 3) and expr.base.is_Symbol:
            return f"({'*'.join([self._print(expr.base)] * int(expr.exp))})"
        return str(super()._print_Pow(expr))


def c(prefix: str, routines: Sequence[Routine]) -> str:
    """The C text of functions."""
    parts = [f"/* Written by chainrule: {prefix}. SI units; matrices by rows. */\n#include <math.h>\n"]
    for routine in routines:
        write = ExpressionWriter(CPrinter(), routine, "{x}[{i}]", 0)
        inputs = ", ".join(f"const double {x}[{max(n, 1)}]" for x, n in routine.arguments.items())
        lines = [f"void {routine.name}({inputs}{', ' if inputs else ''}double out[{len(routine.matrix)}])", "{"]
        lines += [f"    (void){x};" for x in routine.unused_arguments]
        lines += [f"    const double {a.name} = {write(a.value)};" for a in routine.assignments]
        columns = routine.matrix.cols
        lines += [f"    out[{i * columns + j}] = {write(x)};" for i, j, x in routine.entries]
        parts.append("\n".join([*lines, "}\n"]))
    return "\n".join(parts)
