"""Equations as expressions: closed forms of robots, Lagrange's equations from energies, derivations, source code.

The packages, in the order of dependencies; each imports from those before it only:

    algebra/       expressions: trigonometric polynomials, factors, canonical forms, units, tapes as formulas
    documents/     printing of expressions and formulas; documents in HTML, LaTeX, Markdown, notebooks, text
    source_code/   matrices in C, Python, Octave, Julia and Modelica
    answers/       answers of people compared with the right ones; LaTeX read, symbols matched, units of any expression
    closed_form/   equations of motion and kinematic equations of a robot
    lagrange/      equations of any mechanical system, from its energies
    derivations/   derivations of a robot's equations, step by step

All of them work on a `Mechanism` or a `Model`, and none on a `Robot`.

>>> import sympy as sp
>>> from chainrule import symbolic
>>> m, g, x, xdot = sp.symbols("m g x xdot")
>>> particle = symbolic.Lagrangian([x], m * xdot**2 / 2, m * g * x, forces="f")
>>> particle.equations[0]
Eq(f, g*m + m*xddot)
"""

from chainrule.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__, "chainrule.errors")  # the names are in __init__.pyi
