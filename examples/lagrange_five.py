"""Lagrange's equations of five systems, from masses and where they are, beside the results that are printed.

They are the examples of the lecture slides "Ch2: Robot Dynamics - Part 1, Dynamic Equations". The slides print results
of the first and the third; those of the others are what their text asks for, written by hand.
"""

import sympy as sp
from sympy import cos, sin

from chainrule.symbolic import Lagrangian, PointMass, coordinates

m, m_1, m_2, m_3 = sp.symbols("m m_1 m_2 m_3")
L_1, L_2, l_1, l_2, phi, g = sp.symbols("L_1 L_2 l_1 l_2 phi g")


def compare(title, system, *printed):
    """Print the equations and the result on paper, which must be the same."""
    print(f"{title}\n{system}")
    for tau, result in zip(system.tau, printed, strict=True):
        assert sp.expand(sp.expand_trig(tau - result)) == 0
        print(f"  on paper: {sp.sstr(result)}")
    print()


# 1. A particle on a vertical line: the energies themselves.
(x,), (xdot,), (xddot,) = coordinates("x")
particle = Lagrangian([x], kinetic=m * xdot**2 / 2, potential=m * g * x, forces="f")
compare("1. A particle on a vertical line", particle, m * xddot + m * g)

# 2. A bent link that turns about the vertical z_0: its first part is horizontal, with m_1 at its end; the second, with
# m_2 at its end, rises from there by the constant angle phi. Its height never changes, and so gravity does no work.
(theta,), _, (thetaddot,) = coordinates("theta")
outward = sp.Matrix([cos(theta), sin(theta), 0])
up = sp.Matrix([0, 0, 1])
elbow = l_1 * outward
end = elbow + l_2 * (cos(phi) * outward + sin(phi) * up)
compare(
    "2. A link of two parts about a vertical axis",
    Lagrangian.of_bodies([theta], [PointMass(m_1, elbow), PointMass(m_2, end)]),
    (m_1 * l_1**2 + m_2 * (l_1 + l_2 * cos(phi)) ** 2) * thetaddot,
)

# 3. The planar 2R arm, with point masses at the ends of its links, gravity along -y.
(t1, t2), (v1, v2), (a1, a2) = coordinates("theta_1 theta_2")
elbow = sp.Matrix([L_1 * cos(t1), L_1 * sin(t1)])
hand = elbow + sp.Matrix([L_2 * cos(t1 + t2), L_2 * sin(t1 + t2)])
arm = Lagrangian.of_bodies([t1, t2], [PointMass(m_1, elbow), PointMass(m_2, hand)], gravity=(0, -g))
compare(
    "3. A planar 2R arm",
    arm,
    (m_1 * L_1**2 + m_2 * (L_1**2 + 2 * L_1 * L_2 * cos(t2) + L_2**2)) * a1
    + m_2 * (L_1 * L_2 * cos(t2) + L_2**2) * a2
    - m_2 * L_1 * L_2 * sin(t2) * (2 * v1 * v2 + v2**2)
    + (m_1 + m_2) * L_1 * g * cos(t1)
    + m_2 * g * L_2 * cos(t1 + t2),
    m_2 * (L_1 * L_2 * cos(t2) + L_2**2) * a1
    + m_2 * L_2**2 * a2
    + m_2 * L_1 * L_2 * v1**2 * sin(t2)
    + m_2 * g * L_2 * cos(t1 + t2),
)

# 4. The planar RP arm: m_1 at L_1 on the link that turns, m_2 at theta_2 along it.
hand = sp.Matrix([t2 * cos(t1), t2 * sin(t1)])
compare(
    "4. A planar RP arm",
    Lagrangian.of_bodies([t1, t2], [PointMass(m_1, elbow), PointMass(m_2, hand)], gravity=(0, -g)),
    (m_1 * L_1**2 + m_2 * t2**2) * a1 + 2 * m_2 * t2 * v1 * v2 + (m_1 * L_1 + m_2 * t2) * g * cos(t1),
    m_2 * a2 - m_2 * t2 * v1**2 + m_2 * g * sin(t1),
)

# 5. The Cartesian robot: the first joint lifts everything, the others move level.
q, _, a = coordinates("q_1 q_2 q_3")
links = [PointMass(m_1, (0, 0, q[0])), PointMass(m_2, (0, q[1], q[0])), PointMass(m_3, (q[2], q[1], q[0]))]
compare(
    "5. A Cartesian robot",
    Lagrangian.of_bodies(q, links),
    (m_1 + m_2 + m_3) * (a[0] + g),
    (m_2 + m_3) * a[1],
    m_3 * a[2],
)

# Every step of it, and what follows: in LaTeX, at rest, and as a compiled function.
print(arm.derivation("The planar 2R arm").text())
print("In LaTeX:", arm.latex("c"))
print("At rest:", arm.equilibria())
torque = arm.function("inverse_dynamics", {"m_1": 1, "m_2": 1, "L_1": 1, "L_2": 1, "g": 9.81})
print("Torque stretched out, at rest:", torque([0, 0], [0, 0], [0, 0]))
