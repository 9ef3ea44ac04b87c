"""The equations of motion of a robot, written out.

The library's algorithms run on trigonometric polynomials instead of numbers; what comes out is brought to the form a
textbook prints: M by the composite-rigid-body algorithm, C by Christoffel's symbols from it, gravity by the recursive
Newton-Euler algorithm. Lagrange's equations, from the energies, give the same torques, which `disagreement` shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from chainrule.algorithms import crba, energy, joint_forces, rnea, vector_form
from chainrule.arguments import Array, rows_of
from chainrule.errors import ModelError, UnknownNameError
from chainrule.model import edits
from chainrule.symbolic.algebra.naming import SymbolicModel, symbolic_model
from chainrule.symbolic.algebra.ring import Element, pruned, written

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.symbolic.closed_form.base_parameters import Grouped
    from chainrule.symbolic.closed_form.intermediate import Intermediate

READABLE = 200_000
"""Terms beyond which a matrix is not turned into one expression."""


def equations(robot: Robot, parameters: str | Mapping[Any, Any] = "symbolic", *, simplify: bool = True) -> Equations:
    """The equations of motion of a robot; `simplify` factors coefficients, which takes time in large ones."""
    if not robot.nv:
        raise ModelError(f"robot {robot.name!r} has no degrees of freedom, and so no equations of motion")
    robot._require_masses("mass_matrix")
    model = symbolic_model(edits.merge_fixed(robot.model), parameters)
    return Equations(robot, model, simplify)


@dataclass(frozen=True, eq=False, repr=False)
class Equations:
    """tau = M(q) qdd + C(q, qd) qd + g(q) + springs + friction, as SymPy matrices.

    q, qd and qdd are the symbols of the state; `parameters` the symbols of the robot, with their values.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").equations()
    >>> arm.g[1], arm.c[1]
    (L_2*g*m_2*cos(q_1 + q_2), L_1*L_2*m_2*qdot_1**2*sin(q_2))
    """

    robot: Robot
    symbolic: SymbolicModel
    simplify: bool = True

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
    def parameters(self) -> dict[sp.Symbol, float]:
        """The robot's own symbols, and the numbers they stand for, in SI units."""
        return self.symbolic.parameters

    # --- the terms as elements of the ring ---

    @cached_property
    def elements(self) -> Terms:
        """The terms in canonical form, before they are written as SymPy expressions."""
        return Terms(self.symbolic)

    # --- the terms as SymPy matrices ---

    @cached_property
    def M(self) -> sp.ImmutableMatrix:
        """The mass matrix, rotors included: n by n, its entries gathered by masses."""
        masses = [symbol for symbol in self.parameters if str(symbol).startswith("m_")]
        M = self._matrix(self.elements.M)
        return M.applyfunc(lambda entry: sp.collect(entry, masses)) if masses and self.simplify else M

    @cached_property
    def C(self) -> sp.ImmutableMatrix:
        """Christoffel's matrix: n by n, with dM/dt - 2 C skew-symmetric."""
        return self._matrix(self.elements.C)

    @cached_property
    def c(self) -> sp.ImmutableMatrix:
        """Velocity torques C qd, centrifugal and Coriolis: n by 1."""
        return self._matrix([[x] for x in self.elements.c])

    @cached_property
    def centrifugal(self) -> sp.ImmutableMatrix:
        """The part of c in squares of velocities."""
        return self._matrix([[x] for x in self.elements.centrifugal])

    @cached_property
    def coriolis(self) -> sp.ImmutableMatrix:
        """The part of c in products of two velocities."""
        return self._matrix([[x] for x in self.elements.coriolis])

    @cached_property
    def g(self) -> sp.ImmutableMatrix:
        """Gravity torques: n by 1."""
        return self._matrix([[x] for x in self.elements.g])

    @cached_property
    def spring(self) -> sp.ImmutableMatrix:
        """Spring torques: n by 1."""
        return self._matrix([[x] for x in self.elements.spring])

    @cached_property
    def friction(self) -> sp.ImmutableMatrix:
        """Viscous and Coulomb friction: n by 1."""
        model = self.symbolic.model
        viscous = joint_forces.viscous_torque(model, self.elements.qd)
        up, down = joint_forces.coulomb_limits(model)
        rows = []
        for v, a, b, rate in zip(viscous, up, down, self.qd, strict=True):
            plus, minus = written(a, self._shape), written(b, self._shape)
            apart = sp.Piecewise((plus, rate > 0), (-minus, rate < 0), (0, True))
            dry = plus * sp.sign(rate) if plus == minus else apart
            rows.append([written(v, self._shape) + dry])
        return sp.ImmutableMatrix(rows)

    @cached_property
    def kinetic_energy(self) -> sp.Expr:
        """In J."""
        return written(self.elements.kinetic, self._shape)

    @cached_property
    def potential_energy(self) -> sp.Expr:
        """Of gravity and springs, in J."""
        return written(self.elements.potential, self._shape)

    @cached_property
    def tau(self) -> sp.ImmutableMatrix:
        """The torques: n by 1, each grouped by accelerations, velocities, gravity, springs and friction."""
        inertial = self.M * sp.Matrix(self.qdd)
        parts = (self.c, self.g, self.spring, self.friction)
        return sp.ImmutableMatrix([sum((p[i] for p in parts), start=inertial[i]) for i in range(len(self.q))])

    def _matrix(self, rows: Sequence[Sequence[Any]]) -> sp.ImmutableMatrix:
        size = sum(len(x.terms) for row in rows for x in row if isinstance(x, Element))
        if size > READABLE:
            raise ModelError(
                f"this matrix of robot {self.robot.name!r} has {size} terms, which nobody can read; take it with named "
                "intermediate variables, robot.equations(...).intermediate(), or with numbers for parameters, or lock "
                "joints with robot.lock(...)"
            )
        return sp.ImmutableMatrix([[written(x, self._shape) for x in row] for row in rows])

    @property
    def _shape(self) -> Callable[[sp.Expr], sp.Expr] | None:
        return None if self.simplify else _as_it_is

    # --- checks ---

    def disagreement(self) -> list[sp.Expr]:
        """Lagrange's torques less those of Newton and Euler: zeros, and exactly so where parameters are symbols."""
        pairs = zip(self.elements.lagrange, self.elements.newton_euler, strict=True)
        return [written(pruned(a - b), None) for a, b in pairs]

    # --- other forms ---

    def grouped(self) -> Grouped:
        """The same with masses, lengths and inertias gathered into base parameters, the few that can be told apart."""
        from chainrule.symbolic.closed_form.base_parameters import grouped

        return grouped(self)

    def intermediate(self, *functions: str) -> Intermediate:
        """Functions of the robot by named intermediate variables, as the algorithms compute them.

        Names are those of robot.kernel: "mass_matrix", "inverse_dynamics", "gravity_torque" and so on.
        """
        from chainrule.symbolic.closed_form.intermediate import intermediate

        return intermediate(self.robot, self.symbolic, functions or ("inverse_dynamics",))

    @property
    def operations(self) -> dict[str, int]:
        """Additions, multiplications, and sines and cosines, of M, c and g with common subexpressions shared."""
        shared, reduced = self.cse()
        whole = [expression for _, expression in shared]
        whole += [entry for matrix in reduced.values() for entry in matrix]
        return count(whole)

    def cse(self, *names: str) -> tuple[list[tuple[sp.Symbol, sp.Expr]], dict[str, sp.Matrix]]:
        """Common subexpressions of named terms, M, c and g unless told, and the terms in them."""
        chosen = names or ("M", "c", "g")
        matrices = [self.term(name) for name in chosen]
        shared, reduced = sp.cse(list(matrices), symbols=sp.numbered_symbols("x_"))
        return shared, dict(zip(chosen, reduced, strict=True))

    def term(self, name: str) -> sp.ImmutableMatrix:
        """A term by its name: M, C, c, g, tau, and so on."""
        if name not in TERMS:
            raise UnknownNameError.of("term", name, TERMS, "this set of equations")
        return getattr(self, name)

    def lambdify(self, name: str = "tau", parameters: Mapping[Any, float] | None = None) -> Callable[..., Array]:
        """A NumPy function of (q, qd, qdd) for a term, batched over leading dimensions.

        `parameters` replace values of the robot's own, by symbol or name.
        """
        values = {str(symbol): value for symbol, value in self.parameters.items()}
        for key, value in (parameters or {}).items():
            if str(key) not in values:
                raise UnknownNameError.of("parameter", str(key), values, "the equations of motion")
            values[str(key)] = float(value)
        matrix = self.term(name)
        symbols = [*self.q, *self.qd, *self.qdd, *self.parameters]
        function = sp.lambdify(symbols, list(matrix), modules="numpy", cse=True)
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
        """A term, or all of tau = .., in LaTeX; with c_1 and s_12 for sines and cosines on request."""
        from chainrule.symbolic.documents.printing import latex

        return latex(self._printable(name, shorthand))

    def mathml(self, name: str = "tau", *, shorthand: bool = False) -> str:
        """A term in presentation MathML."""
        from chainrule.symbolic.documents.printing import mathml

        return mathml(self._printable(name, shorthand))

    def pretty(self, name: str = "tau", *, shorthand: bool = False) -> str:
        """A term as text of Unicode letters."""
        from chainrule.symbolic.documents.printing import pretty

        return pretty(self._printable(name, shorthand))

    def _printable(self, name: str, shorthand: bool) -> sp.ImmutableMatrix:
        from chainrule.symbolic.documents.printing import shortened

        return shortened(self.term(name), self.q) if shorthand else self.term(name)

    def __str__(self) -> str:
        from chainrule.symbolic.documents.summary import summary

        return summary(self).text()

    def __repr__(self) -> str:
        many = f"{len(self.q)} degrees of freedom, {len(self.parameters)} parameters"
        return f"<Equations of motion of {self.robot.name!r}: {many}>"


TERMS = ("M", "C", "c", "centrifugal", "coriolis", "g", "spring", "friction", "tau")


class Terms:
    """The terms of the equations of motion as elements of the ring."""

    def __init__(self, symbolic: SymbolicModel) -> None:
        self.symbolic = symbolic
        self.q, self.qd, self.qdd = symbolic.state()
        self.n = len(self.q)
        self._bare = edits.map_dofs(symbolic.model, lambda dof: dof.without_friction())

    @cached_property
    def M(self) -> list[list[Any]]:
        """The mass matrix."""
        n = self.n
        entries = _pruned_together([x for row in crba.mass_matrix(self.symbolic.model, self.q) for x in row])
        return [entries[i * n : (i + 1) * n] for i in range(n)]

    @cached_property
    def christoffel(self) -> list[list[list[Any]]]:
        """c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2."""
        n, M = self.n, self.M
        d = [[[_derivative(M[i][j], s) for s in self.symbolic.q] for j in range(n)] for i in range(n)]
        return [
            [[pruned((d[i][j][k] + d[i][k][j] - d[j][k][i]) * 0.5) for k in range(n)] for j in range(n)]
            for i in range(n)
        ]

    @cached_property
    def C(self) -> list[list[Any]]:
        """Christoffel's matrix."""
        return [[_sum(c * v for c, v in zip(row, self.qd, strict=True)) for row in plane] for plane in self.christoffel]

    @cached_property
    def centrifugal(self) -> list[Any]:
        """Torques in squares of velocities."""
        return [_sum(plane[j][j] * self.qd[j] * self.qd[j] for j in range(self.n)) for plane in self.christoffel]

    @cached_property
    def coriolis(self) -> list[Any]:
        """Torques in products of two velocities."""
        pairs = [(j, k) for j in range(self.n) for k in range(j)]
        return [_sum(plane[j][k] * self.qd[j] * self.qd[k] * 2 for j, k in pairs) for plane in self.christoffel]

    @cached_property
    def c(self) -> list[Any]:
        """Velocity torques."""
        return [pruned(a + b) for a, b in zip(self.centrifugal, self.coriolis, strict=True)]

    @cached_property
    def g(self) -> list[Any]:
        """Gravity torques."""
        return _pruned_together(rnea.gravity_torque(self.symbolic.model, self.q))

    @cached_property
    def spring(self) -> list[Any]:
        """Spring torques."""
        return [pruned(x) for x in joint_forces.spring_torque(self.symbolic.model, self.q)]

    @cached_property
    def kinetic(self) -> Any:
        """Kinetic energy."""
        return pruned(energy.kinetic_energy(self.symbolic.model, self.q, self.qd))

    @cached_property
    def potential(self) -> Any:
        """Potential energy."""
        return pruned(energy.potential_energy(self.symbolic.model, self.q))

    @cached_property
    def newton_euler(self) -> list[Any]:
        """Torques without friction, by the recursive Newton-Euler algorithm in vector form."""
        return vector_form.inverse_dynamics(self._bare, self.q, self.qd, self.qdd)

    @cached_property
    def lagrange(self) -> list[Any]:
        """Torques without friction: d/dt dK/dqd - dK/dq + dP/dq."""
        q, qd = self.symbolic.q, self.symbolic.qd
        torques = []
        for i in range(self.n):
            momentum = _derivative(self.kinetic, qd[i])
            rate = _sum(
                _derivative(momentum, q[j]) * self.qd[j] + _derivative(momentum, qd[j]) * self.qdd[j]
                for j in range(self.n)
            )
            torques.append(rate - _derivative(self.kinetic, q[i]) + _derivative(self.potential, q[i]))
        return torques


def _derivative(x: Any, symbol: sp.Symbol) -> Any:
    return x.derivative(symbol) if isinstance(x, Element) else 0


def _sum(parts: Any) -> Any:
    return sum(parts, start=0)


def _pruned_together(values: Sequence[Any]) -> list[Any]:
    """Without what rounding has left, of numbers as large as the largest of them all."""
    coefficients = [abs(c) for x in values if isinstance(x, Element) for c in x.terms.values()]
    largest = max(coefficients, default=0.0)
    return [x.pruned(largest) if isinstance(x, Element) else x for x in values]


def _as_it_is(expression: sp.Expr) -> sp.Expr:
    return expression


def count(expressions: Sequence[sp.Expr]) -> dict[str, int]:
    """Operations in expressions: additions, multiplications, divisions, powers, sines and cosines."""
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
