"""Source code in Modelica."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from chainrule.symbolic.source_code.c import CPrinter
from chainrule.symbolic.source_code.routine import ExpressionWriter, Routine


class ModelicaPrinter(CPrinter):
    """Expressions of Modelica: those of C, except for powers, absolute values and cases."""

    def _print_Pow(self, expr: sp.Pow) -> str:
        if expr.exp == -1:
            return f"1/({self._print(expr.base)})"
        if expr.exp == sp.Rational(1, 2):
            return f"sqrt({self._print(expr.base)})"
        if expr.exp == -sp.Rational(1, 2):
            return f"1/sqrt({self._print(expr.base)})"
        return f"({self._print(expr.base)})^({self._print(expr.exp)})"

    def _print_Abs(self, expr: sp.Abs) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Piecewise(self, expr: sp.Piecewise) -> str:
        *cases, (last, _) = expr.args
        tests = "".join(f"if {self._print(test)} then {self._print(value)} else " for value, test in cases)
        return f"({tests}{self._print(last)})"

    def _print_sign(self, expr: sp.Expr) -> str:
        return f"sign({self._print(expr.args[0])})"


def modelica(prefix: str, routines: Sequence[Routine]) -> str:
    """The Modelica text of functions."""
    parts = [f"// Written by chainrule: {prefix}. SI units.\n"]
    for routine in routines:
        write = ExpressionWriter(ModelicaPrinter(), routine, "{x}[{i}]", 1)
        rows, columns = routine.matrix.shape
        lines = [f"function {routine.name}"]
        lines += [f"  input Real {x}[{n}];" for x, n in routine.arguments.items()]
        lines.append(f"  output Real out[{rows if routine.is_column else f'{rows}, {columns}'}];")
        if routine.assignments:
            lines += ["protected", *(f"  Real {a.name};" for a in routine.assignments)]
        lines += ["algorithm", *(f"  {a.name} := {write(a.value)};" for a in routine.assignments)]
        for i, j, x in routine.entries:
            place = f"{i + 1}" if routine.is_column else f"{i + 1}, {j + 1}"
            lines.append(f"  out[{place}] := {write(x)};")
        parts.append("\n".join([*lines, f"end {routine.name};\n"]))
    return "\n".join(parts)
