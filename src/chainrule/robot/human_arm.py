"""The human arm as a robot of seven joints, from body mass, height, side and an anthropometric table.

Masses are fractions of body mass; centers of mass (from the proximal end) and radii of gyration are fractions of
segment length. The tables define the ends of segments differently, so numbers of two tables must not be mixed.

Sources: D. A. Winter, Biomechanics and Motor Control of Human Movement, 4th ed. 2009, table 4.1, with segment
lengths as fractions of height after Drillis & Contini (ibid., figure 4.1); P. de Leva, Adjustments to
Zatsiorsky-Seluyanov's segment inertia parameters, J. Biomechanics 29 (1996), table 4. Ranges of motion: American
Academy of Orthopaedic Surgeons, Joint Motion: Method of Measuring and Recording, 1965, as in C. C. Norkin and
D. J. White, Measurement of Joint Motion, appendix A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from chainrule.arguments import number, one_of
from chainrule.calls import explains_arguments
from chainrule.core.validation import validate
from chainrule.errors import ModelError, ModelWarning, warn_user
from chainrule.model import (
    Box,
    Capsule,
    Configuration,
    Dof,
    Ellipsoid,
    Frame,
    Geometry,
    Joint,
    Link,
    Model,
    Screw,
    Shape,
)
from chainrule.robot import body_points
from chainrule.robot.body_points import SIDES, to_left
from chainrule.robot.robot import Robot
from chainrule.spatial import Rotation, Symmetric, Transform, Vector


@dataclass(frozen=True)
class BodySegment:
    """Fractions: of body mass; of segment length for center of mass and radii of gyration; of height for length."""

    mass: float
    com: float
    sagittal: float
    transverse: float
    longitudinal: float
    length: float


TABLES: dict[str, tuple[BodySegment, BodySegment, BodySegment]] = {
    "winter": (
        BodySegment(0.028, 0.436, 0.322, 0.322, 0.0, 0.186),
        BodySegment(0.016, 0.430, 0.303, 0.303, 0.0, 0.146),
        BodySegment(0.006, 0.506, 0.297, 0.297, 0.0, 0.108),
    ),
    "de_leva_men": (
        BodySegment(0.0271, 0.5772, 0.285, 0.269, 0.158, 281.7 / 1741),
        BodySegment(0.0162, 0.4574, 0.276, 0.265, 0.121, 268.9 / 1741),
        BodySegment(0.0061, 0.7900, 0.628, 0.513, 0.401, 86.2 / 1741),
    ),
    "de_leva_women": (
        BodySegment(0.0255, 0.5754, 0.278, 0.260, 0.148, 275.1 / 1735),
        BodySegment(0.0138, 0.4559, 0.261, 0.257, 0.094, 264.3 / 1735),
        BodySegment(0.0056, 0.7474, 0.531, 0.454, 0.335, 78.0 / 1735),
    ),
}
"""Upper arm, forearm, hand. Winter gives one radius of gyration, about the transverse axes."""

PRONATED = ("forearm", "hand")
"""Segments that at rest are turned by 90 degrees from where they were measured, with the palm forward."""

RANGES = {
    "shoulder_flexion": (-60, 180),
    "shoulder_abduction": (-45, 180),
    "shoulder_rotation": (-90, 70),
    "elbow_flexion": (0, 150),
    "forearm_pronation": (-80, 80),
    "wrist_flexion": (-70, 80),
    "wrist_deviation": (-30, 20),
}
"""Ranges of motion in degrees, each named for its positive direction; rotation is internal, deviation radial.

Abduction comes after flexion in this arm, so that with the arm raised forward it moves in the horizontal plane. Its
lower end is the horizontal flexion of 135 degrees, 45 beyond straight ahead.
"""

POSTURES = {
    "home": {"elbow_flexion": 90},
    "hanging": {},
    "reaching": {"shoulder_flexion": 60, "shoulder_abduction": 15, "elbow_flexion": 45},
}
"""Named configurations, in degrees; joints that are not listed are at zero."""

TABLES_BY_SEX = {"male": "de_leva_men", "female": "de_leva_women"}

MAX_BODY_HEIGHT_M, MAX_BODY_MASS_KG = 3.0, 700.0
"""No human body is larger: numbers beyond are in other units."""

LIVING_HEIGHT_M, LIVING_BODY_MASS_INDEX = (0.4, MAX_BODY_HEIGHT_M), (6.0, 250.0)
ADULT_HEIGHT_M, ADULT_BODY_MASS_INDEX = (1.2, 2.3), (12.0, 50.0)
"""What a living body can have, and what the adults have on whom the tables were measured, with some room; the body
mass index is mass over height squared, in kg/m^2."""

DENSITY_KG_M3 = {"upper_arm": 1070.0, "forearm": 1130.0}
"""Densities of segments (Winter, table 4.1), from which pictures have their thickness."""

SKIN, BODY = (0.93, 0.76, 0.65, 1.0), (0.80, 0.82, 0.86, 1.0)
"""Colors of the arm and of the rest of the body in pictures."""


@explains_arguments
def human_arm(
    mass: float = 75.0,
    height: float = 1.75,
    table: str | None = None,
    name: str = "human_arm",
    *,
    side: str = "right",
    sex: str | None = None,
) -> Robot:
    """An arm of seven joints, hanging at q = 0, for a body of the given mass (kg) and height (m).

    The base frame sits in the shoulder: x forward, y to the left, z up; at rest the palm faces the body and the
    thumb forward. Joints in order: shoulder flexion, abduction and internal rotation, elbow flexion, forearm pronation,
    wrist flexion and radial deviation; their limits are the ranges of motion of the American Academy of Orthopaedic
    Surgeons. The end-effector is the frame "hand_tip" at the end of the hand's segment. Points of the body that
    a hand goes to are frames as well: "mouth", "ear", "lap" and the others of `body_points`. Named configurations:
    "home", the elbow at a right angle; "hanging"; "reaching".

    Parameters
    ----------
    mass, height
        Of the whole body, in kg and m. What no human body has is refused; what adults do not have is warned about,
        since the tables were measured on adults.
    table
        "de_leva_men", "de_leva_women" or "winter". Where none is named, de Leva's for the sex.
    name
        Of the robot.
    side
        "right", or "left": its mirror image. The same joint angles are the same motion of the body on both sides.
    sex
        "male" (as where none is named) or "female".

    Examples
    --------
    >>> arm = human_arm(80.0, 1.8)
    >>> round(arm.mass, 3)
    3.952
    >>> bool(human_arm(side="left").pose([0, 0.5, 0, 0, 0, 0, 0])[1, 3] > 0)  # the left arm is abducted to the left
    True
    """
    chosen = _choose_table(table, sex)
    one_of(SIDES, side, "side", "a body")
    mass, height = _check_body(mass, height)
    bodies = dict(zip(("upper_arm", "forearm", "hand"), TABLES[chosen], strict=True))
    links, joints = [Link("torso")], []
    for joint, axis, link, above in _chain(side):
        drop = bodies[above].length * height if above else 0.0
        origin = Transform(Rotation.identity(), Vector(0.0, 0.0, -drop))
        low, high = RANGES[joint]
        limits = Dof(lower=math.radians(low), upper=math.radians(high))
        joints.append(Joint(joint, links[-1].name, link, Screw.revolute(axis), origin, (limits,)))
        links.append(_segment(link, bodies[link], mass, height) if link in bodies else Link(link))
    tip = Vector(0.0, 0.0, -bodies["hand"].length * height)
    frames = [Frame("hand_tip", "hand", Transform(Rotation.identity(), tip))] + [
        Frame(point, "torso", Transform(Rotation.identity(), body_points.point_of_body(point, height, side)))
        for point in body_points.POINTS
    ]
    notes = [
        f"Human {side} arm of seven joints",
        f"Body of {mass:g} kg and {height:g} m; segments by table {chosen!r}; ranges of motion by the AAOS (1965)",
    ]
    model = Model.build(
        name, links, joints, frames, end_effector="hand_tip", notes=notes,
        configurations=_configurations(), geometries=_geometries(bodies, mass, height, side),
    )  # fmt: skip
    return Robot(validate(model, warn=False))


def _choose_table(table: str | None, sex: str | None) -> str:
    """The anthropometric table, which has to be one of the sex where both are named."""
    if sex is not None:
        one_of(TABLES_BY_SEX, sex, "sex", "an anthropometric table")
    if table is None:
        return TABLES_BY_SEX[sex or "male"]
    one_of(TABLES, table, "anthropometric table")
    of_sex = TABLES_BY_SEX.get(sex or "")
    if of_sex is not None and table in TABLES_BY_SEX.values() and table != of_sex:
        raise ModelError(f"the table {table!r} is not that of sex {sex!r}; give one of the two, or table={of_sex!r}")
    return table


def _check_body(mass: float, height: float) -> tuple[float, float]:
    """Body mass and height, in kg and m; what no human has is refused, what no adult has is warned about."""
    mass, height = number(mass, "body mass", "kg"), number(height, "body height", "m")
    for what, value, unit in (("mass", mass, "kg"), ("height", height, "m")):
        if not value > 0:
            raise ModelError(f"body {what} must be a positive number in {unit}, got {value!r}")
    if height > MAX_BODY_HEIGHT_M:
        raise ModelError(f"body height must be in m, got {height:g}; {height / 100:g} m, if that is in cm")
    if mass > MAX_BODY_MASS_KG:
        raise ModelError(f"body mass must be in kg, got {mass:g}; {mass / 1000:g} kg, if that is in g")
    index = mass / height / height
    stated = {
        f"a body height of {height:g} m": (height, LIVING_HEIGHT_M, ADULT_HEIGHT_M),
        f"a body mass index of {index:.3g} kg/m^2 ({mass:g} kg, {height:g} m)":
            (index, LIVING_BODY_MASS_INDEX, ADULT_BODY_MASS_INDEX),
    }  # fmt: skip
    for what, (value, living, adult) in stated.items():
        if not living[0] <= value <= living[1]:
            raise ModelError(
                f"no human has {what}: it is between {living[0]:g} and {living[1]:g}; mass in kg, height in m"
            )
        if not adult[0] <= value <= adult[1]:
            warn_user(
                f"adults do not have {what}, but between {adult[0]:g} and {adult[1]:g}; the anthropometric tables were "
                "measured on adults",
                ModelWarning,
            )
    return mass, height


def _chain(side: str) -> list[tuple[str, Vector, str, str | None]]:
    """The joints: name, axis at rest, link that it moves, segment between it and the joint before.

    A rotation seen in a mirror at the plane of x and z turns about the mirrored axis the other way: its components
    along x and z change their signs, the one along y does not.
    """
    x, y, z = Vector(1.0, 0.0, 0.0) * to_left(side), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0) * to_left(side)
    return [
        ("shoulder_flexion", -y, "shoulder_1", None),
        ("shoulder_abduction", -x, "shoulder_2", None),
        ("shoulder_rotation", z, "upper_arm", None),
        ("elbow_flexion", -y, "elbow", "upper_arm"),
        ("forearm_pronation", z, "forearm", None),
        ("wrist_flexion", x, "wrist", "forearm"),
        ("wrist_deviation", -y, "hand", None),
    ]


def _configurations() -> list[Configuration]:
    return [
        Configuration(label, tuple((joint, math.radians(angle)) for joint, angle in posture.items()))
        for label, posture in POSTURES.items()
    ]


def _segment(name: str, segment: BodySegment, body_mass: float, height: float) -> Link:
    """A hanging segment: its length along -z, the axis of the longitudinal radius.

    In the tables the palm faces forward: the sagittal axis is the palm's normal, about which a hand has its largest
    moment. At rest this arm's palm faces the body, so that forearm and hand are turned by 90 degrees about z: their
    sagittal radius is about y and their transverse one about x. The upper arm's are about x and y.
    """
    m, length = segment.mass * body_mass, segment.length * height
    across = (segment.transverse, segment.sagittal) if name in PRONATED else (segment.sagittal, segment.transverse)
    radii = (*across, segment.longitudinal or THIN)
    xx, yy, zz = (m * (r * length) * (r * length) for r in radii)
    return Link(name, m, Vector(0.0, 0.0, -segment.com * length), Symmetric(xx, yy, zz))


THIN = 0.1
"""Longitudinal radius of gyration where the table has none (Winter): a cylinder's with a radius of length / 7."""


def _geometries(bodies: dict[str, BodySegment], mass: float, height: float, side: str) -> list[Geometry]:
    """Shapes for pictures: segments as thick as their masses make them, a hand with its thumb, trunk, neck and head."""
    shapes: list[tuple[str, Shape, Vector, tuple[float, float, float, float]]] = []
    for link, density in DENSITY_KG_M3.items():
        length = bodies[link].length * height
        radius = math.sqrt(bodies[link].mass * mass / (density * math.pi * length))
        shapes.append((link, Capsule(radius, max(length - radius, 0.0)), Vector(0.0, 0.0, -length / 2), SKIN))
    hand, breadth = body_points.HAND_LENGTH * height, body_points.HAND_BREADTH * height
    thumb = Vector(breadth * 0.65, 0.0, -hand * 0.42)
    shapes.append(("hand", Box(Vector(breadth, breadth / 3, hand)), Vector(0.0, 0.0, -hand / 2), SKIN))
    shapes.append(("hand", Capsule(breadth / 7, hand * 0.3), thumb, SKIN))
    middle = to_left(side) * body_points.SHOULDER_TO_MIDLINE
    trunk = Vector(body_points.TRUNK_DEPTH / 2, 0.1, 0.16) * height
    head = Vector(body_points.HEAD_LENGTH / 2, body_points.HEAD_BREADTH / 2, (1 - body_points.CHIN_HEIGHT) / 2) * height
    crown = 1 - body_points.SHOULDER_HEIGHT
    shapes.append(("torso", Ellipsoid(trunk), Vector(0.0, middle, -0.14) * height, BODY))
    shapes.append(("torso", Capsule(0.035 * height, 0.06 * height), Vector(0.0, middle, 0.03) * height, BODY))
    shapes.append(("torso", Ellipsoid(head), Vector(0.0, middle * height, crown * height - head.z), BODY))
    return [
        Geometry(link, shape, Transform(Rotation.identity(), place), "visual", color)
        for link, shape, place, color in shapes
    ]
