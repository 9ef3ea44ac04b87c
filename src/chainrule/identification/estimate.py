"""The estimate: base parameters, gains of motors, Stribeck speeds and the noise of each joint, robust to outliers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from chainrule.algorithms.regressor import axes
from chainrule.arguments import Array
from chainrule.compile.runtime.threads import one_thread, run_all, threads
from chainrule.errors import ShapeError, quoted
from chainrule.identification.recordings import Recordings
from chainrule.identification.streamed import OrthogonalSums, RecordedSamples, TorqueEquations, TriangularFactor, pieces
from chainrule.identification.unknowns import Unknowns

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

BIASED = 5.0
"""Standard deviations between least squares and instrumental variables that noise alone does not explain."""


class TorqueFit:
    """Least squares in base parameters and gains: y = (b, gains), with torques g_k tau_k = known_k + X_k b."""

    def __init__(self, unknowns: Unknowns, recordings: Recordings, tools: Recordings | None) -> None:
        self.unknowns, self.recordings = unknowns, recordings
        of_place = {axis.place: axis.dof.stribeck for axis in axes(unknowns.robot.model)}
        self.speeds = [of_place[velocity] for velocity in unknowns.stribeck]
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
                A = self.equations.rows(own)[velocity]
                at = {b: k for k, b in enumerate(self.equations.of_joint[velocity])}
                rows.append(A[:, [at[b] for b in others]])
                Y = self.equations.with_stribeck(own)[:, velocity]
                levels.append(np.stack([Y[:, a] + Y[:, c] for a, c in pairs], axis=-1))
                speeds.append(own.qd[:, velocity])
                torques.append(own.tau[:, velocity] - A[:, -1])
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
        self.own = self._rows_of_sample()
        self.b = np.asarray(self.equations.B @ self.unknowns.nominal)
        for k in self.unknowns.gains:  # a first guess, from the robot's own numbers
            rows = self.own[k]
            torque = rows.prediction(self.b[self.equations.of_joint[k]], 1.0)
            self.gains[k] = abs(float(torque @ rows.tau)) / max(float(rows.tau @ rows.tau), 1e-300) or 1.0
        for turn in range(MAX_ROUNDS):
            before = [rows.prediction(self.b[own], g) for rows, own, g in self.joints()]
            residuals = [rows.tau - fitted for (rows, _, _), fitted in zip(self.joints(), before, strict=True)]
            self.scale = np.array([float(np.median(np.abs(r))) / NORMAL_MAD if len(r) else 1.0 for r in residuals])
            self.scale = np.maximum(self.scale, [LEAST_NOISE * rms(rows.tau) + 1e-300 for rows in self.own])
            curve = _linear if turn == 0 else _huber if turn < 6 else _tukey
            self.slope = np.array([_slope(curve(r / s)[1]) for r, s in zip(residuals, self.scale, strict=True)])
            for k, (rows, _, _) in enumerate(self.joints()):
                right = self._right_side(k, residuals[k], curve)
                self.sums[k].total = self.sums[k].products(rows.A, right)
            self._step(self.scale * self.gains)
            after = [rows.prediction(self.b[own], g) for rows, own, g in self.joints()]
            change = max(rms(x - y) / s for x, y, s in zip(before, after, self.scale, strict=True))
            if turn > 8 and change < CHANGE:
                break
        self._describe_noise()

    def _rows_of_sample(self) -> list[JointRows]:
        """The equations of each joint in the sample, and sums that are made for rows like these."""
        found: list[list[JointRows]] = [[] for _ in range(self.nv)]
        for piece in self.pieces:
            for k, A in enumerate(self.equations.rows(piece)):
                counts = piece.counts[:, k]
                found[k].append(JointRows(A[counts], piece.tau[counts, k], np.full(int(counts.sum()), piece.motion)))
        own = [JointRows(*map(np.concatenate, zip(*parts, strict=True))) for parts in found]
        self.sums = []
        for rows in own:
            factor = TriangularFactor(rows.A.shape[1])
            factor.add(rows.A)
            self.sums.append(OrthogonalSums(factor.R))
        return own

    def joints(self) -> Iterator[tuple[JointRows, NDArray[np.intp], float]]:
        """Rows of the sample, base parameters and gain of each joint."""
        return zip(self.own, self.equations.of_joint, self.gains.tolist(), strict=True)

    def _right_side(self, k: int, residual: Array, curve: Curve) -> Array:
        """The right side of X db - fitted dg = g noise psi(residual / noise) / psi', for a change of the estimate.

        So outliers are drawn in, and the equations are those of all samples alike.
        """
        return curve(residual / self.scale[k])[0] * (self.gains[k] * self.scale[k] / self.slope[k])

    def _step(self, noise: Array) -> None:
        """Change the estimate as the sums of the joints say."""
        self.factors = []
        for k, (sums, own) in enumerate(zip(self.sums, self.equations.of_joint, strict=True)):
            X, known, right = np.split(sums.factor, [len(own), len(own) + 1], axis=1)
            fitted = (X @ self.b[own, None] + known) / self.gains[k]
            self.factors.append(np.hstack([X, -fitted, right] if k in self.unknowns.gains else [X, right]))
        A, c = self._in_units_of_noise(self.factors, noise)
        whole = TriangularFactor(A.shape[1] + 1)
        whole.add(np.column_stack([A, c]))
        change = least_squares(whole.R[:, :-1], whole.R[:, -1])
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
        for k, (rows, own, gain) in enumerate(self.joints()):
            if not len(rows.tau):
                continue
            r = rows.tau - rows.prediction(self.b[own], gain)
            paid = len(r) / max(len(r) - self.nb * len(own) / columns, 1.0)  # for unknowns
            self.noise[k] = np.sqrt(paid) * rms(r[np.abs(r) < TUKEY * self.scale[k]])
            psi, slope = _tukey(r / self.scale[k])
            runs, inflation = len(psi) // RUN, 1.0
            if runs > 20:
                means = psi[: runs * RUN].reshape(runs, RUN).mean(axis=1)
                inflation = max(self.least_inflation, RUN * float(means.var()) / max(float(psi.var()), 1e-300))
            self.effective[k] = self.scale[k] * gain * np.sqrt(paid * inflation) * rms(psi) / _slope(slope)
            self.effective[k] = max(self.effective[k], LEAST_NOISE * gain * rms(rows.tau), 1e-300)

    def solve_all(self) -> None:
        """The estimate from all samples, by Newton's step from that of the sample."""
        if sum(len(piece.q) for piece in self.pieces) >= self.recordings.findings.samples:
            return
        for _ in range(3):
            before = [rows.prediction(self.b[own], g) for rows, own, g in self.joints()]
            for sums in self.sums:
                sums.total[:] = 0.0
            for stretch in self.recordings.stretches():
                blocks = list(stretch.blocks())
                shares = [
                    (blocks[i :: threads()], [np.zeros_like(sums.total) for sums in self.sums])
                    for i in range(threads())
                ]
                run_all([partial(self._add, *share) for share in shares])
                for _, totals in shares:
                    for sums, total in zip(self.sums, totals, strict=True):
                        sums.total += total
            self._step(self.effective)
            after = [rows.prediction(self.b[own], g) for rows, own, g in self.joints()]
            if max(rms(x - y) / s for x, y, s in zip(before, after, self.scale, strict=True)) < CHANGE_OF_ALL:
                break

    def _add(self, blocks: Sequence[RecordedSamples], totals: Sequence[Array]) -> None:
        """Add what the equations of blocks add to the sums of each joint to totals of this thread's own."""
        with one_thread():
            for block in blocks:
                for k, A in enumerate(self.equations.rows(block)):
                    totals[k][:] += self.sums[k].products(*self._rows(k, A, block))

    def _rows(self, k: int, A: Array, block: RecordedSamples) -> tuple[Array, Array]:
        """The columns and the right side of the equations of one joint in a block, zero where no torque counts."""
        counts = block.counts[:, k]
        own = JointRows(A, block.tau[:, k], counts)
        predicted = own.prediction(self.b[self.equations.of_joint[k]], float(self.gains[k]))
        right = self._right_side(k, own.tau - predicted, _tukey)
        A[~counts], right[~counts] = 0.0, 0.0
        return A, right

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
                Z = self.equations.rows(clean)
                rows = self.equations.rows(block)
                for k, own in enumerate(self.equations.of_joint):
                    A, right = self._rows(k, rows[k], block)
                    z, at, variance = Z[k][:, :-1] * block.counts[:, k, None], np.ix_(own, own), self.effective[k] ** 2
                    ZX[at] += z.T @ A[:, :-1] / variance
                    Zy[own] += z.T @ right / variance
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


Curve = Callable[[Array], tuple[Array, Array]]
"""Psi of residuals in units of the noise, and its slope."""


class JointRows(NamedTuple):
    """The equations of one joint: gain tau = known + X b, and the recording of each row."""

    A: Array
    """X, and known behind it."""
    tau: Array
    motion: NDArray[Any]

    def prediction(self, b: Array, gain: float) -> Array:
        """The torques or currents that base parameters predict, by pieces so small that OpenBLAS takes one thread."""
        factors = np.append(b, 1.0) / gain
        return np.concatenate([(piece @ factors).ravel() for piece in pieces(self.A)])


def rms(x: Array) -> float:
    """Root mean square; 0 of nothing."""
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


def least_squares(A: Array, c: Array) -> Array:
    """Least squares with scaled columns; what has no equation is 0."""
    size = np.linalg.norm(A, axis=0)
    size[size == 0] = 1.0
    return np.asarray(np.linalg.lstsq(A / size, c, rcond=1e-10)[0] / size)
