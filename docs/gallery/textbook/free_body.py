"""
A free-body diagram
===================

The forces on the first link of a moving arm, to scale. Gravity is an acceleration of the base.
"""

import chainrule as cr

book = cr.load("planar_2r").textbook
figure = book.free_body([0.4, 0.6], [1.0, -2.0], [0.5, 1.0], link="link1")
