"""What every derivation starts from: a robot over symbols, a state to try it at, and the units of it all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from chainrule.arguments import Array
from chainrule.errors import ChainruleError, ModelError, ShapeError
from chainrule.model import Model, edits
from chainrule.symbolic.algebra.ring import Element, exact
from chainrule.symbolic.algebra.units import (
    NONE,
    Unit,
    UnitError,
    has_bare_numbers,
    parameter_units,
    shown,
    unit,
    unit_of,
)
from chainrule.symbolic.closed_form.equations import Equations, equations
from chainrule.symbolic.documents.document import Block, Formula, Heading, Paragraph, Table
from chainrule.symbolic.documents.printing import raised, rounded

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

LONGEST = 8
"""Joints in a row beyond which nothing of a derivation fits on paper."""

LARGEST = 10_000
"""Terms of the mass matrix beyond which it is given up before anything else is tried."""

SAME = 1e-9
"""How far, relatively, symbols and kernels may differ by rounding."""


@dataclass(frozen=True)
class Quantity:
    """A result of a derivation: its name in LaTeX, its expression, its unit, and what the robot's kernels say."""

    name: str
    expression: Any
    unit: str
    kernel: Any = None


@dataclass(frozen=True)
class Setting:
    """A robot over symbols at a state."""

    robot: Robot
    equations: Equations
    state: tuple[Array, Array, Array]

    @staticmethod
    def of(robot: Robot, parameters: str | Mapping[Any, Any], state: Any = None) -> Setting:
        """From what the user gives; refused if nothing readable can come of it."""
        merged = edits.merge_fixed(robot.model)
        longest = max((len(merged.ancestors(body.index)) for body in merged.bodies), default=0)
        if longest > LONGEST:
            raise too_large(robot, f"{longest} joints in a row")
        at = _state(robot, state)
        written = equations(robot, parameters)
        size = terms(x for row in written.elements.M for x in row)
        if size > LARGEST:
            raise too_large(robot, f"its mass matrix has {size} terms")
        return Setting(robot, written, at)

    @property
    def model(self) -> Model:
        """The robot over symbols, friction left out: it is no polynomial, and is added at the end."""
        return edits.map_dofs(self.equations.symbolic.model, lambda dof: dof.without_friction())

    @cached_property
    def symbols(self) -> tuple[list[Element], list[Element], list[Element]]:
        """q, qd and qdd as the algorithms take them."""
        return self.equations.symbolic.state()

    @cached_property
    def coordinates(self) -> list[str]:
        """The unit of each coordinate, rad or m."""
        return [x for joint in self.robot.model.moving for x in joint.kind.units]

    @cached_property
    def units(self) -> dict[sp.Symbol, str]:
        """The unit of every symbol."""
        found = parameter_units(self.equations.symbolic.model)
        for symbols, per in ((self.equations.q, ""), (self.equations.qd, "/s"), (self.equations.qdd, "/s^2")):
            found |= {s: f"{u}{per}" for s, u in zip(symbols, self.coordinates, strict=True)}
        return found

    @property
    def efforts(self) -> list[str]:
        """The unit of each torque, N m or N."""
        return ["N m" if u == "rad" else "N" for u in self.coordinates]

    @cached_property
    def values(self) -> dict[sp.Symbol, float]:
        """The number that each symbol stands for, at the state."""
        eqs = self.equations
        state = {
            s: float(x)
            for part, numbers in zip((eqs.q, eqs.qd, eqs.qdd), self.state, strict=True)
            for s, x in zip(part, numbers, strict=True)
        }
        return eqs.parameters | state

    def number(self, expression: Any) -> Array:
        """An expression or matrix at the state."""
        matrix = expression if isinstance(expression, sp.MatrixBase) else sp.Matrix([[expression]])
        missing = sorted(str(s) for s in matrix.free_symbols - self.values.keys())
        if missing:
            raise ShapeError(
                f"a derivation shows numbers, and {', '.join(missing)} has none; name parameters by the robot's own "
                "symbols, or give numbers for them"
            )
        values = sp.lambdify(list(self.values), list(matrix), modules="numpy")(*self.values.values())
        return np.array(values, dtype=float)

    def checked(self, quantity: Quantity) -> Array:
        """The number of a quantity, equal to the kernel's, its units checked term by term."""
        self.check_units(quantity)
        return self.agreeing(quantity.name, quantity.expression, quantity.kernel)

    def agreeing(self, name: str, expression: Any, kernel: Any) -> Array:
        """The numbers of an expression; refused if they are not those of the kernel."""
        value, other = self.number(expression), np.ravel(np.asarray(kernel, dtype=float))
        size = max(1.0, float(np.abs(other).max(initial=0.0)))
        if not np.abs(value - other).max(initial=0.0) <= SAME * size:
            raise ChainruleError(
                f"the symbols give {value.tolist()} for {name}, the kernels {other.tolist()}: this derivation of robot "
                f"{self.robot.name!r} is not to be trusted; please report it with the robot's file"
            )
        return value

    def check_units(self, quantity: Quantity) -> None:
        """Refuse terms of other units than the quantity's; numbers among the parameters have lost theirs."""
        if not self.is_symbolic:
            return
        for entry in _entries(quantity.expression):
            found = unit_of(entry, self._powers)
            if found is not None and found != unit(quantity.unit):
                raise UnitError(f"{quantity.name} should be in {quantity.unit}, and {entry!s:.80} is in {shown(found)}")

    @cached_property
    def is_symbolic(self) -> bool:
        """Whether all parameters that have a unit are symbols, so that units can be told."""
        return not has_bare_numbers(self.equations.symbolic.model)

    @cached_property
    def _powers(self) -> dict[sp.Symbol, Unit]:
        return {symbol: unit(text) if text != "rad" else NONE for symbol, text in self.units.items()}

    def numbers(self, quantities: Sequence[Quantity]) -> Table:
        """Quantities at the state, from the symbols and from the kernels, side by side."""
        rows = []
        for quantity in quantities:
            value, kernel = self.checked(quantity), np.ravel(np.asarray(quantity.kernel, dtype=float))
            rows.append((Formula(quantity.name), listed(value), listed(kernel), raised(quantity.unit)))
        return Table(("at the sample state", "from the symbols", "from the kernel", "unit"), tuple(rows))

    def sample(self) -> list[Block]:
        """The state at which numbers are given."""
        names = [name for joint in self.robot.model.moving for name in [joint.name] * joint.kind.nv]
        rows = [
            (str(i + 1), name, *(f"{part[i]:.6g}" for part in self.state), f"{u}, {u}/s, {u}/s²")
            for i, (name, u) in enumerate(zip(names, self.coordinates, strict=True))
        ]
        header = ("", "joint", Formula("q"), Formula(r"\dot{q}"), Formula(r"\ddot{q}"), "unit")
        text = "Numbers below are those of this state, from the symbols and, beside them, from the compiled kernels."
        return [Heading("Sample state"), Paragraph(text), Table(header, tuple(rows))]


def expression(x: Any) -> sp.Expr:
    """A scalar of the algorithms as a SymPy expression."""
    return x.sympy() if isinstance(x, Element) else exact(float(x))


def column(vector: Iterable[Any]) -> sp.Matrix:
    """A vector as a column of expressions."""
    return sp.Matrix([expression(x) for x in vector])


def terms(scalars: Iterable[Any]) -> int:
    """How many terms scalars have when written out."""
    return sum(len(x.terms) for x in scalars if isinstance(x, Element))


def too_large(robot: Robot, why: str) -> ModelError:
    """The error for a robot whose derivation nobody could read."""
    return ModelError(
        f"robot {robot.name!r} is too large for a derivation that can be read: {why}; take numbers for its parameters, "
        'parameters="numeric", if they are symbols; lock joints with robot.lock(...); or have its functions by named '
        "intermediate variables, robot.equations().intermediate()"
    )


def listed(values: Any) -> str:
    """Numbers for a cell of a table."""
    return ", ".join(f"{0.0 if abs(x) < 1e-14 else x:.6g}" for x in np.ravel(values))


def row(vector: Any) -> tuple[Any, ...]:
    """A vector of scalars as text: (x, y, z)."""
    x, y, z = (expression(v) for v in vector)
    return ("(", _short(x), ", ", _short(y), ", ", _short(z), ")")


def _short(x: sp.Expr) -> sp.Expr:
    return rounded(x) if x.is_number else x


def _entries(expression: Any) -> Any:
    return list(expression) if isinstance(expression, sp.MatrixBase) else [expression]


def _state(robot: Robot, given: Any) -> tuple[Array, Array, Array]:
    """The user's state, or one of round numbers within the limits."""
    if given is None:
        rng = np.random.default_rng(1)
        q = np.round(robot.random_state(rng), 2)
        low, high = robot.limits.lower, robot.limits.upper
        q = np.clip(q, low, high) if robot.nq == robot.nv else q
        qd, qdd = (np.round(rng.uniform(-1, 1, robot.nv), 1) for _ in range(2))
        return q, qd, qdd
    if not isinstance(given, (tuple, list)) or len(given) != 3:
        raise ShapeError(f"state must be three lists of numbers, (q, qd, qdd), got {given!r:.60}")
    parts = zip(("q", "qd", "qdd"), given, strict=True)
    arrays = [robot._argument("derivation", name, value) for name, value in parts]
    for name, array in zip(("q", "qd", "qdd"), arrays, strict=True):
        if array.ndim != 1 or not np.isfinite(array).all():
            raise ShapeError(f"derivation: {name} must be one state of finite numbers, got shape {array.shape}")
    return arrays[0], arrays[1], arrays[2]
