"""Pose and Jacobian of a robot in closed form, its singular postures, and the forms in which they are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chainrule.algorithms import jacobians
from chainrule.algorithms.euler import ORDERS
from chainrule.arguments import one_of
from chainrule.core.derived import merged_model
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link
from chainrule.display.text import Advised
from chainrule.symbolic.closed_form.kinematic_summary import summary
from chainrule.symbolic.closed_form.kinematic_terms import KinematicTerms
from chainrule.symbolic.closed_form.symbolic_model import symbolic_model
from chainrule.symbolic.documents.blocks import Equation, Formula, Paragraph
from chainrule.symbolic.documents.document import Document

MAX_SHOWN_JOINTS = 4
"""Joints of a robot whose pose and Jacobian a notebook shows in full."""


def kinematic_equations(
    robot: Mechanism,
    link: str | None = None,
    *,
    frame: str = "world",
    parameters: str | Mapping[Any, Any] = "symbolic",
    symbols: Mapping[Any, Any] | None = None,
    order: str = "rpy",
) -> KinematicEquations:
    """The pose T, the Jacobian J, its determinant and the singular postures of a link or frame, in closed form.

    Parameters
    ----------
    robot
        The robot. Loops and joints with quaternions have no closed form.
    link
        The link or frame, the end-effector by default.
    frame
        Of the Jacobian: "world", "space" or "body", as of robot.jacobian.
    parameters
        "symbolic", names for lengths and angles; "numeric", their numbers; or a dictionary that replaces some of the
        names by numbers or by other names.
    symbols
        Symbols of your own, by the names that they replace: {"q_1": theta, "L_1": sympy.Symbol("a")}.
    order
        Of the angles of the pose vector and the analytic Jacobian, as of robot.textbook.pose_vector.
    """
    name = find_link(robot, link)
    one_of(jacobians.FRAMES, frame, "frame of a Jacobian")
    one_of(ORDERS, order, "order of angles", "kinematic_equations")
    model = symbolic_model(merged_model(robot), parameters, symbols)
    return KinematicEquations(robot, model, name, frame, order)


@dataclass(frozen=True, eq=False, repr=False)
class KinematicEquations(Advised, KinematicTerms):
    """Pose T(q), Jacobian J(q) and what follows from them for a link or frame, as SymPy matrices.

    `pose_vector` has the position and three angles, and `analytic_jacobian` its rates; `order` is that of the angles.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").kinematic_equations()
    >>> arm.position[0], arm.determinant
    (L_1*cos(q_1) + L_2*cos(q_1 + q_2), L_1*L_2*sin(q_2))
    >>> arm.pose_vector[5], arm.analytic_jacobian[5, :]
    (q_1 + q_2, Matrix([[1, 1]]))
    """

    def __repr__(self) -> str:
        return f"<Pose and Jacobian of {self.link!r} of {self.robot.model.name!r} in closed form>"

    def __str__(self) -> str:
        return self.document().text()

    def document(self, *, shorthand: bool = False) -> Document:
        """All terms, the singular postures and the parameters as a document, to be saved as LaTeX, HTML and others."""
        return summary(self, shorthand=shorthand)

    def _repr_html_(self) -> str:
        title = f"Pose and Jacobian of {self.link} of {self.robot.model.name}"
        if not self._is_short():
            hint = f"{len(self.q)} joints: the matrices are long, and derived when asked for, by .T, .J, .determinant."
            return Document(title, (Paragraph(hint),))._repr_html_()
        J = Equation((Formula("J"), self.J))
        words = Paragraph(f'Angular rows of the Jacobian come first; its frame is "{self.frame}".')
        return Document(title, (Equation((Formula("T"), self.T)), J, words))._repr_html_()

    def _repr_latex_(self) -> str | None:
        return rf"$\displaystyle T = {self.latex('T')}, \quad J = {self.latex('J')}$" if self._is_short() else None

    def _is_short(self) -> bool:
        """Whether a notebook shows the matrices themselves: those of few joints, which take no time."""
        return len(self.q) <= MAX_SHOWN_JOINTS
