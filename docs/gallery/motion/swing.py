"""
A double pendulum that swings
=============================

A moving picture.
"""

import chainrule as cr

robot = cr.load("double_pendulum")
motion = robot.simulate([1.6, 0.4], None, 1.6)
figure = robot.animate(motion, fps=10, size=(3, 3))
