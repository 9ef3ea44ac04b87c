"""Functions of a robot by named intermediate variables, as papers list the equations of a large arm.

The algorithms run once on symbols, with the frames of links on the axes of their joints where no result depends on
frames. Values that are used more than once become assignments; results are written in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from chainrule.compile.graph import Graph
from chainrule.compile.symbol_array import with_symbols
from chainrule.core.evaluation import options_of, require
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.functions import reference
from chainrule.functions.reference import leaves
from chainrule.functions.table import FUNCTIONS, TERMS, Axis
from chainrule.model import edits
from chainrule.model.axis_frames import frames_on_axes
from chainrule.symbolic.algebra.evaluation import Evaluator, stack
from chainrule.symbolic.algebra.ring import Element
from chainrule.symbolic.closed_form.assignments import StraightLineProgram
from chainrule.symbolic.closed_form.base_parameters import free_letter
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel
from chainrule.symbolic.closed_form.verification import STATES, compare, numbers_of, random_states, size_of_terms


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        return f"<{len(self.assignments)} assignments for {', '.join(self.results)}: print(...) shows them>"


def intermediate(robot: Mechanism, symbolic: SymbolicModel, functions: Sequence[str]) -> Intermediate:
    """The named functions of a robot by intermediate variables; its numbers are those of the symbolic model."""
    for name in functions:
        if name not in FUNCTIONS:
            raise UnknownNameError.of("function", name, FUNCTIONS, "chainrule")
        takes_wrench = bool(options_of(robot, name, {}).get("loads"))
        if takes_wrench or not set(FUNCTIONS[name].arguments) <= {"q", "qd", "qdd", "tau"}:
            raise ShapeError(f"{name} is not a function of q, qd, qdd and tau alone, so that it has no such list")
        require(robot, name)
    symbols = [*symbolic.q, *symbolic.qd, *symbolic.qdd, *symbolic.tau, *symbolic.parameters]
    graph = Graph()
    nodes = dict(zip(map(str, symbols), graph.argument(0, len(symbols)), strict=True))
    models = {
        on_axes: (frames_on_axes(symbolic.model) if on_axes else symbolic.model).map(lambda x, _: _node_of(x, nodes))
        for on_axes in {_is_of_joints(name) for name in functions}
    }
    state = {"q": symbolic.q, "qd": symbolic.qd, "qdd": symbolic.qdd, "tau": symbolic.tau}
    results, sizes = [], []
    for name in functions:
        arguments = [[nodes[str(s)] for s in state[a]] for a in FUNCTIONS[name].arguments]
        options = options_of(robot, name, {})
        model = edits.without_dry_friction(models[_is_of_joints(name)])
        found = list(leaves(FUNCTIONS[name].compute(model, *arguments, **options)))
        results += found
        sizes.append(len(found))
    tape = graph.tape([len(symbols)], results)
    letter = free_letter(symbolic, ("x", "X", "v", "variable"))
    lines = StraightLineProgram.of(tape)
    lines.shorten()
    assignments, entries = lines.write(symbols, letter)
    matrices = {}
    for name, size in zip(functions, sizes, strict=True):
        matrices[name], entries = sp.Matrix(entries[:size]), entries[size:]
    whole = Intermediate(tuple(assignments), matrices, lines.count_operations())
    _check(whole, robot, symbolic)
    return whole


def _is_of_joints(function: str) -> bool:
    """Whether a function gives numbers of joints or of the whole robot only, which no frame of a link changes."""
    entry = FUNCTIONS[function]
    return "link" not in entry.options and all(isinstance(size, Axis) or size is TERMS for size in entry.gives)


def _check(found: Intermediate, robot: Mechanism, symbolic: SymbolicModel) -> None:
    """Refuse intermediate variables whose results differ from the functions of the model."""
    model = edits.without_dry_friction(symbolic.numbers)
    state = random_states(model)
    evaluator = Evaluator(numbers_of(symbolic, state))
    with np.errstate(all="ignore"):
        for name, expression in found.assignments:
            evaluator.assign(name, evaluator(expression))
        for function, matrix in found.results.items():
            arguments = [getattr(state, x) for x in FUNCTIONS[function].arguments]
            expected = reference.evaluate(model, function, arguments, **options_of(robot, function, {}))
            values, sizes = stack([evaluator(x) for x in matrix], STATES)
            compare(function, values, sizes, expected.reshape(STATES, -1), model, size_of_terms(model, state))


def _node_of(x: Any, nodes: dict[str, Any]) -> Any:
    """An element of the ring as a node of a graph."""
    if not isinstance(x, Element):
        return x
    expression = x.sympy()
    symbols = list(expression.free_symbols)
    compute = with_symbols(sp.lambdify(symbols, expression, modules="numpy"))
    return compute(*(nodes[str(s)] for s in symbols))
