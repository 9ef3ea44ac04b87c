"""
Velocities from link to link
============================

Each is that of the link before, and what the joint adds.
"""

import chainrule as cr

figure = cr.load("planar_2r").textbook.velocity_figure([0.4, 0.6], [1.0, -2.0])
