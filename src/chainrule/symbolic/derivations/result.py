"""Where every derivation ends: the equations of motion, grouped, with numbers beside them."""

from __future__ import annotations

import sympy as sp

from chainrule.arguments import Array
from chainrule.symbolic.closed_form.equations import Equations
from chainrule.symbolic.derivations.setting import Quantity, Setting
from chainrule.symbolic.documents.breaking import indexed
from chainrule.symbolic.documents.document import Block, Equation, Formula, Heading, Paragraph

VELOCITY = r"C \dot{q}"
"""Not c, which with an index is a cosine."""


def groups(equations: Equations) -> list[tuple[str, str, sp.Matrix]]:
    """The terms that are not zero: the name of each in LaTeX, in words, and its matrix."""
    found = [
        ("M", "The mass matrix", equations.M),
        (VELOCITY, "Centrifugal and Coriolis torques", equations.c),
        ("g", "Gravity", equations.g),
        (r"\tau_s", "Springs", equations.spring),
        (r"\tau_f", "Friction", equations.friction),
    ]
    return [(name, words, matrix) for name, words, matrix in found if any(x != 0 for x in matrix)]


def total(equations: Equations) -> Equation:
    """tau as the sum of the terms that are not zero."""
    parts = [r"M \ddot{q}" if name == "M" else name for name, _, _ in groups(equations)]
    return Equation((Formula(r"\tau"), Formula(" + ".join(parts))))


def result(setting: Setting) -> list[Block]:
    """The equations of motion by their terms, checked."""
    equations, robot = setting.equations, setting.robot
    q, qd, qdd = setting.state
    terms = robot.torque_terms(q, qd, qdd)
    kernels = {
        VELOCITY: terms["centrifugal"] + terms["coriolis"], "g": terms["gravity"], r"\tau_s": terms["spring"],
        r"\tau_f": terms["friction"],
    }  # fmt: skip
    blocks: list[Block] = [
        Heading("The equations of motion"),
        Paragraph("All terms together, by their causes. Entries that are not listed are zero."),
        total(equations),
    ]
    quantities: list[Quantity] = []
    for name, words, matrix in groups(equations):
        blocks += [Paragraph(f"{words}:"), Equation((Formula(name), matrix))]
        if name == "M":
            quantities += _mass_matrix(setting)
        else:
            quantities += _entries(setting, name, matrix, kernels[name])
    quantities += _entries(setting, r"\tau", equations.tau, robot.inverse_dynamics(q, qd, qdd))
    return [*blocks, setting.numbers(quantities), _units(setting)]


def _entries(setting: Setting, name: str, matrix: sp.Matrix, kernel: Array) -> list[Quantity]:
    return [
        Quantity(indexed(name, str(i + 1)), matrix[i], effort, kernel[i]) for i, effort in enumerate(setting.efforts)
    ]


def _mass_matrix(setting: Setting) -> list[Quantity]:
    M, kernel = setting.equations.M, setting.robot.mass_matrix(setting.state[0])
    lengths = [u == "m" for u in setting.coordinates]
    words = {0: "kg m^2", 1: "kg m", 2: "kg"}
    return [
        Quantity(f"M_{{{i + 1}{j + 1}}}", M[i, j], words[lengths[i] + lengths[j]], kernel[i, j])
        for i in range(M.rows)
        for j in range(i, M.cols)
    ]


def _units(setting: Setting) -> Paragraph:
    if setting.is_symbolic:
        return Paragraph("Units: every term of every quantity that has a unit beside it was found to have that unit.")
    return Paragraph(
        "Units: the numbers among the parameters have lost theirs; the units given beside the equations were checked "
        "by computing the robot again in pounds, feet and minutes."
    )
