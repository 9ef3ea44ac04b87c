"""The derivation of accelerations from link to link: angular and linear, by matrices and by the transport theorem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chainrule.algorithms.kinematics import origin_acceleration, outward, pose
from chainrule.arguments import Array
from chainrule.kinematics.moving_point import acceleration_terms
from chainrule.kinematics.velocities import acceleration
from chainrule.model import Body, PosedBody
from chainrule.spatial import Transform, Twist, Vector
from chainrule.spatial.scalar import is_zero
from chainrule.symbolic.algebra.ring import to_matrix
from chainrule.symbolic.derivations.introduction import parameter_table
from chainrule.symbolic.derivations.latex_names import subscript
from chainrule.symbolic.derivations.problem import DerivationProblem, Quantity, column
from chainrule.symbolic.derivations.rules import OTHER, SLIDES, TURNS, kinds_of_motion, quantities_with_numbers, rule
from chainrule.symbolic.derivations.velocities import TIP, end_effectors
from chainrule.symbolic.derivations.wrenches import virtual_work
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph

OMEGA, V_DOT = r"\omega", r"\dot{v}"
OMEGA_DOT = r"\dot{\omega}"


def accelerations(problem: DerivationProblem) -> list[Block]:
    """The sections about both ways to the general equations, the links, and the end-effector in base axes."""
    problem.estimate_terms("its accelerations", lambda model, *state: _entries(_motion(model.at(state[0]), *state[1:])))
    bodies = problem.model.at(problem.symbols[0])
    motion = _motion(bodies, *problem.symbols[1:])
    problem.limit_terms("its accelerations", _entries(motion))
    blocks: list[Block] = [
        *_angular(problem.model.bodies),
        *_linear(problem.model.bodies),
        Heading("Link by link"),
        Paragraph((
            "The base is at rest. The matrix ", Formula(r"\dot{R}_i^T"), " is the derivative of ", Formula("R_i^T"),
            ", entry by entry; terms that are zero for a joint are left out. Both ways give the same components. ",
            Formula("P_{Ci}"), " is the centre of mass of a link that has one.",
        )),
        *_centers(problem),
    ]  # fmt: skip
    for body in bodies:
        blocks += _link(problem, body, motion)
    for name in end_effectors(problem.model):
        blocks += _end_effector(problem, name, motion)
    return [*blocks, *virtual_work(problem)]


def _motion(bodies: Sequence[PosedBody], qd: Sequence[Any], qdd: Sequence[Any]) -> list[tuple[Vector, Vector, Vector]]:
    """omega, omega-dot and the acceleration of the origin of every link, in its own axes; entry 0 is the base."""
    V, A = outward(bodies, qd, qdd, Twist.zero())
    return [(v.angular, a.angular, origin_acceleration(v, a)) for v, a in zip(V, A, strict=True)]


def _entries(motion: Sequence[tuple[Vector, ...]]) -> list[Any]:
    return [x for vectors in motion for vector in vectors for x in vector]


# --- general equations ---


def _angular(bodies: Sequence[Body]) -> list[Block]:
    kinds = kinds_of_motion(bodies)
    result = r"R_i^T \dot{\omega}_p + R_i^T \omega_p \times \omega_J + \dot{\omega}_J"
    turned = r"R_i^T \dot{\omega}_p + R_i^T \omega_p \times \hat{z}_i \dot{q}_i + \hat{z}_i \ddot{q}_i"
    blocks: list[Block] = [
        Heading("Angular acceleration by matrices"),
        Paragraph((
            "Link ", Formula("i"), " on its parent ", Formula("p"), ". Joint ", Formula("i"), " turns the link at ",
            Formula(r"\omega_J"), " as seen from the parent; all vectors are in the axes of their links:",
        )),
        rule(r"\omega_i", r"R_i^T \omega_p + \omega_J", "rad/s"),
        Paragraph("The product rule, with the rates of the components:"),
        rule(r"\dot{\omega}_i", r"R_i^T \dot{\omega}_p + \dot{R}_i^T \omega_p + \dot{\omega}_J", "rad/s^2"),
        Paragraph((
            "The rate of a rotation matrix is a skew-symmetric matrix times itself, since ", Formula("R_i^T R_i = 1"),
            ". Seen from link ", Formula("i"), ", its parent turns at ", Formula(r"-\omega_J"), ":",
        )),
        rule(r"\dot{R}_i^T", r"R_{\Omega} R_i^T, \quad R_{\Omega} = -\left[\omega_J\right]", "rad/s"),
        rule(
            r"\dot{R}_i^T \omega_p",
            r"-\omega_J \times R_i^T \omega_p = R_i^T \omega_p \times \omega_J",
            "rad/s^2",
        ),
        rule(r"\dot{\omega}_i", result, "rad/s^2"),
        Heading("Angular acceleration by the transport theorem"),
        Paragraph((
            "In base axes, angular velocities add up. The joint's is known in the axes of the parent, which turn at ",
            Formula(r"{}^0 \omega_p"), ":",
        )),
        rule(r"{}^0 \omega_i", r"{}^0 \omega_p + {}^0_p R \, {}^p \omega_J", "rad/s"),
        rule(
            r"{}^0 \dot{\omega}_i",
            r"{}^0 \dot{\omega}_p + {}^0_p R \, {}^p \dot{\omega}_J + {}^0 \omega_p \times {}^0_p R \, {}^p \omega_J",
            "rad/s^2",
        ),
        Paragraph(("Turned into the axes of link ", Formula("i"), ", by ", Formula("{}^i_0 R"),
                   ", this is the same equation.")),
    ]  # fmt: skip
    if TURNS in kinds:
        blocks += [
            Paragraph(("A joint that turns about ", Formula(r"\hat{z}_i"), " has ", Formula(
                r"\omega_J = \hat{z}_i \dot{q}_i"), " and ", Formula(r"\dot{\omega}_J = \hat{z}_i \ddot{q}_i"), ":")),
            rule(r"\dot{\omega}_i", turned, "rad/s^2"),
        ]  # fmt: skip
    if SLIDES in kinds:
        blocks += [
            Paragraph("A joint that slides turns nothing:"),
            rule(r"\dot{\omega}_i", r"R_i^T \dot{\omega}_p", "rad/s^2"),
        ]
    if OTHER in kinds:
        blocks += [
            Paragraph(("Any other joint, with the screws ", Formula("S_i"), " in the frame of the link:")),
            rule(r"\left(\omega_J, v_J\right)", r"S_i \dot{q}_i"),
            rule(r"\left(\dot{\omega}_J, \dot{v}_J\right)", r"S_i \ddot{q}_i + \dot{S}_i \dot{q}_i"),
        ]
    return blocks


def _linear(bodies: Sequence[Body]) -> list[Block]:
    kinds = kinds_of_motion(bodies)
    inner = r"\dot{\omega}_p \times P_i + \omega_p \times \left(\omega_p \times P_i\right) + \dot{v}_p"
    W, W_dot, R = r"{}^0 R_{\Omega}", r"{}^0 \dot{R}_{\Omega}", r"{}^0_p R"
    blocks: list[Block] = [
        Heading("Linear acceleration by matrices"),
        Paragraph((
            "The origin of frame ", Formula("i"), " is at ", Formula("P_i"), " in the frame of the parent, where it "
            "moves at ", Formula(r"\dot{P}_i"), " if the joint slides. In base axes, with the matrix ",
            Formula(rf"{W} = \left[{{}}^0 \omega_p\right]"), ":",
        )),
        rule(r"{}^0 v_i", rf"{W} \, {R} P_i + {{}}^0 v_p + {R} \dot{{P}}_i", "m/s"),
        Paragraph(("The product rule, with ", Formula(rf"{{}}^0_p \dot{{R}} = {W} \, {R}"), ":")),
        rule(
            r"{}^0 \dot{v}_i",
            rf"{W_dot} \, {R} P_i + {W} {W} \, {R} P_i + {W} \, {R} \dot{{P}}_i + {{}}^0 \dot{{v}}_p + "
            rf"{W} \, {R} \dot{{P}}_i + {R} \ddot{{P}}_i",
            "m/s^2",
        ),
        rule(
            r"{}^0 \dot{v}_i",
            rf"{W_dot} \, {R} P_i + {W} {W} \, {R} P_i + {{}}^0 \dot{{v}}_p + 2 {W} \, {R} \dot{{P}}_i + "
            rf"{R} \ddot{{P}}_i",
            "m/s^2",
        ),
        Paragraph((
            "Turned into the axes of link ", Formula("i"), ", by ", Formula(r"{}^i_0 R = R_i^T \, {}^p_0 R"),
            ". A matrix of a cross product turns into that of the turned vector, ",
            Formula(rf"{{}}^p_0 R \, {W} \, {R} = \left[\omega_p\right]"), ":",
        )),
        rule(
            V_DOT + "_i",
            r"R_i^T \left(\left(\left[\dot{\omega}_p\right] + \left[\omega_p\right]^2\right) P_i + \dot{v}_p + "
            r"2 \left[\omega_p\right] \dot{P}_i + \ddot{P}_i\right)",
            "m/s^2",
        ),
        Heading("Linear acceleration by the transport theorem"),
        Paragraph((
            "A point Q at ", Formula("P"), " in a frame B, which has the orientation ", Formula("R"), " and turns at ",
            Formula(r"\Omega"), ". The theorem gives its velocity, and once more, for the first term and inside the "
            "second, its acceleration:",
        )),
        rule("V_Q", r"V_B + R \dot{P} + \Omega \times R P", "m/s"),
        rule(
            r"\dot{V}_Q",
            r"\dot{V}_B + R \ddot{P} + \Omega \times R \dot{P} + \dot{\Omega} \times R P + "
            r"\Omega \times \left(R \dot{P} + \Omega \times R P\right)",
            "m/s^2",
        ),
        rule(
            r"\dot{V}_Q",
            r"\dot{V}_B + R \ddot{P} + 2 \Omega \times R \dot{P} + \dot{\Omega} \times R P + "
            r"\Omega \times \left(\Omega \times R P\right)",
            "m/s^2",
        ),
        Paragraph(
            "The terms: the acceleration of the frame's origin, that of the point in the frame, Coriolis', Euler's, "
            "and the centripetal acceleration. With the parent as frame B and the origin of the link as Q:"
        ),
    ]  # fmt: skip
    if TURNS in kinds:
        blocks += [
            Paragraph("A joint that turns leaves the origin where it is in the parent:"),
            rule(V_DOT + "_i", rf"R_i^T \left({inner}\right)", "m/s^2"),
        ]
    if SLIDES in kinds:
        slid = r" + 2 \omega_i \times \hat{z}_i \dot{q}_i + \hat{z}_i \ddot{q}_i"
        blocks += [
            Paragraph(("A joint that slides along ", Formula(r"\hat{z}_i"), " has ", Formula(
                r"R_i^T \dot{P}_i = \hat{z}_i \dot{q}_i"), ", and ", Formula(r"\omega_i = R_i^T \omega_p"), ":")),
            rule(V_DOT + "_i", rf"R_i^T \left({inner}\right){slid}", "m/s^2"),
        ]  # fmt: skip
    if OTHER in kinds:
        slid = r" + 2 \left(R_i^T \omega_p\right) \times v_J + \omega_J \times v_J + \dot{v}_J"
        blocks += [
            Paragraph(("Any other joint has ", Formula(r"R_i^T \dot{P}_i = v_J"), ":")),
            rule(V_DOT + "_i", rf"R_i^T \left({inner}\right){slid}", "m/s^2"),
        ]
    return [
        *blocks,
        Paragraph((
            "A centre of mass is fixed in its link. Its frame has the axes of the link, ", Formula("R = 1"), ":",
        )),
        rule(
            r"\dot{v}_{Ci}",
            r"\dot{\omega}_i \times P_{Ci} + \omega_i \times \left(\omega_i \times P_{Ci}\right) + \dot{v}_i",
            "m/s^2",
        ),
    ]  # fmt: skip


# --- a robot's own ---


def _link(problem: DerivationProblem, body: PosedBody, motion: Sequence[tuple[Vector, Vector, Vector]]) -> list[Block]:
    """The matrices and terms of a link, and its accelerations."""
    i, p = body.index, body.parent
    q, qd, qdd = problem.state
    omega, omega_dot, v_dot = motion[i]
    names = problem.model.links
    terms = acceleration_terms(problem.merged, q, qd, qdd, names[p].name, names[i].name, frame="body")
    kernel = acceleration(problem.merged, q, qd, qdd, names[i].name, frame="body")
    quantities = [
        *_terms(problem, body, motion, terms),
        Quantity(subscript(OMEGA_DOT, i), column(omega_dot), "rad/s^2", kernel[:3]),
        Quantity(subscript(V_DOT, i), column(v_dot), "m/s^2", kernel[3:]),
    ]
    link = body.body.link
    matrices: list[Block] = []
    if not is_zero(link.mass):
        matrices.append(Equation((Formula(rf"P_{{C{i}}}"), column(link.com)), "m"))
        at = _numbers(link.com, problem)
        of_com = acceleration(problem.merged, q, qd, qdd, names[i].name, frame="body", point=at)
        a = v_dot + omega_dot.cross(link.com) + omega.cross(omega.cross(link.com))
        quantities.append(Quantity(rf"\dot{{v}}_{{C{i}}}", column(a), "m/s^2", of_com[3:]))
    matrices += _rate_of_rotation(problem, body)
    if p:
        w, w_dot, _ = motion[p]
        square = to_matrix((w_dot.skew() + w.skew() @ w.skew()).table())
        name = rf"\left[\dot{{\omega}}_{{{p}}}\right] + \left[\omega_{{{p}}}\right]^2"
        matrices.append(Equation((Formula(name), square), "rad/s^2"))
    return [
        Heading(f"Link {i}: {link.name}", 2),
        *matrices,
        Equation((Formula(subscript(OMEGA, i)), column(omega)), "rad/s"),
        *quantities_with_numbers(problem, quantities),
    ]


def _centers(problem: DerivationProblem) -> list[Block]:
    """The table of the symbols that centers of mass have."""
    used = set().union(
        *(column(body.link.com).free_symbols for body in problem.model.bodies if not is_zero(body.link.mass))
    )
    return parameter_table(problem, {s: x for s, x in problem.equations.parameters.items() if s in used})


def _rate_of_rotation(problem: DerivationProblem, body: PosedBody) -> list[Block]:
    """The derivative of R_i^T, which must be -[omega_J] R_i^T; nothing if the joint turns nothing."""
    R = to_matrix(body.T.rotation.inv.table())
    rate = problem.rate(R)
    own = problem.merged.model.at(problem.state[0].tolist())[body.index - 1]
    w = own.along(problem.state[1].tolist()).angular
    kernel = -np.asarray(w.skew(), dtype=float) @ np.asarray(own.T.rotation.inv, dtype=float)
    problem.check_number(rf"\dot{{R}}_{{{body.index}}}^T", rate, kernel)
    return [Equation((Formula(rf"\dot{{R}}_{{{body.index}}}^T"), rate), "rad/s")] if any(rate) else []


def _terms(
    problem: DerivationProblem, body: PosedBody, motion: Sequence[tuple[Vector, Vector, Vector]], kernel: Any
) -> list[Quantity]:
    """The terms of the acceleration of the link's origin, in the axes of the parent, but for those that are zero."""
    i, p = body.index, body.parent
    qd, qdd = problem.symbols[1:]
    joint, R, P = body.along(qd), body.T.rotation, body.T.translation
    rate = body.along(qdd) + body.velocity_product(qd)
    omega, omega_dot, _ = motion[p]
    P_dot = R * joint.linear
    P_ddot = R * (rate.linear + joint.angular.cross(joint.linear))
    found = [
        (rf"\ddot{{P}}_{{{i}}}", P_ddot, kernel.relative),
        (rf"2 \omega_{{{p}}} \times \dot{{P}}_{{{i}}}", omega.cross(P_dot) * 2, kernel.coriolis),
        (rf"\dot{{\omega}}_{{{p}}} \times P_{{{i}}}", omega_dot.cross(P), kernel.euler),
        (
            rf"\omega_{{{p}}} \times \left(\omega_{{{p}}} \times P_{{{i}}}\right)",
            omega.cross(omega.cross(P)),
            kernel.centripetal,
        ),
    ]
    shown = [(name, column(vector), number) for name, vector, number in found]
    return [Quantity(name, vector, "m/s^2", number) for name, vector, number in shown if any(vector)]


def _end_effector(
    problem: DerivationProblem, name: str, motion: Sequence[tuple[Vector, Vector, Vector]]
) -> list[Block]:
    """The accelerations of an end-effector in base axes, and its position differentiated twice."""
    index, offset = problem.model.locate(name)
    label: int | str = index if name in problem.model.index_of else TIP
    omega, omega_dot, v_dot = motion[index]
    P = offset.translation
    T: Transform = pose(problem.model, problem.symbols[0], name)
    turn = T.rotation @ offset.rotation.inv
    a = v_dot + omega_dot.cross(P) + omega.cross(omega.cross(P))
    kernel: Array = acceleration(problem.merged, *problem.state, name)
    position = column(T.translation)
    again = problem.rate(problem.rate(position))
    problem.check_number("the second derivative of the position", again, kernel[3:])
    words: list[Block] = []
    if label == TIP:
        words = [
            Paragraph((
                "The frame ", Formula(TIP), " is fixed to link ", Formula(str(index)), ", at ", Formula("P_e"),
                ", so that no joint adds to its accelerations:",
            )),
            Equation((Formula("P_e"), column(P)), "m"),
        ]  # fmt: skip
    return [
        Heading(f"End-effector: {name}"),
        *words,
        rule(
            rf"{{}}^0 \dot{{v}}_{{{label}}}",
            rf"{{}}^0_{{{index}}} R \left(\dot{{v}}_{{{index}}} + \dot{{\omega}}_{{{index}}} \times P_{{{label}}} + "
            rf"\omega_{{{index}}} \times \left(\omega_{{{index}}} \times P_{{{label}}}\right)\right)"
            if label == TIP
            else rf"{{}}^0_{{{index}}} R \, \dot{{v}}_{{{index}}}",
            "m/s^2",
        ),
        *quantities_with_numbers(problem, [
            Quantity(rf"{{}}^0 \dot{{\omega}}_{{{label}}}", column(turn * omega_dot), "rad/s^2", kernel[:3]),
            Quantity(rf"{{}}^0 \dot{{v}}_{{{label}}}", column(turn * a), "m/s^2", kernel[3:]),
        ]),
        Paragraph("The second derivative of its position in base axes is the same, in numbers, at the sample state."),
    ]  # fmt: skip


def _numbers(vector: Vector, problem: DerivationProblem) -> Array:
    return problem.number(column(vector))
