"""Kernels of Pallas: computed by its interpreter on the CPU, and lowered for CUDA without a GPU."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import chainrule as cr
from chainrule.compile import interpreter
from chainrule.compile.tape import OPERATIONS, Instruction, Tape
from chainrule.frameworks.operators import Operator

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
room = pytest.importorskip("chainrule.frameworks.jax")
pallas = pytest.importorskip("chainrule.frameworks.pallas")

ARM = cr.load("planar_2r")
KERNEL = "xla.gpu.triton"


def tape_of(function, arguments):
    return Operator.find(ARM.jax.plan(function, arguments, ()).key).tape


def text_for_cuda(function, *shapes):
    given = [jax.ShapeDtypeStruct(shape, np.float32) for shape in shapes]
    return jax.jit(function).trace(*given).lower(lowering_platforms=("cuda",)).as_text()


lowered_here = pytest.mark.skipif(
    jax.version.__version_info__ > (0, 10, 2), reason="later versions compile while they lower, which needs CUDA"
)


def test_every_operation():
    instructions = [Instruction("input", entry=0), Instruction("input", entry=1)]
    instructions += [Instruction(name, (0, 1)[:count]) for name, count in OPERATIONS.items()]
    tape = Tape((2,), tuple(instructions), tuple(range(2, len(instructions))))
    x = np.array([[0.3, 0.7], [0.5, 0.5], [0.0, 0.4], [0.6, 0.0], [0.0, 0.0]])

    def compute(a, b):
        return [pallas._perform(name, [a, b][:count]) for name, count in OPERATIONS.items()]

    with jax.enable_x64(True):
        found = jax.jit(compute)(x[:, 0], x[:, 1])
    expected = interpreter.evaluate(tape, [x], (len(OPERATIONS),))
    np.testing.assert_allclose(np.stack(found, axis=-1), expected, atol=1e-14)
    single = jax.ShapeDtypeStruct((5,), np.float32)
    assert {y.dtype for y in jax.eval_shape(compute, single, single)} == {np.dtype(np.float32)}


@pytest.mark.parametrize("states", [8, 11])
def test_batches_that_do_not_fill_a_block(states, monkeypatch):
    monkeypatch.setattr(pallas, "BLOCK", 8)
    given = np.random.default_rng(states).normal(size=(3, states, 2)).astype(np.float32)
    found = pallas.evaluate(
        tape_of("inverse_dynamics", ("q", "qd", "qdd")), list(map(jnp.asarray, given)), interpret=True
    )
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ARM.reference.inverse_dynamics(*given.astype(float)), rtol=1e-4, atol=1e-4)


def test_wide_results_and_long_tapes(monkeypatch):
    for name, value in {"BLOCK": 4, "MAX_ROW": 2, "MAX_INSTRUCTIONS": 10, "PIECE": 12}.items():
        monkeypatch.setattr(pallas, name, value)
    tape = tape_of("mass_matrix", ("q",))
    q = np.linspace(-1, 1, 10).reshape(5, 2)
    expected = ARM.reference.mass_matrix(q).reshape(5, 4)
    for limit in (10, 1000):
        monkeypatch.setattr(pallas, "MAX_INSTRUCTIONS", limit)
        found = pallas.evaluate(tape, [jnp.asarray(q, np.float32)], interpret=True)
        np.testing.assert_allclose(found, expected, rtol=1e-5)


@lowered_here
def test_programs_for_cuda_call_kernels(monkeypatch):
    door = ARM.jax
    assert text_for_cuda(door.inverse_dynamics, *[(3, 5, 2)] * 3).count(KERNEL) == 1
    assert text_for_cuda(jax.grad(lambda q: door.potential_energy(q).sum()), (4, 2)).count(KERNEL) == 1
    assert text_for_cuda(jax.vmap(jax.hessian(door.potential_energy)), (4, 2)).count(KERNEL) == 1
    assert text_for_cuda(door.gravity_torque, (2,)).count(KERNEL) == 1
    monkeypatch.setattr(pallas, "MAX_INSTRUCTIONS", 10)
    monkeypatch.setattr(pallas, "PIECE", 12)
    assert text_for_cuda(door.inverse_dynamics, *[(7, 2)] * 3).count(KERNEL) > 1


@lowered_here
def test_inside_shard_map():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("machines",))
    split, whole = jax.sharding.PartitionSpec("machines"), jax.sharding.PartitionSpec()

    def slope(gravity, q):
        return jax.lax.psum(ARM.jax.gravity_torque(q, parameters={"gravity": gravity}).sum(), "machines")

    everywhere = jax.shard_map(jax.grad(slope), mesh=mesh, in_specs=(whole, split), out_specs=whole)
    q, gravity = np.linspace(-1, 1, 8, dtype=np.float32).reshape(4, 2), ARM.gravity.astype(np.float32)
    expected = ARM.reference.derivatives.vjp("gravity_torque", {"q": q, "gravity": ARM.gravity}, np.ones((4, 2)))[
        "gravity"
    ].sum(0)
    np.testing.assert_allclose(jax.jit(everywhere)(gravity, q), expected, rtol=1e-5)
    assert KERNEL in text_for_cuda(everywhere, (3,), (4, 2))


def test_nothing_is_called_for_no_states_and_arithmetic_where_pallas_is_missing(monkeypatch):
    assert KERNEL not in text_for_cuda(ARM.jax.gravity_torque, (0, 2))
    monkeypatch.setattr(room, "pallas_possible", lambda: False)
    text = text_for_cuda(ARM.jax.gravity_torque, (3, 2))
    assert KERNEL not in text
    assert "stablehlo.sin" in text or "stablehlo.cosine" in text


def test_graphics_processors_that_triton_does_not_know(monkeypatch):
    for capability, possible in (("7.5", False), ("9.0", True)):
        device = SimpleNamespace(compute_capability=capability)
        monkeypatch.setattr(jax, "devices", lambda platform, device=device: [device])
        assert room.pallas_possible.__wrapped__() is possible
