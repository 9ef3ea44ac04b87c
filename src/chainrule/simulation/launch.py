"""A simulation, from the arguments of `simulate` to its motion: arguments are checked, and then it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainrule.algorithms.loads import WRENCH_FRAMES
from chainrule.arguments import flag, one_of
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameters import read_parameters, refuse_moving
from chainrule.errors import ModelError, ShapeError, short_repr

if TYPE_CHECKING:
    from chainrule.simulation.device import Device
    from chainrule.simulation.request import Request
    from chainrule.simulation.trajectory import Trajectory


def read_request(
    robot: Mechanism, q0: Any, qd0: Any, torque: Any, parameters: Any, place: Device | None, **options: Any
) -> tuple[Request, Any]:
    """The arguments of `simulate`, checked; and the starts on the device, if one is asked for."""
    from chainrule.simulation import request
    from chainrule.simulation.events import as_events
    from chainrule.simulation.integrators import choose_integrator
    from chainrule.simulation.prescribed import read_prescribed

    robot.require("forward_dynamics")
    if not robot.nv:
        raise ModelError(f"simulate: robot {robot.name!r} has no degrees of freedom, so there is nothing to simulate")
    tolerances = {name: options[name] for name in ("dt", "rtol", "atol")}
    chosen = choose_integrator(options["method"], options["integrator"], **tolerances)
    loops_closed_by = _read_stabilization(options["stabilization"], options["stabilisation"])
    on_divergence = request.read_choice(options["diverged"], ("raise", "keep"), "way with divergence")
    length = request.read_duration(options["duration"], chosen.dt)
    every = request.read_record_every(options["record_every"])
    driven = read_prescribed(robot, options["prescribed"])
    within = flag(options["limits"], "simulate: limits") or options["stops"] is not None
    numbers = read_parameters(robot.model, "simulate", parameters)
    refuse_moving(robot.model, numbers, "simulate")
    there = None
    if place is None:
        start = request.read_start(robot, q0, qd0, within, driven, numbers)
    else:
        from chainrule.simulation.device import read_device_start

        start, there = read_device_start(robot, q0, qd0, place, within, driven, numbers)
    sources = request.SourceReader(robot, start.batch)
    asked = request.Request(
        robot=robot,
        start=start,
        duration=length,
        integrator=chosen,
        torque=sources.torque(torque, within_limits=options["torque_limits"]),
        wrenches=sources.wrenches(options["tip_wrench"], options["wrenches"]),
        wrench_frame=one_of(WRENCH_FRAMES, options["wrench_frame"], "frame of a wrench"),
        prescribed=driven,
        stops=options["stops"],
        torque_limits=options["torque_limits"],
        stabilization=loops_closed_by,
        events=as_events(options["events"]),
        record_every=every,
        progress=options["progress"],
        diverged=on_divergence,
        numbers=numbers,
        limits=within,
    )
    return asked, there


def run_request(asked: Request) -> Trajectory:
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


def _read_stabilization(stabilization: str, other_spelling: str | None) -> str:
    """How loops are kept closed, from either spelling."""
    from chainrule.simulation.request import STABILIZATIONS, read_choice

    if other_spelling is None:
        return read_choice(stabilization, STABILIZATIONS, "stabilization")
    read_choice(other_spelling, STABILIZATIONS, "stabilisation")
    if not isinstance(stabilization, str) or stabilization not in (STABILIZATIONS[0], other_spelling):
        raise ShapeError(
            f"simulate: stabilization ({short_repr(stabilization)}) and stabilisation ({other_spelling!r}) are two "
            "spellings of one option; give one of them"
        )
    return read_choice(other_spelling, STABILIZATIONS, "stabilisation")
