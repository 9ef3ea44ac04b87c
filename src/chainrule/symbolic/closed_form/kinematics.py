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
from chainrule.symbolic.closed_form.choices import Choices
from chainrule.symbolic.closed_form.kinematic_summary import summary
from chainrule.symbolic.closed_form.kinematic_terms import KinematicTerms
from chainrule.symbolic.closed_form.moving_point import (
    AccelerationTermsInSymbols,
    VelocityTermsInSymbols,
    acceleration_terms,
    velocity_terms,
)
from chainrule.symbolic.closed_form.symbolic_model import symbolic_model
from chainrule.symbolic.documents.blocks import Equation, Formula, Paragraph
from chainrule.symbolic.documents.document import Document
from chainrule.symbolic.documents.notation import NOTATIONS

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
    notation: str = "chainrule",
    coordinates: str = "q",
    positive: bool = True,
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
    notation, coordinates, positive
        As of `equations`.
    """
    name = find_link(robot, link)
    one_of(jacobians.FRAMES, frame, "frame of a Jacobian")
    one_of(ORDERS, order, "order of angles", "kinematic_equations")
    one_of(NOTATIONS, notation, "notation")
    choices = Choices.for_call(robot.model.nv, parameters, symbols, coordinates, positive=positive)
    model = symbolic_model(merged_model(robot), choices)
    return KinematicEquations(robot, model, name, frame, order, notation, coordinates)


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

    def velocity_terms(
        self, point: Any = None, *, point_velocity: Any = None, frame: str = "world"
    ) -> VelocityTermsInSymbols:
        """The velocity of a point that moves in the frame of the link: V_BORG + R V_Q + Omega x R P_Q, in m/s.

        Arguments are those of robot.textbook.velocity_terms, in numbers or expressions.

        >>> import chainrule as cr
        >>> cr.load("planar_2r").kinematic_equations("link1").velocity_terms("tip", frame="body").relative[1]
        L_2*qdot_2*cos(q_2)
        """
        return velocity_terms(self.robot, self.symbolic, self.link, point, {"point_velocity": point_velocity}, frame)

    def acceleration_terms(
        self,
        point: Any = None,
        *,
        point_velocity: Any = None,
        point_acceleration: Any = None,
        frame: str = "world",
        gravity: bool = False,
    ) -> AccelerationTermsInSymbols:
        """The acceleration of a point that moves in the frame of the link, by its five terms, in m/s^2.

        Parameters
        ----------
        point
            P_Q in the frame of the link, three numbers or expressions, in m: its origin if none is given. Or a link or
            frame that this link carries.
        point_velocity, point_acceleration
            V_Q and its rate as seen in the frame of the link; zero if left out.
        frame
            The axes of all terms: "world", those of the base; "body", the link's own.
        gravity
            Whether to take the acceleration less g, as an accelerometer reads it.

        >>> import chainrule as cr
        >>> terms = cr.load("planar_2r").kinematic_equations("link1").acceleration_terms("tip", frame="body")
        >>> terms.coriolis[0], terms.centripetal[1]
        (-2*L_2*qdot_1*qdot_2*cos(q_2), -L_2*qdot_1**2*sin(q_2))
        """
        given = {"point_velocity": point_velocity, "point_acceleration": point_acceleration}
        return acceleration_terms(self.robot, self.symbolic, self.link, point, given, frame, gravity)

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
