"""A recorded motion as a trajectory: times cleaned, angles in radians, positions smoothed, torques computed.

Everything that was found or assumed on the way is a note of the trajectory; what a user should look at is a warning
too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainrule.algorithms.loads import WRENCH_FRAMES
from chainrule.arguments import MAX_POSITION, Array, flag, number, one_of, positive, real_array, rows_of
from chainrule.core.derived import has_moving_mass
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_argument, read_wrenches
from chainrule.dynamics.dynamics import friction_torque, inverse_dynamics
from chainrule.errors import MotionWarning, ShapeError, UnknownNameError, quoted, short_repr, warn_user
from chainrule.kinematics import named_states
from chainrule.kinematics.configurations import neutral
from chainrule.motion.angles import report_jumps, report_limits, scale_angles, unwrap
from chainrule.motion.columns import Matched, match_columns, match_torques, stated_factors
from chainrule.motion.differentiation import MIN_SAMPLES, SMOOTHERS, differentiate
from chainrule.motion.findings import Findings, list_places
from chainrule.motion.manifold import normalize, to_velocities
from chainrule.motion.tables import RecordedTable, nanoseconds
from chainrule.motion.times import CleanTimes, clean_times, frame_times, in_seconds, interval_in_seconds, merge_samples
from chainrule.quantities import in_si, is_quantity
from chainrule.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MEASURED = "recorded with torques"
"""The method of a trajectory whose torques were measured, and not computed from its robot's numbers."""


class Smoothing(NamedTuple):
    """The smoothing of positions before they are differentiated."""

    method: str | None
    cutoff: float | None
    """In Hz."""
    noise: Array | None
    """Standard deviation of each coordinate's noise (nq,), in rad or m."""


def from_samples(
    robot: Mechanism,
    t: ArrayLike,
    q: Any,
    *,
    tau: Any = None,
    degrees: bool | None = None,
    smoothing: str | None = "spline",
    cutoff: float | None = None,
    noise: ArrayLike | None = None,
    time_unit: str | None = None,
    sort: bool = False,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
) -> Trajectory:
    """A recorded motion: positions, and from them velocities, accelerations, torques, power and work.

    Positions are smoothed before they are differentiated, and `notes` says how. `assumptions` is the table of what was
    taken for what, with which `notes` begin. Repeated times, gaps, missing numbers, wrapped angles, jumps and positions
    beyond limits are found; they are notes, and one MotionWarning.

    Parameters
    ----------
    robot
        Whose motion it is.
    t
        The time of each sample (T,), in s or as datetime64, at any steps; or the time between two samples. Steps of a
        second or more, or of less than 10 us, need a time_unit.
    q
        Positions (T, nq), or a batch of such motions (..., T, nq); nan where one is missing.
    tau
        Torques that were measured (..., T, nv), in N m or N, or motor currents, which `cr.identify` can take; nan where
        one is missing. They stay as they are. Left out, torques are those that the robot's numbers ask for.
    degrees
        Whether angles are in degrees. Left out, they are radians. Where they leave a full turn and the limits of their
        joints in radians, they are refused; or taken for degrees, with a warning, where nothing else is possible.
    smoothing
        "spline", a quintic smoothing spline; "lowpass", a Butterworth filter run forth and back; None for
        positions without noise. Neither has lag.
    cutoff
        The frequency in Hz above which motion counts as noise. Left out, the spline finds one for each
        coordinate by generalized cross-validation.
    noise
        The standard deviation of positions, in rad or m, one number or (nq,), from which the spline finds it.
    time_unit
        "s", "ms", "us" or "ns".
    sort
        Whether samples may be out of order.
    tip_wrench, external
        As of inverse_dynamics, one wrench (6,) or one for each sample (T, 6).
    frame
        Of these wrenches: "world", about the origin of the link in base axes, as of a force plate; "body", in the
        link's own axes; "space", about the base's origin.

    >>> import numpy as np, chainrule as cr
    >>> t = np.arange(0.0, 4.0, 0.01)
    >>> noise = np.random.default_rng(0).normal(0.0, 0.002, (400, 1))
    >>> motion = cr.Trajectory.from_samples(cr.load("pendulum"), t, np.sin(t)[:, None] + noise)
    >>> bool(abs(motion.qdd[50:-50, 0] + np.sin(t[50:-50])).max() < 0.1)
    True
    """
    if not isinstance(robot, Mechanism):
        raise ShapeError(f"from_samples: robot must be a Robot, got {short_repr(robot)}")
    samples = _read_positions(robot, q)
    said = None if degrees is None else flag(degrees, "degrees")
    if is_quantity(q):
        if said is not None:
            raise ShapeError("from_samples: q has units of its own; leave out degrees=...")
        said = False
    findings = Findings()
    times = _read_times(t, samples.shape[-2], time_unit, findings)
    coordinates = robot.model.layout.coordinates
    stated = stated_factors(coordinates, [c.name for c in coordinates], {}, said)
    factors = scale_angles(samples, coordinates, stated, findings)
    if said is not None:
        findings.assume("unit of angles", "deg" if said else "rad", "as stated")
    return _build(
        robot,
        clean_times(times, findings, sort=flag(sort, "sort")),
        samples * factors,
        read_smoothing(robot, smoothing, cutoff, noise),
        findings,
        tip_wrench,
        external,
        frame,
        None if tau is None else _read_torques(robot, tau, samples.shape[:-1]),
    )


def from_table(
    robot: Mechanism,
    table: RecordedTable,
    *,
    columns: Mapping[str, str] | None = None,
    tau: Mapping[str, str] | bool = False,
    time: str | None = None,
    rate: float | None = None,
    constant: Mapping[str, float] | str | None = None,
    degrees: bool | None = None,
    smoothing: str | None = "spline",
    cutoff: float | None = None,
    noise: ArrayLike | None = None,
    time_unit: str | None = None,
    sort: bool = False,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
    guess: bool = True,
) -> Trajectory:
    """The trajectory of a recorded table; see `Trajectory.load`.

    guess: whether angles may be taken for degrees that nobody has stated.
    """
    findings = Findings(list(table.assumptions))
    held = {} if isinstance(constant, str) else _read_constants(robot, constant)
    posture = _posture(robot, constant) if isinstance(constant, str) else None
    of_torque = {} if tau is False else match_torques(
        table.columns, robot.model.layout, tau if isinstance(tau, Mapping) else {}, table.units, findings
    )  # fmt: skip
    torques = np.stack([table.columns[title] * x for title, x in of_torque.items()], axis=-1) if of_torque else None
    matched = match_columns(
        [title for title in table.columns if title not in of_torque], robot.model.layout, findings,
        columns=columns, time=time, units=table.units, constant=held,
        others_stand=posture is not None, left_out=table.left_out,
    )  # fmt: skip
    if posture is not None:
        held = {
            c.name: float(posture[c.index]) for c in robot.model.layout.coordinates if c.name not in matched.coordinates
        }
    times = _table_times(table, matched, time, rate, time_unit, findings)
    recorded = [c for c in robot.model.layout.coordinates if c.name not in held]
    titles = [matched.coordinates[c.name] for c in recorded]
    general = _general_degrees(table, degrees)
    if general is not None:
        who = "as the recording says" if degrees is None else "as degrees=... says"
        findings.assume("unit of angles", "deg" if general else "rad", who)
    stated = stated_factors(recorded, titles, matched.units, general)
    y = np.stack([table.columns[title] for title in titles], axis=-1) if titles else np.empty((len(table), 0))
    factors = scale_angles(y, recorded, stated, findings, guess=guess)
    samples = np.empty((len(table), robot.nq))
    for k, (c, title) in enumerate(zip(recorded, titles, strict=True)):
        samples[:, c.index] = y[:, k] * factors[k]
        unit = matched.units[title] or c.unit
        if c.unit == "rad" and not matched.units[title]:
            unit = "rad" if factors[k] == 1.0 else "deg"
        findings.assume(c.name, f"column {title!r}" + ("" if unit == "1" else f" in {unit}"), matched.reasons[c.name])
    for c in robot.model.layout.coordinates:
        if c.name in held:
            samples[:, c.index] = held[c.name]
            findings.assume(c.name, f"{held[c.name]:g} {c.unit}", "as constant=... says")
    return _build(
        robot,
        clean_times(times, findings, sort=flag(sort, "sort")),
        samples,
        read_smoothing(robot, smoothing, cutoff, noise),
        findings,
        tip_wrench,
        external,
        frame,
        torques,
    )


def _table_times(
    table: RecordedTable, matched: Matched, time: str | None, rate: float | None, time_unit: Any, findings: Findings
) -> Array:
    """The times of a table's samples, in s."""
    per_second = None if rate is None else positive(rate, "rate", "a positive number of samples a second")
    if matched.time is None:
        if per_second is None:
            raise ShapeError(
                f"the recording has no column of times; its columns are {quoted(table.columns)}. Say which, with "
                "time=..., or give the samples per second, with rate=..."
            )
        findings.assume("times", f"{per_second:g} samples a second", "as rate=... says")
        return np.arange(len(table)) / per_second
    column = table.columns[matched.time]
    if per_second is not None:
        return frame_times(column, per_second, matched.time, findings)
    findings.assume("times", f"column {matched.time!r}", "by its name" if time is None else "as time=... says")
    return in_seconds(column, matched.units[matched.time], time_unit, findings)


def _general_degrees(table: RecordedTable, degrees: Any) -> bool | None:
    """Whether all angles are in degrees, as a user or the header of a file says."""
    if degrees is None:
        return table.degrees
    said = flag(degrees, "degrees")
    if table.degrees is not None and table.degrees is not said:
        header = f"inDegrees={'yes' if table.degrees else 'no'}"
        raise ShapeError(f"the recording says {header}, and degrees={said} says the opposite; leave out degrees=...")
    return said


def read_smoothing(robot: Mechanism, method: Any, cutoff: Any, noise: Any) -> Smoothing:
    """The smoothing that a user asks for, checked."""
    if method is not None and (not isinstance(method, str) or method not in SMOOTHERS):
        raise UnknownNameError.of("smoothing", method, [str(name) for name in SMOOTHERS], "a recorded motion")
    frequency = None if cutoff is None else positive(cutoff, "cutoff", "a positive frequency in Hz")
    if noise is None:
        return Smoothing(method, frequency, None)
    sigma = real_array(noise, "noise").astype(float)
    if sigma.shape not in {(), (robot.nq,)} or not (np.isfinite(sigma) & (sigma > 0)).all():
        raise ShapeError(
            f"noise must be a positive standard deviation, or {robot.nq} of them, in rad or m, got {short_repr(noise)}"
        )
    return Smoothing(method, frequency, np.broadcast_to(sigma, (robot.nq,)))


def _read_positions(robot: Mechanism, q: Any) -> Array:
    """Positions (..., T, nq)."""
    samples = read_argument(robot, "from_samples", "q", q).astype(float)
    if samples.ndim < 2:
        raise ShapeError(f"from_samples: q must have a row for each sample, (T, {robot.nq}), got shape {samples.shape}")
    if 0 in samples.shape[:-2]:
        raise ShapeError(f"from_samples: q of shape {samples.shape} holds no motion")
    return samples


def _read_torques(robot: Mechanism, tau: Any, shape: tuple[int, ...]) -> Array:
    """Measured torques (..., T, nv)."""
    torques = read_argument(robot, "from_samples", "tau", tau).astype(float)
    if torques.shape[:-1] != shape:
        raise ShapeError(
            f"from_samples: tau must have a row for each sample of q, {(*shape, robot.nv)}, got shape {torques.shape}"
        )
    return torques


def _read_times(t: Any, count: int, unit: str | None, findings: Findings) -> Array:
    """Times in s (T,), from as many, or from the interval between two samples."""
    if is_quantity(t):
        t, unit = in_si(t, "s", "from_samples: t"), "s"
    kind = getattr(getattr(t, "dtype", None), "kind", "O")
    values: Any = np.asarray(t) if kind in "imM" else real_array(t, "t")
    if kind in "mM":
        values, unit = nanoseconds(np.atleast_1d(values)), "ns"
    if values.ndim == 0:
        step = positive(t, "t", "the time between two samples, in s")
        return interval_in_seconds(step, unit, findings) * np.arange(count, dtype=np.float64)
    if values.shape != (count,):
        raise ShapeError(
            f"from_samples: t must have a time for each of the {count} samples of q, or be the time between two of "
            f"them, got shape {values.shape}"
        )
    return in_seconds(values, None, unit, findings)


def _posture(robot: Mechanism, name: str) -> Array:
    """The configuration in which coordinates without a column stand: the neutral one, or one with a name."""
    return neutral(robot) if name == "neutral" else named_states.q(robot, name)


def _read_constants(robot: Mechanism, constant: Mapping[str, float] | None) -> dict[str, float]:
    """Coordinates that do not move, in rad or m."""
    if constant is None:
        return {}
    if not isinstance(constant, Mapping):
        raise ShapeError(
            "constant must be a dictionary of coordinates and numbers, or a configuration's name, got "
            f"{short_repr(constant)}"
        )
    units = dict(zip(robot.model.layout.coordinate_names, robot.model.layout.units_of("position"), strict=True))
    for name in constant:
        if name not in robot.model.layout.coordinate_names:
            raise UnknownNameError.of("coordinate", name, robot.model.layout.coordinate_names, f"robot {robot.name!r}")
    return {name: number(value, f"constant[{name!r}]", units[name]) for name, value in constant.items()}


def _build(
    robot: Mechanism,
    times: CleanTimes,
    samples: Array,
    smoothing: Smoothing,
    findings: Findings,
    tip_wrench: ArrayLike | None,
    external: Mapping[str, ArrayLike] | None,
    frame: str,
    measured: Array | None = None,
) -> Trajectory:
    batch, count = samples.shape[:-2], samples.shape[-2]
    if len(times.t) < MIN_SAMPLES:
        raise ShapeError(
            f"a recorded motion needs at least {MIN_SAMPLES} samples at different times, got {len(times.t)}"
        )
    flat = samples.reshape(-1, count, robot.nq)
    if (np.abs(flat) > MAX_POSITION).any():
        raise ShapeError(
            f"a position is {np.nanmax(np.abs(flat)):g}; leave out samples that are none, or set them to nan"
        )
    motions = []
    for i, rows in enumerate(flat):
        own = findings if len(flat) == 1 else Findings()
        motions.append(_smooth_motion(robot, times, rows, smoothing, own))
        if own is not findings:
            findings.assumed += [f"motion {i}: {remark}" for remark in own.assumed]
            findings.stated += [remark for remark in own.stated if remark not in findings.stated]
    q, qd, qdd = (np.stack(parts).reshape((*batch, len(times.t), -1)) for parts in zip(*motions, strict=True))
    loads = _merge_loads(robot, times, count, tip_wrench, external, frame)
    if measured is not None:
        findings.assume("torques", "as measured", "tau=... gives them")
        measured = np.stack([merge_samples(rows, times) for rows in measured.reshape(-1, count, robot.nv)])
        measured = measured.reshape(qd.shape)
    tau, friction, work = _torques(robot, times.t, q, qd, qdd, loads, findings, measured)
    if findings.doubts:
        warn_user(f"recorded motion of robot {robot.name!r}: " + "; ".join(findings.doubts), MotionWarning)
    states = np.zeros((*q.shape[:-1], 0))
    return Trajectory(
        robot, times.t, q, qd, qdd, tau, friction, work, states, "recorded" if measured is None else MEASURED,
        "finished", (), tuple(findings),
        assumptions=tuple(findings.table),
    )  # fmt: skip


def _smooth_motion(
    robot: Mechanism,
    times: CleanTimes,
    samples: Array,
    smoothing: Smoothing,
    findings: Findings,
) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations of one motion."""
    layout = robot.model.layout
    y = normalize(unwrap(samples[times.order], layout, findings), layout)
    y = merge_samples(y, CleanTimes(times.t, np.arange(len(y)), times.groups))
    _report_missing(times.t, y, layout.coordinate_names, findings)
    report_jumps(times.t, y, layout, findings)
    report_limits(y, layout, findings)
    smooth = differentiate(times.t, y, smoothing.method, smoothing.cutoff, smoothing.noise)
    findings.stated.append(smooth.statement)
    return to_velocities(smooth.y, smooth.rate, smooth.second, layout)


def _report_missing(t: Array, y: Array, names: tuple[str, ...], findings: Findings) -> None:
    """Report samples without a number; refuse coordinates with too few of them."""
    lost = ~np.isfinite(y)
    y[lost] = np.nan
    places = []
    for k in np.flatnonzero(lost.any(axis=0)):
        here = np.flatnonzero(lost[:, k])
        if len(t) - len(here) < MIN_SAMPLES:
            raise ShapeError(
                f"{names[k]!r} has numbers in only {len(t) - len(here)} of {len(t)} samples; leave it constant"
            )
        places.append(f"{names[k]!r} ({len(here)} samples from {t[here[0]]:.6g} to {t[here[-1]]:.6g} s)")
    if places:
        findings.assumed.append(f"missing numbers are put on the smooth curve: {list_places(places)}")


class RecordedWrenches(NamedTuple):
    """Wrenches along a motion."""

    tip_wrench: Array | None
    wrenches: dict[str, Array] | None
    frame: str
    """Their axes: "body" or "world"."""

    def __bool__(self) -> bool:
        return self.tip_wrench is not None or bool(self.wrenches)


def _merge_loads(
    robot: Mechanism, times: CleanTimes, count: int, tip_wrench: Any, external: Any, frame: str
) -> RecordedWrenches:
    """Wrenches (6,), or one for each sample, which go with the samples where those were sorted or merged."""

    def merge(value: Any, what: str) -> Array:
        array = rows_of(value, 6, what, "moment and force").astype(float)
        if array.ndim == 2 and len(array) == count:
            return merge_samples(array, times)
        if array.ndim > 1 and array.shape[-2] != count:
            raise ShapeError(
                f"{what} must be one wrench (6,) or one for each of the {count} samples, got shape {array.shape}"
            )
        return array

    read_wrenches(robot, "from_samples", tip_wrench, external)  # refuses links that do not exist
    tip = None if tip_wrench is None else merge(tip_wrench, "tip_wrench")
    on_links = None if external is None else {k: merge(w, f"external[{k!r}]") for k, w in external.items()}
    return RecordedWrenches(tip, on_links, one_of(WRENCH_FRAMES, frame, "frame"))


def _torques(
    robot: Mechanism,
    t: Array,
    q: Array,
    qd: Array,
    qdd: Array,
    loads: RecordedWrenches,
    findings: Findings,
    measured: Array | None,
) -> tuple[Array, Array, Array]:
    """Torques that were measured, or that the motion takes; those of friction; the work of both and of wrenches."""
    if measured is None and not has_moving_mass(robot):
        findings.stated.append(f"robot {robot.name!r} has no masses: the torques are not known")
        unknown = np.full_like(qd, np.nan)
        return unknown, unknown, np.full((*qd.shape[:-1], 3), np.nan)
    tau = inverse_dynamics(robot, q, qd, qdd)
    bare = tau
    if loads:
        tau = inverse_dynamics(
            robot, q, qd, qdd, tip_wrench=loads.tip_wrench, external=loads.wrenches, frame=loads.frame
        )
    friction = np.broadcast_to(
        friction_torque(robot, qd, q if robot.model.friction_depends_on_position else None), qd.shape
    )
    applied = tau if measured is None else np.nan_to_num(measured)
    power = np.stack([(torque * qd).sum(axis=-1) for torque in (applied, friction, bare - tau)], axis=-1)
    steps = np.diff(t)[:, None] * (power[..., 1:, :] + power[..., :-1, :]) / 2
    work = np.concatenate([np.zeros_like(power[..., :1, :]), np.cumsum(steps, axis=-2)], axis=-2)
    return tau if measured is None else measured, friction, work
