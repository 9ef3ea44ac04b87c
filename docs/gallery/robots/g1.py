"""
A Unitree G1
============

A humanoid.
"""

import chainrule as cr

figure = cr.load("g1").plot(names=False)
