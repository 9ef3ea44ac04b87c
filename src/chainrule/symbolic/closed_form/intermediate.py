"""Functions of a robot by named intermediate variables, as papers list the equations of a large arm.

The algorithms run once on symbols. Values that are used more than once become assignments; results are written in
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
import sympy as sp

from chainrule.compile.tape import Tape
from chainrule.compile.trace import tape_of
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.functions import reference
from chainrule.functions.reference import leaves
from chainrule.functions.table import FUNCTIONS
from chainrule.model import Model, edits
from chainrule.symbolic.algebra.evaluation import Evaluator, stack
from chainrule.symbolic.algebra.ring import Element, exact
from chainrule.symbolic.algebra.translation import Translator
from chainrule.symbolic.closed_form.base_parameters import free_letter
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel
from chainrule.symbolic.closed_form.verification import STATES, compare, numbers_of, random_states, size_of_terms


@dataclass(frozen=True)
class Intermediate:
    """Assignments in order, results by function name, and the number of operations."""

    assignments: tuple[tuple[sp.Symbol, sp.Expr], ...]
    results: dict[str, sp.Matrix]
    operations: dict[str, int]

    def __str__(self) -> str:
        lines = [f"{name} = {expression}" for name, expression in self.assignments]
        for name, matrix in self.results.items():
            lines += [f"{name}[{i}] = {entry}" for i, entry in enumerate(matrix)]
        return "\n".join(lines)


def intermediate(robot: Mechanism, symbolic: SymbolicModel, functions: Sequence[str]) -> Intermediate:
    """The named functions of a robot by intermediate variables; its numbers are those of the symbolic model."""
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
        options = robot.options(name, {})
        found = list(leaves(FUNCTIONS[name].compute(_without_dry_friction(model), *arguments, **options)))
        results += found
        sizes.append(len(found))
    outputs = casadi.cse([casadi.vertcat(*(casadi.SX(x) for x in results))])
    tape = tape_of(casadi.Function("f", [casadi.vertcat(*graph.values())], outputs), (len(symbols),))
    letter = free_letter(symbolic, ("x", "X", "v", "variable"))
    whole = _assign_names(tape, symbols, dict(zip(functions, sizes, strict=True)), letter)
    _check(whole, robot, symbolic)
    return whole


def _check(found: Intermediate, robot: Mechanism, symbolic: SymbolicModel) -> None:
    """Refuse intermediate variables whose results differ from the functions of the model."""
    model = _without_dry_friction(symbolic.numbers)
    state = random_states(model)
    evaluator = Evaluator(numbers_of(symbolic, state))
    with np.errstate(all="ignore"):
        for name, expression in found.assignments:
            evaluator.assign(name, evaluator(expression))
        for function, matrix in found.results.items():
            arguments = [getattr(state, x) for x in FUNCTIONS[function].arguments]
            expected = reference.evaluate(model, function, arguments, **robot.options(function, {}))
            values, sizes = stack([evaluator(x) for x in matrix], STATES)
            compare(function, values, sizes, expected.reshape(STATES, -1), model, size_of_terms(model, state))


def _without_dry_friction(model: Model) -> Model:
    """The model without dry friction, which has a case for each direction and is no formula."""
    return edits.map_dofs(model, lambda dof: dof.without_dry_friction())


def _graph_of(x: Any, graph: dict[str, Any]) -> Any:
    """The CasADi graph of an element of the ring."""
    if not isinstance(x, Element):
        return x
    expression = x.sympy()
    return Translator({s: graph[str(s)] for s in expression.free_symbols})(expression)


def _assign_names(tape: Tape, symbols: Sequence[sp.Symbol], sizes: dict[str, int], letter: str) -> Intermediate:
    """Name the values that are used more than once, and write the others where they are used."""
    uses = Counter(v for instruction in tape.instructions for v in instruction.operands)
    uses.update(tape.outputs)
    values: list[sp.Expr] = []
    assignments: list[tuple[sp.Symbol, sp.Expr]] = []
    make = {
        "add": lambda a, b: sp.Add(a, b, evaluate=False), "sub": lambda a, b: sp.Add(a, -b, evaluate=False),
        "mul": lambda a, b: sp.Mul(a, b, evaluate=False), "div": lambda a, b: a / b, "neg": lambda a: -a,
        "sin": sp.sin, "cos": sp.cos, "sqrt": sp.sqrt,
    }  # fmt: skip
    for k, instruction in enumerate(tape.instructions):
        if instruction.operation == "input":
            values.append(symbols[instruction.entry])
        elif instruction.operation == "constant":
            values.append(exact(instruction.constant))
        else:
            value = make[instruction.operation](*(values[v] for v in instruction.operands))
            if uses[k] > 1 and not value.is_Atom:
                name = sp.Symbol(f"{letter}_{len(assignments) + 1}")
                assignments.append((name, value))
                value = name
            values.append(value)
    entries = [values[v] for v in tape.outputs]
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
