"""Edits of a robot. Each returns a new robot and leaves the old one as it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from chainrule.arguments import real_array, symmetric, transform, vector
from chainrule.checks import checked
from chainrule.errors import ModelError, ShapeError
from chainrule.model import Model, edits
from chainrule.spatial import Inertia, Symmetric
from chainrule.spatial.physical import objection

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.robot import Robot


class Editing:
    """Robots made from other robots."""

    model: Model

    def __init__(self, model: Model) -> None:
        raise NotImplementedError

    def lock(self, positions: Mapping[str, Any]) -> Self:
        """Fix joints at given positions (rad or m; for joints of several coordinates, a list of them).

        Their links become part of what carries them: energies and torques of the rest stay as they were with those
        joints at rest. Joints that mimic a locked one are locked with it.

        >>> import chainrule as cr
        >>> cr.load("panda").lock({"panda_joint7": 0.5}).n
        6
        """
        if not isinstance(positions, Mapping):
            raise ShapeError(f"lock takes a dictionary of joint names and positions, got {type(positions).__name__}")
        numbers = {}
        for name, position in positions.items():
            array = real_array(position, f"position of joint {name!r}")
            if not (abs(array) < float("inf")).all():
                raise ShapeError(f"position of joint {name!r} must be finite, got {position!r}")
            numbers[name] = array.tolist()
        return type(self)(edits.lock(self.model, numbers))

    def with_payload(
        self,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
        *,
        link: str | None = None,
    ) -> Self:
        """Weld a body to a link or frame, the end-effector unless one is named.

        mass in kg; com in m, in that frame; inertia about the com in kg m^2, as (xx, yy, zz), (xx, yy, zz, xy, xz,
        yz) or 3-by-3, none for a point mass.
        """
        I = Symmetric.zero() if inertia is None else symmetric(inertia, "inertia")
        c = vector(com, "com")
        wrong = objection(float(mass), c, I)
        if wrong:
            raise ModelError(f"the payload {wrong}")
        return type(self)(edits.add_payload(self.model, link or self.model.tip, Inertia.from_com(float(mass), c, I)))

    def with_frame(self, name: str, origin: ArrayLike | None = None, *, link: str | None = None) -> Self:
        """Name a frame (a tool, a sensor), placed by a 4-by-4 transform in a link or frame."""
        T = transform(origin, "origin")
        return type(self)(edits.add_frame(self.model, name, link or self.model.tip, T))

    def with_end_effector(self, name: str) -> Self:
        """Make a link or frame the end-effector, which functions take when none is named."""
        self.model.locate(name)
        return type(self)(replace(self.model, end_effector=name))

    def with_gravity(self, gravity: ArrayLike) -> Self:
        """Another gravity vector, in m/s^2, in base axes."""
        return type(self)(edits.with_gravity(self.model, vector(gravity, "gravity")))

    def without_friction(self) -> Self:
        """No viscous and no Coulomb friction."""
        return type(self)(edits.map_dofs(self.model, lambda dof: dof.without_friction()))

    def without_rotors(self) -> Self:
        """No rotor inertias."""
        return type(self)(edits.map_dofs(self.model, lambda dof: replace(dof, rotor=0)))

    def without_springs(self) -> Self:
        """No joint springs."""
        return type(self)(edits.map_dofs(self.model, lambda dof: replace(dof, stiffness=0, rest=0)))

    def scale_masses(self, factor: float) -> Self:
        """All masses and inertias multiplied by a positive factor; rotors stay."""
        if not 0 < factor < float("inf"):
            raise ModelError(f"the factor of the masses must be positive and finite, got {factor!r}")
        return type(self)(edits.scale_masses(self.model, float(factor)))

    def attach(
        self, other: Robot, link: str | None = None, *, origin: ArrayLike | None = None, prefix: str = ""
    ) -> Self:
        """Bolt another robot's base to a link or frame of this one. `prefix` keeps the names of the two apart.

        The other's end-effector becomes that of the whole; gravity is this one's.
        """
        model = edits.attach(self.model, other.model, link or self.model.tip, transform(origin, "origin"), prefix)
        return type(self)(checked(model, check=False, warn=False))

    def rebase(self, link: str) -> Self:
        """Hold the robot by another link. Joints keep their names and coordinates.

        The new base stands in the world as it did at q = 0; gravity is turned into its axes.
        """
        return type(self)(edits.rebase(self.model, link))

    def chain(self, link: str) -> Self:
        """Only the links from the base to a link or frame, which becomes the end-effector; the rest is cut off."""
        return type(self)(edits.chain(self.model, link))

    def floating(self) -> Self:
        """The same robot with a free joint under its base."""
        return type(self)(edits.floating(self.model))

    def merge_fixed(self) -> Self:
        """Links on fixed joints become part of what carries them, and their names frames: the same motion."""
        return type(self)(edits.merge_fixed(self.model))
