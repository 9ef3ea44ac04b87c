"""Pages in Chromium, opened from their files, without a network."""

import pytest
from chromium import chromium


class OpenPage:
    """A page as a reader has it. `page` is Playwright's; `problems` is what the browser complains of."""

    def __init__(self, page):
        self.page, self.problems, self.asked = page, [], []
        page.on("console", lambda message: message.type in ("error", "warning") and self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: (self.problems.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.asked.append(request.url))

    def load(self, path):
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]")
        return self

    def run(self, script, argument=None):
        """The value of an expression of JavaScript, in which `it` is what the page knows."""
        return self.page.evaluate(f"(argument) => {{ const it = globalThis.chainrule; return {script}; }}", argument)

    def shown(self):
        """Wait until what has changed is shown."""
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    @property
    def q(self):
        return self.run("Array.from(it.state.q)")

    def pixel(self, point):
        """Where a point of the base frame is on the screen."""
        x, y = self.run("it.picture.scene.project(argument)", list(point))
        box = self.page.locator("#picture").bounding_box()
        return box["x"] + x, box["y"] + y

    def drag(self, start, end, steps=6):
        """Drag with the mouse from one pixel to another."""
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move(*end, steps=steps)
        mouse.up()
        self.shown()


@pytest.fixture(scope="package")
def browser():
    """One browser for all tests of this folder; it ends with them, and with it Playwright's event loop."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def open_page(browser, tmp_path):
    """Write the page of a robot and open it: open_page(robot, width=.., height=.., dark=..)."""
    contexts = []

    def open_(robot, *arguments, size=(1000, 700), scheme="light", touch=False, **options):
        path = tmp_path / "robot.html"
        robot.show(*arguments, path=path, **options)
        width, height = size
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, offline=True, has_touch=touch
        )
        contexts.append(context)
        return OpenPage(context.new_page()).load(path)

    yield open_
    for context in contexts:
        context.close()
