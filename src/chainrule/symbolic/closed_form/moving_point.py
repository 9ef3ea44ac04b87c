"""The velocity and acceleration of a point that moves in a link's frame, by their terms, in symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from chainrule.algorithms import kinematics
from chainrule.algorithms import moving_point as algorithm
from chainrule.arguments import one_of
from chainrule.compile.backend import INTERPRETED
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link
from chainrule.core.term_tables import AccelerationTerms, TermTable, VelocityTerms
from chainrule.errors import ModelError, ShapeError
from chainrule.kinematics import moving_point as numerical
from chainrule.spatial import Rotation, Vector
from chainrule.symbolic.algebra.expressions import expression_or_matrix
from chainrule.symbolic.algebra.ring import to_sympy
from chainrule.symbolic.closed_form.named_matrix import NamedMatrix
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel
from chainrule.symbolic.closed_form.verification import STATES, check, numbers_of, random_states
from chainrule.symbolic.documents.blocks import Equation, Formula, Paragraph
from chainrule.symbolic.documents.document import Document

LATEX = {
    "velocity": {
        "origin": r"V_{\mathrm{BORG}}", "relative": r"R \, V_Q", "rotation": r"\Omega \times R P_Q", "total": "V",
    },
    "acceleration": {
        "origin": r"\dot{V}_{\mathrm{BORG}}", "relative": r"R \, \dot{V}_Q", "coriolis": r"2 \Omega \times R V_Q",
        "euler": r"\dot{\Omega} \times R P_Q",
        "centripetal": r"\Omega \times \left(\Omega \times R P_Q\right)", "total": r"\dot{V}",
    },
}  # fmt: skip
"""The formula of each term, as the document has it."""


class TermsInSymbols(TermTable):
    """Terms as columns of SymPy, and their sum `total`; printed as equations."""

    def document(self) -> Document:
        """The terms as equations, to be saved as LaTeX, HTML and others."""
        formulas = LATEX[self.quantity]
        shown = {**self.terms, "total": self.total}
        blocks = [Equation((Formula(formulas[name]), value), self.unit) for name, value in shown.items()]
        axes = "base axes" if self.frame == "world" else "the axes of the link"
        return Document(f"The {self.quantity} of {self.of}", (Paragraph(f"In {axes}:"), *blocks))

    def __str__(self) -> str:
        return self.document().text()

    def __repr__(self) -> str:
        return f"<The {self.quantity} of {self.of} in symbols: {', '.join(self.terms)}, total; print(...) shows them>"

    def _repr_html_(self) -> str:
        return self.document()._repr_html_()

    def to_pandas(self) -> Any:
        """Refused: a table of pandas has numbers."""
        raise ShapeError(
            f"to_pandas: these terms are in symbols; robot.textbook.{self.quantity}_terms(...) has them in numbers"
        )


@dataclass(frozen=True, repr=False)
class VelocityTermsInSymbols(TermsInSymbols, VelocityTerms):
    """The velocity of a point that moves in a moving frame, by its three terms, as columns of SymPy, in m/s."""


@dataclass(frozen=True, repr=False)
class AccelerationTermsInSymbols(TermsInSymbols, AccelerationTerms):
    """The acceleration of such a point by its five terms, as columns of SymPy, in m/s^2."""


def velocity_terms(
    robot: Mechanism, symbolic: SymbolicModel, link: str, point: Any, given: Mapping[str, Any], frame: str
) -> VelocityTermsInSymbols:
    """The terms of the velocity of a point in a link's frame: see `KinematicEquations.velocity_terms`."""
    axes = one_of(numerical.AXES, frame, "frame of a velocity")
    P, V, _ = _motion(robot, symbolic, link, point, given, "velocity_terms")
    q, qd, _ = symbolic.state()
    R, own = _orientation(symbolic, link, axes), kinematics.velocity(symbolic.model, q, qd, link, axes)
    found = _columns(symbolic, algorithm.velocity_terms(R, own.angular, own.linear, P, V))
    _check(symbolic, link, found, point, given, numerical.velocity_terms, {"frame": axes})
    return VelocityTermsInSymbols(_describe(link, point), axes, **found)


def acceleration_terms(
    robot: Mechanism,
    symbolic: SymbolicModel,
    link: str,
    point: Any,
    given: Mapping[str, Any],
    frame: str,
    gravity: bool,
) -> AccelerationTermsInSymbols:
    """The terms of the acceleration of a point: see `KinematicEquations.acceleration_terms`."""
    axes = one_of(numerical.AXES, frame, "frame of an acceleration")
    P, V, V_dot = _motion(robot, symbolic, link, point, given, "acceleration_terms")
    q, qd, qdd = symbolic.state()
    R, model = _orientation(symbolic, link, axes), symbolic.model
    omega = kinematics.velocity(model, q, qd, link, axes).angular
    A = kinematics.acceleration(model, q, qd, qdd, link, axes, gravity)
    found = _columns(symbolic, algorithm.acceleration_terms(R, omega, A.angular, A.linear, P, V, V_dot))
    _check(symbolic, link, found, point, given, numerical.acceleration_terms, {"frame": axes, "gravity": gravity})
    return AccelerationTermsInSymbols(_describe(link, point), axes, **found)


def _motion(
    robot: Mechanism, symbolic: SymbolicModel, link: str, point: Any, given: Mapping[str, Any], caller: str
) -> tuple[Vector, Vector, Vector]:
    """P_Q, V_Q and its rate in the frame of the link, as elements of the ring."""
    names = ("point_velocity", "point_acceleration")
    if not isinstance(point, str):
        vectors = (point, *(given.get(name) for name in names))
        P, V, V_dot = (
            Vector.zero() if value is None else _vector(symbolic, value, f"{caller}: {name}")
            for name, value in zip(("point", *names), vectors, strict=True)
        )
        return P, V, V_dot
    moves = [name for name in names if given.get(name) is not None]
    if moves:
        raise ShapeError(
            f"{caller}: the point {point!r} moves as the joints do; leave out {' and '.join(moves)}, or give the point "
            "by three numbers or expressions"
        )
    name = find_link(robot, point)
    if not algorithm.carries(symbolic.model, link, name):
        raise ModelError(
            f"{caller}: {link!r} does not carry {name!r}; name a link or frame further out, or give the point and its "
            "motion by three numbers or expressions each"
        )
    return algorithm.relative_motion(symbolic.model, *symbolic.state(), name, link)


def _vector(symbolic: SymbolicModel, value: Any, what: str) -> Vector:
    entries = list(value) if isinstance(value, (list, tuple, np.ndarray, sp.MatrixBase, Vector)) else [value]
    if len(entries) != 3:
        raise ShapeError(f"{what} must have 3 entries (x, y, z in the frame of the link), got {len(entries)}")
    return Vector(*(symbolic.ring.of(expression_or_matrix(x, what)) for x in entries))


def _orientation(symbolic: SymbolicModel, link: str, axes: str) -> Rotation:
    q, _, _ = symbolic.state()
    return Rotation.identity() if axes == "body" else kinematics.pose(symbolic.model, q, link).rotation


def _columns(symbolic: SymbolicModel, terms: Mapping[str, Vector]) -> dict[str, Any]:
    """The terms and their sum, as columns of SymPy."""
    total = Vector.zero()
    for vector in terms.values():
        total = total + vector
    names = symbolic.symbols
    return {
        name: NamedMatrix.of(sp.Matrix([to_sympy(x) for x in vector]), names)
        for name, vector in {"total": total, **terms}.items()
    }


def _check(
    symbolic: SymbolicModel,
    link: str,
    found: Mapping[str, Any],
    point: Any,
    given: Mapping[str, Any],
    function: Callable[..., TermTable],
    options: Mapping[str, Any],
) -> None:
    """Refuse terms that are not those of the robot in numbers, at random states."""
    state = random_states(symbolic.numbers)
    values = dict(numbers_of(symbolic, state))
    own = (x for x in (point, *given.values()) if x is not None and not isinstance(x, str))
    free = {s for x in own for entry in x for s in sp.sympify(entry).free_symbols}
    rng = np.random.default_rng(2)
    values |= {s: rng.uniform(0.5, 1.5, STATES) for s in sorted(free - values.keys(), key=str)}

    def numbers(x: Any) -> Any:
        if x is None or isinstance(x, str):
            return x
        columns = [sp.lambdify(list(values), sp.sympify(entry), "numpy")(*values.values()) for entry in x]
        return np.stack([np.broadcast_to(column, STATES) for column in columns], axis=-1)

    takes_acceleration = function is numerical.acceleration_terms
    q = (state.q, state.qd, state.qdd) if takes_acceleration else (state.q, state.qd)
    motion = {name: numbers(x) for name, x in given.items()}
    expected = function(Mechanism(symbolic.numbers, INTERPRETED), *q, link, numbers(point), **motion, **options)
    for name, term in {**expected.terms, "total": expected.total}.items():
        check(f"the {name} of a point in {link!r}", found[name], term[..., None], values, symbolic.numbers)


def _describe(link: str, point: Any) -> str:
    if isinstance(point, str):
        return f"the origin of {point} in the frame of {link}"
    return f"the origin of {link}" if point is None else f"a point in the frame of {link}"
