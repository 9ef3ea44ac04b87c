"""The problem of a derivation: a robot over symbols, a sample state, and the units of all symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from chainrule.algorithms.loads import add, on_links
from chainrule.arguments import Array
from chainrule.core.derived import backend_of, merged_model
from chainrule.core.evaluation import require
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_argument
from chainrule.errors import ModelError, ShapeError
from chainrule.functions.reference import leaves
from chainrule.kinematics.configurations import random_state
from chainrule.lazy import cached_property
from chainrule.model import Model, edits
from chainrule.spatial import Wrench
from chainrule.symbolic.algebra.ring import Element, Ring
from chainrule.symbolic.algebra.units import has_numbers_with_units
from chainrule.symbolic.closed_form.choices import Choices
from chainrule.symbolic.closed_form.equations import Equations
from chainrule.symbolic.closed_form.size_estimate import MIN_JOINTS, QUANTITIES, SLACK, count_terms, round_count
from chainrule.symbolic.closed_form.symbolic_model import symbolic_model
from chainrule.symbolic.closed_form.wrenches import SymbolicWrench, in_numbers, wrenches_on_links
from chainrule.symbolic.derivations.quantities import (
    NumberedSymbols,
    Quantity,
    column,
    number_list,
    number_matrix,
    vector_text,
)
from chainrule.symbolic.documents.blocks import Block, Formula, Heading, Paragraph, TableBlock
from chainrule.symbolic.documents.line_breaks import with_index

__all__ = [
    "DerivationProblem", "Quantity", "column", "number_list", "number_matrix", "vector_text",
]  # fmt: skip

MAX_JOINTS_IN_CHAIN = 8
"""Joints in a chain; the derivation of a longer one fits on no paper."""

MAX_MASS_MATRIX_TERMS = 10_000
"""Terms of the mass matrix; a robot with more is refused before any other step."""

MAX_TERMS = 6000
"""Terms of all entries of a step; a derivation with more is refused."""


@dataclass(frozen=True)
class DerivationProblem(NumberedSymbols):
    """A robot, its equations over symbols, and the state (q, qd, qdd) at which numbers are given."""

    robot: Mechanism
    equations: Equations
    state: tuple[Array, Array, Array]

    @staticmethod
    def of(
        robot: Mechanism,
        parameters: str | Mapping[Any, Any] | Choices,
        state: Any = None,
        symbols: Mapping[Any, Any] | None = None,
        *,
        with_masses: bool = True,
        wrenches: tuple[SymbolicWrench, ...] = (),
    ) -> DerivationProblem:
        """The problem of a robot; refused if its derivation would be too long to read, or needs masses it lacks."""
        merged = merged_model(robot)
        longest = max((len(merged.ancestors(body.index)) for body in merged.bodies), default=0)
        if longest > MAX_JOINTS_IN_CHAIN:
            raise _too_large(robot, f"{longest} joints in a row")
        if not merged.nv:
            raise ModelError(f"robot {robot.name!r} has no degrees of freedom, and so nothing to derive")
        if with_masses:
            require(robot, "mass_matrix")
        closed_form = Equations(robot, symbolic_model(merged, parameters, symbols), wrenches=wrenches)
        sample = sample_state(robot, state)
        if closed_form.symbolic.numbers is not merged:  # the user's numbers in place of the robot's
            robot = Mechanism(closed_form.symbolic.numbers, backend_of(robot))
        problem = DerivationProblem(robot, closed_form, sample)
        if not with_masses:
            return problem
        problem.estimate_terms("its mass matrix", QUANTITIES["M"], MAX_MASS_MATRIX_TERMS)
        problem.limit_terms("its mass matrix", closed_form.elements.M, MAX_MASS_MATRIX_TERMS)
        return problem

    def estimate_terms(self, what: str, compute: Callable[..., Any], limit: int = MAX_TERMS) -> None:
        """Refuse a robot for which a step would have too many terms, by an estimate, before it is computed.

        `compute` makes the entries of the step of a model, q, qd and qdd.
        """
        if self.robot.nv < MIN_JOINTS:
            return
        size = count_terms(self.equations.symbolic, lambda model, *q: compute(edits.without_friction(model), *q), limit)
        if size > SLACK * limit:
            raise _too_large(self.robot, f"{what} {_have(what)} about {round_count(size)} terms, by an estimate")

    def limit_terms(self, what: str, entries: Any, limit: int = MAX_TERMS) -> None:
        """Refuse a robot for which a step, the entries in nested lists, has too many terms when expanded."""
        size = sum(len(x.terms) for x in leaves(entries) if isinstance(x, Element))
        if size > limit:
            raise _too_large(self.robot, f"{what} {_have(what)} {size} terms")

    # --- the robot ---

    @cached_property
    def model(self) -> Model:
        """The model over symbols without friction, which is no polynomial and is added at the end."""
        return edits.without_friction(self.equations.symbolic.model)

    @cached_property
    def merged(self) -> Mechanism:
        """The robot with its fixed joints welded."""
        return Mechanism(merged_model(self.robot), backend_of(self.robot))

    @cached_property
    def frictionless(self) -> Mechanism:
        """The robot without friction."""
        return Mechanism(edits.without_friction(self.robot.model), backend_of(self.robot))

    @cached_property
    def symbols(self) -> tuple[list[Element], list[Element], list[Element]]:
        """The symbols q, qd and qdd as arguments of the algorithms."""
        return self.equations.symbolic.state()

    def rate(self, expression: sp.MatrixBase) -> sp.ImmutableMatrix:
        """The derivative of a matrix by time, by the chain rule, in the symbols q, qd and qdd."""
        eqs = self.equations
        pairs = (*zip(eqs.q, eqs.qd, strict=True), *zip(eqs.qd, eqs.qdd, strict=True))
        total = sp.zeros(*expression.shape)
        for x, x_dot in pairs:
            total += expression.diff(x) * x_dot
        return sp.ImmutableMatrix(total)

    # --- wrenches ---

    @property
    def ring(self) -> Ring:
        """The ring of the symbols."""
        return self.equations.symbolic.ring

    @cached_property
    def acting(self) -> dict[int, Wrench]:
        """The wrenches that act on links, that of the tip with the opposite sign, in the frames of the links."""
        return wrenches_on_links(self.model, self.ring, self.equations.wrenches, self.symbols[0])

    @property
    def loads(self) -> dict[str, Any]:
        """The wrenches at the sample state, as arguments of functions in numbers."""
        return in_numbers(self.equations.wrenches)

    def wrenches_at_sample(self, wrenches: Sequence[SymbolicWrench]) -> dict[int, Wrench]:
        """Wrenches on links at the sample state, by index, in the frames of the links."""
        model, q = merged_model(self.robot), [float(x) for x in self.state[0]]
        total: dict[int, Wrench] = {}
        for wrench in wrenches:
            acting = [-wrench.sign * x for x in wrench.numbers]
            total = add(total, on_links(model, [wrench.link], [acting], q, wrench.frame))
        return total

    # --- units ---

    @cached_property
    def coordinate_units(self) -> list[str]:
        """The unit of each coordinate: "rad" or "m"."""
        return [velocity.unit for velocity in self.robot.model.layout.velocities]

    @property
    def torque_units(self) -> list[str]:
        """The unit of each torque: "N m" or "N"."""
        return ["N m" if u == "rad" else "N" for u in self.coordinate_units]

    @cached_property
    def units(self) -> dict[sp.Symbol, str]:
        """The unit of every symbol."""
        return {entry.symbol: entry.unit for entry in self.equations.symbols.entries}

    @property
    def subject(self) -> str:
        """The robot, in words."""
        return f"robot {self.robot.name!r}"

    @cached_property
    def is_symbolic(self) -> bool:
        """Whether all parameters with a unit are symbols, so that units can be checked."""
        return not has_numbers_with_units(self.equations.symbolic.model)

    # --- numbers ---

    @cached_property
    def values(self) -> dict[sp.Symbol, float]:
        """The number of each symbol at the sample state."""
        eqs = self.equations
        state = {
            s: float(x)
            for part, numbers in zip((eqs.q, eqs.qd, eqs.qdd), self.state, strict=True)
            for s, x in zip(part, numbers, strict=True)
        }
        wrenches = {s: x for wrench in eqs.wrenches for s, x in wrench.values.items()}
        return eqs.parameters | state | wrenches

    def torque_quantities(self, name: str, entries: Iterable[sp.Expr], kernel: Array) -> list[Quantity]:
        """The entries of a vector of torques, one for each coordinate."""
        units = enumerate(zip(entries, self.torque_units, strict=True))
        return [Quantity(with_index(name, str(i + 1)), x, unit, kernel[i]) for i, (x, unit) in units]

    def matrix_quantities(self, name: str, M: sp.Matrix, kernel: Array, per: str = "") -> list[Quantity]:
        """The entries of the mass matrix, the upper half, or of another matrix with its units divided by a unit."""
        lengths = [u == "m" for u in self.coordinate_units]
        units = ("kg m^2", "kg m", "kg")
        return [
            Quantity(f"{name}_{{{i + 1}{j + 1}}}", M[i, j], units[lengths[i] + lengths[j]] + per, kernel[i, j])
            for i in range(M.rows)
            for j in range(0 if per else i, M.cols)
        ]

    def sample(self) -> list[Block]:
        """The section about the sample state."""
        rows = [
            (str(i + 1), velocity.joint, *(f"{part[i]:.6g}" for part in self.state), f"{u}, {u}/s, {u}/s²")
            for i, (velocity, u) in enumerate(
                zip(self.robot.model.layout.velocities, self.coordinate_units, strict=True)
            )
        ]
        header = ("", "joint", Formula("q"), Formula(r"\dot{q}"), Formula(r"\ddot{q}"), "unit")
        text = "Numbers below are those of this state, from the symbols and, beside them, from the compiled kernels."
        return [Heading("Sample state"), Paragraph(text), TableBlock(header, tuple(rows))]


def _have(what: str) -> str:
    return "have" if what.endswith("s") else "has"


def _too_large(robot: Mechanism, why: str) -> ModelError:
    """The error for a robot whose derivation would be too long to read."""
    return ModelError(
        f"robot {robot.name!r} is too large for a derivation that can be read: {why}; take numbers for its parameters, "
        'parameters="numeric", if they are symbols; lock joints with robot.lock(...); have it in numbers at a state, '
        'line by line, derivation("newton-euler-numbers"); or its functions by named intermediate variables, '
        "robot.equations().intermediate()"
    )


def sample_state(robot: Mechanism, state: Any) -> tuple[Array, Array, Array]:
    """The user's state, or one of round numbers within the limits."""
    if state is None:
        rng = np.random.default_rng(1)
        q = np.clip(np.round(random_state(robot, rng), 2), robot.model.layout.lower, robot.model.layout.upper)
        qd, qdd = (np.round(rng.uniform(-1, 1, robot.nv), 1) for _ in range(2))
        return q, qd, qdd
    if not isinstance(state, (tuple, list)) or len(state) != 3:
        raise ShapeError(f"state must be three lists of numbers, (q, qd, qdd), got {state!r:.60}")
    q, qd, qdd = (
        read_argument(robot, "derivation", name, value) for name, value in zip(("q", "qd", "qdd"), state, strict=True)
    )
    for name, array in (("q", q), ("qd", qd), ("qdd", qdd)):
        if array.ndim != 1 or not np.isfinite(array).all():
            raise ShapeError(f"derivation: {name} must be one state of finite numbers, got shape {array.shape}")
    return q, qd, qdd
