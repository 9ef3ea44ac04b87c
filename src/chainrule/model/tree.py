"""Links and joints sorted into a tree in depth-first order; refused with the reason if they are no tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from chainrule.errors import ModelError, UnknownNameError, quoted, short_repr
from chainrule.model.parts import Frame, Joint, Link


def depth_first(
    links: Sequence[Link], joints: Sequence[Joint], where: str
) -> tuple[tuple[Link, ...], tuple[Joint, ...]]:
    """Links and joints in an order where joint i moves link i + 1 and parents come first; siblings keep their order."""
    if not links:
        raise ModelError(f"{where} has no links; a robot needs at least one, its base")
    refuse_duplicates("link", [link.name for link in links], where)
    refuse_duplicates("joint", [joint.name for joint in joints], where)
    by_name = {link.name: link for link in links}
    above: dict[str, Joint] = {}
    below: dict[str, list[Joint]] = {link.name: [] for link in links}
    for joint in joints:
        for end in (joint.parent, joint.child):
            if end not in by_name:
                raise UnknownNameError.of("link", end, by_name, f"{where}, joint {joint.name!r}")
        if joint.child in above:
            raise ModelError(
                f"{where}: link {joint.child!r} is the child of both joint {above[joint.child].name!r} and joint "
                f"{joint.name!r}, which closes a loop; a tree gives each link one parent"
            )
        above[joint.child] = joint
        below[joint.parent].append(joint)
    roots = [name for name in by_name if name not in above]
    if not roots:
        raise ModelError(f"{where}: every link has a parent, so the joints form a loop: {_loop(above)}")
    if len(roots) > 1:
        raise ModelError(
            f"{where} has {len(roots)} root links ({quoted(roots)}); connect them, with fixed joints if they do not "
            "move, so that one is left"
        )
    ordered_links, ordered_joints = [by_name[roots[0]]], []
    stack = below[roots[0]][::-1]
    while stack:
        joint = stack.pop()
        ordered_joints.append(joint)
        ordered_links.append(by_name[joint.child])
        stack.extend(below[joint.child][::-1])
    if len(ordered_links) < len(links):
        reached = {link.name for link in ordered_links}
        loose = {child: joint for child, joint in above.items() if child not in reached}
        raise ModelError(f"{where}: some joints form a loop that the base {roots[0]!r} does not reach: {_loop(loose)}")
    return tuple(ordered_links), tuple(ordered_joints)


def refuse_duplicates(what: str, names: Sequence[str], where: str) -> None:
    """Refuse names that are empty, not text, or given twice."""
    for name in names:
        if not isinstance(name, str) or not name:
            raise ModelError(f"{where}: a {what} has no name but {short_repr(name)}; give each {what} one of its own")
        if name != name.encode(errors="ignore").decode():
            raise ModelError(f"{where}: the name {name!r} has half a surrogate pair in it, which is no text; rename it")
    for name, count in Counter(names).items():
        if count > 1:
            raise ModelError(f"{where} has {count} {what}s named {name!r}; give each {what} a name of its own")


def refuse_clashes(links: Sequence[Link], frames: Sequence[Frame], where: str) -> None:
    """Refuse frames with the name of a link, since both are looked up by name, and frames on unknown links."""
    refuse_duplicates("frame", [frame.name for frame in frames], where)
    names = {link.name for link in links}
    for frame in frames:
        if frame.name in names:
            raise ModelError(f"{where}: frame {frame.name!r} has the name of a link; rename the frame")
        if frame.link not in names:
            raise UnknownNameError.of("link", frame.link, names, f"{where}, frame {frame.name!r}")


def _loop(above: dict[str, Joint]) -> str:
    """The names on a loop of joints, found by following parents until one comes back."""
    name = next(iter(above))
    seen: dict[str, int] = {}
    while name not in seen:
        seen[name] = len(seen)
        name = above[name].parent
    path = [n for n, k in seen.items() if k >= seen[name]]
    return " <- ".join(repr(n) for n in [*path[:8], *(["..."] if len(path) > 8 else []), name])
