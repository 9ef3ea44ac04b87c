"""Edits of a robot. Each returns a new robot and leaves the old one as it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from chainrule.arguments import number, placement, real_array, refuse_nonfinite, symmetric, vector
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
        kinds = {joint.name: joint.kind for joint in self.model.joints}
        numbers = {}
        for name, position in positions.items():
            what = f"position of joint {name!r}"
            array = real_array(position, what)
            refuse_nonfinite(array, what)
            if array.ndim > 1:
                raise ShapeError(f"{what} must be a number or a list of them, got shape {array.shape}")
            kind = kinds.get(name)
            if kind and kind.nq != kind.nv and array.shape == (kind.nq,) and not array[-4:] @ array[-4:] > 0:
                raise ShapeError(f"{what} has a zero quaternion, which is no orientation; (0, 0, 0, 1) turns nothing")
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
        m, c = number(mass, "mass"), vector(com, "com")
        wrong = objection(m, c, I)
        if wrong:
            raise ModelError(f"the payload {wrong}; correct its mass (kg) or its inertia about the com (kg m^2)")
        return self._edited(edits.add_payload(self.model, edits.meant(self.model, link), Inertia.from_com(m, c, I)))

    def with_frame(self, name: str, origin: ArrayLike | None = None, *, link: str | None = None) -> Self:
        """Name a frame (a tool, a sensor), placed by a 4-by-4 transform in a link or frame."""
        T = placement(origin, "origin")
        return self._edited(edits.add_frame(self.model, name, edits.meant(self.model, link), T))

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
        scale = number(factor, "factor")
        if not scale > 0:
            raise ModelError(f"the factor of the masses must be positive, got {factor!r}")
        return self._edited(edits.scale_masses(self.model, scale))

    def attach(
        self, other: Robot, link: str | None = None, *, origin: ArrayLike | None = None, prefix: str = ""
    ) -> Self:
        """Bolt another robot's base to a link or frame of this one. `prefix` keeps the names of the two apart.

        The other's end-effector becomes that of the whole; gravity is this one's.
        """
        if not isinstance(other, Editing) or not isinstance(prefix, str):
            wrong = f"prefix={prefix!r}" if isinstance(other, Editing) else f"{other!r:.60}"
            raise ShapeError(f"attach takes a Robot, and a string as prefix, got {wrong}; cr.load(...) makes robots")
        place = placement(origin, "origin")
        return self._edited(edits.attach(self.model, other.model, edits.meant(self.model, link), place, prefix))

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

    def _edited(self, model: Model) -> Self:
        """A robot of the new model, unless its numbers have grown beyond what a float can hold."""
        return type(self)(checked(model, check=False, warn=False))
