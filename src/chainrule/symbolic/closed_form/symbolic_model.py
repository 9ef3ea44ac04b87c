"""The model of a robot over symbols: names for its coordinates, masses, lengths, inertias and angles.

Link i is the i-th link that moves, and joint i moves it. Coordinates are q_i. Parameters that are zero stay zero, and
rotations by quarter turns stay as they are. The other parameters get names:

    m_i        mass of link i                        L_i, L_ix     length of link i to the next joint or the tip
    l_ci       its center of mass (l_cix, ..)        a_i, h_i, d_i lengths along x, y, z of a Denavit-Hartenberg link
    I_ixx, ..  its inertia about that                alpha_i       an angle between two joint axes
    g          gravity                               J_i           rotor inertia on the joint's side
    k_i, q_0i  stiffness and rest of a spring        b_i, f_i      viscous and Coulomb friction

A name stands for one number. Where a link has several lengths or angles of one kind, all but the first get one more
index: L_1_3 and alpha_1_3 belong to joint 3 on link 1, L_1t2 and alpha_1t2 to the second frame there. Equal numbers
may share a name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

import numpy as np
import sympy as sp

from chainrule.algorithms import kinematics
from chainrule.errors import ModelError, ShapeError, UnknownNameError, short_repr
from chainrule.lazy import cached_property
from chainrule.model import (
    Composite,
    Dof,
    Frame,
    Joint,
    Link,
    Model,
    Moved,
    Screw,
)
from chainrule.model.joints import Kind
from chainrule.spatial import Rotation, Symmetric, Transform, Vector
from chainrule.spatial.scalar import Scalar
from chainrule.symbolic.algebra.ring import Element, Ring

AXES = "xyz"
ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")


@dataclass(frozen=True)
class SymbolicModel:
    """A model whose numbers are elements of a ring, the symbols of its state, and its parameters with their values."""

    model: Model
    ring: Ring
    q: list[sp.Symbol]
    qd: list[sp.Symbol]
    qdd: list[sp.Symbol]
    parameters: dict[sp.Symbol, float]
    numbers: Model
    """The model with its numbers, those that a user replaced included: what the symbols are checked against."""

    def state(self) -> tuple[list[Element], list[Element], list[Element]]:
        """The symbols q, qd and qdd as elements of the ring."""
        q, qd, qdd = ([self.ring.variable(s) for s in part] for part in (self.q, self.qd, self.qdd))
        return q, qd, qdd


def symbolic_model(model: Model, parameters: str | Mapping[Any, Any] = "symbolic") -> SymbolicModel:
    """The model over symbols ("symbolic"), numbers ("numeric"), or symbols except for those that are given."""
    if isinstance(parameters, str) and parameters not in ("symbolic", "numeric"):
        raise ShapeError(
            f"parameters are 'symbolic', 'numeric', or a dictionary of names and numbers, got {parameters!r}"
        )
    if not isinstance(parameters, (str, Mapping)):
        raise ShapeError(f"parameters are 'symbolic', 'numeric', or a dictionary, got {short_repr(parameters)}")
    for joint in model.moving:
        if joint.kind.nq != joint.kind.nv:
            raise ModelError(
                f"joint {joint.name!r} is {joint.type}: its coordinates are a quaternion, without sines and cosines to "
                "write; lock it, or model it by three revolute joints"
            )
    if model.constraints:
        raise ModelError(
            f"robot {model.name!r} has loops, whose constraints leave no equations in its own coordinates alone; open "
            "them with robot.without_constraint(...), or write the energies with constraints: cr.symbolic.Lagrangian"
        )
    namer = _Namer(model, parameters)
    found = namer.symbolic_model()
    if any(not isinstance(x, (str, sp.Symbol)) for x in namer.replacements.values()):
        found = replace(found, numbers=_Namer(model, parameters, as_numbers=True).symbolic_model().model)
    return found


@dataclass
class _Namer:
    """Gives names to the numbers of a model."""

    model: Model
    choice: str | Mapping[Any, Any]
    as_numbers: bool = False
    """Whether numbers stay numbers, except for those that the user replaces by others."""
    ring: Ring = field(default_factory=Ring)
    values: dict[sp.Symbol, float] = field(default_factory=dict)
    names: dict[str, float] = field(default_factory=dict)
    """Names that have been given, and the numbers that they stand for."""
    symbols: dict[str, tuple[sp.Symbol, str]] = field(default_factory=dict)
    """Name of a symbol -> the symbol, and the name of the parameter that it was first used for."""
    coordinate_names: set[str] = field(default_factory=set)
    ends: dict[str, list[tuple[Vector, Vector]]] = field(default_factory=dict)
    """Link -> positions of joints and frames on it, in numbers and in symbols."""

    @cached_property
    def replacements(self) -> dict[str, Any]:
        """Numbers and other names, by the name that they replace."""
        return {str(key): value for key, value in self.choice.items()} if isinstance(self.choice, Mapping) else {}

    def symbolic_model(self) -> SymbolicModel:
        model = self.model
        q, qd, qdd = self.coordinates()
        joints = tuple(self.joint(body.index, body.joint) for body in model.bodies)
        frames = tuple(self.frame(frame) for frame in model.frames)
        links = (model.links[0], *(self.link(i, link) for i, link in enumerate(model.links[1:], 1)))
        self.ring.groups = [[q[k] for k in group] for group in parallel_groups(model)]
        symbolic = replace(model, joints=joints, links=links, frames=frames, gravity=self.gravity())
        unknown = [name for name in self.replacements if name not in self.names]
        if unknown:
            raise UnknownNameError.of("parameter", unknown[0], sorted(self.names), f"robot {model.name!r}")
        return SymbolicModel(symbolic, self.ring, q, qd, qdd, self.values, model)

    def coordinates(self) -> tuple[list[sp.Symbol], list[sp.Symbol], list[sp.Symbol]]:
        velocities = self.model.layout.velocities
        q, qd, qdd = (
            [sp.Symbol(f"{base}_{k}", real=True) for k in range(1, len(velocities) + 1)]
            for base in ("q", "qdot", "qddot")
        )
        for symbol, velocity in zip(q, velocities, strict=True):
            self.ring.angle(symbol) if velocity.unit == "rad" else self.ring.variable(symbol)
        for symbol in (*qd, *qdd):
            self.ring.variable(symbol)
        self.coordinate_names = {symbol.name for symbol in (*q, *qd, *qdd)}
        return q, qd, qdd

    def number(self, name: str, value: float, *, positive: bool = False, angle: bool = False) -> Scalar:
        """A parameter: its symbol, or its number if parameters are numeric or a number replaces this name."""
        if value == 0:
            return 0
        value = float(value)
        name = self.free_name((name,), {"": value})
        self.names[name] = value
        if self.choice == "numeric":
            return value
        chosen = self.replacements.get(name, name)
        if not isinstance(chosen, (str, sp.Symbol)):
            return self.replacement(name, chosen)
        if self.as_numbers:
            return value
        if name in self.replacements and (not str(chosen).isidentifier() or str(chosen) in self.coordinate_names):
            raise ShapeError(
                f"the parameter {name!r} must be a number or another name, which is none of a coordinate, got "
                f"{chosen!r:.60}"
            )
        symbol = self.symbol(str(chosen), name, value, positive=positive)
        return self.ring.angle(symbol) if angle else self.ring.variable(symbol)

    def free_name(self, candidates: Iterable[str], endings: Mapping[str, float]) -> str:
        """The first name that stands for no other number: as it is, or with each of the endings and its number."""
        first: str | None = None
        for name in candidates:
            first = name if first is None else first
            if self._is_free(name, endings):
                return name
        return next(name for k in count(2) if self._is_free(name := f"{first}_{k}", endings))

    def _is_free(self, name: str, endings: Mapping[str, float]) -> bool:
        return all(self.names.get(name + ending, value) == value for ending, value in endings.items())

    def symbol(self, chosen: str, name: str, value: float, *, positive: bool) -> sp.Symbol:
        """The symbol of a parameter; refused if it stands for another number already."""
        if chosen not in self.symbols:
            new = sp.Symbol(chosen, positive=True) if positive else sp.Symbol(chosen, real=True)
            self.symbols[chosen] = (new, name)
            self.values[new] = value
        symbol, owner = self.symbols[chosen]
        if self.values[symbol] != value:
            raise ShapeError(
                f"the parameters {owner!r} and {name!r} cannot both be called {chosen!r}: {owner} is "
                f"{self.values[symbol]!r} and {name} is {value!r}, and a symbol stands for one number; choose another "
                "name for one of them"
            )
        return symbol

    @staticmethod
    def replacement(name: str, value: Any) -> float:
        """A number that replaces a parameter."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise ShapeError(f"the parameter {name!r} must be a finite number or a name, got {value!r:.60}")
        return number

    def vector(self, v: Vector, bases: Iterable[str]) -> Vector:
        """A vector with named components, the first base that is free and x, y or z; the base alone if there is one."""
        present = [x != 0 for x in v]
        if sum(present) == 1:
            base = self.free_name(bases, {"": float(abs(next(x for x in v if x)))})
            return Vector(*(self.positive_with_sign(base, x) for x in v))
        base = self.free_name(bases, {axis: float(x) for axis, x in zip(AXES, v, strict=True) if x})
        return Vector(*(self.number(base + axis, x) for axis, x in zip(AXES, v, strict=True)))

    def positive_with_sign(self, name: str, value: float) -> Scalar:
        """A positive parameter with the sign of its value."""
        size = self.number(name, abs(value), positive=True)
        return -size if value < 0 else size

    def rotation(self, R: Rotation, names: Iterable[str]) -> Rotation:
        """Quarter turns as they are, a rotation about one axis by a named angle, any other rotation by its numbers."""
        rows = [[_to_integer(x) for x in row] for row in R]
        if all(isinstance(x, int) for row in rows for x in row):
            return Rotation(*(Vector(*row) for row in rows))
        for axis in (Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1)):
            if R * axis == axis and self.choice != "numeric":
                w = R.log()
                angle = w.x * axis.x + w.y * axis.y + w.z * axis.z
                name = self.free_name(names, {"": float(angle)})
                return Rotation.about(axis, self.number(name, float(angle), angle=True))
        return Rotation(*(Vector(*row) for row in rows))

    def joint(self, i: int, joint: Joint) -> Joint:
        parent = self.model.index_of[joint.parent]
        siblings = sum(other.parent == joint.parent for other in self.model.joints)
        bases = (f"L_{parent}", f"L_{parent}_{i}") if siblings == 1 else (f"L_{parent}_{i}",)
        P = self.vector(joint.origin.translation, bases)
        self.ends.setdefault(joint.parent, []).append((joint.origin.translation, P))
        origin = Transform(self.rotation(joint.origin.rotation, (f"alpha_{parent}", f"alpha_{parent}_{i}")), P)
        dofs = tuple(self.dof(joint, i, k, dof) for k, dof in enumerate(joint.dofs))
        return replace(joint, origin=origin, kind=self.kind(i, joint.kind), dofs=dofs)

    def kind(self, i: int, kind: Kind) -> Kind:
        if isinstance(kind, Moved):
            T = kind.offset
            lengths = (self.number(f"{letter}_{i}", x) for letter, x in zip("ahd", T.translation, strict=True))
            offset = Transform(self.rotation(T.rotation, (f"alpha_{i}",)), Vector(*lengths))
            return Moved(self.kind(i, kind.inner), offset)
        if isinstance(kind, Screw):
            return Screw(_to_integers(kind.angular), _to_integers(kind.linear), kind.name)
        if isinstance(kind, Composite):
            parts = (Screw(_to_integers(p.angular), _to_integers(p.linear), p.name) for p in kind.parts)
            return replace(kind, parts=tuple(parts))
        return kind

    def dof(self, joint: Joint, i: int, k: int, dof: Dof) -> Dof:
        tag = f"{i}" if joint.kind.nv == 1 else f"{i}_{k + 1}"
        return replace(
            dof,
            viscous=self.number(f"b_{tag}", dof.viscous, positive=True),
            coulomb=self.number(f"f_{tag}", dof.coulomb, positive=True),
            coulomb_negative=self.number(
                f"f_{tag}" if dof.coulomb == dof.coulomb_negative else f"f_{tag}n", dof.coulomb_negative, positive=True
            ),
            rotor=self.number(f"J_{tag}", dof.armature, positive=True),
            gear=1,
            stiffness=self.number(f"k_{tag}", dof.stiffness, positive=True),
            rest=self.number(f"q_0{tag}", dof.rest),
        )

    def frame(self, frame: Frame) -> Frame:
        i = self.model.index_of[frame.link]
        P, T = frame.origin.translation, frame.origin
        known = next((named for numbers, named in self.ends.get(frame.link, []) if numbers == P), None)
        if known is None:
            first = f"L_{i}" if frame.link not in self.ends else f"L_{i}t"
            known = self.vector(P, chain((first,), _numbered_names(f"L_{i}t")))
            self.ends.setdefault(frame.link, []).append((P, known))
        return replace(frame, origin=Transform(self.rotation(T.rotation, _numbered_names(f"alpha_{i}t")), known))

    def link(self, i: int, link: Link) -> Link:
        com = next(
            (named for numbers, named in self.ends.get(link.name, []) if numbers == link.com and any(numbers)), None
        )
        if com is None:
            com = self.vector(link.com, (f"l_c{i}",))
        entries = zip(ENTRIES, link.inertia.entries(), strict=True)
        inertia = Symmetric(*(self.number(f"I_{i}{name}", x) for name, x in entries))
        return Link(link.name, self.number(f"m_{i}", link.mass, positive=True), com, inertia)

    def gravity(self) -> Vector:
        v = self.model.gravity
        single = sum(x != 0 for x in v) == 1
        return self.vector(v, ("g",) if single else ("g_",))


def parallel_groups(model: Model) -> list[list[int]]:
    """Groups of revolute coordinates, by index, whose axes stay parallel in every configuration."""
    rng = np.random.default_rng(0)
    shots = []
    for _ in range(3):
        q = rng.normal(size=model.nq).tolist()
        directions: list[Any] = [None] * model.nv
        for T, body in zip(kinematics.poses_of(model.at(q))[1:], model.at(q), strict=True):
            for i, S in body.S:
                w = T.rotation * S.angular
                length = float(w.norm())
                if body.body.joint.mimic is None and length:
                    directions[i] = np.array([float(x) for x in w / length])
        shots.append(directions)
    groups: list[list[int]] = []
    for i in range(model.nv):
        if shots[0][i] is None:
            continue
        for group in groups:
            if all(np.linalg.norm(np.cross(shot[i], shot[group[0]])) < 1e-9 for shot in shots):
                group.append(i)
                break
        else:
            groups.append([i])
    return groups


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
