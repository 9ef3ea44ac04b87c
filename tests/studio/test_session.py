"""A session without a page: states, panels, errors; viser's client is a stand-in that takes everything."""

from __future__ import annotations

import threading
from unittest.mock import MagicMock

import numpy as np
import pytest
from waiting import eventually

import chainrule as cr
from chainrule.errors import ModelError
from chainrule.studio.panels.panel import Panel
from chainrule.studio.session import Session, SessionState

ARM = cr.load("planar_2r").reference


def new_client():
    client = MagicMock()
    client._websock_connection.get_message_buffer().message_from_id = {}
    client.camera.image_width, client.camera.image_height = 1280, 720
    return client


class Recorder(Panel):
    """A panel that notes what it is asked to do."""

    title = "Recorder"

    def __init__(self):
        self.calls, self.states, self.movers = [], [], []

    def build(self, session):
        self.calls.append("build")

    def update(self, session):
        self.states.append(session.state)
        self.movers.append(session.movers)

    def close(self):
        self.calls.append("close")


@pytest.fixture
def open_session():
    sessions = []

    def start(*panels, robot=ARM):
        sessions.append(Session(new_client(), robot, [lambda panel=panel: panel for panel in panels]))
        return sessions[-1]

    yield start
    for session in sessions:
        session.close()


def messages(session):
    return [call.args[1] for call in session.client.add_notification.call_args_list]


def test_a_new_state_reaches_every_panel_with_whoever_moved(open_session):
    first, second = Recorder(), Recorder()
    session = open_session(first, second)
    session.move([0.1, 0.2], by=first)
    for panel in (first, second):
        eventually(lambda panel=panel: panel.states and panel.states[-1].q.tolist() == [0.1, 0.2])
        assert first in panel.movers[-1]
    session.move(qd=[1.0, 2.0], time=3.0)
    eventually(lambda: second.states[-1].time == 3.0)
    assert second.states[-1].q.tolist() == [0.1, 0.2]
    assert second.movers[-1] == {None}


def test_a_panel_that_is_drawn_seldom_knows_all_who_moved_since(open_session):
    quick, slow = Recorder(), Recorder()
    slow.rate = 4.0
    session = open_session(quick, slow)
    eventually(lambda: quick.states and slow.states)
    session.move([0.1, 0.2], by=quick)
    eventually(lambda: quick.states[-1].q[0] == 0.1)
    session.move([0.3, 0.4], by=slow)
    eventually(lambda: slow.states[-1].q[0] == 0.3)
    assert quick in set().union(*slow.movers)
    assert slow in slow.movers[-1]


def test_many_moves_become_few_updates_and_the_last_is_always_drawn(open_session):
    slow = Recorder()
    slow.rate = 5.0
    session = open_session(slow)
    for k in range(500):
        session.move([0.0, 1e-3 * k])
    eventually(lambda: slow.states[-1].q[1] == 1e-3 * 499)
    assert len(slow.states) < 50


def test_a_tab_that_is_gone_is_not_drawn(open_session):
    panel = Recorder()
    session = open_session(panel)
    eventually(lambda: panel.states)
    session.client._websock_connection.get_message_buffer().done = True
    session.move([0.5, 0.5])
    eventually(lambda: not session._thread.is_alive())
    assert panel.states[-1].q.tolist() != [0.5, 0.5]


def test_poses_are_computed_once_for_a_state_and_move_the_robot(open_session):
    session = open_session(Recorder())
    assert session.poses is session.poses
    before = session.poses
    session.move([0.5, 0.5])
    assert session.poses is not before
    assert session.poses == pytest.approx(ARM.poses([0.5, 0.5]))


def test_wrenches_and_states_are_checked(open_session):
    session = open_session()
    session.move(wrenches={"link2": [0, 0, 0, 1, 2, 3]})
    assert session.state.wrenches["link2"].tolist() == [0, 0, 0, 1, 2, 3]
    with pytest.raises(cr.UnknownNameError, match="link9"):
        session.move(wrenches={"link9": np.zeros(6)})
    with pytest.raises(cr.ShapeError, match="q"):
        session.move([1.0, 2.0, 3.0])
    with pytest.raises(ModelError, match="one state"):
        session.move(np.zeros((4, 2)))


def test_errors_of_callbacks_become_messages(open_session, caplog):
    session = open_session()

    def refuse(_):
        raise ModelError("the arm is too short")

    session.guarded(refuse)(MagicMock())
    session.guarded(lambda _: 1 / 0)(MagicMock())
    assert messages(session)[0] == "the arm is too short"
    assert "ZeroDivisionError" in messages(session)[1]
    assert "ZeroDivisionError" in caplog.text


def test_what_the_program_sets_itself_calls_nothing_back(open_session):
    called = []
    session = open_session()
    session.guarded(called.append)(MagicMock(client=None))
    assert not called


def test_an_error_in_a_panel_is_told_once_and_leaves_the_others(open_session):
    class Broken(Recorder):
        def update(self, session):
            super().update(session)
            raise ModelError("no mass")

    broken, other = Broken(), Recorder()
    session = open_session(broken, other)
    for k in range(4):
        session.move([0.1 * k, 0.0])
        eventually(lambda k=k: other.states and other.states[-1].q[0] == 0.1 * k)
    assert messages(session).count("no mass") == 1
    assert len(broken.states) > 1


def test_a_panel_that_cannot_be_built_says_so_in_its_place(open_session):
    class Unbuildable(Recorder):
        def build(self, session):
            raise ModelError("this robot has no wheels")

    session = open_session(Unbuildable(), Recorder())
    texts = [call.args[0] for call in session.client.gui.add_html.call_args_list]
    assert any("Recorder cannot be shown: this robot has no wheels" in text for text in texts)


def test_another_robot_closes_and_builds_every_panel(open_session):
    panel = Recorder()
    session = open_session(panel)
    session.move([0.3, 0.4], wrenches={"link2": np.ones(6)})
    other = cr.load("pendulum").reference
    session.show(other)
    assert panel.calls == ["build", "close", "build"]
    assert session.robot is other
    assert session.state.q.tolist() == other.home().tolist()
    assert not session.state.wrenches
    session.close()
    assert panel.calls[-1] == "close"
    session.close()


def test_other_numbers_keep_the_state_and_other_links_are_refused(open_session):
    panel = Recorder()
    session = open_session(panel)
    session.move([0.3, 0.4])
    heavier = ARM.with_payload(2.0)
    session.revise(heavier)
    assert session.robot is heavier
    assert session.state.q.tolist() == [0.3, 0.4]
    assert panel.calls == ["build"]
    with pytest.raises(ModelError, match="another robot"):
        session.revise(cr.load("planar_3r"))


def test_the_same_complaint_is_not_repeated_at_once(open_session):
    session = open_session()
    for message in ("stuck", "stuck", "open"):
        session.complain("joints", message)
    assert messages(session) == ["stuck", "open"]


def test_closing_ends_the_thread(open_session):
    session = open_session(Recorder())
    assert session._thread.is_alive()
    session.close()
    assert not session._thread.is_alive()


def test_a_state_at_rest_is_home():
    state = SessionState.at_rest(ARM)
    assert state.q.tolist() == ARM.home().tolist()
    assert not state.qd.any()


def test_messages_go_by_themselves_so_that_several_do_not_hide_the_robot(open_session):
    session = open_session()
    for kind in ("info", "warning", "error"):
        session.say("a mistake", kind)
    times = [call.kwargs["auto_close_seconds"] for call in session.client.add_notification.call_args_list]
    assert times == sorted(times)
    assert 10 < times[-1] < 60


def test_panels_behind_another_tab_compute_nothing_until_they_are_looked_at(open_session):
    front, back, drawing = Recorder(), Recorder(), Recorder()
    back.tab, drawing.tab = "Back", "Drawing"
    drawing.draws = lambda session: True
    session = open_session(front, back, drawing)
    session.move([0.1, 0.2])
    for panel in (front, drawing):
        eventually(lambda panel=panel: panel.states and panel.states[-1].q.tolist() == [0.1, 0.2])
    assert not back.states
    session.open_tab("Back")
    eventually(lambda: back.states)
    assert back.states[0].q.tolist() == [0.1, 0.2]
    session.move([0.3, 0.4])
    eventually(lambda: back.states[-1].q[0] == 0.3 and drawing.states[-1].q[0] == 0.3)
    assert front.states[-1].q[0] == 0.1


def test_panels_that_do_not_suit_a_robot_are_left_out_with_their_tabs(open_session):
    wheels, arms = Recorder(), Recorder()
    wheels.title, wheels.suits = "Wheels", lambda robot: robot.nv > 2
    session = open_session(arms, wheels)
    assert session.client.gui.add_button_group.call_args.args == ("", ["Recorder"])
    assert wheels.calls == []
    session.show(cr.load("planar_3r").reference)
    assert session.client.gui.add_button_group.call_args.args == ("", ["Recorder", "Wheels"])
    assert wheels.calls == ["build"]


def test_what_takes_long_is_said_until_it_is_done(open_session):
    go_on = threading.Event()

    class Slow(Recorder):
        def update(self, session):
            go_on.wait()
            super().update(session)

    session = open_session(Slow())
    eventually(lambda: "Preparing recorder …" in session.screen._html.content)
    go_on.set()
    eventually(lambda: "Preparing" not in session.screen._html.content)


def test_a_presentation_names_the_robot_and_its_time_and_ends_by_a_button(open_session):
    session = open_session(Recorder())
    session.present(True)
    session.move(time=2.0)
    eventually(lambda: "<b>planar_2r</b>an arm of 2 joints on a fixed base<br>2 kg" in session.screen._html.content)
    eventually(lambda: "2.0 s</div>" in session.screen._html.content)
    assert "studio-presenting" in session.screen._html.content
    assert session._leave.visible is True
    session.present(False)
    assert "studio-presenting" not in session.screen._html.content
