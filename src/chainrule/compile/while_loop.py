"""A program repeated on each row of a batch until the row has ended: machine code, and the call of it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from chainrule.compile.codegen.vectorize import Lanes
from chainrule.compile.codegen.while_loop import WHILE_FIELDS, while_module
from chainrule.compile.program import Program
from chainrule.compile.runtime import disk_cache, engine, threads
from chainrule.compile.scan import MAX_FEW_ROWS

Array = NDArray[np.float64]

TYPICAL_REPETITIONS = 16
"""Repetitions of a row, about, for the decision whether rows are worth being spread over threads."""
MAX_ROWS_PER_CALL = 4096
"""Rows of one call of the machine code, so that it can be interrupted in between."""


class CompiledWhileLoop:
    """A compiled program: inputs (parameters, state, nothing), result the state, whose last number ends the row.

    It is positive when the row has ended, and more than one when it has failed.
    """

    def __init__(self, program: Program, lanes: Lanes, name: str, label: str) -> None:
        self.lanes = lanes
        self._inputs = program.inputs
        self._flops = program.flops
        self._few_rows: list[tuple[Array, Array, Callable[[int, int], None]]] = []
        text, self._scratch_bytes = while_module(program, self.lanes)
        entry = disk_cache.read_or_compile(text, {"robot": label, "function": name, "bits": 64})
        self._code = engine.MachineCode(entry.code)
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._code.address("until"))

    @property
    def rows_at_once(self) -> int:
        """Rows that take no longer than one."""
        return self.lanes.width

    def __call__(self, state: Array, parameters: Array) -> None:
        """Repeat on states (rows, state), in place, with parameters (rows, count); rows are spread over threads.

        With twice as many states, a row that fails begins again with the state in the second half.
        """
        rows = len(parameters)
        others = len(state) - rows
        if rows <= MAX_FEW_ROWS:
            self._repeat_few(state, parameters)
            return
        if rows * self._flops * TYPICAL_REPETITIONS < threads.MIN_FLOPS_TO_SPREAD:
            self._bind(state, parameters)(rows, others)
            return
        at_once = threads.threads()
        size = min(-(-rows // at_once), MAX_ROWS_PER_CALL)
        firsts = range(0, rows, size)
        for k in range(0, len(firsts), at_once):
            some = firsts[k : k + at_once]
            calls = [partial(self._bind(state[i:], parameters[i:]), min(size, rows - i), others) for i in some]
            threads.run_all(calls)

    def _repeat_few(self, state: Array, parameters: Array) -> None:
        """Repetitions of a few rows, by arrays whose addresses are known already."""
        try:
            few = self._few_rows.pop()
        except IndexError:
            count, size, _ = self._inputs
            own = np.zeros((2 * MAX_FEW_ROWS, size)), np.zeros((MAX_FEW_ROWS, count))
            few = *own, self._bind(*own)
        (own_state, own_parameters, run), rows, all_rows = few, len(parameters), len(state)
        own_state[:all_rows], own_parameters[:rows] = state, parameters
        run(rows, all_rows - rows)
        state[:] = own_state[:all_rows]
        self._few_rows.append(few)

    def bind(self, state: Array, parameters: Array) -> Callable[[], None]:
        """A function that repeats on these arrays, which are read and written where they are."""
        return partial(self._bind(state, parameters), len(parameters), len(state) - len(parameters))

    def _bind(self, state: Array, parameters: Array) -> Callable[[int, int], None]:
        """The same for so many of the first rows, the other states being so many rows further on."""
        scratch = np.empty(self._scratch_bytes + 64, dtype=np.uint8)
        at = scratch.ctypes.data
        values = (
            0, 0, state.ctypes.data, state.strides[0], parameters.ctypes.data, parameters.strides[0], at + -at % 64,
        )  # fmt: skip
        packed = (ctypes.c_int64 * len(WHILE_FIELDS))(*values)
        address, call = ctypes.addressof(packed), self._call

        def run(rows: int, others: int, keep: tuple[object, ...] = (self, state, parameters, scratch)) -> None:
            packed[0], packed[1] = rows, others
            call(address)

        return run
