"""A simulation as the command line asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, rows_of
from chainrule.control.laws.joint_space import PD, PID, ComputedTorque, GravityCompensation
from chainrule.control.laws.task_space import Impedance, OperationalSpace
from chainrule.control.motions.planning import plan
from chainrule.control.motions.poses import plan_pose
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.simulation.request import Impacts, Stops
from chainrule.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot

CONTROLLERS = ("gravity", "pd", "pid", "computed-torque", "impedance", "operational-space")

ARRIVED = 0.6
"""The share of the duration after which a controller's reference has reached its target."""


def run(
    robot: Robot,
    *,
    q0: Array | None,
    qd0: Array | None,
    duration: float,
    method: str,
    dt: float,
    record_every: int,
    torque: Array | None,
    controller: str | None,
    target: Array | None,
    kp: float | None,
    ki: float | None,
    kd: float | None,
    payload: float | None,
    stops: Array | None,
    restitution: float | None,
    no_torque_limits: bool,
    degrees: bool,
) -> Trajectory:
    """The motion of a robot, from words and numbers of the command line."""
    from chainrule.cli.console import in_radians

    if degrees:
        q0, qd0, target = (None if a is None else in_radians(robot, a) for a in (q0, qd0, target))
    start = _home(robot) if q0 is None else robot._argument("simulate", "q0", q0)
    if target is not None:
        target = rows_of(target, robot.nq, "simulate: --target", robot._coordinates)
    if controller is not None and torque is not None:
        raise ShapeError("give either --torque or --controller")
    if controller is None and any(x is not None for x in (target, kp, ki, kd)):
        raise ShapeError(f"--target and gains belong to a controller; name one: {', '.join(CONTROLLERS)}")
    law: Any = torque
    if controller is not None:
        law = _controller(robot, controller, start, target, duration, kp, ki, kd)
    moved = robot if payload is None else robot.with_payload(payload)
    return moved.simulate(
        start, qd0, duration, law, method, dt, record_every=record_every, stops=_stops(stops, restitution),
        torque_limits=not no_torque_limits,
    )  # fmt: skip


def _home(robot: Robot) -> Array:
    """Zero, or the nearest to it within the limits."""
    q = robot.neutral()
    for body in robot.model.bodies:
        if body.joint.mimic is None and body.joint.kind.nq == body.joint.kind.nv:
            for k, dof in enumerate(body.joint.dofs):
                q[body.first_q + k] = min(max(0.0, dof.lower), dof.upper)
    return q


def _stops(stops: Array | None, restitution: float | None) -> Stops | Impacts | None:
    if stops is not None and restitution is not None:
        raise ShapeError("give either --stops or --restitution")
    if stops is not None and len(stops) not in (1, 2):
        raise ShapeError(f"--stops takes a stiffness and a damping, such as 1000,10, got {len(stops)} numbers")
    if stops is not None:
        return Stops(*stops)
    return None if restitution is None else Impacts(restitution)


def _controller(
    robot: Robot,
    name: str,
    start: Array,
    target: Array | None,
    duration: float,
    kp: float | None,
    ki: float | None,
    kd: float | None,
) -> Any:
    """A controller by name, which brings the robot from its start to the target along a motion of least jerk."""
    if name not in CONTROLLERS:
        raise UnknownNameError.of("controller", name, CONTROLLERS, "chainrule")
    if name == "gravity":
        return GravityCompensation(robot, damping=kd or 0.0)
    arrival = ARRIVED * duration
    goal = start if target is None else target
    if name in ("impedance", "operational-space"):
        poses = robot.pose(np.stack([start, goal]))
        along = poses[0] if target is None else plan_pose(poses, times=[0.0, arrival])
        if name == "impedance":
            return Impedance(robot, along, _or(kp, 500.0), kd, joint_damping=1.0)
        return OperationalSpace(robot, along, _or(kp, 100.0), kd)
    if target is None or robot.nq != robot.nv:
        reference: Any = goal
    else:
        reference = plan(robot, np.stack([start, goal]), times=[0.0, arrival], limits=False)
    if name == "pd":
        return PD(robot, reference, _or(kp, 300.0), _or(kd, 40.0))
    if name == "pid":
        return PID(robot, reference, _or(kp, 300.0), _or(ki, 200.0), _or(kd, 40.0))
    return ComputedTorque(robot, reference, _or(kp, 100.0), kd)


def _or(value: float | None, default: float) -> float:
    return default if value is None else value
