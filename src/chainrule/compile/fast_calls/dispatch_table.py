"""Records that tell the builtin of the array call where each way of calling a method leads."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chainrule.compile.runtime import memory_cache

MAX_RECORDS = 128
"""Ways of calling one method that are remembered."""


class ArrayArgument(NamedTuple):
    """An argument that is an array: which input of the kernel it is, and whether the kernel takes its negative."""

    place: int
    negative: bool = False


class FixedArgument(NamedTuple):
    """An argument that must be this object, or this text."""

    value: Any


class Pattern(NamedTuple):
    """A way of calling a function: the arguments in order, the last of them by these keywords."""

    slots: tuple[ArrayArgument | FixedArgument, ...]
    keywords: tuple[str, ...] = ()

    @staticmethod
    def of_arrays(count: int) -> Pattern:
        """A call with arrays alone, in the order of the kernel's inputs."""
        return Pattern(tuple(ArrayArgument(k) for k in range(count)))


class LoopPointer(NamedTuple):
    """The address of a compiled loop, its last argument, and what keeps it there."""

    address: int
    data: int
    keep: Any


class KernelLoops(NamedTuple):
    """The loops of a kernel, and what they take and give."""

    double: LoopPointer
    single: Callable[[], LoopPointer | None]
    """The loop for floats, if it has been made."""
    lengths: tuple[int, ...]
    shape: tuple[int, ...]
    quaternions: tuple[tuple[int, int], ...]
    """Input and place of each quaternion, which must not be zero."""
    max_rows: int
    """Rows beyond which the batch is spread over threads."""
    max_rows_locked: int
    """Rows beyond which Python's lock is given up for the time of the loop."""

    @property
    def fits(self) -> bool:
        """Whether the builtin has room for it."""
        from chainrule.compile.fast_calls import array_call as emit

        return len(self.lengths) <= emit.MAX_INPUTS and len(self.shape) <= emit.MAX_CORE


class _TableHolder:
    """An object whose first slot is the table that compiled code reads."""

    __slots__ = ("table",)
    table: NDArray[np.int64]


class DispatchTable(_TableHolder):
    """Records for the builtin, which finds their number and addresses in the table."""

    __slots__ = ("kept", "records", "targets")

    def __init__(self) -> None:
        self.kept: list[Any] = []
        self.records: list[NDArray[np.int64]] = []
        self.targets: list[KernelLoops] = []
        self.table = np.zeros(1, dtype=np.int64)

    def add(self, pattern: Pattern, target: KernelLoops, finish: Any = None) -> None:
        """Let calls of this pattern go to a loop; `finish` makes the answer of its array."""
        if len(self.records) >= MAX_RECORDS:
            return
        names = tuple(map(sys.intern, pattern.keywords))
        record = np.array(_words(pattern._replace(keywords=names), target, finish), dtype=np.int64)
        with memory_cache.compile_lock():
            self.kept += [pattern, names, finish]
            self.targets.append(target)
            self.records.append(record)
            addresses = [record.ctypes.data for record in self.records]
            self.table = np.array([len(addresses), *addresses], dtype=np.int64)

    def add_single_loops(self) -> None:
        """Let calls on floats go to the loops for floats that have been made by now."""
        from chainrule.compile.fast_calls import array_call as emit

        for record, target in zip(self.records, self.targets, strict=True):
            loop = None if record[emit.SINGLE_LOOP] else target.single()
            if loop is not None:
                self.kept.append(loop)
                record[emit.SINGLE_LOOP_DATA] = loop.data
                record[emit.SINGLE_LOOP] = loop.address


def _words(pattern: Pattern, target: KernelLoops, finish: Any) -> list[int]:
    """A record, as compiled code reads it (`fast_calls/array_call`)."""
    from chainrule.compile.fast_calls import array_call as emit

    slots = _slots(pattern)
    shape = list(target.shape)
    strides = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    lists = {
        emit.SLOTS_AT: slots,
        emit.LENGTHS_AT: list(target.lengths),
        emit.SHAPE_AT: shape,
        emit.STRIDES_AT: strides,
        emit.QUATERNIONS_AT: [x for pair in target.quaternions for x in pair],
    }
    header = dict.fromkeys(range(emit.HEADER_WORDS), 0) | {
        emit.POSITIONAL: len(pattern.slots) - len(pattern.keywords),
        emit.KEYWORDS: len(pattern.keywords),
        emit.INPUTS: len(target.lengths),
        emit.LOOP: target.double.address,
        emit.LOOP_DATA: target.double.data,
        emit.CORE: len(shape),
        emit.MAX_ROWS: target.max_rows,
        emit.MAX_ROWS_LOCKED: target.max_rows_locked,
        emit.QUATERNIONS: len(target.quaternions),
        emit.FINISH: 0 if finish is None else id(finish),
        emit.ROW_NUMBERS: math.prod(shape),
    }
    words: list[int] = []
    for place, values in lists.items():
        header[place] = emit.HEADER_WORDS + len(words)
        words += values
    return [*header.values(), *words]


def _slots(pattern: Pattern) -> list[int]:
    from chainrule.compile.fast_calls import array_call as emit

    words: list[int] = []
    positional = len(pattern.slots) - len(pattern.keywords)
    for name, slot in zip([None] * positional + list(pattern.keywords), pattern.slots, strict=True):
        words.append(0 if name is None else id(name))
        if isinstance(slot, ArrayArgument):
            words += [slot.place, int(slot.negative)]
        else:
            words += [emit.SAME_TEXT if type(slot.value) is str else emit.SAME_OBJECT, id(slot.value)]
    return words
