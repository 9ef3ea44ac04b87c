"""Position control on the chosen drives: activities followed in simulation, with friction, rotors and saturation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from scipy.interpolate import CubicHermiteSpline, PPoly

from chainrule.arguments import Array, one_of, positive, read_only
from chainrule.calls import explains_arguments
from chainrule.control.laws.controller import Controller
from chainrule.control.laws.gains import default_gains
from chainrule.control.laws.joint_space import PD, ComputedTorque
from chainrule.control.motions.references import Reference
from chainrule.display.text import Shown, Table
from chainrule.errors import ModelError
from chainrule.robot.robot import Robot
from chainrule.simulation.sources import Samples
from chainrule.simulation.trajectory import Trajectory
from chainrule.study.drives import Drive
from chainrule.study.motions import Motion
from chainrule.study.sizing import Sizing
from chainrule.study.study import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONTROLLERS = {
    "computed_torque": "computed torque, which knows the arm with its drives, but neither their friction nor what the "
    "hand holds or meets",
    "pd": "a PD controller at each joint, which knows nothing of the arm",
}
"""Controllers by name, in words: with the model of the arm, and without."""

BANDWIDTH_HZ = 8.0
"""The natural frequency of the joints' control."""

KNOT_S = 0.01
"""The distance of the points between which a motion is a cubic for the controller."""


@dataclass(frozen=True, eq=False, repr=False)
class Followed(Shown):
    """One activity followed by the drives."""

    activity: str
    title: str
    controller: str
    """One of CONTROLLERS."""
    motion: Motion
    trajectory: Trajectory
    errors: Array
    """Of the joints (T, n), in rad or m: where they should be, less where they are."""
    energy: Array
    """Electric energy that each drive takes (n,), in J, with what it feeds back taken off."""
    saturated: Array
    """The share of the time in which each drive gives all that it can (n,)."""

    def _view(self) -> Iterator[str | Table]:
        yield f"{self.title}, followed by {CONTROLLERS[self.controller]}"
        header = ("joint", "RMS error, deg", "peak error, deg", "energy, J", "saturated, %")
        columns = (np.degrees(self.rms_error), np.degrees(self.peak_error), self.energy, 100 * self.saturated)
        names = self.trajectory.robot.model.layout.velocity_names
        yield Table(header, [(name, *map(float, row)) for name, *row in zip(names, *columns, strict=True)])

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        joints: Sequence[str] | None = None,
        size: Sequence[float] | None = None,
    ) -> Figure:
        """Draw angles beside the motion that is followed, which is dashed, errors, and torques over time.

        path: a .png, .pdf or .svg file to write. joints: names of those that are drawn, all by default. size: width
        and height of the figure in inches.
        """
        from chainrule.study.tracking_plot import plot

        title = f"{self.title}: {CONTROLLERS[self.controller].split(',')[0]}"
        return plot(self.trajectory, self.motion, self.errors, title, path, joints=joints, size=size)

    @property
    def rms_error(self) -> Array:
        """Root mean square of each joint's error (n,)."""
        return np.sqrt(np.square(self.errors).mean(axis=0))

    @property
    def peak_error(self) -> Array:
        """The largest error of each joint (n,)."""
        return np.abs(self.errors).max(axis=0)


@explains_arguments
def follow(
    result: Result,
    sizing: Sizing,
    activities: Sequence[str] | None = None,
    *,
    controller: str = "computed_torque",
    bandwidth: float = BANDWIDTH_HZ,
    dt: float = 1e-3,
) -> dict[str, Followed]:
    """Activities followed in simulation by the drives that were chosen: the example of each.

    Drives have rotors, friction, and torques that saturate. What the hand holds acts by its weight.

    Parameters
    ----------
    result, sizing
        Of a study, and of its drives. Every joint must have one.
    activities
        Names or titles; all of them unless given.
    controller
        "computed_torque", which knows the model of the arm with its drives, but neither their friction nor what the
        hand holds or meets; "pd", a spring and a damper at each joint, without the model and its gravity, with gains by
        each joint's inertia at the start.
    bandwidth
        The natural frequency of the joints' control, in Hz.
    dt
        The step of the simulation, in s.
    """
    if sizing.sliding:
        raise ModelError(f"no drives are chosen for joints {list(sizing.sliding)}, which slide: nothing to simulate")
    if not sizing.complete:
        missing = [joint for joint, choice in sizing.choices.items() if choice.drive is None]
        raise ModelError(f"no drive of {sizing.catalogue.name} is enough for joints {missing}: nothing to simulate")
    if any(choice.balancer for choice in sizing.choices.values()):
        raise ModelError("drives sized beside balancing springs are not simulated; size them without, balanced=False")
    positive(bandwidth, "bandwidth", "a positive number in Hz", unit="Hz")
    one_of(CONTROLLERS, controller, "controller", "position control")
    names = list(result.titles) if activities is None else [result.activity(name) for name in activities]
    followed = {}
    for name in names:
        example = result.examples[name]
        arm = sizing.subject(example.subject).robot
        driven = _with_drives(arm, sizing)
        law = _law(controller, driven, example.motion, bandwidth)
        followed[name] = _follow(name, result.titles[name], controller, arm, driven, law, example.motion, sizing, dt)
    return followed


def _strongest(sizing: Sizing) -> dict[str, float]:
    """The largest torque at the joint that each drive gives."""
    return {
        joint: min(drive.motor.peak_torque * drive.gear.ratio * drive.gear.efficiency, drive.gear.peak_torque)
        for joint, drive in sizing.drives.items()
    }


def _with_drives(arm: Robot, sizing: Sizing) -> Robot:
    """The arm with rotors, friction and limits of its drives."""
    strongest = _strongest(sizing)
    numbers = {
        joint: {"rotor": drive.inertia, "coulomb": drive.friction, "effort": strongest[joint]}
        for joint, drive in sizing.drives.items()
    }
    return arm.edit(joints={"*": {"gear": 1.0}, **numbers})


def _law(controller: str, driven: Robot, motion: Motion, bandwidth: float) -> Controller:
    """The controller that follows a motion."""
    known, reference = driven.without_friction(), _reference(motion)
    if controller == "computed_torque":
        return ComputedTorque(known, reference, bandwidth=bandwidth)
    gains = default_gains(known, motion.q[0], bandwidth=bandwidth)
    return PD(known, reference, gains.kp, gains.kd, gravity=False)


def _follow(
    name: str,
    title: str,
    controller: str,
    arm: Robot,
    driven: Robot,
    law: Controller,
    motion: Motion,
    sizing: Sizing,
    dt: float,
) -> Followed:
    drives, strongest = sizing.drives, _strongest(sizing)
    trajectory = driven.simulate(
        motion.q[0], motion.qd[0], motion.duration, law, dt=dt, tip_wrench=_hand_wrench(arm, motion),
        limits=False,
    )  # fmt: skip
    q = np.column_stack([np.interp(trajectory.t, motion.t - motion.t[0], column) for column in motion.q.T])
    power = np.column_stack([
        _electric_power(drive, trajectory.tau[:, j], trajectory.qd[:, j], trajectory.qdd[:, j])
        for j, drive in enumerate(drives.values())
    ])  # fmt: skip
    limits = np.array([strongest[joint] for joint in drives])
    return Followed(
        name,
        title,
        controller,
        motion,
        trajectory,
        q - trajectory.q,
        np.asarray(np.trapezoid(power, trajectory.t, axis=0)),
        (np.abs(trajectory.tau) >= limits * (1 - 1e-9)).mean(axis=0),
    )


def _electric_power(drive: Drive, applied: Array, speed: Array, acceleration: Array) -> Array:
    """The power that a motor takes where the torque on the joint, its own rotor and friction moved too, is known."""
    own = drive.inertia * acceleration + drive.friction * np.sign(speed)
    return drive.electric_power(applied - own, speed, acceleration)


def _reference(motion: Motion) -> Reference:
    """The motion as a function of time, for a controller: a cubic between each two of some samples."""
    step = max(1, round(KNOT_S / float(np.median(np.diff(motion.t)))))
    places = np.unique(np.append(np.arange(0, len(motion), step), len(motion) - 1))
    t, q, qd = motion.t[places] - motion.t[0], motion.q[places], motion.qd[places]
    spline = CubicHermiteSpline(t, q, qd)
    return Reference(read_only(t), read_only(q), PPoly(spline.c, spline.x))


def _hand_wrench(arm: Robot, motion: Motion) -> Samples | None:
    """The wrench that the hand applies to what it holds and to what it meets, in the axes of the base."""
    if not motion.grasps and motion.contact is None:
        return None
    wrench = np.zeros((len(motion), 6)) if motion.contact is None else motion.contact.copy()
    gravity = np.array([*arm.model.gravity], dtype=float)
    for grasp in motion.grasps:
        wrench[grasp.during, 3:] -= grasp.body.mass * gravity
    return Samples(motion.t - motion.t[0], wrench)
