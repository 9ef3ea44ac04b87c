"""SRDF files, which MoveIt keeps beside URDF: group states, as named configurations, and pairs of links that may touch.

The rest is not read.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from chainrule.errors import FormatError
from chainrule.formats.source import FilePath, read
from chainrule.formats.xml import XmlElement, parse
from chainrule.model import Configuration, Free, Model, ModelProblem
from chainrule.model.configurations import HOME, home_positions
from chainrule.model.edits import choose_pair, rebuild
from chainrule.model.geometry import PairChoice

LEFT_OUT = "It is left out"
ROOT_JOINT = "root_joint"
"""The name by which group states call the joint between the world and the base, besides those of <virtual_joint>."""


def with_srdf(model: Model, path_or_text: FilePath) -> Model:
    """The model with the group states of an SRDF file, or of its text, as named configurations, and its disabled pairs.

    States of different groups with the same name are one configuration: "home" of the arm and of the hand. A group is
    only part of a robot; the other coordinates are those of the configuration "home", if there is one in the file or in
    the model, and else neutral within their limits. The joint that SRDF puts under the base (<virtual_joint>) is the
    robot's free base; where the base is fixed, its numbers are not used. Joints that the robot has not, and numbers
    that do not fit, become problems of the model.
    """
    content, source, _ = read(path_or_text)
    root = parse(content, source)
    if root.tag != "robot" or next(root.children("link", "joint"), None) is not None:
        hint = "; it is URDF" if root.tag == "robot" else ""
        raise FormatError(f"{source} is not SRDF, which has <group_state> elements in a <robot>{hint}")
    problems: list[ModelProblem] = []
    states = _states(model, root, problems)
    base = home_positions(model.layout, model.configurations) | states.get(HOME, {})
    new = [Configuration(name, tuple((base | positions).items())) for name, positions in states.items()]
    kept = [c for c in model.configurations if c.name not in states]
    found = replace(rebuild(model, configurations=[*kept, *new]), problems=(*model.problems, *problems))
    for node in root.children("disable_collisions", "enable_collisions"):
        pair = node.text("link1"), node.text("link2")
        if all(link in model.index_of for link in pair):  # MoveIt's files name links of other variants too
            checked = node.tag == "enable_collisions"
            found = choose_pair(found, PairChoice(*pair, checked, f"SRDF: {node.get('reason') or 'no reason given'}"))
    return replace(found, notes=(*model.notes, *(str(problem) for problem in problems)))


def _states(model: Model, root: XmlElement, problems: list[ModelProblem]) -> dict[str, dict[str, float]]:
    """The coordinates that each state gives, by the state's name."""
    virtual = {ROOT_JOINT, *((node.get("name") or "") for node in root.children("virtual_joint"))}
    states: dict[str, dict[str, float]] = {}
    for node in root.children("group_state"):
        try:
            name, positions = node.text("name"), _positions(model, node, virtual, problems)
        except FormatError as error:
            problems.append(ModelProblem(node.where, f"cannot be read ({error})", LEFT_OUT, severity="note"))
            continue
        before = states.get(name, {})
        differ = [key for key, x in positions.items() if before.get(key, x) != x]
        if differ:
            other = f"{node.get('group') or 'group'}/{name}"
            message = f"gives {differ[0]!r} another position than the state {name!r} before it"
            problems.append(ModelProblem(node.where, message, f"It is called {other!r}", severity="note"))
            name, before = other, states.get(other, {})
        states[name] = before | positions
    return states


def _positions(model: Model, state: XmlElement, virtual: Set[str], problems: list[ModelProblem]) -> dict[str, float]:
    joints = {joint.name for joint in model.joints}
    positions: dict[str, float] = {}
    for node in state.children("joint"):
        name = node.text("name")
        if name not in joints and name in virtual:
            if not model.joints or not isinstance(model.joints[0].kind, Free):
                continue  # the base is fixed
            name = model.joints[0].name
        if name not in joints:
            problems.append(ModelProblem(node.where, f"is no joint of robot {model.name!r}", LEFT_OUT, severity="note"))
            continue
        places = model.layout.by_joint.get(name)
        if places is None:  # fixed, or one that follows another
            continue
        coordinates = [coordinate.name for coordinate in model.layout.coordinates[places.q]]
        positions |= zip(coordinates, node.vector("value", len(coordinates)), strict=True)
    return positions
