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
    below = [[body.joint for body in model.ancestors(model.index_of[joint.child])[:-1]] for joint in moving]
    ends = sum(all(joint not in carrying for carrying in below) for joint in moving)
    if model.constraints:
        kind, base = "a mechanism", " with closed loops"
    elif any(joint.type == "planar" for joint in loose):
        kind, base = "a robot" if rest else "a base", " on wheels"
    elif loose:
        kind, base = ("a robot", " with a free base") if rest else ("a body that floats", "")
    elif ends <= 1:
        kind, base = "an arm", " on a fixed base"
    else:
        kind, base = "a tree", f" with {ends} ends, on a fixed base"
    joints = f" of {rest} joint{'s' if rest != 1 else ''}" if rest else ""
    size = f"{number(2 * skeleton(robot).reach if loose else skeleton(robot).reach, 2)} m from end to end"
    mass = f"{number(robot.mass)} kg, " if has_moving_mass(robot) else ""
    return [kind + joints + base, mass + size]
