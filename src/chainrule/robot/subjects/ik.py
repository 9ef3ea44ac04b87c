"""`robot.ik`: inverse kinematics beyond a single answer."""

from __future__ import annotations

from chainrule import lazy
from chainrule.core.subject import RobotSubject, method
from chainrule.inverse_kinematics import path, solve, stream
from chainrule.inverse_kinematics.analytic import solve as analytic


class Ik(RobotSubject):
    """Inverse kinematics: one target or many, along a path, all branches, what is reached, one target after another."""

    solve = method(solve.inverse_kinematics)
    follow = method(path.follow)
    branches = method(analytic.branches)
    stream = method(stream.stream)
    reachability = lazy.method("chainrule.cluster.reach", "reachability", method)
