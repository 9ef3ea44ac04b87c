"""The equations of motion before anything is eliminated: one sparse system of differential-algebraic equations.

The equations are those of `algorithms/parent_child.py`, in rates: every moving link has its acceleration dV, every
joint its wrench W and its qdd, every constraint its lambda.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from chainrule.algorithms import loop_equations as loops
from chainrule.algorithms.kinematics import gravity_as_base_acceleration, outward
from chainrule.algorithms.loads import WRENCH_FRAMES, on_links
from chainrule.algorithms.parent_child import equations_in_rates
from chainrule.arguments import Array, one_of
from chainrule.core.closure import closure_of
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import require
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_state, read_wrenches
from chainrule.errors import ShapeError
from chainrule.model import Model
from chainrule.spatial import Wrench

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Block(NamedTuple):
    """Rows or columns that belong together: six of a link or a joint, those of a joint's velocities or a constraint."""

    name: str
    start: int
    size: int

    @property
    def places(self) -> slice:
        """Their place in the system."""
        return slice(self.start, self.start + self.size)


@dataclass(frozen=True, eq=False)
class DAESolution:
    """Accelerations (n,), rates of the links' twists (links, 6), wrenches of joints (joints, 6) from parent to child,
    multipliers (rows,) and wrenches of constraints on their second links (constraints, 6)."""

    qdd: Array
    accelerations: Array
    joint_wrenches: Array
    multipliers: Array
    constraint_forces: Array


@dataclass(frozen=True, eq=False)
class Reduction:
    """The equations that are left when unknowns are eliminated one after the other, each step a field.

    dV = L (S qdd + c) = J qdd + dV0, with L = (1 - A)^-1; W = L^T (I dV + p - C^T lambda); tau = S^T W + .. gives
    M qdd + h = tau + G^T lambda, and the constraints become G qdd + gamma = 0.
    """

    A: Array
    L: Array
    S: Array
    J: Array
    dV0: Array
    inertia: Array
    p: Array
    M: Array
    h: Array
    C: Array
    G: Array
    gamma: Array

    def __str__(self) -> str:
        links, n, m = len(self.L) // 6, len(self.M), len(self.G)
        lines = [
            f"joints:       (1 - A) dV = S qdd + c            {6 * links} equations, solved for dV",
            "              dV = L (S qdd + c) = J qdd + dV0   L = (1 - A)^-1, J = L S",
            f"Newton-Euler: (1 - A)^T W = I dV + p             {6 * links} equations, solved for W",
            "              W = L^T (I dV + p)",
            f"torques:      tau = S^T W + rotors, springs, ..  {n} equations are left:",
            "              M qdd + h = tau                    M = J^T I J + rotors, h = J^T (I dV0 + p) + ..",
        ]
        if m:
            lines += [
                "              M qdd + h = tau + G^T lambda       G = C J",
                f"constraints:  C dV = .. becomes G qdd + gamma = 0, {m} equations",
            ]
        return "\n".join(lines)


@dataclass(frozen=True, repr=False, eq=False)
class DAE:
    """One system, matrix x = rhs, for one state; its rows and columns in named blocks. Printed, it shows them."""

    model: Model
    q: tuple[float, ...]
    rows: tuple[Block, ...]
    columns: tuple[Block, ...]
    matrix: sparse.csc_matrix
    rhs: Array
    felt: Array
    """What gravity adds to the acceleration of each moving link: (links, 6)."""
    torque: Array
    """tau, without springs and friction: (n,)."""
    chosen: tuple[int, ...]
    """The equations of the constraints that are in the system."""

    def solve(self) -> DAESolution:
        """All unknowns at once."""
        x = linalg.spsolve(self.matrix, self.rhs)
        links, n = len(self.model.bodies), self.model.nv
        dV, W, qdd, forces = np.split(x, [6 * links, 12 * links, 12 * links + n])
        wrenches = loops.constraint_wrenches(self.model, self.q, forces.tolist(), self.chosen)
        on_links = np.array([list(F) for F in wrenches], dtype=float).reshape(-1, 6)
        return DAESolution(qdd, dV.reshape(-1, 6) - self.felt, W.reshape(-1, 6), forces, on_links)

    def block(self, row: str, column: str) -> Array:
        """The entries where a block of rows meets a block of columns, both by name."""
        by_name = [{block.name: block for block in blocks} for blocks in (self.rows, self.columns)]
        return np.asarray(self.matrix[by_name[0][row].places, by_name[1][column].places].toarray())

    def reduce(self) -> Reduction:
        """Eliminate accelerations of links, then wrenches: the mass matrix and the bias come out."""
        size, n = 6 * len(self.model.bodies), self.model.nv
        dense = self.matrix.toarray()
        balance, joints, torques, ties = np.split(dense, [size, 2 * size, 2 * size + n])
        push, c, load, wanted = np.split(self.rhs, [size, 2 * size, 2 * size + n])
        inertia, S, C = balance[:, :size], -joints[:, 2 * size : 2 * size + n], ties[:, :size]
        rotors = torques[:, 2 * size : 2 * size + n]
        A = np.eye(size) - joints[:, :size]
        L = np.linalg.inv(np.eye(size) - A)
        J, dV0 = L @ S, L @ c
        M = J.T @ inertia @ J + rotors
        h = J.T @ (inertia @ dV0 - push) + self.torque - load
        return Reduction(A, L, S, J, dV0, inertia, -push, M, h, C, C @ J, C @ dV0 - wanted)

    def __repr__(self) -> str:
        return f"<DAE of {self.model.name!r}: {self.matrix.shape[0]} equations, {self.matrix.nnz} entries>"

    def __str__(self) -> str:
        """Which blocks are empty (.) and which are not (#)."""
        width = max(len(block.name) for block in self.rows)
        lines = [f"{self.matrix.shape[0]} equations, {self.matrix.nnz} entries; columns:"]
        lines += [f"  {k + 1:>2} {block.name} ({block.size})" for k, block in enumerate(self.columns)]
        lines.append(" " * width + " " + " ".join(f"{k + 1:>2}" for k in range(len(self.columns))))
        for row in self.rows:
            marks = [" #" if self.matrix[row.places, c.places].nnz else " ." for c in self.columns]
            lines.append(f"{row.name:<{width}} " + " ".join(marks))
        return "\n".join(lines)


def dae(
    robot: Mechanism,
    q: ArrayLike,
    qd: ArrayLike = 0,
    tau: ArrayLike = 0,
    *,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
) -> DAE:
    """The equations of motion of one state with nothing eliminated: links, joints and constraints in one system.

    Links on fixed joints are part of what carries them. `solve()` gives every unknown, `reduce()` the steps that
    lead to M and h. Wrenches are as in forward_dynamics.

    >>> import chainrule as cr
    >>> system = cr.load("planar_2r").textbook.dae([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    >>> system.solve().qdd.round(3).tolist()
    [-9.81, 9.81]
    """
    arrays = read_state(robot, "dae", q=q, qd=qd, tau=tau)
    require(robot, "forward_dynamics")
    if arrays[0].ndim != 1:
        raise ShapeError(f"dae takes one state, got a batch of shape {arrays[0].shape[:-1]}")
    loads = read_wrenches(robot, "dae", tip_wrench, external)
    axes = one_of(WRENCH_FRAMES, frame, "frame")
    state, rates, torques = (array.tolist() for array in arrays)
    wrenches_on_links = on_links(
        merged_model(robot), loads.links, [wrench.tolist() for wrench in loads.wrenches], state, axes
    )
    return assemble(merged_model(robot), state, rates, torques, wrenches_on_links, closure_of(robot).independent_rows)


def assemble(
    model: Model,
    q: Sequence[float],
    qd: Sequence[float],
    tau: Sequence[float],
    wrenches: Mapping[int, Wrench],
    chosen: Sequence[int],
) -> DAE:
    """The system for a state, with wrenches on links by index, and the chosen equations of the constraints."""
    n = model.nv
    system = equations_in_rates(model, q, qd, tau, wrenches, chosen)
    _, felt = outward(model.at(q), [0.0] * n, [0.0] * n, gravity_as_base_acceleration(model))
    names = blocks(model, chosen)
    gravity = np.array(felt[1:], dtype=float).reshape(-1, 6)
    places = np.array(list(system.entries), dtype=int).reshape(-1, 2).T
    matrix = sparse.csc_matrix((np.array(list(system.entries.values()), dtype=float), places), (len(system.rhs),) * 2)
    rhs, load = (np.array(values, dtype=float) for values in (system.rhs, tau))
    return DAE(model, tuple(q), *names, matrix, rhs, gravity, load, tuple(chosen))


def blocks(model: Model, chosen: Sequence[int]) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """The blocks of rows and of columns of the system."""
    size = 6 * len(model.bodies)
    rows, columns = [], []
    for body in model.bodies:
        at = 6 * (body.index - 1)
        rows.append(Block(f"Newton-Euler {body.link.name}", at, 6))
        columns.append(Block(f"dV {body.link.name}", at, 6))
    for body in model.bodies:
        at = size + 6 * (body.index - 1)
        rows.append(Block(f"joint {body.joint.name}", at, 6))
        columns.append(Block(f"W {body.joint.name}", at, 6))
    for places in model.layout.joints:
        at, count = 2 * size + places.v.start, places.joint.kind.nv
        rows.append(Block(f"torque {places.joint.name}", at, count))
        columns.append(Block(f"qdd {places.joint.name}", at, count))
    at = 2 * size + model.nv
    owners = [model.rows[place].name for place in chosen]
    for name in dict.fromkeys(owners):
        rows.append(Block(f"constraint {name}", at, owners.count(name)))
        columns.append(Block(f"lambda {name}", at, owners.count(name)))
        at += owners.count(name)
    return tuple(rows), tuple(columns)
