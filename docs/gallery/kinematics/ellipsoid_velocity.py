"""
The ellipsoid of velocity
=========================

It has all velocities for joint velocities of unit length, at the hand of a Panda.
"""

import chainrule as cr

figure = cr.load("panda").plot(ellipsoids=["velocity"])
