"""The equations themselves: Lagrange's from energies, closed forms of robots, derivations, documents, source texts.

>>> import sympy as sp
>>> from chainrule import symbolic
>>> m, g, x, xdot = sp.symbols("m g x xdot")
>>> particle = symbolic.Lagrangian([x], m * xdot**2 / 2, m * g * x, forces="f")
>>> particle.equations[0]
Eq(f, g*m + m*xddot)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Lagrangian": "lagrange",
    "PointMass": "bodies",
    "RigidBody": "bodies",
    "Spring": "bodies",
    "Friction": "bodies",
    "generalised_force": "bodies",
    "Conserved": "conserved",
    "Linearisation": "linearisation",
    "Equations": "closed_form",
    "KinematicEquations": "kinematics_form",
    "Document": "document",
    "contracted": "ring",
}

__all__ = [*_HOMES]  # noqa: PLE0604 (the names are strings)

if TYPE_CHECKING:
    from chainrule.symbolic.bodies import Friction as Friction
    from chainrule.symbolic.bodies import PointMass as PointMass
    from chainrule.symbolic.bodies import RigidBody as RigidBody
    from chainrule.symbolic.bodies import Spring as Spring
    from chainrule.symbolic.bodies import generalised_force as generalised_force
    from chainrule.symbolic.closed_form import Equations as Equations
    from chainrule.symbolic.conserved import Conserved as Conserved
    from chainrule.symbolic.document import Document as Document
    from chainrule.symbolic.kinematics_form import KinematicEquations as KinematicEquations
    from chainrule.symbolic.lagrange import Lagrangian as Lagrangian
    from chainrule.symbolic.linearisation import Linearisation as Linearisation
    from chainrule.symbolic.ring import contracted as contracted


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'chainrule.symbolic' has no attribute {name!r}")
    return getattr(import_module(f"chainrule.symbolic.{_HOMES[name]}"), name)
