"""Models of an SDF file as scopes of names: which frames there are, and where each of them is.

A pose is relative to what its `relative_to` names, else to a default that depends on the element: the model for links
and nested models, the child for joints, the frame that it is attached to for frames. Names in nested models are reached
with "::". Sources: the SDFormat specification, "Specifying pose" and "Pose frame semantics".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from chainrule.errors import FormatError, UnknownNameError
from chainrule.formats import packages
from chainrule.formats.sdf.config import model_file
from chainrule.formats.sdf.values import child_text, flag, raw_pose, text
from chainrule.formats.source import read
from chainrule.formats.xml import XmlElement, parse
from chainrule.lazy import cached_property
from chainrule.spatial import Transform

MODEL = "__model__"
MAX_DEPTH = 30
"""Models inside models inside models."""


@dataclass(frozen=True)
class Surroundings:
    """The file that is read: its path, its version of SDF, and where models that it includes are looked for."""

    path: Path | None
    version: tuple[int, ...]
    search_paths: tuple[Path, ...] = ()


@dataclass
class Scope:
    """A model: its element, the prefix of its names, and the models inside it."""

    node: XmlElement
    around: Surroundings
    prefix: str = ""
    is_static: bool = False
    override: XmlElement | None = None
    """The <include> that brought the model, whose pose, placement frame and static count."""
    nested: dict[str, Scope] = field(default_factory=dict)
    _poses: dict[str, Transform] = field(default_factory=dict)
    _links: dict[str, tuple[Scope, str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return _model_name(self.override or self.node, self.node)

    @cached_property
    def elements(self) -> dict[str, XmlElement]:
        """The elements that have frames, by name.

        Up to SDF 1.6 a joint may have the name of a link, which is the one that is meant.
        """
        joints = {child.text("name"): child for child in self.node.children("joint")}
        return joints | {child.text("name"): child for child in self.node.children("link", "frame")}

    def pose_of(self, name: str, at: XmlElement) -> Transform:
        """The pose, in this model's frame, of a link, joint, frame or model by its name."""
        steps: dict[str, Transform] = {}
        while name != MODEL and name not in self._poses:
            if name in steps:
                loop = " -> ".join([*list(steps)[list(steps).index(name) :], name])
                raise at.error(f"poses relative to each other go in a circle: {loop}")
            base, steps[name] = self._step(name, at)
            name = base
        found = Transform.identity() if name == MODEL else self._poses[name]
        for inner in reversed(steps):
            found = self._poses[inner] = found * steps[inner]
        return found

    def _step(self, name: str, at: XmlElement) -> tuple[str, Transform]:
        """The name of what a pose is relative to, and the pose in it."""
        head, _, rest = name.partition("::")
        if head in self.nested:
            inner = self.nested[head]
            T = inner.own_place()
            return _relative_to(inner.source) or MODEL, T * inner.pose_of(rest, at) if rest else T
        node = self._find(name, at)
        default = end_name(node, "child") if node.tag == "joint" else MODEL
        if node.tag == "frame":
            default = node.get("attached_to") or MODEL
        return _relative_to(node) or default, raw_pose(node)

    @property
    def source(self) -> XmlElement:
        """The element whose <pose> counts: the <include>, if it has one."""
        return self.override if self.override is not None and self.override.child("pose") else self.node

    def own_place(self) -> Transform:
        """The pose of this model's frame relative to what its <pose> is relative to."""
        source = self.source
        frame = self.node.get("placement_frame") or ""
        if self.override is not None:
            frame = child_text(self.override, "placement_frame") or frame
        placed = raw_pose(source)
        return placed * self.pose_of(frame, source).inverse() if frame else placed

    def joint_pose(self, node: XmlElement) -> Transform:
        """The pose of a joint in this model's frame; by default it is relative to the child."""
        return self.pose_of(_relative_to(node) or end_name(node, "child"), node) * raw_pose(node)

    def _find(self, name: str, at: XmlElement) -> XmlElement:
        """The element of a name."""
        if name not in self.elements:
            known = [*self.elements, *self.nested]
            raise at.error(str(UnknownNameError.of("frame", name, known, f"model {self.name!r}")))
        return self.elements[name]

    def link_of(self, name: str, at: XmlElement) -> tuple[Scope, str]:
        """The link that carries a link, joint, frame or model: the scope that it is in, and its name there."""
        seen: dict[str, None] = {}
        while name not in self._links:
            if name in seen:
                raise at.error(f"frame {name!r} is attached to itself, in a circle")
            seen[name] = None
            head, _, rest = name.partition("::")
            if head in self.nested:
                self._links[name] = self.nested[head].link_of(rest or MODEL, at)
            elif name == MODEL:
                name = self._canonical_link(at)
            else:
                node = self._find(name, at)
                if node.tag == "link":
                    self._links[name] = self, name
                else:
                    name = end_name(node, "child") if node.tag == "joint" else node.get("attached_to") or MODEL
        self._links |= dict.fromkeys(seen, self._links[name])
        return self._links[name]

    def _canonical_link(self, at: XmlElement) -> str:
        named = self.node.get("canonical_link")
        if named:
            return named
        for child in self.node.children("link", "model", "include"):
            return child.text("name") if child.tag == "link" else _model_name(child, child)
        raise at.error(f"model {self.name!r} has no link")

    def all_scopes(self) -> Iterator[Scope]:
        """This model and those inside it."""
        yield self
        for inner in self.nested.values():
            yield from inner.all_scopes()


def end_name(joint: XmlElement, tag: str) -> str:
    """The name of a joint's parent or child, which SDF 1.2 writes in a <link> of its own."""
    element = joint.required_child(tag)
    return text(element) or text(element.child("link") or element)


def _model_name(node: XmlElement, inner: XmlElement) -> str:
    name = child_text(node, "name") if node.tag == "include" else node.get("name")
    return name or inner.get("name") or "model"


def _relative_to(node: XmlElement) -> str:
    pose = node.child("pose")
    if pose is None:
        return ""
    old = (pose.get("frame") or "").strip()
    if old:
        raise pose.error(
            f"frame={old!r} is of SDF 1.5 and 1.6, where programs differ on it; write relative_to, as of 1.7"
        )
    return (pose.get("relative_to") or "").strip()


def scope_of(
    node: XmlElement,
    around: Surroundings,
    prefix: str = "",
    *,
    is_static: bool = False,
    override: XmlElement | None = None,
    depth: int = 0,
) -> Scope:
    """The scope of a <model>, with those of the models inside it."""
    if depth > MAX_DEPTH:
        raise node.error(f"nests models deeper than {MAX_DEPTH} levels; a model may include itself")
    own = flag(node, "static")
    if override is not None and override.child("static") is not None:
        own = flag(override, "static")
    scope = Scope(node, around, prefix, is_static or own, override)
    for child in node.children("model", "include"):
        element, where, include = (
            (child, around, None) if child.tag == "model" else (*read_include(child, around), child)
        )
        if include is not None and (include.get("merge") or "false").lower() in ("true", "1"):
            raise include.error("merges the model into this one, which is not supported; leave out merge")
        name = _model_name(include or element, element)
        if name in scope.nested or name in scope.elements:
            raise child.error(f"there are two things named {name!r} in this model; rename one")
        scope.nested[name] = scope_of(
            element, where, f"{prefix}{name}::", is_static=scope.is_static, override=include, depth=depth + 1
        )
    return scope


def read_include(node: XmlElement, around: Surroundings) -> tuple[XmlElement, Surroundings]:
    """The <model> that an <include> names, and the surroundings of its file."""
    uri = child_text(node, "uri")
    if not uri:
        raise node.error("needs a <uri>, such as model://arm")
    if uri.startswith(("http://", "https://")):
        raise node.error(f"names {uri!r} in the network, which is not read; download it and name the file")
    path = packages.resolve(uri, around.path, around.search_paths)
    if path is None and "://" not in uri:
        path = packages.resolve(f"model://{uri}", around.path, around.search_paths)
    if path is None:
        raise node.error(
            str(packages.not_found(uri if "://" in uri else f"model://{uri}", around.path, around.search_paths))
        )
    if path.is_dir():
        path = model_file(path)
    content, source, _ = read(path)
    root = parse(content, source)
    if root.tag != "sdf":
        raise node.error(f"names {path.name}, which is not SDF: its root element is <{root.tag}>")
    models = list(root.children("model"))
    if len(models) != 1:
        raise node.error(f"names {path.name}, which has {len(models)} models; it should have one")
    return models[0], Surroundings(path, version_of(root), around.search_paths)


def version_of(root: XmlElement) -> tuple[int, ...]:
    """The version of SDF that a file says it is in.

    >>> from chainrule.formats.xml import parse
    >>> version_of(parse(b'<sdf version="1.12"/>', "a"))
    (1, 12)
    """
    words = (root.get("version") or "").split(".")
    if not all(word.isdecimal() and len(word) < 5 for word in words):
        raise root.error(f"needs its version, such as version='1.7', got {root.get('version')!r}")
    version = tuple(int(word) for word in words)
    if version < (1, 2) or version >= (2,):
        raise root.error(f"is of version {root.get('version')}; versions 1.2 to 1.12 are read")
    return version


def choose_model(
    root: XmlElement, around: Surroundings, name: str | None, notes: list[str]
) -> tuple[Scope, Transform, XmlElement]:
    """The model of a file that is the robot, where it stands, and the element with the world's gravity.

    A model of its own, or the one in a world that is not static; static models without joints are scenery.
    """
    worlds = list(root.children("world"))
    if len(worlds) > 1:
        raise worlds[1].error(f"is one of {len(worlds)} worlds; keep one")
    holder = worlds[0] if worlds else root
    scopes = []
    for child in holder.children("model", "include"):
        if child.tag == "model":
            scopes.append(scope_of(child, around))
        else:
            element, where = read_include(child, around)
            scopes.append(scope_of(element, where, override=child))
    if not scopes:
        raise FormatError(f"{root.source} has no <model>")
    by_name = {scope.name: scope for scope in scopes}
    if name is not None:
        if name not in by_name:
            raise UnknownNameError.of("model", name, by_name, root.source)
        chosen = by_name[name]
    else:
        loose = [scope for scope in scopes if not scope.is_static] or scopes
        if len(loose) > 1:
            listed = ", ".join(repr(scope.name) for scope in loose)
            raise FormatError(
                f"{root.source} has {len(loose)} models ({listed}); choose one with model='{loose[0].name}'"
            )
        chosen = loose[0]
    others = [scope.name for scope in scopes if scope is not chosen]
    if others:
        notes.append(f"the models {', '.join(map(repr, others))} of the file are left out")
    source = chosen.source
    base = _relative_to(source)
    if base and base != "world":
        raise source.error(
            f"is placed relative to {base!r}, a frame of the world, which is not supported; write its pose"
        )
    return chosen, chosen.own_place(), holder
