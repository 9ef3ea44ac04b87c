"""
A robot in a posture
====================

Links are drawn with their visual geometry.
"""

import chainrule as cr

figure = cr.load("panda").plot()
