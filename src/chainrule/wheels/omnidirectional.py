"""Bases that move in any direction: omniwheels and mecanum wheels, whose rollers let them slide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, real_array, refuse_nonfinite, rows_of
from chainrule.errors import ModelError, ShapeError
from chainrule.kinematics.tasks import RANK_TOLERANCE
from chainrule.wheels.bases import Base, positive_parameter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.wheels.equations import WheelEquations


@dataclass(frozen=True, eq=False)
class Omnidirectional(Base):
    """A base on wheels with rollers; controls are the wheels' speeds, in rad/s.

    `placing` (wheels, 4): x and y of each wheel in m, the angle beta in which it drives, and the angle gamma of its
    free sliding off its axle, 0 for omniwheels and +-45 degrees for mecanum wheels, in rad. Lynch & Park, section 13.2:
    u_i = (cos(beta + gamma), sin(beta + gamma)) . (vx - y omega, vy + x omega) / (radius cos gamma).
    """

    radius: float
    placing: Array

    directions = np.eye(3)

    def __post_init__(self) -> None:
        positive_parameter(self.radius, "the wheels' radius")
        placing = real_array(self.placing, "placing")
        if placing.ndim != 2 or placing.shape[1] != 4:
            raise ShapeError(f"placing must have a row (x, y, beta, gamma) for each wheel, got shape {placing.shape}")
        refuse_nonfinite(placing, "placing")
        if np.linalg.matrix_rank(self.matrix, tol=RANK_TOLERANCE * np.abs(self.matrix).max(initial=0.0)) < 3:
            raise ModelError(
                "these wheels do not settle the motion of the base; it takes three that drive different ways"
            )

    @staticmethod
    def mecanum(radius: float, length: float, width: float) -> Omnidirectional:
        """Four mecanum wheels, front left, front right, rear right, rear left; length and width between their axes.

        >>> base = Omnidirectional.mecanum(radius=0.1, length=0.6, width=0.4)
        >>> base.wheel_speeds([0.0, 1.0, 0.0]).round(9).tolist()
        [-10.0, 10.0, -10.0, 10.0]
        """
        l, w, tilt = positive_parameter(length, "length") / 2, positive_parameter(width, "width") / 2, np.pi / 4
        return Omnidirectional(
            radius, np.array([[l, w, 0, -tilt], [l, -w, 0, tilt], [-l, -w, 0, -tilt], [-l, w, 0, tilt]])
        )

    @staticmethod
    def three_wheels(radius: float, distance: float) -> Omnidirectional:
        """Three omniwheels at 90, -30 and 210 degrees around the middle, `distance` from it; each drives clockwise."""
        at = np.radians([90.0, -30.0, 210.0])
        d = positive_parameter(distance, "distance")
        return Omnidirectional(radius, np.stack([d * np.cos(at), d * np.sin(at), at - np.pi / 2, 0 * at], axis=1))

    @property
    def matrix(self) -> Array:
        """H with H (vx, vy, omega) the wheel speeds: (wheels, 3)."""
        x, y, beta, gamma = np.asarray(self.placing, dtype=float).T
        c, s = np.cos(beta + gamma), np.sin(beta + gamma)
        return np.stack([c, s, x * s - y * c], axis=1) / (self.radius * np.cos(gamma))[:, None]

    def wheel_speeds(self, twist: ArrayLike) -> Array:
        """The wheel speeds, in rad/s, of a body twist (vx, vy, omega): (..., wheels)."""
        return rows_of(twist, 3, "Omnidirectional: twist", "vx, vy, omega") @ self.matrix.T

    def twist(self, controls: ArrayLike) -> Array:
        """The body twist that comes nearest to the wheel speeds, by least squares."""
        return self._read(controls, "wheel speeds") @ np.linalg.pinv(self.matrix).T

    def twist_jacobian(self, controls: ArrayLike) -> Array:
        """The derivative of the twist, which is constant: (..., 3, wheels)."""
        inverse = np.linalg.pinv(self.matrix)
        return np.broadcast_to(inverse, (*self._read(controls).shape[:-1], *inverse.shape))

    def equations(self) -> WheelEquations:
        """The kinematics in the symbols r, the wheels' radius, and of their places; controls are their speeds w_i.

        Wheels around the middle are at the distance d. A place along x that all wheels share, ahead or behind, is l,
        one along y is w; others are x_i and y_i. Angles other than twelfths and eighths of a turn are beta_i, gamma_i.

        >>> base = Omnidirectional.mecanum(radius=0.1, length=0.6, width=0.4).equations()
        >>> base.constraints.subs("theta", 0)[0, :3], base.twist[0]
        (Matrix([[sqrt(2)/2, -sqrt(2)/2, sqrt(2)*(-l - w)/2]]), r*(w_1 + w_2 + w_3 + w_4)/4)
        """
        import sympy as sp

        from chainrule.wheels import equations as sym

        (r,) = sym.symbols("r", positive=True)
        count = len(self.placing)
        u = sym.symbols(" ".join(f"w_{i + 1}" for i in range(count)))
        parameters = {r: float(self.radius)}
        places = _around_the_middle(self.placing, parameters) or [
            _places(self.placing[:, 0], "x", "l", parameters),
            _places(self.placing[:, 1], "y", "w", parameters),
        ]
        rows, H = [], []
        for i, (x, y) in enumerate(zip(*places, strict=True)):
            beta, named = sym.exact_angle(float(self.placing[i, 2]), f"beta_{i + 1}")
            gamma, others = sym.exact_angle(float(self.placing[i, 3]), f"gamma_{i + 1}")
            parameters |= {**named, **others}
            along = beta + gamma
            own = [-r * sp.cos(gamma) if k == i else 0 for k in range(count)]
            rows.append([*sym.row(along, x, y), *own])
            c, s = sp.cos(along), sp.sin(along)
            H.append([part / (r * sp.cos(gamma)) for part in (c, s, x * s - y * c)])
        A = sp.Matrix(H)
        inverse = A.inv() if count == 3 else (A.T * A).inv() * A.T
        twist = sp.ImmutableMatrix((inverse * sp.Matrix(u)).applyfunc(sp.factor))
        found = sym.WheelEquations(
            "base on wheels with rollers", u, (*sym.POSE_RATES, *u), parameters, twist, sp.ImmutableMatrix(rows),
            sp.ImmutableMatrix(sp.eye(3)),
        )  # fmt: skip
        return sym.with_check(found, self.twist, self.wheel_speeds([0.3, -0.2, 0.4]).tolist())

    def slip(self, speeds: ArrayLike) -> Array:
        """The excess speed of each wheel over rolling without slip, in rad/s: (..., wheels); zero for three wheels."""
        u = self._read(speeds, "wheel speeds")
        return u - self.wheel_speeds(self.twist(u))

    def _names(self) -> tuple[str, ...]:
        return tuple(f"wheel {i + 1}" for i in range(len(self.placing)))


def _around_the_middle(placing: Array, parameters: dict[Any, float]) -> list[list[Any]]:
    """Places at one distance d from the middle, at twelfths or eighths of a turn; none for other places."""
    import sympy as sp

    from chainrule.wheels import equations as sym

    distance = np.hypot(placing[:, 0], placing[:, 1])
    angles = [sym.exact_angle(float(np.arctan2(y, x)), "angle") for x, y in placing[:, :2]]
    if not np.allclose(distance, distance[0], rtol=1e-12) or not distance[0] or any(named for _, named in angles):
        return []
    (d,) = sym.symbols("d", positive=True)
    parameters[d] = float(distance[0])
    return [[d * function(angle) for angle, _ in angles] for function in (sp.cos, sp.sin)]


def _places(numbers: Array, letter: str, shared: str, parameters: dict[Any, float]) -> list[Any]:
    """Places of wheels as symbols, zeros as they are; their numbers are added to the parameters."""
    from chainrule.wheels import equations as sym

    lengths = np.abs(numbers)
    largest = float(lengths.max())
    if largest and np.allclose(lengths, largest, rtol=1e-12):
        (symbol,) = sym.symbols(shared, positive=True)
        parameters[symbol] = largest
        return [symbol if x > 0 else -symbol for x in numbers]
    found: list[Any] = []
    for i, x in enumerate(numbers):
        if abs(x) <= 1e-12 * largest:
            found.append(0)
            continue
        (symbol,) = sym.symbols(f"{letter}_{i + 1}")
        parameters[symbol] = float(x)
        found.append(symbol)
    return found
