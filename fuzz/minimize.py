"""A finding made small: pieces are left out as long as the same thing comes of what is left."""

from __future__ import annotations

import time
from collections.abc import Callable

from fuzz.guard import attempt
from fuzz.mutate import TOKEN
from fuzz.targets import Target

MAX_TRIALS = 400
MAX_SECONDS = 20.0


def minimize(data: bytes, is_same: Callable[[bytes], bool], trials: int = MAX_TRIALS) -> bytes:
    """The smallest input that was found to do the same."""
    end = time.process_time() + MAX_SECONDS
    for split in (_lines, _tokens, _bytes):
        pieces = split(data)
        size = max(1, len(pieces) // 2)
        while size and trials > 0 and time.process_time() < end:
            at, shorter = 0, False
            while at < len(pieces) and trials > 0 and time.process_time() < end:
                left = pieces[:at] + pieces[at + size :]
                trials -= 1
                if is_same(b"".join(left)):
                    pieces, shorter = left, True
                else:
                    at += size
            size = size if shorter and size > 1 else size // 2
        data = b"".join(pieces)
    return data


def minimize_outcome(target: Target, data: bytes, kind: str, place: str) -> bytes:
    """The smallest input with the same outcome, in this process."""

    def is_same(candidate: bytes) -> bool:
        outcome = attempt(target, candidate)
        return (outcome.kind, outcome.place) == (kind, place)

    return minimize(data, is_same) if is_same(data) else data


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _tokens(data: bytes) -> list[bytes]:
    return TOKEN.findall(data)


def _bytes(data: bytes) -> list[bytes]:
    return [data[i : i + 1] for i in range(len(data))]
