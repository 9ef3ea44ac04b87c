"""Mechanisms whose loop equations depend on each other differently from place to place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import chainrule as cr
from chainrule.model import Constraint, Joint, Link, Model, Screw
from chainrule.spatial import Rotation, Symmetric, Transform, Vector


def bennett(
    a: float = 0.6, b: float = 0.4, alpha: float = np.radians(40)
) -> tuple[cr.Robot, Callable[..., np.ndarray]]:
    """Bennett's 4R linkage, turned in space, and its closed configuration for an angle of the first joint."""
    beta = float(np.arcsin(b * np.sin(alpha) / a))
    ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    x_axis, z_axis = Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, 1.0)

    def bar(length: float, twist: float) -> Transform:
        return Transform(Rotation.about(x_axis, twist), Vector(length, 0.0, 0.0))

    bars = [(a, alpha), (b, beta), (a, alpha)]
    world = Transform(Rotation.about(Vector(0.6, 0.8, 0.0), 0.9), Vector(0.0, 0.0, 0.0))
    links, joints = [Link("ground")], []
    for i, (length, _) in enumerate(bars):
        across = length * length / 12
        links.append(Link(f"bar{i}", 1.0, Vector(length / 2, 0.0, 0.0), Symmetric(0.001, across, across, 0, 0, 0)))
        origin = bar(*bars[i - 1]) if i else world
        joints.append(Joint(f"j{i}", links[i].name, f"bar{i}", Screw.revolute(z_axis), origin))
    tie = Constraint("pin", "hinge", "ground", "bar2", world * bar(b, beta).inverse(), bar(*bars[2]))
    robot = cr.Robot(Model.build("bennett", links, joints, constraints=[tie]))

    def closed(angle: float) -> np.ndarray:
        return np.array([angle, 2 * np.arctan2(ratio * np.cos(angle / 2), np.sin(angle / 2)), -angle])

    return robot, closed


def rod(name, length=1.0):
    """A thin one of 1 kg along x."""
    across = length**2 / 12
    return Link(name, 1.0, Vector(length / 2, 0.0, 0.0), Symmetric(0.0, across, across, 0.0, 0.0, 0.0))


def placed(x, y=0.0, turn=0.0):
    return Transform(Rotation.about(Vector(1.0, 0.0, 0.0), turn), Vector(x, y, 0.0))


def hinge(name, parent, child, origin):
    return Joint(name, parent, child, Screw.revolute(Vector(0.0, 0.0, 1.0)), origin)


def four_bars(n):
    """n squares of rods in a row, which share their uprights: singular whenever they lie flat."""
    links, joints, ties = [Link("ground")], [], []
    for i in range(n + 1):
        links.append(rod(f"upright{i}"))
        joints.append(hinge(f"foot{i}", "ground", f"upright{i}", placed(float(i))))
    for i in range(n):
        links.append(rod(f"top{i}"))
        joints.append(hinge(f"corner{i}", f"upright{i}", f"top{i}", placed(1.0)))
        ties.append(Constraint(f"pin{i}", "hinge", f"top{i}", f"upright{i + 1}", placed(1.0), placed(1.0)))
    return cr.Robot(Model.build("four_bars", links, joints, gravity=Vector(0.0, -9.81, 0.0), constraints=ties))


def accelerations(robot: cr.Robot, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """qdd from all equations of the loops by singular values, in the metric of the mass matrix."""
    G, gamma = robot.loops.jacobian(q), robot.loops.velocity_terms(q, qd)
    root = np.linalg.inv(np.linalg.cholesky(robot.mass_matrix(q))).T
    free = root @ root.T @ (tau - robot.bias(q, qd))
    return free + root @ (np.linalg.pinv(G @ root, 1e-7) @ (-gamma - G @ free))


def change_point_bar(ground: float, crank: float, coupler: float, rocker: float) -> cr.Robot:
    """A planar four-bar of rods; it can lie flat where two of its lengths add up to the other two."""
    links = [Link("ground"), rod("crank", crank), rod("coupler", coupler), rod("rocker", rocker)]
    joints = [
        hinge("A", "ground", "crank", placed(0.0)),
        hinge("C", "crank", "coupler", placed(crank)),
        hinge("B", "ground", "rocker", placed(ground)),
    ]
    tie = Constraint("pin", "point", "coupler", "rocker", placed(coupler), placed(rocker))
    return cr.Robot(Model.build("bar", links, joints, gravity=Vector(0.0, -9.81, 0.0), constraints=[tie]))


def coupled_cranks(cranks: int, length: float = 0.3, places: Sequence[float] | None = None) -> cr.Robot:
    """Cranks under one bar of 1 m: all turn as one, like a pendulum, and lie flat twice a turn."""
    links, joints, ties = [Link("ground")], [], []
    places = places or np.linspace(0.0, 1.0, cranks).tolist()
    for i, place in enumerate(places):
        links.append(rod(f"crank{i}", length))
        joints.append(hinge(f"foot{i}", "ground", f"crank{i}", placed(float(place))))
    links.append(rod("bar", 1.0))
    joints.append(hinge("top", "crank0", "bar", placed(length)))
    for i, place in enumerate(places[1:], start=1):
        ties.append(Constraint(f"pin{i}", "point", "bar", f"crank{i}", placed(float(place)), placed(length)))
    return cr.Robot(Model.build("cranks", links, joints, gravity=Vector(0.0, -9.81, 0.0), constraints=ties))
