"""CUDA: source text to machine code for one kind of graphics processor, and machine code onto devices.

CuPy does it: its NVRTC compiles, and its driver calls load and launch. Machine code is kept on disk by the rules of
`cache`, keyed by the text, the kind of processor and the version of the compiler.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from chainrule.compile.runtime import disk_cache, memory_cache
from chainrule.errors import ChainruleError, ShapeError, import_optional, short_repr

OPTIONS = ("-std=c++17",)
"""What the compiler is told besides the kind of processor: nothing that trades accuracy for speed."""


class DeviceError(ChainruleError, RuntimeError):
    """A graphics processor is missing, or refuses its work."""


class Stream(NamedTuple):
    """A queue of work on a device, by its address; 0 is the device's own."""

    ptr: int


def cupy() -> Any:
    """The package CuPy."""
    return import_optional("cupy", "a graphics processor", ", or cupy-cuda12x for CUDA 12")


class CupyDriver:
    """Compiles, loads and launches by CuPy."""

    def version(self) -> str:
        """The version of the compiler."""
        return ".".join(map(str, _nvrtc().getVersion()))

    def architecture(self, device: int) -> str:
        """The kind of processor that a device is, such as "sm_90"."""
        self.check(device)
        return f"sm_{cupy().cuda.Device(device).compute_capability}"

    def processors(self, device: int) -> int:
        """The number of multiprocessors of a device."""
        return int(cupy().cuda.Device(device).attributes["MultiProcessorCount"])

    def check(self, device: int) -> None:
        """Raise DeviceError unless there is such a device."""
        package = cupy()
        try:
            count = package.cuda.runtime.getDeviceCount()
        except Exception as error:  # CuPy's own, whose class is not to be had without a driver
            raise DeviceError(f"no graphics processor can be used: {error}; the CPU can compute it") from error
        if not 0 <= device < count:
            raise DeviceError(f"there is no CUDA device {device}; this machine has {count}, numbered from 0")

    def compile(self, text: str, architecture: str) -> bytes:
        """Machine code for one kind of processor."""
        nvrtc = _nvrtc()
        program = nvrtc.createProgram(text, "chainrule.cu", [], [])
        try:
            nvrtc.compileProgram(program, (f"--gpu-architecture={architecture}", *OPTIONS))
            return bytes(nvrtc.getCUBIN(program))
        except nvrtc.NVRTCError as error:
            log = nvrtc.getProgramLog(program).strip()[:2000]
            raise DeviceError(f"the CUDA compiler refuses the code for {architecture}: {error}\n{log}") from error
        finally:
            nvrtc.destroyProgram(program)

    def load(self, code: bytes, device: int) -> Any:
        """Machine code onto a device."""
        with cupy().cuda.Device(device):
            module = cupy().cuda.function.Module()
            module.load(code)
        return module

    def launch(
        self,
        module: Any,
        name: str,
        blocks: tuple[int, ...],
        threads: int,
        arguments: Sequence[Any],
        device: int,
        stream: int,
    ) -> None:
        """Queue a kernel on a stream."""
        with cupy().cuda.Device(device):
            module.get_function(name)(blocks, (threads,), tuple(arguments), stream=Stream(stream))

    def module(self) -> Any:
        """The module whose arrays on devices are like those of NumPy."""
        return cupy()

    @contextmanager
    def on(self, device: int, stream: int) -> Iterator[None]:
        """Inside, the module's work goes into a stream of a device."""
        with cupy().cuda.Device(device), cupy().cuda.ExternalStream(stream, device):
            yield


def _nvrtc() -> Any:
    """CuPy's interface of the compiler, which is there without a device as well."""
    return cupy().cuda.nvrtc


_driver: Any = CupyDriver()


def driver() -> Any:
    """The thing that compiles, loads and launches: CuPy, or the emulator of tests."""
    return _driver


@functools.cache
def processors(device: int) -> int:
    """The number of multiprocessors of a device."""
    return int(driver().processors(device))


class CudaCode:
    """A CUDA text, made into machine code and loaded on a device when it is first launched there.

    `facts` are what people see of it in the cache: robot, function, bits.
    """

    def __init__(self, text: str, facts: Mapping[str, Any]) -> None:
        self.text = text
        self.facts = dict(facts)
        self._modules: dict[int, Any] = {}

    def machine_code(self, architecture: str) -> bytes:
        """The machine code for a kind of processor such as "sm_90", stored or made now; no device is needed."""
        if not isinstance(architecture, str) or not re.fullmatch(r"sm_\d{2,3}[a-z]?", architecture):
            raise ShapeError(f"architecture must be a word such as 'sm_90', got {short_repr(architecture)}")
        parts = {"cuda": hashlib.sha256(self.text.encode()).hexdigest(), "architecture": architecture}
        key = disk_cache.key_of(parts | {"options": OPTIONS, "nvrtc": driver().version()})
        entry = disk_cache.read(key)
        if entry is None:
            entry = disk_cache.CacheEntry(driver().compile(self.text, architecture), self.facts)
            disk_cache.write(key, entry)
        return entry.code

    def launch(
        self,
        name: str,
        blocks: tuple[int, ...],
        threads: int,
        arguments: Sequence[Any],
        *,
        device: int = 0,
        stream: int = 0,
    ) -> None:
        """Queue a kernel on a stream of a device: addresses and whole numbers are its arguments."""
        module = self._modules.get(device)
        if module is None:
            with memory_cache.compile_lock():
                module = self._modules.get(device) or driver().load(
                    self.machine_code(driver().architecture(device)), device
                )
                self._modules[device] = module
        driver().launch(module, name, blocks, threads, arguments, device, stream)

    def __reduce__(self) -> tuple[type[CudaCode], tuple[Any, ...]]:
        """What is loaded does not travel."""
        return CudaCode, (self.text, self.facts)
