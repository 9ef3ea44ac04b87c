"""Activities: way-points of the hand and of the joints, read from a file that users may change.

The file that comes with chainrule, `activities.toml`, says in its head what each word means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeVar

from chainrule.arguments import as_list, flag, number, positive, real_array, refuse_nonfinite, whole_number, word
from chainrule.display.text import FieldsShown, Shown, Table
from chainrule.errors import FormatError, ShapeError, UnknownNameError, quoted, short_repr
from chainrule.study.tables import Reader, not_negative, read_toml, record, refuse_unknown, subtable, tables_of

Triple = tuple[float, float, float]
T = TypeVar("T")

FORMAT = 1
"""The version of the file that this reader knows."""

MAX_STROKES, MAX_REPEAT = 1000, 1000

FILE = "the file of activities"
"""What errors call it."""


@dataclass(frozen=True)
class ReachPoint:
    """A point that the hand goes to, in body heights: (forward, inward, up) from a point of the body."""

    by: Triple = (0.0, 0.0, 0.0)
    point: str | None = None
    """The point of the body; the shoulder if none is named."""
    reach: float | None = None
    """How far the hand may be from that point, in body heights, when it has arrived."""


@dataclass(frozen=True)
class Item:
    """Something that is held: a ball of this mass (kg) and radius (m) about the end of the hand."""

    mass: float
    radius: float = 0.0


@dataclass(frozen=True)
class WayPoint:
    """A place or a posture on the way, and how it is reached. Times in s."""

    to: str
    seconds: float
    pause: float = 0.0
    near: str | None = None
    """The posture that the arm stays near to where a place leaves it free."""
    joints: Mapping[str, float] | None = None
    """Angles of that posture that are different here, in degrees."""
    grasp: bool = False
    release: bool = False
    push: Triple | None = None
    """The force that the hand applies on the way there, in N: (forward, inward, up)."""
    strokes: int = 0
    stroke: Triple = (0.0, 0.0, 0.0)
    stroke_seconds: float = 0.0

    @property
    def duration(self) -> float:
        """From the way-point before to the end of the pause."""
        return self.seconds + self.pause + (self.strokes + 0.5) * self.stroke_seconds * bool(self.strokes)


@dataclass(frozen=True, repr=False)
class Activity(FieldsShown):
    """Way-points from a posture on."""

    number: int
    name: str
    title: str
    start: str
    way: tuple[WayPoint, ...]
    object: str | None = None
    repeat: int = 1
    """How often the way-points between the first and the last are gone through."""

    @property
    def duration(self) -> float:
        """Duration of the motion as the file says, in s."""
        return sum(point.duration for point in way_with_repeats(self.way, self.repeat))


def way_with_repeats(way: Sequence[T], times: int) -> list[T]:
    """A way whose parts between the first and the last are gone through so many times."""
    return [*way[:1], *list(way[1:-1]) * times, *way[1:][-1:]]


@dataclass(frozen=True, eq=False, repr=False)
class Activities(Shown, Mapping[str, Activity]):
    """Activities by name, with the postures, places and objects that they name."""

    by_name: Mapping[str, Activity]
    postures: Mapping[str, Mapping[str, float]]
    """Angles of joints, in degrees; those not named are at zero."""
    places: Mapping[str, ReachPoint]
    objects: Mapping[str, Item]

    def _view(self) -> Iterator[Table]:
        rows = [(one.number, one.name, one.title, one.duration) for one in self.by_name.values()]
        yield Table(("number", "name", "title", "duration, s"), rows)

    def __getitem__(self, name: str) -> Activity:
        if name not in self.by_name:
            raise UnknownNameError.of("activity", name, self.by_name, FILE)
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    @property
    def titles(self) -> dict[str, str]:
        """Titles by name."""
        return {name: activity.title for name, activity in self.by_name.items()}

    def choose(self, names: str | int | Sequence[str | int]) -> list[Activity]:
        """Activities by name, title or number, one or several with commas between, or "all".

        >>> [one.number for one in activities().choose("Comb hair, open drawer / close drawer, 24")]
        [18, 7, 24]
        """
        if isinstance(names, str) and words_of(names) == "all":
            return list(self.values())
        if isinstance(names, str):
            wanted: list[Any] = _separate(names, self.titles)
        else:
            wanted = [names] if isinstance(names, int) else as_list(names, "activities")
        if not wanted:
            raise ShapeError("activities: name at least one, or 'all'")
        by_number = {activity.number: activity for activity in self.values()}
        chosen = []
        for name in wanted:
            if isinstance(name, bool):
                raise ShapeError(f"activities are names or numbers, got {name}")
            key = int(name) if isinstance(name, str) and name.isdecimal() else name
            if isinstance(key, int) and key not in by_number:
                raise UnknownNameError(
                    f"there is no activity number {key}; there are {min(by_number)} to {max(by_number)}"
                )
            activity = by_number[key] if isinstance(key, int) else self[_name_of(key, self.titles)]
            if activity not in chosen:
                chosen.append(activity)
        return chosen


def words_of(name: str) -> str:
    """A name or a title as it is compared: its words in lower case, without punctuation."""
    return " ".join(re.findall(r"[^\W_]+", name.lower()))


def find_activity(asked: Any, titles: Mapping[str, str], where: str) -> str | None:
    """The name of the activity that has this name or title, whatever its case and punctuation."""
    if not isinstance(asked, str) or asked in titles:
        return asked if isinstance(asked, str) else None
    wanted = words_of(asked)
    for names in (titles, titles.values()):
        found = [name for name, compared in zip(titles, names, strict=True) if wanted and words_of(compared) == wanted]
        if len(found) > 1:
            raise UnknownNameError(f"{short_repr(asked)} stands for {quoted(found)} of {where}: say which by its name")
        if found:
            return found[0]
    return None


def _name_of(asked: Any, titles: Mapping[str, str]) -> str:
    name = find_activity(asked, titles, FILE)
    if name is None:
        raise UnknownNameError.of("activity", asked, titles, FILE)
    return name


def _separate(text: str, titles: Mapping[str, str]) -> list[str]:
    """Names and titles with commas between; of titles that have commas themselves, the longest that is one."""
    words, found = [word.strip() for word in text.split(",")], []
    while words:
        ends = range(len(words), 1, -1)
        end = next((k for k in ends if find_activity(", ".join(words[:k]), titles, FILE)), 1)
        found.append(", ".join(words[:end]))
        words = words[end:]
    return [word for word in found if word]


def activities(path: str | PathLike[str] | None = None) -> Activities:
    """The activities of a file, the 24 of daily living if none is named.

    >>> daily = activities()
    >>> len(daily), daily["drink_with_cup"].title
    (24, 'Drink with cup')
    """
    name, table = read_toml(path, "activities.toml", "activities")
    return _read(table, name)


def _read(table: Mapping[str, Any], file: str) -> Activities:
    """The file's content, each word known and each number finite."""
    refuse_unknown(table, ("format", "postures", "places", "objects", "activity"), file)
    if table.get("format") != FORMAT:
        raise FormatError(f"{file}: format must be {FORMAT}, got {short_repr(table.get('format'))}")
    postures = {
        name: _angles(value, f"{file}: postures.{name}") for name, value in subtable(table, "postures", file).items()
    }
    places = {
        name: record(ReachPoint, value, f"{file}: places.{name}", READERS, {"from": "point"})
        for name, value in subtable(table, "places", file).items()
    }
    objects = {
        name: record(Item, value, f"{file}: objects.{name}", READERS)
        for name, value in subtable(table, "objects", file).items()
    }
    written = tables_of(table, "activity", file)
    if not written:
        raise FormatError(f"{file}: there must be at least one [[activity]]")
    by_name: dict[str, Activity] = {}
    for k, value in enumerate(written, start=1):
        activity = record(Activity, value, f"{file}: activity {k}", READERS)
        if activity.name in by_name or activity.number in {a.number for a in by_name.values()}:
            raise FormatError(
                f"{file}: activity {k}: name {activity.name!r} and number {activity.number} must be its own"
            )
        by_name[activity.name] = activity
    both = sorted(postures.keys() & places.keys())
    if both:
        raise FormatError(f"{file}: {quoted(both)} names a posture and a place; give one of the two another name")
    content = Activities(by_name, postures, places, objects)
    for activity in by_name.values():
        _refuse_missing(activity, content, file)
    return content


def _refuse_missing(activity: Activity, content: Activities, file: str) -> None:
    """Refuse names that the file does not explain, and objects that are grasped twice or not at all."""
    where = f"{file}: activity {activity.name!r}"
    known = {**content.postures, **content.places}
    named: list[tuple[str, Mapping[str, object], str]] = [(activity.start, content.postures, "posture")]
    if activity.object is not None:
        named.append((activity.object, content.objects, "object"))
    if activity.repeat > 1 and len(activity.way) < 3:
        raise FormatError(f"{where}: repeat needs way-points between the first and the last")
    for point in activity.way:
        named.append((point.to, known, "place or posture"))
        if point.near is not None:
            named.append((point.near, content.postures, "posture"))
        if point.to in content.places and point.near is None:
            raise FormatError(
                f"{where}: the way-point to {point.to!r} needs near = a posture that the arm stays near to"
            )
        if point.strokes and point.to not in content.places:
            raise FormatError(f"{where}: strokes are made at a place, and {point.to!r} is a posture")
        if point.strokes and not point.stroke_seconds > 0:
            raise FormatError(f"{where}: strokes at {point.to!r} need stroke_seconds, a positive number")
    for name, where_known, what in named:
        if name not in where_known:
            raise FormatError(str(UnknownNameError.of(what, name, where_known, where)))
    grasps = [point.grasp for point in activity.way].count(True)
    releases = [point.release for point in activity.way].count(True)
    if (grasps, releases) not in ((0, 0), (1, 1)) or (grasps and activity.object is None):
        raise FormatError(f"{where}: an object is named once, grasped at one way-point and released at another one")


def _angles(value: Any, where: str) -> Mapping[str, float]:
    """Degrees by joint."""
    if not isinstance(value, dict):
        raise FormatError(f"{where} must be a table of angles in degrees, got {short_repr(value)}")
    return {joint: number(angle, f"{where}: {joint}") for joint, angle in value.items()}


def _triple(value: Any, where: str) -> Triple:
    array = real_array(value, where)
    if array.shape != (3,):
        raise FormatError(f"{where} must be three numbers: forward, inward, up; got {short_repr(value)}")
    refuse_nonfinite(array, where)
    return (float(array[0]), float(array[1]), float(array[2]))


def _way(value: Any, where: str) -> tuple[WayPoint, ...]:
    if not isinstance(value, list) or not value:
        raise FormatError(f"{where} must be a list of way-points, got {short_repr(value)}")
    return tuple(record(WayPoint, point, f"{where} {k}", READERS) for k, point in enumerate(value, start=1))


def _seconds(value: Any, where: str) -> float:
    return positive(value, where, "a positive number of seconds", FormatError)


READERS: Mapping[str, Reader] = {
    "by": _triple, "point": word, "reach": not_negative, "mass": not_negative, "radius": not_negative,
    "to": word, "seconds": _seconds, "pause": not_negative, "near": word, "joints": _angles, "grasp": flag,
    "release": flag, "push": _triple, "strokes": lambda x, where: whole_number(x, where, 0, MAX_STROKES),
    "stroke": _triple, "stroke_seconds": _seconds, "number": lambda x, where: whole_number(x, where, 1),
    "name": word, "title": word, "start": word, "object": word, "way": _way,
    "repeat": lambda x, where: whole_number(x, where, 1, MAX_REPEAT),
}  # fmt: skip
"""How the value of each key is read."""
