"""Checks that energies and constraints describe a mechanical system, with errors that say what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy as sp

from chainrule.arguments import Array
from chainrule.errors import ModelError
from chainrule.symbolic.lagrange.system import LagrangianSystem

SINGULAR_TOLERANCE = 1e-9
"""Singular values below this fraction of the largest entry count as zero."""

RANK_SAMPLES = 6
"""States at which a rank is computed; the largest rank counts."""

MAX_NEWTON_STEPS = 40
CLOSED_TOLERANCE = 1e-13
"""Residual of constraints that hold."""


def check_system(system: LagrangianSystem, *, forces_are_named: bool) -> None:
    """Refuse energies and constraints that do not describe a mechanical system.

    forces_are_named: whether the forces are new symbols, one for each coordinate.
    """
    check_symbols(system, forces_are_named=forces_are_named)
    check_energies(system)
    check_constraints(system)
    check_independence(system)


def check_symbols(system: LagrangianSystem, *, forces_are_named: bool) -> None:
    """Refuse two quantities of one name, accelerations, and velocities where none may be."""
    everything = (system.kinetic, system.potential, *system.f, *system.friction, *system.constraints)
    by_name: dict[str, sp.Symbol] = {}
    for symbol in sorted(set().union(*(e.free_symbols for e in everything)), key=str):
        if by_name.setdefault(symbol.name, symbol) != symbol:
            raise ModelError(
                f"there are two symbols called {symbol.name}, which SymPy takes for different ones because their "
                "assumptions differ; use one of them everywhere"
            )
    made = {s.name for s in (*(system.f if forces_are_named else ()), *system.multipliers)}
    others = (system.kinetic, system.potential, *system.friction, *system.constraints, *system.q)
    taken = made & {s.name for e in others for s in e.free_symbols}
    if taken:
        raise ModelError(
            f"{min(taken)} stands in the energies, and would be the name of a force or a multiplier too; name the "
            "forces by another letter, forces='f', or rename the symbol"
        )
    named = {"the kinetic energy": (system.kinetic,), "the potential energy": (system.potential,)}
    named |= {"forces": system.f, "friction": system.friction, "constraints": system.constraints}
    for what, expressions in named.items():
        found = set().union(*(e.free_symbols for e in expressions))
        if found & set(system.qdd):
            raise ModelError(f"an acceleration, {_any(found, system.qdd)}, stands in {what}; none may")
        if what == "the potential energy" and found & set(system.qd):
            raise ModelError(
                f"the potential energy depends on a velocity, {_any(found, system.qd)}: put what resists the motion "
                "into friction=, other such forces into forces=, and energy of motion into the kinetic energy"
            )
        if what == "constraints" and found & set(system.qd):
            raise ModelError(
                f"a constraint depends on a velocity, {_any(found, system.qd)}: only holonomic constraints, of "
                "coordinates and time, are handled; integrate it if it can be integrated"
            )


def check_energies(system: LagrangianSystem) -> None:
    """Refuse a kinetic energy that is not quadratic in the velocities."""
    moving = set(system.qd)
    for i, row in enumerate(system.mass.tolist()):
        for entry in row:
            if entry.free_symbols & moving or entry.has(sp.Derivative):
                raise ModelError(
                    f"the kinetic energy is not quadratic in the velocities: its second derivatives still contain "
                    f"{_any(entry.free_symbols, system.qd) or system.qd[i]}. It must be a sum of terms such as "
                    "m*v**2/2; forces that depend on velocities go into forces= or friction="
                )
    if any(system.momentum_at_rest) and system.kinetic_at_rest == 0:
        place = next(i for i, x in enumerate(system.momentum_at_rest) if x != 0)
        velocity = system.qd[place]
        raise ModelError(
            f"the kinetic energy has a term linear in {velocity}, {system.momentum_at_rest[place] * velocity}, so that "
            "it would be negative for small velocities; was a square forgotten?"
        )


def check_constraints(system: LagrangianSystem) -> None:
    """Refuse a constraint without coordinates, and one that follows from the others."""
    for i, row in enumerate(system.constraints):
        if not row.free_symbols & set(system.q):
            raise ModelError(f"constraint {i + 1}, {row} = 0, contains no coordinate ({_names(system.q)}); remove it")
    count = len(system.constraints)
    if count > len(system.q):
        raise ModelError(f"there are {count} constraints on {len(system.q)} coordinates; at most as many can hold")
    for used in range(1, count + 1):
        states = _closed_states(system, used)
        if states and max(_rank(J) for _, J in states) < used:
            others = _dependent(states[0][1])
            named = ", ".join(f"{i + 1}" for i in others[:-1]) or "a constant"
            raise ModelError(
                f"constraint {used}, {system.constraints[used - 1]} = 0, is redundant: where the others hold it "
                f"follows from constraint(s) {named}; remove it"
            )


def check_independence(system: LagrangianSystem) -> None:
    """Refuse a mass matrix that is singular along motions that the constraints allow."""
    n = len(system.q)
    evaluate, symbols = _evaluator(system, system.mass)
    free = [(x, evaluate(x), J) for x, J in _closed_states(system, len(system.constraints))]
    free = [(x, M, J) for x, M, J in free if np.isfinite(M).all()]
    if not free:
        return  # not defined at any sample: nothing can be checked
    if max(_rank(_along(M, J)) - (n - len(J)) for _, M, J in free) < 0:
        raise ModelError(_singular(system, free[0][1], free[0][2]))
    negative = [i for i in range(n) if all(M[i, i] < 0 for _, M, _ in free)]
    if negative:
        v = system.qd[negative[0]]
        raise ModelError(
            f"the kinetic energy is negative where only {v} is not zero (with {_names(symbols)} positive); it must not "
            "be: check its signs"
        )


def _singular(system: LagrangianSystem, M: Array, J: Array) -> str:
    """The error message about a motion without kinetic energy."""
    unused = [q for q, v in zip(system.q, system.qd, strict=True) if not system.kinetic.has(v)]
    if unused and not len(J):
        return (
            f"the coordinate {unused[0]} is never used: the kinetic energy does not depend on its velocity "
            f"{system.qd[system.q.index(unused[0])]}. Give it a mass, or leave it out of the coordinates"
        )
    motion = _motion_without_energy(system, M, J)
    return (
        f"the coordinates are dependent, the mass matrix is singular: a motion with {motion} has no kinetic energy. "
        "Describe the system by fewer coordinates, give that motion a mass, or tie the coordinates with constraints="
    )


def _motion_without_energy(system: LagrangianSystem, M: Array, J: Array) -> str:
    """The ratios of velocities in the null space: exact for few coordinates, else in numbers."""
    if len(system.q) <= 4 and not len(J):
        null = sp.Matrix(system.M).nullspace(simplify=True)
        if null:
            vector = null[0] / next(x for x in null[0] if x != 0)
            return ", ".join(f"{v} = {sp.simplify(x)}" for v, x in zip(system.qd, vector, strict=True))
    stacked = np.vstack([M, J])
    vector = np.linalg.svd(stacked)[2][-1]
    vector = vector / vector[np.argmax(np.abs(vector))]
    return ", ".join(f"{v} = {x:.3g}" for v, x in zip(system.qd, vector, strict=True) if abs(x) > SINGULAR_TOLERANCE)


# --- numbers for the symbols ---


def _evaluator(system: LagrangianSystem, matrix: sp.Matrix) -> tuple[Any, list[sp.Symbol]]:
    """A function of all coordinates, with fixed positive numbers for the other symbols."""
    others = sorted(matrix.free_symbols - set(system.q), key=str)
    function = sp.lambdify([*system.q, *others], matrix, modules="numpy", cse=True)
    rng = np.random.default_rng(1)
    constants = _constants(system)
    known = dict(zip(constants, rng.uniform(0.6, 1.4, len(constants)), strict=True))
    numbers = [known[s] for s in others]

    def evaluate(x: Array) -> Array:
        with np.errstate(all="ignore"):
            value = np.asarray(function(*x, *numbers))
        return value.astype(float) if np.isrealobj(value) else np.full(value.shape, np.nan)

    return evaluate, others


def _constants(system: LagrangianSystem) -> list[sp.Symbol]:
    everything = (system.kinetic, system.potential, *system.constraints)
    return sorted(set().union(*(e.free_symbols for e in everything)) - set(system.q) - set(system.qd), key=str)


def _closed_states(system: LagrangianSystem, used: int) -> list[tuple[Array, Array]]:
    """Random coordinates at which the first `used` constraints hold, by Newton's method, and the Jacobian there.

    Random coordinates as they are, if the constraints hold nowhere near them.
    """
    rng = np.random.default_rng(0)
    starts = [rng.uniform(0.1, 0.9, len(system.q)) for _ in range(RANK_SAMPLES)]
    if not used:
        return [(x, np.zeros((0, len(system.q)))) for x in starts]
    residual = _evaluator(system, sp.Matrix(system.constraints[:used]))[0]
    jacobian = _evaluator(system, system.J[:used, :])[0]
    closed, generic = [], []
    for x in starts:
        generic.append((x, jacobian(x)))
        for _ in range(MAX_NEWTON_STEPS):
            r, J = residual(x).ravel(), jacobian(x)
            if not (np.isfinite(r).all() and np.isfinite(J).all()):
                break
            if np.abs(r).max() < CLOSED_TOLERANCE:
                closed.append((x, J))
                break
            x = x - np.linalg.pinv(J, rcond=1e-9) @ r
    return closed or [(x, J) for x, J in generic if np.isfinite(J).all()]


def _along(M: Array, J: Array) -> Array:
    """The mass matrix along the motions that the constraints allow."""
    if not len(J):
        return M
    free = np.linalg.svd(J)[2][len(J) :].T
    return free.T @ M @ free


def _rank(matrix: Array) -> int:
    if not matrix.size:
        return 0
    values = np.linalg.svd(matrix, compute_uv=False)
    scale = np.abs(matrix).max()
    return int((values > SINGULAR_TOLERANCE * scale).sum()) if scale else 0


def _dependent(J: Array) -> list[int]:
    """The rows that the last row is a combination of, and the last row."""
    weights = np.linalg.lstsq(J[:-1].T, J[-1], rcond=None)[0] if len(J) > 1 else np.zeros(0)
    return [*(i for i, w in enumerate(weights) if abs(w) > 1e-6), len(J) - 1]


def _any(found: set[sp.Symbol], among: Sequence[sp.Symbol]) -> str:
    return next((s.name for s in among if s in found), "")


def _names(symbols: Sequence[sp.Symbol]) -> str:
    return ", ".join(s.name for s in symbols) or "no symbols"
