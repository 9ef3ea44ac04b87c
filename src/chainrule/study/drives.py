"""Drives: a motor and a gear, from a catalogue, and what they can deliver at a joint.

A drive has a motor side and a gear side, with the ratio N between them. The gear carries the torque tau on the link,
and its losses grow with it: the motor gives tau / (N eta) for it where the drive moves the link, and tau eta / N where
the link moves the drive. The rotor and the gear's input turn on the motor side, with the inertia J and the no-load
torque f of the gear; what turns them does not pass the gear, and does not load it:

    motor torque = J N qdd + f sign(qd) + tau / N (1 / eta if tau qd >= 0 else eta)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from chainrule.arguments import Array, number, positive, word
from chainrule.display.text import FieldsShown, Shown, Table
from chainrule.errors import FormatError, UnknownNameError
from chainrule.lazy import cached_property
from chainrule.study.tables import Reader, not_negative, read_toml, record, refuse_unknown, tables_of

FORMAT = 1
"""The version of the file that this reader knows."""


@dataclass(frozen=True, repr=False)
class Motor(FieldsShown):
    """A motor, in SI units."""

    name: str
    source: str
    mass: float
    voltage: float
    torque_constant: float
    """In N m/A, and in V s/rad."""
    resistance: float
    rotor_inertia: float
    continuous_torque: float
    peak_torque: float
    max_speed: float
    cost: float | None = None
    gear: str | None = None
    """The gear that is built in."""

    def available_torque(self, speed: Array) -> Array:
        """The largest driving torque at a speed (rad/s): what the voltage allows after the back-EMF, up to the peak."""
        left = (self.voltage - self.torque_constant * np.abs(speed)) * self.torque_constant / self.resistance
        return np.minimum(self.peak_torque, np.maximum(left, 0.0))


@dataclass(frozen=True, repr=False)
class Gear(FieldsShown):
    """A gear, in SI units; torques at its output, inertia and no-load torque at its input."""

    name: str
    source: str
    ratio: float
    efficiency: float
    mass: float
    rated_torque: float
    peak_torque: float
    max_input_speed: float
    inertia: float = 0.0
    no_load_torque: float = 0.0
    cost: float | None = None


@dataclass(frozen=True, repr=False)
class Drive(FieldsShown):
    """A motor with a gear."""

    motor: Motor
    gear: Gear

    @property
    def name(self) -> str:
        """Both names, or that of the motor where the gear is built in."""
        return self.motor.name if self.motor.gear else f"{self.motor.name} + {self.gear.name}"

    @property
    def mass(self) -> float:
        """Mass of motor and gear, in kg."""
        return self.motor.mass + self.gear.mass

    @property
    def cost(self) -> float | None:
        """Cost of motor and gear; none where the catalogue lacks one."""
        costs = (self.motor.cost, 0.0 if self.motor.gear else self.gear.cost)
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    @property
    def inertia(self) -> float:
        """Inertia of the rotor and the gear's input as the joint feels it, in kg m^2."""
        return (self.motor.rotor_inertia + self.gear.inertia) * self.gear.ratio**2

    @property
    def friction(self) -> float:
        """No-load torque of the gear's input as the joint feels it, dry friction, in N m."""
        return self.gear.no_load_torque * self.gear.ratio

    def motor_torque(self, torque: Array, speed: Array, acceleration: Array) -> Array:
        """The torque of the motor, at the motor, in N m, for a torque on the link and the joint's motion."""
        gear = self.gear
        own = (self.inertia * acceleration + self.friction * np.sign(speed)) / gear.ratio
        return own + torque / gear.ratio * np.where(torque * speed >= 0, 1 / gear.efficiency, gear.efficiency)

    def electric_power(self, torque: Array, speed: Array, acceleration: Array) -> Array:
        """The power that the motor takes, in W: mechanical and lost as heat; negative where it feeds back."""
        tau = self.motor_torque(torque, speed, acceleration)
        current = tau / self.motor.torque_constant
        return tau * speed * self.gear.ratio + self.motor.resistance * current**2

    def peak_use(self, torque: Array, speed: Array, acceleration: Array) -> dict[str, float]:
        """The largest use of each limit over states (P,), as a share: beyond one it is exceeded."""
        motor, gear = self.motor, self.gear
        tau = self.motor_torque(torque, speed, acceleration)
        omega = gear.ratio * np.abs(speed)
        driving = np.where(speed == 0, np.abs(tau), np.maximum(tau * np.sign(speed), 0.0))
        volts = driving * motor.resistance / motor.torque_constant + motor.torque_constant * omega
        return {
            "peak torque": float(np.abs(tau).max() / motor.peak_torque),
            "speed": float(omega.max() / min(motor.max_speed, gear.max_input_speed)),
            "voltage": float(volts.max() / motor.voltage),
            "gear peak torque": float(np.abs(torque).max() / gear.peak_torque),
        }

    def thermal_use(self, torque: Array, speed: Array, acceleration: Array) -> dict[str, float]:
        """The use of what can be given for ever, over samples that are evenly spread in time (P,)."""
        return {
            "continuous torque": _rms(self.motor_torque(torque, speed, acceleration)) / self.motor.continuous_torque,
            "gear rated torque": _rms(torque) / self.gear.rated_torque,
        }


def _rms(x: Array) -> float:
    return float(np.sqrt(np.square(x).mean()))


@dataclass(frozen=True, eq=False, repr=False)
class Catalogue(Shown):
    """Motors and gears, and the drives that they make."""

    name: str
    motors: Mapping[str, Motor]
    gears: Mapping[str, Gear]

    def _view(self) -> Iterator[str | Table]:
        yield f"{self.name}: {len(self.motors)} motors, {len(self.gears)} gears, {len(self.drives)} drives of them"
        rows = [(m.name, m.mass, m.continuous_torque, m.peak_torque, m.max_speed) for m in self.motors.values()]
        yield Table(("motor", "mass, kg", "torque, N m", "peak, N m", "speed, rad/s"), rows)
        gears = [(g.name, g.mass, g.ratio, g.rated_torque, g.peak_torque) for g in self.gears.values()]
        yield Table(("gear", "mass, kg", "ratio", "torque, N m", "peak, N m"), gears)

    @cached_property
    def drives(self) -> list[Drive]:
        """Every motor with every gear, but those with one built in, the lightest first."""
        built_in = {motor.gear for motor in self.motors.values() if motor.gear}
        free = [gear for gear in self.gears.values() if gear.name not in built_in]
        made = [
            Drive(motor, gear)
            for motor in self.motors.values()
            for gear in ([self.gears[motor.gear]] if motor.gear else free)
        ]
        return sorted(made, key=lambda drive: drive.mass)


def drives(path: str | PathLike[str] | None = None) -> Catalogue:
    """The motors and gears of a file, those that come with chainrule if none is named.

    >>> lightest = drives().drives[0]
    >>> lightest.mass < 0.3
    True
    """
    file, table = read_toml(path, "drives.toml", "motors")
    refuse_unknown(table, ("format", "motor", "gear"), file)
    if table.get("format") != FORMAT:
        raise FormatError(f"{file}: format must be {FORMAT}, got {table.get('format')!r:.60}")
    motors = _by_name(Motor, table, "motor", file)
    gears = _by_name(Gear, table, "gear", file)
    for motor in motors.values():
        if motor.gear is not None and motor.gear not in gears:
            raise FormatError(str(UnknownNameError.of("gear", motor.gear, gears, f"{file}: motor {motor.name!r}")))
        if motor.peak_torque < motor.continuous_torque:
            raise FormatError(f"{file}: motor {motor.name!r}: peak_torque must not be less than continuous_torque")
    if not motors or not gears:
        raise FormatError(f"{file}: there must be at least one [[motor]] and one [[gear]]")
    return Catalogue(file, motors, gears)


def _by_name(kind: Callable[..., Any], table: Mapping[str, Any], key: str, file: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for k, value in enumerate(tables_of(table, key, file), start=1):
        item = record(kind, value, f"{file}: {key} {k}", READERS)
        if item.name in found:
            raise FormatError(f"{file}: there are two {key}s named {item.name!r}")
        found[item.name] = item
    return found


def _positive(value: Any, where: str) -> float:
    return positive(value, where, "a positive number in SI units", FormatError)


def _efficiency(value: Any, where: str) -> float:
    x = number(value, where)
    if not 0 < x <= 1:
        raise FormatError(f"{where} must be above 0 and at most 1, got {x:g}")
    return x


READERS: Mapping[str, Reader] = {
    "name": word, "source": word, "gear": word, "mass": not_negative, "cost": not_negative, "inertia": not_negative,
    "no_load_torque": not_negative, "efficiency": _efficiency, "voltage": _positive, "torque_constant": _positive,
    "resistance": _positive, "rotor_inertia": not_negative, "continuous_torque": _positive, "peak_torque": _positive,
    "max_speed": _positive, "ratio": _positive, "rated_torque": _positive, "max_input_speed": _positive,
}  # fmt: skip
"""How the value of each key is read."""
