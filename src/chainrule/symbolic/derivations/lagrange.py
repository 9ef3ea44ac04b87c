"""Lagrange's equations of a robot: energies link by link, their derivatives, and the torques."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainrule.algorithms.joint_forces import armature, spring_energy
from chainrule.algorithms.kinematics import poses_of, twists_of
from chainrule.spatial.scalar import is_zero
from chainrule.symbolic.algebra.ring import Element
from chainrule.symbolic.derivations.names import at
from chainrule.symbolic.derivations.setting import (
    Quantity,
    Setting,
    column,
    expression,
    terms,
    too_large,
)
from chainrule.symbolic.documents.document import Block, Equation, Formula, Heading, Paragraph

READABLE = 3000
"""Terms of the energies beyond which their derivatives are not written out."""

RATE = r"\frac{\mathrm{d}}{\mathrm{d} t} \, \frac{\partial L}{\partial \dot{q}_{%s}}"
MOMENTUM = r"\frac{\partial L}{\partial \dot{q}_{%s}}"
SLOPE = r"\frac{\partial L}{\partial q_{%s}}"


def lagrange(setting: Setting) -> list[Block]:
    """Kinetic and potential energies, the Lagrangian, and Lagrange's equation for every coordinate."""
    kinetic, potential = _energies(setting)
    K, P = _sum(kinetic), _sum(potential)
    if terms([K, P]) > READABLE:
        raise too_large(setting.robot, f"its energies have {terms([K, P])} terms")
    q, qd, _ = setting.state
    robot = setting.robot
    whole = [
        Quantity("K", expression(K), "J", robot.kinetic_energy(q, qd)),
        Quantity("P", expression(P), "J", _potential(setting)),
    ]
    blocks: list[Block] = [*_link_energies(setting, kinetic, potential), Heading("The Lagrangian")]
    blocks += [Equation((Formula(x.name), x.expression), x.unit) for x in whole]
    blocks += [Equation((Formula("L"), Formula("K - P")), "J"), setting.numbers(whole)]
    return [*blocks, *_derivatives(setting, K - P)]


def _energies(setting: Setting) -> tuple[list[Any], list[Any]]:
    """Of every link, and at the end of rotors and of springs."""
    model, (q, qd, _) = setting.model, setting.symbols
    bodies = model.at(q)
    V, T = twists_of(bodies, qd), poses_of(bodies)
    kinetic = [body.inertia.kinetic_energy(V[body.index]) for body in bodies]
    potential = [-model.gravity.dot((T[body.index] * body.inertia).moment) for body in bodies]
    rotors = [0 if is_zero(J) else J * rate * rate * 0.5 for J, rate in zip(armature(model), qd, strict=True)]
    return [*kinetic, _sum(rotors)], [*potential, spring_energy(model, q)]


def _potential(setting: Setting) -> Any:
    """By the kernels; links on fixed joints of the base do not move, and are not in the derivation."""
    merged = setting.robot.merge_fixed()
    return merged.potential_energy(setting.state[0])


def _link_energies(setting: Setting, kinetic: Sequence[Any], potential: Sequence[Any]) -> list[Block]:
    bodies = setting.model.at(setting.symbols[0])
    V, T = twists_of(bodies, setting.symbols[1]), poses_of(bodies)
    blocks: list[Block] = [
        Heading("Energies"),
        Paragraph((
            "A link's centre of mass has the velocity ", Formula("v_{Ci}"), " and, in the axes of the base, the place ",
            Formula("p_{Ci}"), ":",
        )),
        Equation((
            Formula("K_i"), Formula(r"\frac{1}{2} \, m_i v_{Ci}^T v_{Ci} + \frac{1}{2} \, \omega_i^T I_i \omega_i"),
        ), "J"),
        Equation((Formula("P_i"), Formula("-m_i g_0^T p_{Ci}")), "J"),
    ]  # fmt: skip
    for body in bodies:
        i, link = body.index, body.body.link
        omega = V[i].angular
        velocity = V[i].linear + omega.cross(link.com)
        quantities = [
            Quantity(at(r"\omega", i), column(omega), "rad/s"),
            Quantity(f"v_{{C{i}}}", column(velocity), "m/s"),
            Quantity(f"p_{{C{i}}}", column(T[i] * link.com), "m"),
            Quantity(at("K", i), expression(kinetic[i - 1]), "J"),
            Quantity(at("P", i), expression(potential[i - 1]), "J"),
        ]
        for quantity in quantities:
            setting.check_units(quantity)
        blocks.append(Heading(f"Link {i}: {link.name}", 2))
        blocks += [Equation((Formula(x.name), x.expression), x.unit) for x in quantities]
    extra = (("K_J", kinetic[-1], "Rotors, on the joints' side:"), ("P_k", potential[-1], "Springs:"))
    for name, energy, text in extra:
        if not is_zero(energy):
            blocks += [Paragraph(text), Equation((Formula(name), expression(energy)), "J")]
    return blocks


def _derivatives(setting: Setting, L: Element) -> list[Block]:
    eqs = setting.equations
    friction = setting.robot.friction_torque(setting.state[1])
    tau = setting.robot.inverse_dynamics(*setting.state) - friction
    rule = rf"{RATE % 'i'} - {SLOPE % 'i'}"
    blocks: list[Block] = [
        Heading("Lagrange's equations"),
        Paragraph("For every coordinate, before friction, which does work that is in no energy:"),
        Equation((Formula(r"\tau_i"), Formula(rule)), "N m or N"),
    ]
    for i, (symbol, rate) in enumerate(zip(eqs.q, eqs.qd, strict=True)):
        momentum, slope = L.derivative(rate), L.derivative(symbol)
        change = _sum(
            momentum.derivative(a) * v + momentum.derivative(b) * w
            for a, b, v, w in zip(eqs.q, eqs.qd, *setting.symbols[1:], strict=True)
        )
        torque = Quantity(at(r"\tau", i + 1), expression(change - slope), setting.efforts[i], tau[i])
        steps = [
            Quantity(MOMENTUM % (i + 1), expression(momentum), f"{setting.efforts[i]} s"),
            Quantity(RATE % (i + 1), expression(change), setting.efforts[i]),
            Quantity(SLOPE % (i + 1), expression(slope), setting.efforts[i]),
        ]
        for step in steps:
            setting.check_units(step)
        blocks.append(Heading(("Coordinate ", symbol), 2))
        blocks += [Equation((Formula(x.name), x.expression), x.unit) for x in (*steps, torque)]
        blocks.append(setting.numbers([torque]))
    return blocks


def _sum(parts: Any) -> Any:
    total: Any = 0
    for part in parts:
        total = total + part
    return total
