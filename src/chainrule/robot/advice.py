"""Advice on names that a robot, a subject or the package does not have: where it is, or what it is called here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from chainrule.core.subject import RobotSubject
from chainrule.errors import UnknownAttributeError, short_repr
from chainrule.robot import subjects

MAX_SUGGESTIONS = 3

WORDS: Mapping[str, Iterable[str]] = {
    "robot.pose(q)": ("fk", "fkine", "forward", "forward_kinematics", "direct_kinematics", "transform", "T"),
    "robot.poses(q)": ("fkine_all", "fk_all", "link_poses", "all_poses"),
    "robot.jacobian(q), whose angular rows come first": ("jacob0", "jac", "J", "geometric_jacobian"),
    'robot.jacobian(q, frame="body"), whose angular rows come first,': ("jacobe", "body_jacobian"),
    'robot.jacobian(q, frame="space")': ("space_jacobian",),
    "robot.inverse_kinematics(target)": ("ikine", "ikine_LM", "ik_LM", "solve_ik", "inverse"),
    "robot.ik.branches(target), all solutions in closed form": ("analytic_inverse_kinematics", "ikine_a", "ikine6s"),
    "robot.inverse_dynamics(q, qd, qdd)": ("rne", "rnea", "id", "torque", "torques", "inverse_dynamic"),
    "robot.forward_dynamics(q, qd, tau)": ("aba", "fd", "accel", "fdyn"),
    "robot.mass_matrix(q)": ("inertia", "M", "crba", "inertia_matrix", "mass_matrices", "B", "D", "H"),
    "robot.coriolis_matrix(q, qd)": ("coriolis", "C"),
    "robot.gravity_torque(q)": ("gravload", "G", "g", "gravity_vector", "gravity_torques", "gravity_compensation"),
    "robot.bias(q, qd)": ("nle", "h", "nonlinear_effects", "bias_force", "bias_forces"),
    "robot.friction_torque(qd)": ("friction",),
    "robot.textbook.to_dh(convention=...)": ("dh", "DH", "dh_table", "dh_parameters"),
    "robot.textbook.to_screws()": ("screws", "screw_axes", "poe"),
    "robot.textbook.newton_euler_table(q, qd, qdd)": ("newton_euler", "recursion"),
    "robot.random_state(rng, shape)": ("random", "random_q", "random_configuration", "randq", "sample"),
    "robot.with_payload(mass, com)": ("payload", "add_payload", "set_payload"),
    'robot.edit(joints={"*": {"viscous": 0.1, "coulomb": 0.5}})': ("with_friction", "set_friction"),
    "robot.edit(gravity=(0, 0, -9.81))": ("with_gravity", "set_gravity"),
    'robot.edit(links={"LINK": {"mass": 2.0}})': ("with_mass", "set_mass", "with_link"),
    'robot.edit(joints={"JOINT": {"lower": -1.0, "upper": 1.0}})': ("with_limits", "set_limits", "with_joint"),
    "robot.limits": ("qlim", "joint_limits", "position_limits"),
    "robot.nv": ("n", "dof", "dofs", "n_joints", "num_joints"),
    "robot.center_of_mass(q)": ("com", "center_of_mass_position", "centroid"),
    "robot.show(q)": ("teach", "view", "visualize", "render"),
    "robot.save(path)": ("to_urdf", "write", "dump"),
    'robot.compiled.kernel(name, "cuda"), or simulate(..., device="cuda")': ("gpu", "cuda", "to"),
    "robot.compiled.export(target, path=...)": ("codegen", "generate_code", "to_c"),
    "robot.derivation(method)": ("derive",),
    "robot.analysis.ellipsoid(q)": ("vellipse", "fellipse", "ellipse"),
}  # fmt: skip
"""What other libraries and textbooks call something, and what it is called here."""

PACKAGE_WORDS: Mapping[str, Iterable[str]] = {
    "cr.Robot.from_dh(rows, convention=...)": ("DH", "dh", "DHRobot", "RevoluteDH", "SerialLink", "from_denavit"),
    "cr.Robot.from_screws(home=..., screws=...)": ("POE", "poe", "screws"),
    "cr.load(path)": ("from_file", "load_robot", "load_urdf", "loads", "open", "read", "URDF", "Chain"),
    "cr.Trajectory.load(path, robot)": ("load_motion", "load_trajectory", "read_motion", "Motion"),
    "cr.dataset(paths)": ("generate_dataset", "load_dataset", "Dataset"),
    "cr.plan(robot, waypoints)": ("trajectory", "jtraj", "plan_motion"),
    "chainrule.spatial.Transform": ("SE3", "Transform", "Pose"),
    "chainrule.spatial.Twist": ("Twist",),
    "chainrule.spatial.Wrench": ("Wrench",),
}
"""The same for the names of the package."""


def unknown_attribute(owner: Any, name: str) -> UnknownAttributeError:
    """The error for a name that a robot, or one of its subjects, does not have."""
    if hasattr(type(owner), name):  # a property that failed; its own error says why
        object.__getattribute__(owner, name)
    if not isinstance(owner, RobotSubject):
        return _error(f"a {type(owner).__name__}", name, _names_of(type(owner)), WORDS)
    what = f"robot.{type(owner).__name__.lower()}"
    own = {f"{what}.{other}": other for other in public_names(type(owner))}
    return _error(what, name, own | _names_of(type(owner.robot)), WORDS)


def advice_on(package: str, name: str) -> UnknownAttributeError:
    """The error for a name that the package does not have."""
    module = import_module(package)
    makers = [maker for maker in public_names(module.Robot) if maker.startswith("from_")]
    own = {f"cr.{public}": public for public in dir(module)} | {f"cr.Robot.{maker}": maker for maker in makers}
    others = {path: last for path, last in _names_of(module.Robot).items() if last not in makers}
    return _error(f"module {package!r}", name, own | others, {**PACKAGE_WORDS, **WORDS})


def _names_of(robot: type) -> dict[str, str]:
    """The names of a robot and of its subjects, as they are called, and the last word of each."""
    return {f"robot.{path}": path.rpartition(".")[2] for path in (*public_names(robot), *subject_functions())}


def _error(what: str, name: str, known: Mapping[str, str], words: Mapping[str, Iterable[str]]) -> UnknownAttributeError:
    """known: the last word of each name that there is."""
    same = [full for full, last in known.items() if last == name]
    here = next((here for here, others in words.items() if name in others), None)
    if same:
        hint = f"there is {' or '.join(same)}"
    elif here is not None:
        hint = f"use {here}"
    else:
        close = get_close_matches(name, dict.fromkeys(known.values()), n=MAX_SUGGESTIONS, cutoff=0.6)
        near = [full for word in close for full, last in known.items() if last == word]
        hint = f"did you mean {' or '.join(near[:MAX_SUGGESTIONS])}?" if near else "dir() lists what there is"
    return UnknownAttributeError(f"{what} has no attribute {short_repr(name)}; {hint}")


def public_names(kind: type) -> list[str]:
    """The public names of a class."""
    return [name for name in dir(kind) if not name.startswith("_")]


def subject_functions() -> list[str]:
    """The functions of all subjects: "loops.close"."""
    found = []
    for module in iter_modules(subjects.__path__):
        contents = vars(import_module(f"{subjects.__name__}.{module.name}")).values()
        kinds = [kind for kind in contents if isinstance(kind, type) and issubclass(kind, RobotSubject)]
        kind = next(kind for kind in kinds if kind is not RobotSubject)
        found += [f"{module.name}.{name}" for name in public_names(kind) if name != "robot"]
    return found
