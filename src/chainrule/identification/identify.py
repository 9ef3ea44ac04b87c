"""From recordings to a robot that can exist: `cr.identify`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from chainrule import lazy
from chainrule.algorithms.regressor import axes
from chainrule.arguments import Array, flag, positive
from chainrule.compile.runtime.threads import run_all
from chainrule.core.mechanism import Mechanism
from chainrule.display.text import Shown, Table
from chainrule.errors import MotionWarning, ShapeError, quoted, short_repr, warn_user
from chainrule.identification.parameters import values
from chainrule.identification.physical import nearest_physical
from chainrule.identification.recordings import Motions, Recordings, refuse_other_units
from chainrule.identification.streamed import RecordedSamples, TorqueEquations, TriangularFactor
from chainrule.identification.unknowns import GAIN, STRIBECK, Unknowns, read_unknowns
from chainrule.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from chainrule.study.report import identification as page

R = TypeVar("R", bound=Mechanism)

HUBER, TUKEY = 1.345, 4.685
"""Residuals, in units of the noise, beyond which outliers count less, and not at all: 95% efficient without any."""

NORMAL_MAD = 0.6745
"""The median magnitude of a normal variable in units of its standard deviation."""

LEAST_NOISE = 1e-6
"""The noise of a joint as a share of its torques, at least: without any, numbers that are the robot's own stay so."""

MAX_ROUNDS = 30
CHANGE = 1e-4
"""The change of predicted torques, in units of the noise, at which weights and estimates are final."""
CHANGE_OF_ALL = 0.1
"""The same change from the sample to all data, from which on another pass goes over them."""

RUN = 50
"""Samples of a run over which residuals are averaged, to see how far noise is alike from sample to sample."""

IDENTIFIED = 0.5
"""The standard deviation of a parameter, in units of its size in the robot's file, up to which data identify it."""
VISIBLE = 0.02
"""The share of all torques that a number of which the robot's file says 0 must make, to count as one of a size."""
UNSEEN = 1e-6
"""What is taken, in SI units, of a number of which the file says 0 and the data nothing."""
UNKNOWN = 1e3
"""The standard deviation, in the same units, beyond which data say nothing."""

DISAGREE = 1.5
"""The ratio of residuals of one robot for all recordings to those of one for each, from which recordings differ."""

BIASED = 5.0
"""Standard deviations between least squares and instrumental variables that noise alone does not explain."""


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Shown):
    """Result of `identify`: a robot, its parameters, and how sure they are."""

    robot: Any
    """The identified robot: one that can exist, as near to the data as such a robot gets."""
    original: Any = field(repr=False)
    parameters: Mapping[str, float]
    """The identified numbers by name, in SI units."""
    standard_deviations: Mapping[str, float]
    """Of each of them, from the data alone; inf where they say nothing."""
    identifiable: Mapping[str, bool]
    """Whether the data tell each number by itself; the others stay near the robot's file, and fit together."""
    base_names: tuple[str, ...]
    """The combinations of these numbers that torques depend on."""
    base_values: Array
    base_standard_deviations: Array
    correlations: Array
    """Of the base parameters (b, b)."""
    error: Array
    """RMS of measured less predicted torques of each joint (nv,), without outliers; in the motions left out, if any."""
    errors: Mapping[str, Array]
    """The same of the "original" robot, of the "identified" one, and of "least squares" without physical limits."""
    noise: Array
    """The standard deviation of each joint's torques that is left (nv,): the weights of joints are its inverse."""
    outliers: Array
    """The share of each joint's torques that were outliers."""
    condition: float
    """The condition number of the equations, each base parameter in units of its size."""
    notes: tuple[str, ...]
    """What was left out, filtered and assumed."""
    motions: tuple[Any, ...] = field(repr=False, default=())
    """The motions left out of the fit, or those of the fit where there are none, for the report."""

    def torques(self, motion: Trajectory) -> Array:
        """Torques or currents that the identified robot predicts for a motion: (..., T, nv)."""
        names = self.robot.model.layout.velocity_names
        offsets = np.array([self.parameters.get(f"{name}.torque_offset", 0.0) for name in names])
        gains = np.array([self.parameters.get(f"{name}.{GAIN}", 1.0) for name in names])
        return np.asarray((self.robot.inverse_dynamics(motion.q, motion.qd, motion.qdd) + offsets) / gains)

    def _view(self) -> Iterator[str | Table]:
        names = self.robot.model.layout.velocity_names
        count = len(self.base_names)
        yield f"identified {len(self.parameters)} parameters of {self.robot.name!r}, {count} combinations of them"
        rows = list(zip(names, *(self.errors[k] for k in self.errors), self.noise, 100 * self.outliers, strict=True))
        yield Table(("joint", *(f"error, {k}" for k in self.errors), "noise", "outliers, %"), rows)
        yield Table(
            ("parameter", "before", "after", "standard deviation", "identifiable"),
            [
                (name, self.before.get(name, 0.0), x, self.standard_deviations[name], self.identifiable[name])
                for name, x in self.parameters.items()
            ],
        )
        yield from self.notes

    @property
    def before(self) -> dict[str, float]:
        """The original robot's own parameters by name."""
        return dict(zip(self.original.parameters.names, values(self.original).tolist(), strict=True))

    if TYPE_CHECKING:
        report = page.report
    else:
        report = lazy.method("chainrule.study.report.identification", "report")


def identify(
    robot: R,
    motions: Motions | Sequence[Motions],
    *,
    parameters: str | Sequence[str] = "all",
    validate: Motions | Sequence[Motions] | None = None,
    instruments: Motions | Sequence[Motions] | None = None,
    prior: float = 0.01,
    check: bool = True,
) -> Identification:
    """The robot that recorded torques belong to: masses, inertias, rotors, friction, springs, payloads, gains.

    Every result can exist: inertias of real bodies, no negative friction. Joints are weighed by their noise, outliers
    count less or not at all, and what data do not decide stays near the robot's own numbers.

    Parameters
    ----------
    robot
        The robot as far as it is known.
    motions
        Trajectories with measured torques, of `Trajectory.from_samples(..., tau=...)` or of simulations, or files that
        they were saved to, which are loaded one at a time.
    parameters
        "all"; or some of the parts "links", "rotors", "friction", "springs"; names of links and joints; single names
        such as "link2.mass" or "elbow.viscous"; "hand.payload", a body welded to a link or frame; "gains" or
        "elbow.gain", motor constants where currents were recorded (N m/A); "offsets" or "elbow.torque_offset", of
        torque sensors; "stribeck" or "elbow.stribeck", Stribeck speeds of joints that have one. All else stays.
    validate
        Motions that take no part in the fit; `error` is that of the prediction of theirs.
    instruments
        For each motion one with the same times and without the noise of its sensors: the commanded motion, or a
        simulation of an earlier result under the same controller. With them the noise of velocities and accelerations
        leaves no bias (instrumental variables).
    prior
        How much the robot's own numbers count: a link's inertia that is twice theirs costs about as much as a misfit of
        prior squared standard deviations.
    check
        False takes torques even where their unit or sign seems wrong.

    Examples
    --------
    >>> import numpy as np, chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> t = np.arange(0.0, 10.0, 0.01)
    >>> w = np.array([1.3, 2.1])
    >>> q, qd, qdd = np.sin(np.outer(t, w)), w * np.cos(np.outer(t, w)), -w * w * np.sin(np.outer(t, w))
    >>> tau = arm.with_payload(0.5).inverse_dynamics(q, qd, qdd)
    >>> motion = cr.Trajectory.from_samples(arm, t, q, tau=tau, smoothing=None)
    >>> result = cr.identify(arm, [motion], parameters=["tip.payload"])
    >>> round(result.parameters["tip.payload.mass"], 3)
    0.5
    """
    if not isinstance(robot, Mechanism):
        raise ShapeError(f"identify: robot must be a Robot, got {short_repr(robot)}")
    strength = positive(prior, "identify: prior", "a positive number, such as 0.01")
    unknowns = read_unknowns(robot, parameters)
    is_rubbing = any(dof.has_dry_friction for joint in robot.model.joints for dof in joint.dofs) or any(
        name.rpartition(".")[2].startswith(("coulomb", "static")) for name in unknowns.names
    )
    recordings = Recordings(robot, motions, "motions", has_dry_friction=is_rubbing)
    left_out = None if validate is None else Recordings(robot, validate, "validate", has_dry_friction=is_rubbing)
    tools = None if instruments is None else Recordings(robot, instruments, "instruments", has_dry_friction=False)
    fit = _Fit(unknowns, recordings, tools)
    if flag(check, "identify: check") and not unknowns.gains:
        refuse_other_units(robot, fit.pieces)
    fit.find_stribeck()
    fit.solve_sample()
    fit.solve_all()
    if tools is not None:
        least = fit.b
        for _ in range(2):  # noise and weights of the second time are those without the bias of least squares
            fit.solve_with_instruments(tools)
        fit.compare_with(least)
    return _result(fit, robot, left_out or recordings, strength)


class _Fit:
    """Least squares in base parameters and gains: y = (b, gains), with torques g_k tau_k = known_k + X_k b."""

    def __init__(self, unknowns: Unknowns, recordings: Recordings, tools: Recordings | None) -> None:
        self.unknowns, self.recordings = unknowns, recordings
        self.speeds = [axis.dof.stribeck for axis in _axes(unknowns) if axis.place in unknowns.stribeck]
        self.equations = TorqueEquations(unknowns, self.speeds)
        self.pieces = recordings.sample()
        self.names = unknowns.robot.model.layout.velocity_names
        self.nb, self.nv = len(self.equations.B), len(self.names)
        self.gains = np.ones(self.nv)
        # noise of positions, differentiated, is weak at the pace of instruments; regressors with that noise see it all
        self.least_inflation = 1.0 if tools is None else 0.05
        self.notes: list[str] = []
        self.warnings: list[str] = []

    # --- what is looked at first ---

    def find_stribeck(self) -> None:
        """Stribeck speeds, each from the rows of its own joint, in which it is the only number that is not linear."""
        self.speed_deviations = []
        for place, velocity in enumerate(self.unknowns.stribeck):
            pairs = self.equations.friction_columns(velocity)
            matrix = self.equations.matrix
            others = [b for b in self.equations.of_joint[velocity] if not matrix[np.ravel(pairs), b].any()]
            rows, levels, speeds, torques = [], [], [], []
            for piece in self.pieces:
                own = piece.at(piece.counts[:, velocity])
                X, known = self.equations.rows(own)
                at = {b: k for k, b in enumerate(self.equations.of_joint[velocity])}
                rows.append(X[velocity][:, [at[b] for b in others]])
                Y = self.equations.buffer[: len(own.q), velocity]
                levels.append(np.stack([Y[:, a] + Y[:, c] for a, c in pairs], axis=-1))
                speeds.append(own.qd[:, velocity])
                torques.append(own.tau[:, velocity] - known[:, velocity])
            A, level, speed, y = (np.concatenate(parts) for parts in (rows, levels, speeds, torques))
            Q = np.linalg.qr(A / np.maximum(np.linalg.norm(A, axis=0), 1e-300))[0]

            def residual(log_speed: float, Q: Array = Q, level: Array = level, v: Array = speed, y: Array = y) -> float:
                share = np.exp(-((v / np.exp(log_speed)) ** 2))[:, None]
                own = np.hstack([level, level * share])
                own, rest = own - Q @ (Q.T @ own), y - Q @ (Q.T @ y)
                rest = rest - own @ np.linalg.lstsq(own, rest, rcond=1e-9)[0]
                rest = np.clip(rest, *(np.array([-4, 4]) * np.median(np.abs(rest)) / NORMAL_MAD))
                return float(rest @ rest)

            grid = np.log(np.abs(speed).max()) + np.linspace(np.log(1e-3), 0, 15)
            best = int(np.argmin([residual(x) for x in grid]))
            ends = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
            found = minimize_scalar(residual, bounds=ends, method="bounded", options={"xatol": 1e-4})
            h = 0.05
            curve = (residual(found.x + h) + residual(found.x - h) - 2 * found.fun) / h**2
            variance = 2 * found.fun / max(len(y) - len(others) - 3, 1) / curve if curve > 0 else np.inf
            self.speeds[place] = float(np.exp(found.x))
            self.speed_deviations.append(float(np.exp(found.x) * np.sqrt(variance)))
        self.equations = TorqueEquations(self.unknowns, self.speeds)

    # --- the fit ---

    def solve_sample(self) -> None:
        """Base parameters, gains, noise and outliers from the sample, until they no longer change."""
        parts = [(piece, *self.equations.rows(piece)) for piece in self.pieces]
        self.own = [
            _JointRows(
                np.concatenate([X[k][piece.counts[:, k]] for piece, X, _ in parts]),
                np.concatenate([known[piece.counts[:, k], k] for piece, _, known in parts]),
                np.concatenate([piece.tau[piece.counts[:, k], k] for piece, _, _ in parts]),
                np.concatenate([np.full(int(piece.counts[:, k].sum()), piece.motion) for piece, _, _ in parts]),
            )
            for k in range(self.nv)
        ]
        self.b = np.asarray(self.equations.B @ self.unknowns.nominal)
        for k in self.unknowns.gains:  # a first guess, from the robot's own numbers
            rows = self.own[k]
            torque = rows.prediction(self.b[self.equations.of_joint[k]], 1.0)
            self.gains[k] = abs(float(torque @ rows.tau)) / max(float(rows.tau @ rows.tau), 1e-300) or 1.0
        for turn in range(MAX_ROUNDS):
            before = [rows.prediction(self.b[own], g) for rows, own, g in self._joints()]
            residuals = [rows.tau - fitted for (rows, _, _), fitted in zip(self._joints(), before, strict=True)]
            self.scale = np.array([float(np.median(np.abs(r))) / NORMAL_MAD if len(r) else 1.0 for r in residuals])
            self.scale = np.maximum(self.scale, [LEAST_NOISE * _rms(rows.tau) + 1e-300 for rows in self.own])
            curve = _linear if turn == 0 else _huber if turn < 6 else _tukey
            self.slope = np.array([_slope(curve(r / s)[1]) for r, s in zip(residuals, self.scale, strict=True)])
            factors = []
            for k, (rows, own, _) in enumerate(self._joints()):
                factors.append(TriangularFactor(len(own) + (k in self.unknowns.gains) + 1))
                factors[k].add(self._equations(k, rows.X, before[k], rows.tau, curve))
            self._step(factors, self.scale * self.gains)
            after = [rows.prediction(self.b[own], g) for rows, own, g in self._joints()]
            change = max(_rms(x - y) / s for x, y, s in zip(before, after, self.scale, strict=True))
            if turn > 8 and change < CHANGE:
                break
        self.factors = [factor.R for factor in factors]
        self._describe_noise()

    def _joints(self) -> Iterator[tuple[_JointRows, NDArray[np.intp], float]]:
        """Of each joint its rows of the sample, its base parameters and its gain."""
        return zip(self.own, self.equations.of_joint, self.gains.tolist(), strict=True)

    def _equations(self, k: int, X: Array, fitted: Array, tau: Array, curve: Curve) -> Array:
        """Rows of one joint for a change of the estimate: X db - fitted dg = g noise psi(residual / noise) / psi'.

        So outliers are drawn in, and the equations are those of all samples alike.
        """
        psi = curve((tau - fitted) / self.scale[k])[0]
        right = psi * (self.gains[k] * self.scale[k] / self.slope[k])
        return np.column_stack([X, -fitted, right] if k in self.unknowns.gains else [X, right])

    def _step(self, factors: Sequence[TriangularFactor], noise: Array) -> None:
        """Change the estimate as factors of the joints say."""
        A, c = self._in_units_of_noise([factor.R for factor in factors], noise)
        whole = TriangularFactor(A.shape[1] + 1)
        whole.add(np.column_stack([A, c]))
        change = _lstsq(whole.R[:, :-1], whole.R[:, -1])
        self.b = self.b + change[: self.nb]
        for i, k in enumerate(self.unknowns.gains):
            self.gains[k] = np.clip(self.gains[k] + change[self.nb + i], 0.3 * self.gains[k], 3 * self.gains[k])

    def _in_units_of_noise(self, factors: Sequence[Array], noise: Array) -> tuple[Array, Array]:
        """A and c, with |A dy - c|^2 the misfit in units of the noise, for changes of y = (b, gains)."""
        place = {k: self.nb + i for i, k in enumerate(self.unknowns.gains)}
        A, c = [], []
        for k, (R, own) in enumerate(zip(factors, self.equations.of_joint, strict=True)):
            rows = np.zeros((len(R), self.nb + len(place)))
            rows[:, [*own, *([place[k]] if k in place else [])]] = R[:, :-1]
            A.append(rows / noise[k])
            c.append(R[:, -1] / noise[k])
        return np.vstack(A), np.concatenate(c)

    def _describe_noise(self) -> None:
        """The noise of each joint, and what it is for the estimate: robust, and alike from sample to sample."""
        self.noise, self.effective = np.zeros(self.nv), np.ones(self.nv)
        columns = sum(len(own) for own in self.equations.of_joint)
        for k, (rows, own, gain) in enumerate(self._joints()):
            if not len(rows.tau):
                continue
            r = rows.tau - rows.prediction(self.b[own], gain)
            paid = len(r) / max(len(r) - self.nb * len(own) / columns, 1.0)  # for unknowns
            self.noise[k] = np.sqrt(paid) * _rms(r[np.abs(r) < TUKEY * self.scale[k]])
            psi, slope = _tukey(r / self.scale[k])
            runs, inflation = len(psi) // RUN, 1.0
            if runs > 20:
                means = psi[: runs * RUN].reshape(runs, RUN).mean(axis=1)
                inflation = max(self.least_inflation, RUN * float(means.var()) / max(float(psi.var()), 1e-300))
            self.effective[k] = self.scale[k] * gain * np.sqrt(paid * inflation) * _rms(psi) / _slope(slope)
            self.effective[k] = max(self.effective[k], LEAST_NOISE * gain * _rms(rows.tau), 1e-300)

    def solve_all(self) -> None:
        """The estimate from all samples, by Newton's step from that of the sample."""
        if sum(len(piece.q) for piece in self.pieces) >= self.recordings.findings.samples:
            return
        for _ in range(3):
            before = [rows.prediction(self.b[own], g) for rows, own, g in self._joints()]
            factors = [
                TriangularFactor(len(own) + (k in self.unknowns.gains) + 1)
                for k, own in enumerate(self.equations.of_joint)
            ]
            for stretch in self.recordings.stretches():
                for block in stretch.blocks():
                    X, known = self.equations.rows(block)
                    run_all([partial(self._add, factors[k], k, X[k], known[:, k], block) for k in range(self.nv)])
            self._step(factors, self.effective)
            self.factors = [factor.R for factor in factors]
            after = [rows.prediction(self.b[own], g) for rows, own, g in self._joints()]
            if max(_rms(x - y) / s for x, y, s in zip(before, after, self.scale, strict=True)) < CHANGE_OF_ALL:
                break

    def _add(self, factor: TriangularFactor, k: int, X: Array, known: Array, block: RecordedSamples) -> None:
        """Add the equations of one joint in a block to its factor."""
        factor.add(self._rows(k, X, known, block))

    def _rows(self, k: int, X: Array, known: Array, block: RecordedSamples) -> Array:
        """The equations of one joint in a block."""
        predicted = (X @ self.b[self.equations.of_joint[k]] + known) / self.gains[k]
        rows = self._equations(k, X, predicted, block.tau[:, k], _tukey)
        counts = block.counts[:, k]
        return rows if counts.all() else rows[counts]

    def solve_with_instruments(self, tools: Recordings) -> None:
        """The estimate that Z^T (tau - X b) = 0 gives, Z being the columns X of motions without noise."""
        if self.unknowns.gains:
            raise ShapeError("identify: instruments and gains do not go together; identify gains first, then fix them")
        ZX, Zy, ZZ = np.zeros((self.nb, self.nb)), np.zeros(self.nb), np.zeros((self.nb, self.nb))
        for stretch, tool in zip(self.recordings.stretches(), tools.stretches(), strict=True):
            if len(stretch.q) != len(tool.q):
                raise ShapeError(
                    f"identify: instruments[{stretch.motion}] has {len(tool.q)} samples, its motion {len(stretch.q)}; "
                    "give it at the same times, with instrument.resample(motion.t)"
                )
            for block, clean in zip(stretch.blocks(), tool.blocks(), strict=True):
                Z = self.equations.rows(clean)[0]
                X, known = self.equations.rows(block)
                for k, own in enumerate(self.equations.of_joint):
                    rows = self._rows(k, X[k], known[:, k], block)
                    z, at, variance = Z[k][block.counts[:, k]], np.ix_(own, own), self.effective[k] ** 2
                    ZX[at] += z.T @ rows[:, :-1] / variance
                    Zy[own] += z.T @ rows[:, -1] / variance
                    ZZ[at] += z.T @ z / variance
        size = 1 / np.sqrt(np.maximum(np.diag(ZZ), 1e-300))
        scaled = ZX * np.outer(size, size)
        change = size * np.linalg.lstsq(scaled, size * Zy, rcond=1e-10)[0]
        self.b = self.b + change
        half = np.linalg.cholesky(ZZ * np.outer(size, size) + 1e-13 * np.eye(self.nb))
        self.instrumental = np.linalg.solve(half, scaled) / size  # A with A^T A the inverse of the covariance
        self._describe_noise()

    def compare_with(self, least: Array) -> None:
        """Note how far the estimate without instruments was off."""
        off = np.abs(least - self.b) * np.linalg.norm(self.instrumental, axis=0)
        names = [name for name, x in zip(self.unknowns.base_names, off, strict=True) if x > BIASED]
        biased = f": noise of velocities would bias {quoted(names, 4)}" if names else ": they make no difference here"
        self.notes.append(f"instrumental variables{biased}")

    def information(self) -> tuple[Array, Array]:
        """A and c, with |A y - c|^2 / 2 the misfit that the physical robot is looked for with."""
        if hasattr(self, "instrumental"):
            return self.instrumental, self.instrumental @ self.b
        A, _ = self._in_units_of_noise(self.factors, self.effective)
        whole = TriangularFactor(A.shape[1])
        whole.add(A)
        return whole.R, whole.R @ np.concatenate([self.b, self.gains[list(self.unknowns.gains)]])


def _axes(unknowns: Unknowns) -> list[Any]:
    return sorted(axes(unknowns.robot.model), key=lambda axis: axis.place)


Curve = Callable[[Array], tuple[Array, Array]]
"""Psi of residuals in units of the noise, and its slope."""


class _JointRows(NamedTuple):
    """The equations of one joint: gain tau = known + X b, and the recording of each row."""

    X: Array
    known: Array
    tau: Array
    motion: Array

    def prediction(self, b: Array, gain: float) -> Array:
        """The torques or currents that base parameters predict."""
        return np.asarray((np.einsum("ij,j->i", self.X, b) + self.known) / gain)


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(x**2))) if len(x) else 0.0


def _slope(slopes: Array) -> float:
    """The mean slope of psi."""
    return max(float(slopes.mean()), 0.1) if len(slopes) else 1.0


def _linear(u: Array) -> tuple[Array, Array]:
    """Least squares."""
    return u, np.ones_like(u)


def _huber(u: Array) -> tuple[Array, Array]:
    """Huber's psi and its slope."""
    return np.clip(u, -HUBER, HUBER), (np.abs(u) < HUBER).astype(float)


def _tukey(u: Array) -> tuple[Array, Array]:
    """Tukey's biweight psi and its slope."""
    share = np.maximum(1 - (u / TUKEY) ** 2, 0.0)
    return u * share**2, share * (share - 4 * (u / TUKEY) ** 2)


def _lstsq(A: Array, c: Array) -> Array:
    """Least squares with scaled columns; what has no equation is 0."""
    size = np.linalg.norm(A, axis=0)
    size[size == 0] = 1.0
    return np.asarray(np.linalg.lstsq(A / size, c, rcond=1e-10)[0] / size)


def _result(fit: _Fit, robot: Any, tested: Recordings, prior: float) -> Identification:
    """The nearest physical robot, and how sure it is."""
    unknowns, B = fit.unknowns, fit.equations.B
    A, c = fit.information()
    gains = list(unknowns.gains)
    whole = np.hstack([A[:, : fit.nb] @ B, A[:, fit.nb :]])
    sizes = _sizes(whole, unknowns)
    u = nearest_physical(whole, c, unknowns.bodies, unknowns.positive, sizes, prior)
    x, g = u[: len(unknowns.names)], u[len(unknowns.names) :]
    names = [*unknowns.names, *(f"{fit.names[k]}.{GAIN}" for k in gains)]
    scales = np.concatenate([unknowns.scales, np.abs(g)])
    seen = VISIBLE * np.linalg.norm(c) / np.maximum(np.linalg.norm(whole, axis=0), 1e-300)
    scales = np.where(scales > 0, scales, np.clip(seen, np.abs(u), 1e6 + np.abs(u)))
    deviations = np.sqrt(np.diag(_covariance(whole * scales)))
    sure = deviations < IDENTIFIED
    deviations = np.where(deviations > 0.1 * UNKNOWN, np.inf, deviations * scales)
    found = dict(zip(names, u.tolist(), strict=True))
    spread = dict(zip(names, deviations.tolist(), strict=True))
    told = dict(zip(names, sure.tolist(), strict=True))
    for i, k in enumerate(unknowns.stribeck):
        name = f"{fit.names[k]}.{STRIBECK}"
        found[name], spread[name] = fit.speeds[i], fit.speed_deviations[i]
        told[name] = spread[name] < IDENTIFIED * found[name]
    base = B @ x
    base_sizes = np.sqrt((B**2) @ scales[: len(x)] ** 2)
    scaled = A * np.concatenate([base_sizes, np.abs(g)])
    covariance = _covariance(scaled)
    relative = np.sqrt(np.diag(covariance))
    singular = np.linalg.svd(scaled, compute_uv=False)
    lost = [n for n, r in zip(unknowns.base_names, relative, strict=False) if r > 1.0]
    _warn(fit, lost)
    new = unknowns.robot_with(robot, x, fit.speeds)
    final = np.ones(fit.nv)
    final[gains] = g
    errors, shares = _errors(fit, tested, base, final)
    return Identification(
        new, robot, found, spread, told, unknowns.base_names, base, relative[: fit.nb] * base_sizes,
        covariance[: fit.nb, : fit.nb] / np.outer(relative[: fit.nb], relative[: fit.nb]),
        errors["identified"], errors, fit.noise / final, shares,
        float(singular[0] / max(singular[-1], 1e-300)), tuple(_notes(fit, tested)),
        tuple(motion for _, motion in list(tested.trajectories())[:4]),
    )  # fmt: skip


def _covariance(A: Array) -> Array:
    """The covariance (A^T A)^-1 of estimates in units of their sizes; UNKNOWN^2 where data say nothing."""
    _, singular, V = np.linalg.svd(A)
    variances = np.full(A.shape[1], UNKNOWN**2)
    variances[: len(singular)] = 1 / (singular**2 + UNKNOWN**-2)
    return np.asarray((V.T * variances) @ V)


def _sizes(A: Array, unknowns: Unknowns) -> Array:
    """The s of each number that must not be negative: the file's own, or what the noise lets one see at best."""
    place = unknowns.positive
    own = np.abs(unknowns.nominal[place])
    columns = np.linalg.norm(A[:, place], axis=0)
    return np.where(own > 0, own, np.where(columns > 1, 1 / np.maximum(columns, 1), UNSEEN))


def _errors(fit: _Fit, tested: Recordings, base: Array, gains: Array) -> tuple[dict[str, Array], Array]:
    """RMS errors of predicted torques, without outliers, and the share of these."""
    nominal = fit.equations.B @ fit.unknowns.nominal
    candidates = {"original": (nominal, gains), "identified": (base, gains), "least squares": (fit.b, fit.gains)}
    sums = {name: np.zeros(fit.nv) for name in candidates}
    count, all_of_them = np.zeros(fit.nv), np.zeros(fit.nv)
    pieces = fit.pieces if tested is fit.recordings else [b for s in tested.sample() for b in s.blocks()]
    for piece in pieces:
        X, known = fit.equations.rows(piece)
        for k, own in enumerate(fit.equations.of_joint):
            counts = piece.counts[:, k]
            predicted = {name: (X[k] @ b[own] + known[:, k]) / g[k] for name, (b, g) in candidates.items()}
            is_in = counts & (np.abs(piece.tau[:, k] - predicted["identified"]) < TUKEY * fit.scale[k])
            is_in = counts if is_in.sum() < 0.5 * counts.sum() else is_in
            all_of_them[k] += counts.sum()
            count[k] += is_in.sum()
            for name, torque in predicted.items():
                sums[name][k] += float(((piece.tau[:, k] - torque)[is_in] ** 2).sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        return {name: np.sqrt(total / count) for name, total in sums.items()}, 1 - count / all_of_them


def _warn(fit: _Fit, lost: Sequence[str]) -> None:
    """One warning of all that a user should look at."""
    findings, warnings = fit.recordings.findings, []
    if findings.still:
        warnings.append(f"{quoted(findings.still)} stand still: nothing is learnt of their rotors and friction")
    if findings.clipped:
        warnings.append(
            f"torques of {quoted(findings.clipped)} stay at their largest value: they were clipped, and these samples "
            "are left out"
        )
    disagreement = _disagreement(fit)
    if lost and not disagreement:
        warnings.append(
            f"the motions do not show {quoted(lost, 5)}: these stay near the robot's own numbers; record a motion that "
            "moves more joints at once, faster and farther"
        )
    warnings += disagreement
    if warnings:
        warn_user("identify: " + "; ".join(warnings), MotionWarning)
    fit.warnings = warnings


def _disagreement(fit: _Fit) -> list[str]:
    """Recordings that one robot cannot explain."""
    if len(fit.recordings.sources) < 2 or len(fit.recordings.sources) > 50:
        return []
    worst, where = 0.0, ("", 0)
    for k, (rows, own, gain) in enumerate(fit._joints()):
        for number in np.unique(rows.motion):
            chosen = rows.motion == number
            X, y = rows.X[chosen], rows.tau[chosen] * gain - rows.known[chosen]
            if len(y) < 5 * X.shape[1]:
                continue
            together = y - X @ fit.b[own]
            factor = TriangularFactor(X.shape[1] + 1)
            is_in = np.abs(together) < np.maximum(TUKEY * fit.scale[k] * gain, 3 * np.median(np.abs(together)))
            factor.add(np.column_stack([X, y])[is_in])
            alone = y - X @ _lstsq(factor.R[:, :-1], factor.R[:, -1])
            ratio = float(
                np.median(np.abs(together)) / max(np.median(np.abs(alone)), 1e-12 * np.abs(y).max(initial=1e-300))
            )
            if ratio > worst and np.median(np.abs(together)) > 1e-6 * np.abs(y).max(initial=1e-300):
                worst, where = ratio, (fit.names[k], int(number))
    if worst < DISAGREE:
        return []
    return [
        f"one robot does not explain all motions: errors of {where[0]!r} in motions[{where[1]}] are {worst:.1f} times "
        "those of that motion by itself; was it recorded with another robot, tool or payload?"
    ]


def _notes(fit: _Fit, tested: Recordings) -> Iterator[str]:
    findings = fit.recordings.findings
    used = findings.used.sum() / (findings.samples * fit.nv)
    yield (
        f"{findings.samples} samples, of whose torques {100 * used:.1f}% count: not those at ends, in gaps, clipped or "
        "nearly at rest"
    )
    yield "positions are smoothed as the notes of the motions say; torques are not filtered"
    yield "joints are weighed by their noise, and outliers drawn in by Tukey's biweight"
    if tested is not fit.recordings:
        yield f"errors are those of {tested.findings.samples} samples that took no part in the fit"
    yield from fit.notes
    yield from fit.warnings
