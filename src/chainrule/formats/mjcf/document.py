"""An MJCF file together with the files it includes, read as one, and the attributes that its elements may have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from lxml import etree

from chainrule.errors import FormatError
from chainrule.formats.source import read
from chainrule.formats.xml import Node, parse

_ORIENTATION = "quat axisangle euler xyaxes zaxis"
_POSE = f"pos {_ORIENTATION}"

ATTRIBUTES = {
    "compiler": (
        "alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict convexhull coordinate "
        "discardvisual eulerseq fitaabb fusestatic inertiafromgeom inertiagrouprange meshdir passthrough savecanonical "
        "savecompiled saveinertial settotalmass strippath texturedir usethread"
    ),
    "body": f"name childclass mocap gravcomp sleep simple fuse user {_POSE}",
    "frame": f"name childclass scale scaling massscale {_POSE}",
    "inertial": f"mass diaginertia fullinertia {_POSE}",
    "freejoint": "name group align",
    "joint": (
        "name class type group pos axis springdamper solreflimit solimplimit solreffriction solimpfriction stiffness "
        "range limited actuatorfrcrange actuatorfrclimited actuatorgravcomp margin ref springref springyield armature "
        "damping frictionloss user"
    ),
    "geom": (
        f"name class type contype conaffinity condim group priority size material rgba castshadow friction mass "
        f"density shellinertia solmix solref solimp margin gap surfacevel adhesion fromto hfield mesh fitscale "
        f"fluidshape fluidcoef user {_POSE}"
    ),
    "site": f"name class type group material mesh size fromto rgba user {_POSE}",
    "connect": "name class active solref solimp body1 body2 anchor site1 site2",
    "weld": "name class active solref solimp body1 body2 anchor site1 site2 relpose torquescale",
    "mesh": (
        "name class content_type file scale inertia smoothnormal maxhullvert vertex normal texcoord face refpos "
        "refquat builtin params material"
    ),
}
"""The attributes that MuJoCo knows for the elements read here; a misspelled one must not pass for a default."""

SECTIONS = (
    "compiler", "option", "size", "statistic", "visual", "default", "extension", "asset", "worldbody", "contact",
    "deformable", "equality", "tendon", "actuator", "sensor", "custom", "keyframe",
)  # fmt: skip


class Document:
    """A root element, and the elements of included files in the places where they are included.

    File names are relative to the folder of the main file, as in MuJoCo.
    """

    def __init__(self, root: Node, folder: Path | None) -> None:
        if root.tag != "mujoco":
            raise FormatError(f"{root.source} is not MJCF: its root element is <{root.tag}>, not <mujoco>{_hint(root)}")
        self.root = root
        self.folder = folder
        self._included: dict[etree._Element, Node] = {}
        self._include_all()
        for node in self.children(root):
            if node.tag not in SECTIONS:
                raise node.error(f"is not a section of MJCF{_nearest(node.tag, SECTIONS)}")

    def _include_all(self) -> None:
        seen: set[Path] = set()
        waiting = [self.root]
        while waiting:
            holder = waiting.pop()
            for element in holder.element.iter("include"):
                node = Node(element, holder.source)
                path = self.path_of(node, node.text("file")).resolve()
                if path in seen:
                    raise node.error(
                        f"{path.name} is already included; a file can be included once, and must not include itself"
                    )
                seen.add(path)
                try:
                    content, source, _ = read(path)
                except FormatError as error:
                    raise node.error(str(error)) from error
                self._included[element] = parse(content, source)
                waiting.append(self._included[element])

    def path_of(self, node: Node, file: str) -> Path:
        """Path of a file that an element names."""
        path = Path(file)
        if path.is_absolute():
            return path
        if self.folder is None:
            raise node.error(
                f"names the file {file!r}, but a model given as text has no folder to look in; load it from a file, or "
                "give an absolute path"
            )
        return self.folder / path

    def children(self, node: Node, *tags: str) -> Iterator[Node]:
        """Child elements with their attributes checked, those of included files among them."""
        waiting = [node.children()]
        while waiting:
            child = next(waiting[-1], None)
            if child is None:
                waiting.pop()
            elif child.tag == "include":
                waiting.append(self._included[child.element].children())
            elif not tags or child.tag in tags:
                _refuse_unknown_attributes(child)
                yield child

    def sections(self, tag: str) -> Iterator[Node]:
        """The sections of this name, which may come more than once."""
        return self.children(self.root, tag)

    def entries(self, section: str, *tags: str) -> Iterator[Node]:
        """The elements in the sections of this name."""
        for node in self.sections(section):
            yield from self.children(node, *tags)

    def names(self, tag: str) -> set[str]:
        """The names that elements with this tag have anywhere."""
        roots = [self.root, *self._included.values()]
        return {str(e.get("name")) for root in roots for e in root.element.iter(tag) if e.get("name")}


def word(node: Node, attribute: str, choices: tuple[str, ...], default: str) -> str:
    """A keyword attribute."""
    value = node.get(attribute)
    if value is None:
        return default
    if value not in choices:
        raise node.error(f"{attribute}={value!r} should be one of {', '.join(choices)}")
    return value


def flag(node: Node, attribute: str, default: bool = False) -> bool:
    """A "true" or "false" attribute."""
    return word(node, attribute, ("true", "false"), "true" if default else "false") == "true"


def _refuse_unknown_attributes(node: Node) -> None:
    known = ATTRIBUTES.get(node.tag, "").split()
    for attribute in node.element.attrib if known else ():
        if attribute not in known and not (node.tag == "joint" and _constrains(node)):
            raise node.error(
                f"has an attribute {str(attribute)!r} that MJCF does not know{_nearest(str(attribute), known)}"
            )


def _constrains(node: Node) -> bool:
    """Whether this <joint> is one of an equality constraint or a tendon, not of a body."""
    parent = node.element.getparent()
    return node.get("joint1") is not None or (parent is not None and parent.tag in ("equality", "fixed"))


def _nearest(word: str, known: Sequence[str]) -> str:
    close = get_close_matches(word, known, n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else f"; it has {', '.join(known)}"


def _hint(root: Node) -> str:
    if root.tag == "robot":
        return "; it looks like URDF: use Robot.from_urdf"
    return "; it is a part for other files: load the file that includes it" if root.tag == "mujocoinclude" else ""
