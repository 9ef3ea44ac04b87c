"""
How Newton's method finds a configuration
=========================================

Errors, steps and joints of each iteration.
"""

import chainrule as cr

robot = cr.load("planar_2r")
answer = robot.inverse_kinematics([0.0, 1.6, 0.0], [0.1, 1.0], method="newton", task="position", history=True)
figure = answer.history.plot()
