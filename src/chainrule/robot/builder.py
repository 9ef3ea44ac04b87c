"""Robots built in a few lines: `cr.build("arm").link("base").revolute("shoulder", axis="y").link("upper", ..)`.

A chain is written from the base outward: a joint, then the link that it moves. Each call returns a new builder, so that
two robots can grow from the same trunk.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from chainrule.arguments import flag, number, positive, real_array, vector, word
from chainrule.calls import explains_arguments, explains_methods
from chainrule.core.validation import validate
from chainrule.display.text import Advised
from chainrule.errors import ModelError, ShapeError, UnknownNameError, short_repr
from chainrule.model import (
    GRAVITY,
    Composite,
    Configuration,
    Dof,
    Fixed,
    Frame,
    Free,
    Geometry,
    Joint,
    JointKind,
    Layout,
    Link,
    Mimic,
    Model,
    Screw,
    Spherical,
    Spring,
)
from chainrule.model.parts import DOF_NUMBERS, with_both_directions
from chainrule.robot.bodies import rigid_body, turn_z_to
from chainrule.robot.edits import read_spring
from chainrule.robot.placing import direction, place
from chainrule.robot.rigid_body import RigidBody, refuse_symbols
from chainrule.robot.robot import Robot
from chainrule.spatial import Transform, Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ANGLES = ("lower", "upper", "velocity", "rest", "stribeck", "ripple_phase")
"""Properties of a turning joint that are angles or their rates."""


@explains_methods
@dataclass(frozen=True)
class Builder(Advised):
    """A robot that is being built. Each call returns a new builder; `robot()` makes the robot.

    >>> import chainrule as cr
    >>> arm = (
    ...     cr.build("arm", along="x")
    ...     .revolute("shoulder", axis="y", lower=-2.0, upper=2.0, effort=40.0)
    ...     .link("upper", mass=2.0, length=0.3)
    ...     .revolute("elbow", axis="y", lower=0.0, upper=2.5, effort=20.0)
    ...     .link("forearm", mass=1.0, length=0.25)
    ...     .frame("tip")
    ...     .robot()
    ... )
    >>> float(arm.pose([0.0, 0.0])[0, 3]), arm.gravity_torque([0.0, 0.0]).round(3).tolist()
    (0.55, [-7.112, -1.226])
    """

    name: str
    along: Vector = Vector(0.0, 0.0, 1.0)
    degrees: bool = False
    links: tuple[Link, ...] = ()
    joints: tuple[Joint, ...] = ()
    frames: tuple[Frame, ...] = ()
    geometries: tuple[Geometry, ...] = ()
    springs: tuple[Spring, ...] = ()
    positions: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = ()
    pull: Vector = GRAVITY
    tip: str | None = None
    pending: Joint | None = None
    """A joint whose link is not there yet."""
    ends: Mapping[str, Vector] = field(default_factory=dict)
    """The end of each link, in its own frame."""

    # --- links ---

    def link(
        self,
        name: str,
        body: RigidBody | None = None,
        *,
        mass: float | None = None,
        com: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        length: float | None = None,
        along: Any = None,
        shape: str | None = None,
        size: ArrayLike | None = None,
        radius: float | None = None,
        density: float | None = None,
    ) -> Builder:
        """Add the link that the joint before it moves; the first link without a joint is the base.

        A link with a length reaches from its frame to its end, where the next joint is put. With a mass or density and
        no other numbers it is uniform along it: a thin rod, or a cylinder where it has a radius, or a capsule or box
        where `shape` says so. Without a length, a shape lies around the frame's origin. With `com` and no inertia it
        is a point mass.

        Parameters
        ----------
        name
            The link's name.
        body
            A `cr.rigid_body`, in the link's frame, in place of numbers.
        mass, com, inertia
            In kg; in m, in the link's frame; about the com in kg m^2, as (xx, yy, zz), (xx, yy, zz, xy, xz, yz) or
            3-by-3.
        length
            From the link's frame to its end, in m.
        along
            The direction of the length in the link's frame: "x", "-z", .. or three numbers; the builder's unless given.
        shape, size, radius, density
            As of `cr.rigid_body`, centered halfway along the length. The size of a box is along the link's own axes;
            cylinders and capsules lie along the length.
        """
        here = self._new(name, "link", self._bodies())
        if self.pending is None and self.links:
            raise ModelError(
                f"{here}: nothing joins it to the robot; a joint comes before the link that it moves, such as "
                f".fixed(...).link({name!r}, ...)"
            )
        u = self.along if along is None else direction(along, f"{here}: along")
        far = 0.0 if length is None else positive(length, f"{here}: length", "a positive number of meters", unit="m")
        end = u * far
        length = None if length is None else far
        numbers = {"mass": mass, "com": com, "inertia": inertia, "shape": shape, "size": size, "radius": radius,
                   "density": density}  # fmt: skip
        if body is None:
            body = self._body(numbers, length, u, here)
        elif not isinstance(body, RigidBody):
            raise ShapeError(f"{here}: the body must be a cr.rigid_body(...), got {short_repr(body)}")
        elif any(value is not None for value in numbers.values()):
            raise ShapeError(f"{here}: give either a body, or mass, com, inertia and a shape")
        else:
            refuse_symbols(body, here)
        links, joints = self.links, self.joints
        if self.pending is not None:
            if not links:
                links = (Link("base"),)
            joints = (*joints, replace(self.pending, child=name))
        shapes = (Geometry(name, one, at) for one, at in body.shapes)
        return replace(
            self,
            links=(*links, replace(body.link, name=name)),
            joints=joints,
            geometries=(*self.geometries, *shapes),
            pending=None,
            ends={**self.ends, name: end},
        )

    def _bodies(self) -> list[str]:
        """The names of links and frames; a joint without a link before it stands on a base."""
        links = [link.name for link in self.links] or ([] if self.pending is None else ["base"])
        return [*links, *(frame.name for frame in self.frames)]

    def _body(self, numbers: dict[str, Any], length: float | None, u: Vector, here: str) -> RigidBody:
        """The body of a link, from numbers or from a shape along it."""
        given = {key: value for key, value in numbers.items() if value is not None}
        if not given:
            return rigid_body(0.0)
        if "mass" not in given and "density" not in given:
            raise ShapeError(f"{here}: {', '.join(given)} need a mass (kg), or a density (kg/m^3); give one of them")
        if length is not None and "shape" not in given and not {"com", "inertia"} & given.keys():
            given["shape"] = "cylinder" if "radius" in given else "rod"
        try:
            if "shape" not in given or length is None:
                return rigid_body(**given)
            if given["shape"] in ("cylinder", "capsule", "rod"):
                return rigid_body(**given, length=length, origin=Transform(turn_z_to(u), u * (length / 2)))
            return rigid_body(**given, xyz=[*(u * (length / 2))])
        except (ModelError, ShapeError) as error:
            raise type(error)(f"{here}: {str(error).removeprefix('rigid_body: ')}") from None

    # --- joints ---

    def revolute(self, name: str, *, axis: Any = "z", **options: Any) -> Builder:
        """Add a joint that turns about an axis, between limits.

        It moves the link that comes next, and sits at the end of the link before it unless told otherwise. All joints
        take the same options.

        Parameters
        ----------
        name
            The joint's name.
        axis
            "x", "-y", .. or three numbers, in the joint's frame.
        parent
            The link or frame that carries it; the last link unless given. This makes branches.
        origin
            The pose of the joint's frame in the parent.
        xyz, rpy
            The same as a place (m) and roll, pitch, yaw about fixed axes (rad); with rpy alone it stays at the end of
            the parent.
        lower, upper, velocity, effort, viscous, coulomb, static, stribeck, rotor, gear, stiffness, rest
            Limits, friction (these and the other numbers of `robot.edit`), rotor and spring, as of
            `robot.edit`.
        follows, multiplier, offset
            The joint that this one follows: q = multiplier * (the other's) + offset.
        """
        return self._joint("revolute", name, lambda here: Screw.revolute(direction(axis, f"{here}: axis")), options)

    def continuous(self, name: str, *, axis: Any = "z", **options: Any) -> Builder:
        """Add a joint that turns without end; options as of `revolute`."""
        return self._joint(
            "continuous",
            name,
            lambda here: Screw.revolute(direction(axis, f"{here}: axis"), name="continuous"),
            options,
        )

    def prismatic(self, name: str, *, axis: Any = "z", **options: Any) -> Builder:
        """Add a joint that slides along an axis; options as of `revolute`, limits in m, effort in N."""
        return self._joint("prismatic", name, lambda here: Screw.prismatic(direction(axis, f"{here}: axis")), options)

    def helical(self, name: str, *, pitch: float, axis: Any = "z", **options: Any) -> Builder:
        """Add a screw that advances by `pitch` meters for each radian; options as of `revolute`."""
        return self._joint(
            "helical", name,
            lambda here: Screw.helical(direction(axis, f"{here}: axis"), None, number(pitch, f"{here}: pitch")),
            options,
        )  # fmt: skip

    def universal(self, name: str, *, axes: Sequence[Any] = ("x", "y"), **options: Any) -> Builder:
        """Add two turning axes in one point, the first fixed in the parent, the second in the child."""

        def kind(here: str) -> JointKind:
            if isinstance(axes, str) or not isinstance(axes, Sequence) or len(axes) != 2:
                raise ShapeError(f"{here}: axes must be two directions, such as ('x', 'y'), got {short_repr(axes)}")
            return Composite.universal(*(direction(axis, f"{here}: axes") for axis in axes))

        return self._joint("universal", name, kind, options)

    def cylindrical(self, name: str, *, axis: Any = "z", **options: Any) -> Builder:
        """Add a joint that turns about and slides along one axis; options as of `revolute`."""
        return self._joint(
            "cylindrical", name, lambda here: Composite.cylindrical(direction(axis, f"{here}: axis")), options
        )

    def planar(self, name: str, *, normal: Any = "z", **options: Any) -> Builder:
        """Add a joint that moves in a plane: two distances, and the angle about its normal."""
        return self._joint("planar", name, lambda here: Composite.planar(direction(normal, f"{here}: normal")), options)

    def spherical(self, name: str, **options: Any) -> Builder:
        """Add a ball joint, whose coordinates are a quaternion; options as of `revolute`."""
        return self._joint("spherical", name, lambda _: Spherical(), options)

    def free(self, name: str, **options: Any) -> Builder:
        """Add a joint that leaves its link free: six degrees of freedom."""
        return self._joint("free", name, lambda _: Free(), options)

    def fixed(self, name: str, **options: Any) -> Builder:
        """Add a joint that does not move; options parent, origin, xyz and rpy as of `revolute`."""
        return self._joint("fixed", name, lambda _: Fixed(), options)

    def _joint(self, method: str, name: str, make: Any, options: dict[str, Any]) -> Builder:
        here = self._new(name, method, [joint.name for joint in self.joints])
        if self.pending is not None:
            raise ModelError(
                f"{here}: the joint {self.pending.name!r} before it has no link; a joint is followed by the link that "
                f"it moves, .link(...), with no mass where it has none"
            )
        known = [
            "parent", "origin", "xyz", "rpy", "follows", "multiplier", "offset", *DOF_NUMBERS,
        ]  # fmt: skip
        for key in options:
            if key not in known:
                raise UnknownNameError.of("option", key, ["axis", *known], here)
        kind: JointKind = make(here)
        parent, offset, end = self._parent(options.get("parent"), here)
        origin, xyz, rpy = (options.get(key) for key in ("origin", "xyz", "rpy"))
        if origin is None and xyz is None:
            xyz = [*end]
        T = offset * place(origin, xyz, rpy, degrees=self.degrees, what=here)
        mimic = self._mimic(options, here)
        numbers = {key: value for key, value in options.items() if key not in known[:7]}
        joint = Joint(name, parent, "", kind, T, self._dofs(kind, numbers, here), mimic)
        return replace(self, pending=joint)

    def _mimic(self, options: dict[str, Any], here: str) -> Mimic | None:
        other = options.get("follows")
        if other is None:
            if "multiplier" in options or "offset" in options:
                raise ShapeError(f"{here}: multiplier and offset belong to follows=..., the joint that it follows")
            return None
        names = [joint.name for joint in self.joints]
        if other not in names:
            raise UnknownNameError.of("joint", other, names, f"{here}: follows: the robot so far")
        offset = number(options.get("offset", 0.0), f"{here}: offset")
        turns = next(joint for joint in self.joints if joint.name == other).kind.units[:1] == ("rad",)
        if self.degrees and turns:
            offset = math.radians(offset)
        return Mimic(other, number(options.get("multiplier", 1.0), f"{here}: multiplier"), offset)

    def _parent(self, parent: Any, here: str) -> tuple[str, Transform, Vector]:
        """The link that carries a joint or frame, the pose in it of what was named, and the end there."""
        if parent is None:
            name = self.links[-1].name if self.links else "base"
            return name, Transform.identity(), self.ends.get(name, Vector.zero())
        for frame in self.frames:
            if frame.name == parent:
                return frame.link, frame.origin, Vector.zero()
        names = [link.name for link in self.links] or ["base"]
        if parent not in names:
            known = [*names, *(frame.name for frame in self.frames)]
            raise UnknownNameError.of("link or frame", parent, known, f"{here}: the robot so far")
        return parent, Transform.identity(), self.ends.get(parent, Vector.zero())

    def _dofs(self, kind: JointKind, numbers: dict[str, Any], here: str) -> tuple[Dof, ...]:
        if not numbers:
            return ()
        if not kind.nv:
            raise ModelError(f"{here}: a fixed joint has no {', '.join(numbers)}")
        numbers = with_both_directions(numbers)
        dofs = [Dof()] * kind.nv
        for key, value in numbers.items():
            array = real_array(value, f"{here}: {key}")
            if array.shape not in ((), (kind.nv,)):
                raise ShapeError(f"{here}: {key} must be one number, or {kind.nv}, got shape {array.shape}")
            row = array.tolist() if array.ndim else [float(array)] * kind.nv
            for k, (x, unit) in enumerate(zip(row, kind.units, strict=True)):
                turned: Any = math.radians(x) if self.degrees and unit == "rad" and key in ANGLES else x
                change: dict[str, Any] = {key: turned}
                dofs[k] = replace(dofs[k], **change)
        return tuple(dofs)

    # --- the rest ---

    def frame(
        self, name: str, *, parent: str | None = None, origin: Any = None, xyz: Any = None, rpy: Any = None
    ) -> Builder:
        """Name a frame on a link: a tool, a sensor. It is at the end of the last link unless told otherwise.

        Parameters
        ----------
        name
            The frame's name.
        parent
            The link or frame that carries it; the last link unless given.
        origin, xyz, rpy
            Its pose in the parent, or its place (m) and its roll, pitch, yaw (rad, or degrees if the builder has them).
        """
        here = self._new(name, "frame", self._bodies())
        if self.pending is not None:
            raise ModelError(
                f"{here}: the joint {self.pending.name!r} before it has no link yet; call .link(...) first"
            )
        carrier, offset, end = self._parent(parent, here)
        if origin is None and xyz is None:
            xyz = [*end]
        links = self.links or (Link("base"),)
        T = offset * place(origin, xyz, rpy, degrees=self.degrees, what=here)
        return replace(self, links=links, frames=(*self.frames, Frame(name, carrier, T)))

    def spring(
        self,
        name: str,
        link_a: str,
        link_b: str,
        point_a: ArrayLike = (0.0, 0.0, 0.0),
        point_b: ArrayLike = (0.0, 0.0, 0.0),
        *,
        stiffness: float = 0.0,
        rest_length: float = 0.0,
        damping: float = 0.0,
        force: float = 0.0,
    ) -> Builder:
        """Put a spring and a damper between points of two links or frames, as `robot.with_spring` does.

        Parameters
        ----------
        name
            The spring's name.
        link_a, link_b, point_a, point_b
            The links or frames, and the points on them, in m.
        stiffness, rest_length, damping, force
            In N/m, m, N s/m and N.
        """
        here = self._new(name, "spring", [spring.name for spring in self.springs])
        numbers = {"stiffness": stiffness, "rest_length": rest_length, "damping": damping, "force": force}
        spring = read_spring(name, link_a, link_b, point_a, point_b, here, **numbers)
        return replace(self, springs=(*self.springs, spring))

    def gravity(self, gravity: ArrayLike) -> Builder:
        """Set gravity, in m/s^2 in base axes; (0, 0, -9.81) unless set."""
        return replace(self, pull=vector(gravity, f"build {self.name!r}: gravity", "m/s^2"))

    def end_effector(self, name: str) -> Builder:
        """Set the link or frame that functions take when none is named; the only frame or tip unless set."""
        self._parent(word(name, "end_effector"), f"build {self.name!r}: end_effector")
        return replace(self, tip=name)

    def configuration(self, name: str, positions: Mapping[str, Any]) -> Builder:
        """Name a configuration: joints and their positions, rad or m (or degrees); joints left out are at zero."""
        here = self._new(name, "configuration", [known for known, _ in self.positions])
        if not isinstance(positions, Mapping):
            raise ShapeError(
                f"{here}: positions must be a dictionary of joints and numbers, got {short_repr(positions)}"
            )
        return replace(self, positions=(*self.positions, (name, tuple(positions.items()))))

    def robot(self, *, check: Any = "strict", repair: bool = False) -> Robot:
        """Make the robot; bodies that cannot exist and joints that move no mass are refused, unless check is "warn".

        check, repair: as of `Robot.from_urdf`.
        """
        if self.pending is not None:
            raise ModelError(
                f"build {self.name!r}: the joint {self.pending.name!r} has no link; a joint is followed by the link "
                "that it moves, .link(...)"
            )
        if not self.links:
            raise ModelError(
                f"build {self.name!r}: there are no links; each call returns a new builder, so keep what it returns: "
                "b = b.link(...)"
            )
        tip = self.frames[0].name if self.tip is None and len(self.frames) == 1 else self.tip
        model = Model.build(
            self.name, self.links, self.joints, self.frames, self.pull, tip, geometries=self.geometries,
            configurations=[self._configuration(name, dict(given)) for name, given in self.positions],
            springs=self.springs,
        )  # fmt: skip
        return Robot(validate(model, check=check, repair=flag(repair, "robot: repair")))

    def _configuration(self, name: str, given: dict[str, Any]) -> Configuration:
        layout = Layout.of(self.joints)
        here = f"build {self.name!r}: configuration({name!r})"
        chosen: dict[str, float] = {}
        for joint, value in given.items():
            if joint in layout.by_joint:
                places = layout.coordinates[layout.by_joint[joint].q]
            else:
                places = tuple(c for c in layout.coordinates if c.name == joint)
            if not places:
                raise UnknownNameError.of("joint", joint, layout.joint_names, here)
            array = real_array(value, f"{here}: {joint}")
            if array.shape not in ((len(places),), () if len(places) == 1 else (len(places),)):
                raise ShapeError(f"{here}: {joint!r} takes {len(places)} numbers, got shape {array.shape}")
            for coordinate, x in zip(places, array.reshape(-1).tolist(), strict=True):
                chosen[coordinate.name] = math.radians(x) if self.degrees and coordinate.unit == "rad" else x
        return Configuration(name, tuple(chosen.items()))

    def _new(self, name: Any, method: str, taken: Sequence[str]) -> str:
        """The call in words, for messages; a name that is taken is refused."""
        here = f"build {self.name!r}: {method}({short_repr(name)})"
        if not isinstance(name, str) or not name:
            raise ShapeError(f"{here}: the name must be a string that is not empty")
        if name in taken:
            raise ModelError(f"{here}: the name is used already; each {method} has its own name")
        return here

    def __repr__(self) -> str:
        waiting = "" if self.pending is None else f", and joint {self.pending.name!r} without a link yet"
        chain = ", ".join(link.name for link in self.links) or "no links"
        return f"<Builder {self.name!r}: {chain}{waiting}>"


@explains_arguments
def build(name: str = "robot", *, along: Any = "z", degrees: bool = False) -> Builder:
    """Begin a robot: links and joints follow, and `robot()` ends it.

    Parameters
    ----------
    name
        The robot's name.
    along
        The direction in which links with a length reach, in their own frames: "x", "-z", .. or three numbers.
    degrees
        Whether angles are in degrees: rpy, limits, speeds, rest positions and configurations.

    Examples
    --------

    >>> import chainrule as cr
    >>> swing = cr.build("swing").continuous("hinge", axis="y").link("rod", mass=1.0, length=1.0, along="-z").robot()
    >>> swing.mass_matrix([0.0]).round(6).tolist()
    [[0.333333]]
    """
    label = word(name, "build: name")
    if not label:
        raise ShapeError("build: name must not be empty")
    return Builder(label, direction(along, "build: along"), flag(degrees, "build: degrees"))
