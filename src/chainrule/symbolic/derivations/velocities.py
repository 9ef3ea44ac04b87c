"""The derivation of velocities: from link to link outward, then in the axes of the base, and the Jacobian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainrule.algorithms.jacobians import jacobian
from chainrule.algorithms.kinematics import pose, twists, twists_of
from chainrule.core.link_tables import VelocityTable
from chainrule.kinematics import poses
from chainrule.kinematics.textbook import velocity_table
from chainrule.kinematics.velocities import velocity
from chainrule.model import Body, Model
from chainrule.spatial import Twist
from chainrule.symbolic.algebra.ring import to_matrix
from chainrule.symbolic.derivations.latex_names import subscript
from chainrule.symbolic.derivations.problem import DerivationProblem, Quantity, column, number_matrix
from chainrule.symbolic.derivations.rules import (
    OTHER,
    SLIDES,
    TURNS,
    kinds_of_motion,
    link_section,
    quantities_with_numbers,
    rule,
)
from chainrule.symbolic.derivations.wrenches import virtual_work
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph

TIP = "e"
"""The index of an end-effector that is a frame on a link."""


def velocities(problem: DerivationProblem) -> list[Block]:
    """The sections about velocities from link to link, and those of the end-effector in the axes of the base."""
    problem.estimate_terms("its velocities", lambda model, q, qd, _: _entries(twists(model, q, qd)))
    bodies = problem.model.at(problem.symbols[0])
    V = twists_of(bodies, problem.symbols[1])
    problem.limit_terms("its velocities", _entries(V))
    table = velocity_table(problem.merged, *problem.state[:2])
    blocks: list[Block] = [Heading("Velocities from link to link"), *_rules(problem.model.bodies)]
    for body in problem.model.bodies:
        blocks += link_section(problem, body, _quantities(body.index, V[body.index], table, body.index - 1))
    for name in end_effectors(problem.model):
        blocks += _end_effector(problem, name, V, table)
    return [*blocks, *virtual_work(problem)]


def end_effectors(model: Model) -> tuple[str, ...]:
    """The end-effector of a model, or all tips where none is named."""
    return model.tips if model.end_effector is None else (model.end_effector,)


def _entries(V: Sequence[Twist]) -> list[Any]:
    return [x for twist in V for x in twist]


def _rules(bodies: Sequence[Body]) -> list[Block]:
    """The general equations for the kinds of joints of this robot."""
    turned, moved = r"R_i^T \omega_p", r"R_i^T \left(v_p + \omega_p \times P_i\right)"
    kinds = kinds_of_motion(bodies)
    blocks: list[Block] = [
        Paragraph((
            "Link ", Formula("i"), " on its parent ", Formula("p"), "; the velocities of a link are in its own axes, "
            "and those of the base are zero. ", Formula("v_i"), " is the velocity of the origin of frame ",
            Formula("i"), ".",
        ))
    ]  # fmt: skip
    if TURNS in kinds:
        blocks += [
            Paragraph(("A joint that turns about the axis ", Formula(r"\hat{z}_i"), ":")),
            rule(r"\omega_i", turned + r" + \hat{z}_i \dot{q}_i", "rad/s"),
            rule("v_i", moved, "m/s"),
        ]
    if SLIDES in kinds:
        blocks += [
            Paragraph(("A joint that slides along the axis ", Formula(r"\hat{z}_i"), ":")),
            rule(r"\omega_i", turned, "rad/s"),
            rule("v_i", moved + r" + \hat{z}_i \dot{q}_i", "m/s"),
        ]
    if OTHER in kinds:
        blocks += [
            Paragraph(("Any other joint, with the screws ", Formula("S_i"), " in the frame of the link:")),
            rule(r"\left(\omega_J, v_J\right)", r"S_i \dot{q}_i"),
            rule(r"\omega_i", turned + r" + \omega_J", "rad/s"),
            rule("v_i", moved + " + v_J", "m/s"),
        ]
    return blocks


def _quantities(index: int | str, V: Twist, table: VelocityTable, row: int) -> list[Quantity]:
    return [
        Quantity(subscript(r"\omega", index), column(V.angular), "rad/s", table.omega[row]),
        Quantity(subscript("v", index), column(V.linear), "m/s", table.v[row]),
    ]


def _end_effector(problem: DerivationProblem, name: str, V: Sequence[Twist], table: VelocityTable) -> list[Block]:
    """The velocities of an end-effector in its own axes and in those of the base, and its Jacobian."""
    q, qd, _ = problem.state
    index, offset = problem.model.locate(name)
    is_frame = name not in problem.model.index_of
    label: int | str = TIP if is_frame else index
    twist = offset.inv * V[index]
    T = pose(problem.model, problem.symbols[0], name)
    R = to_matrix(T.rotation)
    blocks: list[Block] = [Heading(f"End-effector: {name}")]
    if is_frame:
        blocks += [
            Paragraph((
                "Its frame ", Formula(TIP), " is fixed to link ", Formula(str(index)), ", at ", Formula("P_{e}"),
                " with the axes ", Formula("R_{e}"), ", so that no joint adds to its velocities:",
            )),
            Equation((Formula("R_{e}"), to_matrix(offset.rotation))),
            Equation((Formula("P_{e}"), column(offset.translation)), "m"),
            rule(r"\omega_{e}", rf"R_{{e}}^T \omega_{{{index}}}", "rad/s"),
            rule("v_{e}", rf"R_{{e}}^T \left(v_{{{index}}} + \omega_{{{index}}} \times P_{{e}}\right)", "m/s"),
            *quantities_with_numbers(problem, _quantities(TIP, twist, table, len(table.links) - 1)),
        ]  # fmt: skip
    in_base = velocity(problem.merged, q, qd, name)
    world = [
        Quantity(f"{{}}^0 \\omega_{{{label}}}", column(T.rotation * twist.angular), "rad/s", in_base[:3]),
        Quantity(f"{{}}^0 v_{{{label}}}", column(T.rotation * twist.linear), "m/s", in_base[3:]),
    ]
    J = to_matrix(list(zip(*(list(S) for S in jacobian(problem.model, problem.symbols[0], name)), strict=True)))
    problem.check_number("J", J, poses.jacobian(problem.merged, q, name))
    return [
        *blocks,
        Paragraph(("In the axes of the base, with the rotation from the end-effector to it:",)),
        Equation((Formula(f"{{}}^0_{{{label}}} R"), R)),
        rule(f"{{}}^0 v_{{{label}}}", f"{{}}^0_{{{label}}} R \\, v_{{{label}}}", "m/s"),
        *quantities_with_numbers(problem, world),
        Paragraph(
            "They are linear in the velocities of the joints; the coefficients are the Jacobian, angular rows first:"
        ),
        rule(f"\\left({{}}^0 \\omega_{{{label}}}, {{}}^0 v_{{{label}}}\\right)", r"{}^0 J \, \dot{q}"),
        Equation((Formula("{}^0 J"), J, number_matrix(poses.jacobian(problem.merged, q, name)))),
    ]
