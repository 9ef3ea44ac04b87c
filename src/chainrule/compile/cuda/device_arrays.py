"""Arrays on graphics processors, of CuPy, PyTorch, JAX and others: where they lie, without a copy."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.compile.cuda.driver import cupy
from chainrule.errors import ShapeError, short_repr

CUDA_DEVICE_TYPE = 2
"""The number of CUDA among the devices of DLPack."""


class DeviceArray(NamedTuple):
    """Numbers on a device."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """Numbers from one entry to the next, in each dimension."""
    bits: int
    device: int
    library: ArrayLibrary

    def row_stride(self, batch: tuple[int, ...]) -> int | None:
        """The distance of rows over a batch in row-major order: 0 for one row that all share; None if it varies.

        The numbers of a row must lie one after the other.
        """
        if 0 in batch:
            return 0
        if self.shape[-1] > 1 and self.strides[-1] != 1:
            return None
        missing = len(batch) - (len(self.shape) - 1)
        sizes = (1,) * missing + self.shape[:-1]
        strides = [0 if n == 1 else s for n, s in zip(sizes, (0,) * missing + self.strides[:-1], strict=True)]
        stride: int | None = None
        passed = 1
        for n, s in zip(reversed(batch), reversed(strides), strict=True):
            if n == 1:
                continue
            if stride is None:
                stride = s
            elif s != stride * passed:
                return None
            passed *= n
        return stride or 0

    @property
    def is_contiguous(self) -> bool:
        """Whether its numbers lie one after the other, in row-major order."""
        if 0 in self.shape:
            return True
        expected = 1
        for n, s in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if n > 1 and s != expected:
                return False
            expected *= n
        return True

    def overlaps(self, other: DeviceArray) -> bool:
        """Whether the two may share memory."""
        if self.device != other.device:
            return False
        (a, b), (c, d) = self._range(), other._range()
        return a < d and c < b

    def _range(self) -> tuple[int, int]:
        size = self.bits // 8
        if not math.prod(self.shape):
            return self.pointer, self.pointer
        reach = [(n - 1) * s * size for n, s in zip(self.shape, self.strides, strict=True)]
        return self.pointer + sum(min(x, 0) for x in reach), self.pointer + sum(max(x, 0) for x in reach) + size


class ArrayLibrary:
    """A package with arrays on devices: CuPy, and those that CuPy can see. Others are subclasses."""

    def view(self, value: Any, what: str) -> Any:
        """The array in a user's value, on a device and without a copy; ShapeError where it is none."""
        if type(value).__module__.partition(".")[0] == "cupy":
            return value
        if not isinstance(value, np.ndarray) and hasattr(value, "__cuda_array_interface__"):
            return cupy().asarray(value)
        if _dlpack_device(value) == CUDA_DEVICE_TYPE:
            return cupy().from_dlpack(value)
        raise ShapeError(
            f"{what} must be an array on a CUDA device, of CuPy, PyTorch or JAX; got {_kind(value)}; "
            "cupy.asarray(x) copies an array of NumPy there"
        )

    def place(self, array: Any) -> tuple[int, tuple[int, ...], tuple[int, ...], str, int]:
        """The address, shape, strides in numbers, type and device of an array."""
        size = array.dtype.itemsize
        strides = tuple(s // size for s in array.strides)
        if any(s % size for s in array.strides):
            raise ShapeError("the numbers of an array must lie at whole distances from each other")
        return array.data.ptr, array.shape, strides, str(array.dtype), array.device.id

    def empty(self, shape: tuple[int, ...], bits: int, device: int) -> Any:
        """A new array, not filled."""
        with cupy().cuda.Device(device):
            return cupy().empty(shape, f"float{bits}")

    def stream(self, device: int) -> int:
        """The address of the stream that the user's work on a device is queued in."""
        with cupy().cuda.Device(device):
            return int(cupy().cuda.get_current_stream().ptr)

    def result(self, array: Any) -> Any:
        """A new array, once it has been computed, as the user gets it."""
        return array

    def send(self, array: np.ndarray[Any, Any], device: int) -> Any:
        """A copy of an array of NumPy on a device."""
        with cupy().cuda.Device(device):
            return cupy().asarray(array)

    def fetch(self, array: Any) -> np.ndarray[Any, Any]:
        """A copy of an array as one of NumPy, once it has been computed."""
        with array.device:
            return np.asarray(array.get())

    def adopt(self, array: Any) -> Any:
        """An array of CuPy as one of this library, without a copy."""
        return self.result(array)


class TorchTensors(ArrayLibrary):
    """Tensors of PyTorch."""

    def view(self, value: Any, what: str) -> Any:
        """A tensor on a device, of which no gradient is wanted."""
        torch = sys.modules["torch"]
        if not isinstance(value, torch.Tensor):
            return CUPY.view(value, what)
        if not value.is_cuda:
            raise ShapeError(
                f"{what} must be on a CUDA device, got a tensor on {value.device}; x.cuda() copies it there"
            )
        if value.requires_grad and torch.is_grad_enabled():
            raise ShapeError(
                f"{what} requires a gradient, which a kernel does not give; use robot.torch, or x.detach()"
            )
        return value

    def place(self, array: Any) -> tuple[int, tuple[int, ...], tuple[int, ...], str, int]:
        """The place of a tensor."""
        dtype = str(array.dtype).removeprefix("torch.")
        return array.data_ptr(), tuple(array.shape), tuple(array.stride()), dtype, array.device.index

    def empty(self, shape: tuple[int, ...], bits: int, device: int) -> Any:
        """A new tensor."""
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, f"float{bits}"), device=f"cuda:{device}")

    def stream(self, device: int) -> int:
        """PyTorch's current stream."""
        return int(sys.modules["torch"].cuda.current_stream(device).cuda_stream)

    def send(self, array: np.ndarray[Any, Any], device: int) -> Any:
        """A copy on a device."""
        return sys.modules["torch"].as_tensor(array, device=f"cuda:{device}")

    def fetch(self, array: Any) -> np.ndarray[Any, Any]:
        """A copy as an array of NumPy."""
        return np.asarray(array.cpu().numpy())

    def adopt(self, array: Any) -> Any:
        """A tensor in the memory of the array."""
        return sys.modules["torch"].from_dlpack(array)


class JaxArrays(ArrayLibrary):
    """Arrays of JAX, seen and made through CuPy by DLPack, which orders the work of the two."""

    def view(self, value: Any, what: str) -> Any:
        """An array on a device, as CuPy sees it."""
        if _dlpack_device(value) != CUDA_DEVICE_TYPE:
            raise ShapeError(f"{what} must be on a CUDA device, got an array of JAX on {_devices(value)}")
        return cupy().from_dlpack(value)

    def result(self, array: Any) -> Any:
        """The array, as one of JAX."""
        return sys.modules["jax"].dlpack.from_dlpack(array)

    def fetch(self, array: Any) -> np.ndarray[Any, Any]:
        """A copy as an array of NumPy, of one of CuPy or of JAX."""
        return super().fetch(array) if hasattr(array, "get") else np.asarray(array)


CUPY, TORCH, JAX = ArrayLibrary(), TorchTensors(), JaxArrays()

LIBRARIES: dict[str, ArrayLibrary] = {"cupy": CUPY, "torch": TORCH, "jax": JAX, "jaxlib": JAX}
"""Libraries by the packages of their arrays' classes; CuPy sees those of others."""


def host_library() -> ArrayLibrary:
    """The library that keeps arrays of NumPy on a device for a while."""
    return LIBRARIES["cupy"]


def is_on_device(value: Any) -> bool:
    """Whether a value is an array on a device, or of a library that keeps its arrays there."""
    if isinstance(value, (list, tuple, dict, int, float)) or type(value) is np.ndarray:
        return False
    return library_of(value) is not CUPY or hasattr(value, "__cuda_array_interface__")


def device_number(device: Any, caller: str) -> int | None:
    """The number of a device named "cuda" or "cuda:1"; None for the CPU, which is "cpu" or None."""
    if device is None or (isinstance(device, str) and device == "cpu"):
        return None
    found = re.fullmatch(r"cuda(?::(\d{1,3}))?", device) if isinstance(device, str) else None
    if found is None:
        raise ShapeError(f"{caller}: device must be 'cuda', 'cuda:1' or 'cpu', got {short_repr(device)}")
    return int(found[1] or 0)


def to_host(value: Any) -> NDArray[Any]:
    """A value as an array of NumPy; arrays on devices are copied."""
    if not is_on_device(value):
        return np.asarray(value)
    library = library_of(value)
    return library.fetch(library.view(value, "an array"))


def library_of(value: Any) -> ArrayLibrary:
    """The library of an array."""
    packages = (kind.__module__.partition(".")[0] for kind in type(value).__mro__)
    return next((LIBRARIES[package] for package in packages if package in LIBRARIES), CUPY)


def read(value: Any, what: str) -> DeviceArray:
    """An array on a device, or the error that says why it is none."""
    library = library_of(value)
    pointer, shape, strides, dtype, device = library.place(library.view(value, what))
    if dtype not in ("float32", "float64"):
        raise ShapeError(f"{what} must be of type float32 or float64, got {dtype}")
    return DeviceArray(pointer, shape, strides, int(dtype[5:]), device, library)


def _dlpack_device(value: Any) -> int | None:
    try:
        return int(value.__dlpack_device__()[0])
    except Exception:  # no such method, or one that refuses
        return None


def _devices(value: Any) -> str:
    return ", ".join(sorted(map(str, value.devices()))) if hasattr(value, "devices") else "no device"


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of NumPy of shape {value.shape}"
    return f"{type(value).__name__} {short_repr(value)}"


def empty(library: ArrayLibrary, shape: tuple[int, ...], bits: int, device: int, what: str) -> Any:
    """A new array; a MemoryError that says how large it would be where there is no room."""
    try:
        return library.empty(shape, bits, device)
    except Exception as error:
        if "OutOfMemory" not in type(error).__name__:
            raise
        size = math.prod(shape) * bits / 8e9
        raise MemoryError(
            f"{what} has {size:.3g} GB, for which CUDA device {device} has no room left; compute it in parts"
        ) from error


def common(arrays: Sequence[DeviceArray], names: Sequence[str], function: str) -> tuple[int, int]:
    """The precision and the device that all arrays share."""
    for what, values in (("type", [f"float{a.bits}" for a in arrays]), ("CUDA device", [a.device for a in arrays])):
        if len(set(values)) > 1:
            each = ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
            raise ShapeError(f"{function}: the arguments must have one {what}, got {each}")
    return arrays[0].bits, arrays[0].device
