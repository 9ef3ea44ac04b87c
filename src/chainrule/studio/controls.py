"""Controls of a configuration: what a slider for each degree of freedom shows, and the configuration that it asks for.

Pure functions of a robot and of q. Angles can be shown in degrees. A free or a ball joint has sliders for roll, pitch
and yaw in place of its quaternion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chainrule.arguments import Array
from chainrule.core.derived import driven_velocities
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ModelError
from chainrule.loops.constraints import close
from chainrule.model.layout import JointPlaces, component
from chainrule.shapes.skeleton import skeleton

ANGLES = ("roll", "pitch", "yaw")

UNLIMITED_LENGTH = 2.0
"""How far a slide without limits can be moved by its slider, as a multiple of the robot's reach."""

FINEST_LENGTH = 1e-3
"""Steps of sliders for lengths, in m; finer for small robots."""


@dataclass(frozen=True)
class Control:
    """One slider: its range in the unit that is shown, and the coordinate or the angle of a joint that it moves."""

    joint: str
    name: str
    unit: str
    """The unit that is shown: "°", "rad" or "m"."""
    lower: float
    upper: float
    step: float
    index: int
    """The place of its coordinate in q; for roll, pitch and yaw, that of the quaternion's first number."""
    angle: int | None = None
    """0, 1 or 2 for roll, pitch and yaw; None for a coordinate."""
    passive: bool = False
    """Whether nothing drives it."""

    @property
    def label(self) -> str:
        """The name, and the unit of what is no angle."""
        return f"{self.name} (m)" if self.unit == "m" else self.name


def controls(robot: Mechanism, *, degrees: bool = True) -> tuple[Control, ...]:
    """The sliders of a robot: one for each degree of freedom, in the order of joints."""
    return tuple(control for places in robot.model.layout.joints for control in _joint_controls(robot, places, degrees))


def _joint_controls(robot: Mechanism, places: JointPlaces, degrees: bool) -> Iterator[Control]:
    reach = skeleton(robot).reach
    joint, kind = places.joint, places.joint.kind
    coordinates = robot.model.layout.coordinates[places.q]
    passive = bool(joint.dofs) and all(dof.passive for dof in joint.dofs)
    for coordinate in coordinates if kind.nq == kind.nv else coordinates[:-4]:
        limits = _range(float(coordinate.lower), float(coordinate.upper), coordinate.unit, reach)
        scale = _scale(coordinate.unit, limits, degrees, reach)
        yield Control(joint.name, coordinate.name, *scale, coordinate.index, None, passive)
    if kind.nq != kind.nv:
        for k, angle in enumerate(ANGLES):
            half = math.pi / 2 if angle == "pitch" else math.pi
            scale = _scale("rad", (-half, half), degrees, reach)
            yield Control(joint.name, component(joint.name, angle), *scale, coordinates[-4].index, k, passive)


def _range(lower: float, upper: float, unit: str, reach: float) -> tuple[float, float]:
    """Limits, those that are infinite replaced by what a slider can show."""
    far = math.pi if unit == "rad" else UNLIMITED_LENGTH * reach
    if not math.isfinite(lower):
        lower = min(-far, upper - 2 * far) if math.isfinite(upper) else -far
    if not math.isfinite(upper):
        upper = max(far, lower + 2 * far)
    return lower, upper


def _scale(unit: str, limits: tuple[float, float], degrees: bool, reach: float) -> tuple[str, float, float, float]:
    """The unit that is shown, and the ends and steps of the slider in it."""
    if unit == "rad":
        shown, factor, step = ("°", 180 / math.pi, 0.1) if degrees else ("rad", 1.0, 0.001)
    else:
        shown, factor, step = "m", 1.0, min(FINEST_LENGTH, 10.0 ** math.floor(math.log10(reach / 500)))
    lower, upper = (factor * x for x in limits)
    inner = math.ceil(lower / step - 1e-9) * step, math.floor(upper / step + 1e-9) * step
    if inner[0] < inner[1]:  # round numbers at the ends of the slider, inside the limits
        lower, upper = round(inner[0], _digits(step)), round(inner[1], _digits(step))
    return shown, lower, upper, step


def _digits(step: float) -> int:
    """Decimal places of numbers that are multiples of a step."""
    return max(0, round(-math.log10(step)))


def shown_value(control: Control, q: Array) -> float:
    """The number that a slider shows at a configuration, moved into its range."""
    if control.angle is None:
        value = float(q[control.index])
        if control.unit != "m":
            value = _wrap(value, control)
    else:
        value = float(euler_angles(q[control.index : control.index + 4])[control.angle])
    value *= _factor(control)
    return (
        min(max(round(value, _digits(control.step)), control.lower), control.upper)
        if math.isfinite(value)
        else control.lower
    )


def _factor(control: Control) -> float:
    """The number of the shown units in a radian or a meter."""
    return 180 / math.pi if control.unit == "°" else 1.0


def _wrap(angle: float, control: Control) -> float:
    """An angle of a joint that turns without end, within the half turns about zero."""
    low, high = control.lower / _factor(control), control.upper / _factor(control)
    if low - 1e-3 <= angle <= high + 1e-3 or high - low < 2 * math.pi - 2e-3:
        return angle
    return math.remainder(angle, 2 * math.pi)


def move_control(robot: Mechanism, q: Array, control: Control, value: float, values: Sequence[float] = ()) -> Array:
    """The configuration in which one control has another value, and loops are closed: (nq,).

    values: roll, pitch and yaw as the sliders of the same joint show them; they stay what they are where the pitch is a
    quarter turn, and the quaternion does not tell roll from yaw.

    Other driven joints of closed loops stay where they are if the loops close so; otherwise they follow.
    """
    new = np.array(q, dtype=float)
    number = value / _factor(control)
    if control.angle is None:
        coordinate = robot.model.layout.coordinates[control.index]
        new[control.index] = min(max(number, float(coordinate.lower)), float(coordinate.upper))
    else:
        part = slice(control.index, control.index + 4)
        angles = np.array(values if len(values) else euler_angles(new[part]), dtype=float)
        angles[control.angle] = number
        new[part] = quaternion(angles)
    return new if not robot.model.constraints else _close(robot, new, control.joint)


def _close(robot: Mechanism, q: Array, joint: str) -> Array:
    """A closed configuration with the joint held where it is."""
    driven = {robot.model.layout.velocities[k].joint for k in driven_velocities(robot)}
    for held in (sorted(driven | {joint}) if len(driven) < len(robot.joint_names) else [joint], [joint]):
        try:
            return close(robot, q, hold=held)
        except ModelError as error:
            refusal = error
    raise refusal


def euler_angles(quaternions: Array) -> Array:
    """Roll, pitch and yaw (3,), in rad, of a quaternion (x, y, z, w): turned about x, then y, then z of the parent."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = (float(number) for number in quaternions)
    sine = min(max(2 * (w * y - x * z), -1.0), 1.0)
    if abs(sine) > 1 - 1e-9:  # roll and yaw turn about the same axis: all of it is yaw
        matrix = Rotation.from_quat([x, y, z, w]).as_matrix()
        return np.array([0.0, math.asin(sine), math.atan2(-matrix[0, 1], matrix[1, 1])])
    return np.asarray(Rotation.from_quat([x, y, z, w]).as_euler("xyz"))


def quaternion(angles: Array) -> Array:
    """The quaternion (x, y, z, w) of roll, pitch and yaw, in rad."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_euler("xyz", angles).as_quat())


def followers(robot: Mechanism) -> tuple[tuple[str, str], ...]:
    """Joints that follow others, and those that they follow."""
    return tuple((joint.name, joint.mimic.joint) for joint in robot.model.joints if joint.mimic is not None)
