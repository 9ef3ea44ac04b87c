"""Guards: what may go wrong with a motion, how it is noticed, and what the error says."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array, refuse_beyond_memory
from chainrule.core.at import bind
from chainrule.core.closure import closure_of
from chainrule.core.mechanism import Mechanism
from chainrule.dynamics.energy import kinetic_energy, potential_energy
from chainrule.errors import ShapeError, SimulationError, SimulationWarning, warn_user
from chainrule.loops.constraints import jacobian as constraint_jacobian
from chainrule.loops.constraints import residual as constraint_residual
from chainrule.simulation.plant import Plant
from chainrule.simulation.time_loop import record_size

if TYPE_CHECKING:
    from chainrule.simulation.request import SimulationRequest
    from chainrule.simulation.trajectory import Trajectory

MAX_STEPS = 1e15
"""Steps in a motion beyond which the time no longer changes from one to the next."""

MAX_ENERGY_RATIO = 1e6
"""Kinetic energy that no motion reaches, in units of what the robot has at its start or gains by falling a meter."""

MAX_ENERGY_GAP_RATIO = 0.2
"""The share of work and motion that may be missing from the balance of energy at the end, before a warning."""

ENERGY_ROUNDING = 1e-7
"""The share of the energy at the start that may be missing, however little work was done on the whole: a motor that
first speeds up and then slows down does none."""

MAX_LOOP_GAP = 1e-6
"""The gap, in m, beyond which a loop that is kept closed counts as open."""

MAX_LOOP_DRIFT = 1e-4
"""The gap, in m, beyond which loops that are not kept closed are warned of."""

NEAR_SINGULAR_RATIO = 1e-2
"""The ratio of singular values of the loops' equations below which a position counts as next to a change point."""

MAX_ENERGY_JUMP = 3e-5
"""The share of the largest kinetic energy that may be missing after one interval between samples, in closed loops.

Linkages that pass a change point lose at most 1.5e-5 there (rk4 at 1 ms, 30 of them). Where lengths are 1e-5 to 1e-8 m
off those of a change point and a step of 1 ms goes past the place, 7e-4 to 0.3 are lost, on the wrong branch.
"""

MIN_JUMP_RATIO = 1e5
"""How much larger than in the middle one of all intervals that is; else all steps are too long."""

FRICTION_SLACK = 1e-6
"""The share of its limits by which recorded friction may be beyond them, through rounding and events."""

MAX_MIDPOINT_RESIDUAL = 1e-9
"""The error of the midpoint rule's equations, relative to 1 + the largest speed, beyond which they are not solved."""


def keep_motion(interrupt: KeyboardInterrupt, motion: Trajectory, duration: float) -> None:
    """Keep the motion so far on the interrupt that ends it, as `trajectory`.

    The interrupt itself goes on, through all loops around a simulation; one of a class of its own would change the exit
    code by which a shell sees that Ctrl-C ended a program.
    """
    interrupt.trajectory = motion  # type: ignore[attr-defined]
    reached = f"{motion.t[-1]:g}" if len(motion) else "0"
    interrupt.add_note(f"simulate: interrupted at t = {reached} of {duration:g} s; .trajectory has the motion so far")


class Failure(NamedTuple):
    """The end of a motion that cannot be trusted any further."""

    samples: int
    """The number of samples before it."""
    message: str


# --- size ---


def refuse_large(rows: int, samples: float, plant: Plant) -> None:
    """An error if the records would not fit into memory."""
    refuse_beyond_memory(
        rows * samples * (record_size(plant) + 1),
        f"simulate: {rows} motions of {samples:.4g} samples",
        "keep fewer with a larger record=..., simulate fewer at once, or take a longer dt",
    )


def refuse_many_steps(steps: float, dt: float, duration: float) -> None:
    """An error if the time would no longer change from step to step."""
    if steps > MAX_STEPS:
        raise ShapeError(f"simulate: {steps:.3g} steps of {dt:g} s in {duration:g} s; take a longer dt")


# --- divergence ---


def max_kinetic_energy(robot: Mechanism, q: Array, v: Array) -> Array:
    """The kinetic energy, in J, beyond which a motion that starts from (q, v) has diverged."""
    falling = robot.mass * float(np.linalg.norm(robot.gravity))
    return np.asarray(MAX_ENERGY_RATIO * (kinetic_energy(robot, q, v) + falling + 1.0))


def find_divergence(request: SimulationRequest, t: Array, v: Array, row: int, since: float, h: float) -> Failure:
    """The failure of one row that has diverged, from its velocities v (T, n) at the times t and the time `since`."""
    not_finite = np.flatnonzero(~np.isfinite(v).all(axis=1))
    end = int(not_finite[0]) if len(not_finite) else len(t)
    last = np.abs(v[end - 1] if end else request.start.v[row])
    joint = request.robot.velocity_names[int(np.argmax(last))]
    which = f", row {request.start.index_of(row)}" if request.start.batch else ""
    at = t[end] if end < len(t) else since
    return Failure(
        end,
        f"simulate: the motion diverges at about t = {at:.6g} s{which}, joint {joint!r} being the fastest before "
        f"({last.max():.3g}). Take a smaller dt than {h:g} s, softer gains or stops, or integrator='radau'; "
        "the error's .trajectory holds the motion so far",
    )


# --- equations that are not solved ---


def find_unsolved(robot: Mechanism, t: Array, q: Array, squared_errors: Array, v: Array, h: float) -> Failure | None:
    """The first step whose equations are not solved.

    By configurations q (rows, T, nq), squared errors (rows, T) and the last velocities (rows, n).
    """
    residual = np.sqrt(np.abs(squared_errors))
    limit = MAX_MIDPOINT_RESIDUAL * (1 + np.abs(v).max(axis=1))
    wrong = residual > limit[:, None]
    if not wrong.any():
        return None
    row, sample = np.argwhere(wrong)[0]
    if robot.model.constraints and _is_near_change_point(robot, q[row, sample]):
        remedy = "it is next to a change point, which integrator='rk4' and 'dop853' pass"
    else:
        remedy = f"take a smaller dt than {h:g} s, or integrator='radau' for a stiff motion"
    return Failure(
        int(sample),
        f"simulate: the equations of the implicit midpoint rule are not solved at t = {t[sample]:.6g} s (they are off "
        f"by {residual[row, sample]:.2g}); {remedy}",
    )


# --- loops ---


def find_open_loop(robot: Mechanism, t: Array, q: Array, first: int, h: float | None = None) -> Failure | None:
    """The first sample from `first` on at which a loop is open, from configurations q (rows, T, nq).

    `h` is the step, None where the integrator chooses it.
    """
    with np.errstate(all="ignore"):
        gaps = np.abs(constraint_residual(robot, q[:, first:]))
    wrong = gaps > MAX_LOOP_GAP
    if not wrong.any():
        return None
    row, sample, equation = np.argwhere(wrong)[0]
    name, at = robot.model.rows[equation].name, first + int(sample)
    return Failure(
        at,
        f"simulate: constraint {name!r} comes open at t = {t[at]:.6g} s, by {gaps[row, sample, equation]:.2g}: "
        + _remedy_of_open_loop(robot, q[row, max(at - 1, 0)], h),
    )


def _remedy_of_open_loop(robot: Mechanism, q: Array, h: float | None) -> str:
    """What to do where a loop comes open after the configuration q."""
    if _is_near_change_point(robot, q):
        return (
            "it is next to a change point, a singular position in which its equations do not say how it goes on. A "
            "smaller step is not the remedy; compare with another method, avoid the position by the start or the "
            "torques, or give the mechanism a joint or a constraint that decides"
        )
    if h is None:
        return "tighten rtol and atol"
    return f"it moves too fast for steps of {h:g} s. Take a smaller dt"


def _is_near_change_point(robot: Mechanism, q: Array) -> bool:
    """Whether the loops' equations nearly lose rank in a configuration."""
    if not np.isfinite(q).all():
        return False
    s = np.linalg.svd(constraint_jacobian(robot, q)[list(closure_of(robot).rows)], compute_uv=False)
    return bool(s[min(closure_of(robot).rank, len(s)) - 1] < NEAR_SINGULAR_RATIO * s[0])


def warn_of_open_loops(request: SimulationRequest, motion: Trajectory) -> None:
    """A warning where a run that does not close its loops at every step leaves them open."""
    if not request.plant.rows or request.projects:
        return
    with np.errstate(all="ignore"):
        gap = np.nanmax(np.abs(motion.constraint_residual), initial=0.0)
    if gap > MAX_LOOP_DRIFT:
        warn_user(
            f"simulate: the loops of robot {request.robot.name!r} come open by {gap:.2g} (m, or without unit for "
            f"directions), which loops={request.stabilization!r} does not prevent; take "
            "loops='projection'",
            SimulationWarning,
        )


# --- friction ---


def refuse_excess_friction(request: SimulationRequest, motion: Trajectory) -> None:
    """An error where recorded friction is more than a joint has."""
    plant = request.plant
    beyond_stops = {limit.velocity for limit in plant.limits} if plant.stops else set()
    if not plant.has_friction:
        return
    smooth, up, down = request.plant_of_rows().friction_levels(motion.q, motion.qd)
    for i in plant.has_friction:
        if i in beyond_stops:
            continue
        dry = motion.friction[..., i] - smooth[i]
        slack = FRICTION_SLACK * (up[i] + down[i] + np.abs(smooth[i]))
        with np.errstate(invalid="ignore"):
            wrong = (dry > up[i] + slack) | (dry < -down[i] - slack)
        if wrong.any():
            place = np.argwhere(wrong)[0]
            raise SimulationError(
                f"simulate: joint {request.robot.velocity_names[i]!r} holds {dry[tuple(place)]:.4g} by dry friction at "
                f"t = {motion.t[place[-1]]:.6g} s, and has {np.max(up[i]):.4g} upwards and {np.max(down[i]):.4g} "
                "downwards: which joints stick was not found. Take integrator='dop853', or friction at fewer joints; "
                "the error's .trajectory holds the motion",
                motion,
            )


# --- energy ---


def warn_of_energy(request: SimulationRequest, end: Trajectory, h: float | None = None) -> None:
    """A warning where the energy at the end is not that at the start plus the work done.

    `h` is the step, None where the integrator chooses it.
    """
    robot, start = request.robot, request.start
    q, v = (array.reshape((*start.batch, -1)) for array in (start.q, start.v))
    given = request.bound
    kinetic = kinetic_energy(bind(robot, given), q, v)
    before = kinetic + potential_energy(bind(robot, given), q)
    work = end.work[..., 0, :]
    error = np.abs(end.energy[..., 0] - before - work[..., 0] + work[..., 1] - work[..., 2])
    scale = np.abs(work).sum(axis=-1) + end.kinetic_energy[..., 0] + kinetic
    with np.errstate(invalid="ignore"):
        wrong = error > MAX_ENERGY_GAP_RATIO * scale + 1e-9 + ENERGY_ROUNDING * np.abs(before)
    if np.any(wrong):
        row = start.index_of(int(np.argmax(wrong)))
        which = f" (row {row})" if start.batch else ""
        warn_user(
            f"simulate: {error[row]:.3g} J of energy came from nowhere{which}, beside {scale[row]:.3g} J of work "
            f"and motion: {remedy_of_energy(request, h)}, and look at trajectory.energy_error",
            SimulationWarning,
        )


def warn_of_energy_jump(request: SimulationRequest, motion: Trajectory) -> None:
    """A warning where energy of closed loops comes from nowhere, or is lost, at one place of the motion."""
    if not request.plant.rows or not request.projects or len(motion) < 3:
        return
    with np.errstate(all="ignore"):
        jumps = np.abs(np.diff(motion.energy_error, axis=-1))
        limit = np.maximum(
            MAX_ENERGY_JUMP * motion.kinetic_energy.max(axis=-1), MIN_JUMP_RATIO * np.median(jumps, axis=-1)
        )
        wrong = jumps > limit[..., None] + ENERGY_ROUNDING * np.abs(motion.energy[..., :1])
    if wrong.any():
        *row, sample = np.unravel_index(int(np.argmax(np.where(wrong, jumps, 0.0))), jumps.shape)
        which = f" (row {tuple(map(int, row))})" if row else ""
        warn_user(
            f"simulate: {jumps[(*row, sample)]:.3g} J of energy came from nowhere, or were lost, between t = "
            f"{motion.t[sample]:.6g} s and {motion.t[sample + 1]:.6g} s{which}, and hardly any elsewhere: the "
            "mechanism is next to a change point there, and went past too quickly for its steps, or may go on in "
            "several ways. Compare with integrator='dop853' and a smaller dt; the motion from there may be another one",
            SimulationWarning,
        )


def remedy_of_energy(request: SimulationRequest, h: float | None) -> str:
    """Advice where energy comes from nowhere."""
    if h is None:
        return f"{request.integrator.name} loses it step by step, or at an event. Tighten rtol and atol"
    if request.plant.rows:
        return (
            f"steps of {h:g} s are too long for {request.integrator.name}, or the mechanism passes a change point, "
            "where no step is short enough. Compare with integrator='dop853'"
        )
    return f"steps of {h:g} s are too long for {request.integrator.name} here. Take a smaller dt, or another method"
