"""Methods of a robot say where tensors with gradients, tracers and symbols are taken."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
import sympy

import chainrule as cr

ARM = cr.load("planar_2r")
REST = np.zeros(2)


def test_tensors_that_require_grad():
    torch = pytest.importorskip("torch")
    q = torch.zeros(2, dtype=torch.float64)
    np.testing.assert_array_equal(ARM.gravity_torque(q), ARM.gravity_torque(REST))
    with pytest.raises(cr.ShapeError, match=r"gravity_torque: q is a tensor .* call robot\.torch\.gravity_torque"):
        ARM.gravity_torque(q.requires_grad_())
    with pytest.raises(cr.ShapeError, match=r"call robot\.torch\.inverse_dynamics"):
        ARM.inverse_dynamics(REST, REST, REST, tip_wrench=torch.zeros(6, requires_grad=True), frame="body")


def test_tracers():
    jax = pytest.importorskip("jax")
    np.testing.assert_allclose(ARM.gravity_torque(jax.numpy.zeros(2)), ARM.gravity_torque(REST), rtol=1e-6)
    with pytest.raises(cr.ShapeError, match=r"q is a tracer of JAX, .* call robot\.jax\.gravity_torque"):
        jax.jit(ARM.gravity_torque)(REST)


def test_symbols():
    with pytest.raises(cr.ShapeError, match=r"qd is a symbol of CasADi, .* call robot\.casadi\.kinetic_energy"):
        ARM.kinetic_energy(REST, casadi.SX.sym("qd", 2))
    with pytest.raises(cr.ShapeError, match=r"q is an expression of SymPy, .* robot\.equations\(\)"):
        ARM.gravity_torque(sympy.symbols("q1 q2"))
    np.testing.assert_array_equal(ARM.gravity_torque(casadi.DM([0, 0]).full().ravel()), ARM.gravity_torque(REST))


def test_a_function_without_a_name_in_the_table():
    with pytest.raises(cr.ShapeError, match=r"call robot\.casadi$"):
        ARM.singular_values(casadi.SX.sym("q", 2))
