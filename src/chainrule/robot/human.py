"""The human arm as a robot of seven joints, from body mass, height and an anthropometric table.

Masses are fractions of body mass; centres of mass (from the proximal end) and radii of gyration are fractions of
segment length. The tables define the ends of segments differently, so numbers of two tables must not be mixed.

Sources: D. A. Winter, Biomechanics and Motor Control of Human Movement, 4th ed. 2009, table 4.1, with segment
lengths as fractions of height after Drillis & Contini (ibid., figure 4.1); P. de Leva, Adjustments to
Zatsiorsky-Seluyanov's segment inertia parameters, J. Biomechanics 29 (1996), table 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from chainrule.arguments import number, one_of
from chainrule.core.validation import validate
from chainrule.errors import ModelError
from chainrule.model import (
    Configuration,
    Dof,
    Frame,
    Joint,
    Link,
    Model,
    Screw,
)
from chainrule.robot.robot import Robot
from chainrule.spatial import Rotation, Symmetric, Transform, Vector


@dataclass(frozen=True)
class Segment:
    """Fractions: of body mass; of segment length for centre of mass and radii of gyration; of height for length."""

    mass: float
    com: float
    sagittal: float
    transverse: float
    longitudinal: float
    length: float


TABLES: dict[str, tuple[Segment, Segment, Segment]] = {
    "winter": (
        Segment(0.028, 0.436, 0.322, 0.322, 0.0, 0.186),
        Segment(0.016, 0.430, 0.303, 0.303, 0.0, 0.146),
        Segment(0.006, 0.506, 0.297, 0.297, 0.0, 0.108),
    ),
    "de_leva_men": (
        Segment(0.0271, 0.5772, 0.285, 0.269, 0.158, 281.7 / 1741),
        Segment(0.0162, 0.4574, 0.276, 0.265, 0.121, 268.9 / 1741),
        Segment(0.0061, 0.7900, 0.628, 0.513, 0.401, 86.2 / 1741),
    ),
    "de_leva_women": (
        Segment(0.0255, 0.5754, 0.278, 0.260, 0.148, 275.1 / 1735),
        Segment(0.0138, 0.4559, 0.261, 0.257, 0.094, 264.3 / 1735),
        Segment(0.0056, 0.7474, 0.531, 0.454, 0.335, 78.0 / 1735),
    ),
}
"""Upper arm, forearm, hand. Winter gives one radius of gyration, about the transverse axes."""

RANGES = {
    "shoulder_flexion": (-60, 180),
    "shoulder_abduction": (0, 180),
    "shoulder_rotation": (-90, 20),
    "elbow_flexion": (0, 140),
    "forearm_pronation": (-80, 90),
    "wrist_flexion": (-80, 80),
    "wrist_deviation": (-45, 15),
}
"""Ranges of motion in degrees, each named for its positive direction; rotation is internal, deviation radial."""

POSTURES = {
    "home": {"elbow_flexion": 90},
    "hanging": {},
    "reaching": {"shoulder_flexion": 60, "shoulder_abduction": 15, "elbow_flexion": 45},
}
"""Named configurations, in degrees; joints that are not listed are at zero."""

MAX_BODY_HEIGHT_M, MAX_BODY_MASS_KG = 3.0, 700.0
"""No human body is larger: numbers beyond are in other units."""


def human_arm(mass: float = 75.0, height: float = 1.75, table: str = "de_leva_men", name: str = "human_arm") -> Robot:
    """A right arm of seven joints, hanging at q = 0, for a body of the given mass (kg) and height (m).

    The base frame sits in the shoulder: x forward, y to the left, z up; at rest the palm faces the body and the
    thumb forward. Joints in order: shoulder flexion,
    abduction and internal rotation, elbow flexion, forearm pronation, wrist flexion and radial deviation. The
    end-effector is the frame "hand_tip" at the end of the hand's segment. Named configurations: "home", the elbow at a
    right angle; "hanging"; "reaching".

    >>> arm = human_arm(80.0, 1.8)
    >>> round(arm.mass, 3)
    3.952
    """
    one_of(TABLES, table, "anthropometric table")
    mass, height = number(mass, "body mass", "kg"), number(height, "body height", "m")
    for what, value, unit in (("mass", mass, "kg"), ("height", height, "m")):
        if not value > 0:
            raise ModelError(f"body {what} must be a positive number in {unit}, got {value!r}")
    if height > MAX_BODY_HEIGHT_M:
        raise ModelError(f"body height must be in m, got {height:g}; {height / 100:g} m, if that is in cm")
    if mass > MAX_BODY_MASS_KG:
        raise ModelError(f"body mass must be in kg, got {mass:g}; {mass / 1000:g} kg, if that is in g")
    upper, fore, hand = TABLES[table]
    arm_length, fore_length, hand_length = (segment.length * height for segment in (upper, fore, hand))
    x, y, z = Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0)
    chain = [  # joint, axis at rest, link that it moves, distance of the joint below the one before
        ("shoulder_flexion", -y, "shoulder_1", 0.0),
        ("shoulder_abduction", -x, "shoulder_2", 0.0),
        ("shoulder_rotation", z, "upper_arm", 0.0),
        ("elbow_flexion", -y, "elbow", arm_length),
        ("forearm_pronation", z, "forearm", 0.0),
        ("wrist_flexion", x, "wrist", fore_length),
        ("wrist_deviation", -y, "hand", 0.0),
    ]
    bodies = {"upper_arm": upper, "forearm": fore, "hand": hand}
    links = [Link("torso")]
    joints = []
    for joint, axis, link, drop in chain:
        origin = Transform(Rotation.identity(), Vector(0.0, 0.0, -drop))
        low, high = RANGES[joint]
        limits = Dof(lower=math.radians(low), upper=math.radians(high))
        joints.append(Joint(joint, links[-1].name, link, Screw.revolute(axis), origin, (limits,)))
        links.append(_segment(link, bodies[link], mass, height) if link in bodies else Link(link))
    tip = Frame("hand_tip", "hand", Transform(Rotation.identity(), Vector(0.0, 0.0, -hand_length)))
    notes = ["Human right arm of seven joints", f"Body of {mass:g} kg and {height:g} m; segments by table {table!r}"]
    configurations = [
        Configuration(label, tuple((joint, math.radians(angle)) for joint, angle in posture.items()))
        for label, posture in POSTURES.items()
    ]
    model = Model.build(name, links, joints, [tip], end_effector="hand_tip", notes=notes, configurations=configurations)
    return Robot(validate(model, warn=False))


def _segment(name: str, segment: Segment, body_mass: float, height: float) -> Link:
    """A hanging segment: its length along -z; sagittal radius about x, transverse about y, longitudinal about z."""
    m, length = segment.mass * body_mass, segment.length * height
    radii = (segment.sagittal, segment.transverse, segment.longitudinal or THIN)
    xx, yy, zz = (m * (r * length) * (r * length) for r in radii)
    return Link(name, m, Vector(0.0, 0.0, -segment.com * length), Symmetric(xx, yy, zz))


THIN = 0.1
"""Longitudinal radius of gyration where the table has none (Winter): a cylinder's with a radius of length / 7."""
