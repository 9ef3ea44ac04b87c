"""The terms of the equations of motion as SymPy matrices, in the form that a textbook prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import sympy as sp

from chainrule.algorithms import friction
from chainrule.core.evaluation import require
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ModelError
from chainrule.lazy import cached_property
from chainrule.model import Dof, edits
from chainrule.spatial.scalar import is_zero
from chainrule.symbolic.algebra.ring import Element, to_matrix, to_sympy
from chainrule.symbolic.algebra.translation import expression_of
from chainrule.symbolic.answers.answer import Answer, read_answer
from chainrule.symbolic.closed_form.accelerations import TooLongError, accelerations, inverse_in_blocks
from chainrule.symbolic.closed_form.forms import Forms
from chainrule.symbolic.closed_form.named_matrix import NamedMatrix
from chainrule.symbolic.closed_form.size_estimate import MIN_JOINTS, QUANTITIES, SLACK, count_terms_of, round_count
from chainrule.symbolic.closed_form.symbol_table import SymbolTable
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel
from chainrule.symbolic.closed_form.terms import Terms
from chainrule.symbolic.closed_form.verification import check_term
from chainrule.symbolic.closed_form.wrenches import SymbolicWrench, with_wrenches

MAX_MATRIX_TERMS = 150_000
"""Terms of a matrix; a matrix with more is refused, since no one can read it."""

ARGUMENTS = {
    "M": ("q",), "C": ("q", "qd"), "c": ("q", "qd"), "centrifugal": ("q", "qd"), "coriolis": ("q", "qd"), "g": ("q",),
    "spring": ("q",), "friction": ("qd",), "h": ("q", "qd"), "external": ("q", "wrench"),
    "tau": ("q", "qd", "qdd", "wrench"), "accelerations": ("q", "qd", "tau", "wrench"),
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
    """tau = M(q) qdd + h(q, qd) (+ J^T F) of a robot, h = C qd + g + springs + friction, as SymPy matrices.

    q, qd and qdd are the symbols of the state; `parameters` the symbols of the robot, with their values.
    """

    SUBJECT = "the equations of motion"
    ARGUMENTS = ARGUMENTS
    MAIN_TERM = "tau"
    MAIN_TERMS = ("M", "c", "g")
    PARTS: ClassVar = {"tau": ("M", "c", "g"), "h": ("c", "g"), "accelerations": ("M", "c", "g")}

    robot: Mechanism
    symbolic: SymbolicModel
    simplify: bool = True
    wrenches: tuple[SymbolicWrench, ...] = ()
    """What the end-effector applies to its surroundings, and what acts on links."""
    notation: str = "chainrule"
    """The notation of documents."""
    coordinates: str = "q"
    """The letter of the coordinates."""

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
    def torques(self) -> list[sp.Symbol]:
        """The symbols tau_1, tau_2, .. of the torques, in which the accelerations are."""
        return self.symbolic.tau

    @property
    def wrench(self) -> list[sp.Symbol]:
        """Symbols of the wrenches, moment before force: that of the tip first, then those on links."""
        return [symbol for wrench in self.wrenches for symbol in wrench.symbols]

    @property
    def symbols(self) -> SymbolTable:
        """Symbols by name, such as symbols["L_2"]; shown as a table with the meaning, unit and number of each."""
        return with_wrenches(self.symbolic.symbols, self.wrenches, f"robot {self.robot.model.name!r}")

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
    def h(self) -> sp.ImmutableMatrix:
        """Everything but M qdd and wrenches: C qd + g + springs + friction, as in tau = M qdd + h: n by 1."""
        parts = (self.c, self.g, self.spring, self.friction)
        return self._verify("h", sp.ImmutableMatrix([sp.Add(*(part[i] for part in parts)) for i in range(len(self.q))]))

    @cached_property
    def external(self) -> sp.ImmutableMatrix:
        """Torques that the wrenches take: J^T F of that of the tip, less J^T W of those on links: n by 1."""
        q, _, _ = self.symbolic.state()
        tau: list[Any] = [0] * len(self.q)
        for wrench in self.wrenches:
            own = wrench.torque(self.symbolic.model, self.symbolic.ring, q)
            tau = [a + b for a, b in zip(tau, own, strict=True)]
        return self._verify("external", to_matrix(([x] for x in tau), self._shape))

    @cached_property
    def accelerations(self) -> sp.ImmutableMatrix:
        """Accelerations M^-1 (tau - h), less J^T F in the brackets, in the symbols `torques` of tau: n by 1.

        Joints that share no inertia are solved one by one. Refused where the inverse of M is too long to read.
        """
        require(self.robot, "forward_dynamics")
        self.refuse_long_terms("M", "c", "g")
        try:
            blocks = inverse_in_blocks(self.elements.M)
        except TooLongError as error:
            raise ModelError(
                f"the accelerations of robot {self.robot.model.name!r} in closed form {error}, which nobody can read; "
                'take them with named intermediate variables, robot.equations(...).intermediate("forward_dynamics"), '
                "or with numbers for parameters, or lock joints with robot.lock(...)"
            ) from None
        known = zip(self.torques, self.h, self.external, strict=True)
        driving = [tau - h - external for tau, h, external in known]
        found = sp.ImmutableMatrix(accelerations(blocks, driving, self._shape))
        return self._verify("accelerations", found)

    def check(
        self, name: str, mine: Any, *, symbols: Mapping[Any, Any] | None = None, rows: Sequence[int] | None = None
    ) -> Answer:
        """Compare an answer with a term, as of all equations; any C with the right C qd is right."""
        answer = super().check(name, mine, symbols=symbols, rows=rows)
        if name != "C" or answer or rows is not None:
            return answer
        product = sp.Matrix(read_answer(mine, name)) * sp.Matrix(self.qd)
        if not super().check("c", product, symbols=symbols):
            return answer
        note = "another matrix than Christoffel's, with the same C qd: dM/dt - 2 C is not skew-symmetric"
        return replace(answer, differences=(), notes=(note,))

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
        check_term(name, found, self.symbolic, self._other_values, self.wrenches)
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
