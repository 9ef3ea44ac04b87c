"""Position control on the chosen drives: activities followed in simulation, with friction, rotors and saturation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicHermiteSpline, PPoly

from chainrule.arguments import Array, positive, read_only
from chainrule.calls import explains_arguments
from chainrule.control.laws.joint_space import ComputedTorque
from chainrule.control.motions.references import Reference
from chainrule.display.text import FieldsShown
from chainrule.errors import ModelError, UnknownNameError
from chainrule.robot.robot import Robot
from chainrule.simulation.sources import Samples
from chainrule.simulation.trajectory import Trajectory
from chainrule.study.drives import Drive
from chainrule.study.motions import Motion
from chainrule.study.sizing import Sizing
from chainrule.study.study import Result

BANDWIDTH_HZ = 8.0
"""The natural frequency of the joints' control."""

KNOT_S = 0.01
"""The distance of the points between which a motion is a cubic for the controller."""


@dataclass(frozen=True, eq=False, repr=False)
class Followed(FieldsShown):
    """One activity followed by the drives."""

    activity: str
    motion: Motion
    trajectory: Trajectory
    errors: Array
    """Of the joints (T, n), in rad or m: where they should be, less where they are."""
    energy: Array
    """Electric energy that each drive takes (n,), in J, with what it feeds back taken off."""
    saturated: Array
    """The share of the time in which each drive gives all that it can (n,)."""

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
    bandwidth: float = BANDWIDTH_HZ,
    dt: float = 1e-3,
) -> dict[str, Followed]:
    """Activities followed in simulation by the drives that were chosen: the example of each.

    The controller computes torques from the arm with its drives, but does not know their friction. What the hand holds
    acts by its weight, and the controller does not know that either. Torques saturate where the drives do.

    Parameters
    ----------
    result, sizing
        Of a study, and of its drives. Every joint must have one.
    activities
        Names; all of them unless given.
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
    names = list(result.titles) if activities is None else list(activities)
    followed = {}
    for name in names:
        if name not in result.examples:
            raise UnknownNameError.of("activity", name, result.titles, "the study")
        example = result.examples[name]
        arm = sizing.subject(example.subject).robot
        followed[name] = _follow(name, arm, example.motion, sizing, bandwidth, dt)
    return followed


def _follow(name: str, arm: Robot, motion: Motion, sizing: Sizing, bandwidth: float, dt: float) -> Followed:
    drives = sizing.drives
    strongest = {
        joint: min(drive.motor.peak_torque * drive.gear.ratio * drive.gear.efficiency, drive.gear.peak_torque)
        for joint, drive in drives.items()
    }
    numbers = {
        joint: {"rotor": drive.inertia, "coulomb": drive.friction, "effort": strongest[joint]}
        for joint, drive in drives.items()
    }
    driven = arm.edit(joints={"*": {"gear": 1.0}, **numbers})
    law = ComputedTorque(driven.without_friction(), _reference(motion), bandwidth=bandwidth)
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
