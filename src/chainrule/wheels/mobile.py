"""An arm on wheels, as one robot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array, number, rows_of, symmetric, together
from chainrule.core.reading import read_state
from chainrule.errors import ModelError, ShapeError, short_repr
from chainrule.kinematics.tasks import pseudo_inverse, rows_of_task
from chainrule.lazy import cached_property
from chainrule.model import Composite, Joint, Link, Model
from chainrule.robot.robot import Robot
from chainrule.spatial import Symmetric, Vector
from chainrule.wheels.bases import Base
from chainrule.wheels.plane import planar_rotation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class MobileManipulator:
    """An arm bolted to a base: `robot` has a planar joint "drive" of coordinates (x, y, theta), then the arm's joints.

    Its velocities u are those that the base can make, then those of the arm. The base has (v, omega) if it cannot go
    sideways, and (vx, vy, omega) if it can, in body axes. qd = S(q) u, and a frame's twist is J(q) S(q) u.

    Parameters
    ----------
    base
        The wheeled base.
    arm
        The robot on it.
    origin
        The pose of the arm's base in the chassis, 4-by-4.
    mass, inertia
        Of the chassis: kg, and kg m^2 about its origin. They matter to the dynamics only.
    prefix
        Put before the names of the arm's links and joints.

    Examples
    --------
    >>> import chainrule as cr
    >>> from chainrule.wheels import MobileManipulator, Unicycle
    >>> whole = MobileManipulator(Unicycle(), cr.load("planar_2r"))
    >>> whole.jacobian(np.zeros(5)).shape, whole.velocity_names
    ((6, 4), ('v', 'omega', 'joint1', 'joint2'))
    """

    def __init__(
        self,
        base: Base,
        arm: Robot,
        origin: ArrayLike | None = None,
        *,
        mass: float = 0.0,
        inertia: ArrayLike | None = None,
        prefix: str = "",
    ) -> None:
        if not isinstance(base, Base) or not isinstance(arm, Robot):
            wrong = base if not isinstance(base, Base) else arm
            raise ShapeError(f"MobileManipulator takes a wheeled base and a Robot as its arm, got {short_repr(wrong)}")
        if arm.nq != arm.nv:
            raise ModelError(f"the arm {arm.name!r} has joints with quaternions; a mobile manipulator takes plain ones")
        I = Symmetric.zero() if inertia is None else symmetric(inertia, "inertia")
        chassis = Link("chassis", number(mass, "mass"), Vector(0.0, 0.0, 0.0), I)
        drive = Joint("drive", "ground", "chassis", Composite.planar())
        ground = Model.build(f"{arm.name} on wheels", [Link("ground"), chassis], [drive], gravity=arm.model.gravity)
        self.base = base
        self.robot = Robot(ground).attach(arm, "chassis", origin=origin, prefix=prefix)

    @property
    def n(self) -> int:
        """The number of velocities in u."""
        return self.base.directions.shape[1] + self.robot.nv - 3

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """The names of the entries of u."""
        own = ("v", "omega") if self.base.directions.shape[1] == 2 else ("vx", "vy", "omega")
        return (*own, *self.robot.model.layout.velocity_names[3:])

    def velocity_map(self, q: ArrayLike) -> Array:
        """S with qd = S u: (..., robot.nv, n)."""
        (state,) = read_state(self.robot, "velocity_map", q=q)
        k = self.base.directions.shape[1]
        S = np.zeros((*state.shape[:-1], self.robot.nv, self.n))
        S[..., :3, :k] = planar_rotation(state[..., 2]) @ self.base.directions
        S[..., 3:, k:] = np.eye(self.robot.nv - 3)
        return S

    def joint_velocities(self, q: ArrayLike, u: ArrayLike) -> Array:
        """qd = S(q) u: (..., robot.nv)."""
        speeds = rows_of(u, self.n, "joint_velocities: u", ", ".join(self.velocity_names))
        (state,) = read_state(self.robot, "joint_velocities", q=q)
        together({"q": state, "u": speeds}, "joint_velocities")  # refuses batches that do not fit
        return (self.velocity_map(state) @ speeds[..., None])[..., 0]

    def jacobian(self, q: ArrayLike, link: str | None = None, *, frame: str = "world") -> Array:
        """J S, with J S u the twist (omega, v) of a link or frame: (..., 6, n); frame as for `Robot.jacobian`."""
        return self.robot.jacobian(q, link, frame=frame) @ self.velocity_map(q)

    def resolved_rate(
        self, q: ArrayLike, twist: ArrayLike, link: str | None = None, *, task: str = "pose", damping: float = 0.0
    ) -> Array:
        """The velocities u that come nearest to a twist in base axes, as in `robot.analysis`: (..., n)."""
        rows = rows_of_task(task)
        V = rows_of(twist, len(rows), "resolved_rate: twist", task)
        (state,) = read_state(self.robot, "resolved_rate", q=q)
        together({"q": state, "twist": V}, "resolved_rate")  # refuses batches that do not fit
        J = self.jacobian(state, link)[..., rows, :]
        return (pseudo_inverse(J, number(damping, "damping")) @ V[..., None])[..., 0]
