"""What holds a robot up, and what it takes to move it: torques by their causes."""

import numpy as np

import chainrule as cr

robot = cr.load("puma560")
q = np.radians([0, 45, 180, 0, 45, 0])
qd = np.full(6, 0.5)
qdd = np.full(6, 1.0)

terms = robot.torque_terms(q, qd, qdd)
print(f"{'':12}" + "".join(f"{name:>10}" for name in robot.joint_names))
for term, values in terms.items():
    print(f"{term:12}" + "".join(f"{value:10.3f}" for value in values))

# the same with 2 kg in the hand, and pushing down with 10 N
loaded = robot.with_payload(2.0, com=(0, 0, 0.05))
pushing = loaded.inverse_dynamics(q, qd, qdd, tip_wrench=[0, 0, 0, 0, 0, -10])
print(f"{'loaded':12}" + "".join(f"{value:10.3f}" for value in pushing))

assert np.allclose(robot.forward_dynamics(q, qd, terms["total"]), qdd)
