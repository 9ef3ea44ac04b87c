"""Names in an MJCF model: each is given once, and an element that is named elsewhere exists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath

from chainrule.errors import UnknownNameError
from chainrule.formats.mjcf.document import Document
from chainrule.formats.mjcf.schema import REFUSED
from chainrule.formats.xml import Node

_REFERENCES = {
    "joint": "joint joint1 joint2 jointinparent",
    "body": "body body1 body2 subtree1 subtree2 target",
    "site": "site site1 site2 slidersite cranksite refsite sidesite",
    "geom": "geom geom1 geom2",
    "tendon": "tendon tendon1 tendon2",
    "actuator": "actuator",
    "camera": "camera",
    "material": "material",
    "mesh": "mesh",
    "hfield": "hfield",
}
_KIND_OF_REFERENCE = {attribute: kind for kind, words in _REFERENCES.items() for attribute in words.split()}
"""Attributes that name an element, and the kind of that element."""

_SHARED = ("actuator", "sensor", "equality", "tendon")
"""Sections all of whose elements share one list of names."""
_NAMING = ("worldbody", "contact", *_SHARED, "asset", "custom", "keyframe")
_REFERRING = ("worldbody", "contact", *_SHARED)
_FROM_FILES = ("mesh", "hfield", "texture")
"""Assets that are named after their file if they have no name."""


def refuse_names(document: Document) -> None:
    """An error at the first name that is given twice to elements of a kind, or that no element has."""
    names: dict[str, set[str]] = defaultdict(set, {"body": {"world"}})
    for node, kind in _elements(document, _NAMING):
        name = _name(node)
        if not name:
            continue
        if name in names[kind] and not (kind == "body" and name == "world"):
            raise node.error(f"has a name that another {kind} has; give each a name of its own")
        names[kind].add(name)
    for node, _ in _elements(document, _REFERRING):
        for key, value in node.element.attrib.items():
            kind = _KIND_OF_REFERENCE.get(str(key), "")
            if kind and value and value not in names[kind]:
                raise node.error(str(UnknownNameError.of(kind, str(value), sorted(names[kind]), "the model")))


def _elements(document: Document, sections: tuple[str, ...]) -> Iterator[tuple[Node, str]]:
    """The elements in these sections, at any depth, each with the kind of thing that its name names."""
    for section in sections:
        waiting = [(node, section if section in _SHARED else node.tag) for node in document.entries(section)]
        while waiting:
            node, kind = waiting.pop()
            if node.tag in REFUSED:
                continue
            yield node, "joint" if kind == "freejoint" else kind
            waiting += [(child, child.tag) for child in document.children(node)]


def _name(node: Node) -> str:
    if node.get("name") or node.tag not in _FROM_FILES:
        return node.get("name") or ""
    return PurePosixPath(PureWindowsPath(node.get("file") or "").as_posix()).stem
