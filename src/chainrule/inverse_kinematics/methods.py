"""One iteration of each method, over generic scalars: never a branch on a value.

Levenberg and Marquardt's method, the default, takes the step d that solves

    (J^T J + damping 1) d = J^T e

with the damping in proportion to the cost (Fan & Yuan, 2005; Sugihara, 2011), and keeps it if the cost falls. A joint
that stands at a limit and would be pushed further is left out of the system, so that the others do not wait for it.
The other three are those of the textbooks: one step after the other, and the best configuration is remembered.

The state of an iteration is a flat list of numbers: the configuration, its `IterateSummary`, and the method's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from chainrule.core.closure import CLOSED_GAP
from chainrule.core.derived import fingerprint, merged_fingerprint
from chainrule.functions.table import FUNCTIONS
from chainrule.inverse_kinematics.goals import Goal, goal_residual, loop_residual
from chainrule.lazy import cached_property
from chainrule.model import Model
from chainrule.model.parameters import parameter_length, with_parameters
from chainrule.spatial import Scalar
from chainrule.spatial.linear import Factors, dot, transpose
from chainrule.spatial.scalar import maximum, sqrt, where

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

Scalars = Sequence[Scalar]

METHODS = ("lm", "newton", "pseudo_inverse", "transpose")
MIN_DAMPING = 1e-11
"""The smallest damping: it keeps a singular system solvable."""
MIN_DAMPING_SHARE = 1e-6
"""The smallest ratio of damping and cost, but for MIN_DAMPING."""
UNKNOWN_COST = 1e300
"""The cost before anything is known."""
DAMPING_DECREASE, DAMPING_INCREASE = 0.4, 4.0
"""Factors of the damping's share of the cost after a step that was kept, and after one that was not."""
MIN_SQUARED_LENGTH = 1e-24
"""Squared lengths are divided by as if they were at least this."""
DEPENDENT_ROW_TOLERANCE = 1e-10
"""A row of J counts as dependent below this part of its size."""


LOOP_TOLERANCE = 0.3 * CLOSED_GAP
"""The largest error of a loop in a solution, in m or rad."""


class IterateSummary(NamedTuple):
    """Four numbers about the configuration of an iteration."""

    miss: Any
    """The largest squared error in units of the squared tolerance: solved at 1 or less."""
    cost: Any
    damping_share: Any
    """The ratio of damping and cost."""
    iterations: Any
    """Iterations until the configuration was solved."""


SUMMARY_SIZE = len(IterateSummary._fields)


def unknown_summary(damping_share: float) -> IterateSummary:
    """The summary of a configuration before the first iteration."""
    return IterateSummary(UNKNOWN_COST, UNKNOWN_COST, damping_share, 0.0)


@dataclass(frozen=True)
class SearchProblem:
    """A robot, the goals of its links, and the method that searches for a configuration."""

    model: Model
    goals: tuple[Goal, ...]
    method: str = "lm"
    rows: tuple[int, ...] = ()
    """Equations of closed loops that count."""
    whole: Model | None = None
    """The model with its fixed joints, where some of the robot's numbers are parameters."""
    opened: tuple[str, ...] = ()
    """The names of these; their numbers follow those of the targets. `model` has the robot's own."""

    @cached_property
    def opened_counts(self) -> tuple[int, ...]:
        """Numbers in each of the parameters of the robot."""
        return () if self.whole is None else tuple(parameter_length(self.whole, name) for name in self.opened)

    def at(self, parameters: Scalars) -> SearchProblem:
        """The problem with the robot's numbers among the parameters in place."""
        if self.whole is None:
            return self
        values, at = [], 2 + 2 * self.model.nq + self.goal_size
        for count in self.opened_counts:
            values.append(parameters[at : at + count])
            at += count
        return replace(self, model=with_parameters(self.whole, self.opened, values, merged=True))

    def key(self, robot: Mechanism) -> Hashable:
        """A key of the arithmetic of the problem, but for its method."""
        own = (fingerprint(robot), self.opened) if self.opened else merged_fingerprint(robot)
        return own, self.goals

    @cached_property
    def velocities(self) -> tuple[int, ...]:
        """The places in qd of the velocities that move any of the links; all of them where loops are closed."""
        return tuple(range(self.model.nv)) if self.rows else self.velocities_of_links

    @cached_property
    def velocities_of_links(self) -> tuple[int, ...]:
        """The places in qd of the velocities of the joints that carry any of the links."""
        bodies = [body for goal in self.goals for body in self.model.ancestors(self.model.locate(goal.link)[0])]
        places = {body.first_v + k for body in bodies for k in range(body.joint.kind.nv)}
        return tuple(sorted(places))

    @cached_property
    def coordinate_of(self) -> dict[int, int]:
        """The place in q of each velocity that is the rate of one coordinate."""
        return {v.index: v.coordinate for v in self.model.layout.velocities if v.coordinate is not None}

    @cached_property
    def coordinates(self) -> tuple[int, ...]:
        """The places in q of the coordinates that move any of the links."""
        moving = [places for places in self.model.layout.joints if places.v.start in self.velocities]
        return tuple(i for places in moving for i in range(places.q.start, places.q.stop))

    @property
    def n(self) -> int:
        """The number of velocities to choose."""
        return len(self.velocities)

    @cached_property
    def goal_size(self) -> int:
        """Numbers in the targets of all goals."""
        return sum(goal.size for goal in self.goals)

    @cached_property
    def target_size(self) -> int:
        """Numbers that differ from row to row: in the targets of all goals, and of the robot."""
        return self.goal_size + sum(self.opened_counts)

    @property
    def parameter_size(self) -> int:
        """Numbers in the parameters: squared tolerances of position and rotation, bounds of q, targets, the robot's."""
        return 2 + 2 * self.model.nq + self.target_size

    @property
    def state_size(self) -> int:
        """Numbers in the state: the configuration, its summary, and the memory of the method."""
        nq, n = self.model.nq, self.n
        return nq + SUMMARY_SIZE + (n + triangle_size(n) if self.method == "lm" else nq)

    def split_state(self, state: Scalars) -> tuple[Scalars, IterateSummary, Scalars]:
        """The configuration, its summary, and the memory of the method."""
        nq = self.model.nq
        return state[:nq], IterateSummary(*state[nq : nq + SUMMARY_SIZE]), state[nq + SUMMARY_SIZE :]

    def split_parameters(self, parameters: Scalars) -> tuple[Scalars, Scalars, Scalars, list[Scalars]]:
        """Squared tolerances, lower and upper bounds, and the target of each goal."""
        nq = self.model.nq
        targets, at = [], 2 + 2 * nq
        for goal in self.goals:
            targets.append(parameters[at : at + goal.size])
            at += goal.size
        return parameters[:2], parameters[2 : 2 + nq], parameters[2 + nq : 2 + 2 * nq], targets

    def step(self, q: Scalars, step: Scalars, lower: Scalars, upper: Scalars) -> list[Scalar]:
        """q after a step of the velocities to choose, within the bounds."""
        whole: list[Scalar] = [0] * self.model.nv
        for i, d in zip(self.velocities, step, strict=True):
            whole[i] = d
        after = FUNCTIONS["integrate"].compute(self.model, q, whole)
        for i in self.velocities:
            if i in self.coordinate_of:
                k = self.coordinate_of[i]
                after[k] = where(after[k] < lower[k], lower[k], where(after[k] > upper[k], upper[k], after[k]))
        return after


@dataclass(frozen=True)
class Residual:
    """The errors of all goals in one configuration."""

    error: list[Scalar]
    rows: list[list[Scalar]]
    """Rows of the Jacobian: the rate at which each error falls, for each velocity to choose."""
    cost: Scalar
    miss: Scalar
    """The largest squared error in units of the squared tolerance."""


def residual(problem: SearchProblem, q: Scalars, tolerances: Scalars, targets: Sequence[Scalars]) -> Residual:
    """Errors and Jacobian of all goals and of the loops, with the squared tolerances of position and rotation."""
    error: list[Scalar] = []
    rows: list[list[Scalar]] = []
    cost: Scalar = 0
    miss: Scalar = 0
    for goal, target in zip(problem.goals, targets, strict=True):
        one = goal_residual(problem.model, q, goal, target)
        error += one.error
        rows += [[row[i] for i in problem.velocities] for row in one.rows]
        cost = cost + one.cost
        miss = maximum(miss, maximum(one.squared_distance / tolerances[0], one.squared_angle / tolerances[1]))
    if problem.rows:
        loops = loop_residual(problem.model, q, problem.rows)
        error += loops.error
        rows += [[row[i] for i in problem.velocities] for row in loops.rows]
        cost = cost + loops.cost
        miss = maximum(miss, loops.squared_distance / LOOP_TOLERANCE**2)
    return Residual(error, rows, cost, miss)


def iteration(problem: SearchProblem, state: Scalars, parameters: Scalars) -> list[Scalar]:
    """The state after one iteration."""
    method = _levenberg_marquardt if problem.method == "lm" else _textbook_step
    return method(problem.at(parameters), state, parameters)


def _levenberg_marquardt(problem: SearchProblem, state: Scalars, parameters: Scalars) -> list[Scalar]:
    """A step of Levenberg and Marquardt's method; its memory is J^T e and the lower triangle of J^T J."""
    nq, n = problem.model.nq, problem.n
    q, summary, memory = problem.split_state(state)
    g, H = memory[:n], memory[n:]
    tolerances, lower, upper, targets = problem.split_parameters(parameters)
    free = free_to_move(problem, q, g, lower, upper)
    damping = summary.damping_share * summary.cost + MIN_DAMPING
    step = solve_damped(H, g, free, damping)
    tried = problem.step(q, step, lower, upper)
    there = residual(problem, tried, tolerances, targets)
    columns = transpose(there.rows)
    g_there = [dot(column, there.error) for column in columns]
    H_there = [dot(columns[i], columns[j]) for i in range(n) for j in range(i + 1)]
    better = there.cost < summary.cost
    share = where(
        better,
        maximum(summary.damping_share * DAMPING_DECREASE, MIN_DAMPING_SHARE),
        summary.damping_share * DAMPING_INCREASE,
    )
    before = [*q, summary.miss, summary.cost, *g, *H]
    after = [*tried, there.miss, there.cost, *g_there, *H_there]
    best = [where(better, b, a) for a, b in zip(before, after, strict=True)]
    kept = IterateSummary(best[nq], best[nq + 1], share, _count(summary))
    return [*best[:nq], *kept, *best[nq + 2 :]]


def _count(summary: IterateSummary) -> Scalar:
    """Iterations after this one: a solved configuration counts no more."""
    return summary.iterations + where(summary.miss > 1, 1.0, 0.0)


def triangle_size(n: int) -> int:
    """Entries of a triangle of n rows."""
    return n * (n + 1) // 2


def solve_damped(H: Scalars, g: Scalars, free: Scalars, damping: Scalar) -> list[Scalar]:
    """d with (H + damping 1) d = g for the free entries, and 0 for the others; H is a lower triangle by rows."""
    n = len(g)
    M: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i):
            M[i][j] = M[j][i] = H[triangle_size(i) + j] * free[i] * free[j]
        M[i][i] = H[triangle_size(i) + i] * free[i] + damping
    return Factors(M).solve([a * f for a, f in zip(g, free, strict=True)])


def free_to_move(problem: SearchProblem, q: Scalars, g: Scalars, lower: Scalars, upper: Scalars) -> list[Scalar]:
    """1 for each velocity, and 0 for those that push a joint against the limit it stands at."""
    free: list[Scalar] = []
    for i, push in zip(problem.velocities, g, strict=True):
        if i in problem.coordinate_of:
            k = problem.coordinate_of[i]
            up = where(q[k] < upper[k], 1.0, 0.0)
            down = where(q[k] > lower[k], 1.0, 0.0)
            free.append(where(push > 0, up, down))
        else:
            free.append(1.0)
    return free


def _textbook_step(problem: SearchProblem, state: Scalars, parameters: Scalars) -> list[Scalar]:
    """A step from where the last one led, which is the memory; the better of this place and the best so far is kept."""
    best, summary, q = problem.split_state(state)
    tolerances, lower, upper, targets = problem.split_parameters(parameters)
    here = residual(problem, q, tolerances, targets)
    better = here.cost < summary.cost
    count = _count(summary)
    kept = [where(better, a, b) for a, b in zip(q, best, strict=True)]
    miss, cost = where(better, here.miss, summary.miss), where(better, here.cost, summary.cost)
    step = STEP_RULES[problem.method](here.rows, here.error)
    after = IterateSummary(miss, cost, summary.damping_share, count)
    return [*kept, *after, *problem.step(q, step, lower, upper)]


def newton(J: list[list[Scalar]], e: Scalars) -> list[Scalar]:
    """J^-1 e, for a square J, by orthogonal columns: J = Q R (Gram and Schmidt)."""
    columns = transpose(J)
    Q: list[list[Scalar]] = []
    R: list[list[Scalar]] = []
    for column in columns:
        rest, coefficients = column, []
        for direction in Q:
            coefficients.append(dot(direction, rest))
            rest = [a - b * coefficients[-1] for a, b in zip(rest, direction, strict=True)]
        length = sqrt(maximum(dot(rest, rest), MIN_SQUARED_LENGTH))
        Q.append([a / length for a in rest])
        R.append([*coefficients, length])
    d: list[Scalar] = [dot(direction, e) for direction in Q]
    for i in reversed(range(len(d))):
        d[i] = d[i] / R[i][i]
        for j in range(i):
            d[j] = d[j] - R[i][j] * d[i]
    return d


def pseudo_inverse(J: list[list[Scalar]], e: Scalars) -> list[Scalar]:
    """J^T (J J^T)^-1 e, or (J^T J)^-1 J^T e where J has more rows than columns; dependent rows are left out."""
    columns = transpose(J)
    if len(J) <= len(columns):
        f = Factors([[dot(a, b) for b in J] for a in J], DEPENDENT_ROW_TOLERANCE).solve(e)
        return [dot(column, f) for column in columns]
    return Factors([[dot(a, b) for b in columns] for a in columns], DEPENDENT_ROW_TOLERANCE).solve(
        [dot(c, e) for c in columns]
    )


def jacobian_transpose(J: list[list[Scalar]], e: Scalars) -> list[Scalar]:
    """a J^T e, with the a that would leave the least error if J stayed as it is."""
    d = [dot(column, e) for column in transpose(J)]
    f = [dot(row, d) for row in J]
    length = dot(e, f) / maximum(dot(f, f), MIN_SQUARED_LENGTH)
    return [x * length for x in d]


STEP_RULES: dict[str, Callable[[list[list[Scalar]], Scalars], list[Scalar]]] = {
    "newton": newton,
    "pseudo_inverse": pseudo_inverse,
    "transpose": jacobian_transpose,
}
