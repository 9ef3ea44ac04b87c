"""
A PUMA 560
==========

The arm of the textbooks, from the side.
"""

import chainrule as cr

figure = cr.load("puma560").plot(view="side")
