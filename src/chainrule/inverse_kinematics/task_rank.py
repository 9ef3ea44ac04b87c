"""The rank of a task: how many of its equations a robot can meet independently of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.core.closure import closure_of
from chainrule.core.derived import remember
from chainrule.errors import ModelError
from chainrule.inverse_kinematics.goals import goal_residual, loop_residual
from chainrule.inverse_kinematics.methods import SearchProblem
from chainrule.kinematics.configurations import integrate, neutral
from chainrule.kinematics.poses import pose
from chainrule.kinematics.tasks import RANK_SAMPLES, rank_of
from chainrule.spatial import Scalar

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism


MAX_DISPLACEMENT = 2.0
MAX_DISPLACEMENT_IN_LOOPS = 0.3
"""How far from the neutral configuration the rank is looked at, in rad and m; limits do not count."""


class TaskRank(NamedTuple):
    """The equations of a task on a robot, and how many of them are independent in nearly every configuration.

    A position has three equations: a planar arm meets two, and the third says whether the point is in its plane. A
    direction has two, since it has no length to choose.
    """

    rank: int
    equations: int
    mobility: int
    """Independent velocities of the joints that move the links, closed loops staying closed."""


def task_rank(robot: Mechanism, problem: SearchProblem) -> TaskRank:
    """The rank of the Jacobian of all goals, the largest in some configurations."""
    return remember(robot, ("rank of goals", problem.goals), lambda: _measure(robot.reference, problem))


def has_singular_jacobian(robot: Mechanism, problem: SearchProblem, q: Array) -> Array:
    """Whether fewer equations are independent at each configuration (N, nq) than in nearly every other: (N,)."""
    whole, here = task_rank(robot, problem), _ranks(robot.reference, problem, q)
    return np.asarray(here.rank < whole.rank)


class RanksAt(NamedTuple):
    """The rank of the equations of a task and of the conditions of closed loops, at each of N configurations."""

    rank: Array
    """Of the equations, with velocities that keep the loops closed: (N,)."""
    held: Array
    """Of the conditions of the loops: (N,)."""
    equations: int


def _measure(robot: Mechanism, problem: SearchProblem) -> TaskRank:
    rank, held, equations = _ranks(robot, problem, _configurations(robot))
    return TaskRank(int(rank.max()), equations, int((problem.n - held).max()))


def _ranks(robot: Mechanism, problem: SearchProblem, q: Array) -> RanksAt:
    coordinates = list(np.moveaxis(q, -1, 0))
    rows: list[list[Scalar]] = []
    directions = 0
    for goal in problem.goals:
        T = pose(robot, q, goal.link)
        target = goal.target_numbers(T[..., :3, :3], T[..., :3, 3])
        rows += goal_residual(problem.model, coordinates, goal, list(np.moveaxis(target, -1, 0))).rows
        directions += goal.orientation == "axis" and goal.weights[0] > 0
    closing = loop_residual(problem.model, coordinates, problem.rows).rows if problem.rows else []
    held = rank_of(_matrix(closing, problem, len(q))) if closing else np.zeros(len(q), dtype=int)
    rank = rank_of(_matrix([*rows, *closing], problem, len(q))) - held
    return RanksAt(rank, held, len(rows) - directions)


def _configurations(robot: Mechanism) -> Array:
    """Configurations (N, nq) of no special kind, closed where there are loops that can be."""
    size = MAX_DISPLACEMENT if not robot.model.constraints else MAX_DISPLACEMENT_IN_LOOPS
    away = np.random.default_rng(0).uniform(-size, size, (RANK_SAMPLES, robot.nv))
    if not robot.model.constraints:
        return integrate(robot, neutral(robot), away)
    try:
        states, good = closure_of(robot).close(integrate(robot, closure_of(robot).neutral, away))
    except ModelError:  # no closed configuration was found: the equations of open ones are all there is
        return integrate(robot, neutral(robot), away)
    return states[good] if good.any() else closure_of(robot).neutral[None]


def _matrix(rows: list[list[Scalar]], problem: SearchProblem, count: int) -> Array:
    """Rows of a Jacobian for the velocities to choose, in each configuration: (count, rows, n)."""
    J = np.empty((count, len(rows), problem.n))
    for i, row in enumerate(rows):
        for j, velocity in enumerate(problem.velocities):
            J[:, i, j] = row[velocity]
    return J
