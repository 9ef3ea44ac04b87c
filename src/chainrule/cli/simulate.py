"""`chainrule simulate`: a motion from a start, free, under constant torques, or under a controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from chainrule.arguments import Array
from chainrule.cli.console import (
    MOTION,
    Numbers,
    OneOf,
    PositiveNumber,
    command,
    degrees_option,
    json_option,
    plain,
    plot_option,
    print_json,
    report_files,
    robot_options,
    terminal,
)
from chainrule.cli.joints import (
    CONFIGURATION,
    JOINT_VALUES,
    JointValues,
    coordinate_units,
    force_units,
    forces,
    gains,
    in_shown_units,
    joint_table,
    positions,
    velocities,
    velocities_in_shown_units,
    velocity_units,
)
from chainrule.control.laws.joint_space import PD, PID, ComputedTorque, GravityCompensation
from chainrule.control.laws.task_space import Impedance, OperationalSpace
from chainrule.control.motions.planning import plan
from chainrule.control.motions.poses import plan_pose
from chainrule.simulation.impacts import Impacts, Stops
from chainrule.simulation.integrators import INTEGRATORS

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.simulation.trajectory import Trajectory

CONTROLLERS = ("gravity", "pd", "pid", "computed-torque", "impedance", "operational-space")

ROUNDING = 1e-12
"""Positions, velocities and torques below this are printed as zero."""

ARRIVAL_SHARE = 0.6
"""The share of the duration after which a controller's reference has reached its target."""


@command(
    "chainrule simulate pendulum --q0 90 --degrees --duration 2        # let it fall",
    "chainrule simulate panda --controller pd --target panda_joint4=-2 --duration 2",
    "chainrule simulate ur5 --controller computed-torque --duration 1 --payload 2 --json",
    "chainrule simulate planar_2r --torque 5,0 --duration 1 --integrator semi_implicit_euler --save motion.csv",
    "chainrule simulate pendulum --duration 2 --plot swing.png",
    keywords={
        "torque_limits=False": "--no-torque-limits",
        "pass limits=False": "give --ignore-limits",
        "trajectory.energy_error": "the energy in the output",
        "; the error's .trajectory holds the motion so far": "",
        " Name the joints with motors by actuated=[...], or pass actuated=True for all": "",
    },
)
@click.option("--q0", type=CONFIGURATION, help="The start in rad or m: numbers, names, or a configuration's name.")
@click.option("--qd0", type=JOINT_VALUES, help="Velocities at the start, in rad/s or m/s; at rest if left out.")
@click.option("--duration", default=5.0, show_default=True, type=PositiveNumber("seconds"), help="Seconds to simulate.")
@click.option(
    "--integrator",
    default="rk4",
    show_default=True,
    type=OneOf("integrator", INTEGRATORS),
    metavar="NAME",
    help=f"The integrator: {', '.join(INTEGRATORS)}.",
)
@click.option("--dt", default=1e-3, show_default=True, type=PositiveNumber("seconds"), help="Its step, in s.")
@click.option(
    "--record",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    metavar="COUNT",
    help="Steps between two samples.",
)
@click.option("--torque", type=JOINT_VALUES, help="Constant torques, in N m or N.")
@click.option("--controller", type=OneOf("controller", CONTROLLERS), metavar="NAME", help=f"{', '.join(CONTROLLERS)}.")
@click.option(
    "--target",
    type=CONFIGURATION,
    help="Where the controller brings the robot, in rad or m; it holds the start if left out.",
)
@click.option(
    "--kp",
    type=JOINT_VALUES,
    help="The controller's stiffness, in N m/rad or N/m, and in 1/s^2 for computed-torque and operational-space: one "
    "number, one for each joint, or names with numbers. Joints that are left out get one that fits their inertia.",
)
@click.option("--ki", type=JOINT_VALUES, help="The gain of the integral of pid, in N m/(rad s) or N/(m s).")
@click.option("--kd", type=JOINT_VALUES, help="Its damping, in N m s/rad or N s/m, or in 1/s; critical if left out.")
@click.option(
    "--payload", type=float, metavar="KG", help="Mass at the end-effector that the controller does not know of."
)
@click.option(
    "--stops", type=Numbers(), help="Springs at the joint limits: stiffness (N m/rad or N/m) and damping, as 1000,10."
)
@click.option(
    "--restitution", type=float, metavar="SHARE", help="Hard stops at the joint limits: the share of speed they return."
)
@click.option("--ignore-limits", is_flag=True, help="Let the start be outside the joints' limits.")
@click.option("--no-torque-limits", is_flag=True, help="Let torques exceed the joints' effort limits.")
@degrees_option
@plot_option
@click.option("--save", type=MOTION, help="A file for the motion: .npz, .csv or .parquet.")
@json_option
@robot_options
def simulate(robot: Robot, plot: str | None, save: str | None, degrees: bool, as_json: bool, **options: Any) -> None:
    """Simulate a robot from a start: free, under constant torques, or under a controller."""
    stop: Any = None
    try:
        motion = run(robot, degrees=degrees, **options)
    except KeyboardInterrupt as interrupt:
        stop = interrupt
        if not getattr(stop, "trajectory", None):
            raise
        motion = stop.trajectory
    if as_json:
        print_json(describe(motion, degrees=degrees))
    else:
        print_motion(motion, degrees=degrees)
    if plot:
        motion.plot(plot)
    if save:
        motion.save(save)
    report_files(plot, save)
    if stop is not None:
        raise stop


def run(
    robot: Robot,
    *,
    q0: JointValues | None,
    qd0: JointValues | None,
    duration: float,
    integrator: str,
    dt: float,
    record: int,
    torque: JointValues | None,
    controller: str | None,
    target: JointValues | None,
    kp: JointValues | None,
    ki: JointValues | None,
    kd: JointValues | None,
    payload: float | None,
    stops: Array | None,
    restitution: float | None,
    no_torque_limits: bool,
    ignore_limits: bool,
    degrees: bool,
) -> Trajectory:
    """The motion of a robot for the options of the command."""
    if controller is not None and torque is not None:
        raise click.UsageError("give either --torque or --controller")
    if controller is None and any(x is not None for x in (target, kp, ki, kd)):
        raise click.UsageError(f"--target and gains belong to a controller; name one: {', '.join(CONTROLLERS)}")
    start = positions(robot, q0, degrees=degrees)
    law: Any = None if torque is None else forces(robot, torque)
    if controller is not None:
        goal = None if target is None else positions(robot, target, degrees=degrees)
        law = _controller(robot, controller, start, goal, duration, kp, ki, kd)
    loaded = robot if payload is None else robot.with_payload(payload)
    return loaded.simulate(
        start, velocities(robot, qd0, degrees=degrees), duration, law, integrator=integrator, dt=dt, record=record,
        stops=_stops(stops, restitution), torque_limits=not no_torque_limits, limits=not ignore_limits,
    )  # fmt: skip


def _stops(stops: Array | None, restitution: float | None) -> Stops | Impacts | None:
    if stops is not None and restitution is not None:
        raise click.UsageError("give either --stops or --restitution")
    if stops is not None and len(stops) not in (1, 2):
        raise click.UsageError(f"--stops takes a stiffness and a damping, such as 1000,10, got {len(stops)} numbers")
    if stops is not None:
        return Stops(*stops)
    return None if restitution is None else Impacts(restitution)


def _controller(
    robot: Robot,
    name: str,
    start: Array,
    target: Array | None,
    duration: float,
    kp: JointValues | None,
    ki: JointValues | None,
    kd: JointValues | None,
) -> Any:
    """A controller by name, which brings the robot from its start to the target along a motion of least jerk."""
    taken = {"gravity": {"kd"}, "pid": {"kp", "ki", "kd"}}.get(name, {"kp", "kd"})
    for option, values in (("kp", kp), ("ki", ki), ("kd", kd)):
        if values is not None and option not in taken:
            raise click.UsageError(f"the controller {name} has no --{option}")
    if name == "gravity":
        if target is not None:
            raise click.UsageError("the controller gravity has no --target: the robot stays where it is put")
        return GravityCompensation(robot, damping=0.0 if kd is None else gains(robot, kd))
    arrival = ARRIVAL_SHARE * duration
    goal = start if target is None else target
    if name in ("impedance", "operational-space"):
        poses = robot.pose(np.stack([start, goal]))
        along = poses[0] if target is None else plan_pose(poses, times=[0.0, arrival])
        if name == "impedance":
            return Impedance(robot, along, _task_gain(kp), _task_gain(kd))
        return OperationalSpace(robot, along, _task_gain(kp), _task_gain(kd))
    if target is None or robot.nq != robot.nv:
        reference: Any = goal
    else:
        reference = plan(robot, np.stack([start, goal]), times=[0.0, arrival], limits=False)
    stiffness, integral, damping = (gains(robot, values) for values in (kp, ki, kd))
    if name == "pd":
        return PD(robot, reference, stiffness, damping)
    if name == "pid":
        return PID(robot, reference, stiffness, integral, damping)
    return ComputedTorque(robot, reference, stiffness, damping)


def _task_gain(values: JointValues | None) -> Any:
    """A gain of the end-effector: one number, or six, three of the rotation and three of the position."""
    if values is None:
        return None
    if values.named or len(values.numbers) not in (1, 6):
        raise values.refuse("takes one number, or six: three of the rotation and three of the position")
    return values.numbers[0] if len(values.numbers) == 1 else np.array(values.numbers)


def describe(trajectory: Trajectory, *, degrees: bool) -> dict[str, Any]:
    """The end of a motion, its largest torques and its energy, as JSON has it."""
    robot: Any = trajectory.robot
    return {
        "robot": robot.name, "method": trajectory.method, "status": trajectory.status, "samples": len(trajectory),
        "t": trajectory.t[-1:], "coordinates": robot.model.layout.coordinate_names,
        "units": coordinate_units(robot, degrees=degrees),
        "q0": in_shown_units(robot, trajectory.q[0], degrees=degrees),
        "q": in_shown_units(robot, trajectory.q[-1], degrees=degrees), "dofs": robot.model.layout.velocity_names,
        "velocity_units": velocity_units(robot, degrees=degrees),
        "qd": velocities_in_shown_units(robot, trajectory.qd[-1], degrees=degrees),
        "torque_units": force_units(robot), "largest_tau": np.abs(trajectory.tau).max(axis=0),
        "energy": trajectory.energy[[0, -1]], "energy_error": _energy_error(trajectory),
    }  # fmt: skip


def _energy_error(trajectory: Trajectory) -> float:
    return float(np.abs(trajectory.energy_error).max()) if len(trajectory) else 0.0


def print_motion(trajectory: Trajectory, *, degrees: bool = False) -> None:
    """Print where each joint started and ended, how fast and how hard it went, and the energy."""
    robot: Any = trajectory.robot
    layout, console = robot.model.layout, terminal()
    console.print(plain(" ".join(repr(trajectory)[1:-1].split())))
    q = in_shown_units(robot, trajectory.q[[0, -1]], degrees=degrees)
    ends = {"start": map(_number, q[0]), "end": map(_number, q[1])}
    console.print(joint_table("coordinate", layout.coordinate_names, coordinate_units(robot, degrees=degrees), ends))
    qd = velocities_in_shown_units(robot, trajectory.qd, degrees=degrees)
    speed, torque = np.abs(qd).max(axis=0), np.abs(trajectory.tau).max(axis=0)
    most: dict[str, Any] = {"at the end": qd[-1], "largest": speed, "largest torque": torque}
    most = {heading: map(_number, values) for heading, values in most.items()} | {"": force_units(robot)}
    console.print(joint_table("velocity", layout.velocity_names, velocity_units(robot, degrees=degrees), most))
    energies = (*trajectory.energy[[0, -1]], *trajectory.work[-1, :2])
    first, last, done, taken = (_number(x).strip() for x in energies)
    console.print(f"energy: {first} J at the start, {last} J at the end; torques did {done} J, friction and")
    console.print(f"stops took {taken} J; not accounted for at any time: at most {_energy_error(trajectory):.2g} J")
    residual = trajectory.constraint_residual
    if residual.size:
        console.print(f"loops: open by at most {np.abs(residual).max():.2g}")


def _number(value: float) -> str:
    """Six digits, and 0 for what is rounding."""
    return f"{value if not abs(value) < ROUNDING else 0.0: .6g}"
