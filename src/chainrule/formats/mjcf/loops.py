"""Equality constraints of an MJCF model that close loops: <connect> and <weld>."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chainrule.errors import UnknownNameError
from chainrule.formats.exact import scale_down, snap
from chainrule.formats.mjcf.defaults import Defaults, StyledNode
from chainrule.formats.mjcf.document import Document, flag
from chainrule.formats.mjcf.settings import MIN_LENGTH, Settings
from chainrule.formats.xml import Node
from chainrule.model import Constraint, Frame
from chainrule.spatial import Quaternion, Rotation, Transform, Vector

LOOPS = {"connect": "point", "weld": "weld"}
"""The equalities that tie two bodies, and the kinds of constraints they are."""

Places = Mapping[str, Transform]
"""The pose of each body in the world as the file describes it."""


def equalities(document: Document, defaults: Defaults, settings: Settings) -> Iterator[StyledNode]:
    """The equality constraints that MuJoCo would enforce."""
    for entry in document.entries("equality"):
        node = defaults.with_class(entry, tag="equality")
        if flag(node, "active", True) and settings.is_enabled("equality", "constraint"):
            yield node


def constraints_of(nodes: Sequence[Node], places: Places, sites: Sequence[Frame]) -> list[Constraint]:
    """The constraints that close loops, with the names of the file or else numbered."""
    loops = [node for node in nodes if node.tag in LOOPS]
    taken = {node.get("name") for node in loops}
    found: list[Constraint] = []
    for node in loops:
        name = node.get("name") or _unused_name(f"{node.tag}{len(found)}", taken)
        link_a, link_b, origin_a, origin_b = _on_sites(node, sites) or _on_bodies(node, places)
        if link_a == link_b:
            raise node.error(f"ties body {link_a!r} to itself; name two bodies")
        found.append(Constraint(name, LOOPS[node.tag], link_a, link_b, origin_a, origin_b))
    return found


def _unused_name(name: str, taken: set[str | None]) -> str:
    while name in taken:
        name += "_"
    return name


def _on_sites(node: Node, sites: Sequence[Frame]) -> tuple[str, str, Transform, Transform] | None:
    """The two sites that are to coincide, if sites are named."""
    given = [node.get("site1"), node.get("site2")]
    if given == [None, None]:
        return None
    if any(node.get(key) is not None for key in ("body1", "body2", "anchor")):
        raise node.error("names sites and bodies; keep site1 and site2, or body1, body2 and anchor")
    by_name = {site.name: site for site in sites}
    for key in ("site1", "site2"):
        if node.text(key) not in by_name:
            raise node.error(str(UnknownNameError.of("site", node.text(key), by_name, "the model")))
    a, b = (by_name[node.text(key)] for key in ("site1", "site2"))
    return a.link, b.link, a.origin, b.origin


def _on_bodies(node: Node, places: Places) -> tuple[str, str, Transform, Transform]:
    """Two bodies, the second being the world if none is named, tied as they are in the pose of the file.

    A <connect> has its anchor in the first body, a <weld> in the second. With `relpose`, a weld is not taken from the
    pose of the file: it is the pose, in the first body, of the anchor with the axes of the second.
    """
    first, second = node.text("body1"), node.get("body2") or "world"
    for body in (first, second):
        if body not in places:
            raise node.error(str(UnknownNameError.of("body", body, places, "the model")))
    apart = places[first].inverse() * places[second]
    if node.tag == "connect":
        anchor = Vector(*node.vector("anchor", 3))
        return first, second, _at(anchor), _at(apart.inv * anchor)
    anchor = Vector(*node.vector("anchor", 3, (0.0, 0.0, 0.0)))
    px, py, pz, w, x, y, z = node.vector("relpose", 7, (0.0,) * 7)
    w, x, y, z = scale_down((w, x, y, z))
    turn = Quaternion(x, y, z, w)
    if turn.square() < MIN_LENGTH * MIN_LENGTH:  # MuJoCo's sign for a pose that is not given
        return first, second, Transform(snap(apart.rotation), apart * anchor), _at(anchor)
    return first, second, Transform(snap(turn.rotation()), Vector(px, py, pz)), _at(anchor)


def _at(point: Vector) -> Transform:
    return Transform(Rotation.identity(), point)
