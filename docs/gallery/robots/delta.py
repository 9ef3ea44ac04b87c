"""
A delta robot
=============

Three arms move one platform.
"""

import chainrule as cr

figure = cr.load("delta").plot(names=False)
