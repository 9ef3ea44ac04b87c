"""Operational space: the tip of a Panda along a straight line, orientation kept, elbow drawn to where it was."""

import numpy as np

import chainrule as cr

panda = cr.load("panda")
loaded = panda.with_payload(0.5)  # of which the law does not know
q0 = np.array([0.0, -0.5, 0.0, -2.2, 0.0, 1.7, 0.8])
start = panda.pose(q0)
end = start.copy()
end[:3, 3] += 0.1, 0.25, -0.1
line = cr.plan_pose([start, end], times=1.5)
print(f"along {1e3 * np.linalg.norm(end[:3, 3] - start[:3, 3]):.0f} mm in 1.5 s")

far = []
for label, real, kp in (("exact model", panda, 100.0), ("0.5 kg", loaded, 100.0), ("0.5 kg", loaded, 900.0)):
    law = cr.OperationalSpace(panda, line, kp, posture=q0, posture_kp=10.0)
    followed = real.simulate(q0, None, 2.5, law, record=10)
    off = panda.pose(followed.q)[:, :3, 3] - line(followed.t)[0][:, :3, 3]
    far.append(1e3 * np.linalg.norm(off, axis=1).max())
    print(f"  {label:12} kp {kp:.0f}: never more than {far[-1]:5.2f} mm off")
exact, soft, stiff = far
assert exact < 0.1 < stiff < soft / 5  # a model error is met by gain, at one over kp
