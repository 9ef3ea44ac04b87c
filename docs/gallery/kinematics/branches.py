"""
All answers of a UR5
====================

Eight configurations have the same pose of the hand. Here are four of them.
"""

import chainrule as cr

robot = cr.load("ur5")
pose = robot.pose([0.3, -1.2, 1.0, -0.6, 0.5, 0.2])
figure = robot.plot(robot.ik.branches(pose).q[::2], frames=False, names=False)
