"""The server: pages, tabs and their ends."""

import gc
import threading
import weakref
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np
import pytest
from waiting import eventually

import chainrule as cr
from chainrule.errors import FormatError
from chainrule.studio import open_studio, uploads
from studio.tab import is_blank, session_of, share_changed
from studio.visitor import Visitor


@pytest.fixture(scope="module")
def studio(start_studio):
    return start_studio("planar_2r")


@pytest.fixture
def visit(studio):
    """A function that opens a tab without a browser, which is closed with the test."""
    visitors = []

    def enter():
        known = set(studio.sessions)
        visitors.append(Visitor(studio))
        (number,) = eventually(lambda: set(studio.sessions) - known)
        return visitors[-1], studio.sessions[number]

    yield enter
    for visitor in visitors:
        visitor.close()
    eventually(lambda: not studio.sessions)


def session_threads():
    return [thread for thread in threading.enumerate() if "studio" in thread.name]


# --- without a browser --------------------------------------------------------------------------------------------


def test_ten_tabs_are_ten_sessions(studio, visit):
    before = len(session_threads())
    entered = [visit() for _ in range(10)]
    sessions = [session for _, session in entered]
    assert len(studio.sessions) == 10
    for k, session in enumerate(sessions):
        session.move([0.1 * k, 0.0])
    sessions[3].show(cr.load("pendulum"))
    assert [session.state.q[0] for k, session in enumerate(sessions) if k != 3] == pytest.approx(
        [0.1 * k for k in range(10) if k != 3]
    )
    assert {session.robot.name for session in sessions} == {"planar_2r", "pendulum"}
    for visitor, _ in entered:
        visitor.close()
    eventually(lambda: not studio.sessions)
    eventually(lambda: len(session_threads()) <= before)


def test_a_closed_tab_leaves_nothing_behind(studio, visit):
    visitor, session = visit()
    session.uploads.add("a.urdf", b"<robot name='a'><link name='a'/></robot>")
    folder = session.uploads.last.folder
    gone = weakref.ref(session)
    session.show(cr.load("pendulum"))
    robot = weakref.ref(session.robot)
    visitor.close()
    eventually(lambda: not studio.sessions)
    del session
    eventually(lambda: gc.collect() >= 0 and gone() is None)
    eventually(lambda: gc.collect() >= 0 and robot() is None)
    assert not folder.exists()


def test_a_tab_that_is_closed_at_once_leaves_no_session(studio):
    before = len(session_threads())
    for _ in range(3):
        Visitor(studio).close()
    eventually(lambda: not studio.sessions)
    eventually(lambda: len(session_threads()) <= before)


def test_an_error_in_one_tab_is_its_own(studio, visit, monkeypatch):
    _, first = visit()
    _, second = visit()
    said = []
    monkeypatch.setattr(first, "say", lambda text, *_, **__: said.append(text))

    def fail(_):
        raise RuntimeError("a bug")

    first.guarded(fail)(None)
    first.guarded(lambda _: cr.load("no_such_robot"))(None)
    assert said[0].startswith("This is an error in the studio itself (RuntimeError)")
    assert "no robot named 'no_such_robot'" in said[1]
    second.move([0.5, 0.5])
    np.testing.assert_allclose(second.state.q, [0.5, 0.5])
    assert len(studio.sessions) == 2


def test_a_tab_that_cannot_be_opened_leaves_the_server_up(studio, visit, monkeypatch, caplog):
    monkeypatch.setattr("chainrule.studio.server.PANELS", None)
    broken = Visitor(studio)
    eventually(lambda: "a tab could not be opened" in caplog.text)
    broken.close()
    monkeypatch.undo()
    visit()
    assert len(studio.sessions) == 1


def test_uploads_are_dropped_while_they_come(studio, visit, monkeypatch):
    """Pages may send what they like, whatever they said before."""
    monkeypatch.setattr("chainrule.studio.server.MAX_UPLOAD_BYTES", 1000)
    visitor, session = visit()
    button = next(
        iter(
            handle
            for handle in session.client.gui._gui_input_handle_from_uuid.values()
            if "Upload" in type(handle).__name__
        )
    )
    waiting = session.client.gui._current_file_upload_states

    def begin(name, size, parts):
        visitor.send({
            "type": "FileTransferStartUpload", "source_component_uuid": button._impl.uuid, "transfer_uuid": name,
            "filename": f"{name}.urdf", "mime_type": "", "part_count": parts, "size_bytes": size,
        })  # fmt: skip

    def send_part(name, index, content):
        visitor.send({
            "type": "FileTransferPart", "source_component_uuid": button._impl.uuid, "transfer_uuid": name,
            "part_index": index, "content": content,
        })  # fmt: skip

    refused = []
    monkeypatch.setattr(studio, "_refuse", lambda _, reason: refused.append(reason))
    begin("large", 10**9, 10**4)
    eventually(lambda: refused == ["'large.urdf' is larger than 0 MiB, the most that can be uploaded."])
    begin("liar", 10, 100)
    send_part("liar", 0, b"x" * 600)
    send_part("liar", 1, b"x" * 600)
    eventually(lambda: len(refused) == 2)
    begin("one", 10, 2)
    begin("two", 10, 2)
    eventually(lambda: refused[2:] == ["Another upload is under way: one file at a time, please."])
    assert list(waiting) == ["one"]


def test_no_more_tabs_than_can_be_served(studio, visit, monkeypatch):
    from websockets.exceptions import InvalidStatus

    monkeypatch.setattr("chainrule.studio.guard.MAX_TABS", 1)
    visit()
    with pytest.raises(InvalidStatus, match="503"):
        Visitor(studio)
    with pytest.raises(HTTPError, match="503") as refusal:
        urlopen(studio.address)
    assert refusal.value.read() == b"1 tabs are open; close some of them first.\n"


def test_uploads_of_a_closed_tab_are_refused(studio, visit):
    visitor, session = visit()
    visitor.close()
    eventually(lambda: not studio.sessions)
    eventually(lambda: session.uploads._count == uploads.MAX_UPLOADS)
    with pytest.raises(FormatError, match="reload the page"):
        session.uploads.add("a.urdf", b"<robot name='a'><link name='a'/></robot>")


def test_no_program_is_run_for_a_tab_that_opens_a_path(studio, visit, tmp_path, monkeypatch):
    """Whoever may open tabs on this machine could write a xacro file, and have it run with the rights of the studio."""
    visitor, session = visit()
    (tmp_path / "arm.xacro").write_text('<robot name="r" xmlns:xacro="x"><link name="l${1}"/></robot>')
    controls = {getattr(one, "label", ""): one for one in session.client.gui._gui_input_handle_from_uuid.values()}
    said = []
    monkeypatch.setattr(session, "say", lambda text, *_: said.append(text))
    for label, value in (("Path", str(tmp_path / "arm.xacro")), ("Open path", True)):
        uuid = controls[label]._impl.uuid
        visitor.send({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": value}})
        eventually(lambda label=label: label != "Path" or controls[label].value)
    eventually(lambda: said or session.robot.name == "r")
    (text,) = said
    assert text.startswith("arm.xacro is xacro inside, a program that can do anything you can; run it yourself")


# --- in the browser -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_tabs_with_robots_that_sliders_move(studio, open_tab):
    first = open_tab(studio.address, width=900, height=500)
    mine = session_of(studio)
    second = open_tab(studio.address, width=900, height=500)
    eventually(lambda: len(studio.sessions) == 2)
    (other,) = [session for session in studio.sessions.values() if session is not mine]
    before, untouched = first.settled_canvas(), second.settled_canvas()
    assert not is_blank(before)
    first.fill("joint1", 60, until=lambda: mine.state.q[0] == pytest.approx(np.pi / 3))
    eventually(lambda: share_changed(before, first.canvas()) > 0.005)
    assert other.state.q[0] != pytest.approx(np.pi / 3)
    assert share_changed(untouched, second.canvas()) < 0.001


def test_the_page_comes_back_after_a_restart(tab):
    studio = open_studio("planar_2r", port=0)
    tab.open(studio.address)
    session_of(studio)
    studio.close()
    tab.disconnected()
    with open_studio("planar_3r", port=studio.port) as again:
        session = session_of(again)
        tab.fill("joint3", 30, until=lambda: session.state.q[2] == pytest.approx(np.pi / 6))
