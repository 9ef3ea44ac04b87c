"""The world around a robot: gravity, a payload, friction. Changes are parameters of its functions, not a new robot.

So one compiled function serves every gravity and every payload, and dragging a slider compiles nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.robot.robot import Robot

if TYPE_CHECKING:
    from chainrule.studio.session import State

EARTH = 9.81
"""Of gravity, in m/s^2, where the robot has none of its own."""


@dataclass(frozen=True, eq=False)
class World:
    """Gravity, a point mass carried by a link, and factors of friction."""

    gravity: Array
    """(3,), in base axes, m/s^2."""
    carrier: str
    """The link or frame that carries the payload."""
    mass: float = 0.0
    """Of the payload, in kg."""
    place: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of the payload, in the carrier's frame, in m."""
    dry: float = 1.0
    """A factor of dry friction, in motion and at rest."""
    viscous: float = 1.0
    """A factor of viscous friction."""
    damping: float = 0.0
    """Viscous friction that is added at each joint, in N m s/rad or N s/m."""

    def parameters(self, robot: Robot) -> dict[str, Array]:
        """The numbers that the robot has in this world, named as its functions take them."""
        body = np.array([self.mass, *self.place, *[0.0] * 6])
        own = {"gravity": np.asarray(self.gravity, dtype=float), f"payload:{self.carrier}": body}
        if not can_scale_friction(robot):
            return own
        dofs = [velocity.dof for velocity in robot.layout.velocities]
        coulomb = self.dry * np.array([float(dof.coulomb) for dof in dofs])
        static = self.dry * np.array([float(dof.static) for dof in dofs])
        viscous = self.viscous * np.array([float(dof.viscous) for dof in dofs]) + self.damping
        return {**own, "viscous": viscous, "coulomb": coulomb, "static": np.maximum(static, coulomb)}


def own_world(robot: Robot) -> World:
    """The world that the robot's own numbers are for."""
    return World(robot.gravity, carrier(robot))


def carrier(robot: Robot) -> str:
    """The end-effector, or the first of several tips."""
    return str(robot.model.end_effector or robot.model.tips[0])


def can_scale_friction(robot: Robot) -> bool:
    """Whether friction is the same in both directions of every joint, so that one number of each joint scales it."""
    dofs = [velocity.dof for velocity in robot.layout.velocities]
    return all(dof.coulomb == dof.coulomb_negative and dof.static == dof.static_negative for dof in dofs)


def has_friction(robot: Robot) -> bool:
    """Whether any joint has friction of its own, viscous or dry."""
    return any(float(v.dof.viscous) or v.dof.has_dry_friction for v in robot.layout.velocities)


def wrenches_on_all(robot: Robot, wrenches: Mapping[str, Array]) -> dict[str, Array]:
    """A wrench (6,) on each moving link, zero where there is none: one compiled function serves a push anywhere."""
    return {name: wrenches.get(name, np.zeros(6)) for name in robot.link_names[1:]}


def torque_terms(robot: Robot, state: State) -> dict[str, Array]:
    """The torques of a state by cause, in its world and with its wrenches: robot.torque_terms."""
    if not state.wrenches and not state.parameters:
        return robot.torque_terms(state.q, state.qd, state.qdd)
    return robot.torque_terms(
        state.q,
        state.qd,
        state.qdd,
        wrenches=wrenches_on_all(robot, state.wrenches),
        wrench_frame="world",
        parameters=state.parameters or own_world(robot).parameters(robot),
    )


def mass_matrix(robot: Robot, state: State) -> Array:
    """The mass matrix of a state, with the payload of its world: robot.mass_matrix."""
    return robot.mass_matrix(state.q, parameters=state.parameters or None)
