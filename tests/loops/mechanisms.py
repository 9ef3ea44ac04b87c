"""Mechanisms whose loop equations depend on each other differently from place to place."""

from __future__ import annotations

from collections.abc import Callable

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


def accelerations(robot: cr.Robot, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """qdd from all equations of the loops by singular values, in the metric of the mass matrix."""
    G, gamma = robot.constraint_jacobian(q), robot.constraint_velocity_terms(q, qd)
    root = np.linalg.inv(np.linalg.cholesky(robot.mass_matrix(q))).T
    free = root @ root.T @ (tau - robot.bias(q, qd))
    return free + root @ (np.linalg.pinv(G @ root, 1e-7) @ (-gamma - G @ free))
