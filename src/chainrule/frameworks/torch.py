"""The functions of a robot in PyTorch: automatic differentiation of any order, vmap, torch.compile, CUDA graphs.

On the CPU, compiled kernels share the memory of tensors; on CUDA, kernels are queued in PyTorch's current stream. In
eager mode an `autograd.Function` carries the rules, which has a forward mode. In a graph that torch.compile makes, a
registered operator stands for the call, with an implementation for tensors without data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chainrule.compile.cuda.device_arrays import read
from chainrule.errors import ShapeError, import_optional
from chainrule.frameworks.functions import FrameworkFunctions, OperatorCall, refuse_length
from chainrule.frameworks.operators import Operator, product_key

torch = import_optional("torch", "robot.torch")

PRECISIONS = (torch.float32, torch.float64)
DEVICES = ("cpu", "cuda", "meta")


class TorchFunctions(FrameworkFunctions):
    """Functions of a robot on tensors of PyTorch.

    Each has derivatives of every order with respect to all of its tensors. Configurations are differentiated by their
    nq numbers as stored; a quaternion counts as its unit multiple. Tensors are float32 or float64, on the CPU or on
    one CUDA device.
    """

    framework = "torch"

    def vectors(self, given: Mapping[str, Any], lengths: Sequence[int]) -> list[Any]:
        """Tensors of one precision, with equal batch dimensions."""
        devices = (value.device for value in given.values() if isinstance(value, torch.Tensor))
        device = next(devices, torch.device("cpu"))
        tensors = [_tensor(value, what, device) for what, value in given.items()]
        precision = torch.float32 if all(x.dtype == torch.float32 for x in tensors) else torch.float64
        for tensor, length, what in zip(tensors, lengths, given, strict=True):
            refuse_length(tensor.shape, length, what)
        try:
            batch = torch.broadcast_shapes(*(x.shape[:-1] for x in tensors))
        except RuntimeError:
            shapes = ", ".join(f"{what} {tuple(x.shape)}" for what, x in zip(given, tensors, strict=True))
            raise ShapeError(f"the leading (batch) dimensions do not fit together: {shapes}") from None
        return [x.to(precision).expand(*batch, x.shape[-1]) for x in tensors]

    @torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
    def plan(self, function: str, given: tuple[str, ...], options: tuple[tuple[str, Any], ...]) -> Any:
        """The operator of a function, as a plain tuple: PyTorch 2.11 refuses named ones as constants of a graph."""
        return tuple(FrameworkFunctions.plan(self, function, given, options))

    def apply(self, plan: OperatorCall, vectors: list[Any]) -> Any:
        """The result of the operator of a plan."""
        key, _, _, _, shape = plan
        result = _apply(key, vectors)
        return result.reshape((*vectors[0].shape[:-1], *shape))


def _tensor(value: Any, what: str, device: Any) -> Any:
    """A tensor of floats on a device; numbers and arrays of NumPy become one."""
    if not isinstance(value, torch.Tensor):
        try:
            value = torch.from_numpy(np.array(value, dtype=None if isinstance(value, np.ndarray) else float)).to(device)
        except Exception as error:
            raise ShapeError(f"{what} must be a tensor or an array of numbers, got {type(value).__name__}") from error
    if value.device.type not in DEVICES:
        raise ShapeError(
            f"{what} is on the device {value.device}; robot.torch computes on the CPU and on CUDA: give tensor.cpu()"
        )
    if value.device != device:
        raise ShapeError(
            f"{what} is on the device {value.device}, and another argument on {device}; give both on one device, "
            f"tensor.to({str(device)!r})"
        )
    if not value.is_floating_point() and not value.is_complex() and value.dtype != torch.bool:
        return value.to(torch.float64)
    if value.dtype not in PRECISIONS:
        raise ShapeError(f"{what} must be of torch.float32 or torch.float64, got {value.dtype}")
    return value


def _apply(key: str, tensors: Sequence[Any]) -> Any:
    if torch.compiler.is_compiling():
        return evaluate(list(tensors), key)
    return _Evaluation.apply(key, *tensors)


def _compute(key: str, tensors: Sequence[Any]) -> Any:
    """The result for tensors with data, whose memory kernels read."""
    operator = Operator.find(key)
    if _is_on_cuda(tensors[0]):
        return _compute_on_cuda(operator, tensors)
    return torch.from_numpy(np.ascontiguousarray(operator([x.detach().numpy() for x in tensors])))


def _is_on_cuda(tensor: Any) -> bool:
    """Whether a tensor lies on the device; tests put an emulated one here."""
    return bool(tensor.is_cuda)


def _compute_on_cuda(operator: Operator, tensors: Sequence[Any]) -> Any:
    """The result by a CUDA kernel, queued in the current stream."""
    batch = tensors[0].shape[:-1]
    rows = [_with_rows(x.detach()) for x in tensors]
    return operator.cuda_kernel(*rows).reshape((*batch, operator.size))


def _with_rows(tensor: Any) -> Any:
    """A tensor whose rows a kernel can read: at equal distances over the batch, or one that all share."""
    if tensor.is_contiguous() or read(tensor, "a tensor").row_stride(tuple(tensor.shape[:-1])) is not None:
        return tensor
    return tensor.contiguous()


def _gradients(key: str, tensors: Sequence[Any], cotangent: Any, wanted: Sequence[bool]) -> list[Any]:
    """The gradient for each tensor that needs one, else None."""
    places = [k for k, is_wanted in enumerate(wanted) if is_wanted]
    gradients: list[Any] = [None] * len(tensors)
    if places:
        whole = _apply(product_key(key, "vjp", places), [*tensors, cotangent])
        parts = whole.split([tensors[k].shape[-1] for k in places], dim=-1)
        for k, part in zip(places, parts, strict=True):
            gradients[k] = part
    return gradients


def _with_batch_first(tensors: Sequence[Any], dimensions: Sequence[int | None], size: int) -> list[Any]:
    """Tensors with the dimension that vmap has added as their first."""
    pairs = zip(tensors, dimensions, strict=True)
    return [x.expand(size, *x.shape) if place is None else x.movedim(place, 0) for x, place in pairs]


class _Evaluation(torch.autograd.Function):  # type: ignore[misc, name-defined]
    """An operator in eager mode."""

    @staticmethod
    def forward(key: str, *tensors: Any) -> Any:
        if all(type(x) in (torch.Tensor, torch.nn.Parameter) for x in tensors):
            return _compute(key, tensors)
        return evaluate(list(tensors), key)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.key = inputs[0]
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        return None, *_gradients(ctx.key, ctx.saved_tensors, cotangent, ctx.needs_input_grad[1:])

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
        places = [k for k, tangent in enumerate(tangents) if tangent is not None]
        return _apply(product_key(ctx.key, "jvp", places), [*ctx.saved_tensors, *(tangents[k] for k in places)])

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], key: str, *tensors: Any) -> Any:
        return _apply(key, _with_batch_first(tensors, in_dims[1:], info.batch_size)), 0


@torch.library.custom_op("chainrule::evaluate", mutates_args=())  # type: ignore[untyped-decorator]
def evaluate(tensors: Sequence[torch.Tensor], key: str) -> torch.Tensor:  # type: ignore[name-defined]
    """The result of the operator of a key, on tensors with equal batch dimensions."""
    return _compute(key, tensors)


@evaluate.register_fake  # type: ignore[untyped-decorator]
def _(tensors: Sequence[Any], key: str) -> Any:
    return tensors[0].new_empty((*tensors[0].shape[:-1], Operator.find(key).size))


def _save(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    tensors, ctx.key = inputs
    ctx.save_for_backward(*tensors)
    ctx.wanted = [x.requires_grad for x in tensors]


def _backward(ctx: Any, cotangent: Any) -> Any:
    return _gradients(ctx.key, ctx.saved_tensors, cotangent, ctx.wanted), None


def _vmap(info: Any, in_dims: Any, tensors: Sequence[Any], key: str) -> Any:
    return evaluate(_with_batch_first(tensors, in_dims[0], info.batch_size), key), 0


evaluate.register_autograd(_backward, setup_context=_save)
evaluate.register_vmap(_vmap)
