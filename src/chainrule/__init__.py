"""chainrule: kinematics and dynamics of robots, each algorithm written once.

>>> import chainrule as cr
>>> robot = cr.load("planar_2r")
>>> robot.mass_matrix([0.0, 0.0]).tolist()
[[5.0, 2.0], [2.0, 1.0]]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Robot": "chainrule.robot",
    "load": "chainrule.library",
    "robots": "chainrule.library",
    "human_arm": "chainrule.human",
    "set_threads": "chainrule.compile.threads",
    "plan": "chainrule.control.planning",
    "plan_pose": "chainrule.control.poses",
    "hold": "chainrule.control.references",
    "Reference": "chainrule.control.references",
    "PoseReference": "chainrule.control.poses",
    "Controller": "chainrule.control.controller",
    "GravityCompensation": "chainrule.control.joint_space",
    "PD": "chainrule.control.joint_space",
    "PID": "chainrule.control.joint_space",
    "ComputedTorque": "chainrule.control.joint_space",
    "Impedance": "chainrule.control.task_space",
    "OperationalSpace": "chainrule.control.task_space",
    "Trajectory": "chainrule.simulation.trajectory",
    "Samples": "chainrule.simulation.sources",
    "traceable": "chainrule.simulation.traced",
    "Stops": "chainrule.simulation.setup",
    "Impacts": "chainrule.simulation.setup",
    "Event": "chainrule.simulation.events",
    "ChainruleError": "chainrule.errors",
    "ModelError": "chainrule.errors",
    "FormatError": "chainrule.errors",
    "ShapeError": "chainrule.errors",
    "UnknownNameError": "chainrule.errors",
    "InverseKinematics": "chainrule.inverse.result",
    "SimulationError": "chainrule.errors",
    "SimulationWarning": "chainrule.errors",
    "ModelWarning": "chainrule.errors",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 (the names are strings)

if TYPE_CHECKING:
    from chainrule.compile.threads import set_threads as set_threads
    from chainrule.control.controller import Controller as Controller
    from chainrule.control.joint_space import PD as PD
    from chainrule.control.joint_space import PID as PID
    from chainrule.control.joint_space import ComputedTorque as ComputedTorque
    from chainrule.control.joint_space import GravityCompensation as GravityCompensation
    from chainrule.control.planning import plan as plan
    from chainrule.control.poses import PoseReference as PoseReference
    from chainrule.control.poses import plan_pose as plan_pose
    from chainrule.control.references import Reference as Reference
    from chainrule.control.references import hold as hold
    from chainrule.control.task_space import Impedance as Impedance
    from chainrule.control.task_space import OperationalSpace as OperationalSpace
    from chainrule.errors import (
        ChainruleError as ChainruleError,
    )
    from chainrule.errors import (
        FormatError as FormatError,
    )
    from chainrule.errors import (
        ModelError as ModelError,
    )
    from chainrule.errors import (
        ModelWarning as ModelWarning,
    )
    from chainrule.errors import (
        ShapeError as ShapeError,
    )
    from chainrule.errors import (
        SimulationError as SimulationError,
    )
    from chainrule.errors import (
        SimulationWarning as SimulationWarning,
    )
    from chainrule.errors import (
        UnknownNameError as UnknownNameError,
    )
    from chainrule.human import human_arm as human_arm
    from chainrule.inverse.result import InverseKinematics as InverseKinematics
    from chainrule.library import load as load
    from chainrule.library import robots as robots
    from chainrule.robot import Robot as Robot
    from chainrule.simulation.events import Event as Event
    from chainrule.simulation.setup import Impacts as Impacts
    from chainrule.simulation.setup import Stops as Stops
    from chainrule.simulation.sources import Samples as Samples
    from chainrule.simulation.traced import traceable as traceable
    from chainrule.simulation.trajectory import Trajectory as Trajectory


def __getattr__(name: str) -> Any:
    if name in ("symbolic", "wheels"):
        return import_module(f"chainrule.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'chainrule' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
