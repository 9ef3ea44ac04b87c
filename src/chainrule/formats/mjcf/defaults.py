"""MJCF's default classes, which supply the attributes that an element leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from chainrule.errors import UnknownNameError
from chainrule.formats.mjcf.document import Document
from chainrule.formats.xml import Node

if TYPE_CHECKING:
    from lxml import etree

Attributes = dict[str, str]

MAIN = "main"

ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
"""The five ways to give an orientation share one place: whichever is given last replaces the others."""

PARTIAL = ("size", "stiffness", "damping", "gear")
"""Attributes of which an element may give the first numbers only, and leave the others to its class."""

_ACTUATORS = (
    "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper", "cylinder", "muscle", "adhesion",
    "dcmotor", "plugin",
)  # fmt: skip
_EQUALITIES = ("connect", "weld", "tendon", "flex", "flexstrain")
_SHARED = {**dict.fromkeys(_ACTUATORS, "general"), **dict.fromkeys(_EQUALITIES, "equality")}


class StyledNode(Node):
    """An element with the attributes of its default class."""

    def __init__(self, element: etree._Element, source: str, attributes: Mapping[str, str]) -> None:
        super().__init__(element, source)
        self.attributes = attributes

    def get(self, attribute: str) -> str | None:
        return self.attributes.get(attribute)


class Defaults:
    """The default classes of a document, each with the attributes that it inherits already in place."""

    def __init__(self, document: Document) -> None:
        self._classes: dict[str, dict[str, Attributes]] = {MAIN: {}}
        for section in document.sections("default"):
            if section.get("class") not in (None, MAIN):
                raise section.error(
                    f"the outermost default class is {MAIN!r} and cannot have another name; nest this one in it"
                )
            self._read(document, section, MAIN)
            waiting = [(section, MAIN)]
            while waiting:
                outer, inherited = waiting.pop()
                for nested in document.children(outer, "default"):
                    name = nested.text("class")
                    if name in self._classes:
                        raise nested.error(f"there are two default classes named {name!r}; give each a name of its own")
                    self._classes[name] = {tag: dict(values) for tag, values in self._classes[inherited].items()}
                    self._read(document, nested, name)
                    waiting.append((nested, name))

    def _read(self, document: Document, section: Node, name: str) -> None:
        values = self._classes[name]
        for child in document.children(section):
            if child.tag != "default":
                tag = _SHARED.get(child.tag, child.tag)
                values[tag] = merge(_own(child), values.get(tag, {}))

    def check(self, node: Node, name: str) -> str:
        """The name of a class; refused if there is no class of this name."""
        if name not in self._classes:
            raise node.error(str(UnknownNameError.of("default class", name, self._classes, "the model")))
        return name

    def child_class(self, node: Node, inherited: str) -> str:
        """The class of the elements in a body or frame."""
        name = node.get("childclass")
        return self.check(node, inherited if name is None else name)

    def with_class(self, node: Node, inherited: str = MAIN, tag: str | None = None) -> StyledNode:
        """The element with the attributes of its own or the inherited class; `tag` names it among the defaults."""
        given_name = node.get("class")
        name = self.check(node, inherited if given_name is None else given_name)
        key = tag or _SHARED.get(node.tag, node.tag)
        own = _own(node)
        given = [key for key in ORIENTATIONS if key in own]
        if len(given) > 1:
            raise node.error(f"gives its orientation as {' and as '.join(given)}; keep one")
        return StyledNode(node.element, node.source, merge(own, self._classes[name].get(key, {})))


def _own(node: Node) -> Attributes:
    return {str(key): str(value) for key, value in node.element.attrib.items()}


def merge(own: Attributes, base: Attributes) -> Attributes:
    """An element's attributes over those of its class, as MuJoCo combines them.

    >>> merge({"size": "0.5", "euler": "0 0 90"}, {"size": "0.1 0.2 0.3", "quat": "0 1 0 0"})
    {'size': '0.5 0.2 0.3', 'euler': '0 0 90'}
    """
    turned = any(key in own for key in ORIENTATIONS)
    result = {key: value for key, value in base.items() if not (turned and key in ORIENTATIONS)} | own
    for key in PARTIAL:
        if key in own and key in base:
            words = own[key].split()
            result[key] = " ".join(words + base[key].split()[len(words) :])
    return result
