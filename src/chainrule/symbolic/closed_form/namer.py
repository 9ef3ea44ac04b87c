"""Names for the numbers of a model; `symbolic_model` lists them.

Lengths of a link are measured from a point on the axis of its own joint to points on the axes of the joints that it
carries. The frame of a link that is elsewhere gets a vector o_i of its own, which drops out of torques.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any, NamedTuple

import sympy as sp

from chainrule.errors import ShapeError, UnknownNameError, visible
from chainrule.formats.dh import Row, row_of
from chainrule.formats.exact import snap, without_rounding
from chainrule.model import Composite, Dof, Frame, Joint, Link, Model, Moved, Screw
from chainrule.model.joints import JointKind
from chainrule.spatial import Rotation, Symmetric, Transform, Vector
from chainrule.spatial.scalar import Scalar
from chainrule.symbolic.algebra.expressions import with_dots
from chainrule.symbolic.algebra.ring import Element, Ring
from chainrule.symbolic.closed_form.choices import Choices, check_coordinate_symbol, check_parameter_symbol
from chainrule.symbolic.closed_form.symbol_table import NamedSymbol, SymbolTable

AXES = "xyz"
ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")
X, Z = Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, 1.0)


class Names(NamedTuple):
    """A model over symbols: symbols of its state, numbers of its parameters, and the table of all."""

    model: Model
    q: list[sp.Symbol]
    qd: list[sp.Symbol]
    qdd: list[sp.Symbol]
    parameters: dict[sp.Symbol, float]
    table: SymbolTable
    phases: dict[sp.Symbol, int]
    """Angles about the axis of a joint -> the index of that joint's coordinate."""


class Point(NamedTuple):
    """A point in the frame of a link, in numbers and in symbols."""

    numbers: Vector
    symbols: Vector


ORIGIN = Point(Vector(0.0, 0.0, 0.0), Vector(0, 0, 0))


@dataclass
class Namer:
    """Gives names to the numbers of a model."""

    model: Model
    choices: Choices
    as_numbers: bool = False
    """Whether numbers stay numbers, except for those that the user replaces by others."""
    ring: Ring = field(default_factory=Ring)
    values: dict[sp.Symbol, float] = field(default_factory=dict)
    names: dict[str, float] = field(default_factory=dict)
    """Names that have been given, and the numbers that they stand for."""
    entries: dict[str, NamedSymbol] = field(default_factory=dict)
    """The symbols of the state and of parameters, by name."""
    points: dict[str, Point] = field(default_factory=dict)
    """Link -> the point from which its lengths are measured: on the axis of its joint, or the link's own origin."""
    ends: dict[str, list[Point]] = field(default_factory=dict)
    """Link -> positions of joints and frames on it, seen from that point."""
    phases: dict[sp.Symbol, int] = field(default_factory=dict)

    def name_all(self) -> Names:
        """The model over symbols."""
        model = self.model
        q, qd, qdd = self.coordinates()
        self.points[model.links[0].name] = ORIGIN
        joints = tuple(self.joint(body.index, body.joint) for body in model.bodies)
        frames = tuple(self.frame(frame) for frame in model.frames)
        links = (model.links[0], *(self.link(i, link) for i, link in enumerate(model.links[1:], 1)))
        symbolic = replace(model, joints=joints, links=links, frames=frames, gravity=self.gravity())
        self.refuse_unknown_names()
        table = SymbolTable(self.entries.values(), f"robot {visible(model.name)!r}")
        return Names(symbolic, q, qd, qdd, self.values, table, self.phases)

    def refuse_unknown_names(self) -> None:
        """Refuse names that a user wants to replace, and that are none."""
        for name in (*self.choices.numbers, *self.choices.symbols):
            if self.choices.numeric and name not in self.entries:
                raise ShapeError(
                    f"{name!r} has no symbol where parameters are 'numeric', only coordinates have; take 'symbolic'"
                )
            if name not in self.names and name not in self.entries:
                known = sorted({*self.names, *self.entries})
                raise UnknownNameError.of("parameter", name, known, f"robot {self.model.name!r}")

    # --- coordinates ---

    def coordinates(self) -> tuple[list[sp.Symbol], list[sp.Symbol], list[sp.Symbol]]:
        """The symbols q, qd and qdd."""
        words = ("coordinate", "velocity", "acceleration")
        found: tuple[list[sp.Symbol], ...] = ([], [], [])
        for k, velocity in enumerate(self.model.layout.velocities, 1):
            for order, (word, rates) in enumerate(zip(words, found, strict=True)):
                dots = ("", "dot", "ddot")[order]
                symbol = self.coordinate(f"q{dots}_{k}", dots, found[0][-1] if order else None)
                per = ("", "/s", "/s^2")[order]
                meaning = f"{word} of joint {k}{_in_brackets(velocity.name, f'joint{k}', f'joint_{k}')}"
                self.enter(NamedSymbol(f"q{dots}_{k}", symbol, meaning, f"{velocity.unit}{per}"))
                rates.append(symbol)
                if velocity.unit == "rad" and not order:
                    self.ring.angle(symbol)
                else:
                    self.ring.variable(symbol)
        q, qd, qdd = found
        return q, qd, qdd

    def coordinate(self, name: str, dots: str, base: sp.Symbol | None) -> sp.Symbol:
        """The user's symbol, or that of the user's coordinate with dots, or chainrule's own."""
        if name in self.choices.numbers:
            raise ShapeError(
                f"{name!r} is a coordinate or its rate, and no parameter, so that it cannot be replaced by a number; "
                "put it into the result, equations.M.subs(...), or hold the joint with robot.lock(...)"
            )
        chosen = self.choices.symbols.get(name)
        if isinstance(chosen, sp.Symbol):
            check_coordinate_symbol(chosen, name)
            return chosen
        if chosen is None and base is not None and base.name != name.replace(dots, ""):
            return with_dots(base, dots, **self.real)
        return sp.Symbol(chosen or name, **self.real)

    @property
    def real(self) -> dict[str, bool]:
        """The assumptions of symbols that take every real value."""
        return {} if self.choices.plain else {"real": True}

    def enter(self, new: NamedSymbol) -> None:
        """Add a symbol to the table; refused if another one has its name, unless both stand for the same."""
        for other in self.entries.values():
            if other.symbol.name != new.symbol.name or other == new:
                continue
            whose = f"{other.name!r} and {new.name!r} cannot both be called {new.symbol.name!r}"
            if other.value is None or new.value is None:
                raise ShapeError(f"{whose}: at least one of them is a coordinate; choose another name for one of them")
            if other.value != new.value:
                raise ShapeError(
                    f"the parameters {whose}: {other.name} is {other.value!r} and {new.name} is {new.value!r}, and a "
                    "symbol stands for one number; choose another name for one of them"
                )
            if other.unit != new.unit:
                raise ShapeError(
                    f"the parameters {whose}: one is in {other.unit} and the other in {new.unit}; choose another name "
                    "for one of them"
                )
            if other.symbol != new.symbol:
                raise ShapeError(
                    f"the parameters {whose} by two symbols with different assumptions; take the same symbol for both"
                )
        self.entries[new.name] = new

    # --- parameters ---

    def number(
        self, name: str, value: Scalar, unit: str, meaning: str, *, positive: bool = False, angle: bool = False
    ) -> Scalar:
        """A parameter: its symbol, or its number if parameters are numeric or a number replaces this name."""
        if value == 0:
            return 0
        value = without_rounding(float(value))
        name = self.free_name((name,), {"": value})
        self.names[name] = value
        if self.choices.numeric:
            return value
        if name in self.choices.numbers:
            return self.choices.numbers[name]
        if self.as_numbers:
            return value
        chosen = self.choices.symbols.get(name, name)
        if isinstance(chosen, sp.Symbol):
            check_parameter_symbol(chosen, name, value)
        else:
            known = next((e.symbol for e in self.entries.values() if e.symbol.name == chosen), None)
            sized = positive and not self.choices.plain
            fresh = sp.Symbol(chosen, positive=True) if sized else sp.Symbol(chosen, **self.real)
            chosen = fresh if known is None else known
        self.enter(NamedSymbol(name, chosen, meaning, unit, value))
        self.values[chosen] = value
        return self.ring.angle(chosen) if angle else self.ring.variable(chosen)

    def free_name(self, candidates: Iterable[str], endings: Mapping[str, float]) -> str:
        """The first name that stands for no other number: as it is, or with each of the endings and its number."""
        first: str | None = None
        for name in candidates:
            first = name if first is None else first
            if self._is_free(name, endings):
                return name
        return next(name for k in count(2) if self._is_free(name := f"{first}_{k}", endings))

    def _is_free(self, name: str, endings: Mapping[str, float]) -> bool:
        free = all(self.names.get(name + ending, value) == value for ending, value in endings.items())
        given = self.choices.given
        taken = (e.symbol.name for e in self.entries.values() if e.value is None and e.name not in given)
        return free and name not in taken

    def vector(self, v: Vector, bases: Iterable[str], meaning: str, unit: str = "m") -> Vector:
        """A vector with named components, the first base that is free and x, y or z; the base alone if there is one."""
        v = Vector(*(without_rounding(float(x)) for x in v))
        present = [x != 0 for x in v]
        if sum(present) == 1:
            base = self.free_name(bases, {"": float(abs(next(x for x in v if x)))})
            return Vector(*(self.positive_with_sign(base, x, unit, meaning) for x in v))
        base = self.free_name(bases, {axis: float(x) for axis, x in zip(AXES, v, strict=True) if x})
        parts = zip(AXES, v, strict=True)
        return Vector(*(self.number(base + axis, x, unit, f"{meaning}, along {axis}") for axis, x in parts))

    def positive_with_sign(self, name: str, value: float, unit: str, meaning: str) -> Scalar:
        """A positive parameter with the sign of its value."""
        size = self.number(name, abs(value), unit, meaning, positive=True)
        return -size if value < 0 else size

    def rotation(self, R: Rotation, names: Iterable[str], meaning: str) -> Rotation:
        """Quarter turns as they are, a rotation about one axis by a named angle, any other rotation by its numbers."""
        R = snap(R)
        rows = [[_to_integer(x) for x in row] for row in R]
        if all(isinstance(x, int) for row in rows for x in row):
            return Rotation(*(Vector(*row) for row in rows))
        for axis in (Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1)):
            if R * axis == axis and not self.choices.numeric:
                w = R.log()
                angle = without_rounding(float(w.x * axis.x + w.y * axis.y + w.z * axis.z))
                name = self.free_name(names, {"": angle})
                return Rotation.about(axis, self.number(name, angle, "rad", meaning, angle=True))
        return Rotation(*(Vector(*row) for row in rows))

    # --- joints ---

    def joint(self, i: int, joint: Joint) -> Joint:
        """A joint over symbols; the point from which the lengths of its link are measured is noted."""
        dofs = tuple(self.dof(joint, i, k, dof) for k, dof in enumerate(joint.dofs))
        self.points[joint.child] = ORIGIN
        if self.choices.numeric:
            return replace(joint, origin=_plain_pose(joint.origin), kind=_plain_kind(joint.kind), dofs=dofs)
        row = _row(joint)
        if row is None:
            origin, kind = self.joint_between_axes(i, joint)
        else:
            origin, kind = self.row_of_table(i, joint, row)
        return replace(joint, origin=origin, kind=kind, dofs=dofs)

    def row_of_table(self, i: int, joint: Joint, row: Row) -> tuple[Transform, JointKind]:
        """Origin and kind of a joint that is a row of a Denavit-Hartenberg table."""
        parent = self.model.index_of[joint.parent]
        a, alpha, d, theta = row
        own = f"{parent}" if joint.dh == "modified" else f"{i}"  # Craig's a_{i-1} and alpha_{i-1} stand in row i
        turns = joint.kind.units == ("rad",)

        def length(letter: str, index: str, value: float, meaning: str) -> Scalar:
            name = self.free_name((f"{letter}_{index}", f"{letter}_{index}_{i}"), {"": value}) if value else letter
            return self.number(name, value, "m", f"Denavit-Hartenberg {letter}: {meaning}")

        twist = self.rotation(
            Rotation.about(X, alpha), (f"alpha_{own}", f"alpha_{own}_{i}"), "Denavit-Hartenberg alpha: angle of axes"
        )
        turn = self.rotation(
            Rotation.about(Z, theta), (f"theta_0{i}" if turns else f"theta_{i}",),
            f"Denavit-Hartenberg theta of joint {i}{', less its coordinate' if turns else ''}",
        )  # fmt: skip
        phase = self.entries.get(f"theta_0{i}")
        if turns and phase is not None:
            self.phases[phase.symbol] = self.model.bodies[i - 1].first_q
        across = Transform(twist, Vector(length("a", own, a, "distance of axes"), 0, 0))
        less = "" if turns else ", less its coordinate"
        along = Transform(turn, Vector(0, 0, length("d", f"{i}", d, f"offset along axis {i}{less}")))
        if joint.dh == "modified":
            return across * along, _plain_kind(joint.kind)
        assert isinstance(joint.kind, Moved)
        start = self.points[joint.parent]
        origin, _ = self.axis_from(i, joint, start, Vector(0.0, 0.0, 0.0))
        return origin, Moved(_plain_kind(joint.kind.inner), along * across)

    def joint_between_axes(self, i: int, joint: Joint) -> tuple[Transform, JointKind]:
        """Origin and kind of a joint, by the way from a point on the parent's axis to a point on its own axis."""
        inner, offset = _split(joint.kind)
        start = self.points[joint.parent]
        point = _point_on_axis(inner, joint.origin, start.numbers)
        origin, c = self.axis_from(i, joint, start, point)
        if offset is None:
            self.points[joint.child] = Point(point, c)
            return origin, self.kind(inner, point, c)
        moved = self.rotation(offset.rotation, (f"alpha_{i}",), f"angle of the frame of link {i}")
        numbers = _clean(offset.inverse() * point, offset.translation, point)
        own = self.own_point(i, numbers)
        self.points[joint.child] = Point(numbers, own)
        return origin, Moved(self.kind(inner, point, c), Transform(moved, _add(c, -(moved * own))))

    def axis_from(self, i: int, joint: Joint, start: Point, point: Vector) -> tuple[Transform, Vector]:
        """The origin of a joint, and a point on its axis in the joint's frame, `point` in numbers, over symbols."""
        parent = self.model.index_of[joint.parent]
        siblings = sum(other.parent == joint.parent for other in self.model.joints)
        bases = (f"L_{parent}", f"L_{parent}_{i}") if siblings == 1 else (f"L_{parent}_{i}",)
        whose = f"length of link {parent}" if parent else "length of the base"
        R, t = joint.origin.rotation, joint.origin.translation
        turned = self.rotation(R, (f"alpha_{parent}", f"alpha_{parent}_{i}"), f"angle of axes on link {parent}")
        way = _clean(t + R * point - start.numbers, t, R * point, start.numbers)
        named = self.vector(way, bases, f"{whose} to joint {i}" if siblings > 1 else whose)
        self.ends.setdefault(joint.parent, []).append(Point(way, named))
        axis = _add(start.symbols, named)
        if not any(point):
            return Transform(turned, axis), Vector(0, 0, 0)
        if not any(t):
            return Transform(turned, Vector(0, 0, 0)), turned.inv * axis
        c = point if isinstance(joint.kind, Moved) else self.own_point(i, point)
        return Transform(turned, _add(axis, -(turned * c))), c

    def own_point(self, i: int, point: Vector) -> Vector:
        """A point on the axis of a link's joint, in the link's frame: from the center of mass if the frame is there."""
        if not any(point):
            return Vector(0, 0, 0)
        own = self.model.links[i]
        if own.mass and not any(own.com):
            return -self.vector(-point, (f"l_c{i}",), f"center of mass of {self.link_text(i)}")
        return -self.vector(-point, (f"o_{i}",), f"origin of the frame of {self.link_text(i)}, from its axis")

    def kind(self, kind: JointKind, point: Vector, c: Vector) -> JointKind:
        """A kind of joint whose axis passes through c."""
        if isinstance(kind, Screw) and kind.turns and any(point):
            w = kind.angular
            advance = w * (w.dot(kind.linear) / w.dot(w))
            pitch = Vector(*(0 if abs(x) < 1e-15 * max(1.0, w.norm()) else x for x in advance))
            return Screw(_to_integers(w), _add(c.cross(_to_integers(w)), pitch), kind.name)
        return _plain_kind(kind)

    def dof(self, joint: Joint, i: int, k: int, dof: Dof) -> Dof:
        """Friction, rotor and spring of a degree of freedom."""
        tag = f"{i}" if joint.kind.nv == 1 else f"{i}_{k + 1}"
        unit = joint.kind.units[k]
        effort = "N m" if unit == "rad" else "N"
        whose = f"of joint {tag}"

        def positive(letter: str, value: Scalar, unit: str, meaning: str) -> Scalar:
            return self.number(f"{letter}_{tag}", value, unit, meaning, positive=True)

        return replace(
            dof,
            viscous=positive("b", dof.viscous, f"{effort} s/{unit}", f"viscous friction {whose}"),
            **self.both_ways(f"f_{tag}", dof, "coulomb", effort, f"Coulomb friction {whose}"),
            **self.both_ways(f"f_s{tag}", dof, "static", effort, f"static friction {whose}"),
            stribeck=self.number(f"v_s{tag}", dof.stribeck, f"{unit}/s", f"Stribeck speed {whose}", positive=True),
            ripple=positive("r", dof.ripple, "1", f"ripple of the friction {whose}"),
            ripple_waves=self.number(f"w_{tag}", dof.ripple_waves, f"1/{unit}", f"waves of the friction {whose}"),
            ripple_phase=self.number(f"phi_{tag}", dof.ripple_phase, "rad", f"phase of the friction {whose}"),
            rotor=positive(
                "J", dof.armature, "kg m^2" if unit == "rad" else "kg", f"rotor inertia {whose}, on the joint's side"
            ),
            gear=1,
            stiffness=positive("k", dof.stiffness, f"{effort}/{unit}", f"stiffness of the spring {whose}"),
            rest=self.number(f"q_0{tag}", dof.rest, unit, f"position {whose} where its spring rests"),
        )

    def both_ways(self, name: str, dof: Dof, key: str, unit: str, meaning: str) -> dict[str, Any]:
        """A level of dry friction in both directions, with one name where they are the same."""
        forth, back = getattr(dof, key), getattr(dof, f"{key}_negative")
        plus, minus, n = ("", "", "") if forth == back else (" in positive direction", " in negative direction", "n")
        return {
            key: self.number(name, forth, unit, meaning + plus, positive=True),
            f"{key}_negative": self.number(name + n, back, unit, meaning + minus, positive=True),
        }

    # --- frames, links, gravity ---

    def frame(self, frame: Frame) -> Frame:
        """A frame on a link."""
        i, T = self.model.index_of[frame.link], frame.origin
        start = self.points[frame.link]
        way = _clean(T.translation - start.numbers, T.translation, start.numbers)
        known = next((end.symbols for end in self.ends.get(frame.link, []) if end.numbers == way), None)
        if known is None:
            first = f"L_{i}" if frame.link not in self.ends else f"L_{i}t"
            meaning = f"length of link {i}" if first == f"L_{i}" else f"place of {visible(frame.name)!r} on link {i}"
            known = self.vector(way, chain((first,), _numbered_names(f"L_{i}t")), meaning)
            self.ends.setdefault(frame.link, []).append(Point(way, known))
        R = self.rotation(T.rotation, _numbered_names(f"alpha_{i}t"), f"angle of {visible(frame.name)!r} on link {i}")
        return replace(frame, origin=Transform(R, _add(start.symbols, known)))

    def link(self, i: int, link: Link) -> Link:
        """Mass, center of mass and inertia of a link."""
        text = self.link_text(i)
        com = self.center_of_mass(i, link) if link.mass and any(link.com) else Vector(0, 0, 0)
        inertia = Symmetric(
            *(
                self.number(f"I_{i}{name}", x, "kg m^2", f"inertia of {text} about its center of mass, {name}")
                for name, x in zip(ENTRIES, link.inertia.entries(), strict=True)
            )
        )
        mass = self.number(f"m_{i}", link.mass, "kg", f"mass of {text}", positive=True)
        return Link(link.name, mass, com, inertia)

    def center_of_mass(self, i: int, link: Link) -> Vector:
        """A center of mass that is not the origin of its frame: as far from the axis as an end of the link, or l_ci."""
        start = self.points[link.name]
        way = _clean(link.com - start.numbers, link.com, start.numbers)
        ends = (end.symbols for end in self.ends.get(link.name, []) if end.numbers == way and any(way))
        named = next(ends, None) or self.vector(way, (f"l_c{i}",), f"center of mass of {self.link_text(i)}")
        return _add(start.symbols, named)

    def link_text(self, i: int) -> str:
        """The number of a link, and its name unless that is the same."""
        return f"link {i}{_in_brackets(self.model.links[i].name, f'link{i}', f'link_{i}')}"

    def gravity(self) -> Vector:
        """Gravity: g along one axis, or components."""
        v = self.model.gravity
        single = sum(x != 0 for x in v) == 1
        return self.vector(v, ("g",) if single else ("g_",), "gravity", "m/s^2")


def _in_brackets(name: str, *usual: str) -> str:
    return "" if name in usual else f" ({visible(name)})"


def _add(a: Vector, b: Vector) -> Vector:
    """The sum of two vectors, with plain zeros where terms cancel."""
    return Vector(*(0 if isinstance(x, Element) and not x.terms else x for x in a + b))


def _clean(v: Vector, *parts: Vector) -> Vector:
    """A sum or difference of vectors without the rounding of its parts."""
    size = max(abs(float(x)) for part in parts for x in part)
    return Vector(*(without_rounding(float(x), size) for x in v))


def _point_on_axis(kind: JointKind, origin: Transform, start: Vector) -> Vector:
    """A point on the axis of a joint, in the joint's frame: its origin, or else the point nearest to `start`.

    The axis of a screw passes anywhere; the slide of a screw without a turn has no place of its own.
    """
    zero = Vector(0.0, 0.0, 0.0)
    if not isinstance(kind, Screw):
        return zero
    here = any(origin.translation)
    toward = origin.inverse() * start
    if not kind.turns:
        return zero if kind.name != "screw" or here else _clean(toward, origin.translation, start)
    w = kind.angular
    foot = w.cross(kind.linear) / w.dot(w)
    off = foot.norm() > 1e-15 * max(1.0, origin.translation.norm())
    if not off and (kind.name != "screw" or here):
        return zero
    foot = foot if off else zero
    return _clean(foot + w * (w.dot(toward - foot) / w.dot(w)), foot, toward)


def _split(kind: JointKind) -> tuple[JointKind, Transform | None]:
    """A kind whose axis is in the joint's frame, and the pose of the link's frame after it, if that is another."""
    return (kind.inner, kind.offset) if isinstance(kind, Moved) else (kind, None)


def _row(joint: Joint) -> Row | None:
    """The row of a Denavit-Hartenberg table that a joint is; None if it was never one, or is none any more."""
    kind, offset = _split(joint.kind)
    place = joint.origin if offset is None else offset
    along_z = isinstance(kind, Screw) and (kind.angular, kind.linear) in ((Z, ORIGIN.numbers), (ORIGIN.numbers, Z))
    if joint.dh is None or not along_z or (offset is not None) != (joint.dh == "standard"):
        return None
    return row_of(place, joint.dh)


def _plain_kind(kind: JointKind) -> JointKind:
    """A kind with its numbers; whole ones are integers, which the algorithms fold away."""
    if isinstance(kind, Moved):
        return Moved(_plain_kind(kind.inner), _plain_pose(kind.offset))
    if isinstance(kind, Composite):
        return replace(kind, parts=tuple(map(_plain_screw, kind.parts)))
    return _plain_screw(kind) if isinstance(kind, Screw) else kind


def _plain_screw(screw: Screw) -> Screw:
    return Screw(_to_integers(screw.angular), _to_integers(screw.linear), screw.name)


def _plain_pose(T: Transform) -> Transform:
    rows = (_to_integers(row) for row in snap(T.rotation))
    return Transform(Rotation(*rows), _to_integers(T.translation))


def _numbered_names(name: str) -> Iterator[str]:
    """The name, then the name with 2, 3 and so on."""
    yield name
    yield from (f"{name}{k}" for k in count(2))


def _to_integer(x: float) -> Scalar:
    """A whole number as an integer, which the algorithms fold away."""
    nearest = round(x) if math.isfinite(x) else x
    return int(nearest) if abs(x - nearest) < 1e-15 else float(x)


def _to_integers(v: Vector) -> Vector:
    return Vector(*(_to_integer(x) for x in v))
