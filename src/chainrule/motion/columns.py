"""Columns of a recording: which one holds which coordinate of a robot, and in which unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from chainrule.errors import ShapeError, UnknownNameError, quoted
from chainrule.model import Layout
from chainrule.motion.findings import Findings

KINDS = {
    "q": ("q", "pos", "position", "positions", "angle", "angles", "value"),
    "qd": ("qd", "dq", "qdot", "vel", "velocity", "velocities", "speed", "u"),
    "qdd": ("qdd", "ddq", "qddot", "acc", "acceleration", "accelerations"),
    "tau": ("tau", "torque", "torques", "effort", "efforts", "moment", "force"),
}
"""Words of headings for each quantity."""

FILLERS = ("joint", "joints", "states", "state", "actual", "measured", "data", "robot", "arm", "jointset")
"""Words of headings that say nothing."""

TIMES = ("t", "time", "times", "timestamp", "stamp", "secs", "seconds", "rosbagtimestamp", "elapsed")

UNIT = re.compile(r"\s*[\[(]\s*([^\])]*?)\s*[\])]\s*$|_(deg|degrees|rad|radians|ms|us|ns|sec|s|mm)$", re.IGNORECASE)
DEGREES, RADIANS = ("deg", "degrees", "degree", "°"), ("rad", "radians", "radian")
METERS = {"m": 1.0, "meter": 1.0, "mm": 1e-3, "cm": 1e-2}
NO_UNIT = ("", "1", "-")


class Matched(NamedTuple):
    """The column of the time (None if there is none) and of each coordinate, and units where headings give them."""

    time: str | None
    coordinates: dict[str, str]
    """The column of each coordinate, by the coordinate's name."""
    units: dict[str, str]
    """The unit of each column, in lower case, where it is known."""
    unused: list[str]


def match_columns(
    names: Iterable[str],
    layout: Layout,
    findings: Findings,
    *,
    columns: Mapping[str, str] | None = None,
    time: str | None = None,
    units: Mapping[str, str] | None = None,
    constant: Iterable[str] = (),
) -> Matched:
    """Find the columns of a robot's coordinates, by the names that are given, or by what headings say."""
    titles = list(names)
    bare, stated = {}, {title: unit.lower() for title, unit in (units or {}).items()}
    for title in titles:
        found = UNIT.search(title)
        bare[title] = title[: found.start()] if found else title
        if found and title not in stated:
            stated[title] = (found[1] if found[1] is not None else found[2]).lower()
    clock = _time_column(titles, bare, time)
    chosen = _read_columns(columns or {}, titles, layout)
    left = [title for title in titles if title not in {clock, *chosen.values()}]
    wanted = [name for name in layout.coordinate_names if name not in {*chosen, *constant}]
    for name in sorted(wanted, key=len, reverse=True):
        matches = [title for title in left if _kind_of(bare[title], name) == "q"]
        if len(matches) > 1:
            raise ShapeError(
                f"columns {quoted(matches)} could all be the position of {name!r}; say which, with columns=..."
            )
        if matches:
            chosen[name] = matches[0]
            left.remove(matches[0])
    missing = [name for name in layout.coordinate_names if name not in {*chosen, *constant}]
    if len(missing) == len(wanted) == layout.nq:
        chosen |= _match_by_number(bare, left, layout, findings)
        missing = [name for name in missing if name not in chosen]
        left = [title for title in left if title not in chosen.values()]
    if missing:
        near = [close for name in missing for close in get_close_matches(name, left, 1, 0.5)]
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UnknownNameError(
            f"the recording has no column for {quoted(missing)}; {hint}its columns are {quoted(titles)}. Say which "
            "column it is, with columns=..., or where a joint stood that did not move, with constant=..."
        )
    unused = [title for title in left if title != clock]
    if unused:
        findings.stated.append(f"columns not used: {quoted(unused)}")
    return Matched(clock, chosen, stated, unused)


class StateColumns(NamedTuple):
    """The columns of whole states: of the time (None if there is none), and of q, qd and qdd in a robot's order."""

    time: str | None
    titles: dict[str, tuple[str, ...]]
    units: dict[str, str]
    """The unit of each column, in lower case, where its heading gives one."""


def match_states(
    names: Iterable[str], layout: Layout, *, columns: Mapping[str, str] | None = None, time: str | None = None
) -> StateColumns | None:
    """Find the columns of positions, velocities and accelerations; None where some are missing.

    columns: those that a user names, {"qd.elbow": "speed 3"}; positions by the coordinate alone too.
    """
    bare = {title: UNIT.sub("", title) for title in names}
    units = {title: (found[1] or found[2] or "").lower() for title in bare if (found := UNIT.search(title))}
    named = {name if name.partition(".")[0] in KINDS else f"q.{name}": title for name, title in (columns or {}).items()}
    by_kind: dict[str, tuple[str, ...]] = {}
    for kind in ("q", "qd", "qdd"):
        chosen = []
        for name in layout.coordinate_names if kind == "q" else layout.velocity_names:
            given = named.get(f"{kind}.{name}")
            exact = [title for title in (given, f"{kind}.{name}") if title in bare]
            fitting = exact or [title for title, text in bare.items() if _kind_of(text, name) == kind]
            if not fitting or (given is not None and given not in bare):
                return None
            if len(fitting) > 1 and not exact:
                raise ShapeError(
                    f"columns {quoted(fitting)} could all be {kind} of {name!r}; say which, with columns=..."
                )
            chosen.append(fitting[0])
        by_kind[kind] = tuple(chosen)
    return StateColumns(_time_column(list(bare), bare, time), by_kind, units)


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[^0-9a-zA-Z]+", text.lower()) if word]


def _kind_of(title: str, coordinate: str) -> str | None:
    """The quantity that a heading holds of a coordinate; None where it speaks of something else."""
    words, name = _words(title), _words(coordinate)
    for i in range(len(words) - len(name) + 1):
        if words[i : i + len(name)] == name:
            rest = [word for word in words[:i] + words[i + len(name) :] if word not in FILLERS]
            if not rest:
                return "q"
            kinds = [kind for kind, known in KINDS.items() if rest[0] in known]
            if len(rest) == 1 and kinds:
                return kinds[0]
    return None


def _time_column(titles: list[str], bare: Mapping[str, str], time: str | None) -> str | None:
    if time is not None:
        if time not in titles:
            raise UnknownNameError.of("column", time, titles, "the recording")
        return time
    for title in titles:
        if "".join(_words(bare[title])) in TIMES:
            return title
    return None


def _read_columns(columns: Mapping[str, str], titles: list[str], layout: Layout) -> dict[str, str]:
    """The columns that a user named, checked."""
    chosen: dict[str, str] = {}
    for name, title in columns.items():
        if name not in layout.coordinate_names:
            raise UnknownNameError.of("coordinate", name, layout.coordinate_names, "the robot")
        if title not in titles:
            raise UnknownNameError.of("column", title, titles, "the recording")
        if title in chosen.values():
            raise ShapeError(f"columns: {title!r} is named twice")
        chosen[name] = title
    return chosen


def _match_by_number(bare: Mapping[str, str], left: list[str], layout: Layout, findings: Findings) -> dict[str, str]:
    """Columns q1, q2, .. or joint_1, joint_2, .. by their place, where none has the name of a joint."""
    numbered: dict[int, str] = {}
    for title in left:
        found = re.fullmatch(r"(?:q|joint|axis|j|a|pos|position|angle|theta)[ _.]?\[?(\d+)\]?", bare[title].lower())
        if found:
            numbered.setdefault(int(found[1]), title)
    places = sorted(numbered)
    if places not in (list(range(layout.nq)), list(range(1, layout.nq + 1))):
        return {}
    in_order = [numbered[place] for place in places]
    findings.assumed.append(
        f"columns {quoted(in_order)} have no joint names: they are taken in the robot's order, "
        f"{quoted(layout.coordinate_names)}"
    )
    return dict(zip(layout.coordinate_names, in_order, strict=True))
