"""Random robots: trees of every joint kind, with all that a joint can carry."""

from __future__ import annotations

import numpy as np

from chainrule.model import (
    Box,
    Capsule,
    Composite,
    Configuration,
    Cylinder,
    Dof,
    Ellipsoid,
    Fixed,
    Frame,
    Free,
    Geometry,
    Joint,
    Link,
    Mesh,
    Mimic,
    Model,
    Moved,
    Plane,
    Screw,
    Sphere,
    Spherical,
)
from chainrule.model.edits import rebuild
from chainrule.robot.robot import Robot
from chainrule.spatial import Rotation, Symmetric, Transform, Vector

KINDS = (
    "revolute", "continuous", "prismatic", "helical", "screw", "fixed", "cylindrical", "universal", "planar", "spherical",
    "free", "moved",
)  # fmt: skip


def vector(rng, scale=1.0):
    return Vector(*(float(x) for x in rng.normal(size=3) * scale))


def unit(rng):
    v = vector(rng)
    return v / v.norm()


def transform(rng, scale=0.5):
    return Transform(Rotation.exp(vector(rng)), vector(rng, scale))


def inertia(rng):
    """A physically possible one: the second moments of mass are positive."""
    A = rng.normal(size=(3, 3)) * 0.2
    second = A @ A.T + 0.01 * np.eye(3)
    return Symmetric.of((np.trace(second) * np.eye(3) - second).tolist())


def kind_of(name, rng):
    return {
        "revolute": lambda: Screw.revolute(unit(rng)),
        "continuous": lambda: Screw.revolute(unit(rng), name="continuous"),
        "prismatic": lambda: Screw.prismatic(unit(rng)),
        "helical": lambda: Screw.helical(unit(rng), None, 0.3),
        "screw": lambda: Screw(vector(rng), vector(rng)),
        "fixed": Fixed,
        "cylindrical": lambda: Composite.cylindrical(unit(rng)),
        "universal": lambda: Composite.universal(unit(rng), unit(rng)),
        "planar": Composite.planar,
        "spherical": Spherical,
        "free": Free,
        "moved": lambda: Moved(Spherical(), transform(rng)),
    }[name]()


def dof(rng, spring):
    u = lambda high: float(rng.uniform(0, high))  # noqa: E731
    return Dof(
        viscous=u(0.5), coulomb=u(0.5), coulomb_negative=u(0.5), rotor=u(0.01), gear=u(5.0),
        stiffness=u(3.0) if spring else 0, rest=u(1.0) if spring else 0,
    )  # fmt: skip


def tree(seed, names=KINDS, *, drives=True, mimic=True, shuffle=True) -> Robot:
    """A random tree with a joint of each of the given kinds, and a mimic joint or two."""
    rng = np.random.default_rng(seed)
    names = list(rng.permutation(names)) if shuffle else list(names)
    links, joints = [Link("base")], []
    for i, name in enumerate(names):
        kind = kind_of(name, rng)
        parent = links[int(rng.integers(max(0, i - 2), i + 1))].name
        dofs = tuple(dof(rng, kind.nq == kind.nv) for _ in range(kind.nv)) if drives else ()
        links.append(Link(f"link{i}", float(rng.uniform(0.5, 2)), vector(rng, 0.3), inertia(rng)))
        joints.append(Joint(f"joint{i}", parent, f"link{i}", kind, transform(rng), dofs))
    single = [j.name for j in joints if j.kind.nv == 1]
    if mimic and single:
        source = str(rng.choice(single))
        links.append(Link("follower", 0.7, vector(rng, 0.3), inertia(rng)))
        follow = Mimic(source, float(rng.uniform(-2, 2)), float(rng.normal()))
        dofs = (dof(rng, True),) if drives else ()
        parent = str(rng.choice([link.name for link in links[:-1]]))
        joints.append(Joint("following", parent, "follower", Screw.revolute(unit(rng)), transform(rng), dofs, follow))
    frames = [Frame("tool", links[-1].name, transform(rng))]
    gravity = vector(rng, 5.0)
    return Robot(Model.build(f"tree{seed}", links, joints, frames, gravity, "tool"))


def state(robot, seed, shape=()):
    """q, qd, qdd."""
    rng = np.random.default_rng(seed)
    return robot.random_state(rng, shape), *(rng.normal(size=(*shape, robot.nv)) for _ in range(2))


def looped(seed, ties=("point", "distance"), names=KINDS, *, drives=True):
    """A random tree with independent constraints of the given kinds between its links, and a q that closes them."""
    robot = tree(seed, names, drives=drives)
    rng = np.random.default_rng(seed + 1)
    q = robot.random_state(rng)
    for k, kind in enumerate(ties):
        for _ in range(200):
            tied = _tied(robot, q, kind, f"tie{k}", rng)
            if np.linalg.svd(tied.reference.loops.jacobian(q), compute_uv=False)[-1] > 0.05:
                break
        robot = tied
    return robot, q


def _tied(robot, q, kind, name, rng):
    a, b = (str(link) for link in rng.choice(robot.link_names[1:], 2, replace=False))
    origin = np.array(transform(rng).rows(), dtype=float)
    apart = np.linalg.inv(robot.pose(q, b)) @ robot.pose(q, a) @ origin
    distance = 0.8 if kind == "distance" else None
    apart[:3, 3] += apart[:3, 0] * (distance or 0)
    return robot.with_constraint(kind, a, b, origin, apart, distance, name)


def moving(robot, seed, shape=()):
    """A closed state with consistent velocity and acceleration."""
    rng = np.random.default_rng(seed)
    q = robot.random_state(rng, shape)
    qd = robot.loops.consistent_velocity(q, rng.normal(size=(*shape, robot.nv)))
    return q, qd, robot.loops.consistent_acceleration(q, qd, rng.normal(size=(*shape, robot.nv)))


def shapes(rng):
    """One of each shape, of random sizes."""
    sizes = [float(x) for x in rng.uniform(0.01, 0.5, 8)]
    return [
        Box(Vector(*sizes[:3])), Sphere(sizes[3]), Cylinder(*sizes[4:6]), Capsule(*sizes[5:7]),
        Ellipsoid(Vector(*sizes[2:5])), Plane(), Plane(sizes[0], sizes[1]), Mesh("package://arm/hand.stl"),
        Mesh("meshes/hand.dae", Vector(0.001, -0.001, 0.001)),
    ]  # fmt: skip


def with_geometry(robot, seed):
    """The robot with geometry on every link, and with two named configurations."""
    rng = np.random.default_rng(seed)
    geometries = [
        Geometry(
            link.name,
            shapes(rng)[rng.integers(9)],
            transform(rng),
            ("visual", "collision")[k],
            tuple(float(x) for x in rng.uniform(0, 1, 4)) if rng.random() < 0.5 else None,
            f"{link.name}_{k}" if rng.random() < 0.5 else None,
        )
        for link in robot.model.links
        for k in range(2)
    ]
    names = robot.coordinate_names
    q = (state(robot, seed + k)[0] for k in range(2))
    configurations = [
        Configuration(name, tuple(zip(names, map(float, numbers), strict=True)))
        for name, numbers in zip(("home", "bent low"), q, strict=True)
    ]
    return type(robot)(rebuild(robot.model, geometries=geometries, configurations=configurations))
