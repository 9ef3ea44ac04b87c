"""
An arm with its symbols
=======================

Angles, lengths, masses, gravity, frames.
"""

import chainrule as cr

figure = cr.load("planar_2r").textbook.figure([0.4, 0.6])
