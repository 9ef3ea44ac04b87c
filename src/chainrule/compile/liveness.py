"""Values that wait long for their use, and are better kept in memory than in registers."""

from __future__ import annotations

import heapq
from collections import Counter
from typing import NamedTuple

from chainrule.compile.tape import Tape, Value


class Spill(NamedTuple):
    """A value in memory: the slot that holds it, and the place in the tape after which it is written there."""

    slot: int
    after: int


def register_pressure(tape: Tape) -> int:
    """The largest number of computed values that are still to be used, over all places of a tape.

    Entries of arguments and constants do not count, since they can be read again.
    """
    uses = _uses(tape)
    ends = Counter(places[-1] for places in uses if places)
    waiting = most = 0
    for k, places in enumerate(uses):
        waiting += bool(places) - ends[k]
        most = max(most, waiting)
    return most


def spills(tape: Tape, registers: int, slots: int) -> dict[Value, Spill]:
    """The values to keep in at most so many slots, so that no more than `registers` wait elsewhere, if that is enough.

    Where too many wait, the one whose next use is farthest away goes to memory, and stays there.
    """
    uses = _uses(tape)
    kept: dict[Value, int] = {}
    taken: dict[Value, int] = {}
    free = list(range(slots))
    returning: list[tuple[int, Value]] = []
    waiting: set[Value] = set()
    for k, instruction in enumerate(tape.instructions):
        while returning and returning[0][0] <= k:
            heapq.heappush(free, taken[heapq.heappop(returning)[1]])
        waiting.difference_update(v for v in instruction.operands if uses[v] and uses[v][-1] <= k)
        if uses[k]:
            waiting.add(k)
        while len(waiting) > registers and free:
            chosen = max(waiting, key=lambda v: next(use for use in uses[v] if use > k))
            waiting.remove(chosen)
            kept[chosen] = k
            taken[chosen] = heapq.heappop(free)
            heapq.heappush(returning, (uses[chosen][-1], chosen))
    return {value: Spill(taken[value], after) for value, after in kept.items()}


def _uses(tape: Tape) -> list[list[int]]:
    """The places where each computed value is used, in order; none for arguments and constants."""
    uses: list[list[int]] = [[] for _ in tape.instructions]
    for k, instruction in enumerate(tape.instructions):
        for v in dict.fromkeys(instruction.operands):
            if tape.instructions[v].operation not in ("input", "constant"):
                uses[v].append(k)
    return uses
