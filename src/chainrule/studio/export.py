"""One page of HTML that shows a robot, or replays its motion, without a server.

viser's own client is in the page, with the scene as data: nothing is loaded from elsewhere when it is opened, and a
policy in it lets the browser refuse to. Names of links and joints are not in the scene; the robot's name is the title.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.errors import visible
from chainrule.kinematics.poses import poses
from chainrule.shapes.parts import warn_of_problems
from chainrule.studio.quiet import without_rich_output
from chainrule.studio.scene import view, visuals
from chainrule.studio.scene.backdrop import Backdrop
from chainrule.studio.scene.robot import DrawnRobot

if TYPE_CHECKING:
    from viser import ViserServer

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; connect-src data: blob:; worker-src blob:"
)
"""What the page may do: run what is written in it, and load nothing."""

VIEWED_POSTURES = 25
"""Postures of a motion that the camera's first view takes in."""


def page(robot: Mechanism, q: Array, step: float = 0.0, *, dark: bool = False) -> str:
    """The HTML of a page with a robot in postures q (k, nq), one every `step` seconds; one posture is no motion."""
    places = np.asarray(poses(robot, q), dtype=float)
    with _scene_server() as server:
        drawn = DrawnRobot(server.scene, robot)
        _look(server, robot, places[:: max(1, len(places) // VIEWED_POSTURES)], dark)
        drawn.move(places[0])
        recording = server.get_scene_serializer()
        for place in places[1:]:
            recording.insert_sleep(step)
            drawn.move(place)
        if len(places) > 1:
            recording.insert_sleep(step)
        return _finish(recording.as_html(dark_mode=dark), visible(robot.name))


@contextmanager
def _scene_server() -> Iterator[ViserServer]:
    """A server that nobody is told of, on a free port of this machine, for as long as a scene is written down."""
    import viser

    with without_rich_output():
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        yield server
    finally:
        with without_rich_output():
            server.stop()


def _look(server: ViserServer, robot: Mechanism, places: Array, dark: bool) -> None:
    """Lay the ground, and point the camera so that all postures are seen."""
    parts, problems, _ = visuals.drawing(robot)
    warn_of_problems(robot, problems)
    points = np.concatenate([view.drawn_points(robot, parts, place) for place in places])
    # a replay that begins again sets the page's own lights first: other ones would make it flicker
    Backdrop(server.scene, view.ground(robot, points), dark=dark, lamp=len(places) == 1)
    camera = view.first_camera(robot, points)
    server.scene.set_up_direction(tuple(camera.up))
    server.initial_camera.up = camera.up
    server.initial_camera.fov = view.FIELD_OF_VIEW
    server.initial_camera.position = camera.position
    server.initial_camera.look_at = camera.look_at


def _finish(html: str, title: str) -> str:
    """viser's page with a title, and a policy that keeps it from the network."""
    head = "<head>"
    start = html.index(head) + len(head)
    policy = f'\n    <meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}" />'
    return html[:start] + policy + html[start:].replace("<title>Viser</title>", f"<title>{escape(title)}</title>", 1)
