"""The quickest motion along a path within limits on speed, acceleration, torque and jerk.

A path q(s) is travelled with speed s-dot. With x = s-dot^2 and u = s-double-dot, velocities are q' sqrt(x),
accelerations q' u + q'' x, and torques linear in u and x as well. Limits are then half planes in (u, x) at every s, and
between two places of a grid x changes by 2 u ds. Going backwards along the path finds the largest x from which the rest
can still be travelled; going forwards, the largest u that stays below it (Pham and Pham, A new approach to time-optimal
path parameterization based on reachability analysis, 2018). Limits on jerk are in `jerk_limits`. Along a straight path
the quickest motion is an S-curve, unless torques are in its way.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from chainrule.arguments import Array
from chainrule.control.motions.curves import Curve
from chainrule.control.motions.jerk_limits import limit_jerk
from chainrule.control.motions.profiles import HalfPlanes, all_interval_rows, law_of_time
from chainrule.control.motions.s_curve import s_curve
from chainrule.core.derived import remember
from chainrule.dynamics.dynamics import inverse_dynamics
from chainrule.errors import ModelError, ShapeError, quoted
from chainrule.model import Dof, edits
from chainrule.planning.free_space import Truths

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

GRID_SIZE = 500
"""Intervals of the grid along a path, at least."""
INTERVALS_PER_PIECE = 4
"""Intervals of the grid in each piece of the path's spline, at least."""
CHECKED_PER_INTERVAL = 10
"""Places in each interval at which the limits are checked in the end."""
EXCESS = 1e-6
"""The part of itself by which a limit may be exceeded."""
MARGIN = 5e-5
"""The part by which every limit is lowered: between the places that are checked, torques were 1e-5 larger."""
SAFETY = 1e-4
"""The part by which a limit that was exceeded is lowered further than by its excess."""
SMALL_EXCESS = 1e-3
"""The excess up to which a motion is slowed down as a whole: what that costs is less than it."""
STRETCH = np.array([1.0, 0.5, 1.0, 1 / 3])
"""By how much of its excess a limit on speed, acceleration, torque or jerk slows a motion down.

A stretch f divides speeds by f, accelerations by its square and jerks by its cube. Torques but those that hold the
robot shrink as accelerations do; these may be half of the limit.
"""
MAX_ATTEMPTS = 12
SHORTEST = 1e-12
"""The shortest interval of time, as a part of the whole."""
BISECTIONS = 60
STRAIGHT = 1e-9
"""A path is straight if its direction changes by no more than this share."""
ROUNDING = 1e-13
"""Coefficients below this share of the largest are zero."""


class DofLimits(NamedTuple):
    """Limits of each degree of freedom (n,): speed, acceleration, torque and jerk, infinite where there is none."""

    velocity: Array
    acceleration: Array
    effort: Array
    jerk: Array


class TimedPath(NamedTuple):
    """A curve in time, and when each place of the path is reached."""

    curve: Curve
    times: Array


def geometric_path(points: Array) -> tuple[Curve, Array]:
    """A cubic spline through configurations (k, n), over the length of the polygon through them, and their places."""
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    s = np.concatenate([[0.0], np.cumsum(lengths)])
    return scipy.interpolate.CubicSpline(s, points, bc_type="natural" if len(points) > 2 else "not-a-knot"), s


def time_path(robot: Mechanism, path: Curve, places: Array, bounds: DofLimits) -> TimedPath:
    """The quickest motion along a path from rest to rest, and the time of each of some places on it.

    Limits hold at the places of a grid. Where one of them is exceeded in between, it is lowered by as much.
    """
    straight = _straight_law(path, bounds)
    if straight is not None:
        curve = _compose(path, straight)
        if excesses(robot, curve, bounds).max() <= 1 + EXCESS:  # no torque is in its way
            return TimedPath(curve, _times_at(straight, places))
    grid = _grid(path, places)
    sampled = sample_path(robot, path, grid, has_torques=bool(np.isfinite(bounds.effort).any()))
    lowered, x = np.full(len(bounds), 1 + MARGIN), None
    for _ in range(MAX_ATTEMPTS):
        inner = DofLimits(*(bound / factor for bound, factor in zip(bounds, lowered, strict=True)))
        x = _quickest_profile(robot, sampled, grid, inner, x)
        law = law_of_time(grid, x)
        if np.isfinite(bounds.jerk).any():
            law = limit_jerk(path, grid, x, constraint_rows(sampled, inner, x), inner.jerk)
        curve = _compose(path, law)
        excess = excesses(robot, curve, bounds)
        if excess.max() <= 1 + EXCESS:
            return TimedPath(curve, _times_at(law, places))
        if excess.max() <= 1 + SMALL_EXCESS:
            slower = float((1 + STRETCH * np.maximum(excess - 1, 0.0)).max())
            curve = scipy.interpolate.PPoly(
                curve.c / slower ** np.arange(len(curve.c) - 1, -1, -1)[:, None, None], curve.x * slower
            )
            if excesses(robot, curve, bounds).max() <= 1 + EXCESS:
                return TimedPath(curve, _times_at(law, places) * slower)
        lowered = lowered * np.where(excess > 1 + EXCESS, excess * (1 + SAFETY), 1.0)
    raise ModelError(
        f"plan: no motion along this path was found within the limits of robot {robot.name!r}; the nearest one exceeds "
        f"them by {100 * (float(excess.max()) - 1):.3g} %. Move the way-points, or raise the limits"
    )


def _straight_law(path: Curve, bounds: DofLimits) -> Curve | None:
    """The law of time of a straight path within the limits on speed, acceleration and jerk; none where it bends."""
    slope = np.abs(path(path.x[0], 1))
    if np.abs(path(path.x, 2)).max() * path.x[-1] > STRAIGHT * slope.max():
        return None
    with np.errstate(divide="ignore"):
        speed, acceleration, jerk = (
            float(np.where(slope > 0, bound / slope, np.inf).min())
            for bound in (bounds.velocity, bounds.acceleration, bounds.jerk)
        )
    if np.isinf(acceleration) and np.isinf(jerk):
        return None
    return s_curve(float(path.x[-1]), speed, acceleration, jerk)


def _grid(path: Curve, places: Array) -> Array:
    """Places from the start to the end, with all breaks of the spline among them."""
    breaks = np.unique(np.concatenate([path.x, places]))
    count = max(INTERVALS_PER_PIECE, int(np.ceil(GRID_SIZE / (len(breaks) - 1))))
    parts = [np.linspace(a, b, count, endpoint=False) for a, b in pairwise(breaks)]
    return np.concatenate([*parts, breaks[-1:]])


# --- constraints ---


class PathTorques(NamedTuple):
    """Torques along a path, a u + b x + hold without friction, and the bounds and slopes of friction: (places, n)."""

    a: Array
    b: Array
    most: Array
    """What holds the robot, with the largest dry friction at a place or beside it, where a joint may turn round."""
    least: Array
    """The same with the smallest."""
    viscous: Array
    """Viscous friction over s-dot."""


class SampledPath(NamedTuple):
    """Derivatives of a path at the places of a grid (places, n), and the torques along it where they are limited."""

    d1: Array
    d2: Array
    torques: PathTorques | None


def sample_path(robot: Mechanism, path: Curve, grid: Array, *, has_torques: bool) -> SampledPath:
    """Derivatives of a path and the torques along it, which no limit changes: computed once for all attempts."""
    q, d1, d2 = path(grid), path(grid, 1), path(grid, 2)
    return SampledPath(d1, d2, _torques(robot, q, d1, d2) if has_torques else None)


def _torques(robot: Mechanism, q: Array, d1: Array, d2: Array) -> PathTorques:
    rest, dofs = np.zeros_like(d1), robot.model.layout.dofs
    _refuse_changing_friction(robot)
    plain = remember(robot, "without friction", lambda: type(robot)(edits.map_dofs(robot.model, Dof.without_friction)))
    hold, a, b = inverse_dynamics(plain, np.stack([q] * 3), np.stack([rest, rest, d1]), np.stack([rest, d1, d2]))
    a, b = a - hold, b - hold
    forth, back = (np.array([float(getattr(dof, key)) for dof in dofs]) for key in ("coulomb", "coulomb_negative"))
    dry = np.where(d1 > 0, forth, np.where(d1 < 0, -back, 0.0))
    near = np.stack([dry, np.roll(dry, 1, axis=0), np.roll(dry, -1, axis=0)])
    near[1, 0], near[2, -1] = dry[0], dry[-1]
    viscous = np.array([float(dof.viscous) for dof in dofs]) * d1
    return PathTorques(a, b, hold + near.max(axis=0), hold + near.min(axis=0), viscous)


def _refuse_changing_friction(robot: Mechanism) -> None:
    """An error where torques are not linear in u and x, or in sqrt(x): dry friction changes along the motion."""
    names = [joint.name for joint in robot.model.joints
             if any(dof.stribeck or dof.friction_depends_on_position for dof in joint.dofs)]  # fmt: skip
    if names:
        raise ModelError(
            f"time_optimal: the friction of joints {quoted(names)} changes with speed or position, by a Stribeck "
            "speed, a ripple or a function, and torques along a path are found for viscous and Coulomb friction alone; "
            "plan with robot.without_friction().edit(joints=...)"
        )


def constraint_rows(sampled: SampledPath, bounds: DofLimits, x_guess: Array | None) -> HalfPlanes:
    """The limits on speed, acceleration and torque at every place of the grid."""
    d1, d2, torques = sampled
    with np.errstate(divide="ignore", invalid="ignore"):
        speeds = np.where(d1 != 0, bounds.velocity / np.abs(d1), np.inf).min(axis=1)
    x_max = speeds**2
    full = np.broadcast_to(bounds.acceleration, d1.shape)
    sides = _sides(d1, d2, -full, full)
    if torques is not None:
        sides += _torque_sides(torques, bounds.effort, x_max if x_guess is None else x_guess)
    A, B, C = (np.concatenate(part, axis=1) for part in zip(*sides, strict=True))
    return HalfPlanes(A, B, C, x_max)


Side = tuple[Array, Array, Array]
"""Half planes A u + B x <= C, (places, rows) each."""


def _sides(a: Array, b: Array, low: Array, high: Array) -> list[Side]:
    """The half planes of low <= a u + b x <= high; bounds that are infinite are left out."""
    upper, lower = np.isfinite(high).all(axis=0), np.isfinite(low).all(axis=0)
    return [(a[:, upper], b[:, upper], high[:, upper]), (-a[:, lower], -b[:, lower], -low[:, lower])]


def _torque_sides(torques: PathTorques, effort: Array, x_guess: Array) -> list[Side]:
    """The half planes of torques; gravity, springs and friction are moved into the bounds.

    Viscous friction goes with sqrt(x), a concave function. Where it takes torque it is replaced by its tangent at a
    guess of x, which lies above; where it helps, it is left out.
    """
    a, b, most, least, viscous = torques
    root = np.sqrt(np.where(np.isfinite(x_guess) & (x_guess > 0), x_guess, 1.0))[:, None]
    none = np.full_like(most, np.inf)
    against, along = np.maximum(viscous, 0.0), np.minimum(viscous, 0.0)
    upper = _sides(a, b + against / (2 * root), -none, effort - most - against * root / 2)
    lower = _sides(a, b + along / (2 * root), -effort - least - along * root / 2, none)
    return upper[:1] + lower[1:]


# --- the quickest profile ---


def _quickest_profile(robot: Mechanism, sampled: SampledPath, grid: Array, bounds: DofLimits, x: Array | None) -> Array:
    """The largest x at every place of the grid; a profile that is near saves the search for friction's tangent."""
    is_viscous = sampled.torques is not None and sampled.torques.viscous.any()
    for _ in range(2 if is_viscous and x is None else 1):  # each time with friction's tangent at the profile before
        rows = constraint_rows(sampled, bounds, x)
        if not np.isfinite(rows.x_max).all() and not rows.A.shape[1]:
            raise ShapeError(
                f"plan: nothing limits robot {robot.name!r} along this path: give acceleration=..., or a robot with "
                "limits on velocity or effort"
            )
        x = profile_of(robot, rows, grid)
    assert x is not None
    return x


def profile_of(robot: Mechanism, rows: HalfPlanes, grid: Array) -> Array:
    """The largest x at every place of the grid within half planes: backwards, then forwards."""
    lines = _lines(rows, grid)
    return _forward(lines, grid, _backward(robot, lines, grid))


class Lines(NamedTuple):
    """The half planes of every interval solved for u: height - slope x, infinite where a row bounds nothing."""

    above: Array
    """Heights of upper bounds of u: (intervals, rows)."""
    above_slope: Array
    below: Array
    """Heights of lower bounds of u."""
    below_slope: Array
    low: Array
    """The smallest and the largest x between some upper and some lower bound, whatever comes next: (intervals,)."""
    high: Array


def _lines(rows: HalfPlanes, grid: Array) -> Lines:
    """Upper and lower bounds of u, and the range of x in which every upper one is above every lower one."""
    A, B, C = all_interval_rows(rows, grid)
    size = ROUNDING * np.abs(A).max(axis=1, initial=0.0, keepdims=True)
    up, down = size < A, -size > A
    divisor = np.where(up | down, A, 1.0)
    heights, slopes = C / divisor, B / divisor
    sides = (
        np.where(up, heights, np.inf),
        np.where(up, slopes, 0.0),
        np.where(down, heights, -np.inf),
        np.where(down, slopes, 0.0),
    )
    low, high = _range_of_x(*sides, rows.x_max[:-1])
    size = ROUNDING * np.abs(B).max(axis=1, initial=0.0, keepdims=True)
    flat, falls, rises = ~(up | down), -size > B, size < B
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = C / B
    low = np.maximum(low, np.where(flat & falls, ends, 0.0).max(axis=1, initial=0.0))
    high = np.minimum(high, np.where(flat & rises, ends, np.inf).min(axis=1, initial=np.inf))
    never = flat & ~falls & ~rises & (-1e-9 * np.abs(C).max(axis=1, initial=0.0, keepdims=True) > C)
    return Lines(*sides, np.where(never.any(axis=1), np.inf, low), high)


def _range_of_x(
    above: Array, above_slope: Array, below: Array, below_slope: Array, x_max: Array
) -> tuple[Array, Array]:
    """The smallest and the largest x, from 0 to x_max, at which all upper bounds of u are above all lower ones.

    The gap between the lowest upper and the highest lower bound is concave in x, so that Newton's method from outside
    comes to an end of the range without passing it.
    """
    places = np.arange(len(x_max))
    if not above.shape[1]:
        return np.zeros(len(x_max)), x_max
    # without a limit on speed, begin where the two bounds that meet at last as x grows cross
    i, j = above_slope.argmax(axis=1), below_slope.argmin(axis=1)
    closing = above_slope[places, i] - below_slope[places, j]
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (above[places, i] - below[places, j]) / closing
    start = np.where(np.isfinite(x_max), x_max, np.where((closing > 0) & np.isfinite(meet), meet, np.inf))
    ends = []
    for sign, first in ((1.0, np.zeros(len(x_max))), (-1.0, start)):
        x = np.where(np.isfinite(first), first, 0.0)
        never = np.zeros(len(x_max), bool)
        for _ in range(2 * above.shape[1]):
            upper, lower = above - above_slope * x[:, None], below - below_slope * x[:, None]
            i, j = upper.argmin(axis=1), lower.argmax(axis=1)
            most, least = upper[places, i], lower[places, j]
            short = most - least < -1e-12 * (np.abs(most) + np.abs(least))
            slope = below_slope[places, j] - above_slope[places, i]
            never |= short & (sign * slope <= 0)
            short &= ~never
            if not short.any():
                break
            x[short] -= ((most - least)[short]) / slope[short]
        ends.append(np.where(never, sign * np.inf, np.where(np.isfinite(first), x, first)))
    return ends[0], ends[1]


def _backward(robot: Mechanism, lines: Lines, grid: Array) -> Array:
    """The smallest and largest x at every place from which the end can be reached at rest: (places, 2).

    The next x, x + 2 ds u, lies in the range that was found for it, which bounds u between two more lines.
    """
    rate = 1 / (2 * np.diff(grid)[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = rate - lines.below_slope  # rise x <= rate high - below
        fall = lines.above_slope - rate  # fall x <= above - rate low
        start, slope = -lines.below / rise, rate / rise
        start_low, slope_low = lines.above / fall, -rate / fall
    # where each of these rows bounds x from above, and from below; one more row that bounds nothing
    top, top_slope = _bounds(rise > 0, start, slope, np.inf)
    top_low, top_low_slope = _bounds(fall > 0, start_low, slope_low, np.inf)
    bottom, bottom_slope = _bounds(rise < 0, start, slope, -np.inf)
    bottom_low, bottom_low_slope = _bounds(fall < 0, start_low, slope_low, -np.inf)
    from_rest = np.minimum(lines.high, top_low.min(axis=1)).tolist()
    can_rest = np.all(lines.above >= 0, axis=1) & np.all(lines.below <= 0, axis=1)  # no x is too small then
    least, most = np.minimum.reduce, np.maximum.reduce
    reach = np.zeros((len(grid), 2))
    low = high = 0.0
    for i in range(len(grid) - 2, -1, -1):
        next_low, next_high = low, high
        high = min(from_rest[i], least(top[i] + top_slope[i] * next_high))
        if next_low > 0:
            high = min(high, least(top_low[i] + top_low_slope[i] * next_low))
        low = float(lines.low[i])
        if next_low > 0 or not can_rest[i]:
            low = max(
                low,
                most(bottom[i] + bottom_slope[i] * next_high),
                most(bottom_low[i] + bottom_low_slope[i] * next_low),
            )
            if low - 1e-9 * max(low, abs(high)) < high < low:
                high = low
        if not low <= high:
            raise ModelError(
                f"plan: robot {robot.name!r} cannot follow this path within its limits: {100 * grid[i] / grid[-1]:.3g} "
                "% along it, its torques do not even hold it, or it can neither speed up nor slow down. Move the "
                "way-points, or raise the limits"
            )
        reach[i] = low, high
    if reach[0, 0] > 0:
        raise ModelError("plan: the robot cannot start this path from rest within its limits; move the first way-point")
    return reach


def _bounds(which: Truths, start: Array, slope: Array, nothing: float) -> tuple[Array, Array]:
    """The lines start + slope x of some rows, the others and one more bounding nothing."""
    padding = ((0, 0), (0, 1))
    return (
        np.pad(np.where(which, start, nothing), padding, constant_values=nothing),
        np.pad(np.where(which, slope, 0.0), padding),
    )


def _forward(lines: Lines, grid: Array, reach: Array) -> Array:
    """The profile of the largest u, from rest on."""
    step = 2 * np.diff(grid)[:, None]
    start, slope = _bounds(np.isfinite(lines.above), step * lines.above, 1 - step * lines.above_slope, np.inf)
    x, least = [0.0], np.minimum.reduce
    for above, rise, (low, high) in zip(start, slope, reach[1:].tolist(), strict=True):
        x.append(min(max(least(above + rise * x[-1]), low), high))
    return np.array(x)


# --- the motion in time ---


def _compose(path: Curve, law: Curve) -> Curve:
    """The curve q(s(t)): a polynomial in each interval of time in which s stays in one piece of the path."""
    t = np.unique(np.append(law.x, _times_at(law, path.x[1:-1])))
    t = np.append(t[:-1][np.diff(t) > SHORTEST * t[-1]], t[-1])
    middle = (t[1:] + t[:-1]) / 2
    piece = _piece(path, law(middle))
    own = _piece(law, middle)
    inner = _shift(law.c[:, own], t[:-1] - law.x[own])
    inner[-1] -= path.x[piece]  # s measured from the start of the path's piece
    degree = (len(path.c) - 1) * (len(inner) - 1)
    result = np.zeros((degree + 1, len(piece), path.c.shape[2]))
    power = np.zeros((degree + 1, len(piece)))
    power[-1] = 1.0
    for coefficient in path.c[::-1]:
        result += power[:, :, None] * coefficient[piece]
        power = _multiply(power, inner)
    return scipy.interpolate.PPoly(result, t)


def _piece(curve: Curve, x: Array) -> Array:
    """The piece of a curve in which each place lies."""
    return np.clip(np.searchsorted(curve.x, x, side="right") - 1, 0, curve.c.shape[1] - 1)


def _shift(c: Array, by: Array) -> Array:
    """Polynomials (falling powers, pieces) about a place further on: Horner's scheme, repeated."""
    shifted = c.copy()
    for last in range(len(c) - 1, 0, -1):
        for k in range(1, last + 1):
            shifted[k] += shifted[k - 1] * by
    return shifted


def _multiply(a: Array, b: Array) -> Array:
    """Products of polynomials (falling powers, pieces), as long as the first, whose highest coefficients are zero."""
    product = a * b[-1]
    for i, row in enumerate(b[-2::-1], start=1):
        product[:-i] += a[i:] * row
    return product


def _times_at(law: Curve, places: Array) -> Array:
    """The times at which places are reached; s never falls."""
    ends = sum(c * np.diff(law.x) ** power for power, c in enumerate(law.c[::-1]))
    values = np.maximum.accumulate(np.append(law.c[-1, 0], ends))
    i = np.clip(np.searchsorted(values, places, side="left") - 1, 0, len(values) - 2)
    coefficients, low, high = law.c[:, i], np.zeros(len(i)), np.diff(law.x)[i]
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        value = coefficients[0]
        for c in coefficients[1:]:
            value = value * middle + c
        below = value < places
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    times = np.where(places <= values[0], law.x[0], law.x[i] + (low + high) / 2)
    return np.where(places >= values[-1] * (1 - 1e-12), law.x[-1], times)


def excesses(robot: Mechanism, curve: Curve, bounds: DofLimits) -> Array:
    """The largest ratio of each quantity and its limit (4,), at a grid ten times finer than the curve's pieces."""
    shares = np.linspace(0.0, 1 - 1e-9, CHECKED_PER_INTERVAL)
    t = (curve.x[:-1, None] + np.diff(curve.x)[:, None] * shares).ravel()
    q, qd, qdd = curve(t), curve(t, 1), curve(t, 2)
    ratios = [np.abs(qd) / bounds.velocity, np.abs(qdd) / bounds.acceleration, np.zeros(1), np.zeros(1)]
    if np.isfinite(bounds.effort).any():
        ratios[2] = np.abs(inverse_dynamics(robot, q, qd, qdd)) / bounds.effort
    if np.isfinite(bounds.jerk).any():
        ratios[3] = np.abs(curve(t, 3)) / bounds.jerk
    return np.array([np.nanmax(ratio) for ratio in ratios])
