"""Text of the equations of motion: accelerations first, then velocities, gravity and springs, friction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy as sp

from chainrule.errors import UnknownNameError
from chainrule.symbolic.documents import printing
from chainrule.symbolic.documents.mathml import mathml as mathml_of
from chainrule.symbolic.documents.plain_text import line
from chainrule.symbolic.lagrange.system import LagrangianSystem

TERMS = ("M", "C", "c", "g", "friction", "f", "J", "gamma", "tau", "kinetic", "potential", "constraints")


def latex(system: LagrangianSystem, name: str = "equations") -> str:
    """LaTeX of all equations, aligned at their equals signs, or of a term by its name ("M", "C", "c", "g", "J")."""
    if name != "equations":
        return printing.latex(_term(system, name))
    rows = [f"{left} &= {right}" for left, right in sides(system)]
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def mathml(system: LagrangianSystem, name: str = "equations") -> str:
    """Presentation MathML of all equations or of a term."""
    return mathml_of(latex(system, name), display=True)


def pretty(system: LagrangianSystem, name: str = "equations") -> str:
    """Unicode text of all equations, a line each, or of a term."""
    if name != "equations":
        return printing.pretty(_term(system, name))
    return "\n".join(line(f"{left} = {right}") for left, right in sides(system))


def sides(system: LagrangianSystem) -> list[tuple[str, str]]:
    """The LaTeX of both sides of every equation, with terms in order."""
    found = []
    for i, force in enumerate(system.f):
        tied = [system.J[k, i] * factor for k, factor in enumerate(system.multipliers)]
        inertial = [_inertial_term(system.M[i, j], a) for j, a in enumerate(system.qdd) if system.M[i, j] != 0]
        right = [*inertial, *map(printing.latex, (system.c[i], system.g[i], system.friction[i]))]
        found.append((_sum(map(printing.latex, [force, *tied])), _sum(right)))
    return [*found, *((printing.latex(row), "0") for row in system.constraints)]


def _inertial_term(inertia: sp.Expr, acceleration: sp.Symbol) -> str:
    """The product of an entry of the mass matrix and an acceleration."""
    text, moved = printing.latex(inertia), printing.latex(acceleration)
    if inertia.is_Add:
        text = rf"\left({text}\right)"
    return moved if inertia == 1 else f"{text} {moved}"


def _sum(texts: Iterable[str]) -> str:
    """The sum of terms that are not zero."""
    return " + ".join(text for text in texts if text != "0").replace("+ - ", "- ").replace("+ -", "- ") or "0"


def _term(system: LagrangianSystem, name: str) -> Any:
    if name not in TERMS:
        raise UnknownNameError.of("term", name, ("equations", *TERMS), "a Lagrangian")
    return getattr(system, name)
