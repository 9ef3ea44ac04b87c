"""The equations of motion of a robot in closed form, and the forms in which they can be written."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword
from typing import Any

import numpy as np
import sympy as sp

from chainrule.arguments import Array, number, rows_of
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ModelError, UnknownNameError
from chainrule.symbolic.algebra.ring import prune, to_sympy
from chainrule.symbolic.closed_form.base_parameters import TermsInBaseParameters, base_parameters
from chainrule.symbolic.closed_form.intermediate import Intermediate, intermediate
from chainrule.symbolic.closed_form.matrices import Matrices
from chainrule.symbolic.closed_form.summary import outline, summary
from chainrule.symbolic.closed_form.symbolic_model import symbolic_model
from chainrule.symbolic.closed_form.terms import Terms
from chainrule.symbolic.documents import printing

MAX_SHOWN_JOINTS = 3
"""Joints of a robot whose equations a notebook shows in full: those of more are long, and take long."""


def equations(
    robot: Mechanism, parameters: str | Mapping[Any, Any] = "symbolic", *, simplify: bool = True
) -> Equations:
    """The equations of motion of a robot in closed form: SymPy matrices M, C, g, tau and others.

    Parameters
    ----------
    robot
        The robot. Loops and joints with quaternions have no closed form.
    parameters
        "symbolic", names for masses, lengths, inertias and angles; "numeric", their numbers; or a dictionary that
        replaces some of the names by numbers or by other names.
    simplify
        Factor the coefficients, which takes time if they are long.
    """
    if not robot.model.nv:
        raise ModelError(f"robot {robot.model.name!r} has no degrees of freedom, and so no equations of motion")
    robot.require("mass_matrix")
    return Equations(robot, symbolic_model(robot.merged, parameters), simplify)


@dataclass(frozen=True, eq=False, repr=False)
class Equations(Matrices):
    """tau = M(q) qdd + C(q, qd) qd + g(q) + springs + friction, as SymPy matrices.

    q, qd and qdd are the symbols of the state; `parameters` the symbols of the robot, with their values.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").equations()
    >>> arm.g[1], arm.c[1]
    (L_2*g*m_2*cos(q_1 + q_2), L_1*L_2*m_2*qdot_1**2*sin(q_2))
    """

    def disagreement(self) -> list[sp.Expr]:
        """Torques by Lagrange less those by Newton and Euler: zeros, exact ones if parameters are symbols."""
        self.refuse_long_terms("tau")
        pairs = zip(self.elements.lagrange, self.elements.newton_euler, strict=True)
        return [to_sympy(prune(a - b), None) for a, b in pairs]

    # --- other forms ---

    def in_base_parameters(self) -> EquationsInBaseParameters:
        """Equations in base parameters, the few combinations of parameters that the motion depends on."""
        self.refuse_long_terms("M", "g")
        base = base_parameters(self.symbolic, self.elements)
        kept = self.spring.free_symbols | self.friction.free_symbols | {sp.Symbol("g", positive=True)}
        others = {s: value for s, value in self.symbolic.parameters.items() if s in kept}
        symbolic = replace(self.symbolic, parameters={**base.values, **others})
        terms = TermsInBaseParameters(self.symbolic, base)
        return EquationsInBaseParameters(self.robot, symbolic, self.simplify, base.definitions, terms)

    grouped = in_base_parameters

    def intermediate(self, *functions: str) -> Intermediate:
        """Functions of the robot by named intermediate variables, as the algorithms compute them.

        Names are those of robot.kernel: "mass_matrix", "inverse_dynamics", "gravity_torque" and so on.
        """
        return intermediate(self.robot, self.symbolic, functions or ("inverse_dynamics",))

    @property
    def operations(self) -> dict[str, int]:
        """Number of additions, multiplications, sines and cosines in M, c and g, common subexpressions counted once."""
        shared, reduced = self.cse()
        whole = [expression for _, expression in shared]
        whole += [entry for matrix in reduced.values() for entry in matrix]
        return count_operations(whole)

    def cse(self, *names: str) -> tuple[list[tuple[sp.Symbol, sp.Expr]], dict[str, sp.Matrix]]:
        """Common subexpressions of the named terms, and the terms in them; M, c and g by default."""
        chosen = names or ("M", "c", "g")
        matrices = [self.term(name) for name in chosen]
        shared, reduced = sp.cse(list(matrices), symbols=self._new_symbols())
        return shared, dict(zip(chosen, reduced, strict=True))

    def _new_symbols(self) -> Iterator[sp.Symbol]:
        """Names for common subexpressions that no parameter has."""
        taken = {symbol.name for symbol in self.parameters}
        return (symbol for symbol in sp.numbered_symbols("x_") if symbol.name not in taken)

    def lambdify(self, name: str = "tau", parameters: Mapping[Any, float] | None = None) -> Callable[..., Array]:
        """A NumPy function of (q, qd, qdd) for a term, batched over leading dimensions.

        `parameters`, by symbol or name, replace values of the robot.
        """
        values = {str(symbol): value for symbol, value in self.parameters.items()}
        for key, value in (parameters or {}).items():
            if str(key) not in values:
                raise UnknownNameError.of("parameter", str(key), values, "the equations of motion")
            values[str(key)] = number(value, f"the parameter {key}")
        matrix = self.term(name)
        symbols = [*self.q, *self.qd, *self.qdd, *self.parameters]
        safe = _safe_symbols(symbols)
        entries = [x.xreplace(safe) for x in matrix]
        function = sp.lambdify([safe.get(s, s) for s in symbols], entries, modules="numpy", cse=True)
        n, shape = len(self.q), (matrix.rows,) if matrix.cols == 1 else matrix.shape
        order = [values[str(symbol)] for symbol in self.parameters]

        def evaluate(q: Any, qd: Any = None, qdd: Any = None) -> Array:
            state = {"q": q, "qd": qd, "qdd": qdd}
            parts = [np.zeros(n) if x is None else rows_of(x, n, key, "the joints") for key, x in state.items()]
            arguments = [part[..., i] for part in parts for i in range(n)]
            batch = np.broadcast_shapes(*(a.shape for a in arguments))
            entries = function(*arguments, *order)
            return np.stack([np.broadcast_to(e, batch) for e in entries], axis=-1).reshape((*batch, *shape))

        return evaluate

    # --- text ---

    def latex(self, name: str = "tau", *, shorthand: bool = False) -> str:
        """LaTeX of a term; `shorthand` writes c_1 and s_12 for cosines and sines."""
        return printing.latex(self._printable(name, shorthand))

    def mathml(self, name: str = "tau", *, shorthand: bool = False) -> str:
        """Presentation MathML of a term."""
        return printing.mathml(self._printable(name, shorthand))

    def pretty(self, name: str = "tau", *, shorthand: bool = False) -> str:
        """Unicode text of a term."""
        return printing.pretty(self._printable(name, shorthand))

    def _printable(self, name: str, shorthand: bool) -> sp.ImmutableMatrix:
        if not shorthand:
            return self.term(name)
        return printing.abbreviate(self.term(name), self.q, (symbol.name for symbol in self.parameters))

    def __str__(self) -> str:
        return summary(self).text()

    def _repr_html_(self) -> str:
        return (summary(self) if self._is_short() else outline(self))._repr_html_()

    def _repr_latex_(self) -> str | None:
        return rf"$\displaystyle \tau = {self.latex()}$" if self._is_short() else None

    def _is_short(self) -> bool:
        """Whether a notebook shows the terms themselves: those of few joints, which take no time."""
        return len(self.q) <= MAX_SHOWN_JOINTS

    def __repr__(self) -> str:
        size = f"{len(self.q)} degrees of freedom, {len(self.parameters)} parameters"
        return f"<Equations of motion of {self.robot.model.name!r}: {size}>"


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

    def refuse_long_terms(self, *names: str) -> None:
        """Refuse nothing: M and g are there."""

    @property
    def _other_values(self) -> dict[sp.Symbol, float]:
        """Numbers of the robot's own symbols, in which the energies are."""
        return {} if self.terms is None else self.terms.symbolic.parameters

    def intermediate(self, *functions: str) -> Intermediate:
        """Refused: the algorithms compute with masses and lengths, not with base parameters."""
        raise ModelError("intermediate variables are made of the robot's own parameters: take them before grouped()")


Grouped = EquationsInBaseParameters


def _safe_symbols(symbols: Sequence[sp.Symbol]) -> dict[sp.Symbol, sp.Symbol]:
    """Other symbols for those whose names mean something to Python or NumPy, such as lambda and sin."""
    taken = {symbol.name for symbol in symbols}
    found = {}
    for symbol in symbols:
        name = symbol.name
        while iskeyword(name) or hasattr(np, name) or hasattr(builtins, name) or name.startswith("_"):
            name = f"v_{name}"
            while name in taken:
                name = f"{name}_"
        if name != symbol.name:
            taken.add(name)
            found[symbol] = sp.Symbol(name, **symbol.assumptions0)
    return found


def count_operations(expressions: Sequence[sp.Expr]) -> dict[str, int]:
    """Numbers of additions, multiplications (divisions and powers included), sines and cosines in expressions."""
    visual = sp.Add(*(sp.count_ops(e, visual=True) for e in expressions))
    found = {str(term.as_coeff_Mul()[1]): int(term.as_coeff_Mul()[0]) for term in sp.Add.make_args(visual)}
    found.pop("1", None)
    trigonometric = sum(found.pop(name, 0) for name in ("SIN", "COS"))
    additions = sum(found.pop(name, 0) for name in ("ADD", "SUB", "NEG"))
    multiplications = sum(found.pop(name, 0) for name in ("MUL", "DIV", "POW"))
    return {
        "additions": additions, "multiplications": multiplications, "trigonometric": trigonometric,
        "total": additions + multiplications + trigonometric + sum(found.values()),
    }  # fmt: skip
