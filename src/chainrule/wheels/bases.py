"""Bases that cannot go sideways: unicycle, differential drive, car."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from chainrule.arguments import Array, number, positive, real_array, rows_of, together
from chainrule.errors import ModelError, ShapeError
from chainrule.wheels.plane import planar_rotation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.wheels.equations import WheelEquations

NONHOLONOMIC = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
"""From (v, omega) to the body twist (v, 0, omega): wheels that do not slip sideways."""
NONHOLONOMIC.setflags(write=False)


class Base:
    """A base that drives over the plane; `controls` are the names of its controls.

    The columns of `directions` (3, k) are the body twists that the base can make.
    """

    controls: ClassVar[tuple[str, ...]] = ()
    directions: Array = NONHOLONOMIC

    def twist(self, controls: ArrayLike) -> Array:
        """The body twist (vx, vy, omega) of controls (..., m): (..., 3), m/s and rad/s."""
        raise NotImplementedError

    def twist_jacobian(self, controls: ArrayLike) -> Array:
        """The derivative of the twist by each control: (..., 3, m)."""
        raise NotImplementedError

    def pose_rates(self, pose: ArrayLike, controls: ArrayLike) -> Array:
        """d(x, y, theta)/dt: (..., 3); x' = v cos theta, y' = v sin theta, theta' = omega if it cannot go sideways."""
        at = rows_of(pose, 3, "pose_rates: pose", "x, y, theta")
        at, V = together({"pose": at, "twist": self.twist(controls)}, "pose_rates")
        return (planar_rotation(at[..., 2]) @ V[..., None])[..., 0]

    def equations(self) -> WheelEquations:
        """The kinematics in SymPy's symbols: twist, rates of the pose, and the constraints of wheels that roll."""
        raise NotImplementedError

    def _read(self, controls: Any, what: str = "controls") -> Array:
        names = self._names()
        return rows_of(controls, len(names), f"{type(self).__name__}: {what}", ", ".join(names))

    def _names(self) -> tuple[str, ...]:
        return self.controls


@dataclass(frozen=True)
class Unicycle(Base):
    """One wheel, or any base whose controls are its forward and its turning speed: (v, omega).

    >>> Unicycle().pose_rates([0.0, 0.0, np.pi / 2], [2.0, 0.5]).round(12).tolist()
    [0.0, 2.0, 0.5]
    """

    controls = ("v", "omega")

    def twist(self, controls: ArrayLike) -> Array:
        """(v, 0, omega)."""
        return self._read(controls) @ NONHOLONOMIC.T

    def twist_jacobian(self, controls: ArrayLike) -> Array:
        """The derivative of the twist, which is constant: (..., 3, 2)."""
        return np.broadcast_to(NONHOLONOMIC, (*self._read(controls).shape[:-1], 3, 2))

    def equations(self) -> WheelEquations:
        """The kinematics in the symbols v and omega.

        >>> Unicycle().equations().velocity_map
        Matrix([
        [cos(theta), 0],
        [sin(theta), 0],
        [         0, 1]])
        """
        from chainrule.wheels import equations as sym

        v, omega = u = sym.symbols("v omega")
        return _equations("unicycle", u, sym.POSE_RATES, {}, [v, 0, omega], [_sideways()], self.twist)


@dataclass(frozen=True)
class DifferentialDrive(Base):
    """Two wheels on one axle, left and right, each with a motor; controls are their speeds, in rad/s.

    v = (v1 + v2) / 2 and omega = (v2 - v1) / (2 b), with v1 and v2 the speeds of the left and the right wheel over the
    ground, radius times wheel speed, and b half the `separation` of the wheels. The pose is that of the axle's middle.

    >>> drive = DifferentialDrive(radius=0.1, separation=0.5)
    >>> drive.velocity([10.0, 20.0]).tolist()
    [1.5, 2.0]
    >>> drive.wheel_speeds([1.5, 2.0]).tolist()
    [10.0, 20.0]
    """

    radius: float
    separation: float
    controls = ("left", "right")

    def __post_init__(self) -> None:
        positive_parameter(self.radius, "the wheels' radius")
        positive_parameter(self.separation, "the separation of the wheels")

    @property
    def matrix(self) -> Array:
        """(v, omega) from the wheel speeds: (2, 2)."""
        return self.radius * np.array([[0.5, 0.5], [-1.0 / self.separation, 1.0 / self.separation]])

    def velocity(self, speeds: ArrayLike) -> Array:
        """(v, omega) of wheel speeds (left, right) in rad/s: (..., 2), m/s and rad/s."""
        return self._read(speeds, "wheel speeds") @ self.matrix.T

    def wheel_speeds(self, velocity: ArrayLike) -> Array:
        """The wheel speeds (left, right), in rad/s, of (v, omega): (..., 2)."""
        u = rows_of(velocity, 2, "DifferentialDrive: velocity", "v, omega")
        return u @ np.linalg.inv(self.matrix).T

    def twist(self, controls: ArrayLike) -> Array:
        """(v, 0, omega) of the wheel speeds."""
        return self.velocity(controls) @ NONHOLONOMIC.T

    def twist_jacobian(self, controls: ArrayLike) -> Array:
        """The derivative of the twist, which is constant: (..., 3, 2)."""
        return np.broadcast_to(NONHOLONOMIC @ self.matrix, (*self._read(controls).shape[:-1], 3, 2))

    def equations(self) -> WheelEquations:
        """The kinematics in the symbols r, the wheels' radius, and b, half their separation; w_1 and w_2 are controls.

        >>> DifferentialDrive(radius=0.03, separation=0.24).equations().constraints[1, :]
        Matrix([[cos(theta), sin(theta), -b, -r, 0]])
        """
        from chainrule.wheels import equations as sym

        r, b = sym.symbols("r b", positive=True)
        w_1, w_2 = u = sym.symbols("w_1 w_2")
        rows = [
            [*_sideways(), 0, 0],
            [*sym.row(0, y=b), -r, 0],
            [*sym.row(0, y=-b), 0, -r],
        ]
        twist = [r * (w_1 + w_2) / 2, 0, r * (w_2 - w_1) / (2 * b)]
        parameters = {r: self.radius, b: self.separation / 2}
        rates = (*sym.POSE_RATES, *u)
        return _equations("differential drive", u, rates, parameters, twist, rows, self.twist)


@dataclass(frozen=True)
class Car(Base):
    """Front wheels that steer and rear wheels that do not: controls are the speed v of the rear axle and the steering.

    omega = v tan(steering) / wheelbase, the steering angle being that of one wheel in the middle (the bicycle model),
    in rad, positive to the left. The pose is that of the rear axle's middle. `most` is the largest steering angle.

    >>> car = Car(wheelbase=2.5)
    >>> car.twist([5.0, np.arctan(0.5)]).round(9).tolist()
    [5.0, 0.0, 1.0]
    """

    wheelbase: float
    track: float = 0.0
    most: float = np.pi / 2
    controls = ("v", "steering")

    def __post_init__(self) -> None:
        positive_parameter(self.wheelbase, "the wheelbase")
        positive_parameter(self.most, "the largest steering angle")
        if self.most > np.pi / 2:
            raise ModelError(f"the largest steering angle must be at most pi/2 rad, got {self.most!r}")
        if not number(self.track, "the track") >= 0:
            raise ModelError(f"the track must be a length in m that is not negative, got {self.track!r}")

    def twist(self, controls: ArrayLike) -> Array:
        """(v, 0, v tan(steering) / wheelbase)."""
        v, steering = np.moveaxis(self._read_controls(controls), -1, 0)
        return np.stack([v, np.zeros_like(v), v * np.tan(steering) / self.wheelbase], axis=-1)

    def twist_jacobian(self, controls: ArrayLike) -> Array:
        """The derivative of the twist by the speed and by the steering: (..., 3, 2)."""
        v, steering = np.moveaxis(self._read_controls(controls), -1, 0)
        out = np.zeros((*v.shape, 3, 2))
        out[..., 0, 0] = 1.0
        out[..., 2, 0] = np.tan(steering) / self.wheelbase
        out[..., 2, 1] = v / (self.wheelbase * np.cos(steering) ** 2)
        return out

    def equations(self) -> WheelEquations:
        """The kinematics in the symbols l, the wheelbase, v, and delta, the steering angle.

        >>> Car(wheelbase=2.5).equations().twist.T
        Matrix([[v, 0, v*tan(delta)/l]])
        """
        from sympy import cos, sin, tan

        from chainrule.wheels import equations as sym

        (l,) = sym.symbols("l", positive=True)
        v, delta = u = sym.symbols("v delta")
        turned = sym.THETA + delta
        rows = [_sideways(), [-sin(turned), cos(turned), l * cos(delta)]]
        parameters = {l: self.wheelbase}
        return _equations("car", u, sym.POSE_RATES, parameters, [v, 0, v * tan(delta) / l], rows, self.twist)

    def steering(self, velocity: ArrayLike) -> Array:
        """(v, steering) of (v, omega): (..., 2). Standing still, a car cannot turn: the steering is then nan."""
        u = rows_of(velocity, 2, "Car: velocity", "v, omega")
        with np.errstate(all="ignore"):
            angle = np.where(u[..., 1] == 0, 0.0, np.arctan(self.wheelbase * u[..., 1] / u[..., 0]))
        angle = np.where((u[..., 0] == 0) & (u[..., 1] != 0), np.nan, angle)
        self._refuse_beyond(angle)
        return np.stack([u[..., 0], angle], axis=-1)

    def turning_radius(self, steering: ArrayLike) -> Array:
        """The radius of the rear axle's circle, in m, positive to the left: wheelbase / tan(steering)."""
        with np.errstate(all="ignore"):
            return np.asarray(self.wheelbase / np.tan(real_array(steering, "turning_radius: steering")))

    def wheel_angles(self, steering: ArrayLike) -> Array:
        """Ackermann's angles of the left and right front wheels, in rad, that let all axles meet in a point: (..., 2).

        cot(left) = cot(steering) - track / (2 wheelbase), cot(right) = cot(steering) + track / (2 wheelbase).
        """
        angle = real_array(steering, "wheel_angles: steering")[..., None]
        half = np.array([-1.0, 1.0]) * self.track / (2 * self.wheelbase)
        return np.arctan2(np.sin(angle), np.cos(angle) + np.sin(angle) * half)  # the inner wheel may pass 90 degrees

    def _read_controls(self, controls: ArrayLike) -> Array:
        u = self._read(controls)
        self._refuse_beyond(u[..., 1])
        return u

    def _refuse_beyond(self, steering: Array) -> None:
        if (np.abs(steering) > self.most * (1 + 1e-12)).any():
            worst = float(np.nanmax(np.abs(steering)))
            raise ShapeError(f"Car: the steering angle {worst:.4g} rad is beyond the largest, {self.most:.4g} rad")


def _sideways() -> Any:
    """The row of a wheel on the axis of the base that does not slide sideways."""
    from sympy import pi

    from chainrule.wheels.equations import row

    return [*row(pi / 2)]


def _equations(
    name: str,
    controls: tuple[Any, ...],
    rates: tuple[Any, ...],
    parameters: Mapping[Any, float],
    twist: Sequence[Any],
    rows: Sequence[Sequence[Any]],
    numbers: Callable[[Array], Array],
) -> WheelEquations:
    """The equations of a base that cannot go sideways."""
    from sympy import ImmutableMatrix

    from chainrule.wheels.equations import WheelEquations, with_check

    directions = ImmutableMatrix([[1, 0], [0, 0], [0, 1]])
    found = WheelEquations(
        name, controls, tuple(rates), parameters, ImmutableMatrix(twist), ImmutableMatrix(rows), directions
    )
    return with_check(found, numbers, [0.4, 0.3])


def positive_parameter(value: Any, what: str) -> float:
    """A positive number of a wheeled base or of a call, refused as a wrong model is."""
    return positive(value, what, error=ModelError)
