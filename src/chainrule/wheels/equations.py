"""Equations of wheeled bases in symbols: the twist, the rates of the pose, and the constraints of rolling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from chainrule.arguments import Array
from chainrule.display.text import Advised
from chainrule.errors import ChainruleError, UnknownNameError
from chainrule.symbolic.algebra.expressions import expression_or_matrix
from chainrule.symbolic.closed_form.named_matrix import NamedMatrix
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Paragraph, TableBlock
from chainrule.symbolic.documents.document import Document

AGREEMENT_TOLERANCE = 1e-9
"""Relative difference by rounding between the equations and the base's own functions."""

EIGHTH_TURN_TOLERANCE = 1e-12
"""Distance of an angle, in eighths of a turn, from a whole number below which it is one."""

THETA = sp.Symbol("theta", real=True)
POSE_RATES = sp.symbols("xdot ydot thetadot", real=True)


@dataclass(frozen=True, eq=False, repr=False)
class WheelEquations(Advised):
    """The kinematics of a wheeled base as SymPy matrices.

    `twist` is (vx, vy, omega) of the `controls`, forwards, to the left, and anticlockwise; `pose_rates` is
    d(x, y, theta)/dt. Wheels that roll and neither slip nor slide have `constraints` A with A dq/dt = 0, where `rates`
    are the entries of dq/dt: of the pose, then of the wheels that are driven, in rad/s.

    >>> from chainrule.wheels import DifferentialDrive
    >>> drive = DifferentialDrive(radius=0.03, separation=0.24).equations()
    >>> drive.twist.T, drive.parameters
    (Matrix([[r*(w_1 + w_2)/2, 0, r*(-w_1 + w_2)/(2*b)]]), {r: 0.03, b: 0.12})
    >>> drive.constraints[0, :]
    Matrix([[-sin(theta), cos(theta), 0, 0, 0]])
    """

    name: str
    controls: tuple[sp.Symbol, ...]
    rates: tuple[sp.Symbol, ...]
    parameters: Mapping[sp.Symbol, float]
    """Symbols of the base, and the numbers that they stand for, in SI units."""
    twist: sp.MatrixBase
    constraints: sp.MatrixBase
    directions: sp.MatrixBase
    """(3, k): the body twists that the base can make, its columns."""

    def __post_init__(self) -> None:
        for name in ("twist", "constraints"):
            object.__setattr__(self, name, self._with_names(getattr(self, name)))

    @property
    def rotation(self) -> sp.MatrixBase:
        """From body twists to rates of the pose: (3, 3)."""
        return self._with_names(sp.Matrix(rotation()))

    @property
    def velocity_map(self) -> sp.MatrixBase:
        """From (v, omega), or (vx, vy, omega), to rates of the pose: (3, k)."""
        return self._with_names(rotation() * sp.Matrix(self.directions))

    @property
    def pose_rates(self) -> sp.MatrixBase:
        """d(x, y, theta)/dt of the controls: (3, 1)."""
        return self._with_names(rotation() * sp.Matrix(self.twist))

    def subs(self, values: Mapping[Any, Any]) -> WheelEquations:
        """The same equations with numbers or other expressions for parameters, by symbol or by name."""
        own = {symbol.name: symbol for symbol in self.parameters}
        chosen = {}
        for key, value in values.items():
            if str(key) not in own:
                raise UnknownNameError.of("parameter", str(key), own, self.name)
            chosen[own[str(key)]] = expression_or_matrix(value, f"subs: {key}")
        rest = {symbol: x for symbol, x in self.parameters.items() if symbol not in chosen}
        twist, constraints = (self._with_names(sp.Matrix(m).xreplace(chosen)) for m in (self.twist, self.constraints))
        return replace(self, parameters=rest, twist=twist, constraints=constraints)

    def document(self) -> Document:
        """All equations and the parameters as a document, to be saved as LaTeX, HTML and others."""
        controls = ", ".join(symbol.name for symbol in self.controls)
        blocks: list[Block] = [
            Paragraph(f"Controls: {controls}. The twist of the body, forwards, to the left and anticlockwise:"),
            Equation((Formula(r"\left(v_x, v_y, \omega\right)"), sp.Matrix(self.twist))),
            Paragraph("The rates of the pose:"),
            Equation((Formula(r"\left(\dot{x}, \dot{y}, \dot{\theta}\right)"), sp.Matrix(self.pose_rates))),
            Paragraph(("Wheels that roll and neither slip nor slide: ", Formula(r"A \, \dot{q} = 0"), " with")),
            Equation((Formula("A"), sp.Matrix(self.constraints))),
            Equation((Formula(r"\dot{q}"), sp.Matrix(self.rates))),
        ]
        if self.parameters:
            rows = tuple((symbol, f"{x:.6g}") for symbol, x in self.parameters.items())
            blocks.append(TableBlock(("symbol", "value"), rows))
        return Document(f"The kinematics of a {self.name}", tuple(blocks))

    def __str__(self) -> str:
        return self.document().text()

    def __repr__(self) -> str:
        return f"<Equations of a {self.name}: controls {', '.join(map(str, self.controls))}>"

    def _repr_html_(self) -> str:
        return self.document()._repr_html_()

    def _with_names(self, matrix: sp.MatrixBase) -> sp.MatrixBase:
        return NamedMatrix.of(matrix, {s.name: s for s in (THETA, *self.controls, *self.rates, *self.parameters)})


def rotation() -> sp.Matrix:
    """From body twists to rates of the pose, in theta."""
    c, s = sp.cos(THETA), sp.sin(THETA)
    return sp.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def symbols(names: str, positive: bool = False) -> tuple[sp.Symbol, ...]:
    """Real symbols, or positive ones."""
    found = sp.symbols(names, seq=True, **({"positive": True} if positive else {"real": True}))
    return tuple(found)


def row(direction: Any, x: Any = 0, y: Any = 0) -> sp.Matrix:
    """The speed of a wheel at (x, y) along a direction, an angle in the body, as a row before the rates of the pose."""
    c, s = sp.cos(direction), sp.sin(direction)
    return (sp.Matrix([[c, s, x * s - y * c]]) * rotation().T).applyfunc(sp.simplify)


def exact_angle(angle: float, name: str) -> tuple[Any, dict[sp.Symbol, float]]:
    """An angle as a multiple of an eighth or twelfth of a turn where it is one, or a symbol with its number."""
    for parts in (8, 12):
        count = angle * parts / (2 * np.pi)
        if abs(count - round(count)) < EIGHTH_TURN_TOLERANCE * parts:
            return 2 * sp.pi * sp.Rational(round(count), parts), {}
    (symbol,) = symbols(name)
    return symbol, {symbol: angle}


def with_check(equations: WheelEquations, twist: Callable[[Array], Array], controls: Sequence[float]) -> WheelEquations:
    """The equations, if they are those of the base in numbers, at controls for which no wheel slips."""
    u, theta = np.asarray(controls, dtype=float), 0.7
    values = {**equations.parameters, **dict(zip(equations.controls, u, strict=True)), THETA: theta}
    expected = twist(u)
    found, pose_rates = (_numbers(m, values) for m in (equations.twist, equations.pose_rates))
    q_dot = {**dict(zip(POSE_RATES, pose_rates, strict=True)), **values}
    slip = _numbers(equations.constraints, values) @ np.array([q_dot[s] for s in equations.rates])
    size = max(1.0, float(np.abs(expected).max()), float(np.abs(u).max()))
    worst = max(float(np.abs(found - expected).max()), float(np.abs(slip).max()))
    if not worst <= AGREEMENT_TOLERANCE * size:
        raise ChainruleError(
            f"the equations of a {equations.name} are not those of the base in numbers; please report it"
        )
    return equations


def _numbers(matrix: sp.MatrixBase, values: Mapping[sp.Symbol, float]) -> Array:
    found = np.array(sp.Matrix(matrix).subs(values).evalf(), dtype=float)
    return found.ravel() if matrix.cols == 1 else found
