"""Source code in Python with NumPy."""

from __future__ import annotations

from collections.abc import Sequence

from sympy.printing.numpy import NumPyPrinter  # type: ignore[import-untyped]

from chainrule.symbolic.source_code.routine import ExpressionWriter, Routine


def numpy(prefix: str, routines: Sequence[Routine]) -> str:
    """The Python text of functions."""
    parts = [f'"""Written by chainrule: {prefix}. SI units; leading dimensions are a batch."""\n\nimport numpy\n']
    for routine in routines:
        printer = NumPyPrinter({"fully_qualified_modules": True})
        write = ExpressionWriter(printer, routine, "{x}[..., {i}]", 0)
        own = list(routine.arguments)
        lines = [f"def {routine.name}({', '.join(own)}):"]
        lines += [f"    {x} = numpy.asarray({x}, dtype=float)" for x in own]
        batch = ", ".join(f"{x}.shape[:-1]" for x in own)
        shape = (routine.matrix.rows,) if routine.is_column else routine.matrix.shape
        lines.append(f"    batch = numpy.broadcast_shapes({batch or '()'})")
        lines += [f"    {a.name} = {write(a.value)}" for a in routine.assignments]
        lines.append(f"    out = numpy.zeros((*batch, {', '.join(map(str, shape))}))")
        for i, j, x in routine.entries:
            place = f"{i}" if routine.is_column else f"{i}, {j}"
            if x != 0:
                lines.append(f"    out[..., {place}] = {write(x)}")
        parts.append("\n" + "\n".join([*lines, "    return out\n"]))
    return "\n".join(parts)
