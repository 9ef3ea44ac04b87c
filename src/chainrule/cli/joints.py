"""Joint values on the command line: numbers, names with numbers, or a named configuration; and what is printed of them.

`--q 0,0.5,1`, `--q elbow=0.5,wrist=1` and `--q ready` all name a configuration: coordinates that are not named are
where the robot is at home. Velocities, torques and gains that are not named have a default of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.cli.console import ConsoleTable
from chainrule.core.plausibility import warn_of_degrees
from chainrule.errors import UnknownNameError, visible

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

NEUTRAL = "neutral"
HOME = "home"
"""Names of configurations that every robot has: of zeros and unit quaternions, and the one to start from."""


@dataclass(frozen=True)
class JointValues:
    """The value of an option: numbers in order, or some by name, after the name of a configuration or without one."""

    option: str
    numbers: tuple[float, ...] = ()
    named: Mapping[str, float] = field(default_factory=dict)
    configuration: str | None = None

    def refuse(self, message: str) -> click.BadParameter:
        """The error for a value that does not fit the robot."""
        return click.BadParameter(message, param_hint=f"'{self.option}'")


class JointValuesType(click.ParamType[object]):
    """Joint values as they are typed; `configurations` where the name of a configuration is one."""

    name = "values"

    def __init__(self, *, configurations: bool) -> None:
        self.configurations = configurations

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> JointValues:
        """The numbers and names."""
        if isinstance(value, JointValues):
            return value
        option = param.opts[0] if param is not None else self.name
        words = _words(str(value))
        if not words:
            self.fail("there are no numbers", param, ctx)
        numbers = [_number(word) for word in words]
        if all(number is not None for number in numbers):
            return JointValues(option, tuple(number for number in numbers if number is not None))
        if len(words) > 1 and "=" not in str(value) and any(number is not None for number in numbers):
            wrong = words[numbers.index(None)]
            self.fail(f"{wrong!r} is not a number{_unit_hint(wrong)}", param, ctx)
        named: dict[str, float] = {}
        configuration = None
        for k, word in enumerate(words):
            name, separator, text = word.rpartition("=")
            number = _number(text)
            if separator and number is not None and name.strip():
                if name.strip() in named:
                    self.fail(f"{name.strip()!r} is given twice", param, ctx)
                named[name.strip()] = number
            elif k == 0 and not separator and self.configurations and numbers[0] is None and not _unit_hint(word):
                configuration = word
            else:
                self.fail(f"{word!r} is neither a number nor {self._expectation()}{_unit_hint(word)}", param, ctx)
        return JointValues(option, (), named, configuration)

    def _expectation(self) -> str:
        pair = "a name with a number, such as elbow=0.5"
        return f"the name of a configuration, nor {pair}" if self.configurations else pair


CONFIGURATION = JointValuesType(configurations=True)
"""Positions: numbers, names with numbers, or the name of a configuration."""

JOINT_VALUES = JointValuesType(configurations=False)
"""Velocities, accelerations, torques or gains: numbers, or names with numbers."""


def _words(text: str) -> list[str]:
    """The parts of what was typed: between commas, or between spaces where that is clear."""
    if "=" not in text:
        return text.replace(",", " ").split()
    parts = [part.strip() for part in text.split(",")]
    return [word for part in parts for word in (part.split() if part.count("=") > 1 else [part]) if word]


def _unit_hint(word: str) -> str:
    """Advice for a number that has a unit."""
    unit = re.fullmatch(r"(?:.*=)?[-+.\d]+\s*(deg\w*|°|rad\w*|m|mm|cm)", word)
    if unit is None:
        return ""
    angles = unit[1].startswith(("deg", "°"))
    return "; give --degrees, and the number alone" if angles else "; give the number alone, in rad or m"


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def positions(robot: Robot, values: JointValues | None, *, degrees: bool = False) -> Array:
    """A configuration q (nq,) in rad and m: home where nothing is given."""
    if values is None:
        return robot.home()
    names, angles = robot.model.layout.coordinate_names, angle_coordinates(robot)
    base = _configuration(robot, values)
    q = _fill(robot, values, "coordinates", names, base, angles & degrees)
    if not degrees:
        warn_of_degrees(robot, q, "")
    return q


def velocities(robot: Robot, values: JointValues | None, *, degrees: bool = False) -> Array:
    """Velocities or accelerations (nv,) in rad/s and m/s: zero where none are given."""
    return forces(robot, values, np.where(angle_velocities(robot) & degrees, np.pi / 180, 1.0))


def forces(robot: Robot, values: JointValues | None, scale: Array | float = 1.0) -> Array:
    """One number for each degree of freedom (nv,): zero where none are given."""
    zero = np.zeros(robot.nv)
    if values is None:
        return zero
    return _fill(robot, values, "degrees of freedom", robot.model.layout.velocity_names, zero) * scale


def gains(robot: Robot, values: JointValues | None) -> Any:
    """Gains as controllers take them: one for all joints, one for each degree of freedom, or some by name."""
    if values is None or len(values.numbers) == 1:
        return None if values is None else values.numbers[0]
    if values.numbers:
        return forces(robot, values)
    known = dict.fromkeys((*robot.model.layout.velocity_names, *robot.model.layout.joint_names))
    for name in values.named:
        if name not in known:
            raise values.refuse(str(UnknownNameError.of("joint", name, known, f"robot {robot.name!r}")))
    return dict(values.named)


def _configuration(robot: Robot, values: JointValues) -> Array:
    """The configuration that the values begin with, or home."""
    name = values.configuration
    if name is None or name == HOME:
        return robot.home()
    if name in robot.configurations:
        return np.array(robot.configurations[name])
    if name == NEUTRAL:
        return robot.neutral()
    known = (*robot.configurations, HOME, NEUTRAL)
    raise values.refuse(str(UnknownNameError.of("configuration", name, known, f"robot {robot.name!r}")))


def _fill(
    robot: Robot,
    values: JointValues,
    what: str,
    names: Sequence[str],
    base: Array,
    in_degrees: NDArray[np.bool_] | None = None,
) -> Array:
    """The numbers in order, or `base` with the named ones in their places; angles become radians."""
    scale = np.ones(len(names)) if in_degrees is None else np.where(in_degrees, np.pi / 180, 1.0)
    if values.numbers:
        if len(values.numbers) != len(names):
            given = f"{len(values.numbers)} number{'s' if len(values.numbers) > 1 else ''}"
            raise values.refuse(
                f"robot {robot.name!r} has {len(names)} {what} ({', '.join(names)}), got {given}; "
                f"or name some of them, such as {values.option} {names[-1]}=0.5"
                if names
                else f"robot {robot.name!r} has no {what}, got {given}"
            )
        return np.array(values.numbers) * scale
    filled = np.array(base, dtype=float)
    for name, number in values.named.items():
        if name not in names:
            raise values.refuse(str(UnknownNameError.of("coordinate", name, names, f"robot {robot.name!r}")))
        k = names.index(name)
        filled[k] = number * scale[k]
    return filled


def angle_coordinates(robot: Robot) -> NDArray[np.bool_]:
    """Mask of the coordinates that are angles: (nq,)."""
    return np.array([coordinate.unit == "rad" for coordinate in robot.model.layout.coordinates], dtype=bool)


def angle_velocities(robot: Robot) -> NDArray[np.bool_]:
    """Mask of the velocities of angles, those of quaternions too: (nv,)."""
    return np.array([velocity.unit == "rad" for velocity in robot.model.layout.velocities], dtype=bool)


def in_shown_units(robot: Robot, q: Array, *, degrees: bool) -> Array:
    """Configurations (..., nq) as they are printed."""
    return np.where(angle_coordinates(robot), np.degrees(q), q) if degrees else q


def velocities_in_shown_units(robot: Robot, qd: Array, *, degrees: bool) -> Array:
    """Velocities or accelerations (..., nv) as they are printed."""
    return np.where(angle_velocities(robot), np.degrees(qd), qd) if degrees else qd


def coordinate_units(robot: Robot, *, degrees: bool) -> list[str]:
    """The unit of each number of q, as it is printed."""
    return ["deg" if degrees and c.unit == "rad" else c.unit for c in robot.model.layout.coordinates]


def velocity_units(robot: Robot, *, degrees: bool) -> list[str]:
    """The unit of each number of qd, as it is printed."""
    return [("deg" if degrees and v.unit == "rad" else v.unit) + "/s" for v in robot.model.layout.velocities]


def force_units(robot: Robot) -> list[str]:
    """The unit of each torque or force."""
    return ["N m" if velocity.unit == "rad" else "N" for velocity in robot.model.layout.velocities]


def describe_positions(robot: Robot, q: Array, *, degrees: bool) -> dict[str, Any]:
    """A configuration, or several, as JSON has it: names, units and numbers of the coordinates."""
    units = coordinate_units(robot, degrees=degrees)
    return {
        "coordinates": [*robot.coordinate_names], "units": units, "q": in_shown_units(robot, q, degrees=degrees),
    }  # fmt: skip


def joint_table(
    first: str, names: Sequence[str], units: Sequence[str], columns: Mapping[str, Iterable[str]]
) -> ConsoleTable:
    """A row for each coordinate or velocity, whose name is headed by `first`; columns by their headings."""
    table = ConsoleTable(first, "unit", *columns)
    for name, unit, *texts in zip(names, units, *columns.values(), strict=True):
        table.add_row(name, unit, *texts)
    return table


def joint_lines(robot: Robot, q: Array, *, degrees: bool) -> str:
    """A line for each coordinate: its name, number and unit."""
    names, units = map(visible, robot.model.layout.coordinate_names), coordinate_units(robot, degrees=degrees)
    rows = [*zip(names, in_shown_units(robot, q, degrees=degrees), units, strict=True)]
    width = max((len(name) for name, _, _ in rows), default=0)
    return "\n".join(
        f"  {name:<{width}} {x + 0.0: 11.6f} {'' if unit == '1' else unit}".rstrip() for name, x, unit in rows
    )
