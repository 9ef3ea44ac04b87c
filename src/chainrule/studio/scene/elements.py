"""Elements that a finding of the doctor names, and their places in the scene."""

from __future__ import annotations

import ast
import itertools
import re
from dataclasses import dataclass

import numpy as np

from chainrule.arguments import Array
from chainrule.core.derived import remember
from chainrule.doctor.findings import Finding
from chainrule.doctor.sizes import extents
from chainrule.robot.robot import Robot
from chainrule.shapes.skeleton import at, skeleton

QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
"""A name as `repr` writes it."""


@dataclass(frozen=True)
class Elements:
    """Links and joints, by name."""

    links: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.links or self.joints)


def elements_of(robot: Robot, finding: Finding) -> Elements:
    """The links and joints of the robot that a finding is about; all moving links for one about the whole robot.

    >>> import chainrule as cr
    >>> elements_of(cr.load("planar_2r"), Finding("note", "joints 'joint1', 'joint2'", "have no limits"))
    Elements(links=(), joints=('joint1', 'joint2'))
    """
    if finding.element == "the robot":
        return Elements(links=robot.link_names[1:])
    word = finding.element.split(" ", 1)[0].rstrip("s")
    named = [ast.literal_eval(found) for found in QUOTED.findall(finding.element)]
    if word == "link":
        return Elements(links=tuple(name for name in named if name in robot.link_names))
    joints = {joint.name for joint in robot.model.joints}
    if word == "joint":
        return Elements(joints=tuple(name for name in named if name in joints))
    links = tuple(name for name in named if name in robot.link_names)
    return Elements(links, tuple(name for name in named if name in joints and name not in links))


def joint_lines(robot: Robot, joints: tuple[str, ...], poses: Array) -> Array:
    """The axis of each joint, and a ring around it, in the base frame: (25 k, 2, 3)."""
    bones = skeleton(robot)
    found: list[Array] = []
    for joint in bones.joints:
        if joint.name not in joints:
            continue
        T = poses[joint.child]
        point = T[:3, :3] @ joint.in_child + T[:3, 3]
        along = T[:3, :3] @ (np.array([0.0, 0.0, 1.0]) if joint.axis is None else joint.axis)
        out = np.cross(along, np.eye(3)[int(np.abs(along).argmin())])
        out /= np.linalg.norm(out)
        turn = np.linspace(0, 2 * np.pi, 25)[:, None]
        ring = point + 0.1 * bones.reach * (np.cos(turn) * out + np.sin(turn) * np.cross(along, out))
        found += [np.stack(ends) for ends in itertools.pairwise(ring)]
        found.append(point + 0.22 * bones.reach * np.array([-along, along]))
    return np.array(found).reshape(-1, 2, 3)


def middles(robot: Robot, elements: Elements, poses: Array) -> list[tuple[str, Array]]:
    """A name and a place in the base frame for each of the elements."""
    sizes = remember(robot, "studio extents", lambda: extents(robot.model))
    found: list[tuple[str, Array]] = []
    for name in elements.links:
        T = poses[robot.link_names.index(name)]
        found.append((name, T[:3, :3] @ ((sizes[name].low + sizes[name].high) / 2) + T[:3, 3]))
    for joint in skeleton(robot).joints:
        if joint.name in elements.joints:
            link, point = joint.symbol
            found.append((joint.name, at(poses[link], point)))
    return found
