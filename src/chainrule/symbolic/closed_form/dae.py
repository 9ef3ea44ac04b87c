"""The parent-child DAE in symbols: one linear system for the rates of twists, the wrenches and the accelerations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from chainrule.algorithms.parent_child import SparseSystem, equations_in_rates, sizes
from chainrule.core.derived import merged_model
from chainrule.core.mechanism import Mechanism
from chainrule.dynamics.dae import Block, blocks
from chainrule.errors import ModelError, UnknownNameError
from chainrule.functions import reference
from chainrule.lazy import cached_property
from chainrule.model import Model, edits
from chainrule.spatial import Wrench
from chainrule.spatial.linear import multiply, transpose
from chainrule.symbolic.algebra.ring import Element, to_matrix, to_sympy
from chainrule.symbolic.closed_form.symbol_table import SymbolTable
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel, symbolic_model
from chainrule.symbolic.closed_form.verification import check, numbers_of, random_states, random_wrenches
from chainrule.symbolic.closed_form.wrenches import (
    SymbolicWrench,
    symbolic_wrenches,
    with_wrenches,
    wrenches_on_links,
)

MAX_JOINTS = 4
"""Joints of a robot whose system is still read by people."""

TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")
WRENCH = ("mx", "my", "mz", "fx", "fy", "fz")

Rows = list[list[Any]]


def dae_equations(
    robot: Mechanism,
    parameters: str | Mapping[Any, Any] = "symbolic",
    *,
    symbols: Mapping[Any, Any] | None = None,
    tip_wrench: Any = None,
    external: Any = None,
    frame: str | None = None,
) -> DAEEquations:
    """The parent-child DAE of a small robot in symbols: matrix * unknowns = rhs.

    Parameters, symbols and wrenches are as of `equations`. Friction is left out; loops and joints with quaternions are
    refused.
    """
    model = symbolic_model(merged_model(robot), parameters, symbols)
    if not 0 < len(model.model.bodies) <= MAX_JOINTS:
        raise ModelError(
            f"robot {robot.name!r} has {len(model.model.bodies)} moving links; a DAE in symbols is written for 1 to "
            f"{MAX_JOINTS}; lock joints with robot.lock(...), or take numbers, robot.textbook.dae(q, qd, tau)"
        )
    return DAEEquations(robot, model, symbolic_wrenches(robot, tip_wrench, external, frame))


@dataclass(frozen=True)
class Elimination:
    """The elimination of dV and W, as rows of scalars: dV = J qdd + dV0, W = L^T (I dV + p), M qdd + h = tau."""

    A: Rows
    S: Rows
    L: Rows
    J: Rows
    inertia: Rows
    dV0: Rows
    p: Rows
    M: Rows
    h: Rows


def eliminate(model: Model, system: SparseSystem) -> Elimination:
    """Eliminate the rates of twists, then the wrenches, from equations in rates at no torque and without loops."""
    size, n, _ = sizes(model)

    def part(row: int, column: int, height: int, width: int) -> Rows:
        return [[system.entries.get((row + i, column + j), 0) for j in range(width)] for i in range(height)]

    def column(row: int, height: int) -> Rows:
        return [[x] for x in system.rhs[row : row + height]]

    one = [[int(i == j) for j in range(size)] for i in range(size)]
    A = _minus(one, part(size, 0, size, size))
    S = [[-x for x in row] for row in part(size, 2 * size, size, n)]
    L, power = one, A
    for _ in model.bodies[1:]:  # a power of A carries motion over as many joints, and the next one over none
        L, power = _plus(L, power), multiply(power, A)
    inertia, rotors = part(0, 0, size, size), part(2 * size, 2 * size, n, n)
    J, dV0 = multiply(L, S), multiply(L, column(size, size))
    p = [[-x for x in row] for row in column(0, size)]
    M = _plus(multiply(transpose(J), multiply(inertia, J)), rotors)
    h = _minus(multiply(transpose(J), _plus(multiply(inertia, dV0), p)), column(2 * size, n))
    return Elimination(A, S, L, J, inertia, dV0, p, M, h)


def system_without_torque(model: Model, q: Any, qd: Any, wrenches: Mapping[int, Wrench] | None = None) -> SparseSystem:
    """The equations in rates without friction, with no torque, and without entries that are zero in all states."""
    system = equations_in_rates(edits.without_friction(model), q, qd, [0] * model.nv, wrenches)
    system.entries = {place: x for place, x in system.entries.items() if not isinstance(x, Element) or x.prune().terms}
    return system


@dataclass(frozen=True, eq=False, repr=False)
class DAEEquations:
    """The system matrix * unknowns = rhs as SymPy matrices, its rows and columns in named blocks.

    Unknowns are Vdot of each link (as felt: gravity is the acceleration -g of the base), W of each joint, and qddot.

    >>> import chainrule as cr
    >>> arm = cr.load("pendulum").textbook.dae_equations()
    >>> arm.matrix.shape, list(arm.unknowns[:2]), arm.reduced.M
    ((13, 13), [Vdot_1wx, Vdot_1wy], Matrix([[L_1**2*m_1]]))
    """

    robot: Mechanism
    symbolic: SymbolicModel
    wrenches: tuple[SymbolicWrench, ...] = ()
    """What the end-effector applies to its surroundings, and what acts on links."""

    @cached_property
    def _system(self) -> SparseSystem:
        q, qd, _ = self.symbolic.state()
        acting = wrenches_on_links(self.symbolic.model, self.symbolic.ring, self.wrenches, q)
        return system_without_torque(self.symbolic.model, q, qd, acting)

    @property
    def symbols(self) -> SymbolTable:
        """Symbols by name, with the meaning, unit and number of each."""
        return with_wrenches(self.symbolic.symbols, self.wrenches, f"robot {self.robot.model.name!r}")

    @cached_property
    def tau(self) -> list[sp.Symbol]:
        """Torques of the motors."""
        return self.symbolic.tau

    @cached_property
    def unknowns(self) -> sp.ImmutableMatrix:
        """The column of unknowns."""
        bodies = self.symbolic.model.bodies
        letters = (("Vdot", TWIST), ("W", WRENCH))
        names = [f"{letter}_{b.index}{axis}" for letter, axes in letters for b in bodies for axis in axes]
        return sp.ImmutableMatrix([*(sp.Symbol(name, real=True) for name in names), *self.symbolic.qdd])

    @cached_property
    def matrix(self) -> sp.ImmutableMatrix:
        """The matrix of the system."""
        size = len(self._system.rhs)
        entries = {place: to_sympy(x) for place, x in self._system.entries.items()}
        return sp.ImmutableMatrix(sp.SparseMatrix(size, size, entries))

    @cached_property
    def rhs(self) -> sp.ImmutableMatrix:
        """The right side: velocity terms, gravity, and torques."""
        column = [to_sympy(x) for x in self._system.rhs]
        first = 12 * len(self.symbolic.model.bodies)
        column[first:] = [x + t for x, t in zip(column[first:], self.tau, strict=True)]
        return sp.ImmutableMatrix(column)

    @property
    def rows(self) -> tuple[Block, ...]:
        """Blocks of equations: Newton-Euler of each link, each joint, each torque."""
        return blocks(self.symbolic.model, ())[0]

    @property
    def columns(self) -> tuple[Block, ...]:
        """Blocks of unknowns: dV of each link, W of each joint, qdd."""
        return blocks(self.symbolic.model, ())[1]

    def block(self, row: str, column: str) -> sp.ImmutableMatrix:
        """The entries where a block of rows meets a block of columns, both by name."""
        return self.matrix[_find(self.rows, row).places, _find(self.columns, column).places]

    @cached_property
    def equations(self) -> list[sp.Eq]:
        """The equations one by one, those that say 0 = 0 left out."""
        sides = zip(self.matrix * self.unknowns, self.rhs, strict=True)
        return [sp.Eq(left, right, evaluate=False) for left, right in sides if left != right]

    @cached_property
    def reduced(self) -> DAEReduction:
        """From the DAE to the ODE: unknowns eliminated until M qddot + h = tau is left."""
        found = eliminate(self.symbolic.model, self._system)
        steps = DAEReduction(**{name: to_matrix(rows) for name, rows in vars(found).items()})
        numbers = edits.without_friction(self.symbolic.numbers)
        state = random_states(numbers)
        own, taken = random_wrenches(numbers, state, self.wrenches)
        values = numbers_of(self.symbolic, state) | own
        h = reference.evaluate(numbers, "bias", [state.q, state.qd]) + taken
        check("M of the DAE", steps.M, reference.evaluate(numbers, "mass_matrix", [state.q]), values, numbers)
        check("h of the DAE", steps.h, h, values, numbers)
        return steps

    def __repr__(self) -> str:
        size = len(self._system.rhs)
        return f"<DAE of {self.robot.name!r} in symbols: {size} equations, {len(self._system.entries)} entries>"


@dataclass(frozen=True, eq=False)
class DAEReduction:
    """The elimination in SymPy matrices: V = A V + S qdot; L = (1 - A)^-1, J = L S; dV = J qddot + dV0;
    W = L^T (inertia dV + p); M qddot + h = tau."""

    A: sp.ImmutableMatrix
    S: sp.ImmutableMatrix
    L: sp.ImmutableMatrix
    J: sp.ImmutableMatrix
    inertia: sp.ImmutableMatrix
    dV0: sp.ImmutableMatrix
    p: sp.ImmutableMatrix
    M: sp.ImmutableMatrix
    h: sp.ImmutableMatrix


def _find(found: tuple[Block, ...], name: str) -> Block:
    by_name = {block.name: block for block in found}
    if name not in by_name:
        raise UnknownNameError.of("block", name, by_name, "the DAE")
    return by_name[name]


def _plus(A: Rows, B: Rows) -> Rows:
    return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(A, B, strict=True)]


def _minus(A: Rows, B: Rows) -> Rows:
    return [[a - b for a, b in zip(x, y, strict=True)] for x, y in zip(A, B, strict=True)]
