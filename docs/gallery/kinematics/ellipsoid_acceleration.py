"""
The ellipsoid of acceleration
=============================

It has all accelerations for joint torques of unit length, from rest, at the hand of a Panda.
"""

import chainrule as cr

figure = cr.load("panda").plot(ellipsoids=["acceleration"])
