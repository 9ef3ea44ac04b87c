"""Left and right: names that differ only in the side that they name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_RIGHT = {
    "left": "right", "Left": "Right", "LEFT": "RIGHT",
    "l": "r", "L": "R",
    "fl": "fr", "FL": "FR", "hl": "hr", "HL": "HR", "rl": "rr", "RL": "RR", "bl": "br", "BL": "BR", "ml": "mr",
    "ML": "MR", "lf": "rf", "LF": "RF", "lh": "rh", "LH": "RH", "lm": "rm", "LM": "RM",
}  # fmt: skip
"""The words for the left side, each with the one for the right side."""

_WORD = re.compile(r"[Ll]eft|LEFT|(?<![A-Za-z])(?:[FHRBM]?L|L[FHM]|[fhrbm]?l|l[fhm])(?![a-z])")
"""A word for the left side within a name: whole words, and capitals that stand before a capital, as in LElbow."""


def mirrored_names(name: str) -> Iterator[str]:
    """The names that the right side's counterpart of a left part may have.

    >>> list(mirrored_names("left_arm")), list(mirrored_names("LElbow")), list(mirrored_names("elbow"))
    (['right_arm'], ['RElbow'], [])
    """
    for found in _WORD.finditer(name):
        yield name[: found.start()] + _RIGHT[found.group()] + name[found.end() :]


def pairs(names: Collection[str]) -> list[tuple[str, str]]:
    """Left and right parts among the names."""
    return [(name, other) for name in names for other in mirrored_names(name) if other in names]
