"""The helpers that the other tests use, on a page with one control of each kind."""

import numpy as np
import pytest
from waiting import eventually

from studio.tab import is_blank, share_changed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page():
    viser = pytest.importorskip("viser", reason="the extra `studio` is not installed")
    from chainrule.studio.screen import TabRow

    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)

    @server.on_client_connect
    def fill(client):
        box = client.scene.add_box("/box", color=(200, 40, 40), dimensions=(2.0, 1.0, 0.5))
        gui = client.gui
        row = TabRow(gui, ["First", "Second"])
        folders = {name: gui.add_folder(None, visible=name == "First") for name in ("First", "Second")}
        with folders["First"]:
            angle = gui.add_slider("joint_1", -3.0, 3.0, 0.1, 0.0)
            log = gui.add_text("log", "nothing")
            number = gui.add_number("mass", 1.5)
            tick = gui.add_checkbox("shown", True)
            choice = gui.add_dropdown("kind", ("arm", "base"))
            vector = gui.add_vector3("force", (1.0, 2.0, 3.0))
            upload = gui.add_upload_button("Send file")
            push = gui.add_button("Push")
            with gui.add_folder("More", expand_by_default=False):
                gui.add_text("hidden", "inside")
        with folders["Second"]:
            gui.add_text("other", "here")

        def open_tab(_):
            row.open(row.buttons.value)
            for name, folder in folders.items():
                folder.visible = name == row.buttons.value

        row.buttons.on_click(open_tab)

        angle.on_update(lambda _: setattr(box, "wxyz", (np.cos(angle.value / 2), np.sin(angle.value / 2), 0.0, 0.0)))
        number.on_update(lambda _: setattr(log, "value", f"mass {number.value:g}"))
        tick.on_update(lambda _: setattr(log, "value", f"shown {tick.value}"))
        choice.on_update(lambda _: setattr(log, "value", f"kind {choice.value}"))
        vector.on_update(lambda _: setattr(log, "value", f"force {vector.value[1]:g}"))
        upload.on_upload(lambda _: setattr(log, "value", f"{upload.value.name} {len(upload.value.content)}"))
        push.on_click(lambda _: client.add_notification("Pushed", "so it was"))

    server.scene.configure_environment_map(hdri=None)
    yield f"http://127.0.0.1:{server.get_port()}"
    server.stop()


def test_controls_are_found_by_their_labels_and_used(page, tab):
    tab.open(page)
    assert tab.value("joint_1") == 0.0
    assert tab.values("force") == [1.0, 2.0, 3.0]
    assert tab.value("shown") is True

    for act, shown in (
        (lambda: tab.fill("mass", 2.5), "mass 2.5"),
        (lambda: tab.tick("shown", False), "shown False"),
        (lambda: tab.choose("kind", "base"), "kind base"),
        (lambda: tab.fill("force", -4, place=1), "force -4"),
        (
            lambda: tab.upload("Send file", {"name": "a.urdf", "mimeType": "text/xml", "buffer": b"<robot/>"}),
            "a.urdf 8",
        ),
    ):
        act()
        eventually(lambda shown=shown: tab.value("log") == shown)
    tab.click("Push")
    tab.says("so it was")
    tab.unfold("More")
    assert tab.value("hidden") == "inside"
    tab.turn_to("Second")
    assert tab.value("other") == "here"


def test_the_picture_changes_with_a_slider_and_is_not_blank(page, tab):
    tab.open(page)
    before = tab.settled_canvas()
    assert before.shape == (600, 960, 3)
    assert not is_blank(before)
    tab.slide("joint_1", 3)
    eventually(lambda: tab.value("joint_1") == pytest.approx(0.3))
    eventually(lambda: share_changed(before, tab.canvas()) > 0.001)
    tab.fill("joint_1", 1.2, until=lambda: share_changed(before, tab.canvas()) > 0.005)
