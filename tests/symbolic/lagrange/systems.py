"""Mechanical systems that several tests use, and their symbols."""

import sympy as sp
from sympy import cos, sin

from chainrule.symbolic.lagrange.bodies import PointMass, RigidBody
from chainrule.symbolic.lagrange.coordinates import coordinates
from chainrule.symbolic.lagrange.lagrangian import Lagrangian

m, m_1, m_2, m_3, g, k, l, b, f_c = sp.symbols("m m_1 m_2 m_3 g k l b f_c")
L_1, L_2, l_1, l_2, phi, I_1, I_2 = sp.symbols("L_1 L_2 l_1 l_2 phi I_1 I_2")
x, y, z, theta, theta_1, theta_2, t = sp.symbols("x y z theta theta_1 theta_2 t")
xdot, ydot, thetadot, thetadot_1, thetadot_2 = sp.symbols("xdot ydot thetadot thetadot_1 thetadot_2")
xddot, thetaddot, thetaddot_1, thetaddot_2 = sp.symbols("xddot thetaddot thetaddot_1 thetaddot_2")
tau, tau_1, tau_2 = sp.symbols("tau tau_1 tau_2")


def rotated(angle):
    return sp.Matrix([[cos(angle), -sin(angle), 0], [sin(angle), cos(angle), 0], [0, 0, 1]])


def arm_2r(**rest):
    elbow = (L_1 * cos(theta_1), L_1 * sin(theta_1))
    hand = (elbow[0] + L_2 * cos(theta_1 + theta_2), elbow[1] + L_2 * sin(theta_1 + theta_2))
    bodies = [PointMass(m_1, elbow), PointMass(m_2, hand)]
    return Lagrangian.of_bodies([theta_1, theta_2], bodies, gravity=(0, -g), **rest)


def arm_rp():
    bodies = [
        PointMass(m_1, (L_1 * cos(theta_1), L_1 * sin(theta_1))),
        PointMass(m_2, (theta_2 * cos(theta_1), theta_2 * sin(theta_1))),
    ]
    return Lagrangian.of_bodies([theta_1, theta_2], bodies, gravity=(0, -g))


def arm_rp_with_inertia():
    R = rotated(theta_1)
    bodies = [
        RigidBody(m_1, (0, 0, I_1), R * sp.Matrix([L_1, 0, 0]), R),
        RigidBody(m_2, (0, 0, I_2), R * sp.Matrix([theta_2, 0, 0]), R),
    ]
    return Lagrangian.of_bodies([theta_1, theta_2], bodies, gravity=(0, -g))


def gantry():
    q, _, _ = coordinates("q_1 q_2 q_3")
    bodies = [PointMass(m_1, (0, 0, q[0])), PointMass(m_2, (0, q[1], q[0])), PointMass(m_3, (q[2], q[1], q[0]))]
    return Lagrangian.of_bodies(q, bodies)


def pendulum(**rest):
    return Lagrangian.of_bodies([theta], [PointMass(m, (l * sin(theta), -l * cos(theta)))], gravity=(0, -g), **rest)


def double_pendulum():
    first = (l_1 * sin(theta_1), -l_1 * cos(theta_1))
    second = (first[0] + l_2 * sin(theta_1 + theta_2), first[1] - l_2 * cos(theta_1 + theta_2))
    return Lagrangian.of_bodies([theta_1, theta_2], [PointMass(m_1, first), PointMass(m_2, second)], gravity=(0, -g))


def spinning_top():
    angles = sp.symbols("alpha beta gamma")
    tilt = sp.Matrix([[1, 0, 0], [0, cos(angles[1]), -sin(angles[1])], [0, sin(angles[1]), cos(angles[1])]])
    R = rotated(angles[0]) * tilt * rotated(angles[2])
    return Lagrangian.of_bodies(angles, [RigidBody(m, (I_1, I_1, I_2), R * sp.Matrix([0, 0, l]), R)], forces=0)


def held_bob(**rest):
    return Lagrangian.of_bodies(
        [x, y], [PointMass(m, (x, y))], gravity=(0, -g), constraints=[sp.Eq(x**2 + y**2, l**2)], forces=0, **rest
    )
