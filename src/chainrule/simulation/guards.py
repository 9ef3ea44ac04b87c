"""Guards: what may go wrong with a motion, how it is noticed, and what the error says."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.dynamics.energy import kinetic_energy, potential_energy
from chainrule.errors import ShapeError, SimulationWarning
from chainrule.loops.closure import constraint_residual
from chainrule.simulation.plant import Plant
from chainrule.simulation.steppers import record_size

if TYPE_CHECKING:
    from chainrule.simulation.request import Request
    from chainrule.simulation.trajectory import Trajectory

MAX_RECORD_BYTES = 1 << 34
"""The memory that the records of one simulation may take."""

MAX_STEPS = 1e15
"""Steps in a motion beyond which the time no longer changes from one to the next."""

MAX_ENERGY_RATIO = 1e6
"""Kinetic energy that no motion reaches, in units of what the robot has at its start or gains by falling a meter."""

MAX_ENERGY_GAP_RATIO = 0.2
"""The share of work and motion that may be missing from the balance of energy at the end, before a warning."""

MAX_LOOP_GAP = 1e-6
"""The gap, in m, beyond which a loop that is kept closed counts as open."""

MAX_MIDPOINT_RESIDUAL = 1e-9
"""The error of the midpoint rule's equations, relative to 1 + the largest speed, beyond which they are not solved."""


class Failure(NamedTuple):
    """The end of a motion that cannot be trusted any further."""

    samples: int
    """The number of samples before it."""
    message: str


# --- size ---


def refuse_large(rows: int, samples: float, plant: Plant) -> None:
    """An error if the records would not fit into any memory."""
    size = rows * samples * record_size(plant) * 8
    if not size <= MAX_RECORD_BYTES:
        raise ShapeError(
            f"simulate: {rows} motions of {samples:.4g} samples would take {size / 2**30:.3g} GiB; record fewer with "
            "record_every, simulate fewer at once, or take a longer dt"
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


def find_divergence(request: Request, t: Array, v: Array, row: int, since: float, h: float) -> Failure:
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
        f"({last.max():.3g}). Take a smaller dt than {h:g} s, softer gains or stops, or method='radau'; "
        "the error's .trajectory holds the motion so far",
    )


# --- equations that are not solved ---


def find_unsolved(t: Array, squared_errors: Array, v: Array, h: float) -> Failure | None:
    """The first step whose equations are not solved, by squared errors (rows, T) and the last velocities (rows, n)."""
    residual = np.sqrt(np.abs(squared_errors))
    limit = MAX_MIDPOINT_RESIDUAL * (1 + np.abs(v).max(axis=1))
    wrong = residual > limit[:, None]
    if not wrong.any():
        return None
    row, sample = np.argwhere(wrong)[0]
    return Failure(
        int(sample),
        f"simulate: the equations of the implicit midpoint rule are not solved at t = {t[sample]:.6g} s (they are off "
        f"by {residual[row, sample]:.2g}); take a smaller dt than {h:g} s, or method='radau' for a stiff motion",
    )


def find_open_loop(robot: Mechanism, t: Array, q: Array, first: int, h: float) -> Failure | None:
    """The first sample from `first` on at which a loop is open, from configurations q (rows, T, nq)."""
    with np.errstate(all="ignore"):
        gaps = np.abs(constraint_residual(robot, q[:, first:]))
    wrong = gaps > MAX_LOOP_GAP
    if not wrong.any():
        return None
    row, sample, equation = np.argwhere(wrong)[0]
    name, at = robot.model.rows[equation].name, first + int(sample)
    return Failure(
        at,
        f"simulate: constraint {name!r} comes open at t = {t[at]:.6g} s, by {gaps[row, sample, equation]:.2g}: the "
        f"mechanism passes a singular position too fast for steps of {h:g} s. Take a smaller dt",
    )


# --- energy ---


def warn_of_energy(request: Request, end: Trajectory, h: float) -> None:
    """A warning where the energy at the end is not that at the start plus the work done."""
    robot, start = request.robot, request.start
    kinetic = kinetic_energy(robot, start.q, start.v)
    before = (kinetic + potential_energy(robot, start.q)).reshape(start.batch)
    work = end.work[..., 0, :]
    error = np.abs(end.energy[..., 0] - before - work[..., 0] + work[..., 1] - work[..., 2])
    scale = np.abs(work).sum(axis=-1) + end.kinetic_energy[..., 0] + kinetic.reshape(start.batch)
    with np.errstate(invalid="ignore"):
        wrong = error > MAX_ENERGY_GAP_RATIO * scale + 1e-9 * (1 + np.abs(before))
    if np.any(wrong):
        row = start.index_of(int(np.argmax(wrong)))
        which = f" (row {row})" if start.batch else ""
        warnings.warn(
            f"simulate: {error[row]:.3g} J of energy came from nowhere{which}, beside {scale[row]:.3g} J of work "
            f"and motion: steps of {h:g} s are too long for {request.integrator.name} here. Take a smaller dt, or "
            "another method, and look at trajectory.energy_error",
            SimulationWarning,
            stacklevel=4,  # the call of simulate
        )
