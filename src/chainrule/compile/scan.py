"""A program repeated in time, over a batch: machine code, and the call of it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.compile.codegen.scan_loop import SCAN_FIELDS, scan_module
from chainrule.compile.codegen.vectorize import Lanes
from chainrule.compile.program import Program
from chainrule.compile.runtime import disk_cache, engine, threads

Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]

MAX_FEW_ROWS = 16
"""Rows that are copied into arrays at known addresses, which costs less than to find out those of the user's."""


class CompiledScan:
    """A compiled program: inputs (parameters, state, signals of three stages), result (state, record)."""

    def __init__(self, program: Program, record: int, lanes: Lanes, name: str, label: str) -> None:
        self.lanes = lanes
        self.record = record
        self._inputs = program.inputs
        self._flops = program.flops
        self._few_rows: list[_FewRows] = []
        text, self._scratch_bytes = scan_module(program, record, self.lanes)
        entry = disk_cache.read_or_compile(text, {"robot": label, "function": name, "bits": 64})
        self._code = engine.MachineCode(entry.code)
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._code.address("rollout"))

    def __call__(
        self,
        state: Array,
        parameters: Array,
        steps: int,
        signals: Array | None = None,
        records: Array | None = None,
        every: int = 1,
    ) -> None:
        """Move the states (rows, state) on by `steps` repetitions, in place; write the record of every `every`-th.

        parameters (rows, count); signals (rows, 3 steps, count), at the start, half way and at the end of each step;
        records (rows, n, record). Rows of parameters and signals may be broadcast. Rows are spread over threads.
        """
        rows = len(state)
        if not rows:
            return
        if rows <= MAX_FEW_ROWS and signals is None and records is None:
            self._repeat_few(state, parameters, steps)
            return
        if state.strides[1] != state.itemsize:
            adjacent = np.ascontiguousarray(state)
            self(adjacent, parameters, steps, signals, records, every)
            state[:] = adjacent
            return
        nothing = np.zeros((rows, 1, 0))
        given = _with_adjacent_entries(parameters)
        ahead = nothing if signals is None else _with_adjacent_entries(signals)
        if records is None:  # the first repetition of each `every` writes one
            records, every = np.empty((rows, 1, self.record)), max(steps, 1)
        if rows * steps * self._flops < threads.MIN_FLOPS_TO_SPREAD:
            self._run(state, given, ahead, steps, every, records)
            return
        parts = min(threads.threads(), -(-rows // self.lanes.width))
        size = -(-rows // parts // self.lanes.width) * self.lanes.width
        pieces = [slice(i, min(i + size, rows)) for i in range(0, rows, size)]
        arguments = [(state[p], given[p], ahead[p], steps, every, records[p]) for p in pieces]
        threads.run_all([partial(self._run, *rest) for rest in arguments])

    def _repeat_few(self, state: Array, parameters: Array, steps: int) -> None:
        """Repetitions of a few rows without signals and records, by arrays whose addresses are known already."""
        try:
            few = self._few_rows.pop()
        except IndexError:
            few = _FewRows(self._inputs, self.record, self._scratch_bytes, self._pack)
        rows = len(state)
        few.state[:rows], few.parameters[:rows] = state, parameters
        few.packed[:3] = rows, steps, max(steps, 1)
        self._call(few.address)
        state[:] = few.state[:rows]
        self._few_rows.append(few)

    def bind(self, state: Array, parameters: Array) -> Callable[[], None]:
        """One repetition of these states with these parameters, both read and written in place; without signals."""
        whole = state.flags.c_contiguous and parameters.flags.c_contiguous
        if not whole or len(state) > self.lanes.width:  # more rows are spread over threads
            return partial(self, state, parameters, 1)
        records, signals = np.empty((len(state), 1, self.record)), np.zeros((len(state), 1, 0))
        scratch = np.empty(self._scratch_bytes + 64, dtype=np.uint8)
        packed = self._pack(state, parameters, signals, 1, 1, records, scratch)
        address, call = ctypes.addressof(packed), self._call

        def step(keep: tuple[object, ...] = (self, packed, state, parameters, signals, records, scratch)) -> None:
            call(address)

        return step

    def _run(self, state: Array, parameters: Array, signals: Array, steps: int, every: int, records: Array) -> None:
        scratch = np.empty(self._scratch_bytes + 64, dtype=np.uint8)
        packed = self._pack(state, parameters, signals, steps, every, records, scratch)
        self._call(ctypes.addressof(packed))

    def _pack(
        self, state: Array, parameters: Array, signals: Array, steps: int, every: int, records: Array, scratch: Bytes
    ) -> ctypes.Array[ctypes.c_int64]:
        """The arguments of the machine code, which holds none of these arrays."""
        at = _address(scratch)
        values = (
            len(state), steps, every, _address(state), state.strides[0], _address(parameters), parameters.strides[0],
            _address(signals), signals.strides[0], _address(records), records.strides[0], at + -at % 64,
        )  # fmt: skip
        return (ctypes.c_int64 * len(SCAN_FIELDS))(*values)


class _FewRows:
    """Arrays for a few rows; one thread uses them at a time."""

    def __init__(self, inputs: tuple[int, ...], record: int, scratch_bytes: int, pack: Callable[..., Any]) -> None:
        count, size, _ = inputs
        self.state, self.parameters = np.zeros((MAX_FEW_ROWS, size)), np.zeros((MAX_FEW_ROWS, count))
        self.records = np.empty((MAX_FEW_ROWS, 1, record))
        self.scratch = np.empty(scratch_bytes + 64, dtype=np.uint8)
        nothing = np.zeros((MAX_FEW_ROWS, 1, 0))
        self.packed = pack(self.state, self.parameters, nothing, 1, 1, self.records, self.scratch)
        self.address = ctypes.addressof(self.packed)


def _address(array: NDArray[Any]) -> int:
    """The address of an array's numbers; of one without numbers, which nobody reads, none."""
    return array.ctypes.data if array.size else 0


def _with_adjacent_entries(array: Array) -> Array:
    """The array, copied unless the numbers of a row are adjacent; rows may be broadcast."""
    row = array[:1]
    return array if row.flags.c_contiguous else np.ascontiguousarray(array)
