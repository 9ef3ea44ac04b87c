"""Answers in numbers, compared with the right ones: equal within rounding, or which entry differs and how."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ShapeError, short_repr
from chainrule.symbolic.answers.answer import Answer
from chainrule.symbolic.answers.differences import TermDifference

TOLERANCE = 1e-3
"""Largest difference that is rounding, as a fraction of the largest number: answers have three digits or four."""

FACTORS = {
    -1.0: ("sign", "has the wrong sign"),
    2.0: ("factor", "is twice what it should be"),
    0.5: ("factor", "is half of what it should be"),
    180 / math.pi: ("unit", "is in degrees, and should be in radians"),
    math.pi / 180: ("unit", "was converted from degrees to radians, and is in radians already"),
    1000.0: ("unit", "is 1000 times what it should be: millimetres for metres?"),
    0.001: ("unit", "is 1/1000 of what it should be: metres for millimetres?"),
    9.81: ("factor", "is 9.81 times what it should be: g once too often?"),
    1 / 9.81: ("factor", "is 1/9.81 of what it should be: is g missing?"),
}
"""Numbers by which answers are often wrong."""

CHANGES = {0.0: ("missing term", "is missing"), -1.0: ("sign", "has the wrong sign"), 2.0: ("factor", "is taken twice"),
           0.5: ("factor", "is halved")}  # fmt: skip
"""What may have happened to one part of a sum, by the factor that it has then."""


def check_numbers(
    name: str,
    right: Any,
    mine: Any,
    unit: str = "",
    *,
    parts: Mapping[str, Any] | None = None,
    mistakes: Mapping[str, Any] | None = None,
    tolerance: float = TOLERANCE,
) -> Answer:
    """Compare numbers with the right ones.

    Parameters
    ----------
    name, unit
        Of the quantity, for messages.
    right, mine
        The right numbers and the answer: a number, a vector or a matrix.
    parts
        The parts that the right numbers are the sum of, by their names, such as "gravity".
    mistakes
        What comes of other mistakes, by what is then said of the answer.
    tolerance
        The largest difference that is rounding, as a fraction of the largest number.

    >>> print(check_numbers("tau", [3.0, 1.0], [1.0, 1.0], "N m", parts={"inertia": [1, 1], "gravity": [2, 0]}))
    tau: 1 of 2 entries is wrong
      tau[1]: 1, and should be 3 N m: the part of gravity is missing
    """
    expected = np.asarray(right, dtype=float)
    try:
        given = np.asarray(mine, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(
            f"the answer for {name} must be numbers of shape {expected.shape}, got {short_repr(mine)}"
        ) from None
    if given.size == expected.size and given.ndim <= 2 and expected.ndim < 2:
        given = given.reshape(expected.shape)  # a column, or a number in brackets
    if given.shape != expected.shape:
        raise ShapeError(f"{name} has shape {expected.shape}, and the answer {given.shape}")
    size = tolerance * float(np.abs(expected).max(initial=0.0)) or tolerance
    wrong = np.argwhere(~(np.abs(given - expected) <= size))
    if not len(wrong):
        return Answer(name, entries=expected.size)
    found = next(_mistakes(expected, given, size, parts or {}, mistakes or {}), None)
    if found is not None and len(wrong) > (expected.size > 1):
        return Answer(name, (TermDifference("", *found),), entries=expected.size)
    differences = []
    for row in wrong:
        place = tuple(map(int, row))
        words = _of_entry(expected[place], given[place], size, unit, found)
        differences.append(TermDifference(_place(name, place), *words))
    return Answer(name, tuple(differences), entries=expected.size)


def _mistakes(
    expected: Array, given: Array, size: float, parts: Mapping[str, Any], mistakes: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Mistakes that explain all numbers: their kind and the words for them."""

    def same(values: Any, factor: float = 1.0) -> bool:
        return bool(np.all(np.abs(given - np.asarray(values, dtype=float)) <= 2 * abs(factor) * size))

    if expected.ndim == 2 and expected.shape[0] == expected.shape[1] and same(expected.T):
        yield "transposed", "it is the transpose"
    if expected.shape[:1] == (6,) and same(np.roll(expected, 3, axis=0)):
        yield "order of rows", "moments and angular parts come first, forces and linear parts after them"
    for text, values in mistakes.items():
        if np.shape(values) == expected.shape and same(values):
            yield "other", text
    for part, values in parts.items():
        if np.abs(values).max(initial=0.0) > 5 * size:
            for factor, (kind, words) in CHANGES.items():
                if same(expected + (factor - 1) * np.asarray(values, dtype=float)):
                    yield kind, f"the part of {part} {words}"
    for factor, (kind, words) in FACTORS.items():
        if same(factor * expected, factor):
            yield kind, f"it {words}" if expected.ndim == 0 else f"all of it {words}"


def _of_entry(expected: float, given: float, size: float, unit: str, found: tuple[str, str] | None) -> tuple[str, str]:
    """The kind of a wrong number, and the words for it."""
    words = f"{given:.6g}, and should be {expected:.6g}{' ' + unit if unit else ''}"
    if found is not None:
        return found[0], f"{words}: {found[1]}"
    for factor, (kind, text) in FACTORS.items():
        if abs(expected) > 5 * size and abs(given - factor * expected) <= abs(factor) * size:
            return kind, f"{words}: it {text}"
    return "other", words


def _place(name: str, place: tuple[int, ...]) -> str:
    return f"{name}[{','.join(str(k + 1) for k in place)}]" if len(place) else ""
