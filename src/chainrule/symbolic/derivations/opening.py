"""The opening of a derivation: joints, links and parameters, as symbols and as numbers."""

from __future__ import annotations

import sympy as sp

from chainrule.model import Body
from chainrule.model.joints import Kind, Moved, Screw
from chainrule.spatial.scalar import is_zero
from chainrule.symbolic.derivations.names import at
from chainrule.symbolic.derivations.setting import Setting, column, expression, row
from chainrule.symbolic.documents.document import (
    Block,
    Equation,
    Formula,
    Heading,
    Paragraph,
    Table,
)
from chainrule.symbolic.documents.printing import raised

ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")


def opening(setting: Setting) -> list[Block]:
    """Frames and parameters."""
    model, robot = setting.model, setting.robot
    gravity = Equation((Formula("g_{0}"), column(model.gravity).T), "m/s^2")
    text = (
        f"{robot.name}: {robot.n} degrees of freedom, {len(model.bodies)} moving links. Link i has the frame i, which "
        "joint i moves in the frame of its parent; the base is 0. Every vector of a link is in the link's own frame. "
        "SI units throughout."
    )
    blocks: list[Block] = [Heading("Frames and parameters"), Paragraph(text), _joints(setting), _links(setting)]
    if setting.equations.parameters:
        blocks += [Paragraph("What the symbols stand for:"), _parameters(setting)]
    return [*blocks, Paragraph("Gravity, in the axes of the base:"), gravity, *_frames(setting)]


def _joints(setting: Setting) -> Table:
    rows = []
    for body in setting.model.bodies:
        joint = body.joint
        unit = ", ".join(joint.kind.units) or "-"
        parent = f"{body.parent} ({setting.model.links[body.parent].name})"
        rows.append((str(body.index), joint.name, joint.type, parent, row(joint.origin.translation), axis(body), unit))
    header = ("joint", "name", "type", "moves in", "origin there, m", "axis", "coordinate")
    return Table(header, tuple(rows))


def axis(body: Body) -> tuple[object, ...]:
    """The axis of a joint of one screw, in the joint's frame; a dash for others."""
    kind: Kind = body.joint.kind
    inner = kind.inner if isinstance(kind, Moved) else kind
    if not isinstance(inner, Screw):
        return ("-",)
    return row(inner.angular if inner.turns else inner.linear)


def _links(setting: Setting) -> Table:
    rows = []
    for body in setting.model.bodies:
        link = body.link
        inertia: list[object] = []
        for name, x in zip(ENTRIES, link.inertia.entries(), strict=True):
            if not is_zero(x):
                inertia += ["; " if inertia else "", f"{name}: ", expression(x)]
        rows.append((str(body.index), link.name, expression(link.mass), row(link.com), tuple(inertia) or "0"))
    header = ("link", "name", "mass, kg", "centre of mass, m", "inertia about it, kg m²")
    return Table(header, tuple(rows))


def _parameters(setting: Setting) -> Table:
    """Three to a line."""
    cells: list[tuple[object, ...]] = [
        (symbol, f"{value:.6g}", raised(setting.units.get(symbol, "")))
        for symbol, value in setting.equations.parameters.items()
    ]
    across = min(3, len(cells))
    cells += [("", "", "")] * (-len(cells) % across)
    down = len(cells) // across
    rows = tuple(tuple(x for k in range(across) for x in cells[k * down + i]) for i in range(down))
    return Table(("symbol", "value", "unit") * across, rows)


def _frames(setting: Setting) -> list[Block]:
    """The pose of every frame in its parent's."""
    blocks: list[Block] = [
        Paragraph((
            "Where each frame is in its parent's: its axes are the columns of ", Formula("R_i"), ", its origin is ",
            Formula("P_i"), "; the centre of mass is at ", Formula("P_{Ci}"), ".",
        ))
    ]  # fmt: skip
    for placed in setting.model.at(setting.symbols[0]):
        i = placed.index
        rotation = sp.Matrix([[expression(x) for x in line] for line in placed.T.rotation])
        blocks.append(Equation((Formula(at("R", i)), rotation)))
        blocks.append(Equation((Formula(at("P", i)), column(placed.T.translation)), "m"))
    return blocks
