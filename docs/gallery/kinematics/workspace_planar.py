"""
The workspace of a planar arm
=============================

Postures of a SCARA, by manipulability.
"""

import chainrule as cr

figure = cr.load("scara").workspace(30_000).plot()
