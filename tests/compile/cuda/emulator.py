"""CUDA without a device: the emitted text compiled with g++, each block run by as many threads of the CPU.

Arrays "on the device" are arrays of NumPy in a class of their own.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from processes import program

from chainrule.compile.cuda import device_arrays, driver
from chainrule.errors import ShapeError

MAX_ARGUMENTS = 96

HEAD = r"""
#include <barrier>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
struct alignas(16) float4 { float x, y, z, w; };
struct Index { unsigned x, y, z; };
static thread_local Index threadIdx, blockIdx;
static Index blockDim, gridDim;
static std::vector<std::unique_ptr<std::barrier<>>> warps;
static std::unique_ptr<std::barrier<>> block;
static inline void __syncwarp() { warps[threadIdx.x / 32]->arrive_and_wait(); }
static inline void __syncthreads() { block->arrive_and_wait(); }
#define __shfl_sync(mask, x, lane) (x) /* of numbers that are the same in all lanes */
static inline int __float_as_int(float x) { int y; __builtin_memcpy(&y, &x, 4); return y; }
static inline float __int_as_float(int x) { float y; __builtin_memcpy(&y, &x, 4); return y; }
static inline int __double2loint(double x) { int y; __builtin_memcpy(&y, &x, 4); return y; }
template <typename T> static inline T atomicAdd(T *at, T x) { return __atomic_fetch_add(at, x, __ATOMIC_SEQ_CST); }
"""

TAIL = r"""
typedef long long Word;
extern "C" void emulate(void (*kernel)(WORDS), unsigned across, unsigned down, unsigned threads, const Word *a)
{
  blockDim = {threads, 1, 1};
  gridDim = {across, down, 1};
  for (unsigned y = 0; y < down; ++y)
    for (unsigned x = 0; x < across; ++x) {
      warps.clear();
      for (unsigned w = 0; w < threads; w += 32) warps.emplace_back(new std::barrier<>(std::min(32u, threads - w)));
      block.reset(new std::barrier<>(threads));
      std::vector<std::thread> running;
      for (unsigned t = 0; t < threads; ++t)
        running.emplace_back([=] {
          threadIdx = {t, 0, 0};
          blockIdx = {x, y, 0};
          kernel(VALUES);
          warps[t / 32]->arrive_and_drop();
          block->arrive_and_drop();
        });
      for (auto &thread : running) thread.join();
    }
}
"""


class DeviceNumbers(np.ndarray):
    """An array that plays one on a device."""


class EmulatedArrays:
    """The library of such arrays."""

    def view(self, value: Any, what: str) -> Any:
        """An array of this class; plain arrays of NumPy are on the host."""
        if not isinstance(value, DeviceNumbers):
            raise ShapeError(f"{what} must be an array on a CUDA device, got {type(value).__name__}")
        return value

    def place(self, array: Any) -> tuple[int, tuple[int, ...], tuple[int, ...], str, int]:
        """Where an array lies."""
        strides = tuple(s // array.itemsize for s in array.strides)
        return array.ctypes.data, array.shape, strides, str(array.dtype), getattr(array, "number", 0)

    def empty(self, shape: tuple[int, ...], bits: int, device: int) -> Any:
        """A new array, poisoned: whatever is not written shows."""
        return on_device(np.full(shape, np.nan), bits)

    def stream(self, device: int) -> int:
        """No stream."""
        return 0

    def result(self, array: Any) -> Any:
        """The array."""
        return array

    def send(self, array: Any, device: int) -> Any:
        """A copy of an array of NumPy."""
        return array.copy().view(DeviceNumbers)

    def fetch(self, array: Any) -> Any:
        """A copy as an array of NumPy."""
        return np.array(array)

    def adopt(self, array: Any) -> Any:
        """The array, in the class of those on the device."""
        return np.asarray(array).view(DeviceNumbers)


def on_device(array: Any, bits: int = 64) -> DeviceNumbers:
    """A copy of an array on the emulated device."""
    return np.array(array, dtype=f"float{bits}").view(DeviceNumbers)


class Emulator:
    """Compiles, loads and launches on the CPU."""

    def version(self) -> str:
        """No version: tests use their own caches."""
        return "emulator"

    def architecture(self, device: int) -> str:
        """A kind of processor."""
        return "sm_90"

    def processors(self, device: int) -> int:
        """Few, so that warps go on to further states."""
        return 1

    def check(self, device: int) -> None:
        """There is one device, number 0."""
        if device != 0:
            raise driver.DeviceError(f"there is no CUDA device {device}; this machine has 1, numbered from 0")

    def module(self) -> Any:
        """The module of arrays on the emulated device."""
        return np

    def on(self, device: int, stream: int) -> AbstractContextManager[None]:
        """Nothing changes."""
        return nullcontext()

    def compile(self, text: str, architecture: str) -> bytes:
        """A shared library."""
        words = ", ".join(["long long"] * MAX_ARGUMENTS)
        values = ", ".join(f"a[{k}]" for k in range(MAX_ARGUMENTS))
        tail = TAIL.replace("WORDS", words).replace("VALUES", values)
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder) / "kernel.cpp", Path(folder) / "kernel.so"
            source.write_text(HEAD + text + tail)
            command = [
                "g++",
                "-std=c++20",
                "-O1",
                "-w",
                "-shared",
                "-fPIC",
                "-pthread",
                str(source),
                "-o",
                str(library),
            ]
            subprocess.run(command, check=True)
            return library.read_bytes()

    def load(self, code: bytes, device: int) -> Any:
        """The library, in this process."""
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(code)
            file.flush()
            return ctypes.CDLL(file.name)

    def launch(
        self, module: Any, name: str, blocks: tuple[int, ...], threads: int, arguments: Sequence[Any], *_: Any
    ) -> None:
        """Run all blocks, one after the other."""
        across, down = (*blocks, 1)[:2]
        assert len(arguments) <= MAX_ARGUMENTS
        words = (ctypes.c_longlong * MAX_ARGUMENTS)(*map(int, arguments))
        address = ctypes.cast(getattr(module, name), ctypes.c_void_p)
        module.emulate(address, ctypes.c_uint(across), ctypes.c_uint(down), ctypes.c_uint(threads), words)


@contextmanager
def emulated_device() -> Iterator[None]:
    """Inside, CUDA kernels run on the CPU, on arrays of `on_device`; without a compiler, the test is skipped."""
    program("g++")
    real, library = driver._driver, EmulatedArrays()
    package = DeviceNumbers.__module__.partition(".")[0]
    driver._driver = Emulator()
    cupy_arrays = device_arrays.LIBRARIES["cupy"]
    device_arrays.LIBRARIES[package] = device_arrays.LIBRARIES["cupy"] = library
    try:
        yield
    finally:
        driver._driver = real
        device_arrays.LIBRARIES["cupy"] = cupy_arrays
        del device_arrays.LIBRARIES[package]
