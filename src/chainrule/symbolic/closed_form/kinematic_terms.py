"""Pose and Jacobian of a link in closed form, their forms with three angles, and singular postures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import sympy as sp

from chainrule.algorithms import jacobians, kinematics
from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ModelError
from chainrule.functions import reference
from chainrule.kinematics.tasks import moving_task
from chainrule.lazy import cached_property
from chainrule.model import Model
from chainrule.spatial import Transform, Twist
from chainrule.spatial.scalar import is_zero
from chainrule.symbolic.algebra.evaluation import evaluate
from chainrule.symbolic.algebra.factors import factors
from chainrule.symbolic.algebra.quotients import is_zero_polynomial, root_of_squares
from chainrule.symbolic.algebra.ring import Element, prune, to_matrix, to_sympy
from chainrule.symbolic.closed_form.forms import Forms
from chainrule.symbolic.closed_form.matrices import MAX_MATRIX_TERMS
from chainrule.symbolic.closed_form.named_matrix import NamedMatrix
from chainrule.symbolic.closed_form.pose_vector import Orientation
from chainrule.symbolic.closed_form.size_estimate import MIN_JOINTS, SLACK, count_terms, round_count
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel
from chainrule.symbolic.closed_form.verification import STATES, check, numbers_of, random_states

MAX_VOLUME_TERMS = 10_000
"""Terms of the minors that a manipulability is made of; one with more is refused."""

TERMS = ("T", "position", "J", "pose_vector", "analytic_jacobian", "determinant", "manipulability")


@dataclass(frozen=True, eq=False, repr=False)
class KinematicTerms(Forms):
    """Pose T(q), Jacobian J(q) and what follows from them for a link or frame, as SymPy matrices."""

    SUBJECT = "kinematic equations"
    ARGUMENTS: ClassVar = dict.fromkeys(TERMS, ("q",))
    MAIN_TERM = "T"
    MAIN_TERMS = ("T", "J")

    robot: Mechanism
    symbolic: SymbolicModel
    link: str
    frame: str
    order: str = "rpy"
    notation: str = "chainrule"
    """The notation of documents."""
    coordinates: str = "q"
    """The letter of the coordinates."""

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
        return self._check("the pose", to_matrix(self.pose_elements), self._numbers("pose", link=self.link))

    @cached_property
    def pose_elements(self) -> list[list[Any]]:
        """Rows of the pose, as elements of the ring."""
        q, _, _ = self.symbolic.state()
        return [[prune(x) for x in row] for row in kinematics.pose(self.symbolic.model, q, self.link).rows()]

    @property
    def position(self) -> sp.ImmutableMatrix:
        """Origin of the link or frame: 3 by 1."""
        return self.T[:3, 3]

    @cached_property
    def elements(self) -> list[list[Any]]:
        """Rows of the Jacobian, as elements of the ring."""
        return self._jacobian_elements(self.frame)

    def _jacobian_elements(self, frame: str) -> list[list[Any]]:
        q, _, _ = self.symbolic.state()
        columns = jacobians.jacobian(self.symbolic.model, q, self.link, frame)
        return [[prune(x) for x in row] for row in zip(*(list(S) for S in columns), strict=True)]

    @cached_property
    def J(self) -> sp.ImmutableMatrix:
        """Jacobian, angular rows first: 6 by n."""
        J = to_matrix(self.elements)
        return self._check("the Jacobian", J, self._numbers("jacobian", link=self.link, frame=self.frame))

    # --- angles ---

    @cached_property
    def _orientation(self) -> Orientation:
        return Orientation([row[:3] for row in self.pose_elements[:3]], self.order)

    @cached_property
    def pose_vector(self) -> sp.ImmutableMatrix:
        """Position and three angles: 6 by 1. Angles are those of robot.textbook.pose_vector, up to full turns.

        They hold where `angle_singularity` is not zero. If it is zero always, one angle is 0.
        """
        x = sp.ImmutableMatrix([*self.position, *self._orientation.angles()])
        expected = self._numbers("textbook.pose_vector", link=self.link, order=self.order)
        found, _ = evaluate(list(x), self._values, STATES)
        expected[:, 3:] += 2 * np.pi * np.round((found - expected)[:, 3:] / (2 * np.pi))
        return self._check("the pose vector", x, expected)

    @property
    def angle_singularity(self) -> sp.Expr:
        """Zero where the three angles are not unique: the cosine of the second, or its sine if an axis comes again."""
        return self._orientation.sine

    @cached_property
    def analytic_jacobian(self) -> sp.ImmutableMatrix:
        """Rates of the pose vector for each velocity, linear rows first: 6 by n."""
        world = self._jacobian_elements("world")
        rates = [self._orientation.rates(w) for w in zip(*world[:3], strict=True)]
        linear = [[to_sympy(x) for x in row] for row in world[3:]]
        J = sp.ImmutableMatrix([*linear, *zip(*rates, strict=True)])
        expected = self._numbers("textbook.analytic_jacobian", link=self.link, order=self.order)
        return self._check("the analytic Jacobian", J, expected)

    # --- checks ---

    @property
    def _values(self) -> dict[sp.Symbol, Any]:
        """The numbers of all symbols at the random states of the checks."""
        return numbers_of(self.symbolic, random_states(self.symbolic.numbers))

    def _numbers(self, function: str, **options: str) -> Array:
        """The numbers of a function of the model at the random states."""
        numbers = self.symbolic.numbers
        return reference.evaluate(numbers, function, [random_states(numbers).q], **options)

    def _check(self, what: str, found: Any, expected: Array, size: float = 0.0) -> Any:
        """The term, if it agrees with the function of the model; refused otherwise."""
        check(f"{what} of {self.link!r}", found, expected, self._values, self.symbolic.numbers, size)
        return NamedMatrix.of(found, self.symbols) if isinstance(found, sp.MatrixBase) else found

    # --- singular postures ---

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """Rows of the Jacobian that make it square, for the determinant.

        All six for six joints and more. For fewer joints, the rows that are not zero, linear ones first.
        """
        n = len(self.q)
        if n >= 6:
            return tuple(range(6))
        chosen: list[int] = []
        for i in (3, 4, 5, 0, 1, 2):
            if any(x.terms if isinstance(x, Element) else x for x in self.elements[i]) and len(chosen) < n:
                chosen.append(i)
        return tuple(chosen)

    @property
    def is_regular(self) -> bool:
        """Whether the square Jacobian is regular in nearly every configuration, by the random states of the checks."""
        J = self._numbers("jacobian", link=self.link, frame=self.frame)[:, list(self.rows)]
        return bool(np.linalg.matrix_rank(J).max() == len(self.q))

    @cached_property
    def determinant(self) -> sp.Expr:
        """Determinant of the square Jacobian, factored: zero where the robot is singular."""
        if len(self.rows) != len(self.q):
            raise ModelError(
                f"the Jacobian of {self.link!r} has {len(self.rows)} rows and {len(self.q)} columns, "
                "so that it has no determinant; lock joints with robot.lock(...), or use robot.manipulability(q)"
            )
        self._refuse_long_determinant()
        q, _, _ = self.symbolic.state()
        whole = _minors_of_rows(self._square(self.symbolic.model, q))[-1][0]
        if not isinstance(whole, Element) or not whole.terms:
            found = to_sympy(whole)
        else:
            found = sp.Mul(*(to_sympy(factor) for factor in factors(whole)))
        J = self._numbers("jacobian", link=self.link, frame=self.frame)[:, list(self.rows)]
        size = float(np.prod(np.linalg.norm(J, axis=-1), axis=-1).max())
        return self._check("the determinant", found, np.linalg.det(J), size)

    @property
    def manipulability(self) -> sp.Expr:
        """Yoshikawa's measure sqrt(det(J J^T)) of the robot's own task, as of robot.manipulability."""
        return self.manipulability_of(None)

    def manipulability_of(self, task: str | None) -> sp.Expr:
        """Yoshikawa's measure of a part of the motion: "pose", "position" or "orientation"; None, the robot's own.

        sqrt(det(J J^T)), or sqrt(det(J^T J)) for fewer joints than rows: in general the root of the sum of the squares
        of all minors of J, as many rows and columns as the rank. Rows are in base axes whatever the frame of J.

        >>> import chainrule as cr
        >>> cr.load("planar_2r").kinematic_equations().manipulability_of("position")
        L_1*L_2*Abs(sin(q_2))
        """
        chosen = moving_task(self.robot.reference, self.link, task=task)
        world = self._jacobian_elements("world")
        rows = list(chosen.rows)

        def terms(model: Model, q: list[Any], *_: Any) -> Any:
            columns = [list(S) for S in jacobians.jacobian(model, q, self.link, "world")]
            return _minors([[column[i] for column in columns] for i in rows], chosen.rank)

        self._refuse_long("the manipulability", terms, MAX_VOLUME_TERMS)
        minors = _minors([world[i] for i in rows], chosen.rank)
        found = root_of_squares([x for x in minors if not is_zero_polynomial(x)])
        J = self._numbers("jacobian", link=self.link, frame="world")[:, rows]
        values = np.linalg.svd(J, compute_uv=False)[:, : chosen.rank].prod(axis=-1)
        return self._check("the manipulability", found, values, float(np.abs(J).max()) ** chosen.rank * len(self.q))

    def refuse_long_terms(self, *names: str) -> None:
        """Refuse a determinant that would have too many terms, by an estimate."""
        if "determinant" in names:
            self._refuse_long_determinant()

    def _square(self, model: Model, q: list[Any]) -> list[list[Any]]:
        """Rows of a square matrix with the determinant of the Jacobian's: of all six rows, seen from the middle link.

        No frame changes that determinant, and screws seen from there depend on the fewest angles.
        """
        if len(self.rows) < 6:
            columns = jacobians.jacobian(model, q, self.link, self.frame)
            rows = [[prune(x) for x in row] for row in zip(*(list(S) for S in columns), strict=True)]
            return [rows[i] for i in self.rows]
        index, _ = model.locate(self.link)
        posed = [body.at(q) for body in model.ancestors(index)]
        middle = len(posed) // 2
        columns = [Twist.zero()] * model.nv
        T = Transform.identity()
        for body in posed[middle:]:
            T = T * body.T
            for i, S in body.S:
                columns[i] = columns[i] + T * S
        T = Transform.identity()
        for body in reversed(posed[:middle]):
            for i, S in body.S:
                columns[i] = columns[i] + T.inv * S
            T = body.T * T
        return [[prune(x) for x in row] for row in zip(*(list(S) for S in columns), strict=True)]

    def _refuse_long_determinant(self) -> None:
        def terms(model: Model, q: list[Any], *_: Any) -> Any:
            return _minors_of_rows(self._square(model, q))

        self._refuse_long("the determinant", terms, MAX_MATRIX_TERMS)

    def _refuse_long(self, what: str, terms: Callable[..., Any], max_terms: int) -> None:
        """Refuse what would have too many terms, or whose minors would on the way to it, by an estimate."""
        if len(self.q) < MIN_JOINTS:
            return
        size = count_terms(self.symbolic, terms, max_terms)
        if size > SLACK * max_terms:
            raise ModelError(
                f"{what} of {self.link!r} would have about {round_count(size)} terms, which nobody can read; "
                'take parameters="numeric", lock joints with robot.lock(...), or use robot.manipulability(q)'
            )

    def singularities(self) -> dict[sp.Expr, list[sp.Expr]]:
        """Factors of the determinant that vary, and for each the values of its last coordinate where it is zero."""
        if self.determinant == 0:
            raise ModelError(f"the Jacobian of {self.link!r} is singular in every configuration: its determinant is 0")
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
    whole = sp.expand(expression)
    a, b, slope = (whole.coeff(f) for f in (sp.sin(q), sp.cos(q), q))
    if not sp.expand(whole - a * sp.sin(q) - b * sp.cos(q)):
        return [sp.Eq(sp.tan(q), -b / a)] if a else [sp.Eq(sp.cos(q), 0)]
    start = sp.expand(whole - slope * q)
    if slope and not slope.has(q) and not start.has(q):
        return [sp.Eq(q, -start / slope)]
    return [sp.Eq(expression, 0)]


def _minors(rows: Sequence[Sequence[Any]], size: int) -> list[Any]:
    """The determinants of all square matrices of this size that rows and columns make."""
    return [x for chosen in combinations(rows, size) for x in _minors_of_rows(chosen)[-1]]


def _minors_of_rows(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The determinants of the first row, the first two rows and so on, for all choices of as many columns.

    By expansion along each row in turn, so that those of fewer rows are computed once; zeros of the geometry cost
    nothing.
    """
    columns = range(len(rows[0]))
    known: dict[tuple[int, ...], Any] = {(): 1}
    found = []
    for k, row in enumerate(rows):
        larger: dict[tuple[int, ...], Any] = {}
        for chosen in combinations(columns, k + 1):
            total: Any = 0
            for place, column in enumerate(chosen):
                rest = known[chosen[:place] + chosen[place + 1 :]]
                if not is_zero(row[column]) and not is_zero(rest):
                    total = total + row[column] * rest * (-1) ** (k + place)
            larger[chosen] = prune(total)
        known = larger
        found.append(list(known.values()))
    return found
