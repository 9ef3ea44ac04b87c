"""A robot's equations, written out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from chainrule.model import Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.robot.robot import Robot
    from chainrule.symbolic.closed_form.equations import Equations
    from chainrule.symbolic.closed_form.kinematics import KinematicEquations
    from chainrule.symbolic.documents.document import Document

Parameters = str | Mapping[Any, Any]


class Writing:
    """Closed forms and derivations."""

    model: Model

    def __init__(self, model: Model) -> None:
        raise NotImplementedError

    def equations(self, parameters: Parameters = "symbolic", *, simplify: bool = True) -> Equations:
        """The equations of motion in closed form: SymPy matrices M, C, g, tau and others.

        parameters: "symbolic", names for masses, lengths, inertias and angles; "numeric", their numbers; or a
        dictionary that gives some of the names numbers or other symbols. `simplify` factors coefficients.

        >>> import chainrule as cr
        >>> print(cr.load("pendulum").equations().tau[0])
        L_1**2*m_1*qddot_1 + L_1*g*m_1*sin(q_1)
        """
        from chainrule.symbolic.closed_form.equations import equations

        return equations(cast("Robot", self), parameters, simplify=simplify)

    def kinematic_equations(
        self, link: str | None = None, frame: str = "world", parameters: Parameters = "symbolic"
    ) -> KinematicEquations:
        """The pose T, the Jacobian J, its determinant and the singular postures of a link or frame, in closed form."""
        from chainrule.symbolic.closed_form.kinematics import kinematic_equations

        return kinematic_equations(cast("Robot", self), link, frame, parameters)

    def derivation(
        self,
        method: str = "newton-euler",
        *,
        parameters: Parameters = "symbolic",
        state: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    ) -> Document:
        """The equations of motion derived step by step, with numbers for a sample state (q, qd, qdd) beside symbols.

        method: "newton-euler", "lagrange" or "closed-form". The document can be written as LaTeX, Markdown, a Jupyter
        notebook, or a page of HTML.
        """
        from chainrule.symbolic.derivations.derivation import derive

        return derive(cast("Robot", self), method, parameters=parameters, state=state)
