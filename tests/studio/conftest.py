"""Studios for tests, and tabs of a browser that shows them.

`tab` is one page, new for each test; `open_tab` makes more of them. Their class, `studio.tab.Tab`, finds controls by
label. An error that the page does not catch fails the test. `start_studio` starts a studio for the tests of a file:

    @pytest.fixture(scope="module")
    def studio(start_studio):
        return start_studio("planar_2r")

    def test_it(studio, tab):
        tab.open(studio.address)
"""

import pytest
from chromium import chromium

from studio.tab import Tab

SIZE = {"width": 960, "height": 600}
"""Of a page: without a graphics card, time goes with the number of pixels."""


@pytest.fixture(scope="package")
def browser():
    """One browser for all tests of this folder; it ends with them, and with it Playwright's event loop."""
    pytest.importorskip("viser", reason="the extra `studio` is not installed")
    with chromium() as started:
        yield started


@pytest.fixture
def open_tab(browser):
    """A function that opens a tab, of its own window and size: `open_tab(address, width=960, height=600)`."""
    tabs, contexts = [], []

    def open_one(address=None, **size):
        contexts.append(browser.new_context(viewport=SIZE | size))
        tabs.append(Tab(contexts[-1].new_page()))
        return tabs[-1].open(address) if address else tabs[-1]

    yield open_one
    for context in contexts:
        context.close()
    assert [error for tab in tabs for error in tab.errors] == []


@pytest.fixture
def tab(open_tab):
    """A tab that shows nothing yet: `tab.open(studio.address)`."""
    return open_tab()


@pytest.fixture(scope="module")
def start_studio():
    """A function that starts a studio on a free port, which ends with the file's tests: `start_studio("panda")`."""
    pytest.importorskip("viser", reason="the extra `studio` is not installed")
    from chainrule.studio import open_studio

    studios = []

    def start(robot=None, **options):
        studios.append(open_studio(robot, port=0, **options))
        return studios[-1]

    yield start
    for studio in studios:
        studio.close()
