"""Equations of motion and kinematics of a robot in closed form."""

from chainrule.symbolic.closed_form.equations import Equations, equations

__all__ = ["Equations", "equations"]
