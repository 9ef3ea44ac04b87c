"""A program repeated on each row of a batch until the row has ended: machine code, and the call of it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from chainrule.compile.emit.lanes import Lanes
from chainrule.compile.emit.until_loop import FIELDS, until_loop_module
from chainrule.compile.load import cache, engine, threads
from chainrule.compile.program import Program

Array = NDArray[np.float64]

TYPICAL_REPETITIONS = 16
"""Repetitions of a row, about, for the decision whether rows are worth being spread over threads."""
MAX_ROWS_PER_CALL = 4096
"""Rows of one call of the machine code, so that it can be interrupted in between."""


class Until:
    """A compiled program: inputs (parameters, state, nothing), result the state, whose last number ends the row."""

    def __init__(self, program: Program, width: int, name: str, label: str) -> None:
        self.lanes = Lanes(64, width)
        self._flops = program.flops
        text, self._scratch_bytes = until_loop_module(program, self.lanes)
        entry = cache.read_or_compile(text, {"robot": label, "function": name, "bits": 64})
        self._code = engine.Code(entry.code)
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._code.address("until"))

    @property
    def rows_at_once(self) -> int:
        """Rows that take no longer than one."""
        return self.lanes.width

    def __call__(self, state: Array, parameters: Array) -> None:
        """Repeat on states (rows, state), in place, with parameters (rows, count); rows are spread over threads."""
        rows = len(state)
        if rows * self._flops * TYPICAL_REPETITIONS < threads.MIN_FLOPS_TO_SPREAD:
            self.bind(state, parameters)(rows)
            return
        at_once = threads.threads()
        size = min(-(-rows // at_once), MAX_ROWS_PER_CALL)
        pieces = [slice(i, i + size) for i in range(0, rows, size)]
        for first in range(0, len(pieces), at_once):
            some = pieces[first : first + at_once]
            threads.run_all([partial(self.bind(state[p], parameters[p]), len(state[p])) for p in some])

    def bind(self, state: Array, parameters: Array) -> Callable[[int], None]:
        """A function that repeats on so many of the first rows; both arrays are read and written where they are."""
        scratch = np.empty(self._scratch_bytes + 64, dtype=np.uint8)
        at = scratch.ctypes.data
        values = (
            len(state), state.ctypes.data, state.strides[0], parameters.ctypes.data, parameters.strides[0],
            at + -at % 64,
        )  # fmt: skip
        packed = (ctypes.c_int64 * len(FIELDS))(*values)
        address, call = ctypes.addressof(packed), self._call

        def run(rows: int, keep: tuple[object, ...] = (state, parameters, scratch)) -> None:
            packed[0] = rows
            call(address)

        return run
