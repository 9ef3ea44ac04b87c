"""
A Stewart platform
==================

Six legs that slide hold a platform. Loops are closed.
"""

import chainrule as cr

figure = cr.load("stewart_platform").plot(names=False)
