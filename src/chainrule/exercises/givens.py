"""What is given in an exercise: a robot's frames, masses and a state, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.core.derived import merged_model
from chainrule.core.link_tables import LinkTable
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link
from chainrule.errors import ModelError
from chainrule.kinematics.configurations import random_state
from chainrule.kinematics.pose_vectors import vector_from_pose
from chainrule.spatial import Transform
from chainrule.symbolic.derivations.introduction import axis
from chainrule.symbolic.documents.blocks import Block, Formula, Paragraph, TableBlock

ROUNDING = 1e-12
"""Up to this, in m and rad, a frame is where its joint is."""

ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")


class State(NamedTuple):
    """Positions, velocities and accelerations of round numbers."""

    q: Array
    qd: Array
    qdd: Array


def draw_state(robot: Mechanism, rng: np.random.Generator) -> State:
    """A random state within the limits, of round numbers."""
    if robot.model.constraints:
        raise ModelError(
            f"robot {robot.name!r} has loops: exercises are about trees; take robot.without_constraint(...)"
        )
    if not robot.nv:
        raise ModelError(f"robot {robot.name!r} has no joints that move, and so no exercises")
    layout = robot.model.layout
    q = random_state(robot, rng)
    if robot.nq == robot.nv:  # a quaternion of rounded numbers is none
        q = np.clip(np.round(np.clip(q, -np.pi, np.pi), 2), layout.lower, layout.upper)
    qd, qdd = (np.round(rng.uniform(-1, 1, robot.nv), 1) for _ in range(2))
    return State(q, qd, qdd)


def state_tables(robot: Mechanism, **rates: Array) -> tuple[Block, ...]:
    """A table of q, and of velocities, accelerations or torques by their LaTeX letters: qd, qdd, tau."""
    layout = robot.model.layout
    q = rates.pop("q")
    blocks: list[Block] = [
        TableBlock(
            ("coordinate", Formula("q"), "unit"),
            tuple((c.name, number(x), c.unit) for c, x in zip(layout.coordinates, q, strict=True)),
        )
    ]
    letters = {"qd": r"\dot{q}", "qdd": r"\ddot{q}", "tau": r"\tau"}
    if rates:
        header = ("joint", *(Formula(letters[name]) for name in rates), "units")
        rows = []
        for k, velocity in enumerate(layout.velocities):
            u = velocity.unit
            units = {"qd": f"{u}/s", "qdd": f"{u}/s²", "tau": "N m" if u == "rad" else "N"}
            rows.append(
                (
                    velocity.name,
                    *(number(value[k]) for value in rates.values()),
                    ", ".join(units[name] for name in rates),
                )
            )
        blocks.append(TableBlock(header, tuple(rows)))
    return tuple(blocks)


def robot_tables(robot: Mechanism, *, with_masses: bool) -> tuple[Block, ...]:
    """The joints of a robot, its links if masses are asked for, its end-effector, and gravity."""
    model = merged_model(robot)
    joints, links = [], []
    posed = list(model.at([float(x) for x in model.layout.neutral]))
    offsets = [_place(at.body.joint.origin.inverse() * at.T) for at in posed]
    is_moved = bool(np.abs(offsets).max(initial=0.0) > ROUNDING)
    for body, offset in zip(model.bodies, offsets, strict=True):
        x = _place(body.joint.origin)
        parent = model.links[body.parent].name
        row = [str(body.index), body.joint.name, body.joint.type, parent, numbers(x[:3]), numbers(x[3:]), axis(body)]
        joints.append((*row, numbers(offset[:3]), numbers(offset[3:])) if is_moved else tuple(row))
        inertia = [
            f"{name}: {number(float(v))}" for name, v in zip(ENTRIES, body.link.inertia.entries(), strict=True) if v
        ]
        mass = number(float(body.link.mass))
        links.append((str(body.index), body.link.name, mass, numbers(body.link.com), "; ".join(inertia) or "0"))
    columns: tuple[str, ...] = ("joint", "name", "type", "moves in", "origin there, m", "angles there, rad", "axis")
    words = "Each joint moves its link in the frame of the parent link; the angles are roll, pitch and yaw."
    if is_moved:
        columns = (*columns, "then moved by, m", "and turned by, rad")
        words += " From the joint, the frame of the link is moved and turned once more, with the link."
    blocks: list[Block] = [Paragraph(words), TableBlock(columns, tuple(joints))]
    if with_masses:
        header = ("link", "name", "mass, kg", "center of mass, m", "inertia about it, kg m²")
        blocks.append(TableBlock(header, tuple(links)))
        blocks.append(Paragraph(f"Gravity, in the axes of the base: {numbers(model.gravity)} m/s²."))
    tip = find_link(robot)
    index, T = model.locate(tip)
    x = _place(T)
    if np.any(x):
        words = f"The end-effector {tip} is on link {model.links[index].name}, at {numbers(x[:3])} m"
        turned = f", with the angles {numbers(x[3:])} rad" if np.any(x[3:]) else ""
        blocks.append(Paragraph(words + turned + "."))
    else:
        blocks.append(Paragraph(f"The end-effector is {tip}."))
    return tuple(blocks)


def _place(T: Transform) -> Array:
    """A pose as (x, y, z, roll, pitch, yaw)."""
    return np.asarray(vector_from_pose(np.array([[float(v) for v in row] for row in T.rows()])), dtype=float)


def link_blocks(table: LinkTable, columns: Sequence[str] | None = None) -> tuple[Block, ...]:
    """A table of a recursion as a block: a row for each link and column."""
    chosen = columns or list(table.units)
    rows = []
    for k, link in enumerate(table.links):
        rows += [
            (link if name == chosen[0] else "", name, numbers(getattr(table, name)[k]), table.units[name])
            for name in chosen
        ]
    return (TableBlock(("link", "", "numbers", "unit"), tuple(rows)),)


def number(x: float) -> str:
    """A number with six digits, and no rounding beside zero."""
    return f"{0.0 if abs(x) < 1e-12 else x:.6g}"


def numbers(values: Any) -> str:
    """A vector in round brackets."""
    return f"({', '.join(number(float(x)) for x in values)})"
