"""`cr.calibrate`: lengths, offsets of joints, base and tool frames of a robot from measured poses or points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from chainrule.arguments import Array, real_array
from chainrule.calibration.least_squares import fit
from chainrule.calibration.measurements import BASE, Guess, Measurements, identifiable
from chainrule.calibration.request import ALL, first_guess, refuse_other_frames, refuse_too_few, request
from chainrule.calls import explains_arguments
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import edited_model
from chainrule.display.text import Shown, Table
from chainrule.errors import ModelWarning, ShapeError, quoted, short_repr, warn_user

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

R = TypeVar("R", bound=Mechanism)


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Shown, Generic[R]):
    """A robot that fits measured poses, and what is known of its numbers. Made by `cr.calibrate`."""

    robot: R
    """The corrected robot."""
    parameters: Mapping[str, float]
    """The numbers found, by name; those of "base" are turns (rx, ry, rz: its rotation vector) and the place."""
    before: Mapping[str, float]
    """What they were."""
    standard_deviations: Mapping[str, float]
    """Of the numbers found, from the scatter of the errors."""
    covariance: Array = field(repr=False)
    """Of the numbers found, in their order (n, n)."""
    not_identifiable: Mapping[str, str]
    """Numbers that were asked for and that these measurements do not determine, and why. They stay as they were."""
    base: Array
    """The pose of the robot's base in the frame of the measurements (4, 4)."""
    fixture: Array | None
    """The pose (4, 4) of what the tip touched, a plane being across its z axis; None where poses were measured."""
    deviations: Mapping[str, float]
    """Standard deviations of the measurements in each direction: "position" in m, "orientation" in rad."""
    errors_before: Mapping[str, float]
    """Errors (rms) of the robot as it was: "position" in m, "orientation" in rad."""
    errors: Mapping[str, float]
    """Errors (rms) of the corrected robot, without the outliers."""
    outliers: tuple[int, ...]
    """Measurements that do not fit and were left out, by their row in q."""
    residuals: Array = field(repr=False)
    """What remains of each measurement (k, m): turn (rad), displacement (m), as far as the task has them."""

    @property
    def correlations(self) -> Array:
        """Correlations of the errors of the numbers found (n, n)."""
        d = np.sqrt(np.diag(self.covariance))
        return np.asarray(self.covariance / np.outer(d, d))

    def _view(self) -> Iterator[str | Table]:
        yield f"{len(self.parameters)} numbers from {len(self.residuals)} measurements" + (
            f"; left out: {', '.join(map(str, self.outliers))}" if self.outliers else ""
        )
        for what, unit in (("position", "m"), ("orientation", "rad")):
            if what in self.errors:
                before, after = self.errors_before[what], self.errors[what]
                yield f"{what}: {before:.3g} {unit} (rms) before, {after:.3g} {unit} after"
        rows = [
            (name, self.before[name], x, x - self.before[name], self.standard_deviations[name])
            for name, x in self.parameters.items()
        ]
        yield Table(("number", "before", "after", "change", "s.d."), rows)
        for name, why in self.not_identifiable.items():
            yield f"not found: {name}: {why}"


@explains_arguments
def calibrate(
    robot: R,
    q: ArrayLike,
    measured: ArrayLike | None = None,
    parameters: Sequence[str] | str = ALL,
    *,
    link: str | Sequence[str] | None = None,
    task: str | None = None,
    base: ArrayLike | None = None,
    touching: str | None = None,
    deviation: float | tuple[float, float] | None = None,
) -> Calibration[R]:
    """Lengths, joint offsets, base and tool frames that fit measured poses or points, with their standard deviations.

    Least squares with exact derivatives. Measurements that do not fit are found and left out, and numbers that the
    measurements do not determine stay as they are, and are named.

    Parameters
    ----------
    robot
        The robot as it is thought to be.
    q
        The readings of its joints, a configuration for each measurement (k, nq).
    measured
        Poses of a link or frame (k, 4, 4), from a camera; or points (k, 3), from a laser tracker, in m. Of several
        links, points (k, links, 3).
    parameters
        Names of numbers: "joint2.offset", "link2.length", "elbow.origin", "tool.pose", "elbow.origin.z"; "base", the
        place of the robot in the frame of the measurements; "all", origin and turn of the frame, and of each joint on
        the way.
    link
        The link or frame that was measured, or several; the end-effector unless one is named.
    task
        What counts of measured poses: "pose", "position" or "orientation".
    base
        The pose of the robot's base in the frame of the measurements. With "base" among the parameters it is where the
        search begins, which else is found from the points.
    touching
        In place of measurements: the tip is at one unknown "point" in all configurations, or on one "plane", or is held
        in one "pose", so that the arm is a closed chain.
    deviation
        Standard deviations of the measurements, if they are known: of positions in m, or of positions and orientations
        (m, rad). They follow from the errors that remain if left out.

    Returns
    -------
    Calibration
        `robot` is the corrected robot.

    Examples
    --------
    >>> import numpy as np
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> real = arm.edit({"link1.length": 1.02, "joint2.offset": 0.05})
    >>> q = arm.random_state(np.random.default_rng(0), 20)
    >>> fitted = cr.calibrate(arm, q, real.pose(q), parameters=["link1.length", "joint2.offset"])
    >>> {name: round(x, 6) for name, x in fitted.parameters.items()}
    {'link1.length': 1.02, 'joint2.offset': 0.05}
    """
    data, asked = request(robot, q, measured, parameters, link, task, touching)
    start = first_guess(data, base, BASE in asked)
    labels = data.labels
    columns, left_out = identifiable(data, start, BASE in asked)
    refuse_too_few(data, len(columns))

    def evaluate(x: Guess) -> tuple[Array, Array]:
        r, J = data.errors(x)
        return r, J[..., columns]

    def step(x: Guess, d: Array) -> Guess:
        whole = np.zeros(data.columns)
        whole[columns] = d
        return data.step(x, whole)

    best = fit(evaluate, step, start, data.kinds, _given_deviations(deviation, data))
    refuse_other_frames(data, best.x, best.residuals, BASE in asked)
    missing = [name for name in left_out if name.startswith(tuple(asked))]
    if missing:
        warn_user(
            f"calibrate: these measurements do not determine {quoted(missing)}; fitted.not_identifiable says why",
            ModelWarning,
        )
    places = {labels[column]: i for i, column in enumerate(columns) if column < len(labels)}
    covariance = best.covariance[np.ix_([*places.values()], [*places.values()])]
    before, after = (dict(zip(labels, data.numbers(x), strict=True)) for x in (start, best.x))
    return Calibration(
        type(robot)(edited_model(robot.model, "calibrate", data.by_name(best.x.values))) if data.names else robot,
        {name: after[name] for name in places},
        {name: before[name] for name in places},
        dict(zip(places, np.sqrt(np.diag(covariance)).tolist(), strict=True)),
        covariance,
        left_out,
        best.x.base,
        best.x.fixture if touching else None,
        dict(zip(data.kind_names, best.deviations.tolist(), strict=True)),
        data.rms(data.errors(start)[0]),
        data.rms(best.residuals[~best.outliers]),
        tuple(sorted({row // len(data.links) for row in np.flatnonzero(best.outliers).tolist()})),
        best.residuals,
    )


def _given_deviations(deviation: Any, data: Measurements) -> Array | None:
    """The standard deviation of each kind of error, where they are given."""
    if deviation is None:
        return None
    given = real_array(deviation, "calibrate: deviation").reshape(-1)
    if len(given) != len(data.kind_names) or not (np.isfinite(given) & (given > 0)).all():
        raise ShapeError(
            f"calibrate: deviation must be {len(data.kind_names)} positive numbers, of {' and '.join(data.kind_names)}"
            f", got {short_repr(deviation)}"
        )
    return given.astype(float)
