"""Series elastic actuators: a spring between the gear and the joint, and what it leaves to the motor.

A spring of stiffness k that carries the torque tau on the link bends by tau / k, so that the gear's output turns by

    theta = q + tau / k,    theta' = q' + tau' / k,    theta'' = q'' + tau'' / k

and the motor gives the power tau theta' in place of tau q' (Pratt and Williamson 1995). A spring without mass and
damping is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array, one_of, positive
from chainrule.calls import explains_arguments
from chainrule.display.text import Shown, Table
from chainrule.errors import ModelError, ShapeError, UnknownNameError, short_repr
from chainrule.motion.differentiation import differentiate
from chainrule.study.drives import Drive
from chainrule.study.study import Result
from chainrule.study.torques import MotionTorques

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

LEAST = ("power", "energy")

BEND_RAD = 0.5
"""How far the softest spring of a search bends under the largest torque."""

CUTOFF_HZ = 10.0
"""Torques above are smoothed before they are differentiated twice: no actuator on a spring follows a jump."""

REST_SPEED = 1e-3
"""Drives stand still below this speed, in rad/s: which way rounding turns them decides about no friction and loss."""

LEAST_SAVING = 1e-3
"""The share of what is needed that a spring must save."""

GRID = 65
"""Stiffnesses among which a search begins: a power that is not convex, as with losses, may have several valleys."""


class _Load(NamedTuple):
    """A joint in one activity: times, speed and acceleration of the link, and the torque with two rates (T,)."""

    t: Array
    speed: Array
    acceleration: Array
    torque: Array
    rate: Array
    second: Array

    def motor(self, compliance: float, drive: Drive | None) -> tuple[Array, Array, Array, Array]:
        """Speed, acceleration, torque and power of the motor, as the joint feels them."""
        speed = self.speed + compliance * self.rate
        acceleration = self.acceleration + compliance * self.second
        if drive is None:
            return speed, acceleration, self.torque, self.torque * speed
        state = self.torque, np.where(np.abs(speed) < REST_SPEED, 0.0, speed), acceleration
        return speed, acceleration, drive.gear.ratio * drive.motor_torque(*state), drive.electric_power(*state)


@dataclass(frozen=True, eq=False, repr=False)
class MotorSide(Shown):
    """Motors behind springs in an activity: arrays (T, n) on the joint's side of the gear, in SI units.

    With a drive, torques are those of its motor times the ratio, with rotor and losses, and powers are electric.
    """

    joints: tuple[str, ...]
    stiffness: Array
    """In N m/rad or N/m (n,); inf is no spring."""
    t: Array
    angle: Array
    speed: Array
    acceleration: Array
    torque: Array
    power: Array
    uses: Mapping[str, Mapping[str, float]]
    """The use of each peak limit of a drive, by joint: beyond one it is exceeded."""

    @property
    def energy(self) -> Array:
        """Energy that each motor takes (n,), in J; that which it could feed back is not counted."""
        return _energy(self.power, self.t)

    def _view(self) -> Iterator[str | Table]:
        yield f"Motors behind springs, {self.t[-1] - self.t[0]:.3g} s"
        peaks = (np.abs(x).max(axis=0).tolist() for x in (self.speed, self.torque, self.power))
        columns = [self.joints, self.stiffness.tolist(), *peaks, self.energy.tolist()]
        header = ["joint", "stiffness, N m/rad", "speed, rad/s", "torque, N m", "power, W", "energy, J"]
        if self.uses:
            header += ["drive's use"]
            columns += [[max(self.uses[joint].values()) if joint in self.uses else "" for joint in self.joints]]
        yield Table(header, list(zip(*columns, strict=True)), "peaks, at the joint")


@explains_arguments
def on_springs(
    torques: MotionTorques,
    stiffness: float | Mapping[str, float],
    *,
    drives: Mapping[str, Drive] | None = None,
    cutoff: float | None = CUTOFF_HZ,
) -> MotorSide:
    """The motors of an activity with a spring between each gear and its joint: speed, torque, power and energy.

    Parameters
    ----------
    torques
        An activity with its torques: `result.examples[name]`.
    stiffness
        In N m/rad, or N/m where a joint slides: one number, or one for each joint that has a spring. inf is no spring.
    drives
        Drives by joint, such as `sizing.drives`; joints without one have a motor and a gear without inertia and losses.
    cutoff
        In Hz: the torques are smoothed by a low-pass, forth and back; None takes them as they are.
    """
    joints, loads = _loads(torques, cutoff)
    drives = _drives(drives, joints)
    given = stiffness if isinstance(stiffness, Mapping) else dict.fromkeys(joints, stiffness)
    _refuse_unknown(given, joints, "stiffness")
    k = np.array([_stiffness(given.get(joint, np.inf), joint) for joint in joints])
    found = [load.motor(c, drives.get(joint)) for joint, load, c in zip(joints, loads, 1 / k, strict=True)]
    speed, acceleration, torque, power = (np.stack(x, axis=1) for x in zip(*found, strict=True))
    on_links = np.stack([load.torque for load in loads], axis=1)
    uses = {
        joint: drives[joint].peak_use(on_links[:, j], speed[:, j], acceleration[:, j])
        for j, joint in enumerate(joints)
        if joint in drives
    }
    angle = torques.angles + on_links / k
    return MotorSide(joints, k, torques.motion.t, angle, speed, acceleration, torque, power, uses)


@explains_arguments
def best_stiffness(
    result: Result,
    *,
    least: str = "power",
    drives: Mapping[str, Drive] | None = None,
    bend: float = BEND_RAD,
    cutoff: float | None = CUTOFF_HZ,
) -> dict[str, float]:
    """The stiffness of each joint's spring with which its motor needs least; inf where no spring is better.

    Parameters
    ----------
    result
        Of a study: the example of each activity counts.
    least
        "power", its largest magnitude in all activities, or "energy", what the motor takes in all of them together.
    drives, cutoff
        As of `on_springs`.
    bend
        How far the softest spring may bend under the largest torque, in rad or m.
    """
    if not isinstance(result, Result):
        raise ShapeError(f"best_stiffness: result must be that of a study, got {short_repr(result)}")
    one_of(LEAST, least, "least", "best_stiffness")
    bend = positive(bend, "best_stiffness: bend", unit="rad")
    activities = [_loads(torques, cutoff) for torques in result.examples.values()]
    joints = activities[0][0]
    drives = _drives(drives, joints)
    return {
        joint: _search([loads[j] for _, loads in activities], least, drives.get(joint), bend)
        for j, joint in enumerate(joints)
    }


def _search(loads: list[_Load], least: str, drive: Drive | None, bend: float) -> float:
    """The best stiffness of a joint: by its inverse, of which the power without losses is a convex function."""
    from scipy.optimize import minimize_scalar

    def cost(compliance: float) -> float:
        powers = [(load.motor(compliance, drive)[3], load.t) for load in loads]
        if least == "power":
            return max(float(np.abs(power).max()) for power, _ in powers)
        return sum(float(_energy(power, t)) for power, t in powers)

    largest = max(float(np.abs(load.torque).max()) for load in loads)
    if largest == 0:
        return np.inf
    grid = np.linspace(0, bend / largest, GRID)
    costs = [cost(c) for c in grid]
    at = int(np.argmin(costs))
    around = grid[max(at - 1, 0)], grid[min(at + 1, GRID - 1)]
    found = minimize_scalar(cost, bounds=around, method="bounded", options={"xatol": 1e-9 * grid[-1]})
    best = float(found.x) if found.fun < costs[at] else float(grid[at])
    return 1 / best if cost(best) < (1 - LEAST_SAVING) * costs[0] else np.inf


def _energy(power: Array, t: Array) -> Array:
    return np.asarray(np.trapezoid(np.maximum(power, 0), t, axis=0))


def _loads(torques: MotionTorques, cutoff: float | None) -> tuple[tuple[str, ...], list[_Load]]:
    """The joints, and the load of each."""
    if not isinstance(torques, MotionTorques):
        raise ShapeError(f"torques must be those of an activity, result.examples[name], got {short_repr(torques)}")
    cutoff = None if cutoff is None else positive(cutoff, "cutoff", unit="Hz")
    robot: Robot = torques.subject.robot
    if robot.model.constraints or robot.nq != robot.nv:
        raise ModelError(f"springs are for arms without closed loops and quaternions, which {robot.name!r} has")
    motion = torques.motion
    smooth = differentiate(motion.t, torques.total, None if cutoff is None else "lowpass", cutoff)
    arrays = (motion.qd, motion.qdd, smooth.y, smooth.rate, smooth.second)
    columns = zip(*(array.T for array in arrays), strict=True)
    return tuple(robot.model.layout.velocity_names), [_Load(motion.t, *column) for column in columns]


def _drives(drives: Mapping[str, Drive] | None, joints: tuple[str, ...]) -> Mapping[str, Drive]:
    drives = {} if drives is None else drives
    if not isinstance(drives, Mapping) or not all(isinstance(drive, Drive) for drive in drives.values()):
        raise ShapeError(f"drives must be drives by joint, such as sizing.drives, got {short_repr(drives)}")
    _refuse_unknown(drives, joints, "drives")
    return drives


def _refuse_unknown(values: Iterable[str], joints: tuple[str, ...], what: str) -> None:
    """Refuse names of joints that are not there."""
    for name in values:
        if name not in joints:
            raise UnknownNameError.of("joint", name, joints, what)


def _stiffness(value: float, joint: str) -> float:
    return np.inf if value == np.inf else positive(value, f"stiffness of {joint!r}", unit="N m/rad")
