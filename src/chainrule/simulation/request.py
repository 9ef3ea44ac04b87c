"""What a user asks to be simulated, checked, and the plant, the states and the parameters that follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from chainrule.arguments import (
    WRENCH_UNITS,
    Array,
    flag,
    one_of,
    positive,
    real_array,
    refuse_nonfinite,
    rows_of,
)
from chainrule.core.closure import closure_of
from chainrule.core.derived import driven_velocities, fingerprint, merged_fingerprint, merged_model
from chainrule.core.dimensions import match_dimensions, refuse_named_batch
from chainrule.core.evaluation import evaluate
from chainrule.core.joint_names import values_by_name
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import NO_PARAMETERS, ParameterValues
from chainrule.core.plausibility import degrees_hint, warn_of_degrees
from chainrule.core.rank import NEW_PART_TOLERANCE
from chainrule.core.reading import find_link, read_argument, read_joints
from chainrule.errors import ShapeError, SimulationWarning, short_repr, warn_user
from chainrule.lazy import cached_property
from chainrule.loops.constraints import close
from chainrule.loops.constraints import jacobian as constraint_jacobian
from chainrule.loops.constraints import velocity_terms as constraint_velocity_terms
from chainrule.loops.mobility import refuse_immobile
from chainrule.loops.motion import consistent_velocity
from chainrule.model.parameters import with_parameters
from chainrule.simulation.digital_law import effort_limits
from chainrule.simulation.events import Event
from chainrule.simulation.impacts import Impacts, Stops
from chainrule.simulation.integrators import Integrator
from chainrule.simulation.plant import Plant
from chainrule.simulation.prescribed import PrescribedMotion, refuse_dependent
from chainrule.simulation.sampled import Sampled, SampledSource
from chainrule.simulation.sources import CalledSource, ControllerSource, Samples, Source, is_controller
from chainrule.simulation.traceable import TracedSource, traceable

LIMIT_TOLERANCE = 1e-9
"""How far outside its limits a joint may start, in rad or m."""

MOVE_TOLERANCE = 1e-6
"""How far a start may be moved to close loops before a warning, relative to 1 + its size."""

CHANGE_POINT_TOLERANCE = 1e-6
"""How far the loops' equations for accelerations may be from having a solution at a start, relative to their size."""

FEEDBACK_RATIO = 0.1
"""Baumgarte's rates alpha and beta, as a fraction of 1 / dt: errors decay within some ten steps."""

STABILIZATIONS = ("projection", "baumgarte", "none")
"""Ways to keep loops closed."""

WRENCH_NAMES = tuple(name for name, _ in WRENCH_UNITS)


@dataclass(frozen=True)
class Start:
    """Starts of one motion, or of a batch of them, a row for each."""

    q: Array
    """(rows, nq)."""
    v: Array
    """(rows, nv)."""
    batch: tuple[int, ...]
    """The shape of the user's batch, () for one motion."""

    def index_of(self, row: int) -> tuple[int, ...]:
        """The place of a row in the batch."""
        return tuple(int(i) for i in np.unravel_index(row, self.batch)) if self.batch else ()


@dataclass(frozen=True, kw_only=True)
class SimulationRequest:
    """A simulation that was asked for, checked.

    Its fields are the arguments of `simulate`, as objects; plant, state and parameters follow from them.
    """

    robot: Mechanism
    start: Start
    duration: float
    integrator: Integrator
    torque: Source
    wrenches: Mapping[str, Source]
    wrench_frame: str = "world"
    prescribed: PrescribedMotion | None = None
    stops: Stops | Impacts | None = None
    torque_limits: bool = True
    stabilization: str = "projection"
    events: tuple[Event, ...] = ()
    record_every: int = 1
    progress: bool | None = None
    diverged: str = "raise"
    bound: ParameterValues = NO_PARAMETERS
    """Parameters of the robot, bound by `robot.at`."""
    limits: bool = True
    """Whether a start outside the position limits is refused."""

    def __post_init__(self) -> None:
        if self.stops is not None and not isinstance(self.stops, (Stops, Impacts)):
            raise ShapeError(
                "simulate: stops must be cr.Stops(stiffness, damping) or cr.Impacts(restitution), got "
                f"{short_repr(self.stops)}"
            )
        if isinstance(self.stops, Impacts):
            _refuse_wide_leaders(self.robot)
            if self.prescribed is not None:
                raise ShapeError("simulate: prescribed motions know no impacts; take cr.Stops, or leave stops out")
        for part in self._parts:
            _refuse_larger_batch(part.shape[:-1], self.start.batch)
        for source in self._sources:
            _refuse_larger_batch(source.batch, self.start.batch)

    @property
    def projects(self) -> bool:
        """Whether loops are closed by projection after every step."""
        return self.stabilization == "projection"

    @property
    def keeps_diverged(self) -> bool:
        """Whether the rows that diverge are kept, as nan."""
        return self.diverged == "keep"

    @property
    def _sources(self) -> list[Source]:
        driven = [] if self.prescribed is None else [self.prescribed]
        return [self.torque, *self.wrenches.values(), *driven]

    @property
    def _feedback(self) -> bool:
        """Whether loops are stabilized by feedback in the equations of motion."""
        return bool(self.robot.model.constraints) and self.stabilization == "baumgarte"

    @cached_property
    def plant(self) -> Plant:
        """The robot with its torques, friction, stops and loads."""
        robot, opened = self.robot, self.bound.names
        unknown = [[np.nan] * count for count in self.bound.counts]
        return Plant(
            model=with_parameters(robot.model, opened, unknown, merged=True) if opened else merged_model(robot),
            model_fingerprint=fingerprint(robot) if opened else merged_fingerprint(robot),
            whole=robot.model if opened else None,
            opened=opened,
            torque=self.torque,
            wrenches=self.wrenches,
            wrench_frame=self.wrench_frame,
            prescribed=self.prescribed,
            saturates=self.torque_limits,
            stops=None if self.stops is None else "spring" if isinstance(self.stops, Stops) else "impact",
            rows=closure_of(self.robot).rows,
            rank=self._rank,
            feedback=self._feedback,
        )

    @property
    def _rank(self) -> int:
        """The number of independent equations of the loops near the starts."""
        return closure_of(self.robot).rank_near(self.start.q) if self.robot.model.constraints else 0

    @cached_property
    def state(self) -> Array:
        """The states (q, v, x) at the start: (rows, size)."""
        x = np.zeros((len(self.start.q), self.plant.nx))
        return np.ascontiguousarray(np.concatenate([self.start.q, self.start.v, x], axis=-1))

    @cached_property
    def parameters(self) -> Array:
        """The parameters of the plant, a row for each start; one row where they are the same for all."""
        parts, batch = self._parts, self.start.batch
        if all(part.ndim == 1 for part in parts):
            return np.concatenate([np.zeros(0), *parts])[None]
        wide = [np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts]
        return np.concatenate(wide, axis=-1).reshape(len(self.start.q), -1)

    @cached_property
    def _parts(self) -> list[Array]:
        """The parameters of the stops, of the feedback on loops, of each source, and of the robot."""
        n = self.robot.nv
        parts: list[Array] = []
        if isinstance(self.stops, Stops):
            parts.append(_for_each_joint(self.stops.stiffness, n, "stiffness", 1e300))
            parts.append(_for_each_joint(self.stops.damping, n, "damping", 1e300))
        if isinstance(self.stops, Impacts):
            parts.append(_for_each_joint(self.stops.restitution, n, "restitution", 1.0))
        if self._feedback:
            parts.append(np.full(2, FEEDBACK_RATIO / self.integrator.dt))
        return [*parts, *(source.parameters for source in self._sources), *self.bound.arrays]

    def plant_of_rows(self) -> Plant:
        """The plant with the robot's parameters in each row of the batch, to be used on samples (..., T)."""
        rows = self.parameters
        shape = (*self.start.batch, 1) if len(rows) > 1 else ()
        return self.plant.at([column.reshape(shape) for column in rows.T])

    def warn_of_memory(self) -> None:
        """A warning where a function of the user gave different numbers for the same time and state."""
        for source in self._sources:
            source.warn_of_memory()


# --- numbers and names ---


def read_choice(value: Any, known: Sequence[str], what: str) -> str:
    """A word that is among the known ones."""
    return one_of(known, value, what, "simulate")


def read_record_every(value: Any) -> int:
    """A whole number of steps."""
    every = int(positive(value, "simulate: record"))
    if every != value:
        raise ShapeError(f"simulate: record must be a whole number of steps, got {value!r}")
    return every


def read_duration(value: Any, dt: float) -> float:
    """A duration in s that is not shorter than dt."""
    duration = positive(value, "simulate: duration", unit="s")
    if dt > duration:
        raise ShapeError(f"simulate: dt ({dt:g} s) is longer than the duration ({duration:g} s)")
    return duration


def _for_each_joint(value: Any, n: int, name: str, most: float) -> Array:
    """A number of stops for each of n joints."""
    array = real_array(value, f"simulate: {name} of stops")
    refuse_nonfinite(array, f"simulate: {name} of stops")
    if array.shape not in ((), (n,)) or (array < 0).any() or (array > most).any():
        bound = f" and at most {most:g}" if most < 2 else ""
        raise ShapeError(
            f"simulate: {name} of stops must be one number, or {n}, not negative{bound}, got {short_repr(value)}"
        )
    return np.broadcast_to(array.astype(float), (n,))


def _refuse_larger_batch(shape: tuple[int, ...], batch: tuple[int, ...]) -> None:
    """An error where numbers come in a batch that does not fit into that of the starts."""
    try:
        fits = np.broadcast_shapes(shape, batch) == batch
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"simulate: torques, gains or wrenches come in a batch of shape {shape}, and starts {batch}; give q0 "
            "the larger one"
        )


# --- starts ---


def read_start(
    robot: Mechanism,
    q0: Any,
    qd0: Any,
    within_limits: bool,
    prescribed: PrescribedMotion | None = None,
    bound: ParameterValues = NO_PARAMETERS,
) -> Start:
    """Starts with unit quaternions and closed loops, within the limits if that is asked for.

    Joints whose motion is prescribed start where it does, and the others of their loops follow. A batch of values of
    the robot makes one of the starts.
    """
    if isinstance(qd0, (int, float)) and robot.nv:
        raise ShapeError(
            f"simulate: qd0 must have {robot.nv} numbers, or be None for rest, got the single number {qd0!r}; the "
            f"duration comes after it: simulate(q0, None, {qd0!r}), or duration={qd0!r}"
        )
    given = match_dimensions(
        robot.model.layout, {"q0": q0, "qd0": np.zeros(robot.nv) if qd0 is None else qd0}, "simulate"
    )
    q, v = (read_argument(robot, "simulate", name, value).astype(float) for name, value in given.items())
    for array, name in ((q, "q0"), (v, "qd0")):
        if not np.isfinite(array).all():
            raise ShapeError(f"simulate: {name} must be finite, got {array[~np.isfinite(array)][0]}")
    try:
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], *(array.shape[:-1] for array in bound.arrays))
    except ValueError:
        others = "".join(f", {label} {a.shape}" for label, a in zip(bound.labels, bound.arrays, strict=True))
        raise ShapeError(
            f"simulate: the batches of q0 {q.shape} and qd0 {v.shape}{others} do not fit together"
        ) from None
    if 0 in batch:
        raise ShapeError(f"simulate: q0 of shape {q.shape} holds no start")
    q = np.broadcast_to(evaluate(robot, "integrate", q=q, v=np.zeros(robot.nv)), (*batch, robot.nq))
    v = np.broadcast_to(v, (*batch, robot.nv))
    hold: tuple[str, ...] = ()
    if prescribed is not None:
        hold = prescribed.joints
        q, v = _start_prescribed(robot, prescribed, q, v, is_given=qd0 is not None)
    if within_limits:
        refuse_outside(robot, q)
    else:
        warn_of_degrees(robot, q, "simulate")
    if robot.model.constraints:
        refuse_immobile(robot)
        closed = close(robot, q, hold=hold)
        if prescribed is not None:
            refuse_dependent(robot, prescribed, closed.reshape(-1, robot.nq)[0])
        _warn_of_move("q0", q, closed, robot.coordinate_names, "robot.loops.close(q, hold=[...])")
        q, consistent = closed, consistent_velocity(robot, closed, v, hold=hold)
        if prescribed is None or qd0 is not None:
            _warn_of_move(
                "qd0", v, consistent, robot.velocity_names, "robot.loops.consistent_velocity(q, qd, hold=[...])"
            )
        v = consistent
        _warn_of_change_point(robot, q, v)
    return Start(q.reshape(-1, robot.nq), v.reshape(-1, robot.nv), batch)


def _start_prescribed(
    robot: Mechanism, prescribed: PrescribedMotion, q: Array, v: Array, is_given: bool
) -> tuple[Array, Array]:
    """Starts with prescribed joints where their motions begin; a warning says where that is not what was given."""
    prescribed.start_at(q)
    state = np.broadcast_to(prescribed.signals(np.zeros(1), q, v)[..., 0, :], (*q.shape[:-1], prescribed.width))
    place, speed = q.copy(), v.copy()
    count = len(prescribed.joints)
    place[..., list(prescribed.coordinates)] = state[..., :count]
    speed[..., list(prescribed.velocities)] = state[..., count : 2 * count]
    moved = [("q0", q, place, prescribed.coordinates)]
    moved += [("qd0", v, speed, prescribed.velocities)] if is_given else []
    for what, given, used, places in moved:
        apart = np.abs(used - given)
        if (apart > MOVE_TOLERANCE * (1 + np.abs(given))).any():
            worst = max(range(count), key=lambda k: float(apart[..., places[k]].max()))
            warn_user(
                f"simulate: {what} was moved by {apart.max():.3g} at {prescribed.joints[worst]!r}, to where its "
                "prescribed motion begins",
                SimulationWarning,
            )
    return place, speed


def _warn_of_move(what: str, given: Array, used: Array, names: Sequence[str], advice: str) -> None:
    """A warning where a start was moved so that loops are closed, and stay so."""
    apart = np.abs(used - given)
    if not (apart > MOVE_TOLERANCE * (1 + np.abs(given))).any():
        return
    place = np.unravel_index(np.argmax(apart), apart.shape)
    row = f" in row {tuple(int(i) for i in place[:-1])}" if len(place) > 1 else ""
    state = "open there" if what == "q0" else "not kept closed by it"
    warn_user(
        f"simulate: {what} was moved, as loops are {state}: by {apart[place]:.3g} at {names[int(place[-1])]!r}{row}, "
        f"from {given[place]:.6g} to {used[place]:.6g}; choose what stays with {advice}",
        SimulationWarning,
    )


def _warn_of_change_point(robot: Mechanism, q: Array, v: Array) -> None:
    """A warning where a start at a change point moves along none of the branches that meet there."""
    flat, rates = q.reshape(-1, robot.nq), v.reshape(-1, robot.nv)
    G = constraint_jacobian(robot, flat)
    gamma = constraint_velocity_terms(robot, flat, rates)
    possible = -(np.linalg.pinv(G, NEW_PART_TOLERANCE) @ gamma[..., None])
    left = np.abs((G @ possible)[..., 0] + gamma).max(axis=-1, initial=0.0)
    wrong = left > CHANGE_POINT_TOLERANCE * (1 + np.abs(gamma).max(axis=-1, initial=0.0))
    if wrong.any():
        row = f" in row {int(np.argmax(wrong))} of {len(wrong)}" if len(wrong) > 1 else ""
        warn_user(
            f"simulate: the start{row} is a change point of robot {robot.name!r}, and qd0 is a mixture of the motions "
            "that are possible there: no acceleration keeps the loops closed. The first step goes on along the "
            "nearest one and loses energy; start with a velocity along one of them, or a little beside the point",
            SimulationWarning,
        )


def refuse_outside(robot: Mechanism, q: Array, row: tuple[int, ...] = ()) -> None:
    """An error where a joint starts outside its limits; `row` is the place of q in a batch, if it is one of many."""
    for coordinate in robot.model.layout.coordinates:
        x, lower, upper = q[..., coordinate.index], coordinate.lower, coordinate.upper
        outside = (x < lower - LIMIT_TOLERANCE) | (x > upper + LIMIT_TOLERANCE)
        if outside.any():
            place = tuple(np.argwhere(outside)[0].tolist())
            where = f" in row {place or row}" if place or row else ""
            hint = degrees_hint(robot.model.layout, q)
            raise ShapeError(
                f"simulate: the start of joint {coordinate.joint!r} is {x[place]:g}{where}, outside its limits "
                f"{lower:g} to {upper:g}; start within them, or pass limits=False to start anywhere"
                + (f" ({hint})" if hint else "")
            )


def _refuse_wide_leaders(robot: Mechanism) -> None:
    """An error where a joint's limits let a mimic joint go beyond its own, which hard stops do not know."""
    for joint in robot.model.joints:
        if joint.mimic is None:
            continue
        leader, own = robot.model.layout.by_joint[joint.mimic.joint].joint.dofs[0], joint.dofs[0]
        ends = [joint.mimic.multiplier * x + joint.mimic.offset for x in (leader.lower, leader.upper)]
        if min(ends) < own.lower - LIMIT_TOLERANCE or max(ends) > own.upper + LIMIT_TOLERANCE:
            raise ShapeError(
                f"simulate: joint {joint.name!r} follows {joint.mimic.joint!r}, whose limits let it go beyond its own, "
                "and hard stops do not know those; use cr.Stops, or narrow the limits of the joint that is followed"
            )


# --- torques and wrenches ---


@dataclass(frozen=True)
class SourceReader:
    """Turns what users pass as torques and wrenches into sources, for the motions of one batch."""

    robot: Mechanism
    batch: tuple[int, ...]

    def torque(self, value: Any, within_limits: bool) -> Source:
        """The source of the torques. A torque where the effort limit is zero is refused: it would be left out."""
        names = self.robot.velocity_names
        driven = (
            set(driven_velocities(self.robot)) if flag(within_limits, "torque_limits") else set(range(self.robot.nv))
        )
        undriven = [i for i in range(self.robot.nv) if i not in driven]
        if is_controller(value):
            refuse_other_robot(value, self.robot)
            return ControllerSource(value, self.robot.nv)
        if isinstance(value, Sampled):
            return self._sampled_source(value, self.torque(value.law, within_limits), within_limits)
        source = self._read(value, self.robot.nv, "torque", names, undriven)
        if isinstance(source, Samples):
            source.refuse_undriven(source.values, undriven, names)
        elif type(source) is Source and source.parameters.size:
            source.refuse_undriven(source.parameters, undriven, names)
        return source

    def wrenches(self, tip_wrench: Any, wrenches: Any) -> dict[str, Source]:
        """The sources of wrenches on links, by the link's name."""
        if wrenches is not None and not isinstance(wrenches, Mapping):
            raise ShapeError(
                f"simulate: external must be a dictionary of links and wrenches, got {short_repr(wrenches)}"
            )
        sources: dict[str, Source] = {}
        for name, wrench in (wrenches or {}).items():
            self.robot.model.locate(name)
            sources[name] = self._read(wrench, 6, f"external[{name!r}]", WRENCH_NAMES)
        if tip_wrench is not None:
            tip = find_link(self.robot)
            if tip in sources:
                raise ShapeError(
                    f"simulate: tip_wrench and external both act on {tip!r}; give their sum once, in external"
                )
            sources[tip] = copy(self._read(tip_wrench, 6, "tip_wrench", WRENCH_NAMES))  # samples are the user's own
            sources[tip].is_reaction = True
        return sources

    def _sampled_source(self, value: Sampled, law: Source, within_limits: bool = False) -> Source:
        """The source of a law that is sampled; its memory is reset."""
        reset = getattr(value.law, "reset", None)
        if callable(reset):
            reset()
        limits = effort_limits(self.robot) if within_limits and value.rate_limit is not None else None
        return SampledSource(value, law, merged_model(self.robot), self.batch, limits)

    def _read(self, value: Any, size: int, what: str, names: Sequence[str], undriven: Sequence[int] = ()) -> Source:
        """A source of `size` numbers that is not a controller."""
        if value is None:
            return Source(size)
        if isinstance(value, Sampled):
            return self._sampled_source(value, self._read(value.law, size, what, names, undriven))
        if isinstance(value, traceable):
            return TracedSource(value, size, self.robot.nq, self.robot.nv, what)
        joints = what == "torque"
        if type(value) is tuple and len(value) == 2:
            rows = self._read_values(value[1], size, what, names, joints) if _has_rows(value[1]) else None
            value = value if rows is None else Samples(value[0], rows)
        if isinstance(value, Samples):
            if value.size != size:
                raise ShapeError(
                    f"simulate: {what} has samples of {value.size} numbers, and needs {size} for {self.robot!r}"
                )
            return value
        if isinstance(value, type):
            raise ShapeError(
                f"simulate: {what} is the class {value.__name__}; make an object of it: {value.__name__}(...)"
            )
        if is_controller(value):
            raise ShapeError(f"simulate: {what} must be numbers, samples or a function, got a controller")
        if callable(value):
            refuse_other_arguments(value, what)
            return CalledSource(value, size, what, names, self.batch, undriven, self._read_torque if joints else None)
        if joints and isinstance(value, str):
            raise ShapeError(
                f"simulate: torque must be numbers, a controller such as cr.PD(robot, target), or a function of "
                f"(t, q, qd), got str ({short_repr(value)})"
            )
        if joints:
            refuse_named_batch(self.robot.model.layout, value, f"simulate: {what}")
        array = self._read_values(value, size, what, names, joints)
        if not np.isfinite(array).all():
            *_, column = np.argwhere(~np.isfinite(array))[0]
            raise ShapeError(
                f"simulate: {what} must be finite, got {array[..., column].ravel()[0]} for {names[column]!r}"
            )
        return Source(size, array.astype(float))

    def _read_values(self, value: Any, size: int, what: str, names: Sequence[str], joints: bool) -> Array:
        """Torques of the joints, by name too, or the numbers of a wrench."""
        if joints:
            return self._read_torque(value, f"simulate: {what}")
        return rows_of(value, size, f"simulate: {what}", ", ".join(names[:8]), WRENCH_UNITS)

    def _read_torque(self, value: Any, what: str) -> Array:
        return read_joints(self.robot, value, "effort", what)


def _has_rows(value: Any) -> bool:
    """Whether samples have more than one dimension, or names: a table, not a number."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        rows: list[Any] = [getattr(row, "magnitude", row) for row in value]
        return any(isinstance(row, (list, tuple)) or np.ndim(row) for row in rows)
    array: Any = getattr(value, "magnitude", value)
    return values_by_name(value, "effort", "simulate: torque") is not None or np.ndim(array) >= 2


def refuse_other_arguments(function: Any, what: str) -> None:
    """An error where a function cannot be called with (t, q, qd)."""
    try:
        form = signature(function)
    except (TypeError, ValueError):  # builtins that do not say what they take
        return
    try:
        form.bind(0.0, (), ())
    except TypeError:
        raise ShapeError(f"simulate: {what} is a function of (t, q, qd), and the given one takes {form}") from None


def refuse_other_robot(controller: Any, robot: Mechanism, caller: str = "simulate") -> None:
    """An error where a controller was made for a robot with other joints."""
    theirs = controller.robot
    if theirs.joint_names != robot.joint_names or theirs.nq != robot.nq or theirs.nv != robot.nv:
        raise ShapeError(
            f"{caller}: the {type(controller).__name__} was made for robot {theirs.name!r} with the joints "
            f"{', '.join(theirs.joint_names[:8])}, and robot {robot.name!r} has {', '.join(robot.joint_names[:8])}; "
            "make the controller for a robot with the same joints"
        )
