"""How each language writes a function that fills a matrix."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.printing.c import C99CodePrinter  # type: ignore[import-untyped]
from sympy.printing.julia import JuliaCodePrinter  # type: ignore[import-untyped]
from sympy.printing.numpy import NumPyPrinter  # type: ignore[import-untyped]
from sympy.printing.octave import OctaveCodePrinter  # type: ignore[import-untyped]


@dataclass(frozen=True)
class Assignment:
    """A named value: a parameter of the robot, or a common subexpression."""

    name: str
    value: sp.Expr | float


@dataclass(frozen=True)
class Routine:
    """A function to be written: its name, the lengths of its arguments, where symbols are, and what to compute."""

    name: str
    arguments: Mapping[str, int]
    places: Mapping[sp.Symbol, tuple[str, int]]
    names: Mapping[sp.Symbol, str]
    assignments: Sequence[Assignment]
    matrix: sp.Matrix

    def symbols(self, place: str, first: int) -> dict[sp.Symbol, sp.Symbol]:
        """What every symbol is called in the text; `place` says how entry {i} of {x} is written."""
        found = {s: sp.Symbol(place.format(x=x, i=i + first), real=True) for s, (x, i) in self.places.items()}
        return found | {s: sp.Symbol(name, real=True) for s, name in self.names.items()}

    @property
    def is_column(self) -> bool:
        """Whether the matrix is a vector."""
        return self.matrix.cols == 1


ELEMENTWISE = re.compile(r"\.([*/^])(?!\.)")
"""Operators on arrays, which Octave and Julia would not need here."""


class _Writer:
    """Prints expressions of one routine, all of whose values are plain numbers."""

    def __init__(self, printer: Any, routine: Routine, place: str, first: int) -> None:
        self.printer, self.symbols = printer, routine.symbols(place, first)

    def __call__(self, expression: sp.Expr | float) -> str:
        if isinstance(expression, float):
            return repr(expression)
        text = str(self.printer.doprint(expression.xreplace(self.symbols)))
        return ELEMENTWISE.sub(r"\1", text)


def _entries(routine: Routine) -> list[tuple[int, int, sp.Expr]]:
    M = routine.matrix
    return [(i, j, M[i, j]) for i in range(M.rows) for j in range(M.cols)]


class CPrinter(C99CodePrinter):  # type: ignore[misc]
    """C's expressions, with squares as products."""

    def _print_Pow(self, expr: sp.Pow) -> str:
        if expr.exp in (2, 3) and expr.base.is_Symbol:
            return f"({'*'.join([self._print(expr.base)] * int(expr.exp))})"
        return str(super()._print_Pow(expr))


def _c(prefix: str, routines: Sequence[Routine]) -> str:
    parts = [f"/* Written by chainrule: {prefix}. SI units; matrices by rows. */\n#include <math.h>\n"]
    for routine in routines:
        write = _Writer(CPrinter(), routine, "{x}[{i}]", 0)
        inputs = ", ".join(f"const double {x}[{max(n, 1)}]" for x, n in routine.arguments.items())
        lines = [f"void {routine.name}({inputs}{', ' if inputs else ''}double out[{len(routine.matrix)}])", "{"]
        used = {x for s, (x, _) in routine.places.items() if s in _used(routine)}
        lines += [f"    (void){x};" for x in routine.arguments if x not in used]
        lines += [f"    const double {a.name} = {write(a.value)};" for a in routine.assignments]
        columns = routine.matrix.cols
        lines += [f"    out[{i * columns + j}] = {write(x)};" for i, j, x in _entries(routine)]
        parts.append("\n".join([*lines, "}\n"]))
    return "\n".join(parts)


def _used(routine: Routine) -> set[sp.Symbol]:
    found = set(routine.matrix.free_symbols)
    for assignment in routine.assignments:
        found |= getattr(assignment.value, "free_symbols", set())
    return found


def _numpy(prefix: str, routines: Sequence[Routine]) -> str:
    parts = [f'"""Written by chainrule: {prefix}. SI units; leading dimensions are a batch."""\n\nimport numpy\n']
    for routine in routines:
        printer = NumPyPrinter({"fully_qualified_modules": True})
        write = _Writer(printer, routine, "{x}[..., {i}]", 0)
        own = list(routine.arguments)
        lines = [f"def {routine.name}({', '.join(own)}):"]
        lines += [f"    {x} = numpy.asarray({x}, dtype=float)" for x in own]
        batch = ", ".join(f"{x}.shape[:-1]" for x in own)
        shape = (routine.matrix.rows,) if routine.is_column else routine.matrix.shape
        lines.append(f"    batch = numpy.broadcast_shapes({batch or '()'})")
        lines += [f"    {a.name} = {write(a.value)}" for a in routine.assignments]
        lines.append(f"    out = numpy.zeros((*batch, {', '.join(map(str, shape))}))")
        for i, j, x in _entries(routine):
            place = f"{i}" if routine.is_column else f"{i}, {j}"
            if x != 0:
                lines.append(f"    out[..., {place}] = {write(x)}")
        parts.append("\n" + "\n".join([*lines, "    return out\n"]))
    return "\n".join(parts)


def _octave(prefix: str, routines: Sequence[Routine]) -> str:
    parts = [f"% Written by chainrule: {prefix}. SI units. For Octave and MATLAB.\n1;\n"]
    for routine in routines:
        write = _Writer(OctaveCodePrinter({"inline": True}), routine, "{x}({i})", 1)
        rows, columns = routine.matrix.shape
        lines = [f"function out = {routine.name}({', '.join(routine.arguments)})"]
        lines += [f"  {a.name} = {write(a.value)};" for a in routine.assignments]
        lines.append(f"  out = zeros({rows}, {columns});")
        lines += [f"  out({i + 1}, {j + 1}) = {write(x)};" for i, j, x in _entries(routine) if x != 0]
        parts.append("\n".join([*lines, "end\n"]))
    return "\n".join(parts)


def _julia(prefix: str, routines: Sequence[Routine]) -> str:
    parts = [f"# Written by chainrule: {prefix}. SI units.\n"]
    for routine in routines:
        write = _Writer(JuliaCodePrinter(), routine, "{x}[{i}]", 1)
        rows, columns = routine.matrix.shape
        shape = f"{rows}" if routine.is_column else f"{rows}, {columns}"
        lines = [f"function {routine.name}({', '.join(routine.arguments)})"]
        lines += [f"    {a.name} = {write(a.value)}" for a in routine.assignments]
        lines.append(f"    out = zeros({shape})")
        for i, j, x in _entries(routine):
            place = f"{i + 1}" if routine.is_column else f"{i + 1}, {j + 1}"
            if x != 0:
                lines.append(f"    out[{place}] = {write(x)}")
        parts.append("\n".join([*lines, "    return out", "end\n"]))
    return "\n".join(parts)


class ModelicaPrinter(C99CodePrinter):  # type: ignore[misc]
    """Modelica's expressions: C's, but for powers and cases."""

    def _print_Pow(self, expr: sp.Pow) -> str:
        if expr.exp == -1:
            return f"1/({self._print(expr.base)})"
        return f"({self._print(expr.base)})^({self._print(expr.exp)})"

    def _print_Piecewise(self, expr: sp.Piecewise) -> str:
        *cases, (last, _) = expr.args
        tests = "".join(f"if {self._print(test)} then {self._print(value)} else " for value, test in cases)
        return f"({tests}{self._print(last)})"

    def _print_sign(self, expr: sp.Expr) -> str:
        return f"sign({self._print(expr.args[0])})"


def _modelica(prefix: str, routines: Sequence[Routine]) -> str:
    parts = [f"// Written by chainrule: {prefix}. SI units.\n"]
    for routine in routines:
        write = _Writer(ModelicaPrinter(), routine, "{x}[{i}]", 1)
        rows, columns = routine.matrix.shape
        lines = [f"function {routine.name}"]
        lines += [f"  input Real {x}[{n}];" for x, n in routine.arguments.items()]
        lines.append(f"  output Real out[{rows if routine.is_column else f'{rows}, {columns}'}];")
        if routine.assignments:
            lines += ["protected", *(f"  Real {a.name};" for a in routine.assignments)]
        lines += ["algorithm", *(f"  {a.name} := {write(a.value)};" for a in routine.assignments)]
        for i, j, x in _entries(routine):
            place = f"{i + 1}" if routine.is_column else f"{i + 1}, {j + 1}"
            lines.append(f"  out[{place}] := {write(x)};")
        parts.append("\n".join([*lines, f"end {routine.name};\n"]))
    return "\n".join(parts)


DIALECTS: dict[str, Callable[[str, Sequence[Routine]], str]] = {
    "c": _c, "numpy": _numpy, "octave": _octave, "julia": _julia, "modelica": _modelica,
}  # fmt: skip
"""A language by its name: what writes routines in it."""
