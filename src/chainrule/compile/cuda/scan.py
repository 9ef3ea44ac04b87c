"""A program repeated in time on a graphics processor: its code, and the call of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.compile.backend import LoopBody, LoopShape
from chainrule.compile.cuda.adjoint_codegen import adjoint_kernel, adjoint_warps
from chainrule.compile.cuda.codegen import WARP
from chainrule.compile.cuda.device_arrays import ArrayLibrary
from chainrule.compile.cuda.driver import CudaCode
from chainrule.compile.cuda.scan_codegen import (
    COUNT_UNIT,
    LANE_UNIT,
    MAX_ARGUMENT_PARAMETERS,
    WARPS,
    ScanTapes,
    scan_kernel,
    shares_arguments,
)
from chainrule.compile.program import Program, Symbols, trace_function, trace_program
from chainrule.errors import ModelError

MAX_SPREAD_ROWS = 16384
"""Rows up to which a block has one warp, so that more multiprocessors have work."""

MAX_INSTRUCTIONS = 100_000
"""Instructions beyond which the CUDA compiler would take minutes."""


class DeviceRows(NamedTuple):
    """Rows of numbers on a device: their address, and numbers from row to row, 0 where all rows share one."""

    pointer: int
    stride: int


class WorstRow(NamedTuple):
    """The worst row of a batch, its severity, and how many rows are counted."""

    row: int
    severity: int
    counted: int


def refuse_large(program: Program, label: str) -> None:
    """An error where the compiler would take minutes."""
    tapes = [*program.functions.values(), *(segment.tape for segment in program.segments)]
    count = sum(len(tape.instructions) for tape in tapes)
    if count > MAX_INSTRUCTIONS:
        raise ModelError(
            f"simulate: a step of robot {label!r} has {count} instructions, more than the {MAX_INSTRUCTIONS} that are "
            "compiled for graphics processors; leave device out to compute it on the CPU"
        )


class CudaScan:
    """A compiled program: inputs (parameters, state, signals of three stages), result (state, record)."""

    def __init__(
        self, body: LoopBody, shape: LoopShape, tapes: ScanTapes, bits: int, is_shared: bool, label: str
    ) -> None:
        program = trace_program(body, shape.inputs, conditions=True)
        refuse_large(program, label)
        self.bits, self.shape = bits, shape
        self.flops = program.flops
        self.takes_numbers = is_shared and shares_arguments(program) and shape.parameters > 0
        """Whether parameters are handed over as numbers; else as rows."""
        facts = {"robot": label, "function": "rollout", "bits": bits}
        self.code = CudaCode(scan_kernel(program, shape.record, tapes, bits, is_shared), facts)

    def __call__(
        self,
        rows: int,
        steps: int,
        every: int,
        *,
        starts: tuple[DeviceRows, DeviceRows],
        parameters: DeviceRows | list[int],
        signals: DeviceRows,
        records: DeviceRows,
        state: int,
        goes_on: bool,
        codes: int | None,
        device: int,
        stream: int,
    ) -> None:
        """Queue `steps` steps; where `codes` are asked for they are the last, and the end is recorded too."""
        arguments = [
            rows, steps, every, int(codes is not None), *starts[0], *starts[1], state, int(goes_on), *signals, *records,
            codes or 0, *parameters,
        ]  # fmt: skip
        warps = WARPS if rows > MAX_SPREAD_ROWS else 1
        blocks = -(-rows // (WARP * warps))
        self.code.launch("rollout", (blocks,), WARP * warps, arguments, device=device, stream=stream)


def bit_patterns(values: NDArray[np.floating[Any]], bits: int) -> list[int]:
    """The bits of numbers, as whole numbers that a kernel takes."""
    numbers: list[int] = values.astype(f"float{bits}").view(f"int{bits}").tolist()
    return numbers


def code_count(rows: int) -> int:
    """The number of status codes for a batch: one for each warp."""
    return -(-rows // WARP)


def worst_row(codes: NDArray[np.floating[Any]]) -> WorstRow | None:
    """The worst row by the status codes of all warps; None where all is well."""
    if not codes.any():
        return None
    numbers = codes.astype(np.int64)
    severity = numbers % LANE_UNIT
    warp = int(np.argmax(severity))
    lane = int(numbers[warp] % COUNT_UNIT // LANE_UNIT)
    return WorstRow(warp * WARP + lane, int(severity[warp]), int((numbers // COUNT_UNIT).sum()))


def pointer_of(library: ArrayLibrary, array: Any) -> int:
    """The address of an array on a device."""
    return library.place(array)[0]


class CudaAdjoint:
    """The loop backward in time, from the function of the gradient of one step.

    `lengths` are the numbers of parameters, state, signals and gradient; `coordinates` those of q and v in the state.
    """

    def __init__(
        self,
        gradient: Callable[..., Symbols],
        lengths: tuple[int, int, int, int],
        coordinates: tuple[int, int],
        bits: int,
        is_shared: bool,
        label: str,
    ) -> None:
        parameters, state, *_ = lengths
        self.warps = adjoint_warps(parameters, state, bits)
        if not self.warps:
            raise ModelError(
                f"sensitivities: {parameters} parameters of each motion are more than a multiprocessor can sum; leave "
                "device out, or give fewer parameters"
            )
        tape = trace_function(gradient, lengths)
        if len(tape.instructions) > MAX_INSTRUCTIONS:
            raise ModelError(
                f"sensitivities: the gradient of a step of robot {label!r} has {len(tape.instructions)} instructions, "
                f"more than the {MAX_INSTRUCTIONS} that are compiled for graphics processors; leave device out"
            )
        is_shared = is_shared and parameters <= MAX_ARGUMENT_PARAMETERS
        facts = {"robot": label, "function": "adjoint", "bits": bits}
        self.code = CudaCode(adjoint_kernel(tape, (parameters, state, *coordinates), bits, is_shared), facts)

    def __call__(self, rows: int, arguments: Sequence[int], device: int, stream: int) -> None:
        """Queue the loop; the arguments are those of the kernel after the number of rows."""
        blocks = -(-rows // (WARP * self.warps))
        self.code.launch("adjoint", (blocks,), WARP * self.warps, [rows, *arguments], device=device, stream=stream)
