"""A motion in time: what a simulation returns, and what a recording becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from chainrule import lazy
from chainrule.arguments import Array, file_path, number, one_of, positive, read_only, real_array
from chainrule.calls import explain_once, explains_methods
from chainrule.control.motions.references import Reference
from chainrule.core.at import bind
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import ParameterValues
from chainrule.core.tables import data_array, data_frame
from chainrule.display.text import in_a_line
from chainrule.display.words import RESULTS, called_here, unknown_attribute_of_result
from chainrule.dynamics import energy
from chainrule.dynamics.dynamics import joint_wrenches, torque_terms
from chainrule.errors import ShapeError, UnknownAttributeError, UnknownNameError, import_optional, short_repr
from chainrule.kinematics.configurations import difference, integrate
from chainrule.lazy import cached_property
from chainrule.loops.constraints import residual as constraint_residual
from chainrule.model import Model
from chainrule.model.parameters import put_parameters
from chainrule.simulation.assumptions import Assumption
from chainrule.simulation.columns import COLUMNS, QUANTITIES, MotionArrays, column_names, column_units
from chainrule.simulation.events import EventRecord
from chainrule.simulation.ros_messages import to_messages, write_mcap

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.motion import recorded
    from chainrule.pages import show as pages_show
    from chainrule.plots import motion_planes
    from chainrule.plots import trajectory as trajectory_plots

JOIN_TOLERANCE = 1e-6
"""Distance (rad or m) and difference of velocity at which two motions still meet."""

MAX_SAMPLES = 1e9
"""The number of samples that a trajectory may have."""


@explains_methods
@dataclass(frozen=True, eq=False)
class Trajectory(MotionArrays[Array]):
    """A motion of a robot, or a batch of them, at the times t (T,): arrays of (..., T, n) in SI units.

    Slice it in time like an array, and take one motion of a batch by `row`.

    >>> import chainrule as cr
    >>> swing = cr.load("pendulum").simulate([1.0], [0.0], 2.0)
    >>> swing, swing[:3].t.tolist()
    (<Trajectory of 'pendulum': 2001 samples, 0 to 2 s, rk4, finished>, [0.0, 0.001, 0.002])
    >>> bool(abs(swing.energy - swing.energy[0]).max() < 1e-10)
    True
    """

    status: str = "finished"
    """"finished"; "stopped" by an event; "interrupted" by the user; "diverged"."""
    events: tuple[EventRecord, ...] = field(default=())
    notes: tuple[str, ...] = ()
    """What was assumed about a recording, what was found in it, and how it was smoothed."""
    parameters: Mapping[str, Array] = field(default_factory=dict)
    """Numbers of the robot in place of its own, by name, each (..., count)."""
    assumptions: tuple[Assumption, ...] = ()
    """The table of what in a recording was taken for what, a row (what, value, why) each; `notes` begin with it."""

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} to {self.t[-1]:g} s" if len(self) else "empty"
        return in_a_line(f"{self._begin_repr()}{span}, {self.method}, {self.status}>")

    if not TYPE_CHECKING:  # type checkers know the names

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            if hasattr(type(self.robot), name) and not called_here(name, RESULTS):
                raise UnknownAttributeError(f"a Trajectory has no attribute {name!r}; there is robot.{name}")
            raise unknown_attribute_of_result(self, name)

    def _repr_html_(self) -> str:
        from chainrule.plots.cards import trajectory_card

        return trajectory_card(self)

    @property
    def duration(self) -> float:
        """The time from the first sample to the last, in s."""
        return float(self.t[-1] - self.t[0]) if len(self) else 0.0

    # --- torques, power, energy and constraints ---

    @property
    def _bound(self) -> ParameterValues:
        """The robot's parameters for samples (..., T), none where they are its own."""
        return ParameterValues.of({name: array[..., None, :] for name, array in self.parameters.items()})

    @cached_property
    def terms(self) -> dict[str, Array]:
        """The torques that the motion takes by their causes (..., T, n), as of torque_terms; without wrenches."""
        return torque_terms(bind(self.robot, self._bound), self.q, self.qd, self.qdd)

    def joint_wrenches(
        self,
        tip_wrench: ArrayLike | None = None,
        external: Mapping[str, ArrayLike] | None = None,
        *,
        frame: str = "world",
    ) -> Array:
        """The whole wrench (moment, force) that each joint carries: (..., T, joints, 6), as of robot.joint_wrenches."""
        return joint_wrenches(
            bind(self.robot, self._bound), self.q, self.qd, self.qdd, tip_wrench=tip_wrench, external=external,
            frame=frame,
        )  # fmt: skip

    @cached_property
    def kinetic_energy(self) -> Array:
        """Kinetic energy, in J: (..., T)."""
        return energy.kinetic_energy(bind(self.robot, self._bound), self.q, self.qd)

    @cached_property
    def potential_energy(self) -> Array:
        """Potential energy of gravity and springs, in J: (..., T)."""
        return energy.potential_energy(bind(self.robot, self._bound), self.q)

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
        if isinstance(times, (int, np.integer)):
            one = f"row({times}) is a motion of the batch" if self.batch else f".q[{times}] is a configuration"
            raise ShapeError(f"a trajectory is cut by slices of its samples, such as [100:200]; {one}")
        if (
            not isinstance(times, slice)
            or times.step == 0
            or not all(isinstance(x, (int, np.integer, type(None))) for x in (times.start, times.stop, times.step))
        ):
            named = '; .column("q.JOINT") is one number over time' if isinstance(times, str) else ""
            raise ShapeError(
                f"a trajectory is cut by slices of its samples, such as [100:200], got {times!r:.60}{named}"
            )
        cut = {name: getattr(self, name)[..., times, :] for name in COLUMNS}
        return replace(self, t=self.t[times], **cut)

    def between(self, start: float, end: float) -> Trajectory:
        """The samples from one time to another, in s."""
        ends = number(start, "between: start", "s") - 1e-12, number(end, "between: end", "s") + 1e-12
        first, last = np.searchsorted(self.t, ends)
        return self[int(first) : int(last)]

    def to_pandas(self, columns: str | None = None) -> Any:
        """The motion as a DataFrame of pandas, a row for each sample, its index the time in s.

        With columns "q", "qd", "qdd", "tau" or "friction", that array alone, its columns named as the joints are: such
        a table goes into the functions of a robot by name. Otherwise all of them, as "q.elbow". `attrs["units"]` has
        the unit of each column. Of a batch, take one motion by `row`.
        """
        if self.batch:
            raise ShapeError(f"to_pandas: a batch of shape {self.batch} is no table; take one motion: .row(i)")
        names, units = self._names_and_units()
        if columns is not None:
            chosen = one_of([name for name in names if name in QUANTITIES], columns, "array", "to_pandas")
            table = dict(zip(names[chosen], getattr(self, chosen).T, strict=True))
            return data_frame(table, dict(zip(names[chosen], units[chosen], strict=True)), self.t, "t")
        table = {
            f"{kind}.{name}": x for kind in names for name, x in zip(names[kind], getattr(self, kind).T, strict=True)
        }
        per_column = {f"{kind}.{n}": unit for kind in names for n, unit in zip(names[kind], units[kind], strict=True)}
        return data_frame(table, per_column, self.t, "t")

    def to_xarray(self) -> Any:
        """The motion as a Dataset of xarray: q (..., time, coordinate), qd, qdd, tau and friction (..., time, joint).

        The coordinates "coordinate_unit" and "joint_unit" have units of positions; each variable goes into the
        functions of a robot by name.
        """
        xarray = import_optional("xarray", "to_xarray")
        names, units = self._names_and_units()
        arrays = {}
        for kind in (name for name in names if name in QUANTITIES):
            dimension = "coordinate" if kind == "q" else "joint"
            of = units["q"] if kind == "q" else [v.unit for v in self.robot.model.layout.velocities]
            arrays[kind] = data_array(getattr(self, kind), names[kind], of, dimension, self.t)
        return xarray.Dataset(arrays, attrs={"robot": self.robot.name, "method": self.method})

    def _names_and_units(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """The name and the unit of each column of each array; states of a controller have no unit that is known."""
        layout, states = self.robot.model.layout, self.states.shape[-1]
        return column_names(layout, states), column_units(layout, states)

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
        own = {
            name: np.broadcast_to(array, (*self.batch, array.shape[-1]))[place]
            for name, array in self.parameters.items()
        }
        columns = {name: getattr(self, name)[place] for name in COLUMNS}
        return replace(self, events=events, parameters=own, **columns)

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

    def reference(self) -> Reference:
        """This motion as a controller's target: a curve with its positions, velocities and accelerations.

        It starts at time 0, and stands still after its end.
        """
        if self.batch or len(self) < 2 or self.robot.nq != self.robot.nv:
            raise ShapeError(
                "a reference is made of one motion of at least two samples, of a robot without quaternions; this is "
                f"{self!r}. One motion of a batch is taken by row(...)"
            )
        times = self.t - self.t[0]
        derivatives = np.stack([self.q, self.qd, self.qdd], axis=1)
        pieces = scipy.interpolate.BPoly.from_derivatives(times, derivatives)
        curve = scipy.interpolate.PPoly.from_bernstein_basis(pieces)
        return Reference(read_only(times), read_only(self.q), curve)

    def then(self, other: Trajectory, *, pause: float | None = None) -> Trajectory:
        """This motion and after it another one of the same robot, which starts where and as fast as this one ends.

        The other one's first sample falls on this one's last; with a `pause`, in s, it comes that much later, and the
        robot must rest there.

        >>> import chainrule as cr
        >>> swing = cr.load("pendulum").simulate([1.0], [0.0], 2.0)
        >>> swing[:1001].then(swing[1000:]).duration
        2.0
        """
        if (
            not isinstance(other, Trajectory)
            or other.robot.model.layout.coordinate_names != self.robot.model.layout.coordinate_names
        ):
            raise ShapeError(f"then takes another motion of robot {self.robot.name!r}, got {short_repr(other)}")
        if not _same_parameters(self.parameters, other.parameters):
            raise ShapeError(
                "then joins motions with the same parameters of the robot, and the parameters of these two differ; "
                "keep them apart, or join their arrays"
            )
        if not len(self) or not len(other) or other.batch != self.batch:
            raise ShapeError(f"then joins motions of one batch shape, none of them empty: {self!r} and {other!r}")
        wait = 0.0 if pause is None else positive(pause, "then: pause", "a positive time in s")
        self._refuse_jump(other, rests=pause is not None)
        first = 0 if wait else 1
        t = np.concatenate([self.t, other.t[first:] - other.t[0] + self.t[-1] + wait])
        parts = {name: [getattr(self, name), getattr(other, name)[..., first:, :]] for name in COLUMNS}
        done = self.work[..., -1:, :]
        parts["work"][1] = parts["work"][1] - other.work[..., :1, :] + done
        if parts["states"][0].shape[-1] != parts["states"][1].shape[-1]:
            parts["states"] = [part[..., :0] for part in parts["states"]]
        joined: Any = {name: np.concatenate(both, axis=-2) for name, both in parts.items()}
        later = tuple(replace(event, t=event.t - float(other.t[0] - self.t[-1]) + wait) for event in other.events)
        method = self.method if self.method == other.method else f"{self.method}, {other.method}"
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        rows = tuple(dict.fromkeys((*self.assumptions, *other.assumptions)))
        return replace(
            self, t=t, **joined, method=method, status=other.status, events=self.events + later, notes=notes,
            assumptions=rows,
        )  # fmt: skip

    def _refuse_jump(self, other: Trajectory, *, rests: bool) -> None:
        """Refuse a motion that starts elsewhere or at another velocity than this one ends."""
        gap = np.abs(difference(self.robot, self.q[..., -1, :], other.q[..., 0, :]))
        step = np.abs(other.qd[..., 0, :] - self.qd[..., -1, :])
        moving = np.maximum(np.abs(other.qd[..., 0, :]), np.abs(self.qd[..., -1, :])) if rests else np.zeros(())
        checks = (
            (gap, "starts {:.3g} {} away from where this one ends"),
            (step, "starts {:.3g} {}/s faster or slower than this one ends"),
            (moving, "moves by {:.3g} {}/s at a pause"),
        )
        for size, what in checks:
            if size.max(initial=0.0) > JOIN_TOLERANCE:
                velocity = self.robot.model.layout.velocities[
                    int(np.argmax(size.reshape(-1, size.shape[-1]).max(axis=0)))
                ]
                found = what.format(float(size.max()), velocity.unit)
                raise ShapeError(
                    f"then: {velocity.name!r} {found}; plan a motion between them with cr.plan, or cut them where they "
                    "meet"
                )

    def column(self, name: str) -> Array:
        """One number over time, (..., T), by a name such as "q.joint1", "qd.base.wx" or "work.torque"."""
        kind, _, rest = (name if isinstance(name, str) else "").partition(".")
        names = column_names(self.robot.model.layout, self.states.shape[-1])
        if rest not in names.get(kind, ()):
            known = [f"{key}.{each}" for key, group in names.items() for each in group]
            raise UnknownNameError.of("column", name, known, "this trajectory")
        return np.asarray(getattr(self, kind)[..., names[kind].index(rest)])

    # --- pictures and files ---

    if TYPE_CHECKING:
        plot = trajectory_plots.plot
        plot_torque_terms = motion_planes.plot_torque_terms
        plot_torque_speed = motion_planes.plot_torque_speed
        plot_phase = motion_planes.plot_phase
        show = pages_show.show_motion
        from_samples = staticmethod(recorded.from_samples)
    else:
        plot = lazy.method("chainrule.plots.trajectory", "plot", explain_once)
        plot_torque_terms = lazy.method("chainrule.plots.motion_planes", "plot_torque_terms", explain_once)
        plot_torque_speed = lazy.method("chainrule.plots.motion_planes", "plot_torque_speed", explain_once)
        plot_phase = lazy.method("chainrule.plots.motion_planes", "plot_phase", explain_once)
        show = lazy.method("chainrule.pages.show", "show_motion", explain_once)
        from_samples = lazy.method("chainrule.motion.recorded", "from_samples", staticmethod)

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file: .npz (all of it, the robot included), .parquet (the same), .csv (numbers alone).

        As .mcap it is read by ROS 2: messages of joint states on the topic /joint_states.
        """
        from chainrule.simulation import files

        if file_path(path).suffix.lower() == ".mcap":
            write_mcap(self, path)
            return

        arrays = {name: getattr(self, name) for name in COLUMNS}
        files.save(
            files.StoredMotion(
                self._model_to_save(),
                self.t,
                arrays,
                self.method,
                self.status,
                self.events,
                self.notes,
                self.assumptions,
            ),
            path,
        )

    def to_messages(self, kind: str = "JointState") -> list[dict[str, Any]] | dict[str, Any]:
        """The fields of messages of ROS 2: a list of "JointState", or one "JointTrajectory".

        >>> import chainrule as cr
        >>> motion = cr.load("pendulum").simulate([0.5], None, 0.1)
        >>> motion.to_messages()[100]["header"]["stamp"], motion.to_messages("JointTrajectory")["joint_names"]
        ({'sec': 0, 'nanosec': 100000000}, ['hinge'])
        """
        return to_messages(self, kind)

    def _model_to_save(self) -> Model:
        """The robot's model, with the parameters that it had in this motion."""
        model = self.robot.model
        if not self.parameters:
            return model
        if self.batch:
            raise ShapeError(
                f"save: the robots of this batch of shape {self.batch} differ by their parameters, and a file has one; "
                "save each motion by itself, motion.row(i).save(...)"
            )
        values = [array.tolist() for array in self.parameters.values()]
        return replace(put_parameters(model, tuple(self.parameters), values), geometries=model.geometries)

    @staticmethod
    def load(source: Any, robot: Mechanism | None = None, **recording: Any) -> Trajectory:
        """A motion from a file that `save` wrote, or a recorded one from a table.

        A table is a file of text (.csv, .tsv, .txt, .mot, .sto), .parquet or .npz; a pandas, pyarrow or polars table;
        a dictionary of columns; an array with named fields; a list of ROS's JointState messages, or a JointTrajectory;
        a bag of ROS 1 or 2 or an MCAP file, with the package rosbags; a data set of LeRobot. It needs the
        robot. Columns are found by the names of joints, with or without words such as "position" and units in
        brackets; other options are those of `from_samples`.

        Parameters
        ----------
        source
            The file or table.
        robot
            Whose motion it is; a file that `save` wrote as .npz or .parquet knows it.
        columns
            For each coordinate the name of its column, where the names do not tell.
        tau
            True where the table has measured torques or motor currents, in columns such as "elbow.torque"; or the name
            of the column for each joint.
        time
            The name of the column of times, where the name does not tell.
        rate
            Samples a second, where there is no such column.
        constant
            Coordinates that have no column because they did not move, with their values in rad or m; or the name of a
            configuration, such as "neutral" or "home", in which all those stand that have no column.
        topic
            Of a bag: the topic of joint states or of one joint trajectory, where there are several.
        episode, feature
            Of a data set of LeRobot: the number of the episode, and which positions; "observation.state" unless given.
        degrees, smoothing, cutoff, noise, time_unit, sort, tip_wrench, external, frame
            As of `from_samples`.
        """
        from chainrule.simulation import files

        owner = None if robot is None else _robot_of(robot)
        is_file = isinstance(source, (str, PathLike))
        if is_file and not recording and files.is_own(source):
            return _load_own(source, owner)
        if owner is None:
            raise ShapeError(
                "a recorded motion holds numbers alone: say whose they are, with Trajectory.load(path, robot)"
            )
        from chainrule.motion.files import read_table
        from chainrule.motion.recorded import from_table

        known = [name for name in signature(from_table).parameters if name not in ("robot", "table", "guess")]
        for name in recording:
            one_of((*known, "topic", "episode", "feature"), name, "option", "Trajectory.load")
        which = {name: recording.pop(name, None) for name in ("topic", "episode", "feature")}
        return from_table(owner, read_table(source, **which, degrees=recording.get("degrees")), **recording)


def _robot_of(robot: Any) -> Mechanism:
    if not isinstance(robot, Mechanism):
        raise ShapeError(f"load: robot must be a Robot, got {short_repr(robot)}")
    return robot


def _load_own(path: str | PathLike[str], robot: Mechanism | None) -> Trajectory:
    """The motion in a file that `save` wrote."""
    from chainrule.robot.robot import Robot
    from chainrule.simulation import files

    stored = files.load(path, None if robot is None else robot.model)
    owner = Robot(stored.model) if robot is None else robot
    arrays: Any = stored.arrays
    return Trajectory(
        owner, stored.t, **arrays, method=stored.method, status=stored.status, events=stored.events, notes=stored.notes,
        assumptions=stored.assumptions,
    )  # fmt: skip


def _hermite(s: Array, a: Any, b: Any, va: Array, vb: Array) -> Array:
    """The cubic on 0..1 with values a and b, and slopes va and vb, at its ends."""
    return np.asarray(a + s * (va + s * (3 * (b - a) - 2 * va - vb + s * (2 * (a - b) + va + vb))))


def _same_parameters(one: Mapping[str, Array], other: Mapping[str, Array]) -> bool:
    """Whether two motions have the same parameters of the robot."""
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)
