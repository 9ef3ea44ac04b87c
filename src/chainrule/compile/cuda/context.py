"""A place for calculations on a device: arrays like those of NumPy there, whatever library the user's arrays are of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from chainrule.compile.cuda import device_arrays
from chainrule.compile.cuda.device_arrays import ArrayLibrary
from chainrule.compile.cuda.driver import driver


class DeviceContext:
    """A device, the stream of the user's library on it, and the module whose arrays are used there, CuPy."""

    def __init__(self, device: int, library: ArrayLibrary | None = None) -> None:
        driver().check(device)
        self.device, self.library = device, library or device_arrays.host_library()
        self.stream = self.library.stream(device)
        self.module = driver().module()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Inside, new arrays and calculations of the module are on the device and in the stream."""
        with driver().on(self.device, self.stream):
            yield

    def borrow(self, value: Any) -> Any:
        """A user's array on the device as one of the module, without a copy."""
        return self.module.asarray(self.library.view(value, "an array"))

    def lend(self, array: Any) -> Any:
        """An array of the module as one of the user's library, without a copy."""
        return self.library.adopt(array)

    def send(self, array: Any, kind: str) -> Any:
        """A copy of an array of the host, of this type of numbers."""
        return self.module.asarray(np.asarray(array, dtype=kind))

    def fetch(self, array: Any) -> Any:
        """A copy of an array on the host."""
        return device_arrays.host_library().fetch(array)

    def launch(self, code: Any, name: str, blocks: tuple[int, ...], threads: int, arguments: list[Any]) -> None:
        """Queue a kernel; its arguments are whole numbers, contiguous arrays, or None for no array."""
        place: Callable[[Any], Any] = device_arrays.host_library().place
        words = [x if isinstance(x, int) else 0 if x is None else place(x)[0] for x in arguments]
        code.launch(name, blocks, threads, words, device=self.device, stream=self.stream)
