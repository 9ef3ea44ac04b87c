"""The controllers of the library, as choices on a page, with gains that fit the robot."""

from __future__ import annotations

import inspect
from functools import cache

import chainrule
from chainrule.arguments import Array
from chainrule.control.laws.controller import Controller
from chainrule.control.laws.gains import BANDWIDTH_HZ, default_gains
from chainrule.core.derived import driven_velocities
from chainrule.errors import ChainruleError, UnknownNameError
from chainrule.robot.robot import Robot

RELEASED = "Let go"
"""The choice without a controller: no torques act."""

DAMPING_SHARE = 0.1
"""The damping of a robot that is only held up, as a share of the critical one: it can be pushed, and comes to rest."""


@cache
def laws() -> dict[str, type[Controller]]:
    """The public controllers by name, in the order of the list of public names: those for any robot's motors."""
    found = {}
    for name in dir(chainrule):
        value = getattr(chainrule, name)
        is_law = isinstance(value, type) and issubclass(value, Controller) and not inspect.isabstract(value)
        if is_law and "actuated" in inspect.signature(value).parameters:
            found[name] = value
    return found


def description(name: str) -> str:
    """The law in a line."""
    if name == RELEASED:
        return "No torques: the robot falls, and friction alone slows it down."
    return inspect.getdoc(_law(name)).split("\n")[0]  # type: ignore[union-attr]


def _law(name: str) -> type[Controller]:
    if name not in laws():
        raise UnknownNameError.of("controller", name, [RELEASED, *laws()], "simulate")
    return laws()[name]


def make_law(robot: Robot, name: str, q: Array, bandwidth: float = BANDWIDTH_HZ) -> Controller | None:
    """A controller that holds a robot at q (nq,), with the library's default gains; None for letting go.

    Laws of a link hold the end-effector where it is at q. bandwidth: the natural frequency of the gains, in Hz.
    """
    if name == RELEASED:
        return None
    law = _law(name)
    parameters = inspect.signature(law).parameters
    driven = motors(robot)
    if "target" not in parameters:
        damping = DAMPING_SHARE * default_gains(robot, q, bandwidth=bandwidth).kd
        return law(robot, damping=damping, actuated=driven)  # type: ignore[call-arg]
    target = robot.pose(q) if "PoseReference" in str(parameters["target"].annotation) else q
    return law(robot, target, bandwidth=bandwidth, actuated=driven)  # type: ignore[arg-type, call-arg]


def motors(robot: Robot) -> list[str]:
    """The joints with motors: all but free joints and those with an effort limit of 0."""
    free = {places.joint.name for places in robot.model.layout.joints if places.joint.kind.name == "free"}
    return [
        name
        for name in dict.fromkeys(robot.model.layout.velocities[i].joint for i in driven_velocities(robot))
        if name not in free
    ]


def usable_laws(robot: Robot) -> list[str]:
    """The choices for a robot: letting go, and the controllers that can be made for it."""
    names = [RELEASED]
    for name in laws():
        try:
            make_law(robot, name, robot.home())
        except ChainruleError:
            continue
        names.append(name)
    return names
