"""
A KUKA iiwa
===========

Dashed lines are the screw axes of the joints.
"""

import chainrule as cr

figure = cr.load("iiwa14").plot(screws=True)
