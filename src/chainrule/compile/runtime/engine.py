"""LLVM: IR text to machine code, and machine code into this process."""

from __future__ import annotations

import ctypes
import ctypes.util
import mmap
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from chainrule.compile.codegen.vectorize import Lanes
from chainrule.compile.runtime import memory_cache
from chainrule.compile.tape import SYSTEM_FUNCTIONS
from chainrule.errors import MissingPackageError, pip

try:
    import llvmlite.binding as llvm
except (ImportError, OSError) as error:  # there is no wheel for the platform, or its library does not load
    raise MissingPackageError(
        f"machine code for the CPU needs the package llvmlite, which cannot be imported here ({error}): {pip()} "
        "install llvmlite; robot.compiled.export writes C without it, and without kernels everything is interpreted"
    ) from error


def _machine() -> Any:
    """A target machine for the host. An engine owns the one it is made with, so each gets its own.

    Tapes come folded and shared, so that more optimization costs time and changes nothing.
    """
    _start()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=cpu(), features=features(), opt=1, reloc="pic", codemodel="default", jit=True
    )


@cache
def _start() -> None:
    """Prepare LLVM, and offer it the system's functions."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else ctypes.util.find_library("m"))
    for name in ("sin", "cos", *SYSTEM_FUNCTIONS, "fma", "fmaf"):  # the last two where the processor has none
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvm.add_symbol(name, address)


def cpu() -> str:
    """The host's processor, as LLVM names it."""
    return str(llvm.get_host_cpu_name())


def features() -> str:
    """The host's instruction sets, as LLVM takes them; wide vectors preferred where they exist."""
    return str(llvm.get_host_cpu_features().flatten())


@cache
def vector_bits() -> int:
    """The width of the host's widest vectors."""
    have = llvm.get_host_cpu_features()
    if have.get("avx512f"):
        return 512
    if have.get("avx2"):
        return 256
    return 128


def lanes(bits: int) -> Lanes:
    """The widest vector of the host: as many lanes as numbers of so many bits fit."""
    return Lanes(bits, vector_bits() // bits)


def llvm_version() -> str:
    """The version of LLVM."""
    return ".".join(map(str, llvm.llvm_version_info))


@cache
def version() -> str:
    """Everything about the compiler that shapes its code."""
    return f"{llvm.llvm_version_info} {cpu()} {features()}"


def compile_text(text: str) -> bytes:
    """IR to an object file."""
    with memory_cache.compile_lock():
        machine = _machine()
        module = _module(text, machine)
        module.verify()
        return bytes(machine.emit_object(module))


def assembly(text: str) -> str:
    """IR to assembly, for people to read."""
    with memory_cache.compile_lock():
        machine = _machine()
        return str(machine.emit_assembly(_module(text, machine)))


def _module(text: str, machine: Any) -> Any:
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return module


class MachineCode:
    """An object file, loaded."""

    def __init__(self, content: bytes) -> None:
        with memory_cache.compile_lock():
            machine = _machine()
            empty = llvm.parse_assembly(f'target triple = "{machine.triple}"')
            self._engine = llvm.create_mcjit_compiler(empty, machine)
            with _nearby(len(content)):
                self._engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(content))
                self._engine.finalize_object()

    def address(self, name: str) -> int:
        """The address of a function."""
        with memory_cache.compile_lock():
            found = self._engine.get_function_address(name)
        if not found:
            raise LookupError(f"the compiled code has no function {name!r}")
        return int(found)


# --- memory for code near memory for its constants ---

REACH = 1 << 30
"""Distance in bytes between two places that are near: twice as much is still in the reach of 31 bits."""

MAX_PLUGS = 20_000
"""Places that are taken at most."""

RESERVED = 0x4022
"""Of Linux: private, anonymous, without a claim on memory."""


@contextmanager
def _nearby(size: int) -> Iterator[None]:
    """Within this context, blocks of up to `size` bytes are given near each other; on Linux, which may scatter them.

    Code refers to its constants by distances of 32 bits, and LLVM asks the system for memory of each by itself. The
    system gives the highest free place that is large enough: a few pages between two libraries for the constants,
    gigabytes above the code. LLVM then ends the process. So places that lie far from those of large blocks are taken
    while code is loaded.
    """
    plugs = _plug(size) if sys.platform.startswith("linux") else []
    try:
        yield
    finally:
        for address, length in plugs:
            _system().munmap(address, length)


def _plug(size: int) -> list[tuple[int, int]]:
    """Take all free places, of the lengths that matter, which are not near where large blocks are given."""
    pages = 2 * (size // mmap.PAGESIZE + 8)  # sections are rounded up to pages
    home = _reserve(2 * pages * mmap.PAGESIZE)
    if home is None:
        return []
    _system().munmap(home, 2 * pages * mmap.PAGESIZE)
    plugs: list[tuple[int, int]] = []
    while pages and len(plugs) < MAX_PLUGS:
        length = pages * mmap.PAGESIZE
        address = _reserve(length)
        if address is not None and abs(address - home) > REACH:
            plugs.append((address, length))
            continue
        if address is not None:
            _system().munmap(address, length)
        pages //= 2
    return plugs


def _reserve(length: int) -> int | None:
    """The address of a free place, taken; None where there is none."""
    found: int | None = _system().mmap(None, length, 0, RESERVED, -1, 0)
    return None if found in (None, ctypes.c_void_p(-1).value) else found


@cache
def _system() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library
