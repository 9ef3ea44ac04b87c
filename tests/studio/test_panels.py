"""Panels of dynamics on robots of every kind, without a browser: they build, follow the state and close."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import chainrule as cr
from chainrule.core.derived import has_moving_mass
from chainrule.studio import world
from chainrule.studio.panels.doctor import DoctorPanel
from chainrule.studio.panels.ellipsoids import EllipsoidsPanel
from chainrule.studio.panels.mass_matrix import MassMatrixPanel
from chainrule.studio.panels.motion import MotionPanel
from chainrule.studio.panels.push import PushPanel
from chainrule.studio.panels.torques import TorquesPanel
from chainrule.studio.panels.world import WorldPanel
from chainrule.studio.postures import default_tip
from chainrule.studio.session import SessionState

PANELS = (TorquesPanel, MotionPanel, PushPanel, WorldPanel, MassMatrixPanel, EllipsoidsPanel, DoctorPanel)


class Handle:
    """What viser gives for a control or a node: it keeps what is assigned, and knows whether it was removed."""

    def __init__(self, value):
        self.value, self.content, self.visible, self.removed = value, value, True, False

    def on_update(self, callback):
        self.update = callback

    def on_click(self, callback):
        self.click = callback

    def remove(self):
        assert not self.removed
        self.removed = True


class Page:
    """`client.gui` and `client.scene`: each add_... makes a handle, found by its label."""

    def __init__(self):
        self.made = []
        self.named = {}

    def __getattr__(self, name):
        assert name.startswith("add_"), name

        def add(label="", *rest, **options):
            first = label if name == "add_html" else options.get("initial_value", rest[0] if rest else None)
            self.made.append(Handle(first))
            self.named[label] = self.made[-1]
            return self.made[-1]

        return add


def session_on(robot):
    gui, scene = Page(), Page()
    session = SimpleNamespace(robot=robot, client=SimpleNamespace(gui=gui, scene=scene), movers=frozenset())
    session.state, session.tip = SessionState.at_rest(robot), default_tip(robot)
    session.poses = robot.poses(session.state.q)
    session.guarded = lambda callback: (
        lambda event: None if getattr(event, "client", session) is None else callback(event)
    )
    session.drawn = SimpleNamespace(highlight=lambda links: None)

    def move(by=None, **new):
        session.state = SessionState(**{**vars(session.state), **new})

    session.move = move
    return session


def massless():
    return cr.Robot.from_dh([(0, 1, 0, 0), (0, 1, 0, 0)], convention="standard", check=False)


ROBOTS = {
    "pendulum": lambda: cr.load("pendulum"),
    "slides": lambda: cr.load("planar_rp"),
    "free base, four tips": lambda: cr.load("quadruped"),
    "closed loop": lambda: cr.load("four_bar"),
    "massless": massless,
    "nothing moves": lambda: cr.load("pendulum").lock({"hinge": 0.3}),
}


@pytest.mark.parametrize("kind", ROBOTS)
def test_panels_build_follow_and_close(kind):
    robot = ROBOTS[kind]().reference
    session = session_on(robot)
    panels = [panel for kind in PANELS if (panel := kind()).suits(robot)]
    for panel in panels:
        panel.build(session)
        panel.draws(session)
    gui, scene = session.client.gui, session.client.scene
    for box in ("Numbers", "Velocity", "Force", "Arrow to drag"):
        if box in gui.named:
            gui.named[box].value = True
    rng = np.random.default_rng(0)
    link = robot.link_names[-1]
    changed = [{}, {"qd": rng.normal(size=robot.nv)}, {"wrenches": {link: rng.normal(size=6)}}, {"wrenches": {}}]
    if has_moving_mass(robot):
        parameters = world.Conditions(np.array([0, 1.0, 0]), default_tip(robot), 0.5).parameters(robot)
        changed += [{"parameters": parameters}, {"parameters": {}}]
    for new in changed:
        session.move(**new)
        for panel in panels:
            panel.update(session)
            panel.draws(session)
    for handle in gui.made:
        if hasattr(handle, "click") and handle.value is None:
            handle.click(SimpleNamespace(client=None, target=handle))
            for panel in panels:
                panel.update(session)
    for panel in panels:
        panel.close()
    assert all(node.removed for node in scene.made)


def test_a_robot_without_masses_or_joints_is_told_why_there_are_no_torques():
    session = session_on(massless().reference)
    panel = TorquesPanel()
    panel.build(session)
    panel.update(session)
    assert "mass" in panel._chart.content
    assert 'class="note"' in panel._chart.content


def test_sliders_of_the_world_change_parameters_and_the_robots_own_world_has_none():
    robot = cr.load("planar_2r").reference
    session = session_on(robot)
    panel = WorldPanel()
    panel.build(session)
    named = session.client.gui.named
    named["Payload kg"].value = 0.4
    named["Payload kg"].update(SimpleNamespace(client=session.client))
    assert session.state.parameters[f"{default_tip(robot)}.payload"][0] == 0.4
    named["Gravity of"].click(SimpleNamespace(target=SimpleNamespace(value="Mars")))
    assert session.state.parameters["gravity"] == pytest.approx([0, -3.73, 0])
    named["As the robot has it"].click(None)
    assert session.state.parameters == {}


def test_controls_that_the_program_sets_do_not_change_the_state():
    robot = cr.load("planar_2r").reference
    session = session_on(robot)
    panel = MotionPanel()
    panel.build(session)
    slider = session.client.gui.named["Velocity"]
    slider.value = 1.5
    slider.update(SimpleNamespace(client=None))
    assert not session.state.qd.any()
    slider.update(SimpleNamespace(client=session.client))
    assert session.state.qd.tolist() == [1.5, 0.0]
