"""Where a UR5 gets: a cloud of postures, its reach, how dexterous it is there, and what it can carry."""

import numpy as np

import chainrule as cr

robot = cr.load("ur5")
cloud = robot.workspace(200_000)
low, high = cloud.bounds
print(
    f"{len(cloud)} postures: x {low[0]:.2f} to {high[0]:.2f}, y {low[1]:.2f} to {high[1]:.2f}, z {low[2]:.2f} to",
    end=" ",
)
print(f"{high[2]:.2f} m; about {cloud.volume():.2f} m^3")
for way in ([1, 0, 0], [0, 0, 1], [1, 1, 1]):
    reach = cloud.reach(way)
    print(f"  reach along {way}: {reach.distance:.4f} m at ({', '.join(f'{x:.3f}' for x in reach.position)})")

seen = cloud.dexterity(0.15)
many = seen.counts > 200
best = seen.centers[many][seen.share[many].argmax()]
place = ", ".join(f"{x:.2f}" for x in best)
print(f"most dexterous around ({place}): reached from {seen.share[many].max():.0%} of all directions")

level = cloud.slice("z", 0.4, 0.1)
distance = np.hypot(*level.position[:, :2].T)
carried = robot.analysis.payload(level.q)
print("payload at a height of 0.4 m, the median over postures")
for near in (0.2, 0.4, 0.6, 0.8):
    ring = (distance >= near) & (distance < near + 0.1)
    print(f"  {near:.1f} to {near + 0.1:.1f} m out: {np.median(carried[ring]):5.1f} kg")
