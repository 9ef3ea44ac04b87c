"""The browser of the studio's tests: Debian's Chromium without a window, drawing WebGL in software.

`tab` is one page, new for each test; `open_tab` makes more of them. Their class, `studio.tab.Tab`, finds controls by
label. An error that the page does not catch fails the test. `start_studio` starts a studio for the tests of a file:

    @pytest.fixture(scope="module")
    def studio(start_studio):
        return start_studio("planar_2r")

    def test_it(studio, tab):
        tab.open(studio.address)
"""

import logging
import shutil

import pytest

from studio.tab import Tab

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip
SIZE = {"width": 960, "height": 600}
"""Of a page: without a graphics card, time goes with the number of pixels."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """A test in the browser that fails is run again: on a machine that is busy the page may be late for anything."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.fixture(scope="package")
def browser():
    """One browser for all tests of this folder; it ends with them, and with it Playwright's event loop."""
    pytest.importorskip("viser", reason="the extra `studio` is not installed")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("there is no Chromium; `make tools` installs it")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


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
    """A function that starts a studio on a free port, which ends with the file's tests: `start_studio("panda")`.

    Reflections of the surroundings are off: without a graphics card the browser computes on them for seconds.
    """
    pytest.importorskip("viser", reason="the extra `studio` is not installed")
    from chainrule.studio import open_studio

    studios = []

    def start(robot=None, **options):
        studios.append(open_studio(robot, port=0, **options))
        studios[-1].server.scene.configure_environment_map(hdri=None)
        return studios[-1]

    yield start
    for studio in studios:
        studio.close()


class Lines(logging.Handler):
    """The text of all that is logged."""

    text = ""

    def emit(self, record):
        self.text += self.format(record) + "\n"


@pytest.fixture
def caplog():
    """What is logged during a test. pytest's own is off: a thread of another test that ended in it locked all others."""
    lines = Lines()
    logging.getLogger().addHandler(lines)
    yield lines
    logging.getLogger().removeHandler(lines)
