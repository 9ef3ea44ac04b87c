"""Inverse kinematics in closed form: all branches."""

from chainrule.inverse_kinematics.analytic.solve import Branches, analytic_inverse_kinematics

__all__ = ["Branches", "analytic_inverse_kinematics"]
