"""Equations of motion and kinematic equations of a robot in closed form."""

from chainrule.symbolic.closed_form.equations import Equations, equations

__all__ = ["Equations", "equations"]
