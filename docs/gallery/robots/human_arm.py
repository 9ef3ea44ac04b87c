"""
The arm of a person
===================

From body mass and height, by an anthropometric table.
"""

import chainrule as cr

figure = cr.load("human_arm").plot()
