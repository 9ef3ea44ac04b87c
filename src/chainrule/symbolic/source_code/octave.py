"""Source code in Octave, which MATLAB reads as well."""

from __future__ import annotations

from collections.abc import Sequence

from sympy.printing.octave import OctaveCodePrinter  # type: ignore[import-untyped]

from chainrule.symbolic.source_code.routine import ExpressionWriter, Routine


def octave(prefix: str, routines: Sequence[Routine]) -> str:
    """The Octave text of functions."""
    parts = [f"% Written by chainrule: {prefix}. SI units. For Octave and MATLAB.\n1;\n"]
    for routine in routines:
        write = ExpressionWriter(OctaveCodePrinter({"inline": True}), routine, "{x}({i})", 1)
        rows, columns = routine.matrix.shape
        lines = [f"function out = {routine.name}({', '.join(routine.arguments)})"]
        lines += [f"  {a.name} = {write(a.value)};" for a in routine.assignments]
        lines.append(f"  out = zeros({rows}, {columns});")
        lines += [f"  out({i + 1}, {j + 1}) = {write(x)};" for i, j, x in routine.entries if x != 0]
        parts.append("\n".join([*lines, "end\n"]))
    return "\n".join(parts)
