"""
An arm that reaches
===================

Computed torque follows a plan; limits are dotted.
"""

import chainrule as cr

robot = cr.load("ur5")
start, end = [0.0, -1.2, 1.2, -1.5, -1.5, 0.0], [1.2, -0.5, 0.6, -1.0, -1.2, 0.8]
plan = cr.plan(robot, [start, end], times=1.0)
motion = robot.simulate(start, None, 1.2, cr.ComputedTorque(robot, plan))
figure = motion.plot(reference=plan, joints=robot.joint_names[:3], quantities=["q", "qd", "tau"])
