"""`robot.bodies`: the collision bodies of a robot, and the pairs of them that are checked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from chainrule.algorithms import kinematics
from chainrule.algorithms.distances import BodyTable
from chainrule.algorithms.separation import separation
from chainrule.algorithms.solids import HalfSpace, Solid, length
from chainrule.bodies.body import CollisionBody, Convex, Spheres
from chainrule.bodies.distances import nearest
from chainrule.bodies.fitting import cover_with_spheres, fit_capsule, hull_volume
from chainrule.bodies.mesh_points import points_of
from chainrule.bodies.world import World
from chainrule.core.derived import remember
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link, read_argument
from chainrule.core.subject import method
from chainrule.errors import ChainruleError, ModelError, ModelWarning, ShapeError, UnknownNameError, warn_user
from chainrule.kinematics.configurations import home
from chainrule.model import Capsule, Geometry, Mesh, Model, Plane, Sphere, edits
from chainrule.model.configurations import home_positions
from chainrule.model.geometry import PairChoice
from chainrule.shapes.parts import Look, link_radii, mesh_path
from chainrule.shapes.skeleton import skeleton
from chainrule.shapes.surfaces import COARSE, rotation_along
from chainrule.spatial import Rotation, Transform, Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

BARS = Look(radius=0.028, slimming=0.5, fineness=COARSE, triangles=0)
"""The thickness of bars where nothing else tells it: that of the studio's picture."""

SAME_LINK, NEIGHBOURS, TOUCH = "one rigid part", "neighbours", "touch at home"

Pair: TypeAlias = tuple[str, str]


class LeftOut(NamedTuple):
    """A pair of bodies that is not checked, and why."""

    body_a: str
    body_b: str
    reason: str


class Fit(NamedTuple):
    """A body that stands for a mesh: the volume of the mesh's convex hull, and that of the body, in m^3."""

    body: str
    hull_volume: float
    volume: float


class RobotBodies:
    """The collision bodies of a robot, in the order of its links; immutable.

    They are the collision shapes of its file; else its visual shapes; else bars between its joints. A mesh counts as a
    capsule around it, more than two balls on one link as one body. `pairs` are the pairs of bodies that are checked
    against each other, `left_out` the others, each with its reason: both are on one rigid part, or on links that a
    joint or a constraint connects, they touch at home, or a file or a person says so.

    >>> import chainrule as cr
    >>> cr.load("planar_3r").bodies
    <3 bodies of robot 'planar_3r', from bars between its joints; 1 of 3 pairs are checked>
    """

    nearest = method(nearest)

    def __init__(self, robot: Mechanism) -> None:
        self.robot = robot
        self.source, self.bodies, self.fits, self.problems = _bodies_of(robot)
        self.role = "visual" if "visual" in self.source else "collision"
        self.pairs, self.left_out = _pairs_of(robot.model, self.bodies)

    def __iter__(self) -> Iterator[CollisionBody]:
        return iter(self.bodies)

    def __len__(self) -> int:
        return len(self.bodies)

    def __getitem__(self, name: str) -> CollisionBody:
        for body in self.bodies:
            if body.name == name:
                return body
        raise UnknownNameError.of("body", name, self.names, f"robot {self.robot.name!r}")

    def with_spheres(self, count: int) -> Any:
        """A robot whose meshes are covered by so many balls each, in place of one capsule."""
        fitted = {fit.body for fit in self.fits}
        found = [g for body in self.bodies if body.name not in fitted for g in geometries(body)]
        for g in self.robot.model.geometries:
            if g.role == self.role and isinstance(g.shape, Mesh):
                centers, radii = cover_with_spheres(*points_of(g.shape), count)
                balls = Spheres(tuple(Vector(*c) for c in centers.tolist()), tuple(radii.tolist()))
                found += geometries(CollisionBody(g.link, balls, g.origin, g.link))
        return self._with_geometries(found)

    def as_world(self, q: ArrayLike | None = None) -> World:
        """All bodies in a configuration, home unless one is given, as obstacles: of furniture, or of another robot.

        `cr.load("shelf.sdf").bodies.as_world()` is the world that a file describes.
        """
        poses = self._poses(q)
        world = World()
        for body in self.bodies:
            world = world.put(replace(body, origin=poses[body.link or ""] * body.origin, link=None))
        return world

    def hold(self, world: World, name: str, q: ArrayLike, link: str | None = None) -> tuple[Any, World]:
        """The robot with an obstacle in its hand, and the world without it.

        It stays where it is relative to a link, the end-effector's unless one is named, and counts as a body of it.
        """
        carrier = self.robot.model.links[self.robot.model.locate(find_link(self.robot, link))[0]].name
        thing = world[name]
        if any(body.name == f"{body.link}.{name}" for body in self.bodies):
            raise ModelError(
                f"hold: robot {self.robot.name!r} has a body {name!r} already; give the obstacle another name"
            )
        held = replace(thing, link=carrier, origin=self._poses(q)[carrier].inverse() * thing.origin)
        own = [g for body in self.bodies for g in geometries(body)]
        return self._with_geometries([*own, *geometries(held)]), world.remove(name)

    def put_down(self, world: World, name: str, q: ArrayLike) -> tuple[Any, World]:
        """The robot without a body that it holds, and the world with it, where it is in a configuration."""
        body = next((b for b in self.bodies if b.name == f"{b.link}.{name}"), None) or self[name]
        kept = [g for other in self.bodies if other is not body for g in geometries(other)]
        placed = replace(body, name=name, link=None, origin=self._poses(q)[body.link or ""] * body.origin)
        return self._with_geometries(kept), world.put(placed)

    def _poses(self, q: ArrayLike | None) -> dict[str, Transform]:
        model = self.robot.model
        values = home(self.robot) if q is None else read_argument(self.robot, "bodies", "q", q)
        if values.ndim != 1:
            raise ShapeError(f"q must be one configuration, got shape {values.shape}")
        return dict(zip(model.index_of, kinematics.poses(model, values.tolist()), strict=True))

    def _with_geometries(self, found: list[Geometry]) -> Any:
        """A robot with these in place of its collision shapes."""
        others = [g for g in self.robot.model.geometries if g.role != "collision"]
        return type(self.robot)(replace(self.robot.model, geometries=(*others, *found)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bodies, in order."""
        return tuple(body.name for body in self.bodies)

    def __repr__(self) -> str:
        every = len(self.pairs) + len(self.left_out)
        return (
            f"<{len(self)} bodies of robot {self.robot.name!r}, from {self.source}; {len(self.pairs)} of {every} pairs "
            "are checked>"
        )

    def without_pair(self, link_a: str, link_b: str) -> Any:
        """A robot in which two links are not checked against each other."""
        return self._with(link_a, link_b, False)

    def with_pair(self, link_a: str, link_b: str) -> Any:
        """A robot in which two links are checked against each other, whatever the rule says of them."""
        return self._with(link_a, link_b, True)

    def _with(self, link_a: str, link_b: str, checked: bool) -> Any:
        model = self.robot.model
        for name in (link_a, link_b):
            if name not in model.index_of:
                raise UnknownNameError.of("link", name, model.index_of, f"robot {model.name!r}")
        return type(self.robot)(edits.choose_pair(model, PairChoice(link_a, link_b, checked)))

    def pairs_with(self, world: World | None) -> tuple[Pair, ...]:
        """The pairs that are checked, those of the moving bodies with the obstacles of a world after them."""
        own = (self.names[k] for k in self.table.moving)
        return (*self.pairs, *((name, other) for name in own for other in (() if world is None else world.names)))

    @property
    def table(self) -> BodyTable:
        """The bodies and pairs as functions are compiled for them."""
        return remember(self.robot, "body table", self._table)

    def _table(self) -> BodyTable:
        place = {name: k for k, name in enumerate(self.names)}
        carriers = _carriers(self.robot.model)
        free = (k for k, body in enumerate(self.bodies) if carriers[body.link or ""])
        moving = tuple(k for k in free if not isinstance(self.bodies[k].shape, Plane))
        pairs = tuple((place[a], place[b]) for a, b in self.pairs)
        solids = tuple(body.solid for body in self.bodies)
        return BodyTable(tuple(body.link or "" for body in self.bodies), solids, pairs, moving)


def bodies_of(robot: Mechanism) -> RobotBodies:
    """The collision bodies of a robot, worked out once."""
    return remember(robot, "bodies", lambda: _new_bodies(robot))


def _new_bodies(robot: Mechanism) -> RobotBodies:
    found = RobotBodies(robot)
    if found.problems:
        more = f" (and {len(found.problems) - 1} more)" if len(found.problems) > 1 else ""
        warn_user(f"robot {robot.name!r}: {found.problems[0]}{more}; bars stand for such links", ModelWarning)
    return found


# --- the bodies ---


def _bodies_of(robot: Mechanism) -> tuple[str, tuple[CollisionBody, ...], tuple[Fit, ...], tuple[str, ...]]:
    """Where the bodies come from, the bodies, those that stand for meshes, and what could not be read."""
    model = robot.model
    for role, source in (
        ("collision", "the collision shapes of its file"),
        ("visual", "the visual shapes of its file"),
    ):
        geometries = [g for g in model.geometries if g.role == role and (role == "collision" or g.shape != Plane())]
        if not geometries:
            continue
        problems: list[str] = []
        found: list[CollisionBody] = []
        fits: list[Fit] = []
        for link in model.links:
            own = [g for g in geometries if g.link == link.name]
            try:
                balls = [g for g in own if isinstance(g.shape, Sphere)]
                if len(balls) > 2:
                    own = [g for g in own if not isinstance(g.shape, Sphere)]
                    found.append(_cluster(balls, f"{link.name}.spheres" if own else link.name))
                found += [_body(g, _name(g, own), fits) for g in own]
            except (ChainruleError, OSError, ValueError) as error:
                problems.append(f"link {link.name!r}: {error}")
                found += _bars(robot, model.index_of[link.name])
        return source, tuple(found), tuple(fits), tuple(problems)
    bars = tuple(body for k in range(len(model.links)) for body in _bars(robot, k))
    return "bars between its joints", bars, (), ()


def _name(geometry: Geometry, own: list[Geometry]) -> str:
    """The name of a body: that of its link where it is the only one and has none of its own."""
    if geometry.name and [g.name for g in own].count(geometry.name) == 1:
        return f"{geometry.link}.{geometry.name}"
    return geometry.link if len(own) == 1 else f"{geometry.link}.{next(i for i, g in enumerate(own) if g is geometry)}"


def _body(geometry: Geometry, name: str, fits: list[Fit]) -> CollisionBody:
    shape = geometry.shape
    if not isinstance(shape, Mesh):
        return CollisionBody(name, shape, geometry.origin, geometry.link)
    path = mesh_path(shape)
    capsule, place, volume = _fit(path, path.stat().st_mtime_ns, shape)
    own = math.pi * capsule.radius**2 * (capsule.length + 4 / 3 * capsule.radius)
    fits.append(Fit(name, volume, own))
    return CollisionBody(name, capsule, geometry.origin * place, geometry.link)


@lru_cache(maxsize=1024)
def _fit(path: Path, _changed: int, shape: Mesh) -> tuple[Capsule, Transform, float]:
    """The capsule around a mesh, its place, and the volume of the mesh's hull: once for all edits of a robot."""
    points, _ = points_of(shape)
    return *fit_capsule(points), hull_volume(points)


def _cluster(balls: list[Geometry], name: str) -> CollisionBody:
    """More than two balls on one link, as one body."""
    radii = tuple(float(g.shape.radius) for g in balls if isinstance(g.shape, Sphere))
    return CollisionBody(name, Spheres(tuple(g.origin.translation for g in balls), radii), link=balls[0].link)


def geometries(body: CollisionBody) -> list[Geometry]:
    """A body as shapes that a file of a robot can hold."""
    shape, link = body.shape, body.link or ""
    name = None if body.name == link else body.name.removeprefix(f"{link}.")
    if isinstance(shape, Spheres):
        balls = zip(shape.centers, shape.radii, strict=True)
        return [Geometry(link, Sphere(r), body.origin * Transform.from_xyz_rpy((*c,)), "collision") for c, r in balls]
    if isinstance(shape, Convex):
        raise ModelError(f"body {body.name!r} is the hull of a mesh, which no link can carry; give it with spheres=20")
    return [Geometry(link, shape, body.origin, "collision", name=name)]


def _bars(robot: Mechanism, k: int) -> list[CollisionBody]:
    """Capsules between the joints of a link, and around the edge of a plate."""
    places, name = skeleton(robot).links[k], robot.model.links[k].name
    edges = [*places.bars, *zip(places.plate, (*places.plate[1:], *places.plate[:1]), strict=True)]
    radius = float(link_radii(robot, BARS)[k])
    found = []
    for i, (a, b) in enumerate(edges):
        start, end = places.points[a], places.points[b]
        size = float(np.linalg.norm(end - start))
        R = Rotation.of(rotation_along(end - start).tolist())
        place = Transform(R, Vector(*((start + end) / 2).tolist()))
        label = name if len(edges) == 1 else f"{name}.{i}"
        found.append(CollisionBody(label, Capsule(radius, size), place, name))
    return found


# --- the pairs ---


def _pairs_of(model: Model, bodies: tuple[CollisionBody, ...]) -> tuple[tuple[Pair, ...], tuple[LeftOut, ...]]:
    """The pairs that are checked, and those that are not, by the rule that `RobotBodies` tells."""
    carriers, joined = _carriers(model), _connections(model)
    chosen = {frozenset((c.link_a, c.link_b)): c for c in model.pairs}
    q = list(home_positions(model.layout, model.configurations).values())
    poses = kinematics.poses(model, q)
    solids = [body.solid.moved_by(poses[model.index_of[body.link or ""]]) for body in bodies]
    checked: list[Pair] = []
    left_out: list[LeftOut] = []
    for i, a in enumerate(bodies):
        for j in range(i + 1, len(bodies)):
            b = bodies[j]
            choice = chosen.get(frozenset((a.link or "", b.link or "")))
            sides = frozenset((carriers[a.link or ""], carriers[b.link or ""]))
            reason = None
            if len(sides) == 1:
                reason = SAME_LINK
            elif choice is not None:
                reason = None if choice.checked else choice.reason or "chosen"
            elif sides in joined:
                reason = NEIGHBOURS
            elif _touch(solids[i], solids[j]):
                reason = TOUCH
            if reason is None:
                checked.append((a.name, b.name))
            else:
                left_out.append(LeftOut(a.name, b.name, reason))
    return tuple(checked), tuple(left_out)


def _touch(a: Solid, b: Solid) -> bool:
    if isinstance(a, HalfSpace) or isinstance(b, HalfSpace):
        return type(a) is type(b) or bool(separation(a, b).distance <= 0)
    n = (b.center - a.center) / length(b.center - a.center)
    if b.lowest(n)[1] + a.lowest(-n)[1] > 0:  # a gap is seen along the line of their centers
        return False
    return bool(separation(a, b).distance <= 0)


def _carriers(model: Model) -> dict[str, int]:
    """The rigid part that each link belongs to, by the index of its first link; 0 for what stands still."""
    carriers = {model.links[0].name: 0}
    for body in model.bodies:
        parent = carriers[model.links[body.parent].name]
        carriers[body.link.name] = body.index if body.joint.kind.nv else parent
    return carriers


def _connections(model: Model) -> set[frozenset[int]]:
    """The pairs of rigid parts that a joint or a constraint connects."""
    carriers = _carriers(model)
    found = {frozenset((carriers[model.links[b.parent].name], carriers[b.link.name])) for b in model.bodies}
    for c in model.constraints:
        ends = (model.links[model.locate(name)[0]].name for name in (c.link_a, c.link_b))
        found.add(frozenset(carriers[name] for name in ends))
    return found
