"""The terms of the equations of motion as SymPy matrices, in the form that a textbook prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import sympy as sp

from chainrule.algorithms import friction, statics
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link
from chainrule.errors import ModelError
from chainrule.lazy import cached_property
from chainrule.model import Dof, edits
from chainrule.spatial import Wrench
from chainrule.spatial.scalar import is_zero
from chainrule.symbolic.algebra.ring import Element, to_matrix, to_sympy
from chainrule.symbolic.algebra.translation import expression_of
from chainrule.symbolic.closed_form.forms import Forms
from chainrule.symbolic.closed_form.named_matrix import NamedMatrix
from chainrule.symbolic.closed_form.size_estimate import MIN_JOINTS, QUANTITIES, SLACK, count_terms_of, round_count
from chainrule.symbolic.closed_form.symbol_table import NamedSymbol, SymbolTable
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel
from chainrule.symbolic.closed_form.terms import Terms
from chainrule.symbolic.closed_form.verification import TipLoad, check_term

MAX_MATRIX_TERMS = 150_000
"""Terms of a matrix; a matrix with more is refused, since no one can read it."""

WRENCH = ("m_x", "m_y", "m_z", "f_x", "f_y", "f_z")
"""Names of the wrench at the tip: its moment and its force."""

ARGUMENTS = {
    "M": ("q",), "C": ("q", "qd"), "c": ("q", "qd"), "centrifugal": ("q", "qd"), "coriolis": ("q", "qd"), "g": ("q",),
    "spring": ("q",), "friction": ("qd",), "external": ("q", "wrench"), "tau": ("q", "qd", "qdd", "wrench"),
}  # fmt: skip
"""Term of the equations of motion -> its arguments."""


@dataclass(frozen=True)
class SymbolicLaw:
    """A friction function of SymPy's symbols, written as it is, jumps included."""

    law: Any
    jumps: ClassVar[bool] = False

    @property
    def fingerprint(self) -> str:
        """Digest of the law."""
        return str(self.law.fingerprint)

    def __call__(self, q: Any, qd: Any) -> sp.Expr:
        """The law as an expression."""
        return expression_of(self.law.traced.tape, ([q], [qd]))


@dataclass(frozen=True, eq=False, repr=False)
class Matrices(Forms):
    """tau = M(q) qdd + C(q, qd) qd + g(q) + springs + friction (+ J^T F) of a robot, as SymPy matrices.

    q, qd and qdd are the symbols of the state; `parameters` the symbols of the robot, with their values.
    """

    SUBJECT = "the equations of motion"
    ARGUMENTS = ARGUMENTS
    MAIN_TERM = "tau"
    MAIN_TERMS = ("M", "c", "g")
    PARTS: ClassVar = {"tau": ("M", "c", "g")}

    robot: Mechanism
    symbolic: SymbolicModel
    simplify: bool = True
    tip_wrench: str | None = None
    """The axes of the wrench that the end-effector applies to its surroundings; None where there is none."""

    # --- symbols ---

    @property
    def q(self) -> list[sp.Symbol]:
        """Coordinates."""
        return self.symbolic.q

    @property
    def qd(self) -> list[sp.Symbol]:
        """Velocities."""
        return self.symbolic.qd

    @property
    def qdd(self) -> list[sp.Symbol]:
        """Accelerations."""
        return self.symbolic.qdd

    @property
    def wrench(self) -> list[sp.Symbol]:
        """Moment and force that the end-effector applies to its surroundings; none unless there is a `tip_wrench`."""
        return [] if self.tip_wrench is None else [sp.Symbol(name, real=True) for name in WRENCH]

    @property
    def symbols(self) -> SymbolTable:
        """Symbols by name, such as symbols["L_2"]; shown as a table with the meaning, unit and number of each."""
        if self.tip_wrench is None:
            return self.symbolic.symbols
        words = {"m": ("N m", "moment"), "f": ("N", "force")}
        entries = [
            NamedSymbol(s.name, s, f"{words[s.name[0]][1]} of the tip on its surroundings along {s.name[-1]}, "
                        f"{self.tip_wrench} axes", words[s.name[0]][0])
            for s in self.wrench
        ]  # fmt: skip
        return SymbolTable([*self.symbolic.symbols.entries, *entries], f"robot {self.robot.model.name!r}")

    @property
    def parameters(self) -> dict[sp.Symbol, float]:
        """Symbols of the robot, and the numbers they stand for, in SI units."""
        return self.symbolic.parameters

    # --- terms ---

    @cached_property
    def elements(self) -> Terms:
        """Terms in canonical form, as elements of the ring."""
        return Terms(self.symbolic)

    @cached_property
    def M(self) -> sp.ImmutableMatrix:
        """Mass matrix, rotors included, with its entries collected by masses: n by n."""
        masses = [symbol for name, symbol in self.symbolic.symbols.items() if name.startswith("m_")]
        M = self._matrix("M")
        M = M.applyfunc(lambda entry: sp.collect(entry, masses)) if masses and self.simplify else M
        return self._verify("M", M)

    @cached_property
    def C(self) -> sp.ImmutableMatrix:
        """Christoffel's matrix, with dM/dt - 2 C skew-symmetric: n by n."""
        return self._verify("C", self._matrix("C"))

    @cached_property
    def c(self) -> sp.ImmutableMatrix:
        """Velocity torques C qd, centrifugal and Coriolis: n by 1."""
        return self._verify("c", self._matrix("c"))

    @cached_property
    def centrifugal(self) -> sp.ImmutableMatrix:
        """The part of c in squares of velocities: n by 1."""
        return self._verify("centrifugal", self._matrix("centrifugal"))

    @cached_property
    def coriolis(self) -> sp.ImmutableMatrix:
        """The part of c in products of two velocities: n by 1."""
        return self._verify("coriolis", self._matrix("coriolis"))

    @cached_property
    def g(self) -> sp.ImmutableMatrix:
        """Gravity torques: n by 1."""
        return self._verify("g", self._matrix("g"))

    @cached_property
    def spring(self) -> sp.ImmutableMatrix:
        """Spring torques: n by 1."""
        return self._verify("spring", self._matrix("spring"))

    @cached_property
    def friction(self) -> sp.ImmutableMatrix:
        """Torques of friction, dry friction being zero at rest: n by 1."""
        model = edits.map_dofs(self.symbolic.model, self._dof_in_symbols)
        smooth = friction.smooth_friction(model, self.q, self.qd)
        levels = friction.sliding_levels(model, self.q, self.qd)
        rows = []
        for v, up, down, rate in zip(smooth, *levels, self.qd, strict=True):
            plus, minus = sp.sympify(up), sp.sympify(down)
            by_direction = sp.Piecewise((plus, rate > 0), (-minus, rate < 0), (0, True))
            dry = plus * sp.sign(rate) if plus == minus else by_direction
            rows.append([sp.sympify(v) + dry])
        return self._verify("friction", sp.ImmutableMatrix(rows))

    @cached_property
    def external(self) -> sp.ImmutableMatrix:
        """Torques J^T F of the wrench at the tip, zero where there is none: n by 1."""
        if self.tip_wrench is None:
            return sp.ImmutableMatrix.zeros(len(self.q), 1)
        q, _, _ = self.symbolic.state()
        F = Wrench.of([self.symbolic.ring.variable(s) for s in self.wrench])
        tau = statics.static_torque(self.symbolic.model, q, find_link(self.robot), F, self.tip_wrench)
        return self._verify("external", to_matrix(([x] for x in tau), self._shape))

    def arguments_of(self, name: str) -> tuple[str, ...]:
        """The arguments of a term, among q, qd, qdd and wrench."""
        if name == "friction" and self.symbolic.model.friction_depends_on_position:
            return ("q", "qd")
        return super().arguments_of(name)

    def _dof_in_symbols(self, dof: Dof) -> Dof:
        """Properties of a joint as SymPy expressions; zeros of the structure stay plain."""
        law = dof.friction_function and SymbolicLaw(dof.friction_function)
        known = dof.map(lambda x, _: x if is_zero(x) else to_sympy(x, self._shape), "rad")
        return replace(known, friction_function=law)

    @cached_property
    def kinetic_energy(self) -> sp.Expr:
        """Kinetic energy, in J."""
        return self._verify("kinetic_energy", self._scalar("kinetic_energy", "kinetic"))

    @cached_property
    def potential_energy(self) -> sp.Expr:
        """Potential energy of gravity and springs, in J."""
        return self._verify("potential_energy", self._scalar("potential_energy", "potential"))

    @cached_property
    def tau(self) -> sp.ImmutableMatrix:
        """Torques, each ordered by accelerations, velocities, gravity, springs, friction and wrench: n by 1."""
        self.refuse_long_terms("M", "c", "g")
        inertial = [_times_accelerations(self.M.row(i), self.qdd) for i in range(len(self.q))]
        parts = (self.c, self.g, self.spring, self.friction, self.external)
        tau = sp.ImmutableMatrix([sum((p[i] for p in parts), start=inertial[i]) for i in range(len(self.q))])
        return self._verify("tau", tau)

    def refuse_long_terms(self, *names: str) -> None:
        """Refuse the named terms if they would have too many terms, by an estimate, before they are computed."""
        for name in names:
            if name not in self._estimates:
                few = len(self.q) < MIN_JOINTS or name not in QUANTITIES
                self._estimates[name] = 0 if few else count_terms_of(name, self.symbolic, MAX_MATRIX_TERMS)
            if self._estimates[name] > SLACK * MAX_MATRIX_TERMS:
                raise self._too_long(name, f"would have about {round_count(self._estimates[name])} terms")

    @cached_property
    def _estimates(self) -> dict[str, int]:
        """Estimated numbers of terms, by name."""
        return {}

    def _too_long(self, name: str, size: str) -> ModelError:
        return ModelError(
            f"{name} of robot {self.robot.model.name!r} {size}, which nobody can read; take it with named intermediate "
            "variables, robot.equations(...).intermediate(), or with numbers for parameters, or lock joints with "
            "robot.lock(...)"
        )

    def _matrix(self, name: str) -> sp.ImmutableMatrix:
        self.refuse_long_terms(name)
        entries = getattr(self.elements, name)
        rows = [x if isinstance(x, list) else [x] for x in entries]
        self._refuse_size(name, [x for row in rows for x in row])
        return to_matrix(rows, self._shape)

    def _scalar(self, name: str, attribute: str) -> sp.Expr:
        self.refuse_long_terms(name)
        element = getattr(self.elements, attribute)
        self._refuse_size(name, [element])
        return to_sympy(element, self._shape)

    def _refuse_size(self, name: str, entries: Sequence[Any]) -> None:
        size = sum(len(x.terms) for x in entries if isinstance(x, Element))
        if size > MAX_MATRIX_TERMS:
            raise self._too_long(name, f"has {size} terms")

    def _verify(self, name: str, found: Any) -> Any:
        """The term, if it agrees with the robot's own function at random states; refused otherwise."""
        load = None if self.tip_wrench is None else TipLoad(find_link(self.robot), self.tip_wrench, self.wrench)
        check_term(name, found, self.symbolic, self._other_values, load)
        return NamedMatrix.of(found, self.symbols) if isinstance(found, sp.MatrixBase) else found

    @property
    def _other_values(self) -> dict[sp.Symbol, float]:
        """Numbers of symbols that are not among the parameters."""
        return {}

    @property
    def _shape(self) -> Callable[[sp.Expr], sp.Expr] | None:
        """The function that is applied to each coefficient: factoring by default, none without `simplify`."""
        return None if self.simplify else lambda coefficient: coefficient


def _times_accelerations(row: sp.Matrix, qdd: Sequence[sp.Symbol]) -> sp.Expr:
    """A row of the mass matrix times the accelerations; those with the same inertia are added up first."""
    groups: dict[sp.Expr, list[sp.Symbol]] = {}
    for inertia, acceleration in zip(row, qdd, strict=True):
        groups.setdefault(inertia, []).append(acceleration)
    return sp.Add(*(
        inertia * group[0] if len(group) == 1 else sp.Mul(inertia, sp.Add(*group), evaluate=False)
        for inertia, group in groups.items()
        if inertia != 0
    ))  # fmt: skip
