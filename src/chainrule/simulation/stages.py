"""One step of a plant, as its stages: sticking, integration, prescribed joints, stops by friction, impacts, loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from chainrule.algorithms.sticking import Slip
from chainrule.simulation.friction import resolve_sticking, stop_reversed_joints
from chainrule.simulation.impacts import rebound
from chainrule.simulation.integrators import FixedStep, scale
from chainrule.simulation.plant import Plant, Rates, Scalars
from chainrule.simulation.plant_calls import PlantCalls
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import where

REST_SPEED = 1e-13
"""The speed, in rad/s or m/s, that rounding leaves at a joint in a loop whose other joints have stopped."""

Signals = Callable[[int, Scalars, Scalars], Scalars]
"""The signals of the sources at a stage of a step (0, 1 or 2), for a configuration and a velocity."""


@dataclass(frozen=True)
class StepResult:
    """The state after a step, the rates at its start, and the squared error of its equations."""

    q: Scalars
    v: Scalars
    x: Scalars
    start: Rates
    residual: Scalar


def step(
    plant: Plant,
    calls: PlantCalls,
    scheme: FixedStep,
    q: Scalars,
    v: Scalars,
    x: Scalars,
    signals: Signals,
    restitution: Scalars,
    h: Scalar,
    project: bool = True,
) -> StepResult:
    """The state a time h later.

    Parameters
    ----------
    plant, calls
        What moves, and how its functions are evaluated.
    scheme
        The integrator; its own dt is not used.
    q, v, x
        Configuration, velocity, and further states.
    signals
        Those of the sources, at the stages of the step.
    restitution
        Of hard stops, for each joint.
    h
        The step, in s.
    project
        Whether loops are closed at the end of the step.
    """
    slip, start = resolve_sticking(plant, calls, q, v, x, signals(0, q, v))
    system = PlantDuringStep(plant, calls, signals, slip)
    q, v, x, residual = scheme.step(system, (start.acceleration, start.further), q, v, x, h)
    q, v = plant.follow_prescribed(q, v, signals(2, q, v))
    if slip:
        v = stop_reversed_joints(plant, calls, slip, q, v, h)
    if plant.stops == "impact":
        q, v = rebound(plant, calls, q, v, restitution, scale(start.acceleration, h))
    if plant.rows and project:
        q, v = close_loops(plant, calls, q, v)
    return StepResult(q, v, x, start, residual)


@dataclass(frozen=True)
class PlantDuringStep:
    """A plant whose joints keep their direction of slip: what an integrator sees."""

    plant: Plant
    calls: PlantCalls
    signals: Signals
    slip: Slip | None

    def rates(self, stage: int, q: Scalars, v: Scalars, x: Scalars) -> tuple[Scalars, Scalars]:
        """dv/dt and dx/dt."""
        rates = self.calls.rates(q, v, x, self.signals(stage, q, v), self.slip)
        return rates.acceleration, rates.further

    def coordinate_rates(self, q: Scalars, v: Scalars) -> Scalars:
        """dq/dt."""
        return self.plant.coordinate_rates(q, v)

    def displace(self, q: Scalars, v: Scalars) -> Scalars:
        """The configuration that the velocity v leads to from q in unit time."""
        return self.plant.displace(q, v)

    def normalize(self, q: Scalars) -> Scalars:
        """The configuration q with quaternions of unit length."""
        return self.plant.normalize(q)


def close_loops(plant: Plant, calls: PlantCalls, q: Scalars, v: Scalars) -> tuple[Scalars, Scalars]:
    """The state projected on closed loops; joints at rest that can stick do not move."""
    v = list(v)
    is_free: list[Scalar] = [0 if i in plant.prescribed_velocities else 1 for i in range(plant.model.nv)]
    for i in plant.can_stick:
        is_free[i] = where(v[i] * v[i] > REST_SPEED * REST_SPEED, 1.0, 0.0)
        v[i] = where(is_free[i] == 0, 0.0, v[i])
    q = plant.displace(q, calls.closing_step(q, is_free))
    return q, calls.consistent_velocity(q, v, is_free)
