"""Poses and Jacobians of a robot, written out, and the postures in which it is singular."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp

from chainrule.algorithms import jacobians, kinematics
from chainrule.core.mechanism import jacobian_frame
from chainrule.errors import ModelError
from chainrule.model import edits
from chainrule.symbolic.algebra.factors import factors
from chainrule.symbolic.algebra.naming import SymbolicModel, symbolic_model
from chainrule.symbolic.algebra.ring import Element, pruned, written

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot


def kinematic_equations(
    robot: Robot, link: str | None = None, frame: str = "world", parameters: str | Mapping[Any, Any] = "symbolic"
) -> KinematicEquations:
    """The pose and the Jacobian of a link or frame in closed form."""
    name = edits.meant(robot.model, link)
    robot.model.locate(name)
    model = symbolic_model(edits.merge_fixed(robot.model), parameters)
    return KinematicEquations(robot, model, name, jacobian_frame(frame))


@dataclass(frozen=True, eq=False, repr=False)
class KinematicEquations:
    """T(q) and J(q) of one link or frame, as SymPy matrices.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").kinematic_equations()
    >>> arm.position[0], arm.determinant
    (L_1*cos(q_1) + L_2*cos(q_1 + q_2), L_1*L_2*sin(q_2))
    """

    robot: Robot
    symbolic: SymbolicModel
    link: str
    frame: str

    def __repr__(self) -> str:
        return f"<Pose and Jacobian of {self.link!r} of {self.robot.name!r} in closed form>"

    @property
    def q(self) -> list[sp.Symbol]:
        """Coordinates."""
        return self.symbolic.q

    @property
    def parameters(self) -> dict[sp.Symbol, float]:
        """The robot's own symbols, and the numbers they stand for."""
        return self.symbolic.parameters

    @cached_property
    def T(self) -> sp.ImmutableMatrix:
        """The pose: 4 by 4."""
        q, _, _ = self.symbolic.state()
        return _matrix(kinematics.pose(self.symbolic.model, q, self.link).rows())

    @property
    def position(self) -> sp.ImmutableMatrix:
        """The origin: 3 by 1."""
        return self.T[:3, 3]

    @cached_property
    def elements(self) -> list[list[Any]]:
        """The Jacobian's rows as elements of the ring."""
        q, _, _ = self.symbolic.state()
        columns = jacobians.jacobian(self.symbolic.model, q, self.link, self.frame)
        return [[pruned(x) for x in row] for row in zip(*(list(S) for S in columns), strict=True)]

    @cached_property
    def J(self) -> sp.ImmutableMatrix:
        """The Jacobian: 6 by n, angular rows first."""
        return _matrix(self.elements)

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """The rows of the Jacobian that make it square, for the determinant.

        All six for six joints; for fewer, those of the motion's own plane or space: linear ones first, without those
        that are zero or constant multiples of others.
        """
        n = len(self.q)
        if n == 6:
            return tuple(range(6))
        chosen: list[int] = []
        for i in (3, 4, 5, 0, 1, 2):
            zero = not any(
                (isinstance(x, Element) and x.terms) or (not isinstance(x, Element) and x) for x in self.elements[i]
            )
            if not zero and len(chosen) < n:
                chosen.append(i)
        return tuple(chosen)

    @cached_property
    def determinant(self) -> sp.Expr:
        """Of the square Jacobian, as a product where it is one: zero where the robot is singular."""
        if len(self.rows) != len(self.q):
            raise ModelError(
                f"the Jacobian of {self.link!r} has {len(self.rows)} rows that are not zero and {len(self.q)} columns, "
                "so that it has no determinant; lock joints with robot.lock(...), or use robot.manipulability(q)"
            )
        whole = _determinant([self.elements[i] for i in self.rows])
        if not isinstance(whole, Element) or not whole.terms:
            return written(whole)
        return sp.Mul(*(written(factor) for factor in factors(whole)))

    def singularities(self) -> dict[sp.Expr, list[sp.Expr]]:
        """The factors of the determinant that vary, and for each where it is zero, in its last coordinate."""
        found: dict[sp.Expr, list[sp.Expr]] = {}
        for factor in sp.Mul.make_args(self.determinant):
            base = factor.base if factor.is_Pow else factor
            unknowns = [q for q in self.q if base.has(q)]
            if unknowns:
                found[base] = _zeros(base, unknowns)
        return found


def _zeros(expression: sp.Expr, unknowns: Sequence[sp.Symbol]) -> list[sp.Expr]:
    """Where an expression is zero: equations for its last unknown, or the one it is where these are not known."""
    q = unknowns[-1]
    if isinstance(expression, sp.sin) and len(unknowns) == 1:
        return [sp.Eq(q, 0), sp.Eq(q, sp.pi)]
    if isinstance(expression, sp.cos) and len(unknowns) == 1:
        return [sp.Eq(q, -sp.pi / 2), sp.Eq(q, sp.pi / 2)]
    a, b, rest = (sp.expand(expression).coeff(f) for f in (sp.sin(q), sp.cos(q), q))
    if not sp.expand(expression - a * sp.sin(q) - b * sp.cos(q)):
        return [sp.Eq(sp.tan(q), -b / a)] if a else [sp.Eq(sp.cos(q), 0)]
    if not rest.has(q) and not sp.expand(expression - rest * q).has(q) and rest:
        return [sp.Eq(q, sp.simplify(-sp.expand(expression - rest * q) / rest))]
    return [sp.Eq(expression, 0)]


def _determinant(rows: Sequence[Sequence[Any]]) -> Any:
    """By minors along the first row, which folds the zeros of a robot's geometry away."""
    if len(rows) == 1:
        return rows[0][0]
    total: Any = 0
    for k, x in enumerate(rows[0]):
        if isinstance(x, Element) or x:
            minor = _determinant([[*row[:k], *row[k + 1 :]] for row in rows[1:]])
            total = total + x * minor * (-1) ** k
    return pruned(total)


def _matrix(rows: Sequence[Sequence[Any]]) -> sp.ImmutableMatrix:
    return sp.ImmutableMatrix([[written(x) for x in row] for row in rows])
