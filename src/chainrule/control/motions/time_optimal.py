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
from chainrule.control.motions.profiles import HalfPlanes, interval_rows, law_of_time
from chainrule.control.motions.s_curve import s_curve
from chainrule.dynamics.dynamics import inverse_dynamics
from chainrule.errors import ModelError, ShapeError, quoted
from chainrule.model import Dof, edits

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
SAFETY = 1e-4
"""The part by which a limit that was exceeded is lowered further than by its excess."""
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
    lowered = np.ones(len(bounds))
    for _ in range(MAX_ATTEMPTS):
        inner = DofLimits(*(bound / factor for bound, factor in zip(bounds, lowered, strict=True)))
        x = _quickest_profile(robot, sampled, grid, inner)
        law = law_of_time(grid, x)
        if np.isfinite(bounds.jerk).any():
            law = limit_jerk(path, grid, x, constraint_rows(sampled, inner, x), inner.jerk)
        curve = _compose(path, law)
        excess = excesses(robot, curve, bounds)
        if excess.max() <= 1 + EXCESS:
            return TimedPath(curve, _times_at(law, places))
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
    plain = type(robot)(edits.map_dofs(robot.model, Dof.without_friction))
    hold = inverse_dynamics(plain, q, rest, rest)
    a = inverse_dynamics(plain, q, rest, d1) - hold
    b = inverse_dynamics(plain, q, d1, d2) - hold
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


def _quickest_profile(robot: Mechanism, sampled: SampledPath, grid: Array, bounds: DofLimits) -> Array:
    """The largest x at every place of the grid."""
    x: Array | None = None
    is_viscous = sampled.torques is not None and sampled.torques.viscous.any()
    for _ in range(3 if is_viscous else 1):  # each time with friction's tangent at the profile before
        rows = constraint_rows(sampled, bounds, x)
        if not np.isfinite(rows.x_max).all() and not rows.A.shape[1]:
            raise ShapeError(
                f"plan: nothing limits robot {robot.name!r} along this path: give acceleration=..., or a robot with "
                "limits on velocity or effort"
            )
        x = _forward(rows, grid, _backward(robot, rows, grid))
    assert x is not None
    return x


def _backward(robot: Mechanism, rows: HalfPlanes, grid: Array) -> Array:
    """The smallest and largest x at every place from which the end can be reached at rest: (places, 2)."""
    reach = np.zeros((len(grid), 2))
    for i in range(len(grid) - 2, -1, -1):
        A, B, C = interval_rows(rows, grid, i)
        step = 2 * (grid[i + 1] - grid[i])
        low, high = reach[i + 1]
        A, B, C = np.append(A, [step, -step]), np.append(B, [1.0, -1.0]), np.append(C, [high, -low])
        reach[i] = _range_of_x(A, B, C, float(rows.x_max[i]))
        if not reach[i, 0] <= reach[i, 1]:
            raise ModelError(
                f"plan: robot {robot.name!r} cannot follow this path within its limits: {100 * grid[i] / grid[-1]:.3g} "
                "% along it, its torques do not even hold it, or it can neither speed up nor slow down. Move the "
                "way-points, or raise the limits"
            )
    if reach[0, 0] > 0:
        raise ModelError("plan: the robot cannot start this path from rest within its limits; move the first way-point")
    return reach


def _range_of_x(A: Array, B: Array, C: Array, x_max: float) -> tuple[float, float]:
    """The smallest and largest x for which some u satisfies A u + B x <= C: u is eliminated between pairs of rows.

    A row with positive A bounds u from above, by (C - B x) / A, one with negative A from below; every upper bound must
    be above every lower one.
    """
    scale = np.abs(A).max(initial=0.0)
    up, down = ROUNDING * scale < A, -ROUNDING * scale > A
    flat = ~(up | down)
    slope = (B[up] / A[up])[:, None] - (B[down] / A[down])[None, :]
    height = (C[up] / A[up])[:, None] - (C[down] / A[down])[None, :]
    slopes, heights = np.append(slope.ravel(), B[flat]), np.append(height.ravel(), C[flat])  # slopes x <= heights
    size = np.abs(slopes).max(initial=0.0)
    rising, falling = slopes > ROUNDING * size, slopes < -ROUNDING * size
    if (heights[~(rising | falling)] < -1e-9 * np.abs(heights).max(initial=0.0)).any():
        return 1.0, 0.0
    high = min(x_max, float((heights[rising] / slopes[rising]).min(initial=np.inf)))
    low = max(0.0, float((heights[falling] / slopes[falling]).max(initial=-np.inf)))
    return (low, low) if low - 1e-9 * max(low, abs(high)) < high < low else (low, high)


def _forward(rows: HalfPlanes, grid: Array, reach: Array) -> Array:
    """The profile of the largest u, from rest on."""
    x = np.zeros(len(grid))
    for i in range(len(grid) - 1):
        A, B, C = interval_rows(rows, grid, i)
        step = 2 * (grid[i + 1] - grid[i])
        up = ROUNDING * np.abs(A).max(initial=0.0) < A
        u = float(((C[up] - B[up] * x[i]) / A[up]).min(initial=np.inf))
        x[i + 1] = min(max(x[i] + step * u, reach[i + 1, 0]), reach[i + 1, 1])
    return x


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
    values = np.maximum.accumulate(law(law.x))
    i = np.clip(np.searchsorted(values, places, side="left") - 1, 0, len(values) - 2)
    low, high = law.x[i], law.x[i + 1]
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        below = law(middle) < places
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    times = np.where(places <= values[0], law.x[0], (low + high) / 2)
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
