"""
The ellipsoid of force
======================

It has all forces for joint torques of unit length, at the hand of a Panda.
"""

import chainrule as cr

figure = cr.load("panda").plot(ellipsoids=["force"])
