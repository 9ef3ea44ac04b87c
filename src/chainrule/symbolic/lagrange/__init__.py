"""Lagrange's equations of any mechanical system, from its energies."""

from chainrule.symbolic.lagrange.lagrangian import Lagrangian

__all__ = ["Lagrangian"]
