"""Equations of motion on the page: accelerations first, then velocities, then gravity and springs, then friction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import sympy as sp

from chainrule.errors import UnknownNameError
from chainrule.symbolic.documents import printing
from chainrule.symbolic.documents.mathml import mathml as mathml_of
from chainrule.symbolic.documents.plain import line

if TYPE_CHECKING:
    from chainrule.symbolic.lagrange.lagrangian import Lagrangian

TERMS = ("M", "C", "c", "g", "friction", "f", "J", "gamma", "tau", "kinetic", "potential", "constraints")


def latex(system: Lagrangian, name: str) -> str:
    """All equations, aligned, or one term."""
    if name != "equations":
        return printing.latex(_term(system, name))
    rows = [f"{left} &= {right}" for left, right in sides(system)]
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def mathml(system: Lagrangian, name: str) -> str:
    """The same in presentation MathML."""
    return mathml_of(latex(system, name), display=True)


def pretty(system: Lagrangian, name: str) -> str:
    """The same in Unicode: a line for each equation."""
    if name != "equations":
        return printing.pretty(_term(system, name))
    return "\n".join(line(f"{left} = {right}") for left, right in sides(system))


def sides(system: Lagrangian) -> list[tuple[str, str]]:
    """Both sides of every equation in LaTeX, their terms in order."""
    found = []
    for i, force in enumerate(system.f):
        tied = [system.J[k, i] * factor for k, factor in enumerate(system.multipliers)]
        inertial = [_before(system.M[i, j], a) for j, a in enumerate(system.qdd) if system.M[i, j] != 0]
        right = [*inertial, *map(printing.latex, (system.c[i], system.g[i], system.friction[i]))]
        found.append((_sum(map(printing.latex, [force, *tied])), _sum(right)))
    return [*found, *((printing.latex(row), "0") for row in system.constraints)]


def _before(inertia: sp.Expr, acceleration: sp.Symbol) -> str:
    """An entry of the mass matrix, and the acceleration behind it."""
    text, moved = printing.latex(inertia), printing.latex(acceleration)
    if inertia.is_Add:
        text = rf"\left({text}\right)"
    return moved if inertia == 1 else f"{text} {moved}"


def _sum(texts: Iterable[str]) -> str:
    """Terms one after the other."""
    return " + ".join(text for text in texts if text != "0").replace("+ - ", "- ").replace("+ -", "- ") or "0"


def _term(system: Lagrangian, name: str) -> Any:
    if name not in TERMS:
        raise UnknownNameError.of("term", name, ("equations", *TERMS), "a Lagrangian")
    return getattr(system, name)
