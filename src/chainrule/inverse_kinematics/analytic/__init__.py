"""Inverse kinematics in closed form: all branches."""

from chainrule.inverse_kinematics.analytic.solve import Branches, branches

__all__ = ["Branches", "branches"]
