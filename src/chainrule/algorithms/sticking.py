"""Joints that dry friction holds at rest: which of them stick, and the accelerations that follow.

Which of several resting joints break away together is a complementarity problem. With a the accelerations without their
friction, and W the accelerations that unit torques cause, their friction f is within its limits, and

    a - W f is 0 where a joint sticks, positive where f is at its upper limit, negative where it is at its lower one.

The motion is unique. Block pivoting finds it: a pass solves for f with the sets of joints that stick and slip as they
are, and moves the joints that contradict their set to another; where that does not make them fewer, one at a time,
the last one (J. J. Judice, F. M. Pires: A block principal pivoting algorithm for large-scale strictly monotone linear
complementarity problems, 1994), which ends after finitely many passes. In loops W is singular, and joints may share
what holds the loop in many ways; a small multiple of the diagonal makes them share it evenly.

Where friction at rest is more than in motion, the limits at rest decide which joints break away. What the others have
to hold changes with that: they are asked once more, with those that broke away in motion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from chainrule.algorithms import aba
from chainrule.algorithms.friction import breakaway_levels, dry_friction, smooth_friction
from chainrule.algorithms.joint_forces import spring_torque
from chainrule.algorithms.loads import Wrenches
from chainrule.algorithms.loop_dynamics import ConstrainedSystem, constrained_dynamics, equations_of_motion
from chainrule.algorithms.loop_equations import row_scales
from chainrule.algorithms.springs import with_springs
from chainrule.model import Dof, Model, edits
from chainrule.spatial import Scalar
from chainrule.spatial.linear import Factors, dot
from chainrule.spatial.scalar import is_zero, where

Scalars = Sequence[Scalar]

PATIENCE = 3
"""Passes that move all contradicting joints at once without making them fewer, before they are moved one by one."""

ROUNDING = 1e-8
"""In loops: the acceleration, relative to its terms, that is none; more than `SHARING` leaves."""

SHARING = 1e-10
"""In loops: the part of W's diagonal that is added to it, so that joints share what they hold evenly."""

Feedback = tuple[Scalar, Scalar] | None
"""Baumgarte's rates."""

Pass = Callable[..., Scalars]
"""`sticking_pass` or `loop_sticking_pass`, or compiled code of one."""


@dataclass(frozen=True)
class Slip:
    """The direction in which each joint slips, 1 or -1; 0 where it sticks, and is_free is 0 as well."""

    direction: Scalars
    is_free: Scalars


def slip_in(direction: Scalars) -> Slip:
    """Slip in the given directions, 1 or -1; joints stick where the direction is 0."""
    return Slip(direction, [d * d for d in direction])


# --- the model ---


def joints_with_dry_friction(model: Model) -> tuple[int, ...]:
    """Places in qd of the velocities that dry friction acts on."""
    return tuple(sorted({i for body in model.bodies for i, _, dof in body.dofs if dof.has_dry_friction}))


def breaks_suddenly(model: Model) -> bool:
    """Whether some friction falls at once when a joint breaks away."""
    return any(
        is_zero(dof.stribeck) and not (is_zero(dof.static) and is_zero(dof.static_negative))
        for body in model.bodies
        for _, _, dof in body.dofs
    )


def without_friction_and_springs(model: Model) -> Model:
    """The model without friction and springs, whose torques and forces are added separately."""
    return replace(edits.map_dofs(model, _bare), springs=())


def _bare(dof: Dof) -> Dof:
    return replace(dof.without_friction(), stiffness=0, rest=0)


# --- accelerations with joints held ---


def free_motion(
    model: Model,
    q: Scalars,
    v: Scalars,
    net: Scalars,
    wrenches: Wrenches | None = None,
    rows: tuple[int, ...] = (),
    rank: int | None = None,
    feedback: Feedback = None,
) -> tuple[ConstrainedSystem, Scalars]:
    """The equations of motion, factored, and the accelerations with no joint held."""
    M, G, load, target = equations_of_motion(model, q, v, net, wrenches, rows, feedback)
    system = ConstrainedSystem(M, G, None, row_scales(model, rows), rank)
    return system, system.solve(load, target)[0]


def responses(system: ConstrainedSystem, places: Sequence[int], n: int, rows: int) -> list[Scalars]:
    """The accelerations that a unit torque at each of some joints causes, loops staying closed."""
    still = [0] * rows
    return [system.solve([1 if j == i else 0 for j in range(n)], still)[0] for i in places]


def sticking_problem(
    system: ConstrainedSystem, acceleration: Scalars, places: Sequence[int], rows: int
) -> list[Scalar]:
    """Accelerations of the joints that can stick if those at rest had no dry friction, then W, row by row.

    W gives the accelerations that unit torques at these joints cause, loops staying closed: S P S^T, with P the
    inverse of the mass matrix on the motions that the loops leave.
    """
    columns = responses(system, places, len(acceleration), rows)
    return [*(acceleration[i] for i in places), *(column[i] for column in columns for i in places)]


def held_dynamics(
    model: Model,
    q: Scalars,
    v: Scalars,
    net: Scalars,
    wrenches: Wrenches | None,
    is_free: Scalars | None,
    places: Sequence[int],
    rows: tuple[int, ...] = (),
    rank: int | None = None,
    feedback: Feedback = None,
    prescribed: Scalars | None = None,
) -> tuple[Scalars, Scalars]:
    """Accelerations where some joints are held or move as prescribed, and the torques in excess of what these need.

    net is all that acts along the joints; `places` are those of the joints that can be held. `prescribed` are the
    accelerations of all joints that are not free, where there are no joints to hold in loops.
    """
    if rows and is_free is not None and prescribed is None:
        system, qdd = free_motion(model, q, v, net, wrenches, rows, rank, feedback)
        return hold(system, qdd, is_free, places, len(rows))
    if rows or model.has_mimics:
        qdd, _, excess = constrained_dynamics(
            model, q, v, net, wrenches, rows=rows, is_free=is_free, prescribed_acceleration=prescribed,
            feedback=feedback, rank=rank,
        )  # fmt: skip
        return qdd, excess
    return aba.hybrid_dynamics(model, q, v, net, wrenches, is_free, prescribed)


def hold(
    system: ConstrainedSystem,
    x: Scalars,
    is_free: Scalars,
    places: Sequence[int],
    rows: int,
    prescribed: Scalars | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """The motion with joints of loops held, and the torques that friction and stops take for it.

    Joints may share what holds a loop in many ways: this is the even one, as in `sticking_pass`.
    """
    n, columns = len(x), responses(system, places, len(x), rows)
    sticks = [1 - is_free[i] for i in places]
    W = [[column[i] for column in columns] for i in places]
    factors = Factors(shared_matrix(W, sticks, SHARING))
    goal: Scalars = [0] * n if prescribed is None else prescribed
    held: list[Scalar] = [0] * len(places)
    for _ in range(2):
        left = [x[i] - dot(row, held) - goal[i] for i, row in zip(places, W, strict=True)]
        more = factors.solve([f * y for f, y in zip(sticks, left, strict=True)])
        held = [a + f * b for a, f, b in zip(held, sticks, more, strict=True)]
    motion = [y - dot(held, [column[i] for column in columns]) for i, y in enumerate(x)]
    torque: list[Scalar] = [0] * n
    for k, i in enumerate(places):
        motion[i] = where(sticks[k] > 0, goal[i] + 0 * motion[i], motion[i])
        torque[i] = held[k]
    return motion, torque


def forward_dynamics(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    wrenches: Wrenches | None = None,
    rows: tuple[int, ...] = (),
    rank: int | None = None,
) -> list[Scalar]:
    """Accelerations that the torques tau produce, where joints at rest stick as long as dry friction can hold them."""
    places, bare = joints_with_dry_friction(model), without_friction_and_springs(model)
    wrenches = with_springs(model, q, qd, wrenches)
    given = [t - f - s for t, f, s in zip(tau, smooth_friction(model, q, qd), spring_torque(model, q), strict=True)]

    def net(direction: Scalars) -> list[Scalar]:
        return [t - f for t, f in zip(given, dry_friction(model, q, qd, direction), strict=True)]

    def problem(direction: Scalars) -> list[Scalar]:
        system, acceleration = free_motion(bare, q, qd, net(direction), wrenches, rows, rank)
        return sticking_problem(system, acceleration, places, len(rows))

    if not places:
        return list(held_dynamics(bare, q, qd, given, wrenches, None, places, rows, rank)[0])
    up, down = breakaway_levels(model, q)
    ranges = {i: (down[i], up[i]) for i in places}
    step = loop_sticking_pass if rows else sticking_pass
    slip = find_slip(model.nv, places, qd, ranges, problem, step, again=breaks_suddenly(model))
    qdd, excess = held_dynamics(bare, q, qd, net(slip.direction), wrenches, slip.is_free, places, rows, rank)
    return [_unless_nan(a, e, f) for a, e, f in zip(qdd, excess, slip.is_free, strict=True)]


def _unless_nan(acceleration: Scalar, excess: Scalar, is_free: Scalar) -> Scalar:
    """The acceleration, exactly zero where a joint is held, and nan where what it would have to hold is no number."""
    value = where(is_free > 0, acceleration, 0.0)
    return where(excess >= 0, value, where(excess < 0, value, excess))


# --- complementarity ---


def slip_along(nv: int, places: Sequence[int], v: Scalars) -> Slip:
    """Slip in the direction of the velocity; joints at rest stick if they can."""
    direction: list[Scalar] = [1] * nv
    for i in places:
        direction[i] = where(v[i] > 0, 1.0, where(v[i] < 0, -1.0, 0.0))
    return slip_in(direction)


def find_slip(
    nv: int,
    places: Sequence[int],
    v: Scalars,
    ranges: Mapping[int, tuple[Scalar, Scalar]],
    problem: Callable[[Scalars], Scalars],
    step: Pass,
    passes: int | None = None,
    again: bool = False,
) -> Slip:
    """The joints that stick and the direction in which the others slip, those at rest as complementarity says.

    Parameters
    ----------
    nv
        The number of velocities.
    places
        The places in v of the joints that can stick.
    v
        The velocities; joints stick where they are exactly zero.
    ranges
        The torques that each of these joints can hold at rest, downwards and upwards.
    problem
        `sticking_problem` for given directions of slip.
    step
        One pass.
    passes
        The number of passes, `sticking_passes` unless given. After all of them, joints that would still have to hold
        more than they can slip.
    again
        Whether the joints that stick are asked once more, with those that broke away in motion.
    """
    slip = slip_along(nv, places, v)
    for _ in range(2 if again else 1):
        slip = _break_away(places, slip, ranges, problem, step, passes)
    return slip


def _break_away(
    places: Sequence[int],
    slip: Slip,
    ranges: Mapping[int, tuple[Scalar, Scalar]],
    problem: Callable[[Scalars], Scalars],
    step: Pass,
    passes: int | None,
) -> Slip:
    """The slip with those joints moving too that cannot be held."""
    start, k = slip.direction, len(places)
    given = problem(start)
    a, W = given[:k], given[k:]
    low, high = [ranges[i][0] for i in places], [ranges[i][1] for i in places]
    resting = [where(start[i] == 0, 1.0, 0.0) for i in places]
    direction: Scalars = [start[i] for i in places]
    counters: Scalars = [k + 1 + 0 * a[0], PATIENCE + 0 * a[0]]
    friction: Scalars = []
    for _ in range(sticking_passes(k) if passes is None else passes):
        before = direction
        result = step(W, a, low, high, resting, direction, counters)
        direction, friction, counters = result[:k], result[k : 2 * k], result[2 * k :]
        if hasattr(counters[0], "any") and not counters[0].any():  # an array, and no row contradicts itself
            break
    final = list(start)
    for n, i in enumerate(places):
        f = friction[n]
        beyond = where(f > high[n], 1.0, where(f < -low[n], -1.0, 0.0))  # never more than there is
        final[i] = where(resting[n] == 0, start[i], where(before[n] == 0, beyond, before[n]))
    return slip_in(final)


def sticking_passes(k: int) -> int:
    """The number of passes for k joints that can stick: random problems of up to seven joints took at most 15."""
    return 2 * k if k < 3 else 16


def sticking_pass(
    W: Scalars,
    a: Scalars,
    low: Scalars,
    high: Scalars,
    resting: Scalars,
    direction: Scalars,
    counters: Scalars,
    sharing: float = 0.0,
    rounding: float = 0.0,
) -> list[Scalar]:
    """Directions of slip after one pass, the friction before it, the fewest contradictions, and the patience left."""
    k = len(a)
    rows = [W[k * i : k * i + k] for i in range(k)]
    sticks = [r * (1 - d * d) for r, d in zip(resting, direction, strict=True)]
    limit = [
        r * where(d > 0, high_i, where(d < 0, -low_i, 0.0))
        for r, d, low_i, high_i in zip(resting, direction, low, high, strict=True)
    ]
    without = [x - dot(row, limit) for x, row in zip(a, rows, strict=True)]
    held = Factors(shared_matrix(rows, sticks, sharing)).solve([f * x for f, x in zip(sticks, without, strict=True)])
    friction = [where(s > 0, f, l) for s, f, l in zip(sticks, held, limit, strict=True)]
    wanted = []
    for i, (f, d) in enumerate(zip(friction, direction, strict=True)):
        acceleration = a[i] - dot(rows[i], friction)
        least: Scalar = 0
        if rounding:
            least = rounding * sum((_size(w * g) for w, g in zip(rows[i], friction, strict=True)), start=_size(a[i]))
        overloaded = where(f > high[i], 1.0, where(f < -low[i], -1.0, 0.0))
        slipping = where(acceleration * d < -least, 0.0, d)
        wanted.append(where(resting[i] == 0, d, where(sticks[i] > 0, overloaded, slipping)))
    after, counters = pivot(direction, wanted, counters)
    return [*after, *friction, *counters]


def pivot(direction: Scalars, wanted: Scalars, counters: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """Directions after joints that contradict theirs are moved, the fewest contradictions, and the patience left."""
    changes = [where(w == d, 0.0, 1.0) for w, d in zip(wanted, direction, strict=True)]
    count = sum(changes, start=0)
    improves = where(count < counters[0], 1.0, 0.0)
    patience = where(improves > 0, PATIENCE + 0 * count, counters[1] - 1)
    after: list[Scalar] = list(direction)
    takes: Scalar = 1.0 + 0 * count
    for i in reversed(range(len(after))):
        after[i] = where(changes[i] * takes > 0, wanted[i], direction[i])
        takes = where(patience > 0, takes, takes * (1 - changes[i]))
    return after, [where(improves > 0, count, counters[0]), patience]


def loop_sticking_pass(
    W: Scalars, a: Scalars, low: Scalars, high: Scalars, resting: Scalars, direction: Scalars, counters: Scalars
) -> list[Scalar]:
    """`sticking_pass` in loops, where W is singular."""
    return sticking_pass(W, a, low, high, resting, direction, counters, SHARING, ROUNDING)


def _size(x: Scalar) -> Scalar:
    return where(x < 0, -x, x)


def shared_matrix(W: Sequence[Scalars], sticks: Scalars, sharing: float) -> list[list[Scalar]]:
    """W of the joints that stick, its diagonal larger by the share given; rows of the others are of the identity."""
    k = len(W)
    matrix = [[sticks[i] * sticks[j] * W[i][j] for j in range(k)] for i in range(k)]
    for i in range(k):
        counts = where(W[i][i] > 0, sticks[i], 0 * sticks[i])
        matrix[i][i] = counts * W[i][i] * (1 + sharing) + (1 - counts)
    return matrix
