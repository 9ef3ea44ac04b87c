"""A long tape as several shorter ones, for compilers whose time grows faster than the text.

Each piece stores the values that later ones need. Inputs and constants are repeated in every piece that uses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainrule.compile.tape import Instruction, Tape, Value


@dataclass(frozen=True)
class Partition:
    """Tapes to be evaluated one after the other, and where the outputs of the whole are among theirs.

    A piece takes the arguments of the whole tape, and then the outputs of each piece before it.
    """

    tapes: tuple[Tape, ...]
    outputs: tuple[tuple[int, int], ...]
    """For each output of the whole tape: a piece, and a place among its outputs, where these come first."""


def partition(tape: Tape, size: int) -> Partition:
    """A tape as pieces of at most `size` operations each."""
    work = [value for value, instruction in enumerate(tape.instructions) if instruction.operands]
    parts = _parts(tape, work, size)
    home = {value: k for k, part in enumerate(parts) for value in part}
    last = len(parts) - 1
    stored: list[dict[Value, int]] = [{} for _ in parts]
    for value in tape.outputs:
        _append(stored[home.get(value, last)], value)
    for value in work:
        for operand in tape.instructions[value].operands:
            if operand in home and home[operand] != home[value]:
                _append(stored[home[operand]], operand)
    tapes = []
    for k, part in enumerate(parts):
        lengths = (*tape.inputs, *map(len, stored[:k]))
        tapes.append(_piece(tape, lengths, part, home, stored))
    slots = ((k, stored[k][value]) for value in tape.outputs for k in (home.get(value, last),))
    return Partition(tuple(tapes), tuple(slots))


def _append(slots: dict[Value, int], value: Value) -> None:
    slots.setdefault(value, len(slots))


def _parts(tape: Tape, work: Sequence[Value], size: int) -> list[Sequence[Value]]:
    """Parts of the operations: each ends where, in its second half, the fewest values are used after the end."""
    crossing = _crossing(tape, work)
    parts = []
    start = 0
    while len(work) - start > size:
        end = min(range(start + (size + 1) // 2, start + size + 1), key=lambda place: crossing[place])
        parts.append(work[start:end])
        start = end
    return [*parts, work[start:]]


def _crossing(tape: Tape, work: Sequence[Value]) -> list[int]:
    """For each place between operations, the number of values from before it that are used after it."""
    place = {value: k for k, value in enumerate(work)}
    last_use = list(range(len(work)))
    for k, value in enumerate(work):
        for operand in tape.instructions[value].operands:
            if operand in place:
                last_use[place[operand]] = k
    crossing = [0] * (len(work) + 1)
    for k, last in enumerate(last_use):
        crossing[k + 1] += 1
        crossing[last + 1] -= 1
    for k in range(len(work)):
        crossing[k + 1] += crossing[k]
    return crossing


def _piece(
    tape: Tape,
    lengths: tuple[int, ...],
    part: Sequence[Value],
    home: dict[Value, int],
    stored: Sequence[dict[Value, int]],
) -> Tape:
    """Some operations as a tape of its own; what is computed elsewhere is an input."""
    instructions: list[Instruction] = []
    moved: dict[Value, Value] = {}

    def find(value: Value) -> Value:
        if value not in moved:
            k = home.get(value)
            copied = tape.instructions[value]
            if k is not None:
                copied = Instruction("input", argument=len(tape.inputs) + k, entry=stored[k][value])
            instructions.append(copied)
            moved[value] = len(instructions) - 1
        return moved[value]

    for value in part:
        operands = tuple(find(operand) for operand in tape.instructions[value].operands)
        instructions.append(tape.instructions[value]._replace(operands=operands))
        moved[value] = len(instructions) - 1
    outputs = tuple(find(value) for value in stored[len(lengths) - len(tape.inputs)])
    return Tape(lengths, tuple(instructions), outputs)
