"""Units of recorded columns: as headings, lines of units and users state them, and their factors to SI."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

SECONDS: Mapping[str, float] = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0}
"""Seconds in each unit of time."""

PLACES: Mapping[str, Mapping[str, float]] = {
    "rad": {"deg": np.pi / 180, "rad": 1.0},
    "m": {"m": 1.0, "cm": 1e-2, "mm": 1e-3},
}
"""Units of positions by the SI unit of a joint, with their factors."""

RATES = ("", "/s", "/s^2")
"""What is added to the unit of a position for that of its first and second derivative."""

NO_UNIT = ("", "1", "-")
"""Statements of a unit that say nothing."""

SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "rad": ("rads", "radian", "radians"),
    "deg": ("degs", "degree", "degrees", "°", "º", "˚"),
    "m": ("meter", "meters", "metre", "metres"),
    "cm": ("centimeter", "centimeters", "centimetre", "centimetres"),
    "mm": ("millimeter", "millimeters", "millimetre", "millimetres"),
    "s": ("sec", "secs", "second", "seconds"),
    "ms": ("msec", "msecs", "millisecond", "milliseconds", "millis"),
    "us": ("µs", "μs", "usec", "usecs", "µsec", "μsec", "microsecond", "microseconds", "micros"),
    "ns": ("nsec", "nsecs", "nanosecond", "nanoseconds", "nanos"),
    "min": ("minute", "minutes"),
    "deg/s": ("dps",),
}  # fmt: skip
"""Other spellings of units, in lower case."""

UNIT_OF = {spelling: unit for unit, spellings in SPELLINGS.items() for spelling in (unit, *spellings)}

KNOWN = {
    *UNIT_OF, *NO_UNIT, *(base + rate for units in PLACES.values() for base in units for rate in RATES), "rpm",
    "n", "nm", "n m", "n*m", "n.m", "nmm", "kg", "v", "a", "ma", "w", "hz", "%", "degc", "c", "k", "g",
}  # fmt: skip
"""What may stand in a line of units, in lower case."""

MAX_HEADING = 1000
"""Letters that the heading of a column may have."""

MAX_UNIT = 40
"""Letters of the longest text that can be a unit."""

RATE = re.compile(r"^(.*?)\s*(?:/|\bper\b|_per_|_)\s*(?:s|sec|second)(?:\s*(?:\^|\*\*)?\s*(2|²))?$")
AT_THE_END = re.compile(
    r"^(.*?)(?:[\s_.:,\-]+(" + "|".join(sorted((re.escape(x) for x in UNIT_OF if x.isascii()), key=len, reverse=True))
    + r")((?:/|_per_|_)(?:s|sec)(?:\^?2|²)?)?|\s*[_.]?([°º˚])(/s(?:\^?2|²)?)?)$",
    re.IGNORECASE,
)  # fmt: skip


def spell_unit(text: str) -> str:
    """A unit in this file's spelling: "deg/s^2" for "degrees per s2"; one that is not known stays as it is."""
    plain = text.strip().lower()
    if plain in UNIT_OF:
        return UNIT_OF[plain]
    rate = RATE.match(plain) if len(plain) <= MAX_UNIT else None
    if rate and rate[1] in UNIT_OF:
        return UNIT_OF[rate[1]] + RATES[2 if rate[2] else 1]
    return plain


def is_unit(text: str) -> bool:
    """Whether a cell can stand in a line of units."""
    return spell_unit(text.strip("[]() ")) in KNOWN


def split_heading(title: str) -> tuple[str, str | None]:
    """A heading without its unit, and that unit: in brackets, or as its last word; None where there is none.

    A number in brackets is none: it counts columns, as in "q[0]".
    """
    start = max(title.rfind("["), title.rfind("("))
    bare, inside = title[: max(start, 0)].rstrip(), title[start + 1 :].rstrip()
    if bare and inside.endswith(("]", ")")) and not re.search(r"[\])]", inside[:-1]):
        unit = inside[:-1].strip()
        if not unit.isdecimal():
            return bare, spell_unit(unit)
    found = AT_THE_END.match(title) if len(title) <= MAX_HEADING else None
    if found and found[1].strip(" _.:,-"):
        unit, rate = (found[2], found[3]) if found[2] else (found[4], found[5])
        return found[1], spell_unit(unit + (rate or ""))
    return title, None


def factor_of(unit: str, base: str, order: int = 0) -> float | None:
    """The factor to SI of a unit of positions ("rad" or "m"), or of their derivatives; None for any other unit."""
    return {name + RATES[order]: factor for name, factor in PLACES[base].items()}.get(unit)


def units_for(base: str, order: int = 0) -> str:
    """The units that a column may have, for messages."""
    *others, last = [name + RATES[order] for name in PLACES[base]]
    return f"{', '.join(others)} or {last}"
