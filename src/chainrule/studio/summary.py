"""A robot in a few words."""

from __future__ import annotations

from chainrule.core.derived import has_moving_mass
from chainrule.robot.robot import Robot
from chainrule.shapes.skeleton import LOOSE_KINDS, skeleton
from chainrule.studio.charts.style import number


def summary(robot: Robot) -> list[str]:
    """The robot in a line or two.

    >>> import chainrule as cr
    >>> summary(cr.load("panda"))
    ['an arm of 7 joints on a fixed base', '16.06 kg, 1.3 m from end to end']
    """
    model = robot.model
    moving = [places.joint for places in model.layout.joints if places.joint.kind.nv]
    loose = [joint for joint in moving if joint.type in LOOSE_KINDS]
    rest = len(moving) - len(loose)
    tips = len(model.tips)
    if model.constraints:
        kind = "a mechanism with closed loops"
    elif any(joint.type == "planar" for joint in loose):
        kind = "a base on wheels" if not rest else "a robot on wheels"
    elif loose:
        kind = "a body that floats" if not rest else "a robot with a free base"
    else:
        kind = "an arm" if tips <= 1 else f"a tree with {tips} ends"
    joints = f" of {rest} joint{'s' if rest != 1 else ''}" if rest else ""
    base = "" if loose or model.constraints else " on a fixed base"
    size = f"{number(2 * skeleton(robot).reach if loose else skeleton(robot).reach, 2)} m from end to end"
    mass = f"{number(robot.mass)} kg, " if has_moving_mass(robot) else ""
    return [kind + joints + base, mass + size]
