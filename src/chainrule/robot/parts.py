"""The parts of a robot as users read them: `robot.links["forearm"].mass`, and tables of all of them.

Each mapping keeps the model's order; each part has its numbers as arrays in SI units, and prints them with their units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from chainrule.arguments import Array
from chainrule.core.derived import remember
from chainrule.core.mechanism import Mechanism
from chainrule.display.text import Table, lines_of, table_lines, terminal_columns
from chainrule.display.words import PARTS, unknown_attribute
from chainrule.errors import UnknownAttributeError, UnknownNameError, visible
from chainrule.model import Composite, Dof, Frame, Joint, Link, Model, Moved, PolynomialScrew, Screw
from chainrule.spatial import Transform

T = TypeVar("T", Link, Joint, Frame)
F = TypeVar("F", Joint, Frame)


class PartView(Generic[T]):
    """A part of a robot, and the model that it belongs to."""

    part: T

    def __init__(self, model: Model, part: T) -> None:
        self._model, self.part = model, part

    @property
    def name(self) -> str:
        """Its name."""
        return self.part.name

    def _unknown(self, name: str) -> UnknownAttributeError:
        """The error for a name that a link, joint or frame does not have."""
        return unknown_attribute(self, name, PARTS, f"a {type(self).__name__.removesuffix('View').lower()}")

    if not TYPE_CHECKING:  # type checkers know the names

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(name) if name.startswith("_") else self._unknown(name)

    def __setattr__(self, name: str, value: object) -> None:
        if name not in ("_model", "part"):
            kind = type(self).__name__.removesuffix("View").lower()
            edit = f"edit({kind}s={{{self.name!r}: {{{name!r}: ...}}}})" if kind != "frame" else "with_frame(...)"
            raise UnknownAttributeError(f"a {kind} is never changed; robot.{edit} gives a new robot")
        super().__setattr__(name, value)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.part == other.part

    def __hash__(self) -> int:
        return hash(self.name)


class PlacedView(PartView[F]):
    """A part with a frame of its own, placed in that of a link."""

    @property
    def origin(self) -> Array:
        """Pose (4, 4) of its frame in the link that carries it."""
        return np.array(self.part.origin, dtype=float)

    @property
    def xyz(self) -> Array:
        """Place of its frame in that link (3,), in m."""
        return np.array([*self.part.origin.translation], dtype=float)

    @property
    def rpy(self) -> Array:
        """Orientation of its frame in that link: roll, pitch, yaw about fixed axes (3,), in rad."""
        return np.array([*self.part.origin.rotation.rpy()], dtype=float)


P = TypeVar("P", bound=PartView[Any])

PER_DOF = (
    "lower", "upper", "velocity", "effort", "viscous", "coulomb", "coulomb_negative", "rotor", "gear", "armature",
    "stiffness", "rest",
)  # fmt: skip
"""Properties that a joint has along each of its degrees of freedom."""


class Parts(Mapping[str, P], Generic[P]):
    """Links, joints or frames by name, in the order of the model. It cannot be written to."""

    def __init__(
        self, what: str, model: Model, parts: Sequence[P], heading: Sequence[str], row: Callable[[P], Sequence[str]]
    ) -> None:
        self._what, self._where = what, f"robot {model.name!r}"
        self._parts = {part.name: part for part in parts}
        self._heading, self._row = heading, row

    if not TYPE_CHECKING:  # type checkers know the names

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            what = f"robot.{self._what}s"
            hint = f"{what}[{name!r}]" if name in self._parts else f"{what}[NAME] is one, and {what} all of them"
            raise UnknownAttributeError(f"{what} has no attribute {name!r}; {hint}")

    def __getitem__(self, name: str) -> P:
        try:
            return self._parts[name]
        except (KeyError, TypeError):
            if isinstance(name, int) and not isinstance(name, bool) and -len(self._parts) <= name < len(self._parts):
                known = [*self._parts][name]
                raise UnknownPartError(
                    f"{self._where}: {self._what}s are found by their names: robot.{self._what}s[{known!r}]"
                ) from None
            raise UnknownPartError.of(self._what, name, self._parts, self._where) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._parts

    def __repr__(self) -> str:
        count = f"{len(self)} {self._what}{'' if len(self) == 1 else 's'} of {self._where}"
        return "\n".join([count, *table(self._heading, [self._row(part) for part in self.values()])])


class UnknownPartError(UnknownNameError, KeyError):
    """No link, joint or frame has this name; a KeyError as well, as of every mapping."""

    __str__ = Exception.__str__


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table that fits the terminal, indented."""
    return ["  " + line for line in table_lines(Table(heading, rows), terminal_columns() - 2)]


# --- text of numbers ---


def short(x: Any) -> str:
    """A number with six digits, without noise below a part in 10^15."""
    return f"{float(x):.6g}" if abs(x) > 1e-15 else "0"


def tuple_text(numbers: Any) -> str:
    """Numbers in parentheses."""
    return "(" + ", ".join(short(x) for x in numbers) + ")"


def limit(x: float, unit: str) -> str:
    """A limit with its unit, "none" where it is infinite."""
    return f"{short(x)} {unit}" if math.isfinite(x) else "none"


def units_of(unit: str) -> tuple[str, str, str]:
    """The units of effort, viscous friction and spring for a coordinate in rad or m."""
    effort = "N m" if unit == "rad" else "N"
    return effort, f"{effort} s/{unit}", f"{effort}/{unit}"


def position(T: Transform) -> str:
    """The place and orientation of a frame, in words."""
    rpy = [float(a) for a in T.rotation.rpy()]
    text = f"xyz {tuple_text(T.translation)} m"
    if not any(rpy):
        return text
    return f"{text}, rpy {tuple_text(np.degrees(rpy))} deg = {tuple_text(rpy)} rad"


# --- links ---


class LinkView(PartView[Link]):
    """A link of a robot: its mass, center of mass and inertia, and what it is joined to."""

    @property
    def mass(self) -> float:
        """Mass, in kg."""
        return float(self.part.mass)

    @property
    def com(self) -> Array:
        """Center of mass (3,) in the link's frame, in m."""
        return np.array([*self.part.com], dtype=float)

    @property
    def inertia(self) -> Array:
        """Inertia matrix (3, 3) about the center of mass, in the link's axes, in kg m^2."""
        return np.array([[*row] for row in self.part.inertia], dtype=float)

    @property
    def spatial_inertia(self) -> Array:
        """Spatial inertia (6, 6) about the origin of the link's frame, angular part first: kg m^2, kg m, kg.

        >>> import chainrule as cr
        >>> cr.load("planar_2r").links["link2"].spatial_inertia[[2, 2, 4, 4], [2, 4, 2, 4]].tolist()
        [1.0, 1.0, 1.0, 1.0]
        """
        return np.asarray(self.part.spatial_inertia, dtype=float)

    @property
    def joint(self) -> str | None:
        """The joint that moves the link; None for the base."""
        index = self._model.index_of[self.name]
        return self._model.joints[index - 1].name if index else None

    @property
    def parent(self) -> str | None:
        """The link that carries this one; None for the base."""
        index = self._model.index_of[self.name]
        return self._model.joints[index - 1].parent if index else None

    @property
    def children(self) -> tuple[str, ...]:
        """The links that this one carries, in order."""
        return tuple(joint.child for joint in self._model.joints if joint.parent == self.name)

    @property
    def frames(self) -> tuple[str, ...]:
        """The named frames on the link."""
        return tuple(frame.name for frame in self._model.frames if frame.link == self.name)

    def __repr__(self) -> str:
        I = self.part.inertia
        lines = [f"link {self.name!r}"]
        carried = f"on {self.parent!r} by joint {self.joint!r}" if self.parent is not None else "the base"
        lines.append(f"  place    {carried}; carries {', '.join(map(repr, self.children)) or 'no other link'}")
        lines.append(f"  mass     {short(self.mass)} kg")
        lines.append(f"  com      {tuple_text(self.part.com)} m, in the link's frame")
        lines.append(
            f"  inertia  xx, yy, zz {tuple_text((I.xx, I.yy, I.zz))} kg m^2, about the com, in the link's axes"
        )
        if I.xy or I.xz or I.yz:
            lines.append(f"           xy, xz, yz {tuple_text((I.xy, I.xz, I.yz))} kg m^2")
        if self.frames:
            lines.append(f"  frames   {', '.join(map(repr, self.frames))}")
        return "\n".join(lines_of(lines))


def links(robot: Mechanism) -> Parts[LinkView]:
    """The links by name, the base first: `robot.links["forearm"].mass`.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").links["link2"]
    link 'link2'
      place    on 'link1' by joint 'joint2'; carries no other link
      mass     1 kg
      com      (1, 0, 0) m, in the link's frame
      inertia  xx, yy, zz (0, 0, 0) kg m^2, about the com, in the link's axes
      frames   'tip'
    """
    model = robot.model

    def row(link: LinkView) -> list[str]:
        I = link.part.inertia
        numbers = [short(link.mass), tuple_text(link.part.com), tuple_text((I.xx, I.yy, I.zz))]
        return [link.name, link.parent or "", link.joint or "", *numbers]

    heading = ["link", "parent", "joint", "mass [kg]", "com [m]", "inertia xx, yy, zz [kg m^2]"]
    return remember(
        robot, "links", lambda: Parts("link", model, [LinkView(model, x) for x in model.links], heading, row)
    )


# --- joints ---


class JointView(PlacedView[Joint]):
    """A joint of a robot: type, axis, origin, limits, friction, rotor and spring.

    Properties along a degree of freedom (lower, upper, velocity, effort, viscous, coulomb, coulomb_negative, rotor,
    gear, armature, stiffness, rest) are numbers, and arrays where the joint has several degrees of freedom.
    """

    @property
    def type(self) -> str:
        """The kind of joint: "revolute", "prismatic", "fixed", .."""
        return self.part.type

    @property
    def parent(self) -> str:
        """The link that carries the joint."""
        return self.part.parent

    @property
    def child(self) -> str:
        """The link that the joint moves."""
        return self.part.child

    @property
    def axis(self) -> Array | None:
        """Direction of its axis (3,) in the joint's frame, (k, 3) where it has k axes, None where it has none."""
        axes = axes_of(self.part)
        return None if not axes else np.array(axes[0] if len(axes) == 1 else axes)

    @property
    def offset(self) -> Array:
        """Pose (4, 4) of the child in the joint's frame at q = 0: the identity unless its frame is elsewhere."""
        kind = self.part.kind
        return np.array(kind.offset if isinstance(kind, Moved) else Transform.identity(), dtype=float)

    @property
    def nq(self) -> int:
        """The number of its coordinates in q; 0 for fixed and mimic joints."""
        places = self._model.layout.by_joint.get(self.name)
        return places.q.stop - places.q.start if places else 0

    @property
    def nv(self) -> int:
        """The number of its velocities in qd; 0 for fixed and mimic joints."""
        places = self._model.layout.by_joint.get(self.name)
        return places.v.stop - places.v.start if places else 0

    @property
    def q_places(self) -> slice:
        """Its place in q; empty for fixed and mimic joints."""
        places = self._model.layout.by_joint.get(self.name)
        return places.q if places else slice(0, 0)

    @property
    def mimic(self) -> tuple[str, float, float] | None:
        """The joint that it follows, the multiplier and the offset; None where it follows none."""
        rule = self.part.mimic
        return None if rule is None else (rule.joint, float(rule.multiplier), float(rule.offset))

    def __getattr__(self, name: str) -> Any:
        if name not in PER_DOF:
            raise AttributeError(name) if name.startswith("_") else self._unknown(name)
        numbers = [float(getattr(dof, name)) for dof in self.part.dofs]
        if not numbers:
            raise AttributeError(f"joint {self.name!r} is fixed and has no {name}")
        return numbers[0] if len(numbers) == 1 else np.array(numbers)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *(PER_DOF if self.part.dofs else ())])

    def __repr__(self) -> str:
        joint = self.part
        lines = [f"joint {joint.name!r} ({joint.type}): moves {joint.child!r} on {joint.parent!r}"]
        axes = axes_of(joint)
        if axes:
            lines.append(f"  axis      {', '.join(map(tuple_text, axes))}")
        lines.append(f"  origin    {position(joint.origin)}")
        if isinstance(joint.kind, Moved):
            lines.append(f"  offset    {position(joint.kind.offset)}, of the child in the joint's frame")
        if joint.mimic:
            m = joint.mimic
            if isinstance(joint.kind, PolynomialScrew):
                powers = ", ".join(short(c) for c in joint.kind.coefficients)
                lines.append(f"  follows   {m.joint!r} by a polynomial, whose coefficients are {powers}")
            else:
                lines.append(f"  follows   {m.joint!r}: {short(m.multiplier)} times it, plus {short(m.offset)}")
        names = joint.kind.velocity_names
        for name, unit, dof in zip(names, joint.kind.units, joint.dofs, strict=True):
            lines += [f"  {line}" if not name else f"  {name}: {line}" for line in _dof_lines(dof, unit)]
        places = self._model.layout.by_joint.get(joint.name)
        if places:
            lines.append(f"  place     {_places('q', places.q)}, {_places('qd', places.v)}")
        return "\n".join(lines_of(lines))


def _places(name: str, places: slice) -> str:
    one = places.stop - places.start == 1
    return f"{name}[{places.start}]" if one else f"{name}[{places.start}:{places.stop}]"


def _dof_lines(dof: Dof, unit: str) -> list[str]:
    """Limits, friction, rotor and spring along one degree of freedom."""
    effort, _, spring = units_of(unit)
    lower, upper = float(dof.lower), float(dof.upper)
    text = f"{limit(lower, unit)} to {limit(upper, unit)}"
    if unit == "rad" and (math.isfinite(lower) or math.isfinite(upper)):
        text += f" ({limit(math.degrees(lower), 'deg')} to {limit(math.degrees(upper), 'deg')})"
    elif not (math.isfinite(lower) or math.isfinite(upper)):
        text = "none"
    most = f"velocity {limit(dof.velocity, f'{unit}/s')}, effort {limit(dof.effort, effort)}"
    lines = [f"limits    {text}; {most}"]
    if dof.viscous or dof.has_dry_friction or dof.friction_function is not None:
        lines.append(f"friction  {_friction_text(dof, unit)}")
    if dof.rotor:
        gear = "" if dof.gear == 1 else f", gear {short(dof.gear)}"
        at_joint = f" ({short(dof.armature)} {'kg m^2' if unit == 'rad' else 'kg'} at the joint)" if gear else ""
        lines.append(f"rotor     {short(dof.rotor)} kg m^2{gear}{at_joint}")
    if dof.stiffness:
        lines.append(f"spring    {short(dof.stiffness)} {spring}, at rest at {short(dof.rest)} {unit}")
    return lines


def _friction_text(dof: Dof, unit: str) -> str:
    """Friction along one degree of freedom, in words and with units."""
    effort, viscous, _ = units_of(unit)

    def both_ways(forth: float, back: float) -> str:
        same = forth == back
        return f"{short(forth)} {effort}" if same else f"{short(forth)} forwards, {short(back)} backwards {effort}"

    parts = [f"viscous {short(dof.viscous)} {viscous}", f"Coulomb {both_ways(dof.coulomb, dof.coulomb_negative)}"]
    if dof.static or dof.static_negative:
        parts.append(f"static {both_ways(dof.static, dof.static_negative)}")
    if dof.stribeck:
        parts.append(f"Stribeck speed {short(dof.stribeck)} {unit}/s")
    if dof.ripple:
        parts.append(f"ripple {short(dof.ripple)} sin({short(dof.ripple_waves)} q + {short(dof.ripple_phase)})")
    if dof.friction_function is not None:
        parts.append(repr(dof.friction_function))
    return ", ".join(parts)


def axes_of(joint: Joint) -> list[list[float]]:
    """The axes of a joint in its own frame, each (x, y, z); none for fixed, spherical and free joints."""
    kind = joint.kind.inner if isinstance(joint.kind, Moved) else joint.kind
    screws = kind.parts if isinstance(kind, Composite) else (kind,) if isinstance(kind, Screw) else ()
    return [[float(x) for x in (screw.angular if screw.turns else screw.linear)] for screw in screws]


def joints(robot: Mechanism) -> Parts[JointView]:
    """The joints by name, fixed and mimic ones too: `robot.joints["elbow"].lower`.

    >>> import chainrule as cr
    >>> cr.load("panda").joints["panda_joint4"]
    joint 'panda_joint4' (revolute): moves 'panda_link4' on 'panda_link3'
      axis      (0, 0, 1)
      origin    xyz (0.0825, 0, 0) m, rpy (90, 0, 0) deg = (1.5708, 0, 0) rad
      limits    -3.0718 rad to -0.0698 rad (-176.001 deg to -3.99925 deg); velocity
        2.175 rad/s, effort 87 N m
      friction  viscous 0.003 N m s/rad, Coulomb 0 N m
      place     q[3], qd[3]
    """
    model = robot.model

    def row(joint: JointView) -> list[str]:
        part = joint.part
        axis = ", ".join(map(tuple_text, axes_of(part)))
        follows = f" (follows {part.mimic.joint})" if part.mimic else ""
        numbers = ["", "", ""]
        if len(part.dofs) == 1:
            dof, unit = part.dofs[0], part.kind.units[0]
            spread = f"{short(dof.lower)} to {limit(dof.upper, unit)}"
            free = not (math.isfinite(dof.lower) or math.isfinite(dof.upper))
            effort = units_of(unit)[0]
            numbers = ["none" if free else spread, limit(dof.velocity, f"{unit}/s"), limit(dof.effort, effort)]
        elif part.dofs:
            numbers[0] = f"{len(part.dofs)} degrees of freedom"
        return [part.name, part.type + follows, part.parent, part.child, axis, *numbers]

    heading = ["joint", "type", "parent", "child", "axis", "limits", "velocity", "effort"]
    return remember(
        robot, "joints", lambda: Parts("joint", model, [JointView(model, x) for x in model.joints], heading, row)
    )


# --- frames ---


class FrameView(PlacedView[Frame]):
    """A named frame fixed to a link: a tool, a sensor, a marker."""

    @property
    def link(self) -> str:
        """The link that it is fixed to."""
        return self.part.link

    def __repr__(self) -> str:
        return visible(f"frame {self.name!r} on link {self.link!r}: {position(self.part.origin)}")


def frames(robot: Mechanism) -> Parts[FrameView]:
    """The named frames, in order: `robot.frames["tool"].origin`."""
    model = robot.model

    def row(frame: FrameView) -> list[str]:
        return [frame.name, frame.link, tuple_text(frame.xyz), tuple_text(np.degrees(frame.rpy))]

    heading = ["frame", "link", "xyz [m]", "rpy [deg]"]
    return remember(
        robot, "frames", lambda: Parts("frame", model, [FrameView(model, x) for x in model.frames], heading, row)
    )
