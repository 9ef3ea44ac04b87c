"""Settings of an MJCF model, from <compiler> and <option>, and the poses that depend on them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from chainrule.formats.exact import scale_down, snap
from chainrule.formats.mjcf.defaults import ORIENTATIONS
from chainrule.formats.mjcf.document import Document, flag, word
from chainrule.formats.xml import Node
from chainrule.model import GRAVITY
from chainrule.spatial import Quaternion, Rotation, Transform, Vector

_AXES = {"x": Vector(1.0, 0.0, 0.0), "y": Vector(0.0, 1.0, 0.0), "z": Vector(0.0, 0.0, 1.0)}

MIN_LENGTH = 1e-14
"""Length (m) below which two points are the same (MuJoCo's mjMINVAL)."""

MIN_SQUARE = 1e-14
"""Square of the length from which on the numbers of a file have a direction."""


@dataclass
class Settings:
    """The attributes of all <compiler> and <option> elements; a later one replaces an earlier one."""

    angle: str = "degree"
    euler: str = "xyz"
    auto_limits: bool = True
    inertia_from_geoms: str = "auto"
    geom_groups: tuple[float, float] = (0.0, 5.0)
    least_mass: float = 0.0
    least_inertia: float = 0.0
    balance: bool = False
    total_mass: float = -1.0
    align_free: bool = False
    mesh_folder: str | None = None
    asset_folder: str | None = None
    strip_paths: bool = False
    gravity: Vector = GRAVITY
    fluid: bool = False
    disabled: frozenset[str] = frozenset()

    @staticmethod
    def of(document: Document) -> Settings:
        settings = Settings()
        for node in document.sections("compiler"):
            settings._compile(node)
        for node in document.sections("option"):
            settings._choose(document, node)
        return settings

    def _compile(self, node: Node) -> None:
        if word(node, "coordinate", ("local", "global"), "local") == "global":
            raise node.error(
                "coordinate='global' is not supported, nor by MuJoCo any longer; give poses relative to the parent"
            )
        self.angle = word(node, "angle", ("degree", "radian"), self.angle)
        self.euler = node.get("eulerseq") or self.euler
        if len(self.euler) != 3 or not set(self.euler) <= set("xyzXYZ"):
            raise node.error(f"eulerseq={self.euler!r} should be three letters of x, y, z, X, Y, Z")
        self.auto_limits = flag(node, "autolimits", self.auto_limits)
        self.inertia_from_geoms = word(node, "inertiafromgeom", ("auto", "true", "false"), self.inertia_from_geoms)
        low, high = node.vector("inertiagrouprange", 2, self.geom_groups)
        self.geom_groups = (low, high)
        self.least_mass = node.number("boundmass", self.least_mass)
        self.least_inertia = node.number("boundinertia", self.least_inertia)
        self.balance = flag(node, "balanceinertia", self.balance)
        self.total_mass = node.number("settotalmass", self.total_mass)
        self.align_free = flag(node, "alignfree", self.align_free)
        self.mesh_folder = node.get("meshdir") or self.mesh_folder
        self.asset_folder = node.get("assetdir") or self.asset_folder
        self.strip_paths = flag(node, "strippath", self.strip_paths)

    def _choose(self, document: Document, node: Node) -> None:
        self.gravity = Vector(*node.vector("gravity", 3, tuple(self.gravity)))
        self.fluid = self.fluid or node.number("density", 0.0) > 0 or node.number("viscosity", 0.0) > 0
        for flags in document.children(node, "flag"):
            for name in ("gravity", "spring", "damper", "frictionloss", "equality", "limit", "constraint", "clampctrl"):
                if flags.get(name) is not None:
                    off = word(flags, name, ("enable", "disable"), "enable") == "disable"
                    self.disabled = self.disabled | {name} if off else self.disabled - {name}

    def is_enabled(self, *flags: str) -> bool:
        """Whether none of these flags is off, so that MuJoCo would compute the forces that they control."""
        return self.disabled.isdisjoint(flags)

    def radians(self, angle: float) -> float:
        return math.radians(angle) if self.angle == "degree" else angle

    def pose(self, node: Node) -> Transform:
        """Pose of an element, from pos and its orientation."""
        return Transform(self.rotation(node), Vector(*node.vector("pos", 3, (0.0, 0.0, 0.0))))

    def rotation(self, node: Node) -> Rotation:
        """Orientation of an element, given in one of five ways."""
        given = [key for key in ORIENTATIONS if node.get(key) is not None]
        if len(given) > 1:
            raise node.error(f"gives its orientation as {' and as '.join(given)}; keep one")
        if not given:
            return Rotation.identity()
        read = {
            "quat": _from_quat, "axisangle": self._from_axis_angle, "euler": self._from_euler,
            "xyaxes": _from_axes, "zaxis": _from_z_axis,
        }  # fmt: skip
        return snap(read[given[0]](node))

    def _from_axis_angle(self, node: Node) -> Rotation:
        x, y, z, angle = node.vector("axisangle", 4)
        return Rotation.about(direction(node, "axisangle", Vector(x, y, z)), self.radians(angle))

    def _from_euler(self, node: Node) -> Rotation:
        """Rotation from Euler angles: lower-case axes move with the frame, upper-case axes are fixed."""
        R = Rotation.identity()
        for letter, angle in zip(self.euler, node.vector("euler", 3), strict=True):
            turn = Rotation.about(_AXES[letter.lower()], self.radians(angle))
            R = R @ turn if letter.islower() else turn @ R
        return R


def _from_quat(node: Node) -> Rotation:
    return quaternion(node, "quat").rotation()


def quaternion(node: Node, attribute: str) -> Quaternion:
    """A quaternion, which MJCF gives with its scalar first; of any length but zero."""
    w, x, y, z = scale_down(node.vector(attribute, 4))
    q = Quaternion(x, y, z, w)
    if not q.square() > MIN_SQUARE:
        raise node.error(f"{attribute} is zero; a rotation needs a direction, such as 1 0 0 0 for none")
    return q


def _from_axes(node: Node) -> Rotation:
    numbers = node.vector("xyaxes", 6)
    x = direction(node, "xyaxes", Vector(*numbers[:3]))
    along = Vector(*scale_down(numbers[3:]))
    y = direction(node, "xyaxes", along - x * x.dot(along))
    return Rotation(*(Vector(a, b, c) for a, b, c in zip(x, y, x.cross(y), strict=True)))


def _from_z_axis(node: Node) -> Rotation:
    return rotation_from_z_to(direction(node, "zaxis", Vector(*node.vector("zaxis", 3))))


def rotation_from_z_to(axis: Vector) -> Rotation:
    """The smallest rotation that takes z to this unit vector; about x where it takes z to -z."""
    about = Vector(-axis.y, axis.x, 0.0)
    sine = about.norm()
    if not sine * sine > MIN_SQUARE:
        return Rotation.about(_AXES["x"], 0.0 if axis.z > 0 else math.pi)
    return Rotation.about(about / sine, math.atan2(sine, axis.z))


def direction(node: Node, attribute: str, v: Vector) -> Vector:
    """The unit vector along v."""
    v = Vector(*scale_down(tuple(v)))
    length = v.norm()
    if not length * length > MIN_SQUARE:
        raise node.error(
            f"{attribute}={node.get(attribute)!r} has no direction: a vector in it is zero, or two are parallel"
        )
    return v if abs(length - 1) < 1e-15 else v / length
