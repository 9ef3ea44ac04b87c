"""Columns of a recording: which one holds which coordinate of a robot, and in which unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from chainrule.errors import ShapeError, UnknownNameError, quoted, short_repr
from chainrule.model import Layout
from chainrule.model.layout import Coordinate, Velocity
from chainrule.motion.findings import Findings
from chainrule.motion.units import MAX_HEADING, NO_UNIT, RATES, SECONDS, factor_of, spell_unit, split_heading, units_for

KINDS = {
    "q": ("q", "pos", "position", "positions", "angle", "angles", "value"),
    "qd": ("qd", "dq", "qdot", "vel", "velocity", "velocities", "speed", "u"),
    "qdd": ("qdd", "ddq", "qddot", "acc", "acceleration", "accelerations"),
    "tau": ("tau", "torque", "torques", "effort", "efforts", "moment", "force", "current"),
}
"""Words of headings for each quantity."""

FILLERS = (
    "joint", "joints", "states", "state", "actual", "measured", "data", "robot", "arm", "jointset", "header", "field",
)  # fmt: skip
"""Words of headings that say nothing."""

TIMES = ("t", "time", "times", "timestamp", "stamp", "secs", "seconds", "rosbagtimestamp", "elapsed")

EFFORT_UNITS = ("nm", "n m", "n*m", "n.m", "nmm", "n")

NUMBERED = re.compile(r"((?:joints?|axis|j)?(?:q|pos|positions?|angles?|theta|value)?)(\d+)(?:pos|position|angle|q)?")
"""Words of a heading, without blanks, that counts joints; accelerations are often a1, a2, .., which it is not for."""

OPENSIM = re.compile(r"/?jointset/[^/]+/([^/]+)/(value|speed)", re.IGNORECASE)
"""The heading of a coordinate in the tables of OpenSim 4: with the joint's name before the coordinate's."""


class ColumnHeading(NamedTuple):
    """A heading, and what it says of a unit."""

    title: str
    bare: str
    """Without the unit."""
    own: str | None
    """The unit in it."""
    line: str | None
    """The unit that a line of units, or the object that the column comes from, says."""

    @classmethod
    def of(cls, title: str, unit: str | None = None) -> ColumnHeading:
        """The heading of a column; `unit` is that of a line of units or of an object."""
        bare, own = split_heading(title)
        line = None if unit is None or spell_unit(unit) in NO_UNIT else spell_unit(unit)
        if own not in (None, *NO_UNIT) and line not in (None, own):
            raise ShapeError(f"column {title!r} says {own!r}, and the line of units says {line!r}; mend one of them")
        return cls(title, bare, own, line)

    @property
    def unit(self) -> str | None:
        """The unit that is stated."""
        return self.own if self.line is None else self.line

    def unit_of(self, coordinate: str) -> str:
        """The unit of a coordinate's column; what looks like one at the end of the coordinate's own name is none."""
        is_named_so = _kind_of(self.title, coordinate) and not _kind_of(self.bare, coordinate)
        return (self.line if is_named_so else self.unit) or ""

    def kind(self, coordinate: str) -> str | None:
        """The quantity that it holds of a coordinate, "q", "qd", "qdd" or "tau"; None where it speaks of other things.

        A name that ends like a unit, such as "joint_s", is a name.
        """
        bare = _kind_of(self.bare, coordinate)
        return self._kind_by_unit(bare) if bare else _kind_of(self.title, coordinate)

    def _kind_by_unit(self, kind: str | None) -> str | None:
        if kind != "q" or self.unit is None:
            return kind
        if self.unit in SECONDS:
            return None
        if self.unit in EFFORT_UNITS:
            return "tau"
        order = next((i for i in (2, 1) if self.unit.endswith(RATES[i])), 0)
        return ("q", "qd", "qdd")[order]


class Matched(NamedTuple):
    """The column of the time (None if there is none) and of each coordinate, and units where headings give them."""

    time: str | None
    coordinates: dict[str, str]
    """The column of each coordinate, by the coordinate's name."""
    units: dict[str, str]
    """The unit of each of these columns, "" where it is not stated."""
    reasons: dict[str, str]
    """Why each coordinate has its column."""


def match_columns(
    names: Iterable[str],
    layout: Layout,
    findings: Findings,
    *,
    columns: Mapping[str, str] | None = None,
    time: str | None = None,
    units: Mapping[str, str] | None = None,
    constant: Iterable[str] = (),
    others_stand: bool = False,
    left_out: Sequence[str] = (),
) -> Matched:
    """Find the columns of a robot's coordinates, by the names that are given, or by what headings say.

    others_stand: whether coordinates without a column stand still, once any has one.
    left_out: columns that hold no numbers, for messages.
    """
    titles = list(names)
    longest = max(titles, key=len, default="")
    if len(longest) > MAX_HEADING:
        raise ShapeError(f"a column's heading has {len(longest)} letters, {short_repr(longest)}; headings are names")
    headings = {title: ColumnHeading.of(title, (units or {}).get(title)) for title in titles}
    clock = _time_column(list(headings.values()), time)
    chosen = _read_columns(columns or {}, list(headings), layout)
    reasons = dict.fromkeys(chosen, "as columns=... says")
    left = [title for title in headings if title not in {clock, *chosen.values()}]
    wanted = [name for name in layout.coordinate_names if name not in {*chosen, *constant}]
    for name in sorted(wanted, key=len, reverse=True):
        matches = [title for title in left if headings[title].kind(name) == "q"]
        if len(matches) > 1:
            raise ShapeError(
                f"columns {quoted(matches)} could all be the position of {name!r}; say which, with columns=..."
            )
        if matches:
            chosen[name], reasons[name] = matches[0], "by its name"
            left.remove(matches[0])
    missing = [name for name in layout.coordinate_names if name not in {*chosen, *constant}]
    if len(missing) == len(wanted) == layout.nq:
        numbered = _match_by_number([headings[title] for title in left], layout, findings)
        chosen |= numbered
        reasons |= dict.fromkeys(numbered, "by its number")
        missing = [name for name in missing if name not in chosen]
        left = [title for title in left if title not in chosen.values()]
    if missing and not (others_stand and chosen):
        near = [close for name in missing for close in get_close_matches(name, left, 1, 0.5)]
        hint = f"did you mean {near[0]!r}? " if near else ""
        wordy = f" (columns without numbers are left out: {quoted(left_out)})" if left_out else ""
        raise UnknownNameError(
            f"the recording has no column for {quoted(missing)}; {hint}its columns are {quoted(headings)}{wordy}. Say "
            "which column it is, with columns=..., or where a joint stood that did not move, with constant=...; with "
            "constant='neutral' all others stand as in the neutral configuration"
        )
    if left:
        findings.assume("columns not used", quoted(left))
    stated = {title: headings[title].unit_of(name) for name, title in chosen.items()}
    if clock is not None:
        stated[clock] = headings[clock].unit or ""
    return Matched(clock, chosen, stated, reasons)


def match_torques(
    names: Iterable[str],
    layout: Layout,
    columns: Mapping[str, str],
    units: Mapping[str, str],
    findings: Findings,
) -> dict[str, float]:
    """The column of each joint's torque or motor current, and its factor to N m, N or A.

    columns: those that a user names, by joint.
    """
    headings = {title: ColumnHeading.of(title, units.get(title)) for title in names}
    chosen: dict[str, float] = {}
    for name in layout.velocity_names:
        given = columns.get(name)
        found = [given] if given else [title for title, heading in headings.items() if heading.kind(name) == "tau"]
        if len(found) != 1 or found[0] not in headings:
            what = f"columns {quoted(found)} could all hold" if len(found) > 1 else "the recording has no column of"
            raise UnknownNameError(
                f"{what} the torque of {name!r}; there are {quoted(headings)}. Say which, with tau={{{name!r}: ...}}"
            )
        (title,) = found
        if title in chosen:
            raise ShapeError(f"tau: column {title!r} is that of two joints")
        unit = headings[title].unit or ""
        findings.assume(f"torque of {name}", f"column {title!r}" + (f" in {unit}" if unit not in NO_UNIT else ""))
        chosen[title] = {"nmm": 1e-3, "ma": 1e-3}.get(unit, 1.0)
    return chosen


class StateColumns(NamedTuple):
    """The columns of whole states: of the time (None if there is none), and of q, qd and qdd in a robot's order."""

    time: str | None
    titles: dict[str, tuple[str, ...]]
    units: dict[str, str]
    """The unit of each of these columns, "" where its heading gives none."""


def match_states(
    names: Iterable[str], layout: Layout, *, columns: Mapping[str, str] | None = None, time: str | None = None
) -> StateColumns | None:
    """Find the columns of positions, velocities and accelerations; None where some are missing.

    columns: those that a user names, {"qd.elbow": "speed 3"}; positions by the coordinate alone too.
    """
    headings = {title: ColumnHeading.of(title) for title in names}
    named = {name if name.partition(".")[0] in KINDS else f"q.{name}": title for name, title in (columns or {}).items()}
    by_kind: dict[str, tuple[str, ...]] = {}
    units: dict[str, str] = {}
    for kind in ("q", "qd", "qdd"):
        chosen = []
        for name in layout.coordinate_names if kind == "q" else layout.velocity_names:
            given = named.get(f"{kind}.{name}")
            exact = [title for title in (given, f"{kind}.{name}") if title in headings]
            fitting = exact or [title for title, heading in headings.items() if heading.kind(name) == kind]
            if not fitting or (given is not None and given not in headings):
                return None
            if len(fitting) > 1 and not exact:
                raise ShapeError(
                    f"columns {quoted(fitting)} could all be {kind} of {name!r}; say which, with columns=..."
                )
            chosen.append(str(fitting[0]))
            units[chosen[-1]] = headings[chosen[-1]].unit_of(name)
        by_kind[kind] = tuple(chosen)
    return StateColumns(_time_column(list(headings.values()), time), by_kind, units)


def stated_factors(
    places: Sequence[Coordinate | Velocity],
    titles: Sequence[str],
    units: Mapping[str, str],
    degrees: bool | None,
    order: int = 0,
) -> list[float | None]:
    """The factor to SI of each column, None where nobody has said whether it is in degrees.

    places: what the columns hold, derivatives of this order. degrees: what a user, or a file's header, says of all.
    """
    factors: list[float | None] = []
    for place, title in zip(places, titles, strict=True):
        unit, base = units.get(title, ""), place.unit
        if base == "1" or (base == "m" and unit in NO_UNIT):
            factors.append(1.0)
        elif unit in NO_UNIT:
            whole = {None: None, True: "deg", False: "rad"}[degrees]
            factors.append(None if whole is None else factor_of(whole, "rad"))
        else:
            factor = factor_of(unit, base, order)
            if factor is None:
                what = "an angle" if base == "rad" else "a length"
                raise ShapeError(
                    f"column {title!r} holds {what}{', differentiated' * bool(order)}, and its unit is {unit!r}; it "
                    f"should be {units_for(base, order)}"
                )
            if base == "rad" and degrees is not None and degrees is not unit.startswith("deg"):
                raise ShapeError(
                    f"column {title!r} says {unit!r}, and degrees={degrees} says the opposite; leave out degrees=..., "
                    "or mend the heading"
                )
            factors.append(factor)
    _refuse_mixtures(titles, factors, units)
    return factors


def _refuse_mixtures(titles: Sequence[str], factors: Sequence[float | None], units: Mapping[str, str]) -> None:
    """Raise where some headings say that an angle is in degrees, and others say nothing."""
    silent = [title for title, factor in zip(titles, factors, strict=True) if factor is None]
    in_degrees = [title for title in titles if units.get(title, "").startswith("deg")]
    if silent and in_degrees:
        raise ShapeError(
            f"column {in_degrees[0]!r} is in degrees, and nothing says what {quoted(silent)} are in; say degrees=True "
            "if all are in degrees, or put the unit of each into its heading"
        )


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[^0-9a-zA-Z]+", text.lower()) if word]


def _kind_of(title: str, coordinate: str) -> str | None:
    """The quantity that a heading holds of a coordinate; None where it speaks of something else."""
    path = OPENSIM.fullmatch(title.strip())
    if path:
        return ("q" if path[2].lower() == "value" else "qd") if _words(path[1]) == _words(coordinate) else None
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


def is_time(title: str) -> bool:
    """Whether a heading is that of times."""
    bare, _ = split_heading(title)
    return "".join(word for word in _words(bare) if word not in FILLERS) in TIMES


def _time_column(headings: Sequence[ColumnHeading], time: str | None) -> str | None:
    titles = [heading.title for heading in headings]
    if time is not None:
        if time not in titles:
            raise UnknownNameError.of("column", time, titles, "the recording")
        return time
    found = [heading.title for heading in headings if is_time(heading.title)]
    if len(found) > 1:
        raise ShapeError(f"columns {quoted(found)} could all be the times; say which, with time=...")
    return found[0] if found else None


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


def _match_by_number(left: Sequence[ColumnHeading], layout: Layout, findings: Findings) -> dict[str, str]:
    """Columns q1, q2, .. or joint_1, joint_2, .. by their numbers, where none has the name of a joint."""
    sets: dict[str, dict[int, list[str]]] = {}
    for heading in left:
        words = _words(heading.bare)
        said = [word for word in words if word not in FILLERS or word in ("joint", "joints")]
        found = NUMBERED.fullmatch("".join(said))
        if found and found[1] and heading._kind_by_unit("q") == "q":
            sets.setdefault(found[1], {}).setdefault(int(found[2]), []).append(heading.title)
    whole = [
        [title for number in sorted(titles) for title in titles[number]]
        for titles in sets.values()
        if sorted(titles) in (list(range(layout.nq)), list(range(1, layout.nq + 1)))
    ]
    if not whole:
        return {}
    if len(whole) > 1 or len(whole[0]) > layout.nq:
        raise ShapeError(
            f"columns {quoted([title for titles in whole for title in titles])} could all be positions in the robot's "
            "order; say which, with columns=..."
        )
    (in_order,) = whole
    findings.assume(
        "columns",
        quoted(in_order),
        f"they have no joint names, and are taken in the robot's order, {quoted(layout.coordinate_names)}",
        is_doubtful=True,
    )
    return dict(zip(layout.coordinate_names, in_order, strict=True))
