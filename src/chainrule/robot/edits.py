"""Edits of a robot. Each returns a new robot and leaves the old one as it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from chainrule.arguments import (
    number,
    placement,
    real_array,
    refuse_nonfinite,
    symmetric,
    vector,
    word,
)
from chainrule.calls import explains_arguments
from chainrule.control.laws.gains import gains_by_name, joint_gains, joint_inertias
from chainrule.core.friction_function import FrictionFunction
from chainrule.core.joint_names import known_names, values_by_name
from chainrule.core.mechanism import Mechanism
from chainrule.core.problems import Check, check_mode, report
from chainrule.core.reading import find_link
from chainrule.core.validation import refuse_impossible_values
from chainrule.errors import ModelError, ModelWarning, ShapeError, quoted, short_repr, warn_user
from chainrule.model import Constraint, Model, Quantity, Spring, edits, elastic
from chainrule.model.elastic import Elasticity
from chainrule.model.layout import UNITS
from chainrule.quantities import Units
from chainrule.spatial import Inertia, Symmetric
from chainrule.spatial.physical import objection
from chainrule.spatial.scalar import is_zero

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

R = TypeVar("R", bound=Mechanism)


def lock(robot: R, positions: Mapping[str, Any]) -> R:
    """Fix joints at given positions (rad or m; for joints of several coordinates, a list of them).

    Their links become part of what carries them: energies and torques of the rest stay as they were with those
    joints at rest. Joints that mimic a locked one are locked with it.

    >>> import chainrule as cr
    >>> cr.load("panda").lock({"panda_joint7": 0.5}).nv
    6
    """
    named = values_by_name(positions, "position", "lock")
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
    places = robot.model.layout.by_joint.get(joint)
    if places is None:
        return None
    return [(coordinate.name, coordinate.unit) for coordinate in robot.model.layout.coordinates[places.q]]


@explains_arguments
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
    return _validate_numbers(robot, edits.add_payload(robot.model, find_link(robot, link), Inertia.from_com(m, c, I)))


def with_frame(robot: R, name: str, origin: ArrayLike | None = None, *, link: str | None = None) -> R:
    """Name a frame (a tool, a sensor), placed by a 4-by-4 transform in a link or frame."""
    T = placement(origin, "origin")
    return _validate_numbers(robot, edits.add_frame(robot.model, name, find_link(robot, link), T))


@explains_arguments
def with_elastic_joints(
    robot: R,
    stiffness: ArrayLike | Mapping[str, float],
    damping: ArrayLike | Mapping[str, float] = 0.0,
    *,
    rotor: ArrayLike | Mapping[str, float] | None = None,
) -> R:
    """Put a spring and a damper between the motor and the link of joints: two coordinates for each.

    The motor's coordinate keeps the joint's name, limits, friction and effort; "<joint>_spring" is how far the link is
    ahead of it, so that the link stands at the sum of both (`robot.states.link_side`). A rotor only spins.

    Parameters
    ----------
    stiffness, damping
        In N m/rad and N m s/rad, or N/m and N s/m, on the joint's side of the gear: one number for all joints with
        motors, (nv,), or a dictionary of the joints that are elastic.
    rotor
        The inertia of rotors on the joint's side, in kg m^2 or kg, as for stiffness; that of the robot unless given. A
        joint without one gets the inertia that it moves at home, as a matched gear has, with a warning.

    >>> import chainrule as cr
    >>> soft = cr.load("planar_2r").with_elastic_joints(stiffness=5e3, damping=1.0, rotor=0.5)
    >>> soft.joint_names
    ('joint1', 'joint1_spring', 'joint2', 'joint2_spring')
    """
    what = "with_elastic_joints"
    K, D = (joint_gains(robot, x, f"{what}: {n}") for n, x in (("stiffness", stiffness), ("damping", damping)))
    chosen = _elastic_velocities(robot, gains_by_name(stiffness, f"{what}: stiffness"))
    layout = robot.model.layout
    if any(x.ndim != 1 for x in (K, D)) or not all(K[i] > 0 for i in chosen):
        raise ShapeError(
            f"{what}: stiffness must be positive, and one number for each joint, got {short_repr(stiffness)}"
        )
    B = np.array([dof.armature for dof in layout.dofs], dtype=float)
    if rotor is not None:
        B = joint_gains(robot, rotor, f"{what}: rotor")
    bare = [layout.velocities[i].joint for i in chosen if not B[i] > 0]
    if bare and rotor is not None:
        raise ShapeError(f"{what}: rotor must be positive; it is not for {quoted(bare)}")
    if bare:
        B = np.where(B > 0, B, joint_inertias(robot, None, what))
        warn_user(
            f"{what}: robot {robot.name!r} has no rotor inertia at {quoted(bare)}: taken as the inertia that each "
            "moves at home, as a matched gear has; give rotor=, in kg m^2 on the joint's side",
            ModelWarning,
        )
    springs = {layout.velocities[i].joint: Elasticity(*map(float, (K[i], D[i], B[i]))) for i in chosen}
    return _validate_numbers(robot, elastic.with_elastic_joints(robot.model, springs))


def _elastic_velocities(robot: Mechanism, named: Mapping[str, Any] | None) -> list[int]:
    """The places in qd of the joints that get a spring: those named, or all with a motor and one coordinate."""
    followed = {joint.mimic.joint for joint in robot.model.joints if joint.mimic}
    taken = {name for pair in elastic.elastic_joints(robot.model) for name in (pair.motor.name, pair.spring.name)}
    chosen = []
    for joint, _, at in robot.model.layout.joints:
        objections = {
            "has several coordinates": joint.kind.nv != 1,
            "is followed by other joints": joint.name in followed,
            "is elastic already": joint.name in taken,
            "has a spring of its own": not is_zero(joint.dofs[0].stiffness),
            "has no motor (an effort limit of 0)": joint.dofs[0].passive,
        }
        wrong = next((why for why, holds in objections.items() if holds), None)
        if wrong is None and (named is None or joint.name in named):
            chosen.append(at.start)
        elif wrong is not None and named is not None and joint.name in named:
            raise ModelError(f"with_elastic_joints: joint {joint.name!r} of robot {robot.name!r} {wrong}")
    if not chosen:
        raise ModelError(f"with_elastic_joints: robot {robot.name!r} has no joint with a motor and one coordinate")
    return chosen


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
    they are so many meters apart.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r").with_constraint("distance", "base", "tip", distance=1.5)
    >>> arm.model.constraint_names
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


def without_spring(robot: R, name: str | None = None) -> R:
    """Take off the spring of this name between two links; without a name all springs, those at joints too."""
    if name is not None:
        return type(robot)(edits.remove_spring(robot.model, word(name, "without_spring: name")))
    model = edits.map_dofs(robot.model, lambda dof: replace(dof, stiffness=0, rest=0))
    return type(robot)(replace(model, springs=()))


def with_end_effector(robot: R, name: str) -> R:
    """Make a link or frame the end-effector, which functions take when none is named."""
    robot.model.locate(name)
    return type(robot)(replace(robot.model, end_effector=name))


def friction_function(value: Any, what: str) -> FrictionFunction | None:
    """A law of friction that is traced and can be compiled; None for none."""
    return value if value is None or isinstance(value, FrictionFunction) else FrictionFunction(value, what)


def without_friction(robot: R) -> R:
    """No friction at all."""
    return type(robot)(edits.without_friction(robot.model))


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
    return _validate_numbers(robot, edits.attach(robot.model, other.model, find_link(robot, link), place, prefix))


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
    >>> arm = cr.load("planar_2r").textbook.with_frames_at_mass_centers()
    >>> arm.links["link2"].com.tolist(), arm.pose([0.0, 0.0])[:3, 3].tolist()
    ([0.0, 0.0, 0.0], [2.0, 0.0, 0.0])
    """
    return type(robot)(edits.center_frames(robot.model))


def merge_fixed(robot: R) -> R:
    """Links on fixed joints become part of what carries them, and their names frames: the same motion."""
    return type(robot)(edits.merge_fixed(robot.model))


def _validate_numbers(robot: R, model: Model) -> R:
    """A robot of the new model, unless its numbers have grown beyond what a float can hold."""
    return type(robot)(refuse_impossible_values(model))


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


def unit_of_number(name: str, turns: bool) -> str | None:
    """The unit of a number along one degree of freedom; None where it has none."""
    if name == "viscous":
        return "N m s/rad" if turns else "N s/m"
    if name == "stiffness":
        return "N m/rad" if turns else "N/m"
    if name == "rotor":
        return "kg m^2"
    quantity = PROPERTY_QUANTITIES.get(name)
    return None if quantity is None else UNITS[quantity]["rad" if turns else "m"]
