"""The equations themselves: Lagrange's from energies, closed forms of robots, derivations, documents, source code.

>>> import sympy as sp
>>> from chainrule import symbolic
>>> m, g, x, xdot = sp.symbols("m g x xdot")
>>> particle = symbolic.Lagrangian([x], m * xdot**2 / 2, m * g * x, forces="f")
>>> particle.equations[0]
Eq(f, g*m + m*xddot)
"""

from chainrule.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)  # the names are in __init__.pyi
