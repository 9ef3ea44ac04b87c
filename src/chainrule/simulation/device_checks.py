"""Checks that a simulation on a graphics processor makes by itself: of its starts, its records, and its end.

On the CPU these checks are those of `request` and `guards`. A severity is a whole number, 0 where all is well.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from chainrule.algorithms import energy, friction
from chainrule.algorithms.loop_equations import residuals
from chainrule.compile.cuda.scan_codegen import ScanTapes
from chainrule.compile.program import trace_function
from chainrule.simulation.guards import (
    ENERGY_ROUNDING,
    FRICTION_SLACK,
    MAX_ENERGY_GAP_RATIO,
    MAX_ENERGY_RATIO,
    MAX_LOOP_GAP,
)
from chainrule.simulation.plant import WORKS, Plant, Scalars
from chainrule.simulation.request import LIMIT_TOLERANCE, SimulationRequest
from chainrule.simulation.time_loop import record_size, state_size
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import where

FLOAT32_SLACK = 1e-3
"""The relative error that float32 leaves in works and in friction after many steps."""

FLOAT32_LOOP_GAP = 1e-4
"""The gap, in m, up to which a loop counts as closed in float32."""

FLOAT32_LIMIT_TOLERANCE = 1e-5
"""How far outside its limits a joint may start in float32, in rad or m."""

LARGEST = {32: 1e15, 64: 1e150}
"""Numbers of a state that are no longer taken for finite: their squares still are."""


class Severity(IntEnum):
    """Faults of a row, the worst last."""

    ENERGY = 1
    FRICTION = 2
    OPEN_LOOP = 3
    DIVERGED = 4
    OUTSIDE_LIMITS = 5
    NOT_FINITE = 6


def check_tapes(request: SimulationRequest, bits: int, within_limits: bool) -> ScanTapes:
    """The tapes around the steps of a simulation."""
    plant = request.plant
    nq, nv, size, count = plant.model.nq, plant.model.nv, state_size(plant), 1 + plant.parameter_count
    robot = request.robot
    falling = robot.mass * float(np.linalg.norm(robot.gravity))

    def begin(p: Scalars, q: Scalars, v: Scalars) -> list[Scalar]:
        severity: Scalar = 0.0
        if within_limits:
            severity = where(_is_outside(plant, q, bits), float(Severity.OUTSIDE_LIMITS), 0.0)
        severity = where(_is_finite([*q, *v], bits), severity, float(Severity.NOT_FINITE))
        return [*plant.normalize(q), *v, *([0.0] * plant.nx), severity]

    def check(p: Scalars, start: Scalars, end: Scalars) -> list[Scalar]:
        model = plant.at(p[1:]).model
        q, v = end[:nq], end[nq : nq + nv]
        q0, v0 = start[:nq], start[nq : nq + nv]
        before, after = energy.kinetic_energy(model, q0, v0), energy.kinetic_energy(model, q, v)
        severity: Scalar = 0.0
        if plant.stops != "impact":
            rounding = ENERGY_ROUNDING if bits == 64 else FLOAT32_SLACK
            had = before + energy.potential_energy(model, q0)
            done, lost, by_wrenches = end[size - WORKS :]
            error = after + energy.potential_energy(model, q) - had - done + lost - by_wrenches
            scale = abs(done) + abs(lost) + abs(by_wrenches) + after + before
            wrong = abs(error) > MAX_ENERGY_GAP_RATIO * scale + 1e-9 + rounding * abs(had)
            severity = where(wrong, float(Severity.ENERGY), 0.0)
        calm = after < MAX_ENERGY_RATIO * (before + falling + 1.0)
        severity = where(calm, severity, float(Severity.DIVERGED))
        return [where(_is_finite(end, bits), severity, float(Severity.DIVERGED))]

    def watch(p: Scalars, record: Scalars) -> list[Scalar]:
        own = plant.at(p[1:])
        severity: Scalar = 0.0
        if plant.has_friction:
            severity = where(_exceeds_friction(own, record, bits), float(Severity.FRICTION), severity)
        if plant.rows and request.projects:
            gap = MAX_LOOP_GAP if bits == 64 else FLOAT32_LOOP_GAP
            opening = sum((where(abs(x) > gap, 1.0, 0.0) for x in residuals(own.model, record[:nq])), start=0.0)
            severity = where(opening > 0, float(Severity.OPEN_LOOP), severity)
        return [severity]

    watches = plant.has_friction or (plant.rows and request.projects)
    return ScanTapes(
        trace_function(begin, (count, nq, nv)),
        trace_function(check, (count, size, size)),
        trace_function(watch, (count, record_size(plant))) if watches else None,
        Severity.DIVERGED,
    )


def _is_finite(values: Scalars, bits: int) -> Scalar:
    total = sum((x * x for x in values), start=0.0)
    return total < LARGEST[bits] ** 2


def _is_outside(plant: Plant, q: Scalars, bits: int) -> Scalar:
    tolerance = LIMIT_TOLERANCE if bits == 64 else FLOAT32_LIMIT_TOLERANCE
    count: Scalar = 0.0
    for coordinate in plant.model.layout.coordinates:
        x = q[coordinate.index]
        if np.isfinite(coordinate.lower):
            count = count + where(x < coordinate.lower - tolerance, 1.0, 0.0)
        if np.isfinite(coordinate.upper):
            count = count + where(x > coordinate.upper + tolerance, 1.0, 0.0)
    return count > 0


def _exceeds_friction(plant: Plant, record: Scalars, bits: int) -> Scalar:
    """Whether recorded friction is more than a joint has, as `guards.refuse_excess_friction` finds it."""
    model = plant.model
    nq, nv = model.nq, model.nv
    q, v = record[:nq], record[nq : nq + nv]
    taken = record[len(record) - 1 - nv : len(record) - 1]
    smooth = friction.smooth_friction(model, q, v)
    levels = zip(friction.sliding_levels(model, q, v), plant.breakaway_levels(q), strict=True)
    up, down = ([where(a > b, a, b) for a, b in zip(*pair, strict=True)] for pair in levels)
    beyond_stops = {limit.velocity for limit in plant.limits} if plant.stops else set()
    relative = FRICTION_SLACK if bits == 64 else FLOAT32_SLACK
    count: Scalar = 0.0
    for i in plant.has_friction:
        if i not in beyond_stops:
            dry, slack = taken[i] - smooth[i], relative * (up[i] + down[i] + abs(smooth[i]))
            count = count + where(dry > up[i] + slack, 1.0, 0.0) + where(dry < -down[i] - slack, 1.0, 0.0)
    return count > 0
