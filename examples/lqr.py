"""A double pendulum held upright by a linear-quadratic regulator, made from the exact linearization.

Only the shoulder has a motor. The regulator is designed on the discrete system from sample to sample, and then tried on
the full equations of motion.
"""

import numpy as np
from scipy.linalg import solve_discrete_are

import chainrule as cr

arm = cr.load("planar_2r").edit(joints={"*": {"effort": [50.0, 0.0]}})
upright = np.array([np.pi / 2, 0.0])
dt = 0.01

A, B, f = arm.linearize(upright, np.zeros(2), np.zeros(2), dt)
B = B[:, :1]  # the elbow has no motor
print(f"upright is an equilibrium: what the state does by itself is {abs(f).max():.1e}")
print("eigenvalues alone:      ", np.sort(abs(np.linalg.eigvals(A))).round(3))

Q, R = np.diag([10.0, 10.0, 1.0, 1.0]), np.diag([0.1])
P = solve_discrete_are(A, B, Q, R)
K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
print("eigenvalues with the law:", np.sort(abs(np.linalg.eigvals(A - B @ K))).round(3))


@cr.traceable
def law(t, q, qd):
    """The torque of the shoulder, from the distance to upright."""
    x = np.concatenate([q - upright, qd])
    return np.array([-(K[0] @ x), 0.0 * t])


start = upright + np.array([0.05, -0.08])
motion = arm.simulate(start, None, 3.0, law, dt=1e-3)
free = arm.simulate(start, None, 3.0, dt=1e-3)
print(f"after 3 s, from {np.degrees(start - upright).round(1)} degrees off:")
print(f"  with the law {np.degrees(motion.q[-1] - upright).round(3)} degrees, at most {abs(motion.tau).max():.1f} N m")
print(f"  without      {np.degrees(free.q[-1] - upright).round(1)} degrees")
assert abs(motion.q[-1] - upright).max() < 1e-3
