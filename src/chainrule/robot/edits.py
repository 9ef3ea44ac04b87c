"""Edits of a robot. Each returns a new robot and leaves the old one as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from chainrule.arguments import (
    names,
    number,
    placement,
    real_array,
    refuse_nonfinite,
    symmetric,
    vector,
    word,
)
from chainrule.core.mechanism import Mechanism
from chainrule.core.names import known_names, numbers_by_name
from chainrule.core.problems import Check, check_mode, report
from chainrule.core.validation import refuse_numbers
from chainrule.errors import ModelError, ModelWarning, ShapeError, UnknownNameError, short_repr, warn_user
from chainrule.kinematics.configurations import home
from chainrule.kinematics.poses import pose
from chainrule.model import Constraint, Dof, Model, Quantity, Spring, edits
from chainrule.model.friction import FrictionFunction
from chainrule.model.layout import UNITS
from chainrule.model.parts import DOF_NUMBERS, with_both_directions
from chainrule.quantities import Units
from chainrule.spatial import Inertia, Rotation, Symmetric, Transform
from chainrule.spatial.physical import objection

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

R = TypeVar("R", bound=Mechanism)


def lock(robot: R, positions: Mapping[str, Any]) -> R:
    """Fix joints at given positions (rad or m; for joints of several coordinates, a list of them).

    Their links become part of what carries them: energies and torques of the rest stay as they were with those
    joints at rest. Joints that mimic a locked one are locked with it.

    >>> import chainrule as cr
    >>> cr.load("panda").lock({"panda_joint7": 0.5}).n
    6
    """
    named = numbers_by_name(positions, "position", "lock")
    if named is None:
        raise ShapeError(f"lock takes a dictionary of joint names and positions, got {type(positions).__name__}")
    positions = dict(zip(known_names(named.names, "lock"), named.values, strict=True))
    kinds = {joint.name: joint.kind for joint in robot.model.joints}
    numbers = {}
    for name, position in positions.items():
        what = f"position of joint {name!r}"
        array = real_array(position, what, _units_of_positions(robot, name))
        refuse_nonfinite(array, what)
        if array.ndim > 1:
            raise ShapeError(f"{what} must be a number or a list of them, got shape {array.shape}")
        kind = kinds.get(name)
        if kind and kind.nq != kind.nv and array.shape == (kind.nq,) and not array[-4:] @ array[-4:] > 0:
            raise ShapeError(f"{what} has a zero quaternion, which is no orientation; (0, 0, 0, 1) turns nothing")
        numbers[name] = array.tolist()
    return type(robot)(edits.lock(robot.model, numbers))


def _units_of_positions(robot: Mechanism, joint: str) -> Units:
    """The unit of each coordinate of a joint."""
    places = robot.layout.by_joint.get(joint)
    if places is None:
        return None
    return [(coordinate.name, coordinate.unit) for coordinate in robot.layout.coordinates[places.q]]


def with_payload(
    robot: R,
    mass: float,
    com: ArrayLike = (0.0, 0.0, 0.0),
    inertia: ArrayLike | None = None,
    *,
    link: str | None = None,
) -> R:
    """Weld a body to a link or frame, the end-effector unless one is named.

    mass in kg; com in m, in that frame; inertia about the com in kg m^2, as (xx, yy, zz), (xx, yy, zz, xy, xz,
    yz) or 3-by-3, none for a point mass.
    """
    I = Symmetric.zero() if inertia is None else symmetric(inertia, "inertia")
    m, c = number(mass, "mass", "kg"), vector(com, "com", "m")
    wrong = objection(m, c, I)
    if wrong:
        raise ModelError(f"the payload {wrong}; correct its mass (kg) or its inertia about the com (kg m^2)")
    return _validate_numbers(robot, edits.add_payload(robot.model, robot.link(link), Inertia.from_com(m, c, I)))


def with_frame(robot: R, name: str, origin: ArrayLike | None = None, *, link: str | None = None) -> R:
    """Name a frame (a tool, a sensor), placed by a 4-by-4 transform in a link or frame."""
    T = placement(origin, "origin")
    return _validate_numbers(robot, edits.add_frame(robot.model, name, robot.link(link), T))


def with_configuration(robot: R, name: str, q: ArrayLike) -> R:
    """Give a configuration q (nq,) a name; a configuration that has it already is replaced.

    It is found in `robot.configurations`, and "home" is what `robot.home()` returns. A configuration outside the
    limits, or with open loops, is kept with a warning.

    >>> import chainrule as cr
    >>> cr.load("planar_2r").with_configuration("home", [0.5, 1.0]).home().tolist()
    [0.5, 1.0]
    """
    label = word(name, "with_configuration: name")
    (array,) = robot.read("with_configuration", q=q)
    if array.ndim != 1:
        raise ShapeError(f"with_configuration: q must be one configuration, of shape ({robot.nq},), got {array.shape}")
    refuse_nonfinite(array, "with_configuration: q")
    wrong = [
        f"{c.name!r} is {x:g} {c.unit}, outside its limits {c.lower:g} to {c.upper:g}"
        for c, x in zip(robot.layout.coordinates, array, strict=True)
        if not c.lower <= x <= c.upper
    ]
    if robot.model.constraints and not robot.closure.is_closed(array):
        wrong.append(f"{robot.closure.describe_gap(array)}, robot.close(q) closes it")
    if wrong:
        warn_user(f"robot {robot.name!r}, configuration {label!r}: {'; '.join(wrong)}", ModelWarning)
    return type(robot)(edits.add_configuration(robot.model, label, array.tolist()))


def with_srdf(robot: R, path_or_text: str | PathLike[str], *, check: Check = "warn") -> R:
    """Add the group states of an SRDF file, or of its text, as named configurations.

    States of different groups with the same name are one configuration. Coordinates outside a state's group are those
    of "home". check: as of `Robot.from_urdf`, about joints that the robot has not and numbers that do not fit.

    >>> import chainrule as cr
    >>> text = '<robot name="arm"><group_state name="bent" group="arm"><joint name="joint1" value="0.5"/>'
    >>> text += '<joint name="joint2" value="1"/></group_state></robot>'
    >>> cr.load("planar_2r").with_srdf(text).configurations["bent"].tolist()
    [0.5, 1.0]
    """
    from chainrule.formats.srdf import with_srdf

    mode = check_mode(check)
    model = with_srdf(robot.model, path_or_text)
    report(robot.name, model.problems[len(robot.model.problems) :], mode, in_file=True)
    return type(robot)(model)


def with_constraint(
    robot: R,
    kind: str,
    link_a: str,
    link_b: str,
    origin_a: ArrayLike | None = None,
    origin_b: ArrayLike | None = None,
    distance: float | None = None,
    name: str | None = None,
) -> R:
    """Close a loop: tie two links or frames, each at a 4-by-4 transform in its own frame.

    kind: "point", the two origins coincide; "hinge", their z axes do too; "weld", their orientations; "distance",
    they are so many metres apart.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").with_constraint("distance", "base", "tip", distance=1.5)
    >>> arm.constraint_names
    ('distance0',)
    """
    kind = word(kind, "with_constraint: kind")
    given = f"{kind}{len(robot.model.constraints)}" if name is None else word(name, "with_constraint: name")
    apart = None if distance is None else number(distance, "distance", "m")
    first, second = word(link_a, "link_a"), word(link_b, "link_b")
    constraint = Constraint(
        given, kind, first, second, placement(origin_a, "origin_a"), placement(origin_b, "origin_b"), apart
    )
    return _validate_numbers(robot, edits.add_constraint(robot.model, constraint))


def without_constraint(robot: R, name: str) -> R:
    """Open the loop that a constraint closes."""
    return type(robot)(edits.remove_constraint(robot.model, word(name, "without_constraint: name")))


def with_strut(
    robot: R,
    link_a: str,
    link_b: str,
    point_a: ArrayLike = (0.0, 0.0, 0.0),
    point_b: ArrayLike = (0.0, 0.0, 0.0),
    length: float | None = None,
    name: str | None = None,
) -> R:
    """Put a massless strut of fixed length between points of two links or frames: a constraint "distance".

    It is hinged at both ends and carries a force along itself only. The points are in m, each in the frame of its link;
    the length is that in the home configuration unless it is given. `constraint_forces` has its force on the second
    link.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").with_strut("base", "tip", length=1.5)
    >>> print(arm.mobility())
    1 degree of freedom: the joints have 2, less 1 equations
    independent joints: joint1
    """
    first, second = word(link_a, "with_strut: link_a"), word(link_b, "with_strut: link_b")
    a, b = (vector(p, f"with_strut: {what}", "m") for p, what in ((point_a, "point_a"), (point_b, "point_b")))
    if length is None:
        T_a, T_b = (pose(robot, home(robot), link) for link in (first, second))
        apart = float(np.linalg.norm((T_b @ [*b, 1.0] - T_a @ [*a, 1.0])[:3]))
        if not apart > 0:
            raise ModelError(
                "with_strut: the two points coincide in the home configuration; give the length, in m, or tie them "
                "with robot.with_constraint('point', ...)"
            )
    else:
        apart = number(length, "with_strut: length", "m")
    at_a, at_b = (Transform(Rotation.identity(), point) for point in (a, b))
    given = f"strut{len(robot.model.constraints)}" if name is None else word(name, "with_strut: name")
    return _validate_numbers(
        robot, edits.add_constraint(robot.model, Constraint(given, "distance", first, second, at_a, at_b, apart))
    )


def with_spring(
    robot: R,
    link_a: str,
    link_b: str,
    point_a: ArrayLike = (0.0, 0.0, 0.0),
    point_b: ArrayLike = (0.0, 0.0, 0.0),
    *,
    stiffness: float = 0.0,
    rest_length: float = 0.0,
    damping: float = 0.0,
    force: float = 0.0,
    name: str | None = None,
) -> R:
    """Put a spring and a damper between points of two links or frames.

    With l the distance of the points, they are pulled together by stiffness (l - rest_length) + damping dl/dt + force.

    Parameters
    ----------
    link_a, link_b
        The links or frames.
    point_a, point_b
        The points, in m, each in the frame of its link.
    stiffness, rest_length
        In N/m and m.
    damping
        In N s/m.
    force
        A constant force in N, positive where it pulls the points together; a gas spring pushes them apart.
    name
        The spring's name; "spring0" and so on unless given.

    >>> import chainrule as cr
    >>> arm = cr.load("pendulum").with_spring("base", "rod", (0, 0.5, 0), (0, -0.5, 0), stiffness=39.24)
    >>> abs(arm.inverse_dynamics([0.7], [0.0], [0.0]).round(9)).tolist()  # it balances gravity everywhere
    [0.0]
    """
    chosen = f"spring{len(robot.model.springs)}" if name is None else name
    numbers = {"stiffness": stiffness, "rest_length": rest_length, "damping": damping, "force": force}
    spring = read_spring(chosen, link_a, link_b, point_a, point_b, "with_spring", **numbers)
    return _validate_numbers(robot, edits.add_spring(robot.model, spring))


def read_spring(
    name: str, link_a: str, link_b: str, point_a: ArrayLike, point_b: ArrayLike, caller: str, **numbers: float
) -> Spring:
    """A spring from what a user gives, checked."""
    units = {"stiffness": "N/m", "rest_length": "m", "damping": "N*s/m", "force": "N"}
    given = {what: number(value, f"{caller}: {what}", units[what]) for what, value in numbers.items()}
    if not any(given[what] for what in ("stiffness", "damping", "force")):
        raise ModelError(f"{caller}: give a stiffness, a damping or a force; a spring without any does nothing")
    return Spring(
        word(name, f"{caller}: name"),
        word(link_a, f"{caller}: link_a"),
        word(link_b, f"{caller}: link_b"),
        vector(point_a, f"{caller}: point_a", "m"),
        vector(point_b, f"{caller}: point_b", "m"),
        **given,
    )


def without_spring(robot: R, name: str) -> R:
    """Take off the spring of this name between two links."""
    return type(robot)(edits.remove_spring(robot.model, word(name, "without_spring: name")))


def with_end_effector(robot: R, name: str) -> R:
    """Make a link or frame the end-effector, which functions take when none is named."""
    robot.model.locate(name)
    return type(robot)(replace(robot.model, end_effector=name))


def with_gravity(robot: R, gravity: ArrayLike) -> R:
    """Another gravity vector, in m/s^2, in base axes."""
    return type(robot)(edits.with_gravity(robot.model, vector(gravity, "gravity", "m/s^2")))


def with_joint_properties(robot: R, **properties: Any) -> R:
    """Other numbers along the joints: limits (lower, upper, velocity, effort), friction (see with_friction), rotor and
    gear, spring (stiffness, rest).

    Each is one number for all, one for each degree of freedom, or a dictionary of joint names and numbers. Unless
    coulomb_negative or static_negative is given as well, coulomb and static count in both directions.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").with_joint_properties(viscous=0.1, coulomb={"joint2": 0.5})
    >>> arm.friction_torque([1.0, 1.0]).round(3).tolist()
    [0.1, 0.6]
    """
    for name in properties:
        if name not in DOF_NUMBERS:
            raise UnknownNameError.of("joint property", name, DOF_NUMBERS, "with_joint_properties")
    completed = with_both_directions(properties)
    numbers = {name: _for_dofs(robot, value, name) for name, value in completed.items()}
    changed: dict[str, list[Dof]] = {}
    for velocity in robot.layout.velocities:
        new: dict[str, Any] = {
            name: float(values[velocity.index]) for name, values in numbers.items() if velocity.index in values
        }
        changed.setdefault(velocity.joint, []).append(replace(velocity.dof, **new))
    joints = [replace(joint, dofs=tuple(changed.get(joint.name, joint.dofs))) for joint in robot.model.joints]
    return _validate_numbers(robot, replace(robot.model, joints=tuple(joints)))


def with_friction(
    robot: R,
    *,
    viscous: Any = None,
    coulomb: Any = None,
    coulomb_negative: Any = None,
    static: Any = None,
    static_negative: Any = None,
    stribeck: Any = None,
    ripple: Any = None,
    ripple_waves: Any = None,
    ripple_phase: Any = None,
    function: Any = None,
) -> R:
    """Other friction in the joints; what is not given stays as it is.

    Each is one number for all joints, one for each degree of freedom, or a dictionary of joint names and numbers.
    Friction is viscous qd + dry friction + function(q, qd). Dry friction opposes the motion; at rest it holds the joint
    up to its break-away level, in `simulate` and in `forward_dynamics(..., stick=True)`.

    Parameters
    ----------
    viscous
        Friction in proportion to the velocity, in N m s/rad or N s/m.
    coulomb, coulomb_negative
        Dry friction in motion, in N m or N; in the other direction the same unless given.
    static, static_negative
        Dry friction at rest, the break-away level, at least that in motion; 0 for the same.
    stribeck
        The Stribeck speed v_s, in rad/s or m/s: dry friction is coulomb + (static - coulomb) exp(-(qd / v_s)^2).
        With 0 it falls at once when the joint breaks away.
    ripple, ripple_waves, ripple_phase
        Dry friction is multiplied by 1 + ripple sin(ripple_waves q + ripple_phase), with a ripple from 0 to 1 and the
        waves in a turn (rad/m where the joint slides).
    function
        A function of (q, qd) of one joint, its position and rate, or a dictionary of joint names and functions (None
        for none): the torque that overcomes further friction, in plain arithmetic, with functions of NumPy and
        `chainrule.spatial.scalar.where` in place of `if`. It is traced once, here. If it jumps at qd = 0, it holds the
        joint at rest as dry friction does. It cannot be saved to a file.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").with_friction(viscous=0.5, coulomb=2.0, static=3.0, stribeck=0.1)
    >>> arm.friction_torque([0.1, 0.1]).round(4).tolist()
    [2.4179, 2.4179]
    >>> own = arm.without_friction().with_friction(function={"joint2": lambda q, qd: 0.3 * qd**3})
    >>> own.friction_torque([1.0, 2.0], [0.0, 0.0]).round(4).tolist()
    [0.0, 2.4]
    """
    given = {
        "viscous": viscous, "coulomb": coulomb, "coulomb_negative": coulomb_negative, "static": static,
        "static_negative": static_negative, "stribeck": stribeck, "ripple": ripple, "ripple_waves": ripple_waves,
        "ripple_phase": ripple_phase,
    }  # fmt: skip
    numbers = {name: value for name, value in given.items() if value is not None}
    if function is not None:
        robot = _with_friction_functions(robot, function)
    return with_joint_properties(robot, **numbers) if numbers else robot


def _with_friction_functions(robot: R, value: Any) -> R:
    """The robot with friction functions, one for all joints or one for each that is named."""
    by_joint = dict(value) if isinstance(value, Mapping) else dict.fromkeys(robot.joint_names, value)
    for name in by_joint:
        if name not in robot.layout.by_joint:
            raise UnknownNameError.of("joint", name, robot.joint_names, f"robot {robot.name!r}")
    joints = []
    for joint in robot.model.joints:
        if joint.name in by_joint:
            own = by_joint[joint.name]
            law = None if own is None else _friction_function(own, f"with_friction: function of joint {joint.name!r}")
            joint = replace(joint, dofs=tuple(replace(dof, friction_function=law) for dof in joint.dofs))
        joints.append(joint)
    return _validate_numbers(robot, replace(robot.model, joints=tuple(joints)))


def _friction_function(value: Any, what: str) -> FrictionFunction:
    """A law of friction that can be compiled."""
    from chainrule.compile.casadi_tape import unsupported_operation

    law = value if isinstance(value, FrictionFunction) else FrictionFunction(value, what)
    if (operation := unsupported_operation(law.traced)) is not None:
        raise ShapeError(f"{what} cannot be compiled: {operation}")
    return law


def with_passive(robot: R, joints: Sequence[str]) -> R:
    """Joints that nothing drives: their effort limit becomes 0, controllers and loop torques leave them out.

    Give them an effort limit, `with_joint_properties(effort={...})`, to drive them again.

    >>> import chainrule as cr
    >>> acrobot = cr.load("double_pendulum").with_passive(["upper_hinge"])
    >>> acrobot.passive_joints, acrobot.actuated
    (('upper_hinge',), (1,))
    """
    return with_joint_properties(robot, effort=dict.fromkeys(names(joints, "with_passive: joints"), 0.0))


def _for_dofs(robot: R, value: Any, name: str) -> dict[int, float]:
    """A number for each degree of freedom that has one."""
    named = numbers_by_name(value, None, name)
    if named is not None:
        value = dict(zip(known_names(named.names, name), named.values, strict=True))
        for joint in value:
            if joint not in robot.layout.by_joint:
                raise UnknownNameError.of("joint", joint, robot.joint_names, f"robot {robot.name!r}")
        return {
            i: _limit(x, f"{name} of joint {joint!r}", _unit_of(robot, name, i))
            for joint, x in value.items()
            for i in robot.layout.velocities_of([joint])
        }
    units = [(f"joint {v.name!r}", _unit_of(robot, name, v.index)) for v in robot.layout.velocities]
    array = real_array(value, name, [(joint, unit) for joint, unit in units if unit] or None)
    if array.shape not in ((), (robot.model.nv,)):
        raise ShapeError(f"{name} must be one number, or {robot.model.nv}, or a dictionary, got shape {array.shape}")
    return dict(enumerate(np.broadcast_to(array, (robot.model.nv,)).tolist()))


def without_friction(robot: R) -> R:
    """No friction at all."""
    return type(robot)(edits.map_dofs(robot.model, lambda dof: dof.without_friction()))


def without_rotors(robot: R) -> R:
    """No rotor inertias."""
    return type(robot)(edits.map_dofs(robot.model, lambda dof: replace(dof, rotor=0)))


def without_springs(robot: R) -> R:
    """No springs at joints, and no springs and dampers between links."""
    model = edits.map_dofs(robot.model, lambda dof: replace(dof, stiffness=0, rest=0))
    return type(robot)(replace(model, springs=()))


def scale_masses(robot: R, factor: float) -> R:
    """All masses and inertias multiplied by a positive factor; rotors stay."""
    scale = number(factor, "factor")
    if not scale > 0:
        raise ModelError(f"the factor of the masses must be positive, got {factor!r}")
    return _validate_numbers(robot, edits.scale_masses(robot.model, scale))


def attach(
    robot: R, other: Mechanism, link: str | None = None, *, origin: ArrayLike | None = None, prefix: str = ""
) -> R:
    """Bolt another robot's base to a link or frame of this one. `prefix` keeps the names of the two apart.

    The other's end-effector becomes that of the whole; gravity is this one's.
    """
    if not isinstance(other, Mechanism) or not isinstance(prefix, str):
        wrong = f"prefix={short_repr(prefix)}" if isinstance(other, Mechanism) else short_repr(other)
        raise ShapeError(f"attach takes a Robot, and a string as prefix, got {wrong}; cr.load(...) makes robots")
    place = placement(origin, "origin")
    return _validate_numbers(robot, edits.attach(robot.model, other.model, robot.link(link), place, prefix))


def rebase(robot: R, link: str) -> R:
    """Hold the robot by another link. Joints keep their names and coordinates.

    The new base stands in the world as it did at q = 0; gravity is turned into its axes.
    """
    return type(robot)(edits.rebase(robot.model, link))


def chain(robot: R, link: str) -> R:
    """Only the links from the base to a link or frame, which becomes the end-effector; the rest is cut off."""
    return type(robot)(edits.chain(robot.model, link))


def floating(robot: R) -> R:
    """The same robot with a free joint under its base."""
    return type(robot)(edits.set_base_free(robot.model))


def with_frames_at_mass_centers(robot: R) -> R:
    """Place the frame of every moving link at its center of mass, as lectures on dynamics often do; axes stay.

    Names, joints, limits, geometry, the end-effector and every torque stay as they were. Functions that speak of a
    link's frame (pose, twists, joint_wrenches, wrenches on a link) then mean its center of mass. Where a link is the
    end-effector, a frame named after it keeps its place.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").with_frames_at_mass_centers()
    >>> arm.links["link2"].com.tolist(), arm.pose([0.0, 0.0])[:3, 3].tolist()
    ([0.0, 0.0, 0.0], [2.0, 0.0, 0.0])
    """
    return type(robot)(edits.center_frames(robot.model))


def merge_fixed(robot: R) -> R:
    """Links on fixed joints become part of what carries them, and their names frames: the same motion."""
    return type(robot)(edits.merge_fixed(robot.model))


def _validate_numbers(robot: R, model: Model) -> R:
    """A robot of the new model, unless its numbers have grown beyond what a float can hold."""
    return type(robot)(refuse_numbers(model))


PROPERTY_QUANTITIES: Mapping[str, Quantity] = {
    "lower": "position",
    "upper": "position",
    "rest": "position",
    "velocity": "velocity",
    "effort": "effort",
    "coulomb": "effort",
    "coulomb_negative": "effort",
    "static": "effort",
    "static_negative": "effort",
    "stribeck": "velocity",
}
"""What is measured by the properties of joints whose unit is that of a state or a torque."""


def _unit_of(robot: Mechanism, name: str, index: int) -> str | None:
    """The unit of a property along one degree of freedom."""
    turns = robot.layout.velocities[index].unit == "rad"
    if name == "viscous":
        return "N m s/rad" if turns else "N s/m"
    if name == "stiffness":
        return "N m/rad" if turns else "N/m"
    if name == "rotor":
        return "kg m^2"
    quantity = PROPERTY_QUANTITIES.get(name)
    return None if quantity is None else UNITS[quantity]["rad" if turns else "m"]


def _limit(value: Any, what: str, unit: str | None = None) -> float:
    """One number, which may be infinite."""
    array = real_array(value, what, unit)
    if array.ndim:
        raise ShapeError(f"{what} must be one number, got shape {array.shape}")
    return float(array)
