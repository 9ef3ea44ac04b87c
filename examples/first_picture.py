"""An arm that reaches for a point, and a picture of it: the example with which README.md begins."""

import chainrule as cr

robot = cr.load("panda")  # a bundled robot; or a file: cr.load("arm.urdf")
start = robot.home()
goal = robot.inverse_kinematics([0.4, 0.5, 0.2], start, task="position").q  # the hand at x, y, z, in m
plan = cr.plan(robot, [start, goal])  # a motion within the limits of the joints
motion = robot.simulate(start, duration=1.5, torque=cr.ComputedTorque(robot, plan))

print("the hand is at", robot.pose(motion.q[-1])[:3, 3].round(3), "m")
print("largest torques", abs(motion.tau).max(axis=0).round(1), "N m")
robot.plot(motion.q[::250], "panda.png", frames=False)  # later postures are darker
