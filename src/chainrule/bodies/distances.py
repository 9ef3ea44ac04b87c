"""`robot.distances`, `robot.clearance` and its derivative: how far a robot is from itself and from a world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainrule.algorithms import distances as algorithm
from chainrule.arguments import Array, checked_out, number, word
from chainrule.bodies.world import World
from chainrule.core.declaration import function
from chainrule.core.derived import remember
from chainrule.core.evaluation import evaluate
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import bound_parameters
from chainrule.core.reading import Loads, read_argument
from chainrule.errors import ModelError, ShapeError, short_repr
from chainrule.functions.table import PER_DISPLACEMENT, Needs, Option, Q, never, per_pair
from chainrule.model import Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def _table(robot: Any, value: Any = None) -> algorithm.BodyTable:
    return value if isinstance(value, algorithm.BodyTable) else robot.bodies.table


def _smooth(robot: Any, value: Any) -> float:
    x = number(value, "smooth", "m")
    if x < 0:
        raise ShapeError(f"smooth must be a length in m, at least 0, got {short_repr(value)}")
    return x


BODIES = Option(_table, _table, is_public=False)
OBSTACLES = Option("", lambda robot, value: word(value, "obstacles") if value else "", is_public=False)
SMOOTH = Option(0.0, _smooth)
CHECKED = {"bodies": BODIES, "obstacles": OBSTACLES}


def PAIRS(model: Model, options: Mapping[str, Any]) -> int:
    """The number of pairs that are checked, those with obstacles included."""
    count: int = options["bodies"].count(len(options["obstacles"].split()))
    return count


class Nearest(NamedTuple):
    """Distances (..., pairs) in m; nearest points of both bodies and unit normals (..., pairs, 3), in base axes."""

    distance: Array
    point_a: Array
    point_b: Array
    normal: Array


MAX_TOGETHER = 4
"""Obstacles that one kernel takes; of more, each kind has a kernel for one, which is called for all of that kind.

For a Panda among 20 boxes one kernel took over a minute to compile, and the kernel for one box two seconds.
"""


def _evaluate(
    robot: Mechanism, name: str, q: ArrayLike, world: World | None, out: Array | None = None, **options: Any
) -> Array:
    loads, obstacles = _surroundings(name, q, world)
    if name.startswith("clearance") and not _table(robot).count(len(obstacles.split())):
        raise ModelError(
            f"{name}: robot {robot.name!r} has no pair of bodies that is checked against each other"
            f"{'' if world is None else ' or against the world'}, and so no distance; robot.bodies lists them"
        )
    if world is None or len(world) <= MAX_TOGETHER or bound_parameters(robot).names:
        return evaluate(robot, name, loads, q=q, obstacles=obstacles, out=out, **options)
    state = read_argument(robot, name, "q", q)
    result = _by_kind(robot, name, state, world, options)
    if out is None:
        return result
    place = checked_out(out, result.shape, result.dtype, name)
    place[...] = result
    return place


def _by_kind(robot: Mechanism, name: str, q: Array, world: World, options: Mapping[str, Any]) -> Array:
    """A function among many obstacles: of those of each kind in one call, with a first dimension for them."""
    table, numbers_type = _table(robot), np.dtype(np.float32 if q.dtype == np.float32 else np.float64)
    outer = remember(robot, "outer body table", lambda: replace(table, pairs=()))
    in_order = np.argsort(np.concatenate([indices for indices, _ in world.by_kind.values()]))

    def of_each(function: str) -> tuple[list[Array], Array]:
        """The function of the robot alone, as (1, ...), and with each obstacle, (obstacles, ...)."""
        found = []
        for kind, (indices, rows) in world.by_kind.items():
            numbers: Any = rows.astype(numbers_type).reshape(len(indices), *[1] * (q.ndim - 1), -1)
            loads = Loads((), (numbers,), ("world",))
            found.append(evaluate(robot, function, loads, q=q[None], obstacles=kind, bodies=outer, **options))
        own = [evaluate(robot, function, q=q, obstacles="", **options)[None]] if table.pairs else []
        return own, np.concatenate(found)[in_order]

    if not name.startswith("clearance"):  # each body, then each obstacle
        own, each = of_each(name)
        pairs = np.moveaxis(each, 0, q.ndim)
        pairs = pairs.reshape(*q.shape[:-1], -1, *pairs.shape[q.ndim + 1 :])
        return np.concatenate([*(x[0] for x in own), pairs], axis=q.ndim - 1)
    own, each = of_each("clearance")
    values = np.concatenate([*own, each])
    rows = values[..., None]
    if name == "clearance_dq":
        own, each = of_each(name)
        rows = np.concatenate([*own, each])
    if not options.get("smooth"):
        rows = np.take_along_axis(rows, values.argmin(axis=0)[None, ..., None], axis=0)
    while len(rows) > 1:
        half = len(values) // 2
        lower, part = algorithm.smaller(values[:half], values[half : 2 * half], options["smooth"])
        mixed = rows[:half] * (1 - part[..., None]) + rows[half : 2 * half] * part[..., None]
        rows = np.concatenate([mixed if name == "clearance_dq" else lower[..., None], rows[2 * half :]])
        values = np.concatenate([lower, values[2 * half :]])
    return np.asarray(rows[0] if name == "clearance_dq" else rows[0, ..., 0])


def _surroundings(caller: str, q: ArrayLike, world: World | None) -> tuple[Loads, str]:
    """The numbers of a world as a further argument of a function, and its layout."""
    if world is None:
        return Loads(), ""
    if not isinstance(world, World):
        raise ShapeError(f"{caller}: world must be a cr.World, got {short_repr(world)}")
    if not len(world):
        return Loads(), ""
    numbers: Any = world.numbers
    if getattr(q, "dtype", None) == np.float32:
        numbers = numbers.astype(np.float32)
    return Loads((), (numbers,), ("world",)), world.layout


@function(
    algorithm.distances,
    takes=(Q,),
    gives=(PAIRS,),
    unit="m",
    options=CHECKED,
    needs=Needs.NOTHING,
    cost=per_pair(),
    is_surrounded=True,
    answer="signed distances of pairs of bodies (m)",
)
def distances(robot: Mechanism, q: ArrayLike, world: World | None = None, *, out: Array | None = None) -> Array:
    """Signed distances of the pairs of bodies that are checked, negative where they overlap: (..., pairs), in m.

    The pairs are those of `robot.bodies.pairs`; with a world, those with its obstacles after them, as
    `robot.bodies.pairs_with(world)` names them. Distances of cylinders, ellipsoids and hulls may be less than the true
    ones, never more: docs/bodies.md says by how much.

    >>> import chainrule as cr
    >>> cr.load("planar_3r").distances([0.0, 0.0, 0.0]).shape
    (1,)
    """
    return _evaluate(robot, "distances", q, world, out=out)


@function(
    algorithm.clearance,
    takes=(Q,),
    gives=(),
    unit="m",
    options={**CHECKED, "smooth": SMOOTH},
    needs=Needs.NOTHING,
    cost=per_pair(),
    is_surrounded=True,
    answer="smallest signed distance of all pairs of bodies (m)",
)
def clearance(
    robot: Mechanism, q: ArrayLike, world: World | None = None, *, smooth: float = 0.0, out: Array | None = None
) -> Array:
    """The smallest distance of the robot to itself and to the world, negative where bodies overlap: (...,), in m.

    smooth: a length in m; the answer is then a smooth function of q for optimisers, never above the smallest distance:
    at most smooth / 2 below it for each time that the number of pairs can be halved.

    >>> import chainrule as cr
    >>> world = cr.World().sphere("ball", radius=0.1, xyz=(2.0, 1.0, 0.0))
    >>> bool(cr.load("planar_2r").clearance([0.0, 0.0], world) > 0.8)
    True
    """
    return _evaluate(robot, "clearance", q, world, smooth=smooth, out=out)


@function(
    algorithm.clearance_dq,
    takes=(Q,),
    gives=(PER_DISPLACEMENT,),
    unit="m",
    options={**CHECKED, "smooth": SMOOTH},
    needs=Needs.NOTHING,
    cost=per_pair(),
    is_surrounded=True,
    answer="derivative of the smallest distance along {displacements} (m)",
)
def clearance_dq(
    robot: Mechanism, q: ArrayLike, world: World | None = None, *, smooth: float = 0.0, out: Array | None = None
) -> Array:
    """The derivative of the clearance along each velocity: (..., nv).

    Where two pairs are equally near, or a pair has several nearest points, the clearance has no derivative: this is
    that of one of them. With `smooth` only the second can happen.
    """
    return _evaluate(robot, "clearance_dq", q, world, smooth=smooth, out=out)


@function(
    algorithm.nearest,
    subject="bodies",
    takes=(Q,),
    gives=(PAIRS, 10),
    unit="m",
    options=CHECKED,
    needs=Needs.NOTHING,
    cost=per_pair(),
    is_direct=never,
    is_surrounded=True,
    answer="of each pair of bodies: distance, nearest point of each (m), normal",
)
def nearest(robot: Mechanism, q: ArrayLike, world: World | None = None) -> Nearest:
    """Distances with the nearest points and the normals of all pairs, in base axes.

    Points of bodies that overlap are those that the shortest way apart would bring together.
    """
    found = _evaluate(robot, "bodies.nearest", q, world)
    return Nearest(found[..., 0], found[..., 1:4], found[..., 4:7], found[..., 7:10])
