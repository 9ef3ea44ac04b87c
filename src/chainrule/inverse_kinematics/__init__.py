"""Inverse kinematics: configurations that bring links to their targets."""

from chainrule.inverse_kinematics.result import InverseKinematics
from chainrule.inverse_kinematics.solve import inverse_kinematics

__all__ = ["InverseKinematics", "inverse_kinematics"]
