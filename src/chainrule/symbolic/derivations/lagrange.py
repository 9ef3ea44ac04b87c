"""The derivation by Lagrange: energies of the links, derivatives of the Lagrangian, torques."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from chainrule.algorithms.joint_forces import armature, spring_energy
from chainrule.algorithms.kinematics import poses_of, twists_of
from chainrule.dynamics.dynamics import friction_torque, inverse_dynamics
from chainrule.dynamics.energy import kinetic_energy, potential_energy
from chainrule.model import Model
from chainrule.spatial.scalar import is_zero
from chainrule.symbolic.algebra.ring import Element, to_sympy
from chainrule.symbolic.closed_form.size_estimate import QUANTITIES
from chainrule.symbolic.derivations.latex_names import subscript
from chainrule.symbolic.derivations.problem import DerivationProblem, Quantity, column
from chainrule.symbolic.derivations.wrenches import virtual_work
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph

MAX_ENERGY_TERMS = 3000
"""Terms of the energies; a robot with more is refused."""

SLOPE = r"\frac{\partial L}{\partial %s}"
"""The derivative of the Lagrangian by a coordinate or by a velocity."""

RATE = r"\frac{\mathrm{d}}{\mathrm{d} t} \, " + SLOPE


def lagrange(problem: DerivationProblem) -> list[Block]:
    """The sections about energies, the Lagrangian, and Lagrange's equation of every coordinate."""
    problem.estimate_terms("its energies", _total_energies, MAX_ENERGY_TERMS)
    problem.estimate_terms("its torques", QUANTITIES["tau"])
    kinetic, potential = _energies(problem.model, *problem.symbols[:2])
    K, P = sum(kinetic), sum(potential)
    problem.limit_terms("its energies", [K, P], MAX_ENERGY_TERMS)
    q, qd, _ = problem.state
    whole = [
        Quantity("K", to_sympy(K), "J", kinetic_energy(problem.robot, q, qd)),
        Quantity("P", to_sympy(P), "J", potential_energy(problem.merged, q)),
    ]
    blocks: list[Block] = [*_link_energies(problem, kinetic, potential), Heading("The Lagrangian")]
    blocks += [Equation((Formula(x.name), x.expression), x.unit) for x in whole]
    blocks += [Equation((Formula("L"), Formula("K - P")), "J"), problem.numbers(whole)]
    return [*blocks, *_derivatives(problem, K - P), *virtual_work(problem)]


def _total_energies(model: Model, q: Sequence[Any], qd: Sequence[Any], _: Any) -> list[Any]:
    return [sum(parts) for parts in _energies(model, q, qd)]


def _energies(model: Model, q: Sequence[Any], qd: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Kinetic energies of the links and of the rotors; potential energies of the links and of the springs."""
    bodies = model.at(q)
    V, T = twists_of(bodies, qd), poses_of(bodies)
    kinetic = [body.inertia.kinetic_energy(V[body.index]) for body in bodies]
    potential = [-model.gravity.dot((T[body.index] * body.inertia).moment) for body in bodies]
    rotors = [0 if is_zero(J) else J * rate * rate * 0.5 for J, rate in zip(armature(model), qd, strict=True)]
    return [*kinetic, sum(rotors)], [*potential, spring_energy(model, q)]


def _link_energies(problem: DerivationProblem, kinetic: Sequence[Any], potential: Sequence[Any]) -> list[Block]:
    bodies = problem.model.at(problem.symbols[0])
    V, T = twists_of(bodies, problem.symbols[1]), poses_of(bodies)
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
            Quantity(subscript(r"\omega", i), column(omega), "rad/s"),
            Quantity(f"v_{{C{i}}}", column(velocity), "m/s"),
            Quantity(f"p_{{C{i}}}", column(T[i] * link.com), "m"),
            Quantity(subscript("K", i), to_sympy(kinetic[i - 1]), "J"),
            Quantity(subscript("P", i), to_sympy(potential[i - 1]), "J"),
        ]
        for quantity in quantities:
            problem.check_units(quantity)
        blocks.append(Heading(f"Link {i}: {link.name}", 2))
        blocks += [Equation((Formula(x.name), x.expression), x.unit) for x in quantities]
    extra = (("K_J", kinetic[-1], "Rotors, on the joints' side:"), ("P_k", potential[-1], "Springs:"))
    for name, energy, text in extra:
        if not is_zero(energy):
            blocks += [Paragraph(text), Equation((Formula(name), to_sympy(energy)), "J")]
    return blocks


def _derivatives(problem: DerivationProblem, L: Element) -> list[Block]:
    eqs = problem.equations
    friction = friction_torque(problem.robot, problem.state[1], problem.state[0])
    tau = inverse_dynamics(problem.robot, *problem.state) - friction
    rule = RATE % r"\dot{q}_{i}" + " - " + SLOPE % "q_{i}"
    blocks: list[Block] = [
        Heading("Lagrange's equations"),
        Paragraph("For every coordinate, before friction, which does work that is in no energy:"),
        Equation((Formula(r"\tau_i"), Formula(rule)), "N m or N"),
    ]
    for i, (symbol, rate) in enumerate(zip(eqs.q, eqs.qd, strict=True)):
        momentum, slope = L.derivative(rate), L.derivative(symbol)
        change = sum(
            momentum.derivative(a) * v + momentum.derivative(b) * w
            for a, b, v, w in zip(eqs.q, eqs.qd, *problem.symbols[1:], strict=True)
        )
        torque = Quantity(subscript(r"\tau", i + 1), to_sympy(change - slope), problem.torque_units[i], tau[i])
        own, its_rate = sp.latex(symbol), sp.latex(rate)
        steps = [
            Quantity(SLOPE % its_rate, to_sympy(momentum), f"{problem.torque_units[i]} s"),
            Quantity(RATE % its_rate, to_sympy(change), problem.torque_units[i]),
            Quantity(SLOPE % own, to_sympy(slope), problem.torque_units[i]),
        ]
        for step in steps:
            problem.check_units(step)
        blocks.append(Heading(("Coordinate ", symbol), 2))
        blocks += [Equation((Formula(x.name), x.expression), x.unit) for x in (*steps, torque)]
        blocks.append(problem.numbers([torque]))
    return blocks
