"""The immutable model of a robot: a tree of links and joints."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from numbers import Real
from typing import Any

from chainrule.errors import ModelError, UnknownNameError, quoted, short_repr
from chainrule.lazy import cached_property
from chainrule.model.configurations import Configuration, refuse_bad_configurations, sort_positions
from chainrule.model.constraints import Constraint, refuse_bad_constraints
from chainrule.model.geometry import Geometry, PairChoice, refuse_bad_geometries
from chainrule.model.layout import Layout
from chainrule.model.lifting import Lift, lift_vector
from chainrule.model.parts import (
    Dof,
    Frame,
    Joint,
    Link,
    Mimic,
)
from chainrule.model.problems import ModelProblem
from chainrule.model.springs import Spring, refuse_bad_springs
from chainrule.model.tree import depth_first, refuse_clashes
from chainrule.spatial import Scalar, Transform, Twist, Vector

GRAVITY = Vector(0.0, 0.0, -9.81)

ANNOTATIONS = frozenset({"geometries", "configurations", "pairs", "notes", "problems", "dh"})
"""Fields of models and joints that play no part in motions."""


@dataclass(frozen=True)
class Body:
    """A link with the joint that moves it, and the places of that joint's coordinates in q and in qd.

    `index` and `parent` count links, 0 being the base. A mimic joint shares the coordinate of the joint it
    follows, `multiplier` times as fast.
    """

    index: int
    parent: int
    link: Link
    joint: Joint
    first_q: int
    first_v: int
    multiplier: Scalar = 1
    offset: Scalar = 0

    def coordinates(self, q: Sequence[Scalar]) -> Sequence[Scalar]:
        """This joint's own part of q."""
        if self.joint.mimic:
            return [q[self.first_q] * self.multiplier + self.offset]
        return q[self.first_q : self.first_q + self.joint.kind.nq]

    def rates(self, qd: Sequence[Scalar]) -> Sequence[Scalar]:
        """This joint's own part of qd."""
        if self.joint.mimic:
            return [qd[self.first_v] * self.multiplier]
        return qd[self.first_v : self.first_v + self.joint.kind.nv]

    def at(self, q: Sequence[Scalar]) -> PosedBody:
        """This body in the configuration q of the robot."""
        own = self.coordinates(q)
        kind = self.joint.kind
        columns = kind.columns(own)
        if self.joint.mimic:
            columns = [S * self.multiplier for S in columns]
        return PosedBody(self, own, self.joint.origin * kind.transform(own), list(enumerate(columns, self.first_v)))

    @property
    def dofs(self) -> Iterator[tuple[int, Scalar, Dof]]:
        """Index in qd, multiplier, and properties of each degree of freedom."""
        return ((self.first_v + k, self.multiplier, dof) for k, dof in enumerate(self.joint.dofs))


class PosedBody:
    """A body in one configuration: its pose in its parent, and the screws of its joint."""

    __slots__ = ("S", "T", "body", "index", "inertia", "own", "parent")

    def __init__(self, body: Body, own: Sequence[Scalar], T: Transform, S: list[tuple[int, Twist]]) -> None:
        self.body = body
        self.index = body.index
        self.parent = body.parent
        self.inertia = body.link.spatial_inertia
        self.own = own
        self.T = T
        """T_parent,child: the pose of the link in its parent."""
        self.S = S
        """The screws of the joint in the link's frame, each with the index of its velocity in qd."""

    def along(self, rates: Sequence[Scalar]) -> Twist:
        """The product of S and this joint's part of `rates`: its twist for qd, its part of the acceleration for qdd."""
        return _sum(S * rates[i] for i, S in self.S)

    def S_rate(self, qd: Sequence[Scalar]) -> list[Twist]:
        """Rates of the screws, seen in the link's frame: zero for all but universal and planar joints."""
        rates = self.body.joint.kind.columns_rate(self.own, self.body.rates(qd))
        return [rate * self.body.multiplier for rate in rates] if self.body.joint.mimic else list(rates)

    def velocity_product(self, qd: Sequence[Scalar]) -> Twist:
        """The product dS/dt qd: the joint's part of the acceleration at qdd = 0."""
        pairs = zip(self.S, self.S_rate(qd), strict=True)
        return _sum(rate * qd[i] for (i, _), rate in pairs if rate is not Twist.zero())


def _sum(motions: Iterable[Twist]) -> Twist:
    total = Twist.zero()
    for motion in motions:
        total = motion if total is Twist.zero() else total + motion
    return total


@dataclass(frozen=True)
class Model:
    """A robot: a tree of links and joints, frames on them, constraints that close loops, springs between
    links, and gravity.

    Make one with `Model.build`. Joint i moves link i + 1; link 0 is the base; parents come before children. Geometries
    and named configurations are carried along; they change no pose and no torque.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...] = ()
    gravity: Vector = field(default=GRAVITY)
    end_effector: str | None = None
    notes: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    geometries: tuple[Geometry, ...] = ()
    configurations: tuple[Configuration, ...] = ()
    springs: tuple[Spring, ...] = ()
    pairs: tuple[PairChoice, ...] = ()
    """Pairs of links that are, or are not, checked for collision; those of links that are gone do not count."""
    problems: tuple[ModelProblem, ...] = field(default=(), compare=False)
    """What was wrong with the file and can no longer be seen in the numbers."""

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {len(self.links)} links, {len(self.joints)} joints>"

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # not what was computed from them

    @staticmethod
    def build(
        name: str,
        links: Sequence[Link],
        joints: Sequence[Joint],
        frames: Sequence[Frame] = (),
        gravity: Vector = GRAVITY,
        end_effector: str | None = None,
        notes: Sequence[str] = (),
        constraints: Sequence[Constraint] = (),
        geometries: Sequence[Geometry] = (),
        configurations: Sequence[Configuration] = (),
        springs: Sequence[Spring] = (),
        pairs: Sequence[PairChoice] = (),
    ) -> Model:
        """Sort links and joints into a tree, depth first; refuse them if they are none."""
        where = f"robot {name!r}"
        ordered_links, ordered_joints = depth_first(links, joints, where)
        refuse_clashes(ordered_links, frames, where)
        _refuse_bad_dofs(ordered_joints, where)
        _refuse_bad_mimics(ordered_joints, where)
        named = [*(link.name for link in ordered_links), *(frame.name for frame in frames)]
        refuse_bad_constraints(constraints, named, where)
        refuse_bad_springs(springs, named, where)
        refuse_bad_geometries(geometries, [link.name for link in ordered_links], where)
        model = Model(
            name, ordered_links, ordered_joints, tuple(frames), gravity, end_effector, tuple(notes), tuple(constraints),
            tuple(geometries), springs=tuple(springs), pairs=tuple(pairs),
        )  # fmt: skip
        if configurations:
            refuse_bad_configurations(configurations, model.layout, where)
            model = replace(model, configurations=tuple(sort_positions(c, model.layout) for c in configurations))
        if end_effector is not None:
            model.locate(end_effector)
        return model

    def digest(self) -> str:
        """A digest of every number and name that shapes the motion: not of geometries, configurations and notes.

        Compiled kernels are kept by it.
        """
        return self._digest

    @cached_property
    def _digest(self) -> str:
        lines: list[str] = []
        _list_fields(self, lines.append)
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def has_mass(self) -> bool:
        """Whether anything that moves has a mass, an inertia or a rotor."""
        return any(link.mass or any(link.inertia.entries()) for link in self.links[1:]) or any(
            dof.rotor for joint in self.joints for dof in joint.dofs
        )

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """The constraints that close loops, in order."""
        return tuple(constraint.name for constraint in self.constraints)

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Position of each link by name."""
        return {link.name: i for i, link in enumerate(self.links)}

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """The links that a joint moves, in order; body k has index k + 1."""
        bodies: list[Body] = []
        for i, (joint, link) in enumerate(zip(self.joints, self.links[1:], strict=True)):
            mimic = joint.mimic or Mimic(joint.name)
            places = self.layout.by_joint.get(mimic.joint)  # none for a fixed joint
            q, v = (places.q.start, places.v.start) if places else (0, 0)
            parent = self.index_of[joint.parent]
            bodies.append(Body(i + 1, parent, link, joint, q, v, mimic.multiplier, mimic.offset))
        return tuple(bodies)

    def at(self, q: Sequence[Scalar]) -> list[PosedBody]:
        """Every body in the configuration q: what the algorithms loop over."""
        return [body.at(q) for body in self.bodies]

    @cached_property
    def layout(self) -> Layout:
        """The meaning of each number of q and qd."""
        return Layout.of(self.joints)

    @cached_property
    def moving(self) -> tuple[Joint, ...]:
        """The joints with coordinates of their own, in the order of those coordinates."""
        return tuple(places.joint for places in self.layout.joints)

    @cached_property
    def nq(self) -> int:
        """The number of coordinates in q."""
        return self.layout.nq

    @cached_property
    def nv(self) -> int:
        """The number of degrees of freedom."""
        return self.layout.nv

    @property
    def quaternions(self) -> tuple[tuple[str, int], ...]:
        """Joints whose coordinates end in a quaternion, and where in q it starts."""
        return self.layout.quaternions

    @cached_property
    def has_mimics(self) -> bool:
        return any(joint.mimic for joint in self.joints)

    @cached_property
    def friction_depends_on_position(self) -> bool:
        """Whether the friction of some joint is not the same everywhere."""
        return any(dof.friction_depends_on_position for joint in self.joints for dof in joint.dofs)

    @cached_property
    def rows(self) -> tuple[Constraint, ...]:
        """The constraint that each equation of all constraints belongs to, in order."""
        return tuple(constraint for constraint in self.constraints for _ in range(constraint.size))

    @cached_property
    def _frame_of(self) -> dict[str, Frame]:
        return {frame.name: frame for frame in self.frames}

    def locate(self, name: str) -> tuple[int, Transform]:
        """Place of a link or frame: the index of the link that carries it, and its pose in that link."""
        if not isinstance(name, str):
            raise UnknownNameError(
                f"robot {self.name!r}: a link or frame is named by a string, not by {short_repr(name)}"
            )
        if name in self.index_of:
            return self.index_of[name], Transform.identity()
        if name in self._frame_of:
            frame = self._frame_of[name]
            return self.index_of[frame.link], frame.origin
        known = [*self.index_of, *self._frame_of]
        raise UnknownNameError.of("link or frame", name, known, f"robot {self.name!r}")

    @cached_property
    def tips(self) -> tuple[str, ...]:
        """The links that carry no other."""
        parents = {joint.parent for joint in self.joints}
        return tuple(link.name for link in self.links if link.name not in parents)

    @cached_property
    def tip(self) -> str:
        """The end-effector: the one that was named, or the only tip."""
        if self.end_effector is not None:
            return self.end_effector
        if len(self.tips) > 1:
            raise ModelError(
                f"robot {self.name!r} has {len(self.tips)} tips ({quoted(self.tips)}); say which one is meant, with "
                "link=..., or set it for good with robot.with_end_effector(...)"
            )
        return self.tips[0]

    def ancestors(self, index: int) -> list[Body]:
        """The bodies from the base up to link `index`, that link included."""
        path = []
        while index:
            path.append(self.bodies[index - 1])
            index = path[-1].parent
        return path[::-1]

    def map(self, f: Lift) -> Model:
        """The same robot over other scalars: f(number, unit) is called for every parameter.

        Geometries and configurations stay numbers.
        """
        return replace(
            self,
            links=tuple(link.map(f) for link in self.links),
            joints=tuple(joint.map(f) for joint in self.joints),
            frames=tuple(frame.map(f) for frame in self.frames),
            constraints=tuple(constraint.map(f) for constraint in self.constraints),
            springs=tuple(spring.map(f) for spring in self.springs),
            gravity=lift_vector(f, self.gravity, "m/s^2"),
        )


def _refuse_bad_dofs(joints: Sequence[Joint], where: str) -> None:
    for joint in joints:
        if len(joint.dofs) != joint.kind.nv:
            raise ModelError(
                f"{where}, joint {joint.name!r} ({joint.type}) has {joint.kind.nv} degrees of freedom, but properties "
                f"for {len(joint.dofs)}"
            )


def _refuse_bad_mimics(joints: Sequence[Joint], where: str) -> None:
    by_name = {joint.name: joint for joint in joints}
    for joint in joints:
        if joint.mimic is None:
            continue
        here = f"{where}, joint {joint.name!r}"
        source = by_name.get(joint.mimic.joint)
        if source is None:
            raise UnknownNameError.of("joint", joint.mimic.joint, by_name, f"{here}, mimic: the robot")
        if source.mimic is not None:
            raise ModelError(
                f"{here} mimics {source.name!r}, which mimics {source.mimic.joint!r}: name that one instead"
            )
        if joint.kind.nv != 1 or source.kind.nv != 1:
            raise ModelError(
                f"{here} ({joint.type}) mimics {source.name!r} ({source.type}), but only joints with one degree of "
                "freedom can mimic or be mimicked"
            )


# --- the digest ---


def _list_fields(value: object, say: Callable[[str], None]) -> None:
    """Say every number and name in the fields of a dataclass, one a line, but for annotations."""
    if value is None or isinstance(value, (str, bool)):
        say(repr(value))
    elif isinstance(value, Real):
        say((float(value) + 0.0).hex())  # -0.0 is 0.0
    elif isinstance(value, (tuple, list)):
        say(f"{len(value)} items")
        for item in value:
            _list_fields(item, say)
    elif hasattr(value, "fingerprint"):  # a friction law of the user's own
        say(f"law {value.fingerprint}")
    elif is_dataclass(value):
        kind = type(value)
        say(f"{kind.__module__}.{kind.__qualname__}")
        for field in fields(value):
            if field.name not in ANNOTATIONS:
                _list_fields(getattr(value, field.name), say)
    else:
        raise ModelError(
            f"the digest of a model needs numbers, names, and dataclasses of these, got {short_repr(value)}; kinds of "
            "joints are frozen dataclasses"
        )
