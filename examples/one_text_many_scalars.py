"""The same algorithm on floats, a batch, CasADi and SymPy: a value, many values, a derivative, an equation."""

import casadi
import numpy as np
import sympy

import chainrule as cr
from chainrule.algorithms import rnea

robot = cr.load("planar_2r")
model = robot.model

print("floats: ", rnea.gravity_torque(model, [0.3, 0.4]))
print("a batch:", rnea.gravity_torque(model, [np.array([0.0, 0.3]), np.array([0.0, 0.4])])[0])

q = casadi.SX.sym("q", 2)
torque = casadi.vertcat(*rnea.gravity_torque(model, casadi.vertsplit(q)))
slope = casadi.Function("slope", [q], [casadi.jacobian(torque, q)])
print("its exact derivative:", np.array(slope([0.3, 0.4])).tolist())

m, L, g = sympy.symbols("m L g", positive=True)
letters = {"kg": m, "m": L, "m/s^2": g}


def lettered(number, unit):
    """Every mass m, every length L, gravity g; zeros stay zeros."""
    return letters[unit] * int(np.sign(number)) if unit in letters else sympy.nsimplify(number)


t1, t2 = sympy.symbols("theta1 theta2")
print("an equation:", sympy.simplify(rnea.gravity_torque(model.map(lettered), [t1, t2])[1]))
