"""Stick figures: links as lines, joints as symbols of turning and sliding, the base as ground."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chainrule.arguments import Array
from chainrule.figures.posture import Posture
from chainrule.figures.scene import POINT, Disc, Path, Stroke, circle_points
from chainrule.figures.sketch import Sketch, unit
from chainrule.plots.canvas import GREEN, LIMIT_COLOR, LINK_COLOR, SCREW_COLOR
from chainrule.shapes.parts import up_direction
from chainrule.shapes.skeleton import JointPlace, at, hull_2d, place

LINK = Stroke(LINK_COLOR, 2.4)
PALE = Stroke("#b9c1cc", 1.6)
EDGE = Stroke(LINK_COLOR, 0.9)
RAIL = Stroke(LINK_COLOR, 1.5)
GROUND = Stroke(LIMIT_COLOR, 0.9)
HATCH = Stroke(LIMIT_COLOR, 0.5)
TETHER = Stroke(LIMIT_COLOR, 0.7, "dotted")
AXIS = Stroke(SCREW_COLOR, 0.6, "dashdot")
JOINT_FILL, SLEEVE_FILL, BALL_FILL, GROUND_FILL = "#f7e0ad", "#d8dee6", "#f7e0ad", "#e6e9ed"

PIN_RADIUS, PIN_HALF_LENGTH, SLEEVE_HALF = 0.14, 0.2, 0.15
"""Sizes of joints on paper, in cm."""

STEP_ASIDE = 0.7
"""How far the symbols of joints at one place are moved apart, along their own axes, in cm."""

AT_ONE_PLACE = 0.3
"""Joints nearer than this on paper, in cm, step aside."""

Places = dict[str, Array]
"""Joint -> where its symbol is drawn, in the base."""


def draw_stick(sketch: Sketch, posture: Posture, only: Iterable[int] | None = None) -> Places:
    """Draw the robot, or some of its links strongly and all else palely; where the symbols of its joints are."""
    wanted = set(range(len(posture.T))) if only is None else set(only)
    places = symbol_places(posture)
    if only is None:
        _draw_ground(sketch, posture, places)
    for k in sorted(range(len(posture.T)), key=wanted.__contains__):
        stroke = LINK if k in wanted else PALE
        link = posture.bones.links[k]
        points = place(posture.T[k], link.points) if len(link.points) else np.zeros((0, 3))
        if link.plate:
            sketch.area(points[list(link.plate)], Stroke(stroke.color, 1.2), "#eef1f5")
        for a, b in link.bars:
            sketch.line(points[[a, b]], stroke)
    for kind, ends in posture.bones.segments_at(posture.T):
        if kind in ("rod", "gap"):
            sketch.line(ends, Stroke(GREEN, 1.6 if kind == "rod" else 0.8, "solid" if kind == "rod" else "dashed"))
    joints = sorted((joint for joint, _ in posture.joints()), key=lambda joint: _depth(posture, joint, places))
    for joint in joints:
        pale = not {joint.parent, joint.child} & wanted
        _draw_joint(sketch, posture, joint, places[joint.name], pale=pale)
    for tie in posture.bones.ties:
        if tie.kind != "distance" and only is None:
            sketch.disc(at(posture.T[tie.link_a], tie.in_a), 0.09, Stroke(GREEN, 1.0), "#ffffff")
    return places


def _depth(posture: Posture, joint: JointPlace, places: Places) -> tuple[bool, float]:
    """The order of joints: pins last in a plane, in space the nearest to the eye."""
    return posture.view.flat and joint.kind == "turns", float(places[joint.name] @ posture.view.toward)


def draw_link(sketch: Sketch, posture: Posture, k: int) -> None:
    """Draw one link alone, with the outlines of the joints at its ends; dotted lines to the frames that it carries."""
    link, edge = posture.bones.links[k], Stroke(PALE.color, 0.8)
    points = place(posture.T[k], link.points)
    if link.plate:
        sketch.area(points[list(link.plate)], Stroke(LINK.color, 1.2), "#eef1f5")
    for a, b in link.bars:
        sketch.line(points[[a, b]], LINK)
    if not link.bars and not link.plate:
        sketch.disc(points[0], 0.2, EDGE, SLEEVE_FILL)
    tether(sketch, posture, k, np.zeros(3))
    tether(sketch, posture, k, np.array([float(x) for x in posture.robot.model.links[k].com]))
    for joint, body in posture.joints():
        if k in (joint.parent, joint.child):
            here = posture.joint_point(joint) if k == joint.parent else at(posture.T[k], joint.in_child)
            sketch.disc(here, 0.1, edge, "#ffffff")
        if k == joint.parent and np.linalg.norm(posture.T[body.index, :3, 3] - here) > 0:
            sketch.line(np.stack([here, posture.T[body.index, :3, 3]]), TETHER)


def symbol_places(posture: Posture) -> Places:
    """The places of the symbols of joints: those at one place step aside along their axes, onto the links beside."""
    places = {joint.name: posture.joint_point(joint) for joint, _ in posture.joints()}
    if posture.view.flat:
        return places
    groups: list[list[JointPlace]] = []
    for joint, _ in posture.joints():
        for group in groups:
            if np.linalg.norm(places[group[0].name] - places[joint.name]) * posture.view.scale < AT_ONE_PLACE:
                group.append(joint)
                break
        else:
            groups.append([joint])
    moved = dict(places)
    for group in groups:
        if len(group) > 1:
            _move_apart(posture, group, places, moved)
    return moved


def _move_apart(posture: Posture, group: list[JointPlace], places: Places, moved: Places) -> None:
    here, step = places[group[0].name], STEP_ASIDE / posture.view.scale
    into, out = _ways(posture, group, places)
    staying = 0
    for k, joint in enumerate(group):
        axis = posture.axis(joint)
        if axis is None or joint.kind != "turns":
            staying += 1
            continue
        before = float(axis @ into) if into is not None else float(axis @ ground_up(posture)) if k == 0 else 0.0
        after = float(axis @ out) if out is not None else 1.0 if k == len(group) - 1 else 0.0
        if k < len(group) - 1 and abs(before) > 0.7:
            moved[joint.name] = here - np.sign(before) * step * axis
        elif k > 0 and abs(after) > 0.7:
            moved[joint.name] = here + np.sign(after) * step * axis
        else:
            moved[joint.name] = here + staying * step * axis
            staying += 1


def _ways(posture: Posture, group: list[JointPlace], places: Places) -> tuple[Array | None, Array | None]:
    """The directions in which the chain comes to a place with several joints, and leaves it."""
    here = places[group[0].name]
    parents = {joint.child: joint for joint, _ in posture.joints()}
    into = out = None
    before = parents.get(group[0].parent)
    start = places[before.name] if before is not None else posture.T[0, :3, 3]
    if np.linalg.norm(here - start) * posture.view.scale > 0.3:
        into = unit(here - start)
    last = group[-1].child
    ends = [place(posture.T[last], posture.bones.links[last].points)]
    far = max(np.concatenate(ends), key=lambda point: float(np.linalg.norm(point - here)), default=here)
    if np.linalg.norm(far - here) * posture.view.scale > 0.3:
        out = unit(far - here)
    return into, out


def _draw_joint(sketch: Sketch, posture: Posture, joint: JointPlace, here: Array, *, pale: bool) -> None:
    edge = Stroke(PALE.color, 0.8) if pale else EDGE
    true_place, axis = posture.joint_point(joint), posture.axis(joint)
    if np.linalg.norm(here - true_place) * posture.view.scale > 1e-6:
        sketch.line(np.stack([true_place, here]), PALE if pale else LINK)
    if joint.kind == "slides" and axis is not None:
        end = at(posture.T[joint.child], joint.in_child)
        sketch.line(np.stack([here, end]), PALE if pale else RAIL)
        _box(sketch, here, axis, edge, "#ffffff" if pale else SLEEVE_FILL)
    elif joint.kind == "turns" and axis is not None:
        _pin(sketch, here, axis, edge, "#ffffff" if pale else JOINT_FILL)
    elif joint.kind == "ball":
        sketch.disc(here, 1.1 * PIN_RADIUS, edge, "#ffffff" if pale else BALL_FILL)
        sketch.disc(here, 0.04, None, edge.color)


def _pin(sketch: Sketch, center: Array, axis: Array, edge: Stroke, fill: str) -> None:
    """A joint that turns: a cylinder along its axis, which is a disc where the axis is along the view."""
    view = sketch.view
    if abs(float(axis @ view.toward)) > 0.999:
        sketch.disc(center, PIN_RADIUS, edge, fill)
        sketch.disc(center, 0.03, None, edge.color)
        return
    first, second = across_axis(axis)
    ring = PIN_RADIUS * (circle_points(0.0, 2 * np.pi, 48) @ np.stack([first, second]))
    near = axis * (1.0 if float(axis @ view.toward) >= 0 else -1.0)
    ends = [center + (ring + side * PIN_HALF_LENGTH * near) / view.scale for side in (-1.0, 1.0)]
    both = view.on_paper(np.concatenate(ends))
    sketch.items.append(Path(both[hull_2d(both)], edge, fill, closed=True))
    sketch.area(ends[1][:-1], edge, "#ffffff" if fill == "#ffffff" else "#fdf3dc")


def _box(sketch: Sketch, center: Array, axis: Array, edge: Stroke, fill: str) -> None:
    """A joint that slides: a box along its axis."""
    view = sketch.view
    first, second = (np.cross(axis, view.toward), view.toward) if view.flat else across_axis(axis)
    signs = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    sizes = np.array([1.5, 1.0, 1.0]) * SLEEVE_HALF
    corners = center + (signs * sizes) @ np.stack([axis, first, second]) / view.scale
    on_paper = view.on_paper(corners)
    sketch.items.append(Path(on_paper[hull_2d(on_paper)], edge, fill, closed=True))
    if view.flat:
        return
    nearest = int(np.argmax(corners @ view.toward))
    for k in range(3):
        other = signs[nearest].copy()
        other[k] *= -1
        end = int(np.flatnonzero((signs == other).all(axis=1))[0])
        sketch.items.append(Path(on_paper[[nearest, end]], Stroke(edge.color, 0.6)))


def across_axis(axis: Array) -> tuple[Array, Array]:
    """Two directions across an axis and each other."""
    first = unit(np.cross(axis, np.eye(3)[int(np.abs(axis).argmin())]))
    return first, np.cross(axis, first)


def ground_up(posture: Posture) -> Array:
    """The direction from the ground to the base: downward where the robot hangs."""
    up = up_direction(posture.robot)
    points = posture.bones.points_at(posture.T)
    bases = [posture.joint_point(joint) for joint, _ in posture.joints() if joint.parent == 0]
    height = float(np.mean(bases @ up)) if bases else 0.0
    return -up if float((points @ up).mean()) < height - 0.2 * posture.bones.reach else up


def _draw_ground(sketch: Sketch, posture: Posture, places: Places) -> None:
    """The ground that carries the base: below its lowest point, hatched."""
    carried = [joint for joint, _ in posture.joints() if joint.parent == 0]
    if not carried:
        return
    view, up = posture.view, ground_up(posture)
    points = place(posture.T[0], posture.bones.links[0].points) if len(posture.bones.links[0].points) else None
    points = np.zeros((1, 3)) if points is None else points
    points = np.concatenate([points, np.array([places[joint.name] for joint in carried])])
    if view.flat:
        for joint in carried:
            _flat_support(sketch, view.on_paper(places[joint.name]), unit(view.directions(up)))
        return
    foot = points[int(np.argmin(points @ up))]
    below = foot - 0.3 * up / view.scale
    sketch.line(np.stack([foot, below]), LINK)
    first, second = across_axis(up)
    corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) * 0.5 / view.scale
    sketch.area(below + corners @ np.stack([first, second]), GROUND, GROUND_FILL)


def _flat_support(sketch: Sketch, pivot: Array, up: Array) -> None:
    """A triangle below a pivot, on a hatched line."""
    if not np.any(up):
        up = np.array([0.0, 1.0])
    side = np.array([up[1], -up[0]])
    corners = pivot + np.array([np.zeros(2), 0.24 * side - 0.38 * up, -0.24 * side - 0.38 * up])
    sketch.items.append(Path(corners, GROUND, "#ffffff", closed=True))
    level = pivot - 0.38 * up
    sketch.items.append(Path(level + np.array([-0.5, 0.5])[:, None] * side, Stroke(GROUND.color, 1.2)))
    for x in np.linspace(-0.38, 0.5, 8):
        ends = np.stack([level + x * side, level + (x - 0.12) * side - 0.12 * up])
        sketch.items.append(Path(ends, HATCH))


def tether(sketch: Sketch, posture: Posture, k: int, point: Array) -> str | None:
    """A dotted line from a link to a point of its frame off its lines; the name of the way there, if it is one."""
    link = posture.bones.links[k]
    if not len(link.points):
        return None
    view, there = posture.view, at(posture.T[k], point)
    on_paper = view.on_paper(place(posture.T[k], link.points))
    here = view.on_paper(there)
    bars = [(on_paper[a], on_paper[b]) for a, b in link.bars] or [(on_paper[0], on_paper[0])]
    if min(distance(here, a, b) for a, b in bars) < 0.12:
        return None
    start = next((joint.in_child for joint, _ in posture.joints() if joint.child == k), link.points[0])
    sketch.line(np.stack([at(posture.T[k], start), there]), TETHER)
    text = posture.names.way(k, start, point)
    return None if text is None or "," in text else text


def distance(point: Array, a: Array, b: Array) -> float:
    """The distance of a point (2,) from a segment."""
    along = b - a
    share = np.clip(float((point - a) @ along) / max(float(along @ along), 1e-18), 0.0, 1.0)
    return float(np.linalg.norm(point - a - share * along))


def mass_mark(sketch: Sketch, point: Array, radius: float = 0.11) -> None:
    """The mark of a center of mass: a disc of black and white quarters."""
    center = sketch.view.on_paper(point)
    sketch.items.append(Disc(center, radius, None, "#ffffff"))
    for start in (0.0, np.pi):
        quarter = np.concatenate([np.zeros((1, 2)), circle_points(start, np.pi / 2)])
        sketch.items.append(Path(center + radius * quarter, None, "#000000", closed=True))
    sketch.items.append(Disc(center, radius, Stroke("#000000", 20 * POINT), None))
