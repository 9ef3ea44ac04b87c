"""Models of Pinocchio as robots: what cr.load reads.

q and qd mean what they mean to Pinocchio, but for these conventions of this library: a joint that turns without end has
its angle as coordinate, not its cosine and sine; a planar joint has x, y and the angle, and their rates as velocities;
the velocity of a free joint has its angular part first; joints come in depth-first order. Joints of Pinocchio that are
made of several (composite joints, translations, Euler angles) become several, with massless links between them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from chainrule.errors import FormatError, ModelError
from chainrule.formats.exact import snap
from chainrule.model import (
    Composite,
    Configuration,
    Dof,
    Frame,
    Free,
    Joint,
    JointKind,
    Link,
    Mimic,
    Model,
    Screw,
    Spherical,
)
from chainrule.model.edits import unused_name
from chainrule.spatial import Rotation, Symmetric, Transform, Vector

UNLIMITED = 1e300
"""Size of a limit from which on Pinocchio means that there is none."""

X, Y, Z = Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0)
CHAINS: dict[str, tuple[tuple[str, Screw], ...]] = {
    "JointModelSphericalZYX": (("z", Screw.revolute(Z)), ("y", Screw.revolute(Y)), ("x", Screw.revolute(X))),
    "JointModelTranslation": (("x", Screw.prismatic(X)), ("y", Screw.prismatic(Y)), ("z", Screw.prismatic(Z))),
}
"""Joints that become several in a row, each with the ending of its name."""


def is_model(thing: object) -> bool:
    """Whether a thing is a model of Pinocchio, or the RobotWrapper around one."""
    package = type(thing).__module__.partition(".")[0]
    return package == "pinocchio" and type(thing).__name__ in ("Model", "RobotWrapper")


def from_pinocchio(given: Any) -> Model:
    """The robot of a pinocchio.Model, or of a pinocchio.RobotWrapper."""
    if not is_model(given):
        raise FormatError(f"from_pinocchio takes a pinocchio.Model or RobotWrapper, got {type(given).__name__}")
    return _Reader(given.model if type(given).__name__ == "RobotWrapper" else given).model()


@dataclass(frozen=True)
class _Part:
    """One joint of this library, out of one of Pinocchio's: its numbers start at `q` and `v` there."""

    name: str
    kind: JointKind
    before: Transform
    q: int
    v: int
    nq: int
    """Numbers that Pinocchio has for it: 2 for an angle as cosine and sine, 4 for a planar joint."""


@dataclass
class _Reader:
    """Walks the joints of a model of Pinocchio."""

    m: Any
    notes: list[str] = field(default_factory=list)

    def model(self) -> Model:
        m = self.m
        names = self._link_names()
        links, joints, parts = [self._link(0, names[0])], list[Joint](), list[_Part]()
        taken = set(names) | {str(frame.name) for frame in m.frames}
        for i in range(1, m.njoints):
            parent, place = names[m.parents[i]], _transform(m.jointPlacements[i])
            own = [*self._parts(m.joints[i], str(m.names[i]))]
            parts += own
            for part in own:
                child = names[i]
                if part is not own[-1]:
                    child = unused_name(f"{names[i]}/{part.name}", sorted(taken))
                    taken.add(child)
                    links.append(Link(child))
                mimic = self._mimic(i)
                dofs = self._dofs(part) if mimic is None else ()
                joints.append(Joint(part.name, parent, child, part.kind, place * part.before, dofs, mimic))
                parent, place = child, Transform.identity()
            links.append(self._link(i, names[i]))
        gravity = Vector(*(float(x) for x in m.gravity.linear))
        model = Model.build(
            str(m.name) or "robot", links, joints, self._frames(names, links), gravity, notes=self.notes
        )
        return replace(model, configurations=tuple(self._configurations(model, parts)))

    def _link_names(self) -> list[str]:
        """A name for what each joint carries: the body frame that coincides with it, or else the joint's own."""
        m, found = self.m, dict[int, str]()
        for frame in m.frames:
            if str(frame.type) == "BODY" and frame.placement.isIdentity(1e-12):
                found.setdefault(int(frame.parentJoint), str(frame.name))
        names: list[str] = []
        for i in range(m.njoints):
            names.append(unused_name(found.get(i, str(m.names[i])), names))
        return names

    def _link(self, i: int, name: str) -> Link:
        I = self.m.inertias[i]
        matrix = np.array(I.inertia, dtype=float)
        return Link(name, float(I.mass), Vector(*(float(x) for x in I.lever)), Symmetric.of(matrix.tolist()))

    def _parts(self, joint: Any, name: str) -> Iterator[_Part]:
        """The joints that one of Pinocchio's becomes, usually one."""
        kind, q, v = str(joint.shortname()), int(joint.idx_q), int(joint.idx_v)
        here = Transform.identity()
        if kind in CHAINS:
            for k, (ending, screw) in enumerate(CHAINS[kind]):
                yield _Part(f"{name}_{ending}", screw, here, q + k, v + k, 1)
        elif "Composite" in kind:
            inner = joint.extract() if hasattr(joint, "extract") else joint
            for k, (part, place) in enumerate(zip(inner.joints, inner.jointPlacements, strict=True)):
                for n, found in enumerate(self._parts(part, f"{name}_{k + 1}")):
                    yield replace(found, before=_transform(place)) if n == 0 else found
        elif "FreeFlyer" in kind:
            yield _Part(name, Free(), here, q, v, 7)
        elif kind.startswith("JointModelSpherical"):
            yield _Part(name, Spherical(), here, q, v, 4)
        elif "Planar" in kind:
            self.notes.append(f"joint {name!r} is planar: its velocities are the rates of x, y and the angle here")
            yield _Part(name, Composite.planar(), here, q, v, 4)
        elif "Universal" in kind:
            axes = (Vector(*(float(x) for x in axis)) for axis in (joint.extract().axis1, joint.extract().axis2))
            yield _Part(name, Composite.universal(*axes), here, q, v, 2)
        elif joint.nv == 1 or "Mimic" in kind:
            yield _Part(name, self._screw(joint), here, q, v, int(joint.nq))
        else:
            raise ModelError(f"joint {name!r} is a {kind}, which is not supported")

    def _screw(self, joint: Any) -> Screw:
        """A joint of one degree of freedom by its motion subspace, (linear, angular) in Pinocchio."""
        data = joint.createData()
        joint.calc(data, _neutral(self.m))
        scale = float(joint.extract().scaling) if "Mimic" in str(joint.shortname()) else 1.0
        if not scale:
            raise ModelError("a joint follows another with a factor of 0, and so has no axis; make it a fixed one")
        S = [float(x) / scale for x in np.asarray(data.S, dtype=float).ravel()]
        linear, angular = Vector(*S[:3]), Vector(*S[3:])
        if not any(S[3:]):
            return Screw.prismatic(linear)
        name = "continuous" if int(joint.nq) == 2 else "revolute"
        return Screw(angular, linear, "helical" if any(S[:3]) else name)

    def _mimic(self, i: int) -> Mimic | None:
        joint = self.m.joints[i]
        if "Mimic" not in str(joint.shortname()):
            return None
        inner = joint.extract()
        places = [int(x) for x in self.m.mimicking_joints]
        leader = int(self.m.mimicked_joints[places.index(i)])
        return Mimic(str(self.m.names[leader]), float(inner.scaling), float(inner.offset))

    def _dofs(self, part: _Part) -> tuple[Dof, ...]:
        m, kind = self.m, part.kind
        has_limits = part.nq == kind.nv and kind.nq == kind.nv
        dofs = []
        for k in range(kind.nv):
            q, v = part.q + k, part.v + k
            effort = _limit(m.effortLimit[v])
            if effort == 0:
                self.notes.append(f"joint {part.name!r} has an effort limit of 0: taken as no limit")
                effort = math.inf
            velocity = _limit(m.velocityLimit[v])
            friction = float(m.friction[v])
            rotor = float(m.rotorInertia[v]) * float(m.rotorGearRatio[v]) ** 2
            armature = float(m.armature[v])
            if rotor and not armature:
                self.notes.append(
                    f"joint {part.name!r} has a rotorInertia, which Pinocchio's algorithms leave out, and so do those "
                    "here; set the model's armature"
                )
            lower, upper = (m.lowerPositionLimit[q], m.upperPositionLimit[q]) if has_limits else (-math.inf, math.inf)
            dofs.append(Dof(
                lower=-_limit(-lower), upper=_limit(upper), velocity=velocity if velocity else math.inf, effort=effort,
                viscous=float(m.damping[v]), coulomb=friction, coulomb_negative=friction, rotor=armature,
            ))  # fmt: skip
        return tuple([*dofs[3:], *dofs[:3]] if isinstance(kind, Free) else dofs)

    def _frames(self, names: list[str], links: list[Link]) -> list[Frame]:
        """Frames of the model but for those of moving joints, which are the links themselves."""
        taken, found = {link.name for link in links}, list[Frame]()
        for frame in self.m.frames:
            name = str(frame.name)
            if str(frame.type) == "JOINT" or name in taken or name == "universe":
                continue
            taken.add(name)
            found.append(Frame(name, names[int(frame.parentJoint)], _transform(frame.placement)))
        return found

    def _configurations(self, model: Model, parts: Sequence[_Part]) -> Iterator[Configuration]:
        """The reference configurations, such as those of an SRDF file that was loaded."""
        for entry in self.m.referenceConfigurations:
            name, numbers = (entry.key(), entry.data()) if hasattr(entry, "key") else (entry[0], entry[1])
            q = np.asarray(numbers, dtype=float)
            positions: list[tuple[str, float]] = []
            for part in parts:
                places = model.layout.by_joint.get(part.name)
                if places is None:  # it follows another
                    continue
                own = q[part.q : part.q + part.nq].tolist()
                if part.nq != part.kind.nq:
                    own = [*own[:-2], math.atan2(own[-1], own[-2])]
                labels = [coordinate.name for coordinate in model.layout.coordinates[places.q]]
                positions += [*zip(labels, own, strict=True)]
            yield Configuration(str(name), tuple(positions))


def _neutral(m: Any) -> Any:
    """Numbers for all joints at which each has its motion subspace: q = 0, and cosines of 1."""
    q = np.zeros(max(int(m.nq), 1))
    for i in range(1, m.njoints):
        joint = m.joints[i]
        if int(joint.nq) == 2 and int(joint.nv) == 1:
            q[int(joint.idx_q)] = 1.0
    return q


def _limit(value: Any) -> float:
    number = float(value)
    return math.inf if number >= UNLIMITED else number


def _transform(placement: Any) -> Transform:
    rows = np.asarray(placement.rotation, dtype=float).tolist()
    rotation = snap(Rotation(*(Vector(*row) for row in rows)))
    return Transform(rotation, Vector(*(float(x) for x in placement.translation)))
