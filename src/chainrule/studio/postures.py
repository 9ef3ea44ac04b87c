"""The posture in which a robot is first shown, and the tip that is meant where a robot has several."""

from __future__ import annotations

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link
from chainrule.errors import ChainruleError
from chainrule.kinematics.configurations import home
from chainrule.kinematics.poses import poses
from chainrule.model.configurations import HOME
from chainrule.robot.robot import Robot
from chainrule.shapes.parts import up_direction
from chainrule.shapes.skeleton import LOOSE_KINDS, skeleton

TRIED = 400
"""Random postures of which the best is taken."""

WIDEST = 1.3
"""The largest angle that a joint is bent by in them, in rad; slides stay."""


def default_tip(robot: Mechanism) -> str:
    """The end-effector; of a robot with several tips and no end-effector, the one behind most joints."""
    try:
        return find_link(robot)
    except ChainruleError:
        model = robot.model
        depth = np.zeros(len(model.links))
        for body in model.bodies:
            depth[body.index] = depth[body.parent] + bool(body.joint.kind.nv)
        parents = {body.parent for body in model.bodies}
        leaves = [k for k in range(len(model.links)) if k not in parents]
        return model.links[max(leaves, key=lambda k: (depth[k], k))].name


def first_posture(robot: Robot) -> Array:
    """The configuration to show a robot in at first: home, or a bent one where home is stretched out.

    Files seldom have a home configuration, and arms are stretched out or folded where all coordinates are zero. Of
    random postures above the ground, one is taken that can move in all directions, is tall, and is not far from home.
    """
    q = home(robot)
    if not _is_plain_arm(robot):
        return q
    try:
        states = _candidates(robot, q)
        measure = np.asarray(robot.manipulability(states, default_tip(robot), task="position"))
        points = poses(robot, states)[..., 1:, :3, 3] @ up_direction(robot)
    except ChainruleError:
        return q
    measure = np.where(points.min(axis=1) > -1e-6 * skeleton(robot).reach, measure, -1.0)
    score = measure * np.maximum(points.mean(axis=1), 0.0) * np.exp(-((states - q) ** 2).mean(axis=1))
    best = int(np.nanargmax(score))
    return np.asarray(states[best]) if measure[best] > 2 * max(float(measure[0]), 0.0) else q


def _is_plain_arm(robot: Mechanism) -> bool:
    """Whether a robot is an arm of a few joints on a fixed base, without a home of its own."""
    named = any(configuration.name == HOME for configuration in robot.model.configurations)
    joints = robot.model.layout.joints
    return (
        not named
        and not robot.model.constraints
        and 2 <= robot.nv == robot.nq <= 9
        and not any(places.joint.type in LOOSE_KINDS for places in joints)
    )


def _candidates(robot: Mechanism, q: Array) -> Array:
    """Home, and postures bent from it at random within the limits: (k, nq)."""
    low, high = (
        np.array([float(x) for x in limits]) for limits in (robot.model.layout.lower, robot.model.layout.upper)
    )
    lengths = np.array([coordinate.unit == "m" for coordinate in robot.model.layout.coordinates])
    bent = q + np.random.default_rng(0).uniform(-WIDEST, WIDEST, (TRIED, robot.nq)) * np.where(lengths, 0.0, 1.0)
    return np.concatenate([q[None], np.clip(bent, low, high)])
