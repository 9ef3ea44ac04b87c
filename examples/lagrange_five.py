"""Lagrange's equations of five systems, from masses and where they are.

They are the examples of the lecture slides "Ch2: Robot Dynamics - Part 1, Dynamic Equations".
"""

import sympy as sp
from sympy import cos, sin

from chainrule.symbolic.lagrange.bodies import PointMass
from chainrule.symbolic.lagrange.coordinates import coordinates
from chainrule.symbolic.lagrange.lagrangian import Lagrangian

m, m_1, m_2, m_3 = sp.symbols("m m_1 m_2 m_3")
L_1, L_2, l_1, l_2, phi, g = sp.symbols("L_1 L_2 l_1 l_2 phi g")


def show(title, system):
    print(f"{title}\n{system}\n")


# 1. A particle on a vertical line: the energies themselves.
(x,), (xdot,), _ = coordinates("x")
particle = Lagrangian([x], kinetic=m * xdot**2 / 2, potential=m * g * x, forces="f")
show("1. A particle on a vertical line", particle)

# 2. A bent link that turns about the vertical z_0: its first part is horizontal, with m_1 at its end; the second, with
# m_2 at its end, rises from there by the constant angle phi. Its height never changes, and so gravity does no work.
(theta,), _, _ = coordinates("theta")
outward = sp.Matrix([cos(theta), sin(theta), 0])
up = sp.Matrix([0, 0, 1])
elbow = l_1 * outward
end = elbow + l_2 * (cos(phi) * outward + sin(phi) * up)
show(
    "2. A link of two parts about a vertical axis",
    Lagrangian.of_bodies([theta], [PointMass(m_1, elbow), PointMass(m_2, end)]),
)

# 3. The planar 2R arm, with point masses at the ends of its links, gravity along -y.
(theta_1, theta_2), _, _ = coordinates("theta_1 theta_2")
elbow = sp.Matrix([L_1 * cos(theta_1), L_1 * sin(theta_1)])
hand = elbow + sp.Matrix([L_2 * cos(theta_1 + theta_2), L_2 * sin(theta_1 + theta_2)])
arm = Lagrangian.of_bodies([theta_1, theta_2], [PointMass(m_1, elbow), PointMass(m_2, hand)], gravity=(0, -g))
show("3. A planar 2R arm", arm)

# 4. The planar RP arm: m_1 at L_1 on the link that turns, m_2 at theta_2 along it.
hand = sp.Matrix([theta_2 * cos(theta_1), theta_2 * sin(theta_1)])
show(
    "4. A planar RP arm",
    Lagrangian.of_bodies([theta_1, theta_2], [PointMass(m_1, elbow), PointMass(m_2, hand)], gravity=(0, -g)),
)

# 5. The Cartesian robot: the first joint lifts everything, the others move level.
q, _, _ = coordinates("q_1 q_2 q_3")
links = [PointMass(m_1, (0, 0, q[0])), PointMass(m_2, (0, q[1], q[0])), PointMass(m_3, (q[2], q[1], q[0]))]
show("5. A Cartesian robot", Lagrangian.of_bodies(q, links))

# What follows from them: in LaTeX, at rest, and as a compiled function.
print("In LaTeX:", arm.latex("c"))
print("At rest:", arm.equilibria())
torque = arm.function("inverse_dynamics", {"m_1": 1, "m_2": 1, "L_1": 1, "L_2": 1, "g": 9.81})
print("Torque stretched out, at rest:", torque([0, 0], [0, 0], [0, 0]))
