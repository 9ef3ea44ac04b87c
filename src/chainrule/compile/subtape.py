"""Parts of a tape: a function with fewer outputs."""

from __future__ import annotations

from collections.abc import Iterable

from chainrule.compile.tape import Tape, Value


def subtape(tape: Tape, outputs: Iterable[Value]) -> Tape:
    """The function with these values of a tape as its outputs: the instructions that they need, in the same order."""
    chosen = tuple(outputs)
    needed = set(chosen)
    for value in range(len(tape.instructions) - 1, -1, -1):
        if value in needed:
            needed.update(tape.instructions[value].operands)
    places = {value: place for place, value in enumerate(sorted(needed))}
    instructions = (tape.instructions[value] for value in sorted(needed))
    moved = tuple(i._replace(operands=tuple(places[v] for v in i.operands)) for i in instructions)
    return Tape(tape.inputs, moved, tuple(places[v] for v in chosen), tape.meanings)
