"""The closed matrix form in symbols: the stacked matrices of all links, and a view of them in blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import sympy as sp

from chainrule.algorithms.matrix_form import StackedMatrices, matrix_form
from chainrule.display.text import Advised
from chainrule.errors import ModelError
from chainrule.functions import reference
from chainrule.functions.reference import leaves
from chainrule.model import Model, edits
from chainrule.symbolic.algebra.ring import Element, to_matrix
from chainrule.symbolic.closed_form.size_estimate import MIN_JOINTS, SLACK, count_terms, round_count
from chainrule.symbolic.closed_form.summary import notation_of, style_of
from chainrule.symbolic.closed_form.verification import check, numbers_of, random_states, size_of_terms
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph
from chainrule.symbolic.documents.document import Document

if TYPE_CHECKING:
    from chainrule.symbolic.closed_form.matrices import Matrices

MAX_TERMS = 12_000
"""Terms of all matrices; a robot with more is refused, since no one can read them."""


@dataclass(frozen=True, eq=False, repr=False)
class SymbolicMatrixForm(Advised):
    """The stacked matrices of all links as SymPy matrices, with six rows for each; printed, a view in blocks.

    Names are those of robot.textbook.matrix_form: V = A V + S qd, L = (1 - A)^-1, J = L S, M = J^T inertia J.

    >>> import chainrule as cr
    >>> form = cr.load("planar_2r").equations().matrix_form
    >>> form.A.shape, form.J[8, :], form.M[1, 1]
    ((12, 12), Matrix([[1, 1]]), L_2**2*m_2)
    """

    equations: Matrices
    S: sp.ImmutableMatrix
    A: sp.ImmutableMatrix
    A_dot: sp.ImmutableMatrix
    L: sp.ImmutableMatrix
    J: sp.ImmutableMatrix
    inertia: sp.ImmutableMatrix
    ad_V: sp.ImmutableMatrix
    rotors: sp.ImmutableMatrix
    M: sp.ImmutableMatrix
    C: sp.ImmutableMatrix
    g: sp.ImmutableMatrix
    S_dot: sp.ImmutableMatrix
    V: sp.ImmutableMatrix
    V_dot_0: sp.ImmutableMatrix

    def block(self, name: str, i: int, j: int) -> sp.ImmutableMatrix:
        """The block of link i and link j, counted from 1, of A, A_dot, L, inertia or ad_V."""
        return getattr(self, name)[link_rows(i), link_rows(j)]

    def document(self) -> Document:
        """The matrices in blocks, the blocks in symbols, and M, C and g."""
        model = self.equations.symbolic.model
        blocks = [*stacks_in_blocks(model), *self._blocks(model)]
        title = f"Closed matrix form of {self.equations.robot.model.name}"
        written = notation_of(self.equations, has_twists=True).blocks(blocks)
        return Document(title, written, style_of(self.equations, shorthand=False))

    def _blocks(self, model: Model) -> list[Block]:
        found: list[Block] = [Heading("Blocks", 2)]
        for body in model.bodies:
            i, columns = body.index, slice(body.first_v, body.first_v + body.joint.kind.nv)
            found.append(Equation((Formula(f"S_{{{i}}}"), self.S[link_rows(i), columns])))
        for body in model.bodies:
            for other in model.ancestors(body.index)[:-1]:
                pair = body.index, other.index
                found.append(Equation((Formula(adjoint(*pair)), self.block("L", *pair))))
            if body.parent:
                pair = body.index, body.parent
                found.append(Equation((Formula(adjoint(*pair, dot=True)), self.block("A_dot", *pair))))
        for body in model.bodies:
            i = body.index
            found.append(Equation((Formula(f"G_{{{i}}}"), self.block("inertia", i, i))))
            found.append(Equation((Formula(f"J_{{{i}}}"), self.J[link_rows(i), :])))
        letters = {"M": "M", "C": "C", "g": "g"}
        found += [Heading("The equations of the joints", 2)]
        return found + [Equation((Formula(letter), getattr(self, name))) for name, letter in letters.items()]

    def __str__(self) -> str:
        return self.document().text()

    def __repr__(self) -> str:
        links, joints = self.S.rows // 6, self.S.cols
        return f"<Closed matrix form of {links} links and {joints} joints in symbols: print(...) shows its blocks>"

    def _repr_html_(self) -> str:
        return self.document()._repr_html_()

    def _repr_latex_(self) -> str:
        body = [f"{name} = {sp.latex(getattr(self, name))}" for name in ("M", "C", "g")]
        return rf"$\displaystyle {', '.join(body)}$"


def symbolic_matrix_form(equations: Matrices) -> SymbolicMatrixForm:
    """The closed matrix form of equations; refused where it is too long to read."""
    symbolic = equations.symbolic
    q, qd, _ = symbolic.state()
    names = [field.name for field in fields(StackedMatrices)]
    if len(q) >= MIN_JOINTS:
        size = count_terms(symbolic, lambda model, q, qd, _: _entries(matrix_form(model, q, qd)), MAX_TERMS)
        _refuse(equations, size, f"would have about {round_count(size)} terms", SLACK)
    form = matrix_form(edits.without_friction(symbolic.model), q, qd)
    size = sum(len(x.terms) for x in leaves(_entries(form)) if isinstance(x, Element))
    _refuse(equations, size, f"has {size} terms")
    found = {}
    for name in names:
        rows = getattr(form, name)
        found[name] = to_matrix(rows if isinstance(rows[0], list) else [[x] for x in rows])
    _check(equations, found)
    return SymbolicMatrixForm(equations, **found)


def _entries(form: StackedMatrices) -> list[Any]:
    return [getattr(form, name) for name in ("S", "A", "A_dot", "L", "J", "M", "C", "g")]


def _refuse(equations: Matrices, size: int, words: str, slack: float = 1.0) -> None:
    if size > slack * MAX_TERMS:
        raise ModelError(
            f"the closed matrix form of robot {equations.robot.model.name!r} {words}, which nobody can read; take it "
            "with numbers for parameters, in numbers by robot.textbook.matrix_form(q, qd), or lock joints with "
            "robot.lock(...)"
        )


def _check(equations: Matrices, found: Mapping[str, Any]) -> None:
    """Refuse M, C qd or g that differ from the functions of the model."""
    symbolic = equations.symbolic
    model = symbolic.numbers
    state = random_states(model)
    values, size = numbers_of(symbolic, state), size_of_terms(model, state)
    terms = reference.evaluate(model, "torque_terms", [state.q, state.qd, state.qdd])
    check("M of the matrix form", found["M"], reference.evaluate(model, "mass_matrix", [state.q]), values, model, size)
    check(
        "g of the matrix form", found["g"], reference.evaluate(model, "gravity_torque", [state.q]), values, model, size
    )
    rates = found["C"] * sp.Matrix(equations.qd)
    check("C qd of the matrix form", rates, terms[:, 1] + terms[:, 2], values, model, size)


# --- in blocks ---


def link_rows(index: int) -> slice:
    """The six rows of a link in a matrix of all links."""
    return slice(6 * (index - 1), 6 * index)


def adjoint(i: int, j: int, *, dot: bool = False) -> str:
    """The adjoint of the pose of frame j in frame i, or its rate, in LaTeX."""
    name = r"\mathrm{Ad}"
    return rf"\dot{{{name}}}_{{{i},{j}}}" if dot else f"{name}_{{{i},{j}}}"


def stacks_in_blocks(model: Model) -> list[Block]:
    """The matrices S, A, L and A-dot by the names of their blocks."""
    count = len(model.bodies)
    joints = {places.joint.name: k for k, places in enumerate(model.layout.joints)}
    columns = {
        body.index: joints[body.joint.mimic.joint if body.joint.mimic else body.joint.name] for body in model.bodies
    }
    carriers = [(body.index, other.index) for body in model.bodies for other in model.ancestors(body.index)[:-1]]
    parents = [(body.index, body.parent) for body in model.bodies if body.parent]
    one = {(i, i): "1" for i in range(1, count + 1)}
    return [
        Paragraph((
            "In blocks, six rows for each link: ", Formula("S_i"), " has the screws of joint ", Formula("i"), " in the "
            "frame of its link, ", Formula(r"\mathrm{Ad}_{i,j}"), " is the adjoint of the pose of frame ",
            Formula("j"), " in frame ", Formula("i"), ".",
        )),
        _in_blocks("S", {(i, k + 1): f"S_{{{i}}}" for i, k in columns.items()}, count, len(joints)),
        _in_blocks("A", {pair: adjoint(*pair) for pair in parents}, count, count),
        _in_blocks("L", one | {pair: adjoint(*pair) for pair in carriers}, count, count),
        _in_blocks(r"\dot{A}", {pair: adjoint(*pair, dot=True) for pair in parents}, count, count),
    ]  # fmt: skip


def _in_blocks(name: str, entries: Mapping[tuple[int, int], str], rows: int, columns: int) -> Equation:
    """A matrix by the names of its blocks, counted from 1; zeros elsewhere."""
    lines: Sequence[str] = [" & ".join(entries.get((i + 1, j + 1), "0") for j in range(columns)) for i in range(rows)]
    return Equation((Formula(name), Formula(r"\begin{bmatrix} " + r" \\ ".join(lines) + r" \end{bmatrix}")))
