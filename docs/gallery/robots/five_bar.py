"""
A five-bar linkage
==================

Two motors move a point in a plane.
"""

import chainrule as cr

figure = cr.load("five_bar").plot()
