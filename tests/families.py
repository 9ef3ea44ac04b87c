"""Numbers for the parameters of a robot, and the robots that edits make of the same numbers."""

from __future__ import annotations

import numpy as np
from trees import inertia

from chainrule.errors import ModelError
from chainrule.model.lengths import link_length
from chainrule.spatial import Transform


def bodies(rng, rows):
    """Bodies (rows, 10) that there may be."""
    masses, coms = rng.uniform(0.1, 2.0, (rows, 1)), rng.normal(size=(rows, 3)) * 0.2
    return np.concatenate([masses, coms, [inertia(rng).entries() for _ in range(rows)]], axis=1)


def numbers(robot, rng, rows):
    """Numbers (rows, count) of parameters of every kind that the robot has, no two of them changing the same."""
    model = robot.model
    joints = [joint for joint in model.joints if joint.dofs]
    found = {"gravity": rng.normal(size=(rows, 3)) * 5, f"payload:{model.links[-1].name}": bodies(rng, rows)}
    found[f"link:{model.links[1].name}"] = bodies(rng, rows)
    heavy = [link.name for link in model.links[2:] if link.mass]
    if heavy:
        found[f"mass:{heavy[-1]}"] = rng.uniform(0.1, 3.0, (rows, 1))
    stretched = next((link.name for link in model.links[2:] if _has_length(model, link.name)), None)
    if stretched:
        found[f"length:{stretched}"] = rng.uniform(0.3, 1.5, (rows, 1))
    places = [joint.name for joint in model.joints if joint.parent != stretched]
    if places:
        found[f"pose:{places[-1]}"] = rng.uniform(-1.0, 1.0, (rows, 6))
    if len(places) > 1:
        found[f"origin:{places[0]}"] = rng.uniform(-1.0, 1.0, (rows, 3))
    for k, kind in enumerate(("viscous", "coulomb", "static", "rotor", "gear", "stiffness", "rest")):
        own = [joint for joint in joints if joint.kind.nq == joint.kind.nv or k < 5]  # springs of ball joints stay
        joint = own[k % len(own)]
        found[f"{kind}:{joint.name}"] = rng.uniform(0.1, 1.0, (rows, len(joint.dofs))) + (kind == "static")
    return found


def _has_length(model, link):
    try:
        link_length(model, link)
    except ModelError:
        return False
    return True


def edited(robot, parameters):
    """The robot with one number for each of the parameters, by the edits that a user would make."""
    order = ("gravity", "length", "origin", "pose", "link", "mass", "payload")
    rank = {kind: k for k, kind in enumerate(order)}
    for text in sorted(parameters, key=lambda text: rank.get(text.partition(":")[0], len(order))):
        kind, _, name = text.partition(":")
        x = np.asarray(parameters[text], dtype=float)
        if kind == "gravity":
            robot = robot.with_gravity(x)
        elif kind == "length":
            robot = robot.with_link(name, length=x[0])
        elif kind == "origin":
            robot = robot.with_joint(name, xyz=x)
        elif kind == "pose":
            T = Transform.from_xyz_rpy(x[:3].tolist(), x[3:].tolist())
            robot = robot.with_joint(name, origin=T)
        elif kind == "link":
            robot = robot.with_link(name, mass=x[0], com=x[1:4], inertia=x[4:])
        elif kind == "mass":
            robot = robot.with_link(name, mass=x[0])
        elif kind == "payload":
            robot = robot.with_payload(x[0], x[1:4], x[4:], link=name)
        elif name:
            robot = robot.with_joint(name, **{kind: x})
        else:
            robot = robot.with_joint_properties(**{kind: x})
    return robot
