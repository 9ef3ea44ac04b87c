"""Equations by named intermediate variables, as a paper lists those of a large arm.

The algorithms run once on symbols; what they compute is a list of assignments, each used at least twice, and results
in terms of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import casadi
import sympy as sp

from chainrule.compile.tape import Tape
from chainrule.compile.trace import tape_of
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.functions.reference import leaves
from chainrule.functions.table import FUNCTIONS
from chainrule.model import Model, edits
from chainrule.symbolic.algebra.naming import SymbolicModel
from chainrule.symbolic.algebra.ring import Element, exact

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot


@dataclass(frozen=True)
class Intermediate:
    """Assignments in order, the results by function name, and how many operations it all takes."""

    assignments: tuple[tuple[sp.Symbol, sp.Expr], ...]
    results: dict[str, sp.Matrix]
    operations: dict[str, int]

    def __str__(self) -> str:
        lines = [f"{name} = {expression}" for name, expression in self.assignments]
        for name, matrix in self.results.items():
            lines += [f"{name}[{i}] = {entry}" for i, entry in enumerate(matrix)]
        return "\n".join(lines)


def intermediate(robot: Robot, symbolic: SymbolicModel, functions: Sequence[str]) -> Intermediate:
    """The functions of a robot over named variables."""
    for name in functions:
        if name not in FUNCTIONS:
            raise UnknownNameError.of("function", name, FUNCTIONS, "chainrule")
        if not set(FUNCTIONS[name].arguments) <= {"q", "qd", "qdd"}:
            raise ShapeError(f"{name} is not a function of q, qd and qdd alone, so that it has no such list")
    symbols = [*symbolic.q, *symbolic.qd, *symbolic.qdd, *symbolic.parameters]
    graph = {str(s): casadi.SX.sym(str(s)) for s in symbols}
    model = symbolic.model.map(lambda x, unit: _graph_of(x, graph))
    state = {"q": symbolic.q, "qd": symbolic.qd, "qdd": symbolic.qdd}
    results, sizes = [], []
    for name in functions:
        arguments = [[graph[str(s)] for s in state[a]] for a in FUNCTIONS[name].arguments]
        found = list(leaves(FUNCTIONS[name].compute(_without_signs(model), *arguments, **robot._defaults(name))))
        results += found
        sizes.append(len(found))
    outputs = casadi.cse([casadi.vertcat(*(casadi.SX(x) for x in results))])
    tape = tape_of(casadi.Function("f", [casadi.vertcat(*graph.values())], outputs), (len(symbols),))
    return _named(tape, symbols, dict(zip(functions, sizes, strict=True)))


def _without_signs(model: Model) -> Model:
    """Coulomb friction, which is no formula but a case for each direction, is left to the robot's own functions."""
    return edits.map_dofs(model, lambda dof: replace(dof, coulomb=0, coulomb_negative=0))


def _graph_of(x: Any, graph: dict[str, Any]) -> Any:
    """An element of the ring in CasADi's graph."""
    if not isinstance(x, Element):
        return x
    expression = x.sympy()
    function = sp.lambdify(list(expression.free_symbols), expression, modules=casadi)
    return function(*(graph[str(s)] for s in expression.free_symbols))


def _named(tape: Tape, symbols: Sequence[sp.Symbol], sizes: dict[str, int]) -> Intermediate:
    """Values used more than once get names; the others are written where they are used."""
    uses = Counter(v for instruction in tape.instructions for v in instruction.operands)
    uses.update(tape.outputs)
    written: list[sp.Expr] = []
    assignments: list[tuple[sp.Symbol, sp.Expr]] = []
    make = {
        "add": lambda a, b: sp.Add(a, b, evaluate=False), "sub": lambda a, b: sp.Add(a, -b, evaluate=False),
        "mul": lambda a, b: sp.Mul(a, b, evaluate=False), "div": lambda a, b: a / b, "neg": lambda a: -a,
        "sin": sp.sin, "cos": sp.cos, "sqrt": sp.sqrt,
    }  # fmt: skip
    for k, instruction in enumerate(tape.instructions):
        if instruction.operation == "input":
            written.append(symbols[instruction.entry])
        elif instruction.operation == "constant":
            written.append(exact(instruction.constant))
        else:
            value = make[instruction.operation](*(written[v] for v in instruction.operands))
            if uses[k] > 1 and not value.is_Atom:
                name = sp.Symbol(f"x_{len(assignments) + 1}")
                assignments.append((name, value))
                value = name
            written.append(value)
    entries = [written[v] for v in tape.outputs]
    results, at = {}, 0
    for name, size in sizes.items():
        results[name] = sp.Matrix(entries[at : at + size])
        at += size
    counts = tape.counts()
    additions = counts["add"] + counts["sub"] + counts["neg"]
    multiplications = counts["mul"] + counts["div"]
    trigonometric = counts["sin"] + counts["cos"]
    total = additions + multiplications + trigonometric
    operations = {
        "additions": additions,
        "multiplications": multiplications,
        "trigonometric": trigonometric,
        "total": total,
    }
    return Intermediate(tuple(assignments), results, operations)
