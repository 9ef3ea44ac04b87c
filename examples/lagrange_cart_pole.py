"""A cart with a pole: energies, equations, what is conserved, and the linear system about the upright position."""

import numpy as np
import sympy as sp
from scipy.linalg import solve_continuous_are

from chainrule.symbolic.lagrange.bodies import Friction, PointMass
from chainrule.symbolic.lagrange.coordinates import coordinates
from chainrule.symbolic.lagrange.lagrangian import Lagrangian

M, m, l, g, b, F = sp.symbols("M m l g b F", positive=True)
(x, theta), _, _ = coordinates("x theta")
cart, bob = PointMass(M, (x, 0)), PointMass(m, (x + l * sp.sin(theta), l * sp.cos(theta)))
free = Lagrangian.of_bodies([x, theta], [cart, bob], gravity=(0, -g), forces=0)
print(free)
for name, expression, reason in free.conserved_quantities():
    print(f"{name}: {expression}, because {reason}")

driven = Lagrangian.of_bodies(
    [x, theta], [cart, bob], gravity=(0, -g), forces={x: F}, friction={x: Friction(viscous=b)}
)
print("at rest:", driven.equilibria())
upright = driven.linearize({x: 0, theta: 0})
sp.pprint(upright.A)

# a regulator from it, on the equations themselves
numbers = {"M": 1.0, "m": 0.2, "l": 0.5, "g": 9.81, "b": 0.1}
A, B = upright.numbers(numbers)
gain = B.T @ solve_continuous_are(A, B, np.diag([10, 10, 1, 1]), np.eye(1))
acceleration = driven.function("forward_dynamics", numbers)
state, dt = np.array([0.0, 0.3, 0.0, 0.0]), 1e-3
for _ in range(5000):
    qd = state[2:] + dt * acceleration(state[:2], state[2:], -gain @ state)
    state = np.concatenate([state[:2] + dt * qd, qd])
print("after five seconds:", state.round(4))
assert np.abs(state).max() < 0.05
