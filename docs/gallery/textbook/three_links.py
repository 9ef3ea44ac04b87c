"""
A planar arm of three links
===========================

The same figure, of another robot.
"""

import chainrule as cr

figure = cr.load("planar_3r").textbook.figure([0.5, 0.5, -0.8])
