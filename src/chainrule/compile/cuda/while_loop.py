"""Tapes on graphics processors: on each row of a batch once, or repeated until each row has ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from chainrule.compile.cuda import codegen, while_codegen
from chainrule.compile.cuda.context import DeviceContext
from chainrule.compile.cuda.driver import CudaCode
from chainrule.compile.tape import Tape

MAX_BLOCKS = 4096
"""Blocks of a launch, which go on to further rows until none is left: more than any device runs at once."""


class CudaFunction:
    """A tape on rows of contiguous arrays."""

    def __init__(self, name: str, tape: Tape, bits: int, label: str) -> None:
        self.name = name
        self._layout = codegen.shared_memory_of(tape, bits)
        text = codegen.prelude(bits) + codegen.batch_kernel(name, tape, bits)
        self._code = CudaCode(text, {"robot": label, "function": name, "bits": bits})

    def __call__(self, work: DeviceContext, out: Any, *arrays: Any) -> None:
        """Write results (rows, size) for arrays (rows, length), or (length,) where all rows share it."""
        given = [x for a in arrays for x in (a, a.shape[-1] if a.ndim > 1 else 0)]
        threads = self._layout.threads
        blocks = (min(-(-len(out) // threads), MAX_BLOCKS), len(self._layout.parts))
        work.launch(self._code, self.name, blocks, threads, [len(out), *given, out])


class DeviceCandidates(NamedTuple):
    """Sets of candidates to start from, on a device."""

    candidates: Any
    """All of them, set by set: (sets * count, numbers of a start)."""
    features: Any
    """What their distances from rows are computed from: (sets, count, `feature_pitch`)."""


class CudaWhileLoop:
    """A tape repeated until each row has ended, from starts that are chosen for each row.

    The inputs of the tape are shared numbers, a row's own, and its state, as in `cuda.while_codegen`.
    """

    def __init__(
        self, tape: Tape, start: int, features: int, candidates: int, bits: int, facts: Mapping[str, Any]
    ) -> None:
        shared, own, state = tape.inputs
        self.shape = while_codegen.WhileShape(shared, own, state, start)
        self._code = CudaCode(
            codegen.prelude(bits)
            + while_codegen.nearest_kernel("nearest", own, features, candidates)
            + while_codegen.while_kernel("until", tape, start, bits),
            {**facts, "bits": bits},
        )

    def choose(self, work: DeviceContext, order: Any, own: Any, starts: DeviceCandidates, chosen: Any) -> None:
        """Write the places of the nearest candidate of each set (rows, sets), for the rows listed or for all."""
        rows, sets = chosen.shape
        blocks = (-(-rows // while_codegen.THREADS),)
        arguments = [rows, order, own, sets, starts.features, chosen]
        work.launch(self._code, "nearest", blocks, while_codegen.THREADS, arguments)

    def repeat(
        self, work: DeviceContext, order: Any, shared: Any, own: Any, chosen: Any, candidates: Any, blank: Any,
        counters: Any, result: Any, failed: Any,
    ) -> None:  # fmt: skip
        """Repeat on the rows listed, or on all, from the starts `chosen` (rows, tries) among candidates."""
        rows, tries = chosen.shape
        blocks = (min(-(-rows // while_codegen.THREADS), MAX_BLOCKS),)
        arguments = [rows, order, shared, own, tries, chosen, candidates, blank, counters, result, failed]
        work.launch(self._code, "until", blocks, while_codegen.THREADS, arguments)


def features_of(values: Any, scales: Any) -> Any:
    """The features of candidates (sets, count, values), whose distances are those of scaled values."""
    sets, count, n = values.shape
    features = np.zeros((sets, count, while_codegen.feature_pitch(n)))
    features[..., :n] = -2 * scales**2 * values
    features[..., n] = ((scales * values) ** 2).sum(axis=-1)
    return features
