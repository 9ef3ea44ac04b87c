"""Near a singularity: joint speeds and push forces grow, the report says why, and damping bounds the speeds."""

import numpy as np

import chainrule as cr

arm = cr.load("planar_2r").edit(joints={"*": {"effort": 50.0}})
print("planar 2R arm, tip drawn in at 0.1 m/s along its own line, elbow nearly straight")
print("  elbow rad        w   joint speeds rad/s    with damping 0.1   push N")
for bend in (1.0, 0.3, 0.1, 0.03, 0.01):
    q = np.array([-bend / 2, bend])  # the tip stays on the x axis
    inwards = [-0.1, 0.0, 0.0]
    plain = arm.analysis.resolved_rate(q, inwards, task="position")
    damped = arm.analysis.resolved_rate(q, inwards, task="position", damping=0.1)
    force = arm.analysis.push(q, [1, 0, 0], gravity=False)
    print(f"  {bend:9.2f} {arm.manipulability(q):8.4f}   {plain[0]:8.3f} {plain[1]:8.3f}", end="")
    print(f"   {damped[0]:8.3f} {damped[1]:8.3f} {float(force):8.0f}")
print(arm.analysis.singularity([0.0, 0.0]))

puma = cr.load("puma560")
q = np.array([0.3, 0.2, 0.4, 0.5, 0.0, 0.6])
print("\nPUMA 560 with a straight wrist")
print(puma.analysis.singularity(q))
start = q[4] = 0.01  # off it, to one side, and then uphill in manipulability
for _ in range(100):
    q = q + 2.0 * puma.analysis.gradient(q)
assert puma.manipulability(q) > 0.05
print(f"uphill in manipulability from {start} rad of bend: now {q[4]:.2f} rad, w = {puma.manipulability(q):.4f}")
