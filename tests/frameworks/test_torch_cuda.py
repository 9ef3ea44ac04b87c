"""robot.torch by CUDA kernels: on an emulated device, whose tensors lie on the CPU, and on a real one where there is."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from compile.cuda.emulator import emulated_device

import chainrule as cr
from chainrule.compile.cuda import device_arrays, kernel
from chainrule.compile.interpreter import evaluate
from chainrule.compile.jacobian_products import signature
from chainrule.compile.runtime import memory_cache
from chainrule.compile.trace import trace
from chainrule.errors import ChainruleError
from chainrule.frameworks import operators
from chainrule.functions.table import FUNCTIONS

torch = pytest.importorskip("torch")
room = pytest.importorskip("chainrule.frameworks.torch")


@pytest.fixture
def arm():
    """A robot that remembers no operators of other tests."""
    return cr.load("planar_2r")


class EmulatedTensors(device_arrays.TorchTensors):
    """Tensors of the CPU, which play those of a device."""

    def view(self, value, what):
        return value

    def place(self, array):
        dtype = str(array.dtype).removeprefix("torch.")
        return array.data_ptr(), tuple(array.shape), tuple(array.stride()), dtype, 0

    def empty(self, shape, bits, device):
        return torch.full(shape, torch.nan, dtype=getattr(torch, f"float{bits}"))

    def stream(self, device):
        return 0


class InterpretedKernel:
    """A kernel that reads tensors as CUDA kernels do, and computes with NumPy."""

    def __init__(self, model, name, fingerprint, options):
        self.tape = trace(model, name, **options)
        self.shape = signature(model, FUNCTIONS[name], options)[1]

    def __call__(self, *tensors):
        batch = tuple(tensors[0].shape[:-1])
        places = [device_arrays.read(x, "an argument") for x in tensors]
        assert all(place.row_stride(batch) is not None for place in places)
        assert len({place.bits for place in places}) == 1
        result = evaluate(self.tape, [x.numpy() for x in tensors], self.shape)
        return torch.from_numpy(result).to(tensors[0].dtype)


@pytest.fixture(params=["interpreted", pytest.param("emulated", marks=pytest.mark.slow)])
def device(request, monkeypatch):
    """Tensors are computed by kernels of a device that is none."""
    monkeypatch.setitem(device_arrays.LIBRARIES, "torch", EmulatedTensors())
    monkeypatch.setattr(room, "_is_on_cuda", lambda tensor: True)
    monkeypatch.setattr(operators, "_known", {})  # operators keep their kernels
    if request.param == "interpreted":
        monkeypatch.setattr(kernel, "CudaKernel", InterpretedKernel)
        memory_cache.clear()
        yield
        memory_cache.clear()
    else:
        with emulated_device():
            yield


def states(count, shape=(5,), dtype=torch.float64):
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(*shape, 2, dtype=dtype, generator=generator).requires_grad_() for _ in range(count)]


def test_values_and_gradients(device, arm):
    given = states(3)
    tau = arm.torch.inverse_dynamics(*given)
    plain = [x.detach().numpy() for x in given]
    np.testing.assert_allclose(tau.detach(), arm.reference.inverse_dynamics(*plain), atol=1e-12)
    weights = torch.linspace(-1, 1, 10, dtype=torch.float64).reshape(5, 2)
    expected = arm.reference.derivatives.vjp("inverse_dynamics", plain, weights.numpy())
    for found, name in zip(torch.autograd.grad(tau, given, weights), ("q", "qd", "qdd"), strict=True):
        np.testing.assert_allclose(found, expected[name], atol=1e-12)
    q = given[0].detach()
    curvature = torch.func.vmap(torch.func.hessian(arm.torch.potential_energy))(q)
    slopes = [arm.reference.derivatives.jvp("gravity_torque", [plain[0]], [np.tile(row, (5, 1))]) for row in np.eye(2)]
    np.testing.assert_allclose(curvature, np.stack(slopes, axis=-1), atol=1e-12)


def test_tensors_that_lie_otherwise(device, arm):
    (q,) = states(1, (3, 4))
    expected = arm.reference.mass_matrix(q.detach().numpy())
    turned = q.transpose(0, 1).contiguous().transpose(0, 1)  # rows at unequal distances
    apart = torch.stack([q, q], dim=-1)[..., 0]  # numbers of a row apart
    for same in (q, turned, apart):
        np.testing.assert_allclose(arm.torch.mass_matrix(same).detach(), expected, atol=1e-12)
    assert apart.stride()[-1] == 2
    arm.torch.gravity_torque(apart).sum().backward()
    assert q.grad.abs().sum() > 0
    one = arm.torch.inverse_dynamics(q, torch.ones(2, dtype=torch.float64), [0.0, 0.0])
    plain = arm.reference.inverse_dynamics(q.detach().numpy(), np.ones(2), np.zeros(2))
    np.testing.assert_allclose(one.detach(), plain, atol=1e-12)


def test_single_precision_and_empty_batches(device, arm):
    (q,) = states(1, dtype=torch.float32)
    torque = arm.torch.gravity_torque(q)
    assert torque.dtype == torch.float32
    np.testing.assert_allclose(torque.detach(), arm.reference.gravity_torque(q.detach().numpy()), rtol=1e-5)
    assert arm.torch.mass_matrix(q[:0]).shape == (0, 2, 2)


def test_a_compiled_graph(device, arm):
    torch.compiler.reset()  # a graph of the other device has the operators of that one
    (q,) = states(1)
    door = arm.torch
    compiled = torch.compile(lambda q: door.gravity_torque(q).square().sum(), fullgraph=True, backend="aot_eager")
    compiled(q).backward()
    plain = q.detach().numpy()
    expected = arm.reference.derivatives.vjp("gravity_torque", [plain], 2 * arm.reference.gravity_torque(plain))["q"]
    np.testing.assert_allclose(q.grad, expected, atol=1e-12)


def test_kernels_stay_for_captured_graphs(arm):
    operator = room.Operator.find(arm.torch.plan("gravity_torque", ("q",), ())[0])
    assert operator.cuda_kernel is operator.cuda_kernel


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            [("cuda:0", "q"), ("cpu", "qd")],
            r"qd is on the device cpu, and another argument on cuda:0; .*tensor\.to\('cuda:0'\)",
        ),
        ([("cuda:0", "q"), ("cuda:1", "qd")], "qd is on the device cuda:1, and another argument on cuda:0"),
        ([("mps", "q"), ("mps", "qd")], "q is on the device mps; robot.torch computes on the CPU and on CUDA"),
    ],
)
def test_devices_that_do_not_go_together(given, text, monkeypatch, arm):
    class Tensor(SimpleNamespace):
        dtype = torch.float64
        is_floating_point = staticmethod(lambda: True)

    tensors = {what: Tensor(device=torch.device(place)) for place, what in given}
    monkeypatch.setattr(room, "torch", SimpleNamespace(Tensor=Tensor, device=torch.device))
    with pytest.raises(ChainruleError, match=text):
        arm.torch.vectors(tensors, [2, 2])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_capture_in_a_cuda_graph(arm):
    given = [x.detach().cuda().requires_grad_() for x in states(3)]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.autograd.grad(arm.torch.inverse_dynamics(*given).sum(), given)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        slopes = torch.autograd.grad(arm.torch.inverse_dynamics(*given).sum(), given)
    with torch.no_grad():
        given[0] += 1.0
    graph.replay()
    expected = torch.autograd.grad(arm.torch.inverse_dynamics(*given).sum(), given)
    for found, same in zip(slopes, expected, strict=True):
        torch.testing.assert_close(found, same)
