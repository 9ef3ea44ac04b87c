"""The equations of motion of a robot in closed form, and the forms in which they can be written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import sympy as sp

from chainrule.arguments import one_of
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import require
from chainrule.core.mechanism import Mechanism
from chainrule.core.unit_report import UnitReport
from chainrule.display.text import Advised, in_a_line
from chainrule.errors import ModelError
from chainrule.lazy import cached_property
from chainrule.symbolic.algebra.ring import to_sympy
from chainrule.symbolic.closed_form.base_parameters import TermsInBaseParameters, base_parameters
from chainrule.symbolic.closed_form.choices import Choices
from chainrule.symbolic.closed_form.intermediate import Intermediate, intermediate
from chainrule.symbolic.closed_form.matrices import Matrices
from chainrule.symbolic.closed_form.summary import outline, summary
from chainrule.symbolic.closed_form.symbol_table import NamedSymbol, SymbolTable
from chainrule.symbolic.closed_form.symbolic_model import symbolic_model
from chainrule.symbolic.closed_form.terms import Terms
from chainrule.symbolic.closed_form.wrenches import symbolic_wrenches, with_wrenches
from chainrule.symbolic.documents.document import Document
from chainrule.symbolic.documents.notation import NOTATIONS

if TYPE_CHECKING:
    from chainrule.symbolic.closed_form.matrix_form import SymbolicMatrixForm

MAX_SHOWN_JOINTS = 3
"""Joints of a robot whose equations a notebook shows in full: those of more are long, and take long."""


def equations(
    robot: Mechanism,
    parameters: str | Mapping[Any, Any] = "symbolic",
    *,
    symbols: Mapping[Any, Any] | None = None,
    simplify: bool = True,
    tip_wrench: Any = None,
    external: Any = None,
    frame: str | None = None,
    notation: str = "chainrule",
    coordinates: str = "q",
    positive: bool = True,
) -> Equations:
    """The equations of motion of a robot in closed form: SymPy matrices M, C, g, h, tau, accelerations and others.

    Parameters
    ----------
    robot
        The robot. Loops and joints with quaternions have no closed form.
    parameters
        "symbolic", names for masses, lengths, inertias and angles; "numeric", their numbers; or a dictionary that
        replaces some of the names by numbers or by other names.
    symbols
        Symbols of your own, by the names that they replace: {"q_1": theta, "L_1": sympy.Symbol("a")}. The rates of
        theta are thetadot and thetaddot.
    simplify
        Factor the coefficients, which takes time if they are long.
    tip_wrench
        True for a wrench F that the end-effector applies to its surroundings, whose torques J^T F are in the term
        `external` of tau: (m_x, m_y, m_z, f_x, f_y, f_z). Six numbers instead say which components are not zero.
    external
        Wrenches that act on links: True for all moving links, names of links or frames, or a dictionary from these to
        six numbers. That on link 2 is (m_e2x, .., f_e2z).
    frame
        Of the wrenches: "world" by default, "body" or "space", as of robot.inverse_dynamics.
    notation
        Of documents: "chainrule", "craig", "lynch-park" or "duindam".
    coordinates
        The letter of the coordinates, such as "theta".
    positive
        Whether masses and lengths are positive symbols and all others real ones, or plain ones like
        sympy.Symbol("m_1").
    """
    if not robot.model.nv:
        raise ModelError(f"robot {robot.model.name!r} has no degrees of freedom, and so no equations of motion")
    require(robot, "mass_matrix")
    one_of(NOTATIONS, notation, "notation")
    choices = Choices.for_call(robot.model.nv, parameters, symbols, coordinates, positive=positive)
    wrenches = symbolic_wrenches(robot, tip_wrench, external, frame, plain=not positive)
    return Equations(robot, symbolic_model(merged_model(robot), choices), simplify, wrenches, notation, coordinates)


@dataclass(frozen=True, eq=False, repr=False)
class Equations(Advised, Matrices):
    """tau = M(q) qdd + h(q, qd) (+ J^T F), with h = C qd + g + springs + friction, as SymPy matrices.

    q, qd and qdd are the symbols of the state; `parameters` the symbols of the robot, with their values; `symbols` is
    the table of both by name. `subs` puts numbers or other symbols in for some.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").equations()
    >>> arm.g[1], arm.c[1]
    (L_2*g*m_2*cos(q_1 + q_2), L_1*L_2*m_2*qdot_1**2*sin(q_2))
    """

    @cached_property
    def matrix_form(self) -> SymbolicMatrixForm:
        """The stacked matrices S, A, L, J, M, C of all links in symbols; printed, a view in blocks."""
        from chainrule.symbolic.closed_form.matrix_form import symbolic_matrix_form

        return symbolic_matrix_form(self)

    def disagreement(self) -> list[sp.Expr]:
        """Torques by Lagrange less those by Newton and Euler: zeros, exact ones if parameters are symbols."""
        self.refuse_long_terms("tau")
        pairs = zip(self.elements.lagrange, self.elements.newton_euler, strict=True)
        return [to_sympy(a - b) for a, b in pairs]

    def check_units(self) -> UnitReport:
        """The unit of each entry of each term, from the units of the symbols, as a table; `.ok` if all are right.

        >>> import chainrule as cr
        >>> cr.load("pendulum").equations().check_units()
        Units of the equations of motion of robot 'pendulum'
        term              of            unit    ok
        M                 hinge, hinge  kg m^2  yes
        c                 hinge         zero    yes
        g                 hinge         N m     yes
        spring            hinge         zero    yes
        friction          hinge         zero    yes
        external          hinge         zero    yes
        tau               hinge         N m     yes
        kinetic energy    robot         J       yes
        potential energy  robot         J       yes
        """
        from chainrule.symbolic.closed_form.unit_check import check_units

        return check_units(self)

    # --- other forms ---

    def in_base_parameters(self) -> EquationsInBaseParameters:
        """Equations in base parameters, the few combinations of parameters that the motion depends on."""
        self.refuse_long_terms("M", "g")
        base = base_parameters(self.symbolic, self.elements)
        kept = self.spring.free_symbols | self.friction.free_symbols | self.external.free_symbols
        kept |= {self.symbols.get("g")}
        others = {s: value for s, value in self.symbolic.parameters.items() if s in kept}
        symbolic = replace(self.symbolic, parameters={**base.values, **others})
        terms = TermsInBaseParameters(self.symbolic, base)
        return EquationsInBaseParameters(
            self.robot, symbolic, self.simplify, self.wrenches, self.notation, self.coordinates, base.definitions, terms
        )

    def intermediate(self, *functions: str) -> Intermediate:
        """Functions of the robot by named intermediate variables, as the algorithms compute them.

        Names are those of robot.compiled.kernel: "mass_matrix", "inverse_dynamics", "gravity_torque" and so on.
        """
        return intermediate(self.robot, self.symbolic, functions or ("inverse_dynamics",))

    # --- text ---

    def document(self, *, shorthand: bool = False, terms: Sequence[str] | None = None) -> Document:
        """All terms and the parameters as a document, to be saved as LaTeX, HTML and others.

        `terms` are the names of those that are wanted, such as ["h", "accelerations"]; M, c, g and so on by default.
        """
        return summary(self, shorthand=shorthand, terms=terms)

    def __str__(self) -> str:
        return self.document().text()

    def _repr_html_(self) -> str:
        return (summary(self) if self._is_short() else outline(self))._repr_html_()

    def _repr_latex_(self) -> str | None:
        return rf"$\displaystyle \tau = {self.latex()}$" if self._is_short() else None

    def _is_short(self) -> bool:
        """Whether a notebook shows the terms themselves: those of few joints, which take no time."""
        return len(self.q) <= MAX_SHOWN_JOINTS

    def __repr__(self) -> str:
        size = f"{len(self.q)} degrees of freedom, {len(self.parameters)} parameters"
        return in_a_line(f"<Equations of motion of {self.robot.model.name!r}: {size}>")


@dataclass(frozen=True, eq=False, repr=False)
class EquationsInBaseParameters(Equations):
    """Equations of motion in base parameters; `definitions` says what these are."""

    base: tuple[tuple[sp.Symbol, sp.Expr], ...] = ()
    terms: Terms | None = None

    @property
    def definitions(self) -> dict[sp.Symbol, sp.Expr]:
        """Each base parameter in the robot's own symbols."""
        return dict(self.base)

    @property
    def elements(self) -> Terms:
        """Terms in canonical form, as elements of the ring."""
        assert self.terms is not None
        return self.terms

    @property
    def symbols(self) -> SymbolTable:
        """Symbols of the state, base parameters, and parameters of springs, friction and gravity, by name."""
        own = [
            entry for entry in self.symbolic.symbols.entries if entry.value is None or entry.symbol in self.parameters
        ]
        base = [
            NamedSymbol(symbol.name, symbol, str(meaning), "", self.parameters[symbol]) for symbol, meaning in self.base
        ]
        table = SymbolTable([*own, *base], f"robot {self.robot.model.name!r} in base parameters")
        return with_wrenches(table, self.wrenches, f"robot {self.robot.model.name!r} in base parameters")

    def subs(self, old: Any, new: Any = None) -> Self:
        """Refused: base parameters are combinations of the symbols that could be replaced."""
        raise ModelError(
            "symbols are replaced before base parameters are made of them: equations.subs(...).in_base_parameters()"
        )

    def refuse_long_terms(self, *names: str) -> None:
        """Refuse nothing: M and g are there."""

    @property
    def _other_values(self) -> dict[sp.Symbol, float]:
        """Numbers of the robot's own symbols, in which the energies are."""
        return {} if self.terms is None else self.terms.symbolic.parameters

    def intermediate(self, *functions: str) -> Intermediate:
        """Refused: the algorithms compute with masses and lengths, not with base parameters."""
        raise ModelError(
            "intermediate variables are made of the robot's own parameters: take them before in_base_parameters()"
        )
