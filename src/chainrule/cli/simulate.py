"""`chainrule simulate`: a motion from a start, free, under constant torques, or under a controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np
from rich.table import Table

from chainrule.arguments import Array, rows_of
from chainrule.cli.console import NUMBERS, in_radians, load_robot, plain, print_json, report_file, terminal
from chainrule.control.laws.joint_space import PD, PID, ComputedTorque, GravityCompensation
from chainrule.control.laws.task_space import Impedance, OperationalSpace
from chainrule.control.motions.planning import plan
from chainrule.control.motions.poses import plan_pose
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.plots.canvas import refuse_unwritable
from chainrule.simulation.files import format_of
from chainrule.simulation.impacts import Impacts, Stops

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.simulation.trajectory import Trajectory

CONTROLLERS = ("gravity", "pd", "pid", "computed-torque", "impedance", "operational-space")

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended."""

ARRIVAL_SHARE = 0.6
"""The share of the duration after which a controller's reference has reached its target."""


@click.command()
@click.argument("robot")
@click.option(
    "--q0", type=NUMBERS, help="Where it starts, rad or m; zero if left out, or the nearest within the limits."
)
@click.option("--qd0", type=NUMBERS, help="Velocities at the start; at rest if left out.")
@click.option("--duration", default=5.0, show_default=True, help="Seconds to simulate.")
@click.option("--method", default="rk4", show_default=True, help="The integrator.")
@click.option("--dt", default=1e-3, show_default=True, help="Its step, in s.")
@click.option("--record-every", default=1, show_default=True, help="Steps between two samples.")
@click.option("--torque", type=NUMBERS, help="Constant torques.")
@click.option("--controller", help="gravity, pd, pid, computed-torque, impedance or operational-space.")
@click.option("--target", type=NUMBERS, help="Where the controller brings the robot, as joint positions.")
@click.option("--kp", type=float, help="The controller's stiffness; scaled with each joint's inertia if left out.")
@click.option("--ki", type=float, help="The gain of its integral.")
@click.option("--kd", type=float, help="Its damping; critical if left out.")
@click.option("--payload", type=float, help="Kilograms at the end-effector that the controller does not know of.")
@click.option("--stops", type=NUMBERS, help="Stiffness and damping of stops at the joint limits.")
@click.option("--restitution", type=float, help="Hard stops at the joint limits: the share of speed they return.")
@click.option("--no-torque-limits", is_flag=True, help="Let torques exceed the joints' effort limits.")
@click.option("--degrees", is_flag=True, help="Angles, and their rates, are in degrees.")
@click.option("--plot", type=click.Path(dir_okay=False), help="A picture to write: .png, .pdf or .svg.")
@click.option("--save", type=click.Path(dir_okay=False), help="A file for the motion: .npz, .csv or .parquet.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def simulate(robot: str, plot: str | None, save: str | None, as_json: bool, **options: Any) -> None:
    """Simulate a robot from a start: free, under constant torques, or under a controller."""
    if save:  # before the work, not after it
        format_of(save)
    if plot:
        refuse_unwritable(plot)
    motion = run(load_robot(robot), **options)
    print_motion(motion, as_json=as_json)
    if plot:
        motion.plot(plot)
        report_file(plot)
    if save:
        motion.save(save)
        report_file(save)
    if motion.status == "interrupted":
        raise SystemExit(INTERRUPTED)


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
    """The motion of a robot for the options of the command."""
    if degrees:
        q0, qd0, target = (None if a is None else in_radians(robot, a) for a in (q0, qd0, target))
    start = _home(robot) if q0 is None else robot.read("simulate", q0=q0)[0]
    if target is not None:
        target = rows_of(target, robot.nq, "simulate: --target", robot.describe_coordinates())
    if controller is not None and torque is not None:
        raise ShapeError("give either --torque or --controller")
    if controller is None and any(x is not None for x in (target, kp, ki, kd)):
        raise ShapeError(f"--target and gains belong to a controller; name one: {', '.join(CONTROLLERS)}")
    law: Any = torque
    if controller is not None:
        law = _controller(robot, controller, start, target, duration, kp, ki, kd)
    loaded = robot if payload is None else robot.with_payload(payload)
    return loaded.simulate(
        start, qd0, duration, law, method, dt, record_every=record_every, stops=_stops(stops, restitution),
        torque_limits=not no_torque_limits,
    )  # fmt: skip


def _home(robot: Robot) -> Array:
    """The configuration of zeros, or the nearest to it within the limits."""
    q = robot.neutral()
    for coordinate in robot.layout.coordinates:
        if coordinate.velocity is not None:
            q[coordinate.index] = min(max(0.0, coordinate.lower), coordinate.upper)
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
    arrival = ARRIVAL_SHARE * duration
    goal = start if target is None else target
    if name in ("impedance", "operational-space"):
        poses = robot.pose(np.stack([start, goal]))
        along = poses[0] if target is None else plan_pose(poses, times=[0.0, arrival])
        if name == "impedance":
            return Impedance(robot, along, kp, kd)
        return OperationalSpace(robot, along, kp, kd)
    if target is None or robot.nq != robot.nv:
        reference: Any = goal
    else:
        reference = plan(robot, np.stack([start, goal]), times=[0.0, arrival], limits=False)
    if name == "pd":
        return PD(robot, reference, kp, kd)
    if name == "pid":
        return PID(robot, reference, kp, ki, kd)
    return ComputedTorque(robot, reference, kp, kd)


def print_motion(trajectory: Trajectory, *, as_json: bool = False) -> None:
    """Print where each joint started and ended, how fast and how hard it went, and the energy."""
    balance = float(np.abs(trajectory.energy_error).max()) if len(trajectory) else 0.0
    if as_json:
        facts = {
            "robot": trajectory.robot.name, "method": trajectory.method, "status": trajectory.status,
            "samples": len(trajectory), "t": trajectory.t[-1:].tolist(), "q": trajectory.q[-1].tolist(),
            "qd": trajectory.qd[-1].tolist(), "largest_tau": np.abs(trajectory.tau).max(axis=0).tolist(),
            "energy": trajectory.energy[[0, -1]].tolist(), "energy_error": balance,
        }  # fmt: skip
        print_json(facts)
        return
    layout = trajectory.robot.layout
    console = terminal()
    console.print(plain(repr(trajectory)[1:-1]))
    ends = Table("coordinate", "start", "end", box=None)
    for k, name in enumerate(layout.coordinate_names):
        ends.add_row(plain(name), f"{trajectory.q[0, k]: .6g}", f"{trajectory.q[-1, k]: .6g}")
    console.print(ends)
    most = Table("velocity", "at the end", "largest", "largest torque", box=None)
    for k, name in enumerate(layout.velocity_names):
        speed, torque = (np.abs(a[:, k]).max() for a in (trajectory.qd, trajectory.tau))
        most.add_row(plain(name), f"{trajectory.qd[-1, k]: .6g}", f"{speed:.6g}", f"{torque:.6g}")
    console.print(most)
    first, last = trajectory.energy[[0, -1]]
    work = trajectory.work[-1]
    console.print(
        f"energy: {first:.6g} J at the start, {last:.6g} J at the end; torques did {work[0]:.6g} J, friction and"
    )
    console.print(f"stops took {work[1]:.6g} J; not accounted for at any time: at most {balance:.2g} J")
    residual = trajectory.constraint_residual
    if residual.size:
        console.print(f"loops: open by at most {np.abs(residual).max():.2g}")
