"""A robot over symbols: names for its coordinates, masses, lengths, inertias and angles.

Link i is the i-th that moves, joint i what moves it. Coordinates are q_i. Parameters that are zero stay zero, and a
rotation by quarter turns stays what it is; the others are named:

    m_i        mass of link i                        L_i, L_ix     length of link i to the next joint or the tip
    l_ci       its centre of mass (l_cix, ..)        a_i, h_i, d_i lengths along x, y, z of a Denavit-Hartenberg link
    I_ixx, ..  its inertia about that                alpha_i       an angle between two joint axes
    g          gravity                               J_i           rotor inertia on the joint's side
    k_i, q_0i  stiffness and rest of a spring        b_i, f_i      viscous and Coulomb friction
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy as sp

from chainrule.algorithms import kinematics
from chainrule.errors import ModelError, ShapeError, UnknownNameError
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
    """A model whose numbers are elements of a ring, with the symbols of its state and the values of the others."""

    model: Model
    ring: Ring
    q: list[sp.Symbol]
    qd: list[sp.Symbol]
    qdd: list[sp.Symbol]
    parameters: dict[sp.Symbol, float]

    def state(self) -> tuple[list[Element], list[Element], list[Element]]:
        """q, qd and qdd as elements."""
        q, qd, qdd = ([self.ring.variable(s) for s in part] for part in (self.q, self.qd, self.qdd))
        return q, qd, qdd


def symbolic_model(model: Model, parameters: str | Mapping[Any, Any] = "symbolic") -> SymbolicModel:
    """The robot over symbols, over numbers ("numeric"), or over symbols but for those that are given."""
    if isinstance(parameters, str) and parameters not in ("symbolic", "numeric"):
        raise ShapeError(
            f"parameters are 'symbolic', 'numeric', or a dictionary of names and numbers, got {parameters!r}"
        )
    if not isinstance(parameters, (str, Mapping)):
        raise ShapeError(f"parameters are 'symbolic', 'numeric', or a dictionary, got {parameters!r:.60}")
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
    return _Namer(model, parameters).named()


@dataclass
class _Namer:
    model: Model
    choice: str | Mapping[Any, Any]
    ring: Ring = field(default_factory=Ring)
    values: dict[sp.Symbol, float] = field(default_factory=dict)

    def named(self) -> SymbolicModel:
        model = self.model
        q, qd, qdd = self.coordinates()
        given = {str(key): value for key, value in self.choice.items()} if isinstance(self.choice, Mapping) else {}
        self.given: dict[str, Any] = given
        self.asked: set[str] = set()
        self.ends: dict[str, list[tuple[Vector, Vector]]] = {}
        """For each link, places on it by their numbers and by their symbols: where joints and frames are."""
        joints = tuple(self.joint(body.index, body.joint) for body in model.bodies)
        frames = tuple(self.frame(frame) for frame in model.frames)
        links = (model.links[0], *(self.link(i, link) for i, link in enumerate(model.links[1:], 1)))
        self.ring.groups = [[q[k] for k in group] for group in parallel_groups(model)]
        symbolic = replace(model, joints=joints, links=links, frames=frames, gravity=self.gravity())
        unknown = [name for name in given if name not in self.asked]
        if unknown:
            raise UnknownNameError.of("parameter", unknown[0], sorted(self.asked), f"robot {model.name!r}")
        return SymbolicModel(symbolic, self.ring, q, qd, qdd, self.values)

    def coordinates(self) -> tuple[list[sp.Symbol], list[sp.Symbol], list[sp.Symbol]]:
        units = [unit for joint in self.model.moving for unit in joint.kind.units]
        names = [str(k) for k in range(1, len(units) + 1)]
        q, qd, qdd = ([sp.Symbol(f"{base}_{k}", real=True) for k in names] for base in ("q", "qdot", "qddot"))
        for symbol, unit in zip(q, units, strict=True):
            self.ring.angle(symbol) if unit == "rad" else self.ring.variable(symbol)
        for symbol in (*qd, *qdd):
            self.ring.variable(symbol)
        return q, qd, qdd

    def number(self, name: str, value: float, *, positive: bool = False, angle: bool = False) -> Scalar:
        """A parameter by its name: a symbol, or a number where numbers are asked for or this one is given."""
        if value == 0:
            return 0
        self.asked.add(name)
        if self.choice == "numeric":
            return float(value)
        if name in self.given:
            chosen = self.given[name]
            if not isinstance(chosen, (str, sp.Symbol)):
                return self.chosen_number(name, chosen)
            if not str(chosen).isidentifier() or sp.Symbol(str(chosen), real=True) in self.ring.digits:
                raise ShapeError(
                    f"the parameter {name!r} must be a number or another name, which is none of a coordinate, got "
                    f"{chosen!r:.60}"
                )
            name = str(chosen)
        symbol = sp.Symbol(name, positive=True) if positive else sp.Symbol(name, real=True)
        self.values.setdefault(symbol, float(value))
        return self.ring.angle(symbol) if angle else self.ring.variable(symbol)

    @staticmethod
    def chosen_number(name: str, value: Any) -> float:
        """A number that is given in place of a parameter."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise ShapeError(f"the parameter {name!r} must be a finite number or a name, got {value!r:.60}")
        return number

    def vector(self, v: Vector, names: tuple[str, str, str], single: str | None = None) -> Vector:
        """A vector of named components; with one that is not zero, by the single name."""
        present = [x != 0 for x in v]
        if single is not None and sum(present) == 1:
            return Vector(*(self.signed(single, x) for x in v))
        return Vector(*(self.number(name, x) for name, x in zip(names, v, strict=True)))

    def signed(self, name: str, value: float) -> Scalar:
        """A length or the like, named without its sign."""
        size = self.number(name, abs(value), positive=True)
        return -size if value < 0 else size

    def rotation(self, R: Rotation, name: str) -> Rotation:
        """Quarter turns as they are; a turn about one axis by a named angle; any other by its numbers."""
        rows = [[_whole(x) for x in row] for row in R]
        if all(isinstance(x, int) for row in rows for x in row):
            return Rotation(*(Vector(*row) for row in rows))
        for axis in (Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1)):
            if R * axis == axis and self.choice != "numeric":
                w = R.log()
                angle = w.x * axis.x + w.y * axis.y + w.z * axis.z
                return Rotation.about(axis, self.number(name, float(angle), angle=True))
        return Rotation(*(Vector(*row) for row in rows))

    def joint(self, i: int, joint: Joint) -> Joint:
        parent = self.model.index_of[joint.parent]
        siblings = sum(other.parent == joint.parent for other in self.model.joints)
        base = f"L_{parent}" if siblings == 1 else f"L_{parent}_{i}"
        P = self.vector(joint.origin.translation, tuple(base + x for x in AXES), base)  # type: ignore[arg-type]
        self.ends.setdefault(joint.parent, []).append((joint.origin.translation, P))
        origin = Transform(self.rotation(joint.origin.rotation, f"alpha_{parent}"), P)
        dofs = tuple(self.dof(joint, i, k, dof) for k, dof in enumerate(joint.dofs))
        return replace(joint, origin=origin, kind=self.kind(i, joint.kind), dofs=dofs)

    def kind(self, i: int, kind: Kind) -> Kind:
        if isinstance(kind, Moved):
            names = (f"a_{i}", f"h_{i}", f"d_{i}")
            T = kind.offset
            offset = Transform(self.rotation(T.rotation, f"alpha_{i}"), self.vector(T.translation, names))
            return Moved(self.kind(i, kind.inner), offset)
        if isinstance(kind, Screw):
            return Screw(_wholes(kind.angular), _wholes(kind.linear), kind.name)
        if isinstance(kind, Composite):
            return Composite(tuple(Screw(_wholes(p.angular), _wholes(p.linear), p.name) for p in kind.parts), kind.name)
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
            base = f"L_{i}" if frame.link not in self.ends else f"L_{i}t"
            known = self.vector(P, tuple(base + x for x in AXES), base)  # type: ignore[arg-type]
            self.ends.setdefault(frame.link, []).append((P, known))
        return replace(frame, origin=Transform(self.rotation(T.rotation, f"alpha_{i}t"), known))

    def link(self, i: int, link: Link) -> Link:
        com = next(
            (named for numbers, named in self.ends.get(link.name, []) if numbers == link.com and any(numbers)), None
        )
        if com is None:
            com = self.vector(link.com, tuple(f"l_c{i}{x}" for x in AXES), f"l_c{i}")  # type: ignore[arg-type]
        entries = zip(ENTRIES, link.inertia.entries(), strict=True)
        inertia = Symmetric(*(self.number(f"I_{i}{name}", x) for name, x in entries))
        return Link(link.name, self.number(f"m_{i}", link.mass, positive=True), com, inertia)

    def gravity(self) -> Vector:
        return self.vector(self.model.gravity, ("g_x", "g_y", "g_z"), "g")


def parallel_groups(model: Model) -> list[list[int]]:
    """Angles about axes that stay parallel however the robot moves, by their places in q."""
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


def _whole(x: float) -> Scalar:
    """0 and +-1 as integers, which fold away."""
    nearest = round(x) if math.isfinite(x) else x
    return int(nearest) if abs(x - nearest) < 1e-15 else float(x)


def _wholes(v: Vector) -> Vector:
    return Vector(*(_whole(x) for x in v))
