"""Kinematic equations as a document: pose, Jacobians, singular postures and parameters."""

from __future__ import annotations

import sympy as sp

from chainrule.errors import ModelError
from chainrule.symbolic.closed_form.kinematic_terms import KinematicTerms
from chainrule.symbolic.closed_form.summary import (
    joint_table,
    notation_of,
    parameter_table,
    short_names,
    style_of,
)
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph
from chainrule.symbolic.documents.document import Document

NAMES: dict[str, tuple[str, dict[str, str]]] = {
    "chainrule": ("T", {"world": "J", "space": "J", "body": "J"}),
    "craig": ("{}^{0}_{e} T", {"world": "{}^{0}J", "space": "{}^{0}J", "body": "{}^{e}J"}),
    "lynch-park": ("T_{se}", {"world": "J", "space": "J_{s}", "body": "J_{b}"}),
    "duindam": ("H_{e}^{0}", {"world": "J_{e}", "space": "J_{e}^{0,0}", "body": "J_{e}^{e,0}"}),
}
"""Notation -> the names of the pose and of the Jacobian, by its frame."""


def summary(equations: KinematicTerms, *, shorthand: bool = False) -> Document:
    """A document of all terms; where one does not exist or is too long, the reason stands in its place.

    >>> import chainrule as cr
    >>> summary(cr.load("planar_2r").kinematic_equations()).title
    'Pose and Jacobian of tip of planar_2r'
    """
    angles = "roll, pitch and yaw" if equations.order == "rpy" else f"angles in the order {equations.order}"
    pose, jacobians = NAMES[equations.notation]
    sections = [
        ("Pose", pose, "T", ""),
        (
            "Jacobian",
            jacobians[equations.frame],
            "J",
            f'Angular rows come first; the frame is "{equations.frame}".',
        ),
        ("Pose vector", "x", "pose_vector", f"Position and {angles}; angles are meant up to full turns."),
        ("Analytic Jacobian", "J_a", "analytic_jacobian", "Rates of the pose vector for each joint velocity."),
        _singular_section(equations),
    ]
    blocks: list[Block] = []
    used: list[sp.Basic] = []
    for title, letter, name, words in sections:
        blocks.append(Heading(title, 2))
        try:
            term = equations.term(name)
        except ModelError as error:
            blocks.append(Paragraph(f"There is none: {error}."))
            continue
        used.append(term)
        blocks += [Paragraph(words)] if words else []
        blocks.append(Equation((Formula(letter), term)))
    blocks += _postures(equations)
    style = style_of(equations, shorthand=shorthand)
    blocks += [*short_names(used, style), *parameter_table(equations, used)]
    blocks += [*joint_table(equations.robot), Paragraph("SI units. Entries of a matrix that are not listed are zero.")]
    written = notation_of(equations).blocks(blocks)
    return Document(f"Pose and Jacobian of {equations.link} of {equations.robot.model.name}", written, style)


def _singular_section(equations: KinematicTerms) -> tuple[str, str, str, str]:
    if not _has_determinant(equations):
        return "Manipulability", "w", "manipulability", "Zero where the robot is singular."
    rows = ", ".join(str(i + 1) for i in equations.rows)
    words = f"Of the rows {rows} of the Jacobian: zero where the robot is singular."
    return "Determinant", r"\det\left(J\right)", "determinant", words


def _has_determinant(equations: KinematicTerms) -> bool:
    """Whether the Jacobian is square and not singular everywhere, as it is if a joint does not move the link."""
    return len(equations.rows) == len(equations.q) and equations.is_regular


def _postures(equations: KinematicTerms) -> list[Block]:
    """Where each factor of the determinant is zero; nothing where there is no determinant."""
    try:
        found = equations.singularities() if _has_determinant(equations) else None
    except ModelError:
        return []
    if found is None:
        return []
    if not found:
        return [Paragraph("It is zero nowhere: the robot has no singular postures.")]
    lines: list[Block] = [Paragraph("It is zero where one of these holds:")]
    return lines + [Equation((place.lhs, place.rhs)) for places in found.values() for place in places]
