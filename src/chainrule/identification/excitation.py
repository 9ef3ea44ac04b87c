"""Excitation: periodic motions within limits from which a robot's parameters can be found best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy

from chainrule.arguments import Array, flag, one_of, positive, read_only, whole_number
from chainrule.bodies.distances import clearance as clearance_of
from chainrule.bodies.distances import clearance_dq
from chainrule.calls import explains_arguments
from chainrule.control.motions.curves import Curve, extremes, minimum_jerk
from chainrule.control.motions.limits import limit_of_each
from chainrule.control.motions.references import Reference
from chainrule.control.requirements import known_robot
from chainrule.core.derived import driven_velocities, has_moving_mass
from chainrule.core.mechanism import Mechanism
from chainrule.core.options import chosen_parts
from chainrule.core.products import vjp
from chainrule.display.text import Table
from chainrule.dynamics.dynamics import inverse_dynamics
from chainrule.errors import ModelError, ShapeError
from chainrule.inverse_kinematics.keep_clear import Room, read_room
from chainrule.parameters.regressor import base, regressor
from chainrule.parameters.vector import indices
from chainrule.planning.robot_space import describe_nearest, free_space

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.bodies.world import World

SHAPES = ("fourier", "spline")
CRITERIA = ("condition", "determinant")
SAMPLES_PER_HARMONIC, KNOTS_PER_HARMONIC = 20, 80
"""States of a period that the search looks at, and knots of the spline that is the motion."""
POWERS = (2, 4, 8, 16)
"""Norms that stand for the largest and the smallest eigenvalue, one search after the other: smooth first."""
ITERATIONS = 100
PENALTY, USED_SHARE = 100.0, 0.98
"""The weight of what is beyond a share of a limit, a little less than 1 so that little is left to shrink."""
SPARE, DEPTH = 0.01, 0.1
"""The clearance that the search adds to what is asked, and its smoothness, for places between those it looks at; and
the lack of it that counts as much as being a whole limit beyond a limit. In m."""
AGAIN, HEAVIER = 3, 10.0
"""How often a motion that is not clear is looked for again, and the factor on the weight of clearance each time."""
LINES_PER_KNOT = 4
"""Straight lines between knots for the last look: at 10 rad/s^2 and 25 ms they are within 0.05 mm at 1 m."""
TORQUE_SHARE = 0.999
"""The share of effort limits that torques may use at the knots, for what lies between them."""
SHRINKING, MIN_FACTOR, ROUNDING = 0.98, 1e-3, 1e-9
RANDOM_MOTIONS = 20


class MotionBounds(NamedTuple):
    """Bounds of a motion (nv,) each; infinite where there is no limit."""

    lower: Array
    upper: Array
    speed: Array
    acceleration: Array
    effort: Array

    @property
    def middle(self) -> Array:
        """Middles of the ranges, zero where there is none."""
        bounded = np.isfinite(self.upper) & np.isfinite(self.lower)
        return np.where(bounded, self.lower, 0.0) / 2 + np.where(bounded, self.upper, 0.0) / 2

    @property
    def sizes(self) -> tuple[Array, Array, Array, Array]:
        """The largest displacement from the middle, speed, acceleration and torque."""
        bounded = np.isfinite(self.upper) & np.isfinite(self.lower)
        return np.where(bounded, self.upper - self.middle, np.inf), *self[2:]


@dataclass(frozen=True, eq=False, repr=False)
class Excitation(Reference):
    """A periodic motion that shows a robot's parameters, from rest to rest. Made by `cr.excite`; a `Reference`."""

    period: float = 0.0
    """In s; the motion repeats it."""
    condition: float = 0.0
    """The condition number of the regressor of the base parameters, over the motion."""
    log_determinant: float = 0.0
    """ln det(Y^T Y) for the mean of Y^T Y over the motion, the information that it gives in each sample."""
    random: tuple[tuple[float, float], ...] = field(default=(), repr=False)
    """The same two numbers for random motions within the same limits."""
    use: tuple[float, ...] = ()
    """The largest share of the limits on position, speed, acceleration and torque that it uses; 0 without limits."""

    def _view(self) -> Iterator[str | Table]:
        yield f"an excitation of {self.duration:.6g} s, period {self.period:.6g} s: q, qd, qdd = motion(t)"
        medians = np.median(np.array(self.random), axis=0)
        best = (min(c for c, _ in self.random), max(d for _, d in self.random))
        names = ("condition number", "log-determinant")
        own = (self.condition, self.log_determinant)
        yield Table(
            ("regressor of the base parameters", "this motion", "random motions: median", "best"),
            [
                (name, f"{x:.4g}", f"{m:.4g}", f"{b:.4g}")
                for name, x, m, b in zip(names, own, medians, best, strict=True)
            ],
        )
        shares = zip(("position", "speed", "acceleration", "torque"), self.use, strict=True)
        yield "of its limits it uses: " + ", ".join(f"{name} {share:.0%}" for name, share in shares if share)


@explains_arguments
def excite(
    robot: Mechanism,
    duration: float = 10.0,
    *,
    periods: int = 1,
    harmonics: int = 5,
    shape: str = "fourier",
    criterion: str = "condition",
    parts: Sequence[str] | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    torque: bool | None = None,
    world: World | None = None,
    clearance: float | None = None,
    starts: int = 8,
    seed: int = 0,
) -> Excitation:
    """A periodic motion within limits from which masses, inertias and friction can be found best, from rest to rest.

    The search goes by the exact gradient of the criterion, from several random motions; the best of them counts. With
    a `world`, or a `clearance`, the robot's bodies keep clear of the world and of each other.

    Parameters
    ----------
    robot
        The robot, with masses that need not be exact.
    duration, periods
        The time of the whole in s, and how many whole periods it has.
    harmonics
        Frequencies in a period: the highest is harmonics periods / duration in Hz.
    shape
        "fourier", sines and cosines of those frequencies, or "spline", periodic quintic splines with as many numbers.
    criterion
        "condition", the condition number of the regressor of the base parameters; or "determinant", the logarithm of
        the determinant of the information, which knows no units.
    parts
        Which parameters: "links", "rotors", "friction", "springs"; all unless given.
    velocity, acceleration
        MotionBounds besides the robot's own, one number or (nv,), in rad/s and rad/s^2, or m/s and m/s^2.
    torque
        Whether torques stay within the robot's effort limits; they do unless given, where it has masses.
    world, clearance
        Obstacles, and the smallest distance in m of the robot's bodies from them and from each other, 0 where only a
        world is given.
    starts, seed
        How many random motions the search begins from, and which.

    Returns
    -------
    Excitation
        A `Reference`: `motion(t)` is (q, qd, qdd). Printed, it compares itself with random motions.

    Examples
    --------
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> motion = cr.excite(arm, 4.0, velocity=2.0, parts=["links"], harmonics=3, starts=2)
    >>> bool(motion.peak.velocity.max() <= 2.0), motion.condition < min(c for c, _ in motion.random)
    (True, True)
    """
    known_robot(robot, "excite", masses=False)
    if robot.model.constraints or robot.nq != robot.nv:
        what = "closed loops" if robot.model.constraints else "coordinates that are no plain numbers"
        raise ModelError(f"excite: robot {robot.name!r} has {what}, and a motion here is one of independent joints")
    whole = positive(duration, "excite: duration", "a positive number of seconds", unit="s")
    count = whole_number(periods, "excite: periods", 1)
    frequencies = whole_number(harmonics, "excite: harmonics", 2)
    limits = _limits(robot, velocity, acceleration, torque)
    problem = ExcitationSearch(
        robot, limits, whole / count, frequencies, one_of(SHAPES, shape, "shape", "excite"),
        None if parts is None else chosen_parts(parts), one_of(CRITERIA, criterion, "criterion", "excite"),
        read_room(world, clearance, "excite"),
    )  # fmt: skip
    rng = np.random.default_rng(whole_number(seed, "excite: seed"))
    rank = 0 if criterion == "condition" else 1
    found = []
    for _ in range(whole_number(starts, "excite: starts", 1)):
        x = problem.search(rng.normal(size=problem.size), POWERS if criterion == "condition" else POWERS[:1])
        found.append((not problem.is_clear(x), (1, -1)[rank] * problem.quality(x)[rank], x))
    touches, _, x = min(found, key=lambda entry: entry[:2])
    if touches:
        problem.refuse_touch(x)
    drawn = [rng.normal(size=problem.size) for _ in range(RANDOM_MOTIONS)]
    random = tuple(problem.quality(x * problem.room(x)) for x in drawn)
    times = problem.period * np.arange(count + 1)
    stops = np.tile(problem.states(x, problem.fine)[0][:1], (count + 1, 1))
    use = tuple(float(share.max()) for share in (*problem.shares(x), problem.torque_share(x)))
    return Excitation(
        read_only(times), read_only(stops), problem.curve(x, count), None, None, problem.period, *problem.quality(x),
        random, use,
    )  # fmt: skip


def _limits(robot: Mechanism, velocity: Any, acceleration: Any, torque: bool | None) -> MotionBounds:
    """The robot's limits and those that were asked for."""
    own = robot.limits
    has_torques = has_moving_mass(robot) if torque is None else flag(torque, "excite: torque")
    driven = np.isin(np.arange(robot.nv), driven_velocities(robot))
    limits = MotionBounds(
        own.lower,
        own.upper,
        np.minimum(own.velocity, limit_of_each(robot, velocity, "excite: velocity", "rad/s or m/s", "velocity")),
        limit_of_each(robot, acceleration, "excite: acceleration", "rad/s^2 or m/s^2", "acceleration"),
        np.where(driven & has_torques, own.effort, np.inf),
    )
    endless = ~np.isfinite(np.minimum.reduce(limits.sizes[:3]))
    if endless.any():
        name = robot.model.layout.velocity_names[int(endless.argmax())]
        raise ShapeError(
            f"excite: nothing says how far or how fast joint {name!r} of robot {robot.name!r} may go; give "
            "velocity=... or acceleration=..."
        )
    return limits


class ExcitationSearch:
    """The criterion of a motion, and its gradient by the numbers x (size,) that the motion has."""

    def __init__(
        self, robot: Mechanism, limits: MotionBounds, period: float, harmonics: int, shape: str,
        parts: Sequence[str] | None, criterion: str, around: Room | None = None,
    ) -> None:  # fmt: skip
        self.robot, self.limits, self.period, self.parts, self.criterion = robot, limits, period, parts, criterion
        self.harmonics, self.shape, self.around, self.weight = harmonics, shape, around, PENALTY
        self.columns = list(base(robot, parts=parts).columns)
        self.width = len(indices(robot, parts))
        start = np.zeros(1)
        self.at_rest = scipy.linalg.null_space(
            np.concatenate([self._functions(start, order) * period**order for order in (1, 2)])
        )
        self.knots = np.linspace(0.0, period, KNOTS_PER_HARMONIC * harmonics + 1)
        self.fine = self.basis(self.knots)
        self.grid = [B[: -1 : KNOTS_PER_HARMONIC // SAMPLES_PER_HARMONIC] for B in self.fine]
        unit = [np.abs(B).max() for B in self.grid]
        reach = np.minimum.reduce([size / u for size, u in zip(limits.sizes, unit, strict=False)])
        self.scale = reach / np.sqrt(self.at_rest.shape[1])
        self.size = self.grid[0].shape[1] * robot.nv

    def _functions(self, t: Array, order: int) -> Array:
        """The periodic functions of time that a motion is made of, or their derivatives (T, m)."""
        if self.shape == "spline":
            unit = np.eye(2 * self.harmonics + 1)
            knots = np.linspace(0.0, self.period, len(unit) + 1)
            spline = scipy.interpolate.make_interp_spline(knots, np.vstack([unit, unit[:1]]), k=5, bc_type="periodic")
            return np.asarray(spline(t, nu=order))
        w = 2 * np.pi / self.period * np.arange(1, self.harmonics + 1)
        angles = w * t[:, None] + order * np.pi / 2
        return np.concatenate([np.sin(angles), np.cos(angles)], axis=1) * np.tile(w, 2) ** order

    def basis(self, t: Array) -> list[Array]:
        """Functions from rest to rest and a constant (T, m), and their first two derivatives."""
        constant = np.ones((len(t), 1))
        return [np.hstack([self._functions(t, k) @ self.at_rest, constant * (k == 0)]) for k in range(3)]

    def states(self, x: Array, grid: list[Array] | None = None) -> list[Array]:
        """q, qd, qdd (T, nv) at the times that the search looks at, or at those of another grid."""
        c = x.reshape(-1, self.robot.nv) * self.scale
        q, *rates = (B @ c for B in grid or self.grid)
        return [self.limits.middle + q, *rates]

    def curve(self, x: Array, count: int = 1) -> Curve:
        """The motion of so many periods as a spline of degree five, at rest where a period ends."""
        spline = minimum_jerk(self.knots, self.states(x, self.fine)[0])
        breaks = np.concatenate([spline.x[:-1] + k * self.period for k in range(count)] + [[count * self.period]])
        return scipy.interpolate.PPoly(np.tile(spline.c, (1, count, 1)), breaks)

    def shares(self, x: Array) -> list[Array]:
        """The shares of the limits on position, speed and acceleration that a motion uses (nv,) each."""
        curve, sizes = self.curve(x), self.limits.sizes
        q = extremes(curve)
        peaks = [np.maximum(self.limits.middle - q.low, q.high - self.limits.middle)]
        peaks += [extremes(curve.derivative(order)).peak for order in (1, 2)]
        return [peak / size for peak, size in zip(peaks, sizes, strict=False)]

    def torque_share(self, x: Array) -> Array:
        """The share of the effort limits that a motion uses (nv,)."""
        if not np.isfinite(self.limits.effort).any():
            return np.zeros(self.robot.nv)
        tau = inverse_dynamics(self.robot, *self.states(x, self.fine))
        return np.asarray(np.abs(tau).max(axis=0) / self.limits.effort / TORQUE_SHARE)

    def room(self, x: Array) -> float:
        """The factor by which a motion may grow, or must shrink, about the middle of the ranges."""
        factor = (1 - ROUNDING) / max(float(share.max()) for share in self.shares(x))
        while (over := self.torque_share(x * factor)).max() > 1:
            factor *= SHRINKING
            if factor < MIN_FACTOR:
                name = self.robot.model.layout.velocity_names[int(over.argmax())]
                raise ShapeError(
                    f"excite: gravity alone takes {over.max():.3g} times the effort limit of joint {name!r} in the "
                    "middle of the ranges; give torque=False, or a robot with other limits"
                )
        return factor

    def search(self, x: Array, powers: Sequence[float]) -> Array:
        """The best motion that is found from x, within limits; clear where that can be reached from there."""
        self.weight = PENALTY
        options = {"maxiter": ITERATIONS, "maxfun": 2 * ITERATIONS}
        for power in (*powers, *[powers[-1]] * AGAIN):
            x = scipy.optimize.minimize(self, x, args=(power,), jac=True, method="L-BFGS-B", options=options).x
            within = x * min(1.0, self.room(x))
            if power == powers[-1]:
                if self.is_clear(within):
                    break
                self.weight *= HEAVIER
        return within

    def _places(self, x: Array) -> Array:
        """Configurations of a period so near to each other that straight lines between them stand for the motion."""
        return np.asarray(self.curve(x)(np.linspace(0.0, self.period, LINES_PER_KNOT * (len(self.knots) - 1) + 1)))

    def is_clear(self, x: Array) -> bool:
        """Whether the robot keeps clear all along a motion."""
        if self.around is None:
            return True
        space, q = free_space(self.robot, *self.around), self._places(x)
        return bool(space.is_free(q).all() and space.lines_free(q[:-1], q[1:]).all())

    def refuse_touch(self, x: Array) -> None:
        """Raise with what is nearest along the motion that came closest to one that is clear."""
        assert self.around is not None
        q = self._places(x)
        nearest = q[int(clearance_of(self.robot, q, self.around.world).argmin())]
        pair, distance = describe_nearest(self.robot, self.around.world, nearest)
        raise ModelError(
            f"excite: no motion was found that keeps clear: in the best one {pair} come to {1e3 * distance:.3g} mm, "
            f"and clearance is {1e3 * self.around.clearance:.3g} mm; give more starts=..., a smaller clearance=..., "
            "move the obstacle, or leave the pair out (robot.bodies.without_pair)"
        )

    def _crowding(self, x: Array) -> tuple[float, Array]:
        """The penalty for places of a motion that are not clear, and its gradient by x."""
        assert self.around is not None
        q = self.states(x, self.fine)[0]
        lack = self.around.clearance + SPARE - clearance_of(self.robot, q, self.around.world, smooth=SPARE)
        near = lack > 0
        slope = np.zeros_like(q)
        if near.any():
            slope[near] = -lack[near, None] * clearance_dq(self.robot, q[near], self.around.world, smooth=SPARE)
        factor = self.weight / DEPTH**2 / len(q)
        by_x = self.fine[0].T @ slope * self.scale
        return factor * float((lack[near] ** 2).sum()), 2 * factor * np.ravel(by_x)

    def information(self, state: list[Array]) -> tuple[Array, Array]:
        """Y for the base parameters, and the mean of Y^T Y."""
        Y = regressor(self.robot, *state, parts=self.parts)[..., self.columns]
        return Y, (np.swapaxes(Y, -1, -2) @ Y).sum(axis=0) / len(Y)

    def quality(self, x: Array) -> tuple[float, float]:
        """Condition number of the regressor, and the logarithm of the determinant of the information."""
        Y, _ = self.information(self.states(x, self.fine))
        s = np.linalg.svd(Y.reshape(-1, len(self.columns)) / np.sqrt(len(Y)), compute_uv=False)
        s = np.maximum(s, np.finfo(float).tiny)
        return float(s[0] / s[-1]), float(2 * np.log(s).sum())

    def __call__(self, x: Array, power: float) -> tuple[float, Array]:
        """The criterion, with a penalty for what is beyond limits, and its gradient."""
        state = self.states(x)
        Y, G = self.information(state)
        w, V = np.linalg.eigh(G)
        w = np.maximum(w, 1e-14 * w[-1])
        if self.criterion == "determinant":
            value, slope = -np.log(w).sum() / (2 * len(w)), -1 / (2 * len(w) * w)
        else:  # half the logarithm of tr(G^p)^(1/p) tr(G^-p)^(1/p), which tends to that of the condition number
            high, low = (w / w[-1]) ** power, (w[0] / w) ** power
            value = (np.log(high.sum()) + np.log(low.sum())) / (2 * power) + np.log(w[-1] / w[0]) / 2
            slope = (high / high.sum() - low / low.sum()) / (2 * w)
        cotangent = np.zeros((*Y.shape[:2], self.width))
        cotangent[..., self.columns] = 2 * Y @ ((V * slope) @ V.T) / len(Y)
        options = {} if self.parts is None else {"parts": self.parts}
        gradients = self._pull("parameters.regressor", state, cotangent, **options)
        sizes = self.limits.sizes
        for k, y in enumerate([state[0] - self.limits.middle, *state[1:]]):
            beyond, slope_y = _beyond(y, sizes[k])
            value, gradients[k] = value + beyond, gradients[k] + slope_y
        if np.isfinite(sizes[3]).any():
            beyond, slope_y = _beyond(inverse_dynamics(self.robot, *state), sizes[3])
            if beyond:
                value += beyond
                pulled = self._pull("inverse_dynamics", state, slope_y)
                gradients = [a + b for a, b in zip(gradients, pulled, strict=True)]
        by_x = sum(B.T @ g for B, g in zip(self.grid, gradients, strict=True)) * self.scale
        if self.around is None:
            return float(value), np.ravel(by_x)
        crowding, slope_x = self._crowding(x)
        return float(value) + crowding, np.ravel(by_x) + slope_x

    def _pull(self, function: str, state: list[Array], cotangent: Array, **options: Any) -> list[Array]:
        """Derivatives by q, qd and qdd of a function's result times a cotangent."""
        found = vjp(self.robot, function, state, cotangent, **options)
        return [found[name] for name in ("q", "qd", "qdd")]


def _beyond(values: Array, size: Array) -> tuple[float, Array]:
    """The penalty for values (T, nv) beyond the used share of a limit, and its gradient."""
    over = np.maximum(np.abs(values) / size - USED_SHARE, 0.0)
    return PENALTY * float((over**2).sum(axis=1).mean()), 2 * PENALTY * over * np.sign(values) / size / len(values)
