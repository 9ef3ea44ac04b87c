# The public names of chainrule: written here once, for type checkers, editors and `__init__.py`.
from chainrule import symbolic as symbolic
from chainrule import wheels as wheels
from chainrule.compile.load.threads import set_threads as set_threads
from chainrule.control.laws.controller import Controller as Controller
from chainrule.control.laws.joint_space import PD as PD
from chainrule.control.laws.joint_space import PID as PID
from chainrule.control.laws.joint_space import ComputedTorque as ComputedTorque
from chainrule.control.laws.joint_space import GravityCompensation as GravityCompensation
from chainrule.control.laws.task_space import Impedance as Impedance
from chainrule.control.laws.task_space import OperationalSpace as OperationalSpace
from chainrule.control.motions.planning import plan as plan
from chainrule.control.motions.poses import PoseReference as PoseReference
from chainrule.control.motions.poses import plan_pose as plan_pose
from chainrule.control.motions.references import Reference as Reference
from chainrule.control.motions.references import hold as hold
from chainrule.errors import ChainruleError as ChainruleError
from chainrule.errors import FormatError as FormatError
from chainrule.errors import ModelError as ModelError
from chainrule.errors import ModelWarning as ModelWarning
from chainrule.errors import ShapeError as ShapeError
from chainrule.errors import SimulationError as SimulationError
from chainrule.errors import SimulationWarning as SimulationWarning
from chainrule.errors import UnknownNameError as UnknownNameError
from chainrule.inverse_kinematics.result import InverseKinematics as InverseKinematics
from chainrule.robot.human import human_arm as human_arm
from chainrule.robot.library import load as load
from chainrule.robot.library import robots as robots
from chainrule.robot.robot import Robot as Robot
from chainrule.simulation.events import Event as Event
from chainrule.simulation.request import Impacts as Impacts
from chainrule.simulation.request import Stops as Stops
from chainrule.simulation.sources import Samples as Samples
from chainrule.simulation.traced import traceable as traceable
from chainrule.simulation.trajectory import Trajectory as Trajectory

__version__: str
