"""
A hand on a circle
==================

Inverse kinematics along a path, without jumps.
"""

import numpy as np

import chainrule as cr

robot = cr.load("panda")
angle = np.linspace(0.0, 2.0 * np.pi, 60)
circle = np.repeat(robot.pose(robot.home())[None], len(angle), axis=0)
circle[:, 1, 3] += 0.2 * np.sin(angle)
circle[:, 2, 3] += 0.2 * (np.cos(angle) - 1.0)
path = robot.ik.follow(circle, robot.home())
figure = robot.plot(path.q[::12], frames=False, names=False)
