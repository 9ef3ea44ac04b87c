"""One iteration of each method, over generic scalars: never a branch on a value.

Levenberg and Marquardt's method, the default, takes the step d that solves

    (J^T J + damping 1) d = J^T e

with the damping in proportion to the cost (Fan & Yuan, 2005; Sugihara, 2011), and keeps it if the cost falls. A joint
that stands at a limit and would be pushed further is left out of the system, so that the others do not wait for it.
The other three are the textbook's: a step after the other, the best configuration remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from chainrule.functions.table import FUNCTIONS
from chainrule.inverse_kinematics.goals import Goal, measured
from chainrule.model import Model
from chainrule.spatial import Scalar
from chainrule.spatial.linear import Factors, dot, transpose
from chainrule.spatial.scalar import maximum, sqrt, where

Scalars = Sequence[Scalar]

METHODS = ("lm", "newton", "pseudo_inverse", "transpose")
LEAST = 1e-11
"""The smallest damping: it keeps a singular system solvable."""
FAR = 1e300
"""The cost before anything is known."""
EASED, RAISED = 0.4, 4.0
"""How the damping's share of the cost changes after a step that was kept, and after one that was not."""


@dataclass(frozen=True)
class Problem:
    """A robot, the goals of its links, and the method that looks for a configuration."""

    model: Model
    goals: tuple[Goal, ...]
    method: str = "lm"

    @cached_property
    def moves(self) -> tuple[int, ...]:
        """The velocities that move any of the links."""
        bodies = [body for goal in self.goals for body in self.model.ancestors(self.model.locate(goal.link)[0])]
        places = {body.first_v + k for body in bodies for k in range(body.joint.kind.nv)}
        return tuple(sorted(places))

    @cached_property
    def flat(self) -> dict[int, int]:
        """The place in q of every velocity that is the rate of one coordinate."""
        places: dict[int, int] = {}
        i = j = 0
        for joint in self.model.moving:
            if joint.kind.nq == joint.kind.nv:
                places |= {j + k: i + k for k in range(joint.kind.nv)}
            i, j = i + joint.kind.nq, j + joint.kind.nv
        return places

    @cached_property
    def coordinates(self) -> frozenset[int]:
        """The places in q of what those velocities move."""
        places: set[int] = set()
        i = j = 0
        for joint in self.model.moving:
            if j in self.moves:
                places |= set(range(i, i + joint.kind.nq))
            i, j = i + joint.kind.nq, j + joint.kind.nv
        return frozenset(places)

    @property
    def n(self) -> int:
        """How many velocities there are to choose."""
        return len(self.moves)

    @cached_property
    def targets(self) -> int:
        """Numbers in the targets of all goals."""
        return sum(goal.size for goal in self.goals)

    @property
    def parameters(self) -> int:
        """Squared tolerances of position and rotation, bounds of q, targets."""
        return 2 + 2 * self.model.nq + self.targets

    @property
    def state(self) -> int:
        """The configuration, a summary of it, and what the method remembers."""
        nq, n = self.model.nq, self.n
        return nq + SUMMARY + (n + n * (n + 1) // 2 if self.method == "lm" else nq)

    def taken_apart(self, parameters: Scalars) -> tuple[Scalars, Scalars, Scalars, list[Scalars]]:
        """Tolerances, lower and upper bounds, and the target of each goal."""
        nq = self.model.nq
        targets, at = [], 2 + 2 * nq
        for goal in self.goals:
            targets.append(parameters[at : at + goal.size])
            at += goal.size
        return parameters[:2], parameters[2 : 2 + nq], parameters[2 + nq : 2 + 2 * nq], targets

    def moved(self, q: Scalars, step: Scalars, lower: Scalars, upper: Scalars) -> list[Scalar]:
        """q after a step of the velocities that matter, within the bounds."""
        whole: list[Scalar] = [0] * self.model.nv
        for i, d in zip(self.moves, step, strict=True):
            whole[i] = d
        after = FUNCTIONS["integrate"].compute(self.model, q, whole)
        for i in self.moves:
            if i in self.flat:
                k = self.flat[i]
                after[k] = where(after[k] < lower[k], lower[k], where(after[k] > upper[k], upper[k], after[k]))
        return after


SUMMARY = 4
"""Numbers that sum up a configuration: how far it misses (solved at 1), its cost, the damping, the iterations."""
MISS, COST, SHARE, COUNT = range(SUMMARY)


@dataclass(frozen=True)
class Seen:
    """All goals together, from one configuration."""

    error: list[Scalar]
    rows: list[list[Scalar]]
    cost: Scalar
    miss: Scalar


def seen(problem: Problem, q: Scalars, tolerances: Scalars, targets: Sequence[Scalars]) -> Seen:
    """Errors and Jacobian of all goals; `miss` is the largest error squared, in tolerances."""
    error: list[Scalar] = []
    rows: list[list[Scalar]] = []
    cost: Scalar = 0
    miss: Scalar = 0
    for goal, target in zip(problem.goals, targets, strict=True):
        one = measured(problem.model, q, goal, target)
        error += one.error
        rows += [[row[i] for i in problem.moves] for row in one.rows]
        cost = cost + one.cost
        miss = maximum(miss, maximum(one.distance / tolerances[0], one.turn / tolerances[1]))
    return Seen(error, rows, cost, miss)


def iteration(problem: Problem, state: Scalars, parameters: Scalars) -> list[Scalar]:
    """The state after one iteration."""
    return (_descended if problem.method == "lm" else _stepped)(problem, state, parameters)


def _descended(problem: Problem, state: Scalars, parameters: Scalars) -> list[Scalar]:
    """A step of Levenberg and Marquardt's."""
    nq, n = problem.model.nq, problem.n
    q, summary, g, H = state[:nq], state[nq : nq + SUMMARY], state[nq + SUMMARY : nq + SUMMARY + n], state[-tri(n) :]
    tolerances, lower, upper, targets = problem.taken_apart(parameters)
    free = free_to_move(problem, q, g, lower, upper)
    damping = summary[SHARE] * summary[COST] + LEAST
    step = damped(H, g, free, damping)
    tried = problem.moved(q, step, lower, upper)
    there = seen(problem, tried, tolerances, targets)
    columns = transpose(there.rows)
    g_there = [dot(column, there.error) for column in columns]
    H_there = [dot(columns[i], columns[j]) for i in range(n) for j in range(i + 1)]
    better = there.cost < summary[COST]
    share = where(better, maximum(summary[SHARE] * EASED, 1e-6), summary[SHARE] * RAISED)
    count = summary[COUNT] + where(summary[MISS] > 1, 1.0, 0.0)
    before = [*q, summary[MISS], summary[COST], *g, *H]
    after = [*tried, there.miss, there.cost, *g_there, *H_there]
    kept = [where(better, b, a) for a, b in zip(before, after, strict=True)]
    return [*kept[: nq + 2], share, count, *kept[nq + 2 :]]


def tri(n: int) -> int:
    """Entries of a triangle of n rows."""
    return n * (n + 1) // 2


def damped(H: Scalars, g: Scalars, free: Scalars, damping: Scalar) -> list[Scalar]:
    """d with (H + damping 1) d = g for the free entries, and 0 for the others."""
    n = len(g)
    M: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i):
            M[i][j] = M[j][i] = H[tri(i) + j] * free[i] * free[j]
        M[i][i] = H[tri(i) + i] * free[i] + damping
    return Factors(M).solve([a * f for a, f in zip(g, free, strict=True)])


def free_to_move(problem: Problem, q: Scalars, g: Scalars, lower: Scalars, upper: Scalars) -> list[Scalar]:
    """1 for every velocity but those that push a joint against the limit it stands at."""
    free: list[Scalar] = []
    for i, push in zip(problem.moves, g, strict=True):
        if i in problem.flat:
            k = problem.flat[i]
            up = where(q[k] < upper[k], 1.0, 0.0)
            down = where(q[k] > lower[k], 1.0, 0.0)
            free.append(where(push > 0, up, down))
        else:
            free.append(1.0)
    return free


def _stepped(problem: Problem, state: Scalars, parameters: Scalars) -> list[Scalar]:
    """A step of a textbook's method from where the last one led, and the better of this place and the best so far."""
    nq = problem.model.nq
    best, summary, q = state[:nq], state[nq : nq + SUMMARY], state[nq + SUMMARY :]
    tolerances, lower, upper, targets = problem.taken_apart(parameters)
    here = seen(problem, q, tolerances, targets)
    better = here.cost < summary[COST]
    count = summary[COUNT] + where(summary[MISS] > 1, 1.0, 0.0)
    kept = [where(better, a, b) for a, b in zip(q, best, strict=True)]
    miss, cost = (where(better, a, b) for a, b in zip((here.miss, here.cost), summary[:2], strict=True))
    step = STEPS[problem.method](here.rows, here.error)
    return [*kept, miss, cost, summary[SHARE], count, *problem.moved(q, step, lower, upper)]


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
        length = sqrt(maximum(dot(rest, rest), 1e-24))
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
        f = Factors([[dot(a, b) for b in J] for a in J], 1e-10).solve(e)
        return [dot(column, f) for column in columns]
    return Factors([[dot(a, b) for b in columns] for a in columns], 1e-10).solve([dot(c, e) for c in columns])


def transposed(J: list[list[Scalar]], e: Scalars) -> list[Scalar]:
    """a J^T e, with the a that would leave the least error if J stayed as it is."""
    d = [dot(column, e) for column in transpose(J)]
    f = [dot(row, d) for row in J]
    length = dot(e, f) / maximum(dot(f, f), 1e-24)
    return [x * length for x in d]


STEPS: dict[str, Callable[[list[list[Scalar]], Scalars], list[Scalar]]] = {
    "newton": newton,
    "pseudo_inverse": pseudo_inverse,
    "transpose": transposed,
}
