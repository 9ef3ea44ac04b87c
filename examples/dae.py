"""A two-link arm and a four-bar linkage as differential-algebraic equations, and what a DAE integrator makes of them.

Run it: python examples/dae.py
"""

import casadi
import numpy as np

import chainrule as cr

# The parent-child equations of the arm: F(x, dx/dt, t) = 0 with x = (q, qd, V, W).
arm = cr.load("planar_2r")
F = arm.textbook.dae_residual(torque=lambda t, q, qd: -2.0 * qd)
print(F)
start = F.start(q=[0.3, 0.4], qd=[1.0, -0.5])
print(start)

# IDAS of SUNDIALS, which CasADi brings along, integrates it; beside it, the reduced equations.
t = np.linspace(0.0, 1.0, 11)
x = F.integrate([0.3, 0.4], [1.0, -0.5], t)
motion = arm.simulate([0.3, 0.4], [1.0, -0.5], 1.0, cr.traceable(lambda t, q, qd: -2.0 * qd), record=100)
print(f"IDAS and simulate differ by {np.abs(F.split(x).q - motion.q).max():.1e} rad; {F.drift(x)}")
print(f"wrench through joint 1 at the end, (m, f): {F.split(x).W[-1, 0].round(3)}")

# Any other integrator of CasADi takes the same problem.
states = len(start.x) - F.sizes.links
guess = np.concatenate([start.x_dot[arm.nq : states], start.x[states:]])
collocation = casadi.integrator("collocation", "collocation", F.casadi(), 0.0, 0.1, {"number_of_finite_elements": 10})
end = np.array(collocation(x0=start.x[:states], z0=guess)["xf"]).ravel()[: arm.nq]
print(f"collocation and simulate differ by {np.abs(end - motion.q[1]).max():.1e} rad after 0.1 s")

# Index 2 is the lecture's form. The backward Euler method takes it, with the exact sparse Jacobian for Newton's steps.
second, h = arm.textbook.dae_residual(index=2), 1e-3
before = second.start([0.3, 0.4], [1.0, -0.5]).x
for _ in range(100):
    x_new = before
    for _ in range(4):
        rate = (x_new - before) / h
        x_new = x_new - np.linalg.solve(second.jacobian(x_new, rate, c=1 / h).toarray(), second(x_new, rate))
    before = x_new
print(f"index {second.index}, backward Euler: {second.drift(before)}")

# A closed loop, in maximal coordinates and in reduced ones.
linkage = cr.load("four_bar")
q = linkage.loops.close([1.0, 0.0, 0.0], hold=["crank"])
for way in ("projection", "baumgarte", "none"):
    print(linkage.textbook.simulate_maximal(q, None, 0.2, dt=2e-3, loops=way).compare())
