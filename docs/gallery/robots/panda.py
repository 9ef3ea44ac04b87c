"""
A Franka Panda
==============

Links are drawn between their joints where the file has no geometry. Pins are joints that turn.
"""

import chainrule as cr

figure = cr.load("panda").plot()
