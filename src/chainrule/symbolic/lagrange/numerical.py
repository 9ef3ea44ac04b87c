"""Functions of arrays from a Lagrangian: by NumPy, or compiled as the library's own kernels are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from chainrule.arguments import Array, rows_of, together
from chainrule.compile.backend import COMPILED, INTERPRETED, Scalars, Traceable, active
from chainrule.compile.symbol_array import Symbol, with_symbols
from chainrule.errors import ModelError, UnknownNameError
from chainrule.lazy import cached_property
from chainrule.spatial.linear import solve
from chainrule.symbolic.algebra.numbers import values_of
from chainrule.symbolic.lagrange.coordinates import TIME
from chainrule.symbolic.lagrange.system import LagrangianSystem


class LagrangianFunction(NamedTuple):
    """A function of a system: the names of its arguments, and the matrix that it returns."""

    arguments: tuple[str, ...]
    matrix: Callable[[LagrangianSystem], sp.Matrix]
    solves: str = ""
    """If the matrix is [A b], the part of x with A x = b that is returned."""
    dimensions: int = 1
    """Dimensions of the result for one state: 0 for a number, 1 for a vector, 2 for a matrix."""
    needs_constraints: bool = False


def _motion_with_multipliers(system: LagrangianSystem) -> sp.Matrix:
    """The matrix [A b] of M qdd - J^T lambda = f - c - g - friction, J qdd = -gamma."""
    m = len(system.multipliers)
    upper = sp.Matrix.hstack(system.M, -system.J.T, system.f - system.c - system.g - system.friction)
    lower = sp.Matrix.hstack(system.J, sp.zeros(m, m), -system.gamma)
    return sp.Matrix.vstack(upper, lower) if m else upper


FUNCTIONS = {
    "inverse_dynamics": LagrangianFunction(("q", "qd", "qdd"), lambda s: s.tau),
    "forward_dynamics": LagrangianFunction(("q", "qd", "inputs"), _motion_with_multipliers, "qdd"),
    "multipliers": LagrangianFunction(
        ("q", "qd", "inputs"), _motion_with_multipliers, "multipliers", needs_constraints=True
    ),
    "mass_matrix": LagrangianFunction(("q",), lambda s: s.M, dimensions=2),
    "coriolis_matrix": LagrangianFunction(("q", "qd"), lambda s: s.C, dimensions=2),
    "bias": LagrangianFunction(("q", "qd"), lambda s: s.c + s.g + s.friction),
    "gravity_torque": LagrangianFunction(("q",), lambda s: s.g),
    "friction_torque": LagrangianFunction(("q", "qd"), lambda s: s.friction),
    "kinetic_energy": LagrangianFunction(("q", "qd"), lambda s: sp.Matrix([s.kinetic]), dimensions=0),
    "potential_energy": LagrangianFunction(("q",), lambda s: sp.Matrix([s.potential]), dimensions=0),
    "constraint": LagrangianFunction(("q",), lambda s: s.constraints, needs_constraints=True),
    "constraint_jacobian": LagrangianFunction(("q",), lambda s: s.J, dimensions=2, needs_constraints=True),
}


def function(
    system: LagrangianSystem, name: str, parameters: Mapping[Any, float] | None = None, *, compiled: bool = True
) -> Callable[..., Array]:
    """A function of arrays, batched over leading dimensions: machine code, or NumPy functions if not compiled.

    "inverse_dynamics" (q, qd, qdd), "forward_dynamics" (q, qd, inputs), "mass_matrix" (q), "coriolis_matrix" (q, qd),
    "bias" (q, qd), "gravity_torque" (q), "friction_torque" (q, qd), "kinetic_energy" (q, qd), "potential_energy" (q),
    "constraint" (q), "constraint_jacobian" (q), "multipliers" (q, qd, inputs).
    If the system depends on time, t (..., 1) is one more argument. If parameters are not given, their values are
    one more argument, in the order of `parameters`.
    """
    if not isinstance(name, str) or name not in FUNCTIONS:
        raise UnknownNameError.of("function", name, FUNCTIONS, "a Lagrangian")
    entry = FUNCTIONS[name]
    if entry.needs_constraints and not system.multipliers:
        raise ModelError(f"this Lagrangian has no constraints, and so no {name}; give it constraints=[..]")
    matrix = entry.matrix(system)
    groups: dict[str, Sequence[sp.Symbol]] = {key: getattr(system, key) for key in entry.arguments}
    if matrix.has(TIME):
        groups["t"] = (TIME,)
    if parameters is None:
        groups["parameters"] = system.parameters
    else:
        matrix = matrix.subs(values_of(parameters, system.parameters, "the Lagrangian"))
    wanted = {"": None, "qdd": slice(len(system.q)), "multipliers": slice(len(system.q), None)}[entry.solves]
    listed = [tuple(part) for part in groups.values() if len(part)]
    text = MatrixText(matrix, [symbol for part in listed for symbol in part], wanted)
    key = (sp.ImmutableMatrix(matrix), tuple(listed), entry.solves)
    backend = active(COMPILED if compiled else INTERPRETED)
    evaluate = backend.function(Traceable(text, key, "lagrangian", name), [len(part) for part in listed])
    if entry.solves:
        shape: tuple[int, ...] = (len(getattr(system, entry.solves)),)
    else:
        shape = {0: (), 1: (matrix.rows,), 2: matrix.shape}[entry.dimensions]

    def call(*arguments: Any) -> Array:
        if len(arguments) != len(groups):
            raise TypeError(f"{name} takes {len(groups)} arguments ({', '.join(groups)}), got {len(arguments)}")
        given = zip(groups.items(), arguments, strict=True)
        arrays = {key: rows_of(x, len(part), key, ", ".join(map(str, part))) for (key, part), x in given}
        rows = together(arrays, name)
        flat = evaluate(*(row for row in rows if row.shape[-1]))
        return flat.reshape((*rows[0].shape[:-1], *shape))

    call.__name__ = name
    sizes = ", ".join(f"{key} (..., {len(part)})" for key, part in groups.items())
    call.__doc__ = f"{name} of {sizes}: {('...', *shape)}."
    return call


class MatrixText:
    """The entries of a matrix of expressions as a function of lists of scalars, row by row.

    With `wanted`, the matrix is [A b], and the result that part of x with A x = b.
    """

    def __init__(self, matrix: sp.Matrix, symbols: Sequence[sp.Symbol], wanted: slice | None) -> None:
        self.matrix, self.symbols, self.wanted = matrix, symbols, wanted

    def __call__(self, *arguments: Scalars) -> Scalars:
        """The entries for these arguments, arrays or symbols."""
        flat = [x for part in arguments for x in part]
        return self._on_symbols(flat) if any(isinstance(x, Symbol) for x in flat) else self._on_arrays(flat)

    def _on_symbols(self, values: Scalars) -> Scalars:
        try:
            entries = with_symbols(self._lambda)(*values)
        except (AttributeError, NameError, TypeError) as error:
            raise ModelError(
                f"no machine code is made for the functions in this Lagrangian ({error!s:.80}); ask for the function "
                "with compiled=False, or write it by elementary functions"
            ) from error
        if self.wanted is None:
            return entries
        width = self.matrix.cols
        rows = [entries[k : k + width] for k in range(0, len(entries), width)]
        return solve([row[:-1] for row in rows], [row[-1] for row in rows])[self.wanted]

    def _on_arrays(self, values: Scalars) -> Scalars:
        entries: Scalars = self._lambda(*values)
        if self.wanted is None:
            return entries
        batch = np.shape(values[0])
        flat: Array = np.stack([np.broadcast_to(x, batch) for x in entries], axis=-1).astype(float)
        whole = flat.reshape((*batch, *self.matrix.shape))
        solution = np.linalg.solve(whole[..., :-1], whole[..., -1:])[..., self.wanted, 0]
        return [solution[..., i] for i in range(solution.shape[-1])]

    @cached_property
    def _lambda(self) -> Callable[..., Scalars]:
        """NumPy's functions, by SymPy's own printer."""
        function: Callable[..., Scalars] = sp.lambdify(self.symbols, list(self.matrix), modules="numpy", cse=True)
        return function
