"""Units of a robot's dynamics, proved term by term: its algorithms run on numbers that carry units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from chainrule.algorithms import centroidal, crba, energy, kinematics, terms
from chainrule.algorithms.configuration import integrate
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import require
from chainrule.core.mechanism import Mechanism
from chainrule.core.unit_report import UnitReport, UnitRow
from chainrule.model import Model, edits
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import is_zero
from chainrule.spatial.unit_scalar import UnitScalar
from chainrule.spatial.units import UnitError, multiply, unit, unit_name

Scalars = Sequence[Scalar]


def check_units(robot: Mechanism) -> UnitReport:
    """The unit of each term of the dynamics, in a table: every number of the robot carries its unit through it.

    Terms of the torque of each joint, the mass matrix, energies, momentum and positions of links, in a random state. A
    sum of different units anywhere inside, or a result in another unit than expected, is told with its term. Friction
    functions of the user's own, whose numbers have units that nobody knows, are left out and told as such.

    >>> import chainrule as cr
    >>> report = cr.load("planar_rp").textbook.check_units()
    >>> report.ok
    True
    >>> print("\\n".join(repr(report).splitlines()[:5]))
    Units of robot 'planar_rp'
    term                of              unit    ok
    inertial            joint1          N m     yes
    inertial            joint2          N       yes
    centrifugal         joint1          N m     yes
    """
    require(robot, "mass_matrix")
    whole = merged_model(robot)
    plain = edits.map_dofs(replace(whole, constraints=()), lambda dof: replace(dof, friction_function=None))
    model = plain.map(lambda x, text: x if text == "1" or is_zero(x) or x == 0 else UnitScalar(x, text))
    rows = _Rows(whole, *_state(plain))
    rows.add_all(model)
    laws = [
        UnitRow("friction function", joint.name, "", None)
        for joint in whole.joints
        if any(dof.friction_function for dof in joint.dofs)
    ]
    return UnitReport(f"robot {robot.name!r}", (*rows.found, *laws))


def _state(model: Model) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """A random state with units."""
    rng = np.random.default_rng(0)
    layout = model.layout
    q = integrate(model, layout.neutral, rng.uniform(-1, 1, model.nv).tolist())
    positions = [UnitScalar(x, c.unit) for x, c in zip(q, layout.coordinates, strict=True)]
    rates, accelerations = (
        [UnitScalar(x, f"{v.unit}{per}") for x, v in zip(rng.uniform(-1, 1, model.nv), layout.velocities, strict=True)]
        for per in ("/s", "/s^2")
    )
    return positions, rates, accelerations


class _Rows:
    """Rows of the table, as they are found."""

    def __init__(self, model: Model, q: Scalars, qd: Scalars, qdd: Scalars) -> None:
        self.q, self.qd, self.qdd = q, qd, qdd
        self.names = [velocity.name for velocity in model.layout.velocities]
        self.turns = [velocity.unit == "rad" for velocity in model.layout.velocities]
        self.efforts = ["N m" if turns else "N" for turns in self.turns]
        self.found: list[UnitRow] = []

    def add_all(self, model: Model) -> None:
        """All terms of a model over numbers with units."""
        q, qd, qdd = self.q, self.qd, self.qdd
        parts = self.evaluate("torques", lambda: terms.torque_terms(model, q, qd, qdd))
        for term, values in (parts or {}).items():
            for name, value, expected in zip(self.names, values, self.efforts, strict=True):
                self.add("torque" if term == "total" else term, name, [value], expected)
        M = self.evaluate("mass matrix", lambda: crba.mass_matrix(model, q))
        for i, row in enumerate(M or []):
            for j, entry in enumerate(row):
                acceleration = unit("rad/s^2" if self.turns[j] else "m/s^2")
                expected = unit_name(multiply(unit(self.efforts[i]), acceleration, -1))
                self.add("mass matrix", f"{self.names[i]}, {self.names[j]}", [entry], expected)
        whole = "robot"
        for term, compute, expected in (
            ("kinetic energy", lambda: [energy.kinetic_energy(model, q, qd)], "J"),
            ("potential energy", lambda: [energy.potential_energy(model, q)], "J"),
            ("momentum, angular", lambda: list(centroidal.momentum(model, q, qd))[:3], "N m s"),
            ("momentum, linear", lambda: list(centroidal.momentum(model, q, qd))[3:], "kg m/s"),
            ("positions of links", lambda: [x for T in kinematics.poses(model, q) for x in T.translation], "m"),
        ):
            values = self.evaluate(term, compute)
            if values is not None:
                self.add(term, whole, values, expected)

    def evaluate(self, term: str, compute: Callable[[], Any]) -> Any:
        """The result of an algorithm, or None and a row that tells why there is none."""
        try:
            return compute()
        except UnitError as error:
            self.found.append(UnitRow(term, "robot", str(error), False))
            return None

    def add(self, term: str, of: str, values: Scalars, expected: str) -> None:
        """A row for quantities that all have one unit."""
        wrong = [x for x in values if not is_zero(x) and not (isinstance(x, UnitScalar) and x.has_unit(expected))]
        text = expected if not wrong else f"{wrong[0]!r}, expected {expected}"
        self.found.append(UnitRow(term, of, text, not wrong))
