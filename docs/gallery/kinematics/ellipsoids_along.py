"""
Ellipsoids of several postures
==============================

They flatten toward the stretched arm, where a direction is lost.
"""

import chainrule as cr

robot = cr.load("planar_2r")
postures = [[0.2, 2.2], [0.4, 1.4], [0.6, 0.5]]
figure = robot.plot(postures, ellipsoids=["velocity"], frames=False)
