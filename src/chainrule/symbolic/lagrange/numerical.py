"""Functions of arrays from a Lagrangian: by NumPy, or compiled as the library's own kernels are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi
import numpy as np
import sympy as sp

from chainrule.arguments import Array, rows_of, together
from chainrule.compile.batch import batch_function
from chainrule.compile.program import symbols as sx_symbols
from chainrule.compile.program import tape
from chainrule.errors import ModelError, UnknownNameError
from chainrule.symbolic.algebra.numbers import values_of
from chainrule.symbolic.algebra.translation import Translator
from chainrule.symbolic.lagrange.coordinates import TIME

if TYPE_CHECKING:
    from chainrule.symbolic.lagrange.lagrangian import Lagrangian


class Entry(NamedTuple):
    """What a function takes, and what it returns; where that is [A b] of A x = b, the part of x it solves for."""

    arguments: tuple[str, ...]
    matrix: Callable[[Lagrangian], sp.Matrix]
    solves: str = ""


def _bordered(system: Lagrangian) -> sp.Matrix:
    """M qdd - J^T lambda = f - c - g - friction, J qdd = -gamma: the matrix and its right-hand side."""
    m = len(system.multipliers)
    upper = sp.Matrix.hstack(system.M, -system.J.T, system.f - system.c - system.g - system.friction)
    lower = sp.Matrix.hstack(system.J, sp.zeros(m, m), -system.gamma)
    return sp.Matrix.vstack(upper, lower) if m else upper


FUNCTIONS = {
    "inverse_dynamics": Entry(("q", "qd", "qdd"), lambda s: s.tau),
    "forward_dynamics": Entry(("q", "qd", "inputs"), _bordered, "qdd"),
    "multipliers": Entry(("q", "qd", "inputs"), _bordered, "multipliers"),
    "mass_matrix": Entry(("q",), lambda s: s.M),
    "coriolis_matrix": Entry(("q", "qd"), lambda s: s.C),
    "bias": Entry(("q", "qd"), lambda s: s.c + s.g + s.friction),
    "gravity_torque": Entry(("q",), lambda s: s.g),
    "friction_torque": Entry(("q", "qd"), lambda s: s.friction),
    "kinetic_energy": Entry(("q", "qd"), lambda s: sp.Matrix([s.kinetic])),
    "potential_energy": Entry(("q",), lambda s: sp.Matrix([s.potential])),
    "constraint": Entry(("q",), lambda s: s.constraints),
    "constraint_jacobian": Entry(("q",), lambda s: s.J),
}
SCALARS = ("kinetic_energy", "potential_energy")
OF_CONSTRAINTS = ("multipliers", "constraint", "constraint_jacobian")


def function(
    system: Lagrangian, name: str, parameters: Mapping[Any, float] | None, compiled: bool
) -> Callable[..., Array]:
    """A function by its name, of arrays (..., n)."""
    if name not in FUNCTIONS:
        raise UnknownNameError.of("function", name, FUNCTIONS, "a Lagrangian")
    if name in OF_CONSTRAINTS and not system.multipliers:
        raise ModelError(f"this Lagrangian has no constraints, and so no {name}; give it constraints=[..]")
    entry = FUNCTIONS[name]
    matrix = entry.matrix(system)
    groups: dict[str, Sequence[sp.Symbol]] = {key: getattr(system, key) for key in entry.arguments}
    if matrix.has(TIME):
        groups["t"] = (TIME,)
    if parameters is None:
        groups["parameters"] = system.parameters
    else:
        matrix = matrix.subs(values_of(parameters, system.parameters, "the Lagrangian"))
    wanted = {"": None, "qdd": slice(len(system.q)), "multipliers": slice(len(system.q), None)}[entry.solves]
    listed = [part for part in groups.values() if len(part)]
    evaluate = _compiled(matrix, listed, wanted, name) if compiled else _lambdified(matrix, listed, wanted)
    if entry.solves:
        shape: tuple[int, ...] = (len(getattr(system, entry.solves)),)
    else:
        shape = () if name in SCALARS else (matrix.rows,) if matrix.cols == 1 and "matrix" not in name else matrix.shape

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


def _compiled(
    matrix: sp.Matrix, groups: list[Sequence[sp.Symbol]], wanted: slice | None, name: str
) -> Callable[..., Array]:
    """Machine code, by way of CasADi."""
    columns = [sx_symbols(f"x{k}_", len(group)) for k, group in enumerate(groups)]
    pairs = ((s, x) for group, part in zip(groups, columns, strict=True) for s, x in zip(group, part, strict=True))
    translate = Translator(dict(pairs))
    entries = [casadi.SX(translate(x)) for x in matrix]
    if wanted is not None:
        whole = casadi.reshape(casadi.vertcat(*entries), matrix.cols, matrix.rows).T  # CasADi goes by columns
        entries = casadi.vertsplit(casadi.solve(whole[:, :-1], whole[:, -1]))[wanted]
    kernel: Callable[..., Array] = batch_function(tape(columns, entries), name, "lagrangian")
    return kernel


def _lambdified(matrix: sp.Matrix, groups: list[Sequence[sp.Symbol]], wanted: slice | None) -> Callable[..., Array]:
    """NumPy's functions, by SymPy's own printer."""
    inner = sp.lambdify([s for group in groups for s in group], list(matrix), modules="numpy", cse=True)

    def evaluate(*arrays: Array) -> Array:
        batch = arrays[0].shape[:-1]
        entries = inner(*(array[..., i] for array in arrays for i in range(array.shape[-1])))
        flat: Array = np.stack([np.broadcast_to(x, batch) for x in entries], axis=-1).astype(float)
        if wanted is None:
            return flat
        whole = flat.reshape((*batch, *matrix.shape))
        solution: Array = np.linalg.solve(whole[..., :-1], whole[..., -1:])[..., wanted, 0]
        return solution

    return evaluate
