"""From poses to joints: ten thousand at once, all branches of a Puma, a straight line in space, and honest failures."""

import time

import numpy as np

import chainrule as cr

panda = cr.load("panda")
rng = np.random.default_rng(0)

# many poses in one call; every success is judged by forward kinematics and the joints' limits
targets = panda.pose(panda.random_state(rng, 10_000))
panda.inverse_kinematics(targets[:1])  # compiles
began = time.perf_counter()
answer = panda.inverse_kinematics(targets)
print(f"panda: {answer}, {(time.perf_counter() - began) / len(targets) * 1e6:.1f} us each")

# a pose that is too far away is not reached, and the nearest configuration says by how much
far = targets[0].copy()
far[:3, 3] *= 2.0 / np.linalg.norm(far[:3, 3])
answer = panda.inverse_kinematics(far)
print(f"2 m from the base: {answer}; {answer.error[0]:.2f} m are missing")

# what only the direction of the tool matters for: the turn about it is free
answer = panda.inverse_kinematics(targets[1], task="axis", posture="center")
print(f"drilling: {answer.error[0]:.1e} m and {answer.error[1]:.1e} rad off, near the middle of all joints")

# all branches in closed form
puma = cr.load("puma560")
branches = puma.ik.branches(puma.pose([0.3, -0.4, 0.5, 0.2, 0.7, -0.3]))
print(f"puma560 ({branches.kind}): {branches.exists.sum()} branches, {branches.valid.sum()} within the limits")
print(branches.q[branches.valid].round(3))

# along a straight line, without jumps, within the joints' speeds
start = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
ends = np.stack([panda.pose(start), panda.pose(start)])
ends[1, :3, 3] += [0.1, 0.3, -0.2]
line = cr.plan_pose(ends, times=1.5)
t = np.linspace(0.0, line.duration, 300)
path = panda.ik.follow(line(t)[0], start, times=t)
print(f"line: {path}; fastest joint {np.abs(path.speeds).max():.2f} rad/s")
assert path.success.all()
assert not path.too_fast.any()
