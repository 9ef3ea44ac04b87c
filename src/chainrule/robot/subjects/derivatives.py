"""`robot.derivatives`: derivatives of every function, and those that have algorithms of their own."""

from __future__ import annotations

from chainrule.core import products
from chainrule.core.subject import RobotSubject, method
from chainrule.dynamics import derivatives, energy
from chainrule.parameters.derivatives import by_parameters


class Derivatives(RobotSubject):
    """Derivatives: products of any function's Jacobian with vectors, and single ones as arrays."""

    jvp = method(products.jvp)
    vjp = method(products.vjp)
    hvp = method(products.hvp)
    by_parameters = method(by_parameters)
    second = method(derivatives.second)
    mass_matrix_dq = method(derivatives.mass_matrix_dq)
    mass_matrix_dot = method(derivatives.mass_matrix_dot)
    gravity_torque_dq = method(derivatives.gravity_torque_dq)
    potential_energy_dq = method(energy.potential_energy_dq)
    kinetic_energy_derivatives = method(energy.kinetic_energy_derivatives)
    momentum_derivatives = method(energy.momentum_derivatives)
    centroidal_momentum_derivatives = method(energy.centroidal_momentum_derivatives)
