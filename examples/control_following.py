"""Computed torque: a Puma 560 that is 10% heavier than it is thought to be follows a motion."""

import numpy as np

import chainrule as cr

puma = cr.load("puma560")
heavy = puma.scale_masses(1.1)
motion = cr.plan(puma, [[0, 0.8, -2.1, 0, 0.5, 0], [1, 0.2, -1.5, 0.8, -0.5, 1]], times=1.5)
print(f"Puma 560 with the friction of its motors, 10% too heavy, along a motion of {motion.duration} s")

far = {}
for label, known in (("friction unknown", puma.without_friction()), ("friction known", puma)):
    law = cr.ComputedTorque(known, motion, kp=400.0)  # errors decay as exp(-20 t)
    followed = heavy.simulate(motion(0.0)[0], None, 2.0, law, record=10)
    error = np.degrees(np.abs(followed.q - motion(followed.t)[0]))
    far[label] = error.max()
    print(f"  {label:18} never more than {error.max():.2f} deg off, at the end {error[-1].max():.2f} deg")
assert far["friction known"] < far["friction unknown"] / 10
