"""From recordings to a robot that can exist: `cr.identify`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from chainrule import lazy
from chainrule.arguments import Array, flag, positive
from chainrule.calls import explains_arguments
from chainrule.core.mechanism import Mechanism
from chainrule.display.text import Shown, Table
from chainrule.errors import MotionWarning, ShapeError, quoted, short_repr, warn_user
from chainrule.identification.estimate import TUKEY, TorqueFit, least_squares
from chainrule.identification.instruments import SIMULATED, SIMULATIONS, simulated_instruments
from chainrule.identification.physical import nearest_physical
from chainrule.identification.recordings import Motions, Recordings, refuse_other_units
from chainrule.identification.streamed import TriangularFactor
from chainrule.identification.unknowns import GAIN, STRIBECK, Unknowns, read_unknowns
from chainrule.parameters.vector import values
from chainrule.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from chainrule.study.report import identification as page

R = TypeVar("R", bound=Mechanism)

IDENTIFIED = 0.5
"""The standard deviation of a parameter, in units of its size, found or in the file, up to which data identify it."""
VISIBLE = 0.02
"""The share of all torques that a number of which the robot's file says 0 must make, to count as one of a size."""
UNSEEN = 1e-6
"""What is taken, in SI units, of a number of which the file says 0 and the data nothing."""
UNKNOWN = 1e3
"""The standard deviation, in the same units, beyond which data say nothing."""

DISAGREE = 1.5
"""The ratio of residuals of one robot for all recordings to those of one for each, from which recordings differ."""


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
    base_sizes: Array
    """Their sizes in the robot's file, each of its parts a body's: what a deviation is large or small against."""
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


@explains_arguments
def identify(
    robot: R,
    motions: Motions | Sequence[Motions],
    *,
    parameters: str | Sequence[str] = "all",
    validate: Motions | Sequence[Motions] | None = None,
    instruments: Motions | Sequence[Motions] | None = None,
    controller: Any = None,
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
        leaves no bias (instrumental variables). "simulated" makes these simulations here, of a first estimate.
    controller
        With instruments="simulated": the controller of the recordings, or a list with one for each.
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
    if left_out and any(one is other for one in recordings.sources for other in left_out.sources):
        raise ShapeError("identify: validate has a motion of the fit, whose errors say nothing of others; leave it out")
    if instruments == SIMULATED:
        instruments = None
        for _ in range(SIMULATIONS):
            with warnings.catch_warnings(action="ignore", category=MotionWarning):  # they come again
                known = identify(
                    robot, motions, parameters=parameters, instruments=instruments, prior=strength, check=check
                )
            instruments = simulated_instruments(known.robot, recordings, controller)
    elif controller is not None:
        raise ShapeError('identify: controller=... goes with instruments="simulated"')
    tools = None if instruments is None else Recordings(robot, instruments, "instruments", has_dry_friction=False)
    fit = TorqueFit(unknowns, recordings, tools)
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


def _result(fit: TorqueFit, robot: Any, tested: Recordings, prior: float) -> Identification:
    """The nearest physical robot, and how sure it is."""
    unknowns, B = fit.unknowns, fit.equations.B
    A, c = fit.information()
    gains = list(unknowns.gains)
    whole = np.hstack([A[:, : fit.nb] @ B, A[:, fit.nb :]])
    sizes = np.concatenate([_sizes(whole, unknowns), fit.gains[gains]])
    limited = np.concatenate([unknowns.positive, len(unknowns.names) + np.arange(len(gains))])
    u = nearest_physical(whole, c, unknowns.bodies, limited, sizes, prior)
    x, g = u[: len(unknowns.names)], u[len(unknowns.names) :]
    names = [*unknowns.names, *(f"{fit.names[k]}.{GAIN}" for k in gains)]
    scales = np.concatenate([unknowns.scales, np.abs(g)])
    seen = VISIBLE * np.linalg.norm(c) / np.maximum(np.linalg.norm(whole, axis=0), 1e-300)
    scales = np.where(scales > 0, np.maximum(scales, np.abs(u)), np.clip(seen, np.abs(u), 1e6 + np.abs(u)))
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
        new, robot, found, spread, told, unknowns.base_names, base, relative[: fit.nb] * base_sizes, base_sizes,
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


def _errors(fit: TorqueFit, tested: Recordings, base: Array, gains: Array) -> tuple[dict[str, Array], Array]:
    """RMS errors of predicted torques, without outliers, and the share of these."""
    nominal = fit.equations.B @ fit.unknowns.nominal
    candidates = {"original": (nominal, gains), "identified": (base, gains), "least squares": (fit.b, fit.gains)}
    sums = {name: np.zeros(fit.nv) for name in candidates}
    count, all_of_them = np.zeros(fit.nv), np.zeros(fit.nv)
    pieces = fit.pieces if tested is fit.recordings else [b for s in tested.sample() for b in s.blocks()]
    for piece in pieces:
        rows = fit.equations.rows(piece)
        for k, own in enumerate(fit.equations.of_joint):
            counts = piece.counts[:, k]
            predicted = {
                name: (rows[k][:, :-1] @ b[own] + rows[k][:, -1]) / g[k] for name, (b, g) in candidates.items()
            }
            is_in = counts & (np.abs(piece.tau[:, k] - predicted["identified"]) < TUKEY * fit.scale[k])
            is_in = counts if is_in.sum() < 0.5 * counts.sum() else is_in
            all_of_them[k] += counts.sum()
            count[k] += is_in.sum()
            for name, torque in predicted.items():
                sums[name][k] += float(((piece.tau[:, k] - torque)[is_in] ** 2).sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        return {name: np.sqrt(total / count) for name, total in sums.items()}, 1 - count / all_of_them


def _warn(fit: TorqueFit, lost: Sequence[str]) -> None:
    """One warning of all that a user should look at."""
    findings, found = fit.recordings.findings, []
    if findings.still:
        found.append(f"{quoted(findings.still)} stand still: nothing is learnt of their rotors and friction")
    if findings.clipped:
        found.append(
            f"torques of {quoted(findings.clipped)} stay at their largest value: they were clipped, and these samples "
            "are left out"
        )
    disagreement = _disagreement(fit)
    if lost and not disagreement:
        found.append(
            f"the motions do not show {quoted(map(_short, lost), 5)}: these stay near the robot's own numbers; "
            "record a motion that moves more joints at once, faster and farther"
        )
    found += disagreement
    if found:
        warn_user("identify: " + "; ".join(found), MotionWarning)
    fit.warnings = found


def _disagreement(fit: TorqueFit) -> list[str]:
    """Recordings that one robot cannot explain."""
    if len(fit.recordings.sources) < 2 or len(fit.recordings.sources) > 50:
        return []
    worst, where = 0.0, ("", 0)
    for k, (rows, own, gain) in enumerate(fit.joints()):
        for number in np.unique(rows.motion):
            chosen = rows.motion == number
            X, known = np.split(rows.A[chosen], [-1], axis=1)
            y = rows.tau[chosen] * gain - known[:, 0]
            if len(y) < 5 * X.shape[1]:
                continue
            together = y - X @ fit.b[own]
            factor = TriangularFactor(X.shape[1] + 1)
            is_in = np.abs(together) < np.maximum(TUKEY * fit.scale[k] * gain, 3 * np.median(np.abs(together)))
            factor.add(np.column_stack([X, y])[is_in])
            alone = y - X @ least_squares(factor.R[:, :-1], factor.R[:, -1])
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


def _short(name: str) -> str:
    """A combination by its first two parameters."""
    terms = name.split(" + ")
    return " + ".join([*terms[:2], *["..."] * (len(terms) > 2)])


def _notes(fit: TorqueFit, tested: Recordings) -> Iterator[str]:
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
