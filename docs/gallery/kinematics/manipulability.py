"""
Manipulability along a motion
=============================

How far from a singularity: the product of the singular values of the Jacobian.
"""

import numpy as np

import chainrule as cr

robot = cr.load("panda")
goal = robot.home() + np.array([0, 0.8, 0, 1.2, 0, 0.5, 0])
plan = cr.plan(robot, [robot.home(), goal], times=2.0)
t = np.linspace(0.0, 2.0, 200)
figure = robot.analysis.plot(plan(t)[0], t=t)
