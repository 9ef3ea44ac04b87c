"""What is computed of states, and the columns that it is written into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.cluster.reading import StateRows
from chainrule.core.evaluation import evaluate, options_of, require
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_wrenches
from chainrule.dynamics.dynamics import inverse_dynamics, joint_wrenches, torque_terms
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.functions.table import FUNCTIONS

WRENCH = ("mx", "my", "mz", "fx", "fy", "fz")
STATE = ("q", "qd", "qdd")

Columns = dict[str, Array]
"""Numbers (rows,) by the names of columns."""


@dataclass(frozen=True)
class Computation:
    """A function of states whose results are columns."""

    name: str
    """One of COMPUTATIONS, or the name of a function of the robot."""
    options: Mapping[str, Any] = field(default_factory=dict)

    def check(self, robot: Mechanism) -> None:
        """Refuse what cannot be computed for a robot, before anything is read."""
        if self.name in COMPUTATIONS:
            require(robot, "inverse_dynamics")
            return
        if self.name not in FUNCTIONS:
            raise UnknownNameError.of("function", self.name, [*COMPUTATIONS, *FUNCTIONS], "a robot")
        others = [name for name in FUNCTIONS[self.name].arguments if name not in STATE]
        if others:
            raise ShapeError(
                f"{self.name} needs {others[0]}, and a data set of motions has q, qd and qdd; take a function of these"
            )
        require(robot, self.name)
        options_of(robot, self.name, self.options)

    def columns(self, robot: Mechanism, states: StateRows) -> Columns:
        """The results for some states."""
        return COMPUTATIONS.get(self.name, self._of_function)(robot, states)

    def _of_function(self, robot: Mechanism, states: StateRows) -> Columns:
        arguments = {name: getattr(states, name) for name in FUNCTIONS[self.name].arguments}
        values = evaluate(robot, self.name, read_wrenches(robot, self.name, None, None), **arguments, **self.options)
        places = [".".join(map(str, place)) for place in product(*map(range, values.shape[1:]))]
        names = [f"{self.name}.{place}" if place else self.name for place in places]
        return dict(zip(names, values.reshape(len(values), len(names)).T, strict=True))


def _torques(robot: Mechanism, states: StateRows) -> Columns:
    tau = inverse_dynamics(robot, *states[:3])
    return {f"tau.{name}": tau[:, k] for k, name in enumerate(robot.model.layout.velocity_names)}


def _terms(robot: Mechanism, states: StateRows) -> Columns:
    terms = torque_terms(robot, *states[:3])
    names = robot.model.layout.velocity_names
    return {f"{term}.{name}": values[:, k] for term, values in terms.items() for k, name in enumerate(names)}


def _wrenches(robot: Mechanism, states: StateRows) -> Columns:
    wrenches = joint_wrenches(robot, *states[:3])
    return {
        f"{joint}.{axis}": wrenches[:, j, k]
        for j, joint in enumerate(robot.joint_names)
        for k, axis in enumerate(WRENCH)
    }


COMPUTATIONS: dict[str, Callable[[Mechanism, StateRows], Columns]] = {
    "torques": _torques,
    "terms": _terms,
    "wrenches": _wrenches,
}
"""Those that have names of joints for their columns, by name."""

MEASURED = ("angle", "speed", "acceleration", "torque", "power")
"""What statistics are collected of; of sliding joints it is their length, force and so on."""


def measure(robot: Mechanism, states: StateRows) -> dict[str, Array]:
    """The arrays (rows, n) of MEASURED for some states."""
    tau = inverse_dynamics(robot, *states[:3])
    return dict(zip(MEASURED, (*states[:3], tau, np.multiply(tau, states.qd)), strict=True))
