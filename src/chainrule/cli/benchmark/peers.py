"""The same functions in other libraries: Pinocchio, MuJoCo, and the code of Modern Robotics."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from chainrule.cli.benchmark.timing import NANOSECONDS, BenchmarkStates, best
from chainrule.errors import ModelWarning
from chainrule.formats.urdf import to_urdf
from chainrule.model import Joint
from chainrule.robot.robot import Robot

Figures = dict[str, dict[str, float]]
"""Function -> what was measured -> nanoseconds."""

PACKAGES = {"pinocchio": "pin", "mujoco": "mujoco", "modern_robotics": "modern_robotics"}
"""Libraries, and the names under which they are installed."""


def is_installed(package: str) -> bool:
    """Whether a package is installed."""
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def measure_peers(robot: Robot, states: int, seconds: float) -> dict[str, dict[str, Any]]:
    """The figures and versions of all libraries that are installed, or why one refuses the robot."""
    results: dict[str, dict[str, Any]] = {}
    for name, measure in PEERS.items():
        if is_installed(PACKAGES[name]):
            try:
                results[name] = {"version": version(PACKAGES[name]), **measure(robot, states, seconds)}
            except (ValueError, RuntimeError) as error:
                results[name] = {"refused": str(error)[:200]}
    return results


def urdf(robot: Robot) -> str:
    """The robot as URDF for other libraries; joints without limits get some, so that each has one coordinate there."""

    def with_limits(joint: Joint) -> Joint:
        if joint.type not in ("continuous", "revolute") or np.isfinite(joint.dofs[0].lower):
            return joint
        dofs = (replace(joint.dofs[0], lower=-np.pi, upper=np.pi),)
        return replace(joint, kind=replace(joint.kind, name="revolute"), dofs=dofs)  # type: ignore[type-var]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # gravity is set by hand
        return to_urdf(replace(robot.model, joints=tuple(map(with_limits, robot.model.joints))))


def pinocchio(robot: Robot, states: int, seconds: float) -> Figures:
    """Pinocchio's calls from Python, and its own pool of threads where it has one for the function."""
    import pinocchio as pin

    model = pin.buildModelFromXML(urdf(robot))
    model.gravity.linear = robot.gravity
    data = model.createData()
    many = BenchmarkStates(robot, states)
    calls = {
        "inverse_dynamics": pin.rnea, "forward_dynamics": pin.aba, "mass_matrix": pin.crba,
        "bias": pin.nonLinearEffects, "pose": pin.forwardKinematics, "jacobian": pin.computeJointJacobians,
    }  # fmt: skip
    pools = {"inverse_dynamics": "rneaInParallel", "forward_dynamics": "abaInParallel"}
    table: Figures = {}
    for name, function in calls.items():
        arguments = many.arguments(name)
        one = [a[0].copy() for a in arguments]
        table[name] = {"call": best(lambda f=function, a=one: f(model, data, *a), seconds) * NANOSECONDS}  # type: ignore[misc]
        parallel = getattr(pin, pools.get(name, ""), None)
        if parallel is not None:
            columns = [np.asfortranarray(a.T) for a in arguments]
            for key, count in (("batch", 1), ("threads", os.cpu_count() or 1)):
                pool = pin.ModelPool(model, count)
                spent = best(lambda p=pool, n=count, c=columns, f=parallel: f(n, p, *c), seconds)  # type: ignore[misc]
                table[name][key] = spent / states * NANOSECONDS
    return table


def pinocchio_inverse_dynamics(robot: Robot, many: BenchmarkStates, seconds: float) -> float:
    """Nanoseconds of one call of Pinocchio's inverse dynamics."""
    import pinocchio as pin

    model = pin.buildModelFromXML(urdf(robot))
    data = model.createData()
    return best(lambda: pin.rnea(model, data, many.q[0], many.qd[0], many.qdd[0]), seconds) * NANOSECONDS


def mujoco(robot: Robot, states: int, seconds: float) -> Figures:
    """MuJoCo: the state is set and the function called, constraints off."""
    import mujoco as mj

    model = mj.MjModel.from_xml_string(urdf(robot))
    model.opt.gravity = robot.gravity
    model.opt.disableflags |= mj.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mj.MjData(model)
    many = BenchmarkStates(robot, 1)
    q, qd, qdd = many.q[0], many.qd[0], many.qdd[0]

    def inverse() -> None:
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mj.mj_inverse(model, data)

    def forward() -> None:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, qdd
        mj.mj_forward(model, data)

    def kinematics() -> None:
        data.qpos[:] = q
        mj.mj_kinematics(model, data)

    calls = {"inverse_dynamics": inverse, "forward_dynamics": forward, "pose": kinematics}
    return {name: {"call": best(call, seconds) * NANOSECONDS} for name, call in calls.items()}


def modern_robotics(robot: Robot, states: int, seconds: float) -> Figures:
    """The code of the textbook Modern Robotics."""
    import modern_robotics as mr

    table = robot.textbook.to_screws()
    M, G, S = np.array(table.frames), np.array(table.inertias), table.screws
    many = BenchmarkStates(robot, 1)
    q, qd, qdd, g, F = many.q[0], many.qd[0], many.qdd[0], robot.gravity, np.zeros(6)
    calls: dict[str, Callable[[], Any]] = {
        "inverse_dynamics": lambda: mr.InverseDynamics(q, qd, qdd, g, F, M, G, S),
        "forward_dynamics": lambda: mr.ForwardDynamics(q, qd, qdd, g, F, M, G, S),
        "mass_matrix": lambda: mr.MassMatrix(q, M, G, S),
        "pose": lambda: mr.FKinSpace(table.home, S, q),
        "jacobian": lambda: mr.JacobianSpace(S, q),
    }
    return {name: {"call": best(call, seconds) * NANOSECONDS} for name, call in calls.items()}


PEERS: dict[str, Callable[[Robot, int, float], Figures]] = {
    "pinocchio": pinocchio,
    "mujoco": mujoco,
    "modern_robotics": modern_robotics,
}
