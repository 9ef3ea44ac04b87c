"""Numbers for the parameters of a robot, and the robots that edits make of the same numbers."""

from __future__ import annotations

import numpy as np
from trees import inertia

from chainrule.errors import ModelError
from chainrule.model.joints import Screw
from chainrule.model.lengths import link_length
from chainrule.spatial import Rotation, Transform, Vector


def bodies(rng, rows):
    """Bodies (rows, 10) that there may be."""
    masses, coms = rng.uniform(0.1, 2.0, (rows, 1)), rng.normal(size=(rows, 3)) * 0.2
    return np.concatenate([masses, coms, [inertia(rng).entries() for _ in range(rows)]], axis=1)


def numbers(robot, rng, rows):
    """Numbers, (rows,) or (rows, count), of parameters of every kind that the robot has; no two change the same."""
    model = robot.model
    joints = [joint for joint in model.joints if joint.dofs]
    found = {"gravity": rng.normal(size=(rows, 3)) * 5, f"{model.links[-1].name}.payload": bodies(rng, rows)}
    found[f"{model.links[1].name}.inertial"] = bodies(rng, rows)
    heavy = [link.name for link in model.links[2:] if link.mass]
    if heavy:
        found[f"{heavy[-1]}.mass"] = rng.uniform(0.1, 3.0, rows)
    stretched = next((link.name for link in model.links[2:] if _has_length(model, link.name)), None)
    if stretched:
        found[f"{stretched}.length"] = rng.uniform(0.3, 1.5, rows)
    shaped = [name for name in heavy[:-1] if name != stretched]
    if shaped:
        found[f"{shaped[-1]}.com"] = rng.normal(size=(rows, 3)) * 0.2
        found[f"{shaped[-1]}.inertia"] = np.array([inertia(rng).entries() for _ in range(rows)])
    places = [joint.name for joint in model.joints if joint.parent != stretched]
    if places:
        found[f"{places[-1]}.pose"] = rng.uniform(-1.0, 1.0, (rows, 6))
    if len(places) > 1:
        found[f"{places[0]}.origin"] = rng.uniform(-1.0, 1.0, (rows, 3))
    followed = {joint.mimic.joint for joint in model.joints if joint.mimic}
    screws = [joint.name for joint in joints if isinstance(joint.kind, Screw) and joint.name not in followed]
    found[f"{joints[0].name}.turn"] = rng.uniform(-1.0, 1.0, (rows, 3))
    if screws:
        found[f"{screws[0]}.offset"] = rng.uniform(-1.0, 1.0, rows)
    for k, kind in enumerate(("viscous", "coulomb", "static", "rotor", "gear", "stiffness", "rest")):
        own = [joint for joint in joints if joint.kind.nq == joint.kind.nv or k < 5]  # springs of ball joints stay
        joint = own[k % len(own)]
        values = rng.uniform(0.1, 1.0, (rows, len(joint.dofs))) + (kind == "static")
        found[f"{joint.name}.{kind}"] = values if len(joint.dofs) > 1 else values[:, 0]
    return found


def _has_length(model, link):
    try:
        link_length(model, link)
    except ModelError:
        return False
    return True


def kind_of(text):
    """The kind of a parameter by its name: "mass" of "link2.mass"."""
    return text.rpartition(".")[2]


def edited(robot, parameters):
    """The robot with numbers for each of the parameters, by the edits that a user would make."""
    order = ("gravity", "length", "origin", "pose", "turn", "offset", "inertial", "mass", "payload")
    rank = {kind: k for k, kind in enumerate(order)}
    for text in sorted(parameters, key=lambda text: rank.get(kind_of(text), len(order))):
        name, _, kind = text.rpartition(".")
        x = np.asarray(parameters[text], dtype=float)
        if kind == "gravity":
            robot = robot.edit(gravity=x)
        elif kind in ("length", "mass", "com", "inertia"):
            robot = robot.edit(links={name: {kind: x}})
        elif kind == "origin":
            robot = robot.edit(joints={name: {"xyz": x}})
        elif kind == "pose":
            T = Transform.from_xyz_rpy(x[:3].tolist(), x[3:].tolist())
            robot = robot.edit(joints={name: {"origin": T}})
        elif kind == "turn":
            T = next(joint.origin for joint in robot.model.joints if joint.name == name)
            turned = Transform(T.rotation @ Rotation.exp(Vector(*x.tolist())), T.translation)
            robot = robot.edit(joints={name: {"origin": turned}})
        elif kind == "offset":
            joint = next(joint for joint in robot.model.joints if joint.name == name)
            robot = robot.edit(joints={name: {"origin": joint.origin * joint.kind.transform([float(x)])}})
        elif kind == "inertial":
            robot = robot.edit(links={name: {"mass": x[0], "com": x[1:4], "inertia": x[4:]}})
        elif kind == "payload":
            robot = robot.with_payload(x[0], x[1:4], x[4:], link=name)
        else:
            robot = robot.edit(joints={name: {kind: x}})
    return robot
