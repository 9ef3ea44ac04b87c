"""Named configurations of a robot: "home", "ready", "stand"."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from chainrule.errors import ModelError, UnknownNameError, short_repr
from chainrule.model.layout import Coordinate, Layout
from chainrule.model.tree import refuse_duplicates

HOME = "home"
"""The configuration that robots start from."""


@dataclass(frozen=True)
class Configuration:
    """A configuration with a name: pairs of a coordinate's name and its number, in rad or m.

    Coordinates that are not listed are at their neutral value: zero, or that of a unit quaternion.

    >>> Configuration("ready", (("shoulder", 0.3), ("elbow", -1.2))).positions
    (('shoulder', 0.3), ('elbow', -1.2))
    """

    name: str
    positions: tuple[tuple[str, float], ...] = ()

    def coordinates(self, layout: Layout) -> list[float]:
        """The numbers of q, in order."""
        given = dict(self.positions)
        return [float(given.get(coordinate.name, coordinate.neutral)) for coordinate in layout.coordinates]

    def restrict(self, coordinates: Collection[str]) -> Configuration:
        """The same configuration of a robot that has only these coordinates left."""
        return replace(self, positions=tuple(pair for pair in self.positions if pair[0] in coordinates))


def sort_positions(configuration: Configuration, layout: Layout) -> Configuration:
    """The same configuration with its coordinates in the robot's order."""
    given = dict(configuration.positions)
    positions = tuple((name, float(given[name])) for name in layout.coordinate_names if name in given)
    return replace(configuration, positions=positions)


def join(first: Sequence[Configuration], second: Sequence[Configuration]) -> tuple[Configuration, ...]:
    """Configurations of a robot made of two.

    Each part takes its own configuration of the name, or else its home, or else stays neutral.
    """
    tables = [{c.name: c.positions for c in part} for part in (first, second)]
    names = dict.fromkeys(name for table in tables for name in table)
    return tuple(
        Configuration(name, tuple(pair for table in tables for pair in table.get(name, table.get(HOME, ()))))
        for name in names
    )


def inside_limits(coordinate: Coordinate) -> float:
    """The neutral value of a coordinate, or where its limits exclude that, the middle between them or the only one."""
    lower, upper, neutral = float(coordinate.lower), float(coordinate.upper), float(coordinate.neutral)
    if lower <= neutral <= upper:
        return neutral
    if math.isfinite(lower) and math.isfinite(upper):
        return lower / 2 + upper / 2
    return min(max(neutral, lower), upper)


def home_positions(layout: Layout, configurations: Iterable[Configuration]) -> dict[str, float]:
    """The position of each coordinate at home: as the configuration "home" says, or else neutral inside the limits."""
    for configuration in configurations:
        if configuration.name == HOME:
            return dict(zip(layout.coordinate_names, configuration.coordinates(layout), strict=True))
    return {coordinate.name: inside_limits(coordinate) for coordinate in layout.coordinates}


def refuse_bad_configurations(configurations: Iterable[Configuration], layout: Layout, where: str) -> None:
    """Refuse configurations with the same name, with unknown coordinates, or with numbers that are no position."""
    configurations = list(configurations)
    refuse_duplicates("configuration", [configuration.name for configuration in configurations], where)
    for configuration in configurations:
        here = f"{where}, configuration {configuration.name!r}"
        names = [name for name, _ in configuration.positions]
        refuse_duplicates("position", names, here)
        for name, position in configuration.positions:
            if name not in layout.coordinate_names:
                raise UnknownNameError.of("coordinate", name, layout.coordinate_names, f"{here}: the robot")
            if not isinstance(position, (int, float)) or not math.isfinite(position):
                raise ModelError(f"{here}: {name!r} must be a finite number, got {short_repr(position)}")
        q = configuration.coordinates(layout)
        for joint, start in layout.quaternions:
            if not any(q[start : start + 4]):
                raise ModelError(
                    f"{here}: the quaternion of joint {joint!r} is zero, which is no orientation; (0, 0, 0, 1) turns "
                    "nothing"
                )
