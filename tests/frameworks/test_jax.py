"""robot.jax: values of the robot's methods, derivatives by JAX's own check, jit and vmap; and the ways to compute them."""

from __future__ import annotations

import numpy as np
import pytest
from trees import state, tree

import chainrule as cr
from chainrule.errors import ChainruleError
from chainrule.functions.table import FUNCTIONS

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
check_grads = pytest.importorskip("jax.test_util").check_grads

ARM = cr.load("planar_2r")
TREE = tree(3, ("revolute", "free"), mimic=False)
CHECKED = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "pose", "jacobian", "kinetic_energy")


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def arrays(robot, name, shape=(2,), dtype=np.float64):
    return [jnp.asarray(x, dtype) for x in state(robot, 1, shape)[: len(FUNCTIONS[name].takes)]]


@pytest.mark.parametrize(
    ("robot", "name"),
    [
        (ARM, "gravity_torque"),
        (TREE.reference, "pose"),
        *(pytest.param(ARM, name, marks=pytest.mark.slow) for name in CHECKED),
        pytest.param(TREE.reference, "inverse_dynamics", marks=pytest.mark.slow),
    ],
    ids=lambda x: x if isinstance(x, str) else x.name,
)
def test_derivatives_of_first_and_second_order(robot, name):
    function, given = getattr(robot.jax, name), arrays(robot, name)
    np.testing.assert_allclose(function(*given), getattr(robot, name)(*map(np.asarray, given)), atol=1e-10)
    check_grads(function, given, order=2, modes=["fwd", "rev"], atol=1e-5, rtol=1e-5)


def test_jit_and_vmap():
    q, qd, qdd = arrays(ARM, "inverse_dynamics", (4,))
    door = ARM.jax
    by_rows = jnp.stack([jax.jacrev(door.gravity_torque)(x) for x in q])
    for jacobian in (
        jax.jacrev(door.gravity_torque),
        jax.jacfwd(door.gravity_torque),
        jax.hessian(door.potential_energy),
    ):
        np.testing.assert_allclose(jax.jit(jax.vmap(jacobian))(q), by_rows, atol=1e-12)
    one = jax.vmap(door.inverse_dynamics, in_axes=(0, None, 0))(q, qd[0], qdd)
    np.testing.assert_allclose(one, door.inverse_dynamics(q, qd[0], qdd))
    pairs = jnp.broadcast_to(q, (3, 4, 2))
    np.testing.assert_allclose(jax.vmap(door.mass_matrix, in_axes=1)(pairs)[:, 0], door.mass_matrix(q))


def test_precision_is_that_of_jax():
    single = [np.asarray(x) for x in arrays(ARM, "inverse_dynamics", dtype=np.float32)]
    assert jax.jit(ARM.jax.inverse_dynamics)(*single).dtype == np.float32
    with jax.enable_x64(False):
        tau = ARM.jax.inverse_dynamics(*(np.float64(x) for x in single))
        assert tau.dtype == np.float32
        np.testing.assert_allclose(tau, ARM.inverse_dynamics(*single), rtol=1e-5)


def test_a_linear_product_is_transposed_both_ways():
    q = arrays(ARM, "gravity_torque")[0]
    _, pull = jax.vjp(ARM.jax.gravity_torque, q)
    weights = jnp.ones_like(q)
    (back,) = jax.linear_transpose(lambda w: pull(w)[0], weights)(weights)
    np.testing.assert_allclose(back, jax.jvp(ARM.jax.gravity_torque, (q,), (weights,))[1])


def test_the_ways_to_compute_agree():
    from chainrule.frameworks import jax as room

    given = arrays(ARM, "inverse_dynamics", (3, 2))
    expected = ARM.jax.inverse_dynamics(*given)
    assert room.foreign_calls_possible()
    key = ARM.jax.plan("inverse_dynamics", ("q", "qd", "qdd"), ()).key
    np.testing.assert_allclose(jax.jit(room._call_python, static_argnames="key")(*given, key=key), expected)
    np.testing.assert_allclose(room._lower_to_arithmetic(*given, key=key), expected, atol=1e-12)
    still = TREE.jax.friction_torque(np.zeros(TREE.nv))
    np.testing.assert_array_equal(still, TREE.friction_torque(np.zeros(TREE.nv)))


def test_an_unknown_version_of_the_interface_is_not_used(monkeypatch, tmp_path):
    from chainrule.frameworks import jax as room

    header = tmp_path / "xla/ffi/api/c_api.h"
    header.parent.mkdir(parents=True)
    for text in ("#define XLA_FFI_API_MAJOR 1\n#define XLA_FFI_API_MINOR 9\n", ""):
        header.write_text(text)
        monkeypatch.setattr(jax.ffi, "include_dir", lambda: str(tmp_path))
        assert not room.foreign_calls_possible.__wrapped__()
    header.unlink()
    assert not room.foreign_calls_possible.__wrapped__()


def test_wrenches_options_and_numbers_of_the_robot():
    q, qd, qdd = arrays(ARM, "inverse_dynamics")
    wrench = jnp.linspace(-1, 1, 6)
    tau = ARM.jax.inverse_dynamics(q, qd, qdd, tip_wrench=wrench, external={"link1": 2 * wrench})
    plain = [np.asarray(x) for x in (q, qd, qdd, wrench)]
    np.testing.assert_allclose(
        tau, ARM.inverse_dynamics(*plain[:3], tip_wrench=plain[3], external={"link1": 2 * plain[3]})
    )
    np.testing.assert_allclose(
        ARM.jax.jacobian(q, "tip", frame="body"), ARM.jacobian(plain[0], "tip", frame="body"), atol=1e-12
    )
    by_gravity = jax.grad(lambda g: ARM.jax.gravity_torque(q, parameters={"gravity": g}).sum())(
        jnp.asarray(ARM.gravity)
    )
    expected = ARM.derivatives.vjp("gravity_torque", {"q": plain[0], "gravity": ARM.gravity}, np.ones((2, 2)))[
        "gravity"
    ].sum(0)
    np.testing.assert_allclose(by_gravity, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda q: ARM.jax.gravity_torque(q[:, :1]), "q must have 2 numbers in its last dimension, got shape"),
        (lambda q: ARM.jax.gravity_torque(q.astype("float16")), "float32 or float64, got float16"),
        (lambda q: ARM.jax.gravity_torque("up"), "must be an array of numbers, got str"),
        (lambda q: ARM.jax.kinetic_energy(q, jnp.zeros((3, 2))), "do not fit together"),
    ],
)
def test_what_is_wrong_is_named(call, text):
    with pytest.raises(ChainruleError, match=text):
        call(jnp.zeros((2, 2)))
