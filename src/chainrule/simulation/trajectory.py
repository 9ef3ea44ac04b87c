"""A motion in time: what a simulation returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, number, real_array
from chainrule.core.mechanism import Mechanism
from chainrule.dynamics import energy
from chainrule.errors import ShapeError, UnknownNameError, short_repr
from chainrule.kinematics.configurations import difference, integrate
from chainrule.lazy import cached_property
from chainrule.loops.closure import constraint_residual
from chainrule.simulation.columns import COLUMNS, column_names, numbered_column_names
from chainrule.simulation.events import EventRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

Happened = EventRecord

MAX_SAMPLES = 1e9
"""The number of samples that a trajectory may have."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion of a robot, or a batch of them, at the times t (T,): arrays of (..., T, n) in SI units.

    Slice it in time like an array, and take one motion of a batch by `row`.

    >>> import chainrule as cr
    >>> swing = cr.load("pendulum").simulate([1.0], [0.0], 2.0)
    >>> swing, swing[:3].t.tolist()
    (<Trajectory of 'pendulum': 2001 samples, 0 to 2 s, rk4, finished>, [0.0, 0.001, 0.002])
    >>> bool(abs(swing.energy - swing.energy[0]).max() < 1e-10)
    True
    """

    robot: Mechanism
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    """Torques applied, after saturation."""
    friction: Array
    """Torques that friction and stops take, at rest too, so that tau - friction is what moves the links."""
    work: Array
    """Work since the start, in J: done by torques, taken by friction and stops, done by wrenches. (..., T, 3)."""
    states: Array
    """The states of a controller."""
    method: str = "rk4"
    """The name of the integrator."""
    status: str = "finished"
    """"finished"; "stopped" by an event; "interrupted" by the user; "diverged"."""
    events: tuple[EventRecord, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        many = f"{self.batch} motions of " if self.batch else ""
        span = f"{self.t[0]:g} to {self.t[-1]:g} s" if len(self) else "empty"
        return f"<Trajectory of {many}{self.robot.name!r}: {len(self)} samples, {span}, {self.method}, {self.status}>"

    @property
    def batch(self) -> tuple[int, ...]:
        """The shape of the batch, () for one motion."""
        return self.q.shape[:-2]

    @property
    def duration(self) -> float:
        """The time from the first sample to the last, in s."""
        return float(self.t[-1] - self.t[0]) if len(self) else 0.0

    # --- energy and constraints ---

    @cached_property
    def kinetic_energy(self) -> Array:
        """Kinetic energy, in J: (..., T)."""
        return energy.kinetic_energy(self.robot, self.q, self.qd)

    @cached_property
    def potential_energy(self) -> Array:
        """Potential energy of gravity and springs, in J: (..., T)."""
        return energy.potential_energy(self.robot, self.q)

    @property
    def energy(self) -> Array:
        """Sum of kinetic and potential energy, in J: (..., T)."""
        return self.kinetic_energy + self.potential_energy

    @property
    def energy_error(self) -> Array:
        """Energy that came from nowhere, in J: the gain since the start less the work done. Impacts show as losses."""
        work = self.work - self.work[..., :1, :]
        gain = self.energy - self.energy[..., :1]
        return np.asarray(gain - work[..., 0] + work[..., 1] - work[..., 2])

    @cached_property
    def constraint_residual(self) -> Array:
        """Residuals of the loop equations, in m and without unit: (..., T, equations); empty for a tree."""
        if not self.robot.model.constraints:
            return np.zeros((*self.q.shape[:-1], 0))
        return constraint_residual(self.robot, self.q)

    # --- parts ---

    def __getitem__(self, times: slice) -> Trajectory:
        if (
            not isinstance(times, slice)
            or times.step == 0
            or not all(isinstance(x, (int, np.integer, type(None))) for x in (times.start, times.stop, times.step))
        ):
            raise ShapeError(f"a trajectory is cut by slices of its samples, such as [100:200], got {times!r:.60}")
        cut = {name: getattr(self, name)[..., times, :] for name in COLUMNS}
        return replace(self, t=self.t[times], **cut)

    def between(self, start: float, end: float) -> Trajectory:
        """The samples from one time to another, in s."""
        ends = number(start, "between: start", "s") - 1e-12, number(end, "between: end", "s") + 1e-12
        first, last = np.searchsorted(self.t, ends)
        return self[int(first) : int(last)]

    def row(self, *index: int) -> Trajectory:
        """One motion of a batch, and the events in it."""
        if len(index) != len(self.batch):
            raise ShapeError(f"this trajectory has a batch of shape {self.batch}; row takes {len(self.batch)} indices")
        try:
            place = np.unravel_index(
                int(np.arange(np.prod(self.batch, dtype=int)).reshape(self.batch)[index]), self.batch
            )
        except (IndexError, TypeError):
            raise ShapeError(f"row {index} is outside the batch of shape {self.batch}") from None
        events = tuple(replace(event, row=()) for event in self.events if event.row == place)
        return replace(self, events=events, **{name: getattr(self, name)[place] for name in COLUMNS})

    def resample(self, times: ArrayLike) -> Trajectory:
        """The motion at other times within its span: an array, or the interval between samples, in s.

        Between samples q follows the cubic that has their positions and velocities, qd the one that has their
        velocities and accelerations; the rest is linear.
        """
        given = real_array(times, "resample: times", "s")
        if given.ndim == 0 and given > 0 and len(self):
            if self.duration / given > MAX_SAMPLES:
                raise ShapeError(f"resample: {self.duration / given:.3g} samples are too many; take a longer step")
            given = self.t[0] + np.arange(int(np.floor(self.duration / given * (1 + 1e-12))) + 1) * given
        if given.ndim != 1 or not len(self) or not ((given >= self.t[0] - 1e-9) & (given <= self.t[-1] + 1e-9)).all():
            span = f"{self.t[0]:g} to {self.t[-1]:g} s" if len(self) else "empty"
            raise ShapeError(f"resample takes a step, or times within the trajectory ({span}), got {times!r:.60}")
        k = np.clip(np.searchsorted(self.t, given, side="right") - 1, 0, max(len(self) - 2, 0))
        after = np.minimum(k + 1, len(self) - 1)
        h = np.maximum(self.t[after] - self.t[k], 1e-300)[:, None]
        s = np.clip((given - self.t[k])[:, None] / h, 0.0, 1.0)
        ends = {name: (getattr(self, name)[..., k, :], getattr(self, name)[..., after, :]) for name in COLUMNS}
        rates, accelerations = ([h * a for a in ends[name]] for name in ("qd", "qdd"))
        along = _hermite(s, 0.0, difference(self.robot, *ends["q"]), *rates)
        new = {name: first * (1 - s) + second * s for name, (first, second) in ends.items()}
        new |= {"q": integrate(self.robot, ends["q"][0], along), "qd": _hermite(s, *ends["qd"], *accelerations)}
        return replace(self, t=given, **new)

    def column(self, name: str) -> Array:
        """One number over time, (..., T), by a name such as "q.joint1", "qd.base.wx" or "work.torque"."""
        kind, _, rest = (name if isinstance(name, str) else "").partition(".")
        layout, states = self.robot.layout, self.states.shape[-1]
        for names in (column_names(layout, states), numbered_column_names(layout, states)):
            if kind in names and rest in names[kind]:
                return np.asarray(getattr(self, kind)[..., names[kind].index(rest)])
        known = [f"{key}.{each}" for key, group in column_names(layout, states).items() for each in group]
        raise UnknownNameError.of("column", name, known, "this trajectory")

    # --- pictures and files ---

    def plot(self, path: str | PathLike[str] | None = None, *, joints: list[str] | None = None) -> Figure:
        """A figure of positions, velocities, torques and energies over time; written to a file if a path is given."""
        from chainrule.plots.trajectory import figure

        return figure(self, path, joints)

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file: .npz (all of it, the robot included), .parquet (the same) or .csv (numbers alone)."""
        from chainrule.simulation import files

        arrays = {name: getattr(self, name) for name in COLUMNS}
        files.save(files.StoredMotion(self.robot.model, self.t, arrays, self.method, self.status, self.events), path)

    @staticmethod
    def load(path: str | PathLike[str], robot: Mechanism | None = None) -> Trajectory:
        """Read a file that `save` wrote; a .csv file needs the robot."""
        from chainrule.robot.robot import Robot
        from chainrule.simulation import files

        if robot is not None and not isinstance(robot, Mechanism):
            raise ShapeError(f"load: robot must be a Robot, got {short_repr(robot)}")
        stored = files.load(path, None if robot is None else robot.model)
        owner = Robot(stored.model) if robot is None else robot
        arrays: Any = stored.arrays
        return Trajectory(owner, stored.t, **arrays, method=stored.method, status=stored.status, events=stored.events)


def _hermite(s: Array, a: Any, b: Any, va: Array, vb: Array) -> Array:
    """The cubic on 0..1 with values a and b, and slopes va and vb, at its ends."""
    return np.asarray(a + s * (va + s * (3 * (b - a) - 2 * va - vb + s * (2 * (a - b) + va + vb))))
