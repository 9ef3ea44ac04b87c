"""A wheeled base that is driven: where it really goes, and where its odometry believes it to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import UnknownNameError
from chainrule.studio.player.history import RecentSamples
from chainrule.wheels import Base, Car, DifferentialDrive, Omnidirectional, Unicycle, encoder_speed, odometry

STEP_S = 0.02
"""The time for which controls are constant."""

TRAIL_SAMPLES = 1500
"""Poses that are kept of the way: the last 30 s."""

MAX_SPEED, MAX_TURN = 1.5, 2.0
"""In m/s and rad/s."""

SPEED_STEP, TURN_STEP = 0.1, 0.2
"""A key changes the speed by this much, in m/s and rad/s."""

MAX_STEERING = 0.6
"""Of the car, in rad."""

RADIUS, SEPARATION, WHEELBASE = 0.06, 0.3, 0.36
"""Of the wheels, between left and right, and between front and rear, in m."""


def compose(first: Array, second: Array) -> Array:
    """The pose (x, y, theta) of what has the second pose as it is seen from the first.

    >>> compose(np.array([1.0, 0.0, np.pi / 2]), np.array([2.0, 0.0, 0.1])).round(3).tolist()
    [1.0, 2.0, 1.671]
    """
    c, s = np.cos(first[2]), np.sin(first[2])
    x, y, theta = second
    return np.array([first[0] + c * x - s * y, first[1] + s * x + c * y, first[2] + theta])


def start_of(pose: Array, way: Array) -> Array:
    """The pose from which a way of (x, y, theta) has led to a pose.

    >>> way = np.array([2.0, 0.3, 0.1])
    >>> compose(start_of(np.array([1.0, 0.0, 0.5]), way), way).round(9).tolist()
    [1.0, 0.0, 0.5]
    """
    theta = pose[2] - way[2]
    c, s = np.cos(theta), np.sin(theta)
    return np.array([pose[0] - c * way[0] + s * way[1], pose[1] - s * way[0] - c * way[1], theta])


class BaseKind(NamedTuple):
    """A kind of base: how it is made for wheels that are larger by a factor on the right, and how it is controlled."""

    make: Callable[[float], Base]
    controls: Callable[[Any, Array], Array]
    """The controls of a base for a body twist (vx, vy, omega)."""
    has_encoders: bool
    """Whether the controls are speeds of wheels, whose turns are counted."""
    sideways: bool = False


def _car_controls(base: Car, twist: Array) -> Array:
    """(v, steering): the keys that turn set the steering, also where the car stands."""
    steering = np.clip(twist[2] / MAX_TURN, -1.0, 1.0) * MAX_STEERING
    return np.array([twist[0], steering])


@dataclass(frozen=True)
class UnevenDrive(DifferentialDrive):
    """A differential drive whose right wheel is larger than the left one by a factor."""

    right: float = 1.0

    @property
    def matrix(self) -> Array:
        """(v, omega) from the wheel speeds: (2, 2)."""
        return super().matrix * np.array([1.0, self.right])


KINDS = {
    "Differential drive": BaseKind(
        lambda right: UnevenDrive(RADIUS, SEPARATION, right),
        lambda base, twist: base.wheel_speeds(twist[[0, 2]]),
        has_encoders=True,
    ),
    "Mecanum wheels": BaseKind(
        lambda right: Omnidirectional.mecanum(RADIUS * right, WHEELBASE, SEPARATION),
        lambda base, twist: base.wheel_speeds(twist),
        has_encoders=True,
        sideways=True,
    ),
    "Three omniwheels": BaseKind(
        lambda right: Omnidirectional.three_wheels(RADIUS * right, SEPARATION / 2),
        lambda base, twist: base.wheel_speeds(twist),
        has_encoders=True,
        sideways=True,
    ),
    "Car": BaseKind(lambda right: Car(WHEELBASE / right, SEPARATION), _car_controls, has_encoders=False),
    "Unicycle": BaseKind(lambda right: Unicycle(), lambda base, twist: twist[[0, 2]], has_encoders=False),
}
"""The bases of the library, by the names that the page shows."""


class Errors(NamedTuple):
    """The differences between a base and what its odometry knows of it."""

    larger: float = 0.02
    """The right wheel is larger by this share; all wheels where there is no right one, and the car turns faster."""
    slip: float = 0.05
    """The standard deviation of the speeds of the wheels over the ground, as a share of them."""
    ticks: int = 360
    """Ticks of an encoder in a turn of its wheel."""


@dataclass
class DrivenBase:
    """A base on the ground, its odometry, and the ways of both.

    >>> drive = DrivenBase("Unicycle", Errors(0.0, 0.0))
    >>> drive.command(forward=10)
    >>> for _ in range(50):
    ...     drive.step()
    >>> drive.pose.round(6).tolist(), drive.believed.round(6).tolist()
    ([1.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    """

    kind: str
    errors: Errors = field(default_factory=Errors)
    seed: int = 0
    pose: Array = field(default_factory=lambda: np.zeros(3))
    """(x, y, theta), in m and rad."""
    believed: Array = field(default_factory=lambda: np.zeros(3))
    """The pose by odometry."""
    covariance: Array = field(default_factory=lambda: np.zeros((3, 3)))
    """Of the believed pose."""
    twist: Array = field(default_factory=lambda: np.zeros(3))
    """The body twist that is asked for: (vx, vy, omega)."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownNameError.of("wheeled base", self.kind, KINDS, "driving")
        self.time = 0.0
        self._random = np.random.default_rng(self.seed)
        self.history = RecentSamples(6, TRAIL_SAMPLES)
        self._rest: Array | float = 0.0
        self._keep()

    @property
    def base(self) -> Base:
        """The base as its odometry knows it."""
        return KINDS[self.kind].make(1.0)

    @property
    def true_base(self) -> Base:
        """The base as it is."""
        return KINDS[self.kind].make(1.0 + self.errors.larger)

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is asked for that moves it."""
        return not (self.twist[:2].any() or (self.twist[2] and self.kind != "Car"))

    def command(self, forward: int = 0, left: int = 0, turn: int = 0, *, stop: bool = False) -> None:
        """Change the speed by some steps: forwards, to the left, anticlockwise; or stop."""
        if stop:
            self.twist = np.zeros(3)
            return
        change = np.array([forward * SPEED_STEP, left * SPEED_STEP, turn * TURN_STEP])
        most = np.array([MAX_SPEED, MAX_SPEED if KINDS[self.kind].sideways else 0.0, MAX_TURN])
        self.twist = np.clip((self.twist + change).round(9), -most, most)

    def step(self) -> None:
        """Drive on for a moment: the base by its real wheels, the odometry by what is measured."""
        kind, base = KINDS[self.kind], self.base
        asked = kind.controls(base, self.twist)
        slipping = asked * (1.0 + self.errors.slip * self._random.standard_normal(asked.shape))
        self.pose = odometry(self.true_base, slipping[None], STEP_S, self.pose).pose[-1]
        track = odometry(
            base, self._measure(asked, kind.has_encoders)[None], STEP_S, self.believed,
            covariance=self.covariance, noise=self._noise(asked),
        )  # fmt: skip
        self.believed, self.covariance = track.pose[-1], track.covariance[-1]
        self.covariance = (self.covariance + self.covariance.T) / 2
        self.time += STEP_S
        self._keep()

    def _measure(self, speeds: Array, has_encoders: bool) -> Array:
        """The speeds as encoders count them: whole ticks, the rest left for the next time."""
        if not has_encoders:
            return speeds
        turned = speeds * STEP_S / (2 * np.pi) * self.errors.ticks + self._rest
        ticks = np.floor(turned)
        self._rest = turned - ticks
        return encoder_speed(ticks, self.errors.ticks, 1 / STEP_S)

    def _noise(self, speeds: Array) -> Array:
        """The variance that odometry is told: that of the slip, for each unit that a control adds up to."""
        return self.errors.slip**2 * np.abs(speeds) * STEP_S

    def _keep(self) -> None:
        self.history.append(self.time, np.concatenate([self.pose, self.believed]))

    def ways(self, most: int = 400) -> tuple[Array, Array]:
        """The ways of the base and of its odometry over the ground: (k, 2) each, with the newest point last."""
        rows = self.history.rows
        every = -(-len(rows) // most)
        rows = rows[::-1][::every][::-1]
        return rows[:, :2], rows[:, 3:5]

    @property
    def error(self) -> tuple[float, float]:
        """The distance (m) and the angle (rad) between the base and where it believes to be."""
        apart = self.believed - self.pose
        return float(np.hypot(*apart[:2])), float(np.arctan2(np.sin(apart[2]), np.cos(apart[2])))
