"""robot.torch: values of the robot's methods, derivatives by PyTorch's own checks, vmap and torch.compile."""

from __future__ import annotations

import numpy as np
import pytest
from trees import state, tree

import chainrule as cr
from chainrule.errors import ChainruleError
from chainrule.functions.table import FUNCTIONS

torch = pytest.importorskip("torch")

ARM = cr.load("planar_2r")
TREE = tree(3, ("revolute", "free"), mimic=False)
CHECKED = ("forward_dynamics", "mass_matrix", "pose", "jacobian", "kinetic_energy")


def tensors(robot, count=3, shape=(2,), seed=1, dtype=torch.float64):
    return [torch.tensor(x, dtype=dtype, requires_grad=True) for x in state(robot, seed, shape)[:count]]


def arguments(robot, name):
    return tensors(robot, len(FUNCTIONS[name].takes))


@pytest.mark.parametrize(
    ("robot", "name"),
    [
        (ARM, "inverse_dynamics"),
        (TREE.reference, "pose"),
        *(pytest.param(ARM, name, marks=pytest.mark.slow) for name in CHECKED),
        pytest.param(TREE.reference, "inverse_dynamics", marks=pytest.mark.slow),
    ],
    ids=lambda x: x if isinstance(x, str) else x.name,
)
def test_derivatives_of_first_and_second_order(robot, name):
    function, given = getattr(robot.torch, name), arguments(robot, name)
    expected = getattr(robot, name)(*(x.detach().numpy() for x in given))
    np.testing.assert_allclose(function(*given).detach().numpy(), expected, atol=1e-10)
    assert torch.autograd.gradcheck(function, given, check_forward_ad=True, fast_mode=True)
    assert torch.autograd.gradgradcheck(function, given, fast_mode=True)


def test_single_precision_stays_single():
    given = tensors(ARM, dtype=torch.float32)
    tau = ARM.torch.inverse_dynamics(*given)
    assert tau.dtype == torch.float32
    tau.sum().backward()
    assert all(x.grad.dtype == torch.float32 for x in given)
    mixed = ARM.torch.inverse_dynamics(given[0], given[1].double(), [0.0, 0.0])
    assert mixed.dtype == torch.float64


def test_vmap_and_jacobians_of_functions():
    q, qd, qdd = (x.detach() for x in tensors(ARM, shape=(4,)))
    door = ARM.torch
    by_rows = torch.stack([torch.func.jacrev(door.gravity_torque)(x) for x in q])
    torch.testing.assert_close(torch.func.vmap(torch.func.jacrev(door.gravity_torque))(q), by_rows)
    torch.testing.assert_close(torch.func.vmap(torch.func.jacfwd(door.gravity_torque))(q), by_rows)
    torch.testing.assert_close(torch.func.vmap(torch.func.hessian(door.potential_energy))(q), by_rows)
    one = torch.func.vmap(door.inverse_dynamics, in_dims=(0, None, 0))(q, qd[0], qdd)
    torch.testing.assert_close(one, door.inverse_dynamics(q, qd[0], qdd))
    pairs = q.expand(3, 4, 2)
    torch.testing.assert_close(torch.func.vmap(door.mass_matrix, in_dims=1)(pairs)[:, 0], door.mass_matrix(q))


def test_compiled_graphs():
    given = tensors(ARM)

    def loss(q, qd, qdd):
        return (ARM.torch.inverse_dynamics(q, qd, qdd) ** 2).sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    expected = torch.autograd.grad(loss(*given), given)
    for ours, eager in zip(torch.autograd.grad(compiled(*given), given), expected, strict=True):
        torch.testing.assert_close(ours, eager)


def test_plans_are_plain_tuples():
    """PyTorch 2.11 refuses named ones as constants of a compiled graph."""
    assert type(ARM.torch.plan("gravity_torque", ("q",), ())) is tuple


def test_the_registered_operator_obeys_the_rules_of_operators():
    from chainrule.frameworks.torch import evaluate

    key = ARM.torch.plan("inverse_dynamics", ("q", "qd", "qdd"), ())[0]
    torch.library.opcheck(evaluate, (tensors(ARM), key))


def test_wrenches_options_and_numbers_of_the_robot():
    q, qd, qdd = tensors(ARM)
    wrench = torch.linspace(-1, 1, 6, dtype=torch.float64).requires_grad_()
    tau = ARM.torch.inverse_dynamics(q, qd, qdd, tip_wrench=wrench, external={"link1": 2 * wrench})
    plain = wrench.detach().numpy()
    expected = ARM.inverse_dynamics(
        *(x.detach().numpy() for x in (q, qd, qdd)), tip_wrench=plain, external={"link1": 2 * plain}
    )
    np.testing.assert_allclose(tau.detach().numpy(), expected)
    assert torch.autograd.gradcheck(
        lambda w: ARM.torch.inverse_dynamics(q, qd, qdd, tip_wrench=w, external={"link1": 2 * w}, frame="body"), wrench
    )
    J = ARM.torch.jacobian(q, "tip", frame="body")
    np.testing.assert_allclose(J.detach().numpy(), ARM.jacobian(q.detach().numpy(), "tip", frame="body"))
    static = ARM.torch.static_torque(q, wrench, "link1", frame="body")
    np.testing.assert_allclose(
        static.detach().numpy(), ARM.static_torque(q.detach().numpy(), wrench.detach().numpy(), "link1", frame="body")
    )
    gravity = torch.tensor(ARM.gravity, requires_grad=True)
    assert torch.autograd.gradcheck(lambda g: ARM.torch.gravity_torque(q, parameters={"gravity": g}), gravity)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda q: ARM.torch.gravity_torque(q[:, :1]), "q must have 2 numbers in its last dimension, got shape"),
        (lambda q: ARM.torch.gravity_torque(q.half()), "float32 or torch.float64, got torch.float16"),
        (lambda q: ARM.torch.gravity_torque("up"), "must be a tensor or an array of numbers, got str"),
        (lambda q: ARM.torch.gravity_torque(q, q, q), "too many positional"),
        (lambda q: ARM.torch.inverse_dynamics(q, q), "missing a required argument: 'qdd'"),
        (lambda q: ARM.torch.kinetic_energy(q, q[:1].expand(3, 2)), "do not fit together"),
        (lambda q: ARM.torch.inverse_dynamics(q, q, q, external=[q], frame="body"), "external must be a dictionary"),
        (lambda q: ARM.torch.gravity_torque(q, parameters=[1]), "parameters must be a dictionary"),
        (lambda q: ARM.torch.gravity_torque(q, parameters={1: q}), "parameters"),
        (lambda q: ARM.torch.pose(q, "nowhere"), "nowhere"),
        (lambda q: ARM.torch.pose(q, {}), "a link or frame is named by a string"),
    ],
)
def test_what_is_wrong_is_named(call, text):
    with pytest.raises(ChainruleError, match=text):
        call(torch.zeros(2, 2, dtype=torch.float64))


def test_a_key_of_no_operator_is_refused():
    from chainrule.frameworks.operators import Operator

    with pytest.raises(cr.UnknownNameError, match="this process has not made"):
        Operator.find("0" * 32)
