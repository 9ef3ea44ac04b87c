"""What a user asks to be simulated, checked and turned into a plant, a start and numbers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, number, real_array, refuse_nonfinite, rows_of
from chainrule.errors import ModelError, ShapeError, SimulationWarning, UnknownNameError
from chainrule.simulation.events import Event, listed
from chainrule.simulation.integrators import METHODS
from chainrule.simulation.plant import Plant
from chainrule.simulation.sources import Called, Controlled, Samples, Source
from chainrule.simulation.traced import Traced, traceable
from chainrule.simulation.trajectory import coordinate_names

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

ADAPTIVE = ("dop853", "radau", "lsoda")


@dataclass(frozen=True)
class Stops:
    """Stops at the joint limits that give: stiffness in N m/rad or N/m, damping in N m s/rad or N s/m; one number
    for all joints, or one for each."""

    stiffness: Any
    damping: Any = 0.0


@dataclass(frozen=True)
class Impacts:
    """Hard stops at the joint limits: an approach at v ends in a rebound at restitution times v, 0 to 1; one number
    for all joints, or one for each."""

    restitution: Any = 0.0


@dataclass(frozen=True)
class Setup:
    """A simulation to be run: rows of starts, numbers, and how to go about it."""

    robot: Robot
    plant: Plant
    batch: tuple[int, ...]
    state: Array
    parameters: Array
    duration: float
    dt: float
    method: str
    every: int
    events: tuple[Event, ...]
    project: bool
    progress: bool | None
    keep_diverged: bool
    rtol: float
    atol: float


def setup(
    robot: Robot,
    q0: Any,
    qd0: Any,
    duration: Any,
    torque: Any,
    tip_wrench: Any,
    wrenches: Any,
    method: str,
    dt: Any,
    record_every: Any,
    stops: Stops | Impacts | None,
    torque_limits: bool,
    limits: bool,
    events: Any,
    stabilisation: str,
    progress: bool | None,
    diverged: str,
    rtol: Any,
    atol: Any,
) -> Setup:
    """Everything checked, in the words of the caller."""
    robot._require_masses("forward_dynamics")
    if not robot.nv:
        raise ModelError(f"simulate: robot {robot.name!r} has no degrees of freedom, so there is nothing to simulate")
    if method not in (*METHODS, *ADAPTIVE):
        raise UnknownNameError.of("method", method, (*METHODS, *ADAPTIVE), "simulate")
    if stabilisation not in ("projection", "baumgarte", "none"):
        raise UnknownNameError.of("stabilisation", stabilisation, ("projection", "baumgarte", "none"), "simulate")
    if diverged not in ("raise", "keep"):
        raise UnknownNameError.of("way with divergence", diverged, ("raise", "keep"), "simulate")
    span, h = _positive(duration, "duration"), _positive(dt, "dt")
    every = int(_positive(record_every, "record_every"))
    if every != record_every:
        raise ShapeError(f"simulate: record_every must be a whole number of steps, got {record_every!r}")
    if h > span:
        raise ShapeError(f"simulate: dt ({h:g} s) is longer than the duration ({span:g} s)")
    q, v, batch = _start(robot, q0, qd0, limits or stops is not None)
    source = source_of(torque, robot, robot.nv, "torque", tuple(coordinate_names(robot)[1]))
    loads = _loads(robot, tip_wrench, wrenches)
    _refuse_undrivable(robot, source, torque_limits)
    for each in (source, *(load.source if isinstance(load, Reversed) else load for load in loads.values())):
        if isinstance(each, Called):
            each.batch = batch
    if robot.model.constraints:
        robot._require_mobility()
        q = robot.close(q)
        v = robot.consistent_velocity(q, v)
    plant = Plant(
        robot._merged, robot._merged_print, source, loads, torque_limits, _stop_kind(stops),
        _rows(robot, q),
        bool(robot.model.constraints) and stabilisation == "baumgarte",
    )  # fmt: skip
    _refuse_following_stops(robot, stops)
    if plant.rows and np.count_nonzero(plant.coulomb[0] + plant.coulomb[1]) > 1:
        warnings.warn(
            f"simulate: robot {robot.name!r} has loops, and dry friction at several joints: how they share what holds "
            "a loop is not determined, and fixed steps may share it beyond their limits. Give one joint of a loop "
            "all of its friction",
            SimulationWarning,
            stacklevel=4,
        )
    rows = int(np.prod(batch, dtype=int))
    state = np.concatenate([q, v, np.zeros((*batch, plant.nx))], axis=-1).reshape(rows, -1)
    return Setup(
        robot, plant, batch, np.ascontiguousarray(state), _parameters(plant, stops, batch, h), span, h, method, every,
        listed(events), stabilisation == "projection", progress, diverged == "keep", _positive(rtol, "rtol"),
        _positive(atol, "atol"),
    )  # fmt: skip


def _rows(robot: Robot, q: Array) -> tuple[int, ...]:
    """Equations of the loops that do not follow from others, where the robot starts or elsewhere."""
    if not robot.model.constraints:
        return ()
    at_start = robot._rows_near(q.reshape(-1, robot.nq)[0])
    return max(robot.independent_rows, at_start, key=len)


def _refuse_following_stops(robot: Robot, stops: Any) -> None:
    """Hard stops act on joints with coordinates of their own, whose limits must keep followers within theirs."""
    leaders = {joint.name: joint.dofs[0] for joint in robot.model.moving if joint.kind.nv == 1}
    for joint in robot.model.joints if isinstance(stops, Impacts) else ():
        if joint.mimic is None:
            continue
        leader, own = leaders[joint.mimic.joint], joint.dofs[0]
        ends = [joint.mimic.multiplier * x + joint.mimic.offset for x in (leader.lower, leader.upper)]
        if min(ends) < own.lower - 1e-9 or max(ends) > own.upper + 1e-9:
            raise ShapeError(
                f"simulate: joint {joint.name!r} follows {joint.mimic.joint!r}, whose limits let it go beyond its own, "
                "and hard stops do not know those; use cr.Stops, or narrow the limits of the joint that is followed"
            )


def _positive(value: Any, name: str) -> float:
    x = number(value, f"simulate: {name}")
    if not x > 0:
        raise ShapeError(f"simulate: {name} must be positive, got {value!r}")
    return x


def _start(robot: Robot, q0: Any, qd0: Any, within: bool) -> tuple[Array, Array, tuple[int, ...]]:
    q = robot._argument("simulate", "q0", q0).astype(float)
    v = robot._argument("simulate", "qd0", np.zeros(robot.nv) if qd0 is None else qd0).astype(float)
    for array, name in ((q, "q0"), (v, "qd0")):
        if not np.isfinite(array).all():
            raise ShapeError(f"simulate: {name} must be finite, got {array[~np.isfinite(array)][0]}")
    try:
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    except ValueError:
        raise ShapeError(f"simulate: the batches of q0 {q.shape} and qd0 {v.shape} do not fit together") from None
    if 0 in batch:
        raise ShapeError(f"simulate: q0 of shape {q.shape} holds no start")
    q = np.broadcast_to(robot.integrate(q, np.zeros(robot.nv)), (*batch, robot.nq))
    if within:
        _refuse_outside(robot, q)
    return q, np.broadcast_to(v, (*batch, robot.nv)), batch


def _refuse_outside(robot: Robot, q: Array) -> None:
    for body in robot.model.bodies:
        if body.joint.mimic or body.joint.kind.nq != body.joint.kind.nv:
            continue
        for k, dof in enumerate(body.joint.dofs):
            x = q[..., body.first_q + k]
            outside = (x < dof.lower - 1e-9) | (x > dof.upper + 1e-9)
            if outside.any():
                row = np.argwhere(outside)[0]
                where = f" in row {tuple(row.tolist())}" if x.ndim else ""
                raise ShapeError(
                    f"simulate: the start of joint {body.joint.name!r} is {x[tuple(row)]:g}{where}, outside its limits "
                    f"{dof.lower:g} to {dof.upper:g}; start within them, or pass limits=False to start anywhere"
                )


def source_of(value: Any, robot: Robot, size: int, what: str, joints: tuple[str, ...]) -> Source:
    """Where torques, or a wrench, come from."""
    if value is None:
        return Source(size)
    if isinstance(value, traceable):
        return Traced(value, size, robot.nq, robot.nv, what)
    if isinstance(value, tuple) and len(value) == 2 and np.ndim(real_array(value[1], f"simulate: {what}")) >= 2:
        value = Samples(*value)
    if isinstance(value, Samples):
        if value.size != size:
            raise ShapeError(f"simulate: {what} has samples of {value.size} numbers, and needs {size} for {robot!r}")
        return value
    if isinstance(value, type):
        raise ShapeError(f"simulate: {what} is the class {value.__name__}; make an object of it: {value.__name__}(...)")
    if hasattr(value, "torque") and hasattr(value, "signals"):
        if what != "torque":
            raise ShapeError(f"simulate: {what} must be numbers, samples or a function, got a controller")
        _refuse_other_robot(value, robot)
        return Controlled(value, size)
    if callable(value):
        return Called(value, size, what, joints)
    array = rows_of(value, size, f"simulate: {what}", ", ".join(joints[:8]))
    if not np.isfinite(array).all():
        *_, column = np.argwhere(~np.isfinite(array))[0]
        raise ShapeError(f"simulate: {what} must be finite, got {array[..., column].ravel()[0]} for {joints[column]!r}")
    return Source(size, array.astype(float))


def _refuse_other_robot(controller: Any, robot: Robot) -> None:
    theirs = controller.robot
    if theirs.joint_names != robot.joint_names or theirs.nq != robot.nq or theirs.nv != robot.nv:
        raise ShapeError(
            f"simulate: the {type(controller).__name__} was made for robot {theirs.name!r} with the joints "
            f"{', '.join(theirs.joint_names[:8])}, and robot {robot.name!r} has {', '.join(robot.joint_names[:8])}; "
            "make the controller for a robot with the same joints"
        )


def _loads(robot: Robot, tip_wrench: Any, wrenches: Any) -> dict[str, Source]:
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise ShapeError(f"simulate: wrenches must be a dictionary of links and wrenches, got {wrenches!r:.60}")
    axes = ("mx", "my", "mz", "fx", "fy", "fz")
    loads = {}
    for name, wrench in (wrenches or {}).items():
        robot.model.locate(name)
        loads[name] = source_of(wrench, robot, 6, f"wrenches[{name!r}]", axes)
    if tip_wrench is not None:
        tip = robot.model.tip
        if tip in loads:
            raise ShapeError(f"simulate: tip_wrench and wrenches both act on {tip!r}; give their sum once, in wrenches")
        loads[tip] = Reversed(source_of(tip_wrench, robot, 6, "tip_wrench", axes))
    return loads


class Reversed(Source):
    """The reaction to a wrench: what the surroundings apply to the tip."""

    def __init__(self, source: Source) -> None:
        super().__init__(source.size, source.parameters)
        self.source = source
        self.states, self.width, self.called, self.batch = source.states, source.width, source.called, source.batch
        self.signals = source.signals  # type: ignore[method-assign]

    @property
    def key(self) -> tuple[Any, ...]:
        return ("Reversed", *self.source.key)

    @property
    def breaks(self) -> Array:
        return self.source.breaks

    @property
    def jumps(self) -> bool:
        return self.source.jumps

    def before(self, t: Array) -> Array:
        return self.source.before(t)

    def compute(self, q: Any, qd: Any, z: Any, s: Any, p: Any) -> tuple[Any, Any]:
        values, rates = self.source.compute(q, qd, z, s, p)
        return [-x for x in values], rates


def _refuse_undrivable(robot: Robot, source: Source, limited: bool) -> None:
    """A limit of zero would silently leave a torque out, so one that is told outright is refused there."""
    if not limited:
        return
    undriven = np.flatnonzero(robot.limits.effort == 0).tolist()
    if isinstance(source, Called):
        source.undriven = undriven
    told = (
        source.values if isinstance(source, Samples) else source.parameters if type(source) is Source else np.zeros(0)
    )
    if told.size:
        source.refuse_undriven(told, undriven, coordinate_names(robot)[1])


def _stop_kind(stops: Any) -> str | None:
    if stops is None:
        return None
    if isinstance(stops, Stops):
        return "spring"
    if isinstance(stops, Impacts):
        return "impact"
    raise ShapeError(
        f"simulate: stops must be cr.Stops(stiffness, damping) or cr.Impacts(restitution), got {stops!r:.60}"
    )


def _parameters(plant: Plant, stops: Any, batch: tuple[int, ...], h: float) -> Array:
    """The numbers of the plant, a row for each start; one row where they are all the same."""
    n = plant.model.nv
    parts = []
    if isinstance(stops, Stops):
        parts += [_each(stops.stiffness, n, "stiffness", 1e300), _each(stops.damping, n, "damping", 1e300)]
    if isinstance(stops, Impacts):
        parts.append(_each(stops.restitution, n, "restitution", 1.0))
    if plant.feedback:
        parts.append(np.full(2, FEEDBACK / h))
    parts += [source.parameters for source in plant.sources]
    for shape in (*(part.shape[:-1] for part in parts), *(source.batch for source in plant.sources)):
        try:
            fits = np.broadcast_shapes(shape, batch) == batch
        except ValueError:
            fits = False
        if not fits:
            raise ShapeError(
                f"simulate: torques, gains or wrenches come in a batch of shape {shape}, and starts {batch}; give q0 "
                "the larger one"
            )
    if all(part.ndim == 1 for part in parts):
        return np.concatenate([np.zeros(0), *parts])[None]
    wide = [np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts]
    return np.concatenate(wide, axis=-1).reshape(int(np.prod(batch, dtype=int)), -1)


FEEDBACK = 0.1
"""Baumgarte's rates alpha and beta, as a fraction of 1 / dt: errors die away within some ten steps."""


def _each(value: Any, n: int, name: str, most: float) -> Array:
    array = real_array(value, f"simulate: {name} of stops")
    refuse_nonfinite(array, f"simulate: {name} of stops")
    if array.shape not in ((), (n,)) or (array < 0).any() or (array > most).any():
        bound = f" and at most {most:g}" if most < 2 else ""
        raise ShapeError(
            f"simulate: {name} of stops must be one number, or {n}, not negative{bound}, got {value!r:.60}"
        )
    return np.broadcast_to(array.astype(float), (n,))
