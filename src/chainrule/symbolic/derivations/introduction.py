"""The first section of every derivation: frames, joints, links and parameters."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from chainrule.model import Body
from chainrule.model.joints import JointKind, Moved, Screw
from chainrule.spatial.scalar import is_zero
from chainrule.symbolic.algebra.ring import to_matrix, to_sympy
from chainrule.symbolic.derivations.latex_names import subscript
from chainrule.symbolic.derivations.problem import DerivationProblem, column, vector_text
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph, TableBlock
from chainrule.symbolic.documents.printing import superscript_powers

ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")


def introduction(problem: DerivationProblem) -> list[Block]:
    """The section about frames, masses and parameters."""
    gravity = Equation((Formula("g_{0}"), column(problem.model.gravity).T), "m/s^2")
    return [
        *_overview(problem),
        _links(problem),
        *parameter_table(problem, problem.equations.parameters),
        Paragraph("Gravity, in the axes of the base:"),
        gravity,
        *_frames(problem, ("; the centre of mass is at ", Formula("P_{Ci}"))),
    ]


def geometry(problem: DerivationProblem) -> list[Block]:
    """The section about frames and lengths, without masses."""
    model = problem.model
    places = [body.T for body in model.at(problem.symbols[0])] + [frame.origin for frame in model.frames]
    used = set().union(*(to_matrix(T.rows()).free_symbols for T in places))
    lengths = {symbol: value for symbol, value in problem.equations.parameters.items() if symbol in used}
    return [*_overview(problem), *parameter_table(problem, lengths), *_frames(problem)]


def _overview(problem: DerivationProblem) -> list[Block]:
    """The heading, the number of joints and links, and the table of joints."""
    robot = problem.robot
    text = (
        f"{robot.name}: {robot.nv} degrees of freedom, {len(problem.model.bodies)} moving links. Link i has the frame "
        "i, which joint i moves in the frame of its parent; the base is 0. Every vector of a link is in the link's own "
        "frame. SI units throughout."
    )
    return [Heading("Frames and parameters"), Paragraph(text), _joints(problem)]


def _joints(problem: DerivationProblem) -> TableBlock:
    rows = []
    for body in problem.model.bodies:
        joint = body.joint
        unit = ", ".join(joint.kind.units) or "-"
        parent = f"{body.parent} ({problem.model.links[body.parent].name})"
        origin = vector_text(joint.origin.translation)
        rows.append((str(body.index), joint.name, joint.type, parent, origin, axis(body), unit))
    header = ("joint", "name", "type", "moves in", "origin there, m", "axis", "coordinate")
    return TableBlock(header, tuple(rows))


def axis(body: Body) -> tuple[object, ...]:
    """The axis of a joint with one screw, in the joint's frame; a dash for other joints."""
    kind: JointKind = body.joint.kind
    inner = kind.inner if isinstance(kind, Moved) else kind
    if not isinstance(inner, Screw):
        return ("-",)
    return vector_text(inner.angular if inner.turns else inner.linear)


def _links(problem: DerivationProblem) -> TableBlock:
    rows = []
    for body in problem.model.bodies:
        link = body.link
        inertia: list[object] = []
        for name, x in zip(ENTRIES, link.inertia.entries(), strict=True):
            if not is_zero(x):
                inertia += ["; " if inertia else "", f"{name}: ", to_sympy(x)]
        rows.append((str(body.index), link.name, to_sympy(link.mass), vector_text(link.com), tuple(inertia) or "0"))
    header = ("link", "name", "mass, kg", "centre of mass, m", "inertia about it, kg m²")
    return TableBlock(header, tuple(rows))


def parameter_table(problem: DerivationProblem, parameters: Mapping[sp.Symbol, float]) -> list[Block]:
    """The table of symbols, values and units, three parameters in each row; nothing where there are none."""
    cells: list[tuple[object, ...]] = [
        (symbol, f"{value:.6g}", superscript_powers(problem.units.get(symbol, "")))
        for symbol, value in parameters.items()
    ]
    if not cells:
        return []
    across = min(3, len(cells))
    cells += [("", "", "")] * (-len(cells) % across)
    down = len(cells) // across
    rows = tuple(tuple(x for k in range(across) for x in cells[k * down + i]) for i in range(down))
    return [Paragraph("What the symbols stand for:"), TableBlock(("symbol", "value", "unit") * across, rows)]


def _frames(problem: DerivationProblem, more: tuple[object, ...] = ()) -> list[Block]:
    """The pose of every frame in its parent's frame."""
    blocks: list[Block] = [
        Paragraph((
            "Where each frame is in its parent's: its axes are the columns of ", Formula("R_i"), ", its origin is ",
            Formula("P_i"), *more, ".",
        ))
    ]  # fmt: skip
    for body in problem.model.at(problem.symbols[0]):
        i = body.index
        blocks.append(Equation((Formula(subscript("R", i)), to_matrix(body.T.rotation))))
        blocks.append(Equation((Formula(subscript("P", i)), column(body.T.translation)), "m"))
    return blocks
