"""Simulation in maximal coordinates: each link has its own pose and twist, and joints are constraints between them.

The reduced simulation (`simulate`) has q and qd alone, in which a joint cannot come apart. Here it can, by the errors
of the integrator, and is held together: by projection after every step, or by feedback in the equations (Baumgarte).
One matrix does all of it (`algorithms/parent_child.py`): accelerations, and the smallest corrections in the metric of
the inertias that undo an error of poses or of twists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainrule.algorithms import parent_child
from chainrule.algorithms.configuration import integrate
from chainrule.arguments import Array, one_of, positive, real_array
from chainrule.compile.backend import Traceable, active
from chainrule.core.closure import closure_of
from chainrule.core.derived import backend_of, merged_fingerprint, merged_model
from chainrule.core.evaluation import require
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_argument
from chainrule.display import tables
from chainrule.errors import ModelError, ShapeError, SimulationError, short_repr
from chainrule.functions.reference import scalars_of
from chainrule.kinematics.configurations import difference
from chainrule.simulation.dae_residual import refuse_dry_friction
from chainrule.simulation.request import FEEDBACK_RATIO, STABILIZATIONS, read_duration, read_record_every, read_start
from chainrule.simulation.simulate import simulate
from chainrule.simulation.trajectory import Trajectory
from chainrule.spatial import Scalar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Scalars = Sequence[Scalar]
Torque = Callable[[float, Array, Array], Any]

POSITION_STEPS = 2
"""Newton's steps of a projection of poses."""

MAX_STEPS = 10_000_000
"""Steps of one simulation, each of which takes a good part of a millisecond."""

MAX_ERROR = 0.1
"""Largest error of a joint or loop, in m or rad, with which a motion still means something."""


class Evaluated(NamedTuple):
    """The equations at one state, in numbers."""

    matrix: Array
    rhs: Array
    qd: Array
    position_errors: Array
    velocity_errors: Array
    felt: Array
    pose_rates: Array
    coordinate_rates: Array


class MaximalEquations:
    """The equations in maximal coordinates of one robot as a function of arrays: compiled, or as written."""

    def __init__(self, robot: Mechanism, feedback: float | None) -> None:
        self.model = merged_model(robot)
        self.rows = closure_of(robot).independent_rows if robot.model.constraints else ()
        self.sizes = parent_child.sizes(self.model, self.rows)
        self.feedback = feedback
        self.places = self._pattern()
        links, n, m = self.sizes
        self.torque_rows = slice(2 * links, 2 * links + n)
        lengths = (links // 6 * 7, links, self.model.nq)
        counts = (len(self.places), self.sizes.total, n, links + m, links + m, links, lengths[0], self.model.nq)
        self._cuts = np.cumsum(counts)[:-1]
        key = ("maximal", merged_fingerprint(robot), self.rows, feedback)
        visits = float(len(self.model.bodies) ** 2)
        backend = active(backend_of(robot))
        self._function = backend.function(Traceable(self._text, key, robot.name, "maximal", visits), lengths)

    def _compute(self, poses: Scalars, twists: Scalars, q: Scalars) -> parent_child.Maximal:
        gains = None if self.feedback is None else (self.feedback, self.feedback)
        return parent_child.maximal_equations(self.model, poses, twists, q, self.rows, gains)

    def _text(self, poses: Scalars, twists: Scalars, q: Scalars) -> Scalars:
        system, *rest = self._compute(poses, twists, q)
        entries = [system.entries.get(place, 0) for place in self.places]
        return [*entries, *system.rhs, *(x for part in rest for x in part)]

    def _pattern(self) -> list[tuple[int, int]]:
        """The places of the matrix that are not zero for all states."""
        from chainrule.compile.graph import Graph

        links = self.sizes.links
        counts = (links // 6 * 7, links, self.model.nq)
        return list(self._compute(*Graph().inputs(counts)).system.entries)

    def __call__(self, poses: Array, twists: Array, q: Array) -> Evaluated:
        """The equations at a state, without the torques of motors."""
        values = self._function(poses, twists, q)
        entries, *rest = np.split(values, self._cuts)
        matrix = np.zeros((self.sizes.total,) * 2)
        matrix[tuple(np.array(self.places).T)] = entries
        return Evaluated(matrix, *rest)

    def correction(self, at: Evaluated, errors: Array) -> Array:
        """The smallest change of links (6 each) and joints (n) that undoes errors of joints and loops."""
        links, n, _ = self.sizes
        right = np.array(parent_child.corrections(self.model, errors.tolist(), self.rows), dtype=float)
        x = _solve(at.matrix, right)
        return np.concatenate([x[:links], x[2 * links : 2 * links + n]])


def _solve(matrix: Array, right: Array) -> Array:
    """The solution of the system, which is singular where equations of loops follow from others."""
    try:
        return np.asarray(np.linalg.solve(matrix, right), dtype=float)
    except np.linalg.LinAlgError:
        raise SimulationError(
            "simulate_maximal: the equations of joints and loops depend on each other in this state, a change point; "
            "robot.simulate goes on through it"
        ) from None


@dataclass(frozen=True, eq=False)
class MaximalMotion:
    """A motion in maximal coordinates: of each link its pose and twist, of each joint its wrench, and the drift.

    Times t (T,), poses (T, links, 4, 4), twists (T, links, 6), q (T, nq) and qd (T, n) that follow from them, wrenches
    of joints (T, joints, 6) from parent to child, multipliers of loops (T, rows).
    """

    robot: Mechanism
    t: Array
    poses: Array
    twists: Array
    q: Array
    qd: Array
    joint_wrenches: Array
    multipliers: Array
    position_drift: Array
    """Largest error of a joint or loop at each time, in m and rad (T,)."""
    velocity_drift: Array
    """Largest twist that joints and loops do not allow, in m/s and rad/s (T,)."""
    dt: float
    stabilization: str
    torque: Any = None

    def compare(self, reduced: Trajectory | None = None) -> MaximalComparison:
        """Differences from the reduced motion: that of `robot.simulate` with the same step, unless one is given."""
        if reduced is None:
            every = max(1, round((self.t[1] - self.t[0]) / self.dt)) if len(self.t) > 1 else 1
            end = float(self.t[-1] - self.t[0])
            reduced = simulate(
                self.robot, self.q[0], self.qd[0], end, self.torque, dt=self.dt, record=every,
                torque_limits=False, limits=False, progress=False,
            )  # fmt: skip
        if reduced.t.shape != self.t.shape or not np.allclose(reduced.t - reduced.t[0], self.t - self.t[0]):
            raise ShapeError("compare: the reduced motion has other times than this one")
        apart = np.abs(difference(self.robot, reduced.q, self.q)).max(axis=-1)
        speed = np.abs(reduced.qd - self.qd).max(axis=-1)
        return MaximalComparison(self, reduced, apart, speed)

    def __repr__(self) -> str:
        return (
            f"<MaximalMotion of {self.robot.name!r}: {len(self.t)} samples, {self.t[0]:g} to {self.t[-1]:g} s, "
            f"{self.poses.shape[1]} links, stabilization {self.stabilization!r}, "
            f"drift {self.position_drift.max():.1e}>"
        )


@dataclass(frozen=True, eq=False)
class MaximalComparison:
    """A motion in maximal coordinates beside the reduced one: differences of q and qd at each time (T,)."""

    maximal: MaximalMotion
    reduced: Trajectory
    position_difference: Array
    velocity_difference: Array

    def rows(self) -> list[tuple[str, float, str]]:
        """Rows of the comparison: the quantity, its largest number, its unit."""
        return [
            ("drift of joints and loops", float(self.maximal.position_drift.max()), "m, rad"),
            ("drift of their velocities", float(self.maximal.velocity_drift.max()), "m/s, rad/s"),
            ("difference of q from the reduced motion", float(self.position_difference.max()), "m, rad"),
            ("difference of qd", float(self.velocity_difference.max()), "m/s, rad/s"),
        ]

    def __str__(self) -> str:
        motion = self.maximal
        states = motion.poses.shape[1] * 13
        head = f"{motion.robot.name}: {states} numbers of state instead of {motion.robot.nq + motion.robot.nv}, "
        head += f"dt {motion.dt:g} s, stabilization {motion.stabilization!r}"
        return "\n".join([head, *(f"  {name:<40} {x:.1e} {unit}" for name, x, unit in self.rows())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return tables.table(("maximal beside reduced coordinates", "largest", "unit"), self.rows())


def simulate_maximal(
    robot: Mechanism,
    q0: ArrayLike,
    qd0: ArrayLike | None = None,
    duration: float = 1.0,
    torque: ArrayLike | Torque | None = None,
    dt: float = 1e-3,
    *,
    loops: str = "projection",
    record: int = 1,
) -> MaximalMotion:
    """The motion of one start in maximal coordinates, by Runge-Kutta steps: each link's pose and twist as the state.

    For teaching and for checks: `simulate` is faster and cannot drift. Rotors, springs and viscous friction act; dry
    friction is refused; limits, stops and effort limits play no part.

    Parameters
    ----------
    q0, qd0
        The start, as of simulate; from it the links' poses and twists follow.
    duration
        In s.
    torque
        None, numbers (n,), or a function of (t, q, qd).
    dt
        The step, in s.
    loops
        "projection" of poses and twists after every step, "baumgarte" feedback, or "none", which shows the drift.
    record
        Every how many steps a sample is kept.

    Returns
    -------
    MaximalMotion
        Its `compare()` runs the reduced simulation beside it.

    >>> import chainrule as cr
    >>> motion = cr.load("planar_2r").textbook.simulate_maximal([0.3, 0.4], None, 0.1, dt=0.01)
    >>> motion.twists.shape, bool(motion.compare().position_difference.max() < 1e-8)
    ((11, 2, 6), True)
    """
    require(robot, "forward_dynamics")
    if not robot.nv:
        raise ModelError(f"simulate_maximal: robot {robot.name!r} has no degrees of freedom")
    refuse_dry_friction(robot, "simulate_maximal")
    way = one_of(STABILIZATIONS, loops, "way to close loops", "simulate_maximal")
    step = positive(dt, "simulate_maximal: dt", "a positive time in s", unit="s")
    length, every = read_duration(duration, step), read_record_every(record)
    start = read_start(robot, q0, qd0, within_limits=False)
    if start.batch:
        raise ShapeError(f"simulate_maximal takes one start, got a batch of shape {start.batch}")
    steps = length / step
    if not steps <= MAX_STEPS:
        raise ShapeError(
            f"simulate_maximal: {length:g} s in steps of {step:g} s are {steps:.3g} steps, more than {MAX_STEPS:g}"
        )
    driven = _read_torque(robot, torque)
    run = _Run(MaximalEquations(robot, FEEDBACK_RATIO / step if way == "baumgarte" else None), driven, step, way)
    return run.motion(robot, start.q[0], start.v[0], round(steps), every, torque)


def _read_torque(robot: Mechanism, torque: Any) -> Torque:
    if torque is None:
        return lambda t, q, qd: np.zeros(robot.nv)
    if not callable(torque):
        numbers = read_argument(robot, "simulate_maximal", "tau", torque)
        if numbers.ndim != 1:
            raise ShapeError(f"simulate_maximal: torque must be {robot.nv} numbers, got shape {numbers.shape}")
        return lambda t, q, qd: numbers

    def call(t: float, q: Array, qd: Array) -> Array:
        values = real_array(torque(t, q, qd), "simulate_maximal: torque")
        if values.shape not in ((), (robot.nv,)):
            raise ShapeError(f"simulate_maximal: torque must return {robot.nv} numbers, got {short_repr(values)}")
        return np.broadcast_to(values, (robot.nv,))

    return call


class _State(NamedTuple):
    """Poses and twists of the links, and where each joint is."""

    poses: Array
    twists: Array
    q: Array

    def plus(self, rates: _State, h: float) -> _State:
        """The state moved along rates for a time h."""
        return _State(*(a + h * b for a, b in zip(self, rates, strict=True)))


class _Run:
    """One simulation: its equations, torque, step and stabilization."""

    def __init__(self, equations: MaximalEquations, torque: Torque, dt: float, stabilization: str) -> None:
        self.equations, self.torque, self.dt, self.stabilization = equations, torque, dt, stabilization
        self.model = equations.model

    def motion(self, robot: Mechanism, q: Array, qd: Array, steps: int, every: int, torque: Any) -> MaximalMotion:
        """The motion from a state."""
        start = parent_child.start_poses(self.model, q.tolist(), qd.tolist())
        state = _State(*(np.array(x, dtype=float) for x in (*start, q)))
        records = []
        for k in range(steps + 1):
            at, solution = self._solve(k * self.dt, state)
            self._refuse_divergence(k * self.dt, at)
            if k % every == 0:
                records.append((k * self.dt, state, at, solution))
            if k < steps:
                state = self._step(k * self.dt, state, self._rates(at, solution))
        return self._record(robot, records, torque)

    def _solve(self, t: float, state: _State) -> tuple[Evaluated, Array]:
        """The equations at a state, and their solution (dV/dt as felt, W, dqd/dt, lambda)."""
        at = self.equations(*state)
        right = at.rhs.copy()
        right[self.equations.torque_rows] += self.torque(t, state.q, at.qd)
        return at, _solve(at.matrix, right)

    def _rates(self, at: Evaluated, solution: Array) -> _State:
        """Rates of the state; gravity, which the accelerations in the system feel, is taken out."""
        return _State(at.pose_rates, solution[: len(at.felt)] - at.felt, at.coordinate_rates)

    def _step(self, t: float, state: _State, first: _State) -> _State:
        """One step of the classical Runge-Kutta method, then the projection."""
        h = self.dt
        slopes = [first]
        for part in (0.5, 0.5, 1.0):
            there = state.plus(slopes[-1], part * h)
            at, solution = self._solve(t + part * h, there)
            slopes.append(self._rates(at, solution))
        mean = _State(*((a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(*slopes, strict=True)))
        moved = self._normalize(state.plus(mean, h))
        return self._project(moved) if self.stabilization == "projection" else moved

    def _normalize(self, state: _State) -> _State:
        """The state with unit quaternions."""
        poses = state.poses.reshape(-1, 7).copy()
        poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
        return state._replace(poses=poses.ravel(), q=self._integrate(state.q, np.zeros(self.model.nv)))

    def _integrate(self, q: Array, change: Array) -> Array:
        return np.array(integrate(self.model, q.tolist(), change.tolist()), dtype=float)

    def _project(self, state: _State) -> _State:
        """The nearest state in which joints and loops are closed, and stay closed."""
        links = self.equations.sizes.links
        for _ in range(POSITION_STEPS):
            at = self.equations(*state)
            change = self.equations.correction(at, at.position_errors)
            poses = parent_child.move(self.model, state.poses.tolist(), change[:links].tolist())
            state = state._replace(poses=np.array(poses, dtype=float), q=self._integrate(state.q, change[links:]))
        at = self.equations(*state)
        return state._replace(twists=state.twists + self.equations.correction(at, at.velocity_errors)[:links])

    def _refuse_divergence(self, t: float, at: Evaluated) -> None:
        worst = np.abs(at.position_errors).max(initial=0.0)
        if not worst <= MAX_ERROR:
            raise SimulationError(
                f"simulate_maximal: at {t:g} s a joint or loop is off by {worst:.3g} m or rad: the motion has come "
                f"apart; take a smaller dt than {self.dt:g} s, or loops='projection'"
            )

    def _record(self, robot: Mechanism, records: list[Any], torque: Any) -> MaximalMotion:
        times, states, found, solutions = zip(*records, strict=True)
        links, n, _ = self.equations.sizes
        count = len(times)
        coordinates = np.array([state.poses for state in states]).reshape(count, -1, 7)
        solved = np.array(solutions)
        return MaximalMotion(
            robot=robot,
            t=np.array(times),
            poses=np.asarray(parent_child.POSE.transform(scalars_of(coordinates))),
            twists=np.array([state.twists for state in states]).reshape(count, -1, 6),
            q=np.array([state.q for state in states]),
            qd=np.array([at.qd for at in found]),
            joint_wrenches=solved[:, links : 2 * links].reshape(count, -1, 6),
            multipliers=solved[:, 2 * links + n :],
            position_drift=np.array([np.abs(at.position_errors).max(initial=0.0) for at in found]),
            velocity_drift=np.array([np.abs(at.velocity_errors).max(initial=0.0) for at in found]),
            dt=self.dt,
            stabilization=self.stabilization,
            torque=torque,
        )
