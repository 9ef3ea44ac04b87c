"""The world around a robot: gravity, a payload, friction. Changes are parameters of its functions, not a new robot.

So one compiled function serves every gravity and every payload, and dragging a slider compiles nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.core.derived import remember
from chainrule.robot.robot import Robot
from chainrule.shapes.surfaces import rotation_along
from chainrule.studio.postures import default_tip

if TYPE_CHECKING:
    from chainrule.studio.session import SessionState

PLANETS = {"Earth": 9.81, "Moon": 1.62, "Mars": 3.73, "None": 0.0}
"""Gravity at the surface, in m/s^2 (NASA's planetary fact sheets)."""


@dataclass(frozen=True, eq=False)
class Conditions:
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
        own = {"gravity": np.asarray(self.gravity, dtype=float), f"{self.carrier}.payload": body}
        if not can_scale_friction(robot):
            return own
        dofs = [velocity.dof for velocity in robot.model.layout.velocities]
        coulomb = self.dry * np.array([float(dof.coulomb) for dof in dofs])
        static = self.dry * np.array([float(dof.static) for dof in dofs])
        viscous = self.viscous * np.array([float(dof.viscous) for dof in dofs]) + self.damping
        friction = {"*.viscous": viscous, "*.coulomb": coulomb, "*.static": np.maximum(static, coulomb)}
        return own | {name: x[0] if len(x) == 1 else x for name, x in friction.items()}  # one joint: one number


def gravity_vector(robot: Robot, size: float, tilt: float, heading: float) -> Array:
    """Gravity of a size (m/s^2), tilted from the robot's own direction by an angle, towards a heading (rad): (3,).

    The robot's own direction is that of its gravity, or -z where it has none.

    >>> import chainrule as cr
    >>> gravity_vector(cr.load("panda"), 2.0, np.pi / 2, 0.0).round(9).tolist() == [0.0, 2.0, 0.0]
    True
    """
    own = robot.gravity
    R = rotation_along(own if own.any() else np.array([0.0, 0.0, -1.0]))
    across = np.cos(heading) * R[:, 0] + np.sin(heading) * R[:, 1]
    return np.asarray(size * (np.cos(tilt) * R[:, 2] + np.sin(tilt) * across))


def own_world(robot: Robot) -> Conditions:
    """The world that the robot's own numbers are for."""
    return Conditions(robot.gravity, default_tip(robot))


def can_scale_friction(robot: Robot) -> bool:
    """Whether friction is the same in both directions of every joint, so that one number of each joint scales it."""
    dofs = [velocity.dof for velocity in robot.model.layout.velocities]
    return all(dof.coulomb == dof.coulomb_negative and dof.static == dof.static_negative for dof in dofs)


def has_friction(robot: Robot) -> bool:
    """Whether any joint has friction of its own, viscous or dry."""
    return any(float(v.dof.viscous) or v.dof.has_dry_friction for v in robot.model.layout.velocities)


def wrenches_on_all(robot: Robot, wrenches: Mapping[str, Array]) -> dict[str, Array]:
    """A wrench (6,) on each moving link, zero where there is none: one compiled function serves a push anywhere."""
    return {**dict.fromkeys(robot.link_names[1:], np.zeros(6)), **wrenches}


def prepare(robot: Robot) -> None:
    """Compile the functions of other worlds and pushes, once, so that the page does not wait for them."""

    def compile_all() -> bool:
        rest = np.zeros(robot.nv)
        here = robot.at(own_world(robot).parameters(robot))
        here.torque_terms(robot.home(), rest, rest, external=wrenches_on_all(robot, {}))
        here.mass_matrix(robot.home())
        return True

    remember(robot, "studio prepared", compile_all)


def torque_terms(robot: Robot, state: SessionState) -> dict[str, Array]:
    """The torques of a state by cause, in its world and with its wrenches: robot.torque_terms."""
    if not state.wrenches and not state.parameters:
        return robot.torque_terms(state.q, state.qd, state.qdd)
    here = robot.at(state.parameters or own_world(robot).parameters(robot))
    terms: dict[str, Array] = here.torque_terms(
        state.q, state.qd, state.qdd, external=wrenches_on_all(robot, state.wrenches)
    )
    return terms


def mass_matrix(robot: Robot, state: SessionState) -> Array:
    """The mass matrix of a state, with the payload of its world: robot.mass_matrix."""
    M: Array = robot.at(state.parameters).mass_matrix(state.q)
    return M
