"""Edits of a robot. Each returns a new robot and leaves the old one as it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from chainrule.arguments import (
    number,
    placement,
    real_array,
    refuse_nonfinite,
    symmetric,
    vector,
)
from chainrule.core.validation import checked
from chainrule.errors import ModelError, ShapeError, UnknownNameError
from chainrule.model import Constraint, Dof, Model, edits
from chainrule.spatial import Inertia, Symmetric
from chainrule.spatial.physical import objection

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.robot.robot import Robot


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

    def with_constraint(
        self,
        kind: str,
        link_a: str,
        link_b: str,
        origin_a: ArrayLike | None = None,
        origin_b: ArrayLike | None = None,
        distance: float | None = None,
        name: str | None = None,
    ) -> Self:
        """Close a loop: tie two links or frames, each at a 4-by-4 transform in its own frame.

        kind: "point", the two origins coincide; "hinge", their z axes do too; "weld", their orientations; "distance",
        they are so many metres apart.

        >>> import chainrule as cr
        >>> arm = cr.load("planar_2r").with_constraint("distance", "base", "tip", distance=1.5)
        >>> arm.constraint_names
        ('distance0',)
        """
        given = f"{kind}{len(self.model.constraints)}" if name is None else name
        apart = None if distance is None else number(distance, "distance")
        constraint = Constraint(
            given, kind, link_a, link_b, placement(origin_a, "origin_a"), placement(origin_b, "origin_b"), apart
        )
        return self._edited(edits.add_constraint(self.model, constraint))

    def without_constraint(self, name: str) -> Self:
        """Open the loop that a constraint closes."""
        return type(self)(edits.remove_constraint(self.model, name))

    def with_end_effector(self, name: str) -> Self:
        """Make a link or frame the end-effector, which functions take when none is named."""
        self.model.locate(name)
        return type(self)(replace(self.model, end_effector=name))

    def with_gravity(self, gravity: ArrayLike) -> Self:
        """Another gravity vector, in m/s^2, in base axes."""
        return type(self)(edits.with_gravity(self.model, vector(gravity, "gravity")))

    def with_joint_properties(self, **properties: Any) -> Self:
        """Other numbers along the joints: limits (lower, upper, velocity, effort), friction (viscous, coulomb,
        coulomb_negative), rotor and gear, spring (stiffness, rest).

        Each is one number for all, one for each degree of freedom, or a dictionary of joint names and numbers. Unless
        coulomb_negative is given as well, coulomb counts in both directions.

        >>> import chainrule as cr
        >>> arm = cr.load("planar_2r").with_joint_properties(viscous=0.1, coulomb={"joint2": 0.5})
        >>> arm.friction_torque([1.0, 1.0]).round(3).tolist()
        [0.1, 0.6]
        """
        known = [field.name for field in fields(Dof)]
        for name in properties:
            if name not in known:
                raise UnknownNameError.of("joint property", name, known, "with_joint_properties")
        if "coulomb" in properties:
            properties.setdefault("coulomb_negative", properties["coulomb"])
        numbers = {name: self._for_dofs(value, name) for name, value in properties.items()}
        joints, at = [], 0
        for joint in self.model.joints:
            own = joint.kind.nv if joint.mimic is None else 0
            changed = tuple(
                replace(dof, **{name: float(values[at + k]) for name, values in numbers.items() if at + k in values})
                for k, dof in enumerate(joint.dofs[:own])
            )
            joints.append(replace(joint, dofs=changed or joint.dofs))
            at += own
        return self._edited(replace(self.model, joints=tuple(joints)))

    def _for_dofs(self, value: Any, name: str) -> dict[int, float]:
        """A number for each degree of freedom that has one."""
        if isinstance(value, Mapping):
            starts, at = {}, 0
            for joint in self.model.moving:
                starts[joint.name] = range(at, at + joint.kind.nv)
                at += joint.kind.nv
            for joint_name in value:
                if joint_name not in starts:
                    raise UnknownNameError.of("joint", joint_name, starts, f"robot {self.model.name!r}")
            return {i: _limit(x, f"{name} of joint {j!r}") for j, x in value.items() for i in starts[j]}
        array = real_array(value, name)
        if array.shape not in ((), (self.model.nv,)):
            raise ShapeError(f"{name} must be one number, or {self.model.nv}, or a dictionary, got shape {array.shape}")
        return dict(enumerate(np.broadcast_to(array, (self.model.nv,)).tolist()))

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


def _limit(value: Any, what: str) -> float:
    """One number, which may be infinite."""
    array = real_array(value, what)
    if array.ndim:
        raise ShapeError(f"{what} must be one number, got shape {array.shape}")
    return float(array)
