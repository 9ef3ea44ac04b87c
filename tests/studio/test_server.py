"""The server: pages, tabs and their ends."""

import pytest

from studio.tab import eventually, is_blank, session_of, share_changed


@pytest.fixture(scope="module")
def studio(start_studio):
    return start_studio("planar_2r")


def test_the_page_shows_a_robot_that_a_slider_moves(studio, tab):
    tab.open(studio.address)
    before = tab.settled_canvas()
    assert not is_blank(before)
    tab.fill("joint1", 1.0)
    session = session_of(studio)
    eventually(lambda: session.state.q[0] == pytest.approx(1.0))
    eventually(lambda: share_changed(before, tab.canvas()) > 0.005)
