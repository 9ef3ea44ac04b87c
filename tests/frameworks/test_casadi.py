"""robot.casadi: values of the robot's methods, attached and automatic derivatives, maps, C code, and an Opti problem."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from trees import state, tree

import chainrule as cr
from chainrule.core.evaluation import evaluate
from chainrule.errors import ChainruleError
from chainrule.functions.table import FUNCTIONS

ARM = cr.load("planar_2r")
TREE = tree(3, ("revolute", "free", "universal"))
STEP = 1e-6


def numbers(robot, name):
    return [np.asarray(x) for x in state(robot, 1)[: len(FUNCTIONS[name].takes)]]


@pytest.mark.parametrize("robot", [ARM, TREE], ids=["planar_2r", "tree"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "pose", "kinetic_energy"])
def test_values_and_derivatives(robot, name):
    given = numbers(robot, name)
    function = robot.casadi.function(name)
    expected = evaluate(robot.reference, name, **dict(zip(FUNCTIONS[name].arguments, given, strict=True)))
    np.testing.assert_allclose(np.array(function(*given)).reshape(expected.shape), expected, atol=1e-9)
    symbols = [casadi.MX.sym(f"x{k}", len(x)) for k, x in enumerate(given)]
    weights = np.random.default_rng(1).normal(size=expected.shape)
    rows = weights if weights.ndim == 2 else weights.reshape(-1, 1)
    total = casadi.sum1(casadi.sum2(casadi.DM(rows) * getattr(robot.casadi, name)(*symbols)))
    gradients = casadi.Function("g", symbols, [casadi.gradient(total, x) for x in symbols])(*given)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    ours = robot.reference.derivatives.vjp(name, list(given), weights, raw=True)
    for gradient, label in zip(gradients, FUNCTIONS[name].arguments, strict=True):
        np.testing.assert_allclose(np.array(gradient).ravel(), ours[label], atol=1e-8)


def test_the_attached_jacobian_takes_fewer_operations_and_has_derivatives_itself():
    panda = cr.load("panda")
    function = panda.casadi.function("inverse_dynamics")
    assert function.jacobian().n_instructions() < 4000  # CasADi's own takes 5,690
    q, qd, qdd = (casadi.MX.sym(name, 7) for name in ("q", "qd", "qdd"))
    tau = panda.casadi.inverse_dynamics(q, qd, qdd)
    hessian = casadi.Function("h", [q, qd, qdd], [casadi.hessian(casadi.sum1(tau), q)[0]])
    given = numbers(panda, "inverse_dynamics")
    expected = panda.reference.derivatives.hvp("inverse_dynamics", given, np.ones((7, 7)), {"q": np.eye(7)}, wrt=["q"])[
        "q"
    ]
    np.testing.assert_allclose(np.array(hessian(*given)), expected, atol=1e-8)


def test_named_results_wrenches_options_and_numbers_of_the_robot():
    given = numbers(ARM, "inverse_dynamics")
    parts, expected = ARM.casadi.inverse_dynamics_derivatives(*given), ARM.inverse_dynamics_derivatives(*given)
    np.testing.assert_allclose([np.array(part) for part in parts], expected, atol=1e-12)
    parts, expected = (
        ARM.casadi.derivatives.kinetic_energy_derivatives(*given[:2]),
        ARM.derivatives.kinetic_energy_derivatives(*given[:2]),
    )
    np.testing.assert_allclose([np.array(part).ravel() for part in parts], expected, atol=1e-12)
    wrench = np.linspace(-1, 1, 6)
    loaded = ARM.casadi.function("inverse_dynamics", tip_wrench=True, external=["link1"], frame="world")
    expected = ARM.inverse_dynamics(*given, tip_wrench=wrench, external={"link1": 2 * wrench}, frame="world")
    np.testing.assert_allclose(np.array(loaded(*given, 2 * wrench, wrench)).ravel(), expected)
    free = ARM.casadi.function("gravity_torque", parameters=["gravity"])
    np.testing.assert_allclose(np.array(free(given[0], [0, 0, 0])).ravel(), 0)
    static = np.array(ARM.casadi.static_torque(given[0], wrench, frame="body")).ravel()
    np.testing.assert_allclose(static, ARM.static_torque(given[0], wrench, frame="body"))


def test_symbols_of_both_kinds_maps_and_c_code():
    x = casadi.SX.sym("x", 2)
    expanded = casadi.Function("f", [x], [ARM.casadi.inverse_dynamics(x, x, x)])
    given = np.array([0.3, -0.4])
    np.testing.assert_allclose(np.array(expanded(given)).ravel(), ARM.inverse_dynamics(given, given, given))
    function = ARM.casadi.function("gravity_torque")
    many = np.random.default_rng(0).normal(size=(2, 5))
    np.testing.assert_allclose(np.array(function.map(5)(many)).T, ARM.gravity_torque(many.T), atol=1e-12)
    code = casadi.CodeGenerator("arm.c")
    code.add(ARM.casadi.function("inverse_dynamics"))
    assert "casadi_real" in code.dump()


def test_a_problem_of_opti():
    opti = casadi.Opti()
    q = opti.variable(2)
    opti.minimize(casadi.sumsqr(ARM.casadi.gravity_torque(q)))
    opti.subject_to(ARM.casadi.pose(q)[0, 3] == 0.5)
    opti.set_initial(q, [0.5, 1.5])
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    found = opti.solve().value(q)
    assert ARM.pose(found)[0, 3] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ARM.casadi.gravity_torque(casadi.MX.sym("q", 3)), "must be a column of 2 numbers, got shape"),
        (lambda: ARM.casadi.gravity_torque(np.zeros((4, 2))), "for many states, robot.casadi.function"),
        (lambda: ARM.casadi.gravity_torque("up"), "must be a symbol of CasADi or numbers"),
        (lambda: ARM.casadi.function("gravity"), "gravity_torque"),
    ],
)
def test_what_is_wrong_is_named(call, text):
    with pytest.raises(ChainruleError, match=text):
        call()
