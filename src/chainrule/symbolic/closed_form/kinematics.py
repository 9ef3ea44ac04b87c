"""Pose and Jacobian of a robot in closed form, and its singular postures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from chainrule.algorithms import jacobians, kinematics
from chainrule.arguments import one_of
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ModelError
from chainrule.functions import reference
from chainrule.lazy import cached_property
from chainrule.model import Model
from chainrule.spatial.scalar import is_zero
from chainrule.symbolic.algebra.factors import factors
from chainrule.symbolic.algebra.ring import Element, prune, to_sympy
from chainrule.symbolic.closed_form.matrices import MAX_MATRIX_TERMS
from chainrule.symbolic.closed_form.size_estimate import MIN_JOINTS, SLACK, count_terms, round_count
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel, symbolic_model
from chainrule.symbolic.closed_form.verification import check, numbers_of, random_states
from chainrule.symbolic.documents.document import Document, Equation, Formula, Paragraph
from chainrule.symbolic.documents.printing import latex

MAX_SHOWN_JOINTS = 4
"""Joints of a robot whose pose and Jacobian a notebook shows in full."""


def kinematic_equations(
    robot: Mechanism,
    link: str | None = None,
    frame: str = "world",
    parameters: str | Mapping[Any, Any] = "symbolic",
    *,
    symbols: Mapping[Any, Any] | None = None,
) -> KinematicEquations:
    """The pose T, the Jacobian J, its determinant and the singular postures of a link or frame, in closed form.

    Parameters
    ----------
    robot
        The robot. Loops and joints with quaternions have no closed form.
    link
        The link or frame, the end-effector by default.
    frame
        Of the Jacobian: "world", "space" or "body", as of robot.jacobian.
    parameters
        "symbolic", names for lengths and angles; "numeric", their numbers; or a dictionary that replaces some of the
        names by numbers or by other names.
    symbols
        Symbols of your own, by the names that they replace: {"q_1": theta, "L_1": sympy.Symbol("a")}.
    """
    name = robot.link(link)
    model = symbolic_model(robot.merged, parameters, symbols)
    return KinematicEquations(robot, model, name, one_of(jacobians.FRAMES, frame, "frame of a Jacobian"))


@dataclass(frozen=True, eq=False, repr=False)
class KinematicEquations:
    """Pose T(q) and Jacobian J(q) of a link or frame, as SymPy matrices.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").kinematic_equations()
    >>> arm.position[0], arm.determinant
    (L_1*cos(q_1) + L_2*cos(q_1 + q_2), L_1*L_2*sin(q_2))
    """

    robot: Mechanism
    symbolic: SymbolicModel
    link: str
    frame: str

    def __repr__(self) -> str:
        return f"<Pose and Jacobian of {self.link!r} of {self.robot.model.name!r} in closed form>"

    def _repr_html_(self) -> str:
        title = f"Pose and Jacobian of {self.link} of {self.robot.model.name}"
        if not self._is_short():
            hint = f"{len(self.q)} joints: the matrices are long, and derived when asked for, by .T, .J, .determinant."
            return Document(title, (Paragraph(hint),))._repr_html_()
        J = Equation((Formula("J"), self.J))
        words = Paragraph(f'Angular rows of the Jacobian come first; its frame is "{self.frame}".')
        return Document(title, (Equation((Formula("T"), self.T)), J, words))._repr_html_()

    def _repr_latex_(self) -> str | None:
        return rf"$\displaystyle T = {latex(self.T)}, \quad J = {latex(self.J)}$" if self._is_short() else None

    def _is_short(self) -> bool:
        """Whether a notebook shows the matrices themselves: those of few joints, which take no time."""
        return len(self.q) <= MAX_SHOWN_JOINTS

    @property
    def q(self) -> list[sp.Symbol]:
        """Coordinates."""
        return self.symbolic.q

    @property
    def parameters(self) -> dict[sp.Symbol, float]:
        """Symbols of the robot, and the numbers they stand for, in SI units."""
        return self.symbolic.parameters

    @cached_property
    def T(self) -> sp.ImmutableMatrix:
        """Pose: 4 by 4."""
        q, _, _ = self.symbolic.state()
        T = _matrix(kinematics.pose(self.symbolic.model, q, self.link).rows())
        self._check("the pose", T, "pose", link=self.link)
        return T

    @property
    def position(self) -> sp.ImmutableMatrix:
        """Origin of the link or frame: 3 by 1."""
        return self.T[:3, 3]

    @cached_property
    def elements(self) -> list[list[Any]]:
        """Rows of the Jacobian, as elements of the ring."""
        q, _, _ = self.symbolic.state()
        columns = jacobians.jacobian(self.symbolic.model, q, self.link, self.frame)
        return [[prune(x) for x in row] for row in zip(*(list(S) for S in columns), strict=True)]

    @cached_property
    def J(self) -> sp.ImmutableMatrix:
        """Jacobian, angular rows first: 6 by n."""
        J = _matrix(self.elements)
        self._check("the Jacobian", J, "jacobian", link=self.link, frame=self.frame)
        return J

    def _check(self, what: str, found: sp.ImmutableMatrix, function: str, **options: str) -> None:
        """Refuse a matrix that differs from the function of the model."""
        numbers = self.symbolic.numbers
        state = random_states(numbers)
        expected = reference.evaluate(numbers, function, [state.q], **options)
        check(f"{what} of {self.link!r}", found, expected, numbers_of(self.symbolic, state), numbers)

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """Rows of the Jacobian that make it square, for the determinant.

        All six for six joints. For fewer joints, the rows that are not zero, linear ones first.
        """
        n = len(self.q)
        if n == 6:
            return tuple(range(6))
        chosen: list[int] = []
        for i in (3, 4, 5, 0, 1, 2):
            if any(x.terms if isinstance(x, Element) else x for x in self.elements[i]) and len(chosen) < n:
                chosen.append(i)
        return tuple(chosen)

    @cached_property
    def determinant(self) -> sp.Expr:
        """Determinant of the square Jacobian, factored: zero where the robot is singular."""
        if len(self.rows) != len(self.q):
            raise ModelError(
                f"the Jacobian of {self.link!r} has {len(self.rows)} rows that are not zero and {len(self.q)} columns, "
                "so that it has no determinant; lock joints with robot.lock(...), or use robot.manipulability(q)"
            )
        self._refuse_long_determinant()
        whole = _determinant([self.elements[i] for i in self.rows])
        if not isinstance(whole, Element) or not whole.terms:
            found = to_sympy(whole)
        else:
            found = sp.Mul(*(to_sympy(factor) for factor in factors(whole)))
        numbers = self.symbolic.numbers
        state = random_states(numbers)
        J = reference.evaluate(numbers, "jacobian", [state.q], link=self.link, frame=self.frame)[:, list(self.rows)]
        size = float(np.prod(np.linalg.norm(J, axis=-1), axis=-1).max())
        values = numbers_of(self.symbolic, state)
        check(f"the determinant of {self.link!r}", found, np.linalg.det(J), values, numbers, size)
        return found

    def _refuse_long_determinant(self) -> None:
        """Refuse a determinant that would have too many terms, by an estimate."""
        if len(self.q) < MIN_JOINTS:
            return

        def determinant(model: Model, q: list[Any], *_: Any) -> list[Any]:
            columns = jacobians.jacobian(model, q, self.link, self.frame)
            rows = [list(row) for row in zip(*(list(S) for S in columns), strict=True)]
            return [_determinant([rows[i] for i in self.rows])]

        size = count_terms(self.symbolic, determinant, MAX_MATRIX_TERMS)
        if size > SLACK * MAX_MATRIX_TERMS:
            raise ModelError(
                f"the determinant of {self.link!r} would have about {round_count(size)} terms, which nobody can read; "
                'take parameters="numeric", lock joints with robot.lock(...), or use robot.manipulability(q)'
            )

    def singularities(self) -> dict[sp.Expr, list[sp.Expr]]:
        """Factors of the determinant that vary, and for each the values of its last coordinate where it is zero."""
        found: dict[sp.Expr, list[sp.Expr]] = {}
        for factor in sp.Mul.make_args(self.determinant):
            base = factor.base if factor.is_Pow else factor
            unknowns = [q for q in self.q if base.has(q)]
            if unknowns:
                found[base] = _zeros(base, unknowns)
        return found


def _zeros(expression: sp.Expr, unknowns: Sequence[sp.Symbol]) -> list[sp.Expr]:
    """Equations for the last unknown where the expression is zero; `expression = 0` if it cannot be solved."""
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
    """The determinant by minors along the first row; zeros of the geometry cost nothing."""
    if len(rows) == 1:
        return rows[0][0]
    total: Any = 0
    for k, x in enumerate(rows[0]):
        if not is_zero(x):
            minor = _determinant([[*row[:k], *row[k + 1 :]] for row in rows[1:]])
            total = total + x * minor * (-1) ** k
    return prune(total)


def _matrix(rows: Sequence[Sequence[Any]]) -> sp.ImmutableMatrix:
    return sp.ImmutableMatrix([[to_sympy(x) for x in row] for row in rows])
