"""The model of a robot over symbols: names for its coordinates, masses, lengths, inertias and angles.

Link i is the i-th link that moves, and joint i moves it. Coordinates are q_i. Parameters that are zero stay zero, and
rotations by quarter turns stay as they are. The other parameters get names:

    m_i        mass of link i                        L_i, L_ix     length of link i to the next joint or the tip
    l_ci       its center of mass (l_cix, ..)        alpha_i       an angle between two joint axes
    I_ixx, ..  its inertia about that                o_i           the origin of its frame, if not on its joint's axis
    g          gravity                               J_i           rotor inertia on the joint's side
    k_i, q_0i  stiffness and rest of a spring        b_i, f_i      viscous and Coulomb friction
    r_i, w_i, phi_i  ripple of friction              f_si, v_si    static friction, Stribeck speed

A joint that is a row of a Denavit-Hartenberg table has the letters of that table: a_i, alpha_i, d_i and theta_i in the
standard convention, a_{i-1}, alpha_{i-1}, d_i and theta_i in the modified one. The angle theta of a joint that turns is
q_i + theta_0i. A joint that was changed so that no row describes it any more has lengths again.

A name stands for one number. Where a link has several lengths or angles of one kind, all but the first get one more
index: L_1_3 and alpha_1_3 belong to joint 3 on link 1, L_1t2 and alpha_1t2 to the second frame there. Equal numbers
may share a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from chainrule.algorithms import kinematics
from chainrule.errors import ModelError, quoted
from chainrule.model import Model
from chainrule.symbolic.algebra.ring import Element, Ring
from chainrule.symbolic.closed_form.choices import Choices
from chainrule.symbolic.closed_form.namer import Namer
from chainrule.symbolic.closed_form.symbol_table import SymbolTable


@dataclass(frozen=True)
class SymbolicModel:
    """A model whose numbers are elements of a ring, the symbols of its state, and its parameters with their values."""

    model: Model
    ring: Ring
    q: list[sp.Symbol]
    qd: list[sp.Symbol]
    qdd: list[sp.Symbol]
    parameters: dict[sp.Symbol, float]
    numbers: Model
    """The model with its numbers, those that a user replaced included: what the symbols are checked against."""
    symbols: SymbolTable
    choices: Choices = field(default_factory=Choices)

    @property
    def tau(self) -> list[sp.Symbol]:
        """The symbols tau_1, tau_2, .. of the torques, in which accelerations are."""
        assumptions = {} if self.choices.plain else {"real": True}
        return [sp.Symbol(f"tau_{i + 1}", **assumptions) for i in range(len(self.q))]

    def state(self) -> tuple[list[Element], list[Element], list[Element]]:
        """The symbols q, qd and qdd as elements of the ring."""
        q, qd, qdd = ([self.ring.variable(s) for s in part] for part in (self.q, self.qd, self.qdd))
        return q, qd, qdd


def symbolic_model(
    model: Model,
    parameters: str | Mapping[Any, Any] | Choices = "symbolic",
    symbols: Mapping[Any, Any] | None = None,
) -> SymbolicModel:
    """The model over symbols ("symbolic"), numbers ("numeric"), or symbols except for those that are given.

    `symbols` are those of the user, by the names that they replace.
    """
    choices = parameters if isinstance(parameters, Choices) else Choices.of(parameters, symbols)
    for joint in model.moving:
        if joint.kind.nq != joint.kind.nv:
            raise ModelError(
                f"joint {joint.name!r} is {joint.type}: its coordinates are a quaternion, without sines and cosines to "
                "write; lock it, or model it by three revolute joints"
            )
    if model.constraints:
        raise ModelError(
            f"robot {model.name!r} has loops, whose constraints leave no equations in its own coordinates alone; open "
            "them with robot.without_constraint(...), or write the energies with constraints: cr.symbolic.Lagrangian"
        )
    if model.springs:
        raise ModelError(
            f"robot {model.name!r} has springs between links ({quoted(spring.name for spring in model.springs)}), "
            "whose lengths are square roots that its closed form does not have; take them off with "
            "robot.without_spring(), or write the energies: cr.symbolic.Lagrangian with cr.symbolic.Spring.between"
        )
    namer = Namer(model, choices)
    names = namer.name_all()
    namer.ring.groups = [
        [*(names.q[k] for k in group), *(angle for angle, k in names.phases.items() if k in group)]
        for group in parallel_groups(model)
    ]
    numbers = Namer(model, choices, as_numbers=True).name_all().model if choices.numbers else model
    return SymbolicModel(
        names.model, namer.ring, names.q, names.qd, names.qdd, names.parameters, numbers, names.table, choices
    )


def parallel_groups(model: Model) -> list[list[int]]:
    """Groups of revolute coordinates, by index, whose axes stay parallel in every configuration."""
    rng = np.random.default_rng(0)
    shots = []
    for _ in range(3):
        q = rng.normal(size=model.nq).tolist()
        directions: list[Any] = [None] * model.nv
        for T, body in zip(kinematics.poses_of(model.at(q))[1:], model.at(q), strict=True):
            for i, S in body.S:
                w = T.rotation * S.angular
                length = float(w.norm())
                if body.body.joint.mimic is None and length:
                    directions[i] = np.array([float(x) for x in w / length])
        shots.append(directions)
    groups: list[list[int]] = []
    for i in range(model.nv):
        if shots[0][i] is None:
            continue
        for group in groups:
            if all(np.linalg.norm(np.cross(shot[i], shot[group[0]])) < 1e-9 for shot in shots):
                group.append(i)
                break
        else:
            groups.append([i])
    return groups
