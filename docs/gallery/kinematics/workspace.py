"""
The workspace of a Panda
========================

A hundred thousand random postures within the limits.
"""

import chainrule as cr

figure = cr.load("panda").workspace(100_000).plot()
