"""A differential drive from encoder ticks to odometry with its uncertainty, and a Panda driven about on it."""

import numpy as np

import chainrule as cr
from chainrule.wheels import DifferentialDrive, MobileManipulator, encoder_speed, odometry

drive = DifferentialDrive(radius=0.08, separation=0.5)
rate = 20.0  # samples a second
ticks = np.concatenate([np.full((40, 2), 60.0), np.tile([40.0, 80.0], (40, 1))])
track = odometry(drive, encoder_speed(ticks, 1024, rate), 1 / rate, noise=1e-3)
x, y, theta = track.pose[-1]
across = track.ellipses()[0][-1]
print(f"after {track.t[-1]:.0f} s at ({x:.3f}, {y:.3f}) m, heading {np.degrees(theta):.1f} deg,", end=" ")
print(f"known to {1e3 * across[0]:.0f} by {1e3 * across[1]:.0f} mm (two standard deviations)")

mount = np.eye(4)
mount[2, 3] = 0.4
whole = MobileManipulator(drive, cr.load("panda"), mount)
q = np.concatenate([[0.0, 0.0, 0.0], [0.0, -0.5, 0.0, -2.2, 0.0, 1.7, 0.8]])
start = whole.robot.pose(q)[:3, 3]
dt, speed = 0.02, np.array([0.3, 0.1, 0.0])
for k in range(250):  # the hand 1.5 m ahead and 0.5 m to the left in 5 s, and what it is behind made up for
    behind = start + k * dt * speed - whole.robot.pose(q)[:3, 3]
    u = whole.resolved_rate(q, speed + 5 * behind, task="position", damping=0.02)
    q = q + dt * whole.joint_velocities(q, u)
moved = whole.robot.pose(q)[:3, 3] - start
print(f"the hand moved by ({', '.join(f'{x:.3f}' for x in moved)}) m, the base by ({q[0]:.3f}, {q[1]:.3f}) m", end=" ")
print(f"and {np.degrees(q[2]):.0f} deg, with velocities {', '.join(whole.velocity_names[:2])} only")
assert np.abs(moved - [1.5, 0.5, 0]).max() < 0.02
