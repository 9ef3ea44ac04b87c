"""The run of a simulation: its arguments checked, and then the motion by the integrator asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.algorithms.loads import WRENCH_FRAMES
from chainrule.arguments import flag, one_of
from chainrule.core.evaluation import require
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import read_parameters, refuse_moving
from chainrule.errors import ModelError

if TYPE_CHECKING:
    from chainrule.simulation.device import Device
    from chainrule.simulation.request import SimulationRequest
    from chainrule.simulation.trajectory import Trajectory


OPTIONS: dict[str, Any] = {
    "tip_wrench": None, "prescribed": None, "stops": None, "events": None, "record": 1, "loops": "projection",
    "limits": True, "diverged": "raise", "progress": None,
}  # fmt: skip
"""What holds where a caller of `read_request` has no such option."""


def read_request(
    robot: Mechanism,
    q0: Any,
    qd0: Any,
    torque: Any,
    parameters: Any,
    place: Device | None = None,
    *,
    caller: str = "simulate",
    **given: Any,
) -> tuple[SimulationRequest, Any]:
    """The arguments of `simulate`, checked; and the starts on the device, if one is asked for.

    A simulation without a duration has no end.
    """
    from chainrule.simulation import request
    from chainrule.simulation.events import as_events
    from chainrule.simulation.integrators import choose_integrator
    from chainrule.simulation.prescribed import read_prescribed

    options = OPTIONS | given
    require(robot, "forward_dynamics")
    if not robot.nv:
        raise ModelError(f"{caller}: robot {robot.name!r} has no degrees of freedom, so there is nothing to simulate")
    chosen = choose_integrator(options["integrator"], options["dt"])
    loops_closed_by = request.read_choice(options["loops"], request.STABILIZATIONS, "way to close loops")
    on_divergence = request.read_choice(options["diverged"], ("raise", "keep"), "way with divergence")
    length = request.read_duration(options["duration"], chosen.dt) if "duration" in options else np.inf
    every = request.read_record_every(options["record"])
    driven = read_prescribed(robot, options["prescribed"])
    within = flag(options["limits"], f"{caller}: limits") or options["stops"] is not None
    bound = read_parameters(robot.model, caller, parameters)
    refuse_moving(robot.model, bound, caller)
    there = None
    if place is None:
        start = request.read_start(robot, q0, qd0, within, driven, bound)
    else:
        from chainrule.simulation.device import read_device_start

        start, there = read_device_start(robot, q0, qd0, place, within, driven, bound)
    sources = request.SourceReader(robot, start.batch)
    asked = request.SimulationRequest(
        robot=robot,
        start=start,
        duration=length,
        integrator=chosen,
        torque=sources.torque(torque, within_limits=options["torque_limits"]),
        wrenches=sources.wrenches(options["tip_wrench"], options["external"]),
        wrench_frame=one_of(WRENCH_FRAMES, options["frame"], "frame"),
        prescribed=driven,
        stops=options["stops"],
        torque_limits=options["torque_limits"],
        stabilization=loops_closed_by,
        events=as_events(options["events"]),
        record_every=every,
        progress=options["progress"],
        diverged=on_divergence,
        bound=bound,
        limits=within,
    )
    return asked, there


def run_request(asked: SimulationRequest) -> Trajectory:
    """The motion that is asked for, on the CPU."""
    from chainrule.simulation.integrators import AdaptiveStep, FixedStep

    if isinstance(asked.integrator, FixedStep):
        from chainrule.simulation.fixed_step import simulate_fixed_steps

        motion = simulate_fixed_steps(asked, asked.integrator)
    else:
        assert isinstance(asked.integrator, AdaptiveStep)
        from chainrule.simulation.adaptive import simulate_adaptively

        motion = simulate_adaptively(asked, asked.integrator)
    asked.warn_of_memory()
    return motion
