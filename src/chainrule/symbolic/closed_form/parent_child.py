"""A free pair of links in symbols: a parent, a child on one joint, and nothing else that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from chainrule.core.derived import merged_model
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link
from chainrule.display.text import Advised
from chainrule.errors import ModelError
from chainrule.lazy import cached_property
from chainrule.model import PosedBody
from chainrule.spatial import Inertia, Twist, Wrench
from chainrule.symbolic.algebra.ring import to_matrix, to_sympy
from chainrule.symbolic.closed_form.dae import TWIST, WRENCH
from chainrule.symbolic.closed_form.named_matrix import NamedMatrix
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel, symbolic_model
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Paragraph
from chainrule.symbolic.documents.document import Document


def parent_child(
    robot: Mechanism,
    link: str | None = None,
    parameters: str | Mapping[Any, Any] = "symbolic",
    *,
    symbols: Mapping[Any, Any] | None = None,
) -> ParentChildPair:
    """A link and its parent in symbols, cut free of the robot: their equations of motion and those of the joint.

    link is the child, the last one unless named; parameters and symbols are as of `equations`. The pair has no base:
    the parent's twist V_p is an unknown motion of its own. Gravity and the robot's other joints are wrenches E_p and
    E_c that act on the two, each in its own frame. Rotors, springs and friction are left out of the joint's torque.
    """
    model = symbolic_model(merged_model(robot), parameters, symbols)
    name = model.model.bodies[-1].link.name if link is None and model.model.bodies else find_link(robot, link)
    index, _ = model.model.locate(name)
    if not index or not model.model.bodies[index - 1].parent or model.model.bodies[index - 1].joint.mimic:
        free = [body.link.name for body in model.model.bodies if body.parent and not body.joint.mimic]
        advice = f"name one of {', '.join(map(repr, free))}" if free else "take a robot with two links that move"
        raise ModelError(
            f"parent_child: {name!r} is no child, on a joint of its own, of a link that moves, so that the two are no "
            f"free pair; {advice}"
        )
    return ParentChildPair(robot, model, index)


@dataclass(frozen=True, eq=False, repr=False)
class ParentChildPair(Advised):
    """The pair as SymPy matrices: V_c = Ad V_p + S qdot, and one linear system for Vdot_p, Vdot_c, W and qddot.

    W is the wrench of the parent on the child, in the child's frame; -Ad^T W that of the child on the parent, in the
    parent's. Everything is in the frames of the links, angular part first.

    >>> import chainrule as cr
    >>> pair = cr.load("planar_2r").textbook.parent_child("link2")
    >>> pair.matrix.shape, pair.V_c[2], pair.torque[0]
    ((19, 19), V_pwz + qdot_2, W_mz)
    """

    robot: Mechanism
    symbolic: SymbolicModel
    index: int

    # --- symbols ---

    @cached_property
    def V_p(self) -> sp.MatrixBase:
        """Twist of the parent: symbols (6, 1)."""
        return sp.ImmutableMatrix([sp.Symbol(f"V_p{axis}", real=True) for axis in TWIST])

    @cached_property
    def W(self) -> sp.MatrixBase:
        """Wrench of the parent on the child: symbols (6, 1)."""
        return sp.ImmutableMatrix([sp.Symbol(f"W_{axis}", real=True) for axis in WRENCH])

    @cached_property
    def external(self) -> tuple[sp.MatrixBase, sp.MatrixBase]:
        """E_p and E_c, what else acts on parent and child: symbols (6, 1) each."""
        p, c = (sp.ImmutableMatrix([sp.Symbol(f"E_{x}{axis}", real=True) for axis in WRENCH]) for x in "pc")
        return p, c

    @cached_property
    def tau(self) -> sp.MatrixBase:
        """Torque or force of the actuator, one for each coordinate of the joint."""
        return sp.ImmutableMatrix([sp.Symbol(f"tau_{i + 1}", real=True) for i, _ in self._child.S])

    @cached_property
    def unknowns(self) -> sp.MatrixBase:
        """Vdot_p, Vdot_c, W and qddot, in a column."""
        rates = [sp.Symbol(f"Vdot_{x}{axis}", real=True) for x in "pc" for axis in TWIST]
        return sp.ImmutableMatrix([*rates, *self.W, *(self.symbolic.qdd[i] for i, _ in self._child.S)])

    # --- the pair ---

    @cached_property
    def _child(self) -> PosedBody:
        return self.symbolic.model.at(self.symbolic.state()[0])[self.index - 1]

    @property
    def _inertias(self) -> tuple[Inertia, Inertia]:
        links = self.symbolic.model.links
        return links[self._child.parent].spatial_inertia, links[self.index].spatial_inertia

    @cached_property
    def _twists(self) -> tuple[Twist, Twist]:
        """V_p and V_c, as elements of the ring."""
        V_p = Twist.of([self.symbolic.ring.variable(s) for s in self.V_p])
        return V_p, self._child.T.inv * V_p + self._child.along(self.symbolic.state()[1])

    @property
    def H(self) -> sp.MatrixBase:
        """Pose of the child in the parent, a function of the joint: (4, 4)."""
        return self._matrix(self._child.T.rows())

    @property
    def Ad(self) -> sp.MatrixBase:
        """Adjoint from the parent's frame to the child's: (6, 6)."""
        return self._matrix(self._child.T.inverse().adjoint())

    @property
    def S(self) -> sp.MatrixBase:
        """Screws of the joint in the child's frame: (6, k)."""
        return self._matrix(list(zip(*(list(S) for _, S in self._child.S), strict=True)))

    @property
    def I_p(self) -> sp.MatrixBase:
        """Spatial inertia of the parent: (6, 6)."""
        return self._matrix(self._inertias[0].matrix())

    @property
    def I_c(self) -> sp.MatrixBase:
        """Spatial inertia of the child: (6, 6)."""
        return self._matrix(self._inertias[1].matrix())

    @property
    def V_c(self) -> sp.MatrixBase:
        """Twist of the child, Ad V_p + S qdot: (6, 1)."""
        return self._matrix([[x] for x in self._twists[1]])

    @property
    def reaction(self) -> sp.MatrixBase:
        """Wrench of the child on the parent, -Ad^T W, in the parent's frame: (6, 1)."""
        W = Wrench.of([self.symbolic.ring.variable(s) for s in self.W])
        return self._matrix([[-x] for x in self._child.T * W])

    @property
    def torque(self) -> sp.MatrixBase:
        """Torque that the wrench has along the joint, S^T W: (k, 1)."""
        return self._matrix((self.S.T * self.W).tolist())

    # --- the equations ---

    @cached_property
    def matrix(self) -> sp.MatrixBase:
        """The matrix of the system: rows of the parent, the child, the joint, and the torque."""
        Ad, S, one = sp.Matrix(self.Ad), sp.Matrix(self.S), sp.eye(6)
        k = S.cols
        rows = [
            [self.I_p, sp.zeros(6), Ad.T, sp.zeros(6, k)],
            [sp.zeros(6), self.I_c, -one, sp.zeros(6, k)],
            [-Ad, one, sp.zeros(6), -S],
            [sp.zeros(k, 6), sp.zeros(k, 6), S.T, sp.zeros(k)],
        ]
        return sp.ImmutableMatrix(sp.BlockMatrix([[sp.Matrix(x) for x in row] for row in rows]))

    @cached_property
    def rhs(self) -> sp.MatrixBase:
        """The right side: ad_V^T I V and what acts from outside, of each link; ad_V S qdot + Sdot qdot; tau."""
        qd = self.symbolic.state()[1]
        rates = [
            [-to_sympy(x) + e for x, e in zip(V.cross(I * V), E, strict=True)]
            for V, I, E in zip(self._twists, self._inertias, self.external, strict=True)
        ]
        joint = self._twists[1].cross(self._child.along(qd)) + self._child.velocity_product(qd)
        return sp.ImmutableMatrix([*rates[0], *rates[1], *(to_sympy(x) for x in joint), *self.tau])

    def document(self) -> Document:
        """The equations of links and joint, as the lecture writes them, and their matrices."""
        names = self.symbolic.model.links
        parent, child = names[self._child.parent].name, names[self.index].name
        laws = [
            (r"I_p \dot{V}_p", r"\mathrm{ad}_{V_p}^T I_p V_p - \mathrm{Ad}^T W + E_p"),
            (r"I_c \dot{V}_c", r"\mathrm{ad}_{V_c}^T I_c V_c + W + E_c"),
            ("V_c", r"\mathrm{Ad} V_p + S \dot{q}"),
            (r"\tau", "S^T W"),
        ]
        shown = [("H", self.H), (r"\mathrm{Ad}", self.Ad), ("S", self.S), ("I_p", self.I_p), ("I_c", self.I_c)]
        blocks: list[Block] = [
            Paragraph("Parent, child, and the joint between them, in the frames of the links:"),
            *(Equation((Formula(left), Formula(right))) for left, right in laws),
            *(Equation((Formula(name), sp.Matrix(value))) for name, value in shown),
            Equation((Formula("V_c"), sp.Matrix(self.V_c))),
        ]
        return Document(f"The pair {parent}, {child}", tuple(blocks))

    def __str__(self) -> str:
        return self.document().text()

    def __repr__(self) -> str:
        names = self.symbolic.model.links
        parent, child = names[self._child.parent].name, names[self.index].name
        return f"<The free pair of {parent!r} and {child!r} in symbols: {len(self.unknowns)} unknowns>"

    def _matrix(self, rows: Any) -> sp.MatrixBase:
        return NamedMatrix.of(to_matrix(rows) if not _is_sympy(rows) else sp.Matrix(rows), self.symbolic.symbols)


def _is_sympy(rows: Any) -> bool:
    return any(isinstance(x, sp.Basic) for row in rows for x in row)
