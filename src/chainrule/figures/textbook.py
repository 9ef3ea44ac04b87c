"""The figure with which textbooks begin: links, joints, and the symbols of coordinates, lengths, masses and gravity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, flag
from chainrule.calls import explains_arguments
from chainrule.core.mechanism import Mechanism
from chainrule.errors import visible
from chainrule.figures.figure import Figure
from chainrule.figures.posture import Posture
from chainrule.figures.scene import Path, Stroke
from chainrule.figures.sketch import Sketch, unit
from chainrule.figures.stick import AXIS, across_axis, draw_stick, mass_mark, tether
from chainrule.model import Body
from chainrule.plots.canvas import BLACK, LIMIT_COLOR, LINK_COLOR, PURPLE, VERMILLION
from chainrule.shapes.skeleton import JointPlace, at, place

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ARC_RADIUS, RING_RADIUS, REFERENCE_LENGTH = 0.8, 0.36, 1.25
"""The radii of the arcs of angles in a plane and in space, and the length of the line from which they count, in cm."""

ANGLE = Stroke(VERMILLION, 0.9)
LENGTH = Stroke(PURPLE, 0.8)
FRAME_LENGTH, BASE_LENGTH, GRAVITY_LENGTH = 0.55, 0.95, 0.9


@explains_arguments
def figure(
    robot: Mechanism, q: ArrayLike | None = None, *, frames: bool = True, symbols: Mapping[Any, Any] | None = None
) -> Figure:
    """The robot as textbooks draw it: links as lines, symbols for joints, q, L, m and g, frames {0}, {1}, and so on.

    The symbols are those of robot.equations(). Lengths along several axes of a link are named one after the other. An
    angle in a plane counts from the dashed line. Where joints are at one place, their symbols step aside along their
    axes.

    Parameters
    ----------
    q
        One posture (nq,); the home posture if none is given.
    frames
        Whether the axes of the frames of all links are drawn; their numbers are written then.
    symbols
        Symbols of your own, by the names that they replace, as in robot.equations: {"q_1": "theta_1"}.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> [label.text.latex for label in arm.textbook.figure([0.4, 0.6], frames=False).scene.labels]
    ['q_{1}', 'q_{2}', 'L_{1}', 'L_{2}', 'm_{1}', 'm_{2}', 'g']
    """
    with_frames = flag(frames, "figure: frames")
    return figure_of(Posture.of(robot, "figure", q, symbols), frames=with_frames)


def figure_of(posture: Posture, *, frames: bool = True) -> Figure:
    """The figure of a posture."""
    sketch = Sketch(posture.view)
    places = draw_stick(sketch, posture)
    for joint, body in posture.joints():
        draw_coordinate(sketch, posture, joint, body, places[joint.name])
    _draw_lengths(sketch, posture)
    _draw_masses(sketch, posture)
    if frames:
        draw_frames(sketch, posture)
    draw_gravity(sketch, posture)
    return Figure(sketch.scene(), f"{visible(posture.robot.name)}, with the symbols of its equations")


def draw_coordinate(sketch: Sketch, posture: Posture, joint: JointPlace, body: Body, here: Array) -> None:
    """The coordinate of a joint: the arc of an angle, a ring around its axis in space, the length of a slide."""
    text, axis = posture.names.coordinate(body), posture.axis(joint)
    if text is None:
        return
    if joint.kind == "slides" and axis is not None:
        _draw_slide(sketch, posture, joint, axis, here, text)
    elif joint.kind == "turns" and axis is not None and posture.view.flat:
        _draw_angle(sketch, posture, joint, axis, here, float(posture.q[body.first_q]), text)
    elif joint.kind == "turns" and axis is not None:
        _draw_ring(sketch, axis, here, text)
    else:
        sketch.name(here, text, ANGLE.color)


def _draw_angle(
    sketch: Sketch, posture: Posture, joint: JointPlace, axis: Array, here: Array, angle: float, text: str
) -> None:
    """The angle of a joint across the paper, from where its link is at zero."""
    view = posture.view
    points = place(posture.T[joint.child], posture.bones.links[joint.child].points)
    far = max([*points, posture.com(joint.child)], key=lambda point: float(np.linalg.norm(point - here)), default=here)
    along = far - here if np.linalg.norm(far - here) > 1e-9 * posture.bones.reach else posture.T[joint.child, :3, 0]
    along = unit(along)
    zero = np.cos(angle) * along - np.sin(angle) * np.cross(axis, along)
    reference = np.stack([here, here + REFERENCE_LENGTH / view.scale * zero])
    sketch.line(reference, Stroke(LIMIT_COLOR, 0.6, "dashed"))
    sweep = float(np.fmod(angle, 2 * np.pi))
    arc = sketch.turn(here, axis, zero, sweep, ARC_RADIUS, ANGLE, head="arrow" if abs(sweep) > 0.25 else "", name=text)
    middle = arc[len(arc) // 2]
    sketch.wish(np.stack([middle, arc[len(arc) // 4], arc[3 * len(arc) // 4]]), text, ANGLE.color,
                away=unit(middle - view.on_paper(here)))  # fmt: skip


def _draw_ring(sketch: Sketch, axis: Array, here: Array, text: str) -> None:
    """A ring around an axis, with an arrow in the sense of turning."""
    view = sketch.view
    half = 0.75 / view.scale
    sketch.line(np.stack([here - half * axis, here + half * axis]), AXIS)
    center = here + 0.42 / view.scale * axis
    first, second = across_axis(axis)
    to_eye = unit([float(view.toward @ first), float(view.toward @ second)])
    start = -(to_eye[0] * first + to_eye[1] * second)  # the gap is behind
    start = np.cos(0.5) * start + np.sin(0.5) * np.cross(axis, start)
    arc = sketch.turn(center, axis, start, 2 * np.pi - 1.0, RING_RADIUS, ANGLE, name=text)
    outward = unit(view.directions(axis))
    sketch.wish(np.concatenate([arc[[-1]], arc[:: max(1, len(arc) // 6)]]), text, ANGLE.color, away=outward)


def _draw_slide(sketch: Sketch, posture: Posture, joint: JointPlace, axis: Array, here: Array, text: str) -> None:
    """The length that a joint has slid, beside its slide; an arrow to both sides where it has not."""
    view, end = posture.view, at(posture.T[joint.child], joint.in_child)
    along = view.directions(axis)
    side = unit([-along[1], along[0]])
    if np.linalg.norm(view.on_paper(end) - view.on_paper(here)) > 0.6:
        sketch.measure(here, end, 0.36 * side, text, ANGLE, name=text)
        return
    ends = view.on_paper(here) + 0.34 * side + np.array([[-0.4], [0.4]]) * unit(along)
    sketch.items.append(Path(ends, ANGLE, head="both", name=text))
    sketch.wish(ends.mean(axis=0)[None], text, ANGLE.color, away=side)


def _draw_lengths(sketch: Sketch, posture: Posture) -> None:
    """The names of the lengths of links, beside their lines."""
    for k, link in enumerate(posture.bones.links):
        points = place(posture.T[k], link.points) if len(link.points) else np.zeros((0, 3))
        for a, b in link.bars:
            text = posture.names.way(k, link.points[a], link.points[b])
            ends = posture.view.on_paper(points[[a, b]])
            if text is not None and np.linalg.norm(ends[1] - ends[0]) > 0.15:
                shares = np.array([0.5, 0.38, 0.62, 0.28, 0.72])[:, None]
                sketch.wish(ends[0] + shares * (ends[1] - ends[0]), text, LENGTH.color, rank=2)


def _draw_masses(sketch: Sketch, posture: Posture) -> None:
    """The centers of mass and the names of masses; those at one place share a mark."""
    found: list[tuple[Array, list[str]]] = []
    for body in posture.bodies:
        text = posture.names.mass(body.index)
        if text is None:
            continue
        here = posture.com(body.index)
        _name_way(sketch, posture, body.index, np.array([float(x) for x in body.link.com]))
        same = next((texts for point, texts in found if np.linalg.norm(point - here) * posture.view.scale < 0.1), None)
        if same is None:
            found.append((here, [text]))
        else:
            same.append(text)
    for here, texts in found:
        mass_mark(sketch, here)
        sketch.wish(sketch.view.on_paper(here)[None], ", ".join(texts), LINK_COLOR, rank=3)


def _name_way(sketch: Sketch, posture: Posture, k: int, point: Array) -> None:
    """A dotted line to a center of mass off the lines of its link, with the name of its length."""
    text = tether(sketch, posture, k, point)
    if text is not None:
        ends = [item for item in sketch.items if isinstance(item, Path)][-1].points
        sketch.wish(ends[:1] + np.array([0.5, 0.35, 0.65])[:, None] * (ends[1] - ends[0]), text, LENGTH.color, rank=2)


def draw_frames(sketch: Sketch, posture: Posture) -> None:
    """The axes of the frames of all links, with their numbers; those at one place are numbered together."""
    groups: list[tuple[Array, list[int]]] = []
    for k, T in enumerate(posture.T):
        here = posture.view.on_paper(T[:3, 3])
        same = next((numbers for point, numbers in groups if np.linalg.norm(point - here) < 0.15), None)
        if same is None:
            groups.append((here, [k]))
        else:
            same.append(k)
    for k in range(len(posture.T)):
        tether(sketch, posture, k, np.zeros(3))
    for _, numbers in groups:
        text = r", ".join(rf"\{{{k}\}}" for k in numbers)
        for k in reversed(numbers):
            first = k == numbers[0]
            length = BASE_LENGTH if k == 0 else FRAME_LENGTH
            sketch.frame(posture.T[k], length, text if first else None, "0" if k == 0 else None)


def draw_gravity(sketch: Sketch, posture: Posture) -> None:
    """The direction of gravity, beside the robot and its labels."""
    g = np.asarray(posture.robot.gravity, dtype=float)
    if not g.any():
        return
    sketch.place_labels()
    _, high = sketch.box()
    start = np.array([high[0] + 0.35, high[1] - 0.2])
    view = posture.view
    point = (start[0] * view.right + start[1] * view.up) / view.scale
    sketch.vector(point, unit(g), GRAVITY_LENGTH, Stroke(BLACK, 1.1), posture.names.gravity())
