"""MJCF, MuJoCo's XML format, read with MuJoCo's own meaning.

The coordinates of the model are MuJoCo's qpos and qvel, in the same order, but for two conventions of this library:
quaternions have their scalar last, and the velocity of a free joint is the body's twist in its own axes, angular part
first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from chainrule.errors import FormatError
from chainrule.formats.mjcf.couplings import with_mimics, with_rotors
from chainrule.formats.mjcf.defaults import MAIN, Defaults
from chainrule.formats.mjcf.document import Document, flag
from chainrule.formats.mjcf.efforts import with_efforts
from chainrule.formats.mjcf.geometry import Appearance
from chainrule.formats.mjcf.geoms import Geoms, refuse_shape, segment_frame
from chainrule.formats.mjcf.inertia import PosedNode, link_of, scale_to_total, world
from chainrule.formats.mjcf.joints import WELDED, BodyJoint, joint_of
from chainrule.formats.mjcf.keyframes import configurations_of
from chainrule.formats.mjcf.loops import constraints_of, equalities
from chainrule.formats.mjcf.names import refuse_names
from chainrule.formats.mjcf.schema import REFUSED, refuse_unknown
from chainrule.formats.mjcf.settings import Settings
from chainrule.formats.mjcf.values import refuse_values
from chainrule.formats.source import FilePath, read
from chainrule.formats.xml import Node, parse
from chainrule.model import Frame, Free, Geometry, Joint, Link, Model
from chainrule.spatial import Transform, Vector

MAX_BODY_DOFS = 6
"""Degrees of freedom that the joints of one body may have."""


def from_mjcf(path_or_text: FilePath) -> Model:
    """The robot that an MJCF file or text describes; its base is the link "world"."""
    content, source, path = read(path_or_text)
    return model_of(parse(content, source), None if path is None else path.parent)


def model_of(root: Node, folder: Path | None) -> Model:
    """The robot under a <mujoco> element; included files and meshes are looked for from `folder`."""
    document = Document(root, folder)
    refuse_unknown(document)
    reader = _Reader(document)
    notes = reader.notes
    for section in document.sections("worldbody"):
        reader.read(section)
    joints = with_rotors(reader.joints, document, reader.defaults, reader.settings, notes)
    joints = with_efforts(joints, document, reader.defaults, reader.settings, notes)
    settings = reader.settings
    nodes = [*equalities(document, reader.defaults, settings)]
    joints = with_mimics(joints, reader.refs, document, nodes, notes)
    configurations = configurations_of(document, joints, reader.start, notes)
    constraints = constraints_of(nodes, reader.places, reader.sites)
    refuse_names(document)
    refuse_values(document)
    if settings.fluid:
        notes.append("the forces of the fluid around the model (option density and viscosity) are not modelled")
    gravity = settings.gravity if settings.is_enabled("gravity") else Vector(0.0, 0.0, 0.0)
    links = [world(), *scale_to_total(reader.links, settings.total_mass)]
    name = root.get("model") or "robot"
    return Model.build(
        name,
        links,
        joints,
        reader.frames(),
        gravity,
        notes=[*notes, *reader.appearance.notes()],
        constraints=constraints,
        geometries=reader.geometries,
        configurations=configurations,
    )


@dataclass
class _Contents:
    """The elements in a body by kind, each with its pose in the body; frames between them are multiplied out."""

    inertial: PosedNode | None = None
    joints: list[PosedNode] = field(default_factory=list)
    geoms: list[PosedNode] = field(default_factory=list)
    sites: list[PosedNode] = field(default_factory=list)
    bodies: list[tuple[Node, Transform, str]] = field(default_factory=list)


class _Reader:
    """Walks the bodies in the file's order and gathers links, joints, sites and notes."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.defaults = Defaults(document)
        self.settings = Settings.of(document)
        self.geoms = Geoms(document, self.defaults, self.settings)
        self.links: list[Link] = []
        self.joints: list[Joint] = []
        self.refs: dict[str, float] = {}
        self.sites: list[Frame] = []
        self.places = {"world": Transform.identity()}
        self.appearance = Appearance(document, self.defaults, self.settings, self.geoms)
        self.geometries: list[Geometry] = []
        self.start: dict[str, Sequence[float]] = {}
        """MuJoCo's qpos0: the coordinates of each joint in the pose of the file."""
        self._moving: set[str] = set()
        self.notes: list[str] = []
        self._link_names = _Names({"world"}, document.names("body"), "body")
        self._joint_names = _Names(set(), document.names("joint") | document.names("freejoint"), "joint")

    def read(self, section: Node) -> None:
        """A <worldbody>, depth first and without recursion, so that chains may be as long as the XML is deep."""
        contents = self._sort(section, MAIN)
        for node, _ in (*contents.joints, *((contents.inertial,) if contents.inertial else ())):
            raise node.error("belongs into a <body>: the world does not move")
        self._place_sites("world", contents)
        self._place_geoms("world", contents)
        waiting = [("world", *body) for body in reversed(contents.bodies)]
        while waiting:
            parent, node, T, style = waiting.pop()
            style = self.defaults.child_class(node, style)
            contents = self._sort(node, style)
            name = self._body(parent, node, T * self.settings.pose(node), contents)
            waiting += [(name, *body) for body in reversed(contents.bodies)]

    def _sort(self, body: Node, style: str) -> _Contents:
        contents = _Contents()
        for node, T, own_style in self._flatten(body, style):
            if node.tag == "body":
                contents.bodies.append((node, T, own_style))
            elif node.tag == "inertial":
                if contents.inertial is not None:
                    raise node.error("is the second <inertial> of its body; keep one")
                contents.inertial = (node, T)
            elif node.tag == "freejoint":
                contents.joints.append((node, T))
            elif node.tag in ("joint", "geom", "site"):
                kept = {"joint": contents.joints, "geom": contents.geoms, "site": contents.sites}[node.tag]
                kept.append((self.defaults.with_class(node, own_style), T))
                if node.tag != "joint":
                    refuse_shape(kept[-1][0])
            elif node.tag in REFUSED:
                raise node.error(f"is not supported: {REFUSED[node.tag]}")
        return contents

    def _flatten(self, body: Node, style: str) -> Iterator[tuple[Node, Transform, str]]:
        """The elements in a body and in its frames, each with the pose and the default class of its frame."""
        waiting = [(child, Transform.identity(), style) for child in reversed([*self.document.children(body)])]
        while waiting:
            node, T, inherited = waiting.pop()
            if node.tag != "frame":
                yield node, T, inherited
                continue
            if any(node.get(key) is not None for key in ("scale", "massscale")):
                raise node.error("scales what it contains, which is not supported; write the sizes and masses out")
            inner, handed = T * self.settings.pose(node), self.defaults.child_class(node, inherited)
            waiting += [(child, inner, handed) for child in reversed([*self.document.children(node)])]

    def _body(self, parent: str, node: Node, T: Transform, contents: _Contents) -> str:
        """Add a body's link, joints and sites, and return the link's name."""
        name, carrier = self._link_names.of(node), parent
        self.places[name] = self.places[parent] * T
        if flag(node, "mocap"):
            if contents.joints or parent != "world":
                raise node.error("is a mocap body, which must be a child of the world and have no joints")
            self.notes.append(f"mocap body {name!r} is fixed where the file puts it")
        if node.number("gravcomp", 0.0):
            self.notes.append(
                f"the gravity compensation (gravcomp) of body {name!r} is not modelled: it has its full weight"
            )
        joints_of_body = [joint_of(element, inner, self.settings) for element, inner in contents.joints]
        _refuse_joints(node, parent, joints_of_body)
        for (element, _), joint in zip(contents.joints, joints_of_body, strict=True):
            joint_name = self._joint_names.of(element)
            last = joint is joints_of_body[-1]
            child = name if last else self._link_names.unused_name(f"{name}/{joint_name}")
            if not last:
                self.links.append(Link(child))
            # A free body is placed in the world by its coordinates alone, whatever its pose in the file.
            origin = joint.before if isinstance(joint.kind, Free) else T * joint.before
            self._join(joint_name, parent, child, joint, origin)
            self.start[joint_name] = _start(joint, self.places[name])
            parent, T = child, Transform.identity()
        if not joints_of_body:
            self._join(self._joint_names.unused_name(f"{name}_fixed"), parent, name, WELDED, T)
        if joints_of_body or carrier in self._moving:
            self._moving.add(name)
        self.links.append(self._link(node, name, contents))
        self._place_sites(name, contents)
        self._place_geoms(name, contents)
        return name

    def _link(self, node: Node, name: str, contents: _Contents) -> Link:
        """The body's link. The mass of a body that never moves may stay unknown, since nothing depends on it."""
        try:
            return link_of(node, name, contents.inertial, contents.geoms, self.geoms, self.settings)
        except FormatError as error:
            if name in self._moving or self.settings.total_mass > 0:
                raise
            self.notes.append(f"body {name!r} never moves; its mass, which plays no part, is taken as zero ({error})")
            return Link(name)

    def _place_geoms(self, link: str, contents: _Contents) -> None:
        for geom in contents.geoms:
            self.geometries += self.appearance.of(link, geom)

    def _join(self, name: str, parent: str, child: str, joint: BodyJoint, origin: Transform) -> None:
        self.joints.append(Joint(name, parent, child, joint.kind, origin, joint.dofs))
        self.notes += [f"joint {name!r}: {note}" for note in joint.notes]
        if joint.kind.nq == 1:
            self.refs[name] = joint.ref

    def _place_sites(self, link: str, contents: _Contents) -> None:
        for node, T in contents.sites:
            name = node.get("name")
            if name:
                pose = self.settings.pose(node) if node.get("fromto") is None else segment_frame(node)[0]
                self.sites.append(Frame(name, link, T * pose))

    def frames(self) -> list[Frame]:
        """The named sites; one with the name of a link is called "site/..."."""
        clashing = {"world", *(link.name for link in self.links)}
        names = _Names(clashing, {site.name for site in self.sites}, "site")
        return [
            Frame(names.unused_name(f"site/{site.name}"), site.link, site.origin) if site.name in clashing else site
            for site in self.sites
        ]


def _start(joint: BodyJoint, place: Transform) -> Sequence[float]:
    """The coordinates of a joint in the pose of the file, as MuJoCo's qpos has them; `place` is the body's pose."""
    if isinstance(joint.kind, Free):
        x, y, z, w = place.rotation.quaternion()
        return (*place.translation, w, x, y, z)
    return (1.0, 0.0, 0.0, 0.0) if joint.kind.nq == 4 else (joint.ref,)


def _refuse_joints(node: Node, parent: str, joints_of_body: list[BodyJoint]) -> None:
    """Refuse what MuJoCo refuses: a free joint that is not alone in the world, one turning after a ball, too many."""
    if any(isinstance(joint.kind, Free) for joint in joints_of_body):
        if len(joints_of_body) > 1:
            raise node.error("has a free joint and others; a free joint must be the only one of its body")
        if parent != "world":
            raise node.error("has a free joint, but is carried by another body; only children of the world can be free")
    kinds = [joint.kind for joint in joints_of_body]
    balls = [i for i, kind in enumerate(kinds) if kind.name == "spherical"]
    if balls and any(kind.name in ("spherical", "revolute") for kind in kinds[balls[0] + 1 :]):
        raise node.error("has a ball joint before another that turns; put the ball last, or a body between them")
    freedoms = sum(kind.nv for kind in kinds)
    if freedoms > MAX_BODY_DOFS:
        raise node.error(f"has joints of {freedoms} degrees of freedom, and six are the most; put a body between them")


class _Names:
    """Names for elements without one; their numbers count from the reserved ones on, as MuJoCo's ids do."""

    def __init__(self, reserved: set[str], given: set[str], word: str) -> None:
        self._taken = reserved | given
        self._used = set(reserved)
        self._word = word
        self._count = len(reserved)

    def of(self, node: Node) -> str:
        """The element's own name, or one from its number in the file."""
        name = node.get("name")
        index = self._count
        self._count += 1
        if not name:
            return self.unused_name(f"{self._word}{index}")
        if name in self._used:
            raise node.error(f"has a name that another {self._word} has; give each a name of its own")
        self._used.add(name)
        return name

    def unused_name(self, wanted: str) -> str:
        while wanted in self._taken:
            wanted += "_"
        self._taken.add(wanted)
        return wanted
