"""Inverse kinematics: configurations that bring links where they are wanted."""

from chainrule.inverse.result import InverseKinematics
from chainrule.inverse.solve import inverse_kinematics

__all__ = ["InverseKinematics", "inverse_kinematics"]
