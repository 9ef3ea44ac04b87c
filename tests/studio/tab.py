"""A tab of the browser in which the studio's page is used as a person uses it: by labels, and by what is seen."""

from __future__ import annotations

import io
import re

import numpy as np
from PIL import Image
from waiting import NET_SECONDS, eventually

ONLY_CANVAS = "body *:not(canvas):not(:has(canvas)) { visibility: hidden !important; }"


def session_of(studio):
    """The session of the only tab, once its panels are built and those of earlier tests have ended."""
    eventually(lambda: len(studio.sessions) == 1)
    return next(iter(studio.sessions.values()))


UNTIL_NOTHING_MOVES = """async () => {
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    const ends = one => one.effect.getComputedTiming().endTime < Infinity;
    await Promise.allSettled(document.getAnimations().filter(ends).map(one => one.finished));
}"""


class Tab:
    """One page of the browser. `page` is Playwright's, for what has no method here.

    Actions with `until` wait until that is true.
    """

    def __init__(self, page):
        self.page = page
        self.errors = []
        page.set_default_timeout(1000 * NET_SECONDS)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, address):
        """Load the studio and wait until it is connected."""
        self.page.goto(address)
        return self.connected()

    def connected(self):
        """Wait until the page says that it is connected."""
        self._connected.wait_for()
        return self

    def disconnected(self):
        """Wait until the page no longer says that it is connected."""
        self._connected.wait_for(state="hidden")

    @property
    def _connected(self):
        return self.page.locator(".tabler-icon-cloud-check").and_(self.page.locator("[style*='opacity: 1']"))

    # Controls, found by their labels

    def label(self, text):
        """The label of a control. viser breaks long words, which changes no text."""
        labels = self.page.locator("label").filter(has_text=re.compile(rf"^\s*{re.escape(text)}\s*$"))
        return labels.locator("visible=true").first

    def row(self, text):
        """The row of a control: its label and what stands beside it."""
        label = self.label(text)
        label.wait_for()
        return label.locator("xpath=../../..")

    def control(self, text):
        """The input in which a control's value is typed, or its checkbox."""
        return self.row(text).locator("input:not([type=hidden])").first

    def value(self, text):
        """What stands in a control: numbers as floats, a checkbox as a bool, other text as it is."""
        control = self.control(text)
        if control.get_attribute("type") == "checkbox":
            return control.is_checked()
        shown = control.input_value()
        try:
            return float(shown)
        except ValueError:
            return shown

    def values(self, text):
        """The numbers of a control that has several."""
        return [float(one.input_value()) for one in self.row(text).locator("input:not([type=hidden])").all()]

    def fill(self, text, value, place=0, until=None):
        """Type a value into a control: a slider's number, a text, the `place`-th number of a vector."""

        control = self.row(text).locator("input:not([type=hidden])").nth(place)
        control.fill(str(value))
        control.press("Enter")
        control.blur()
        self._sent(until)

    def slide(self, text, steps):
        """Move a slider by steps with the arrow keys."""
        thumb = self.row(text).get_by_role("slider")
        thumb.focus()
        for _ in range(abs(steps)):
            thumb.press("ArrowRight" if steps > 0 else "ArrowLeft")
        self._sent(None)

    def _sent(self, until):
        """Wait until the page has sent a value: viser forgets it if another control changes within 50 ms."""
        self.page.evaluate("new Promise(after => setTimeout(after, 60))")
        self._wait(until)

    def _wait(self, until):
        if until is not None:
            eventually(until, lambda: f"the page says: {self.text()}")

    def tick(self, text, value=True, until=None):
        """Set a checkbox."""
        self.control(text).set_checked(value)
        self._sent(until)

    def choose(self, text, option, until=None):
        """Choose from a dropdown, whose list hides while what is drawn above it moves its control out of sight."""
        control = self.control(text)
        control.click()
        listing = self.page.locator(f"[id='{eventually(lambda: control.get_attribute('aria-controls'))}']")
        listing.get_by_role("option", name=option, exact=True, include_hidden=True).dispatch_event("click")
        self._sent(until)

    def button(self, text):
        """The button with this text."""
        return self.page.get_by_role("button", name=text, exact=True).locator("visible=true").first

    def click(self, text, until=None):
        """Press a button, or one of a group of buttons."""
        self.button(text).click()
        self._sent(until)

    def press(self, key, until=None):
        """Press a key."""
        self.page.keyboard.press(key)
        self._wait(until)

    def turn_to(self, title):
        """Show a tab of the panel."""
        self._row.get_by_role("button", name=title, exact=True).click()
        self.page.locator(f".studio-tabs[title='{title}']").wait_for(state="attached")

    def titles(self):
        """The titles of all tabs of the panel."""
        return self._row.get_by_role("button").all_inner_texts()

    @property
    def _row(self):
        return self.page.locator("div:has(> .studio-tabs) + div")

    def is_drawn_anew(self, title):
        """Wait until the page of another robot is shown, whose first tab is open instead of this one."""
        self.page.locator(f".studio-tabs:not([title='{title}'])").wait_for(state="attached")

    def unfold(self, title):
        """Open or close a folder of the panel, and wait until nothing moves: a press of a button that moves is none."""
        self.page.locator(".mantine-Paper-root > .mantine-Paper-root").filter(has_text=title).first.click()
        self.page.evaluate(UNTIL_NOTHING_MOVES)

    def upload(self, text, *files):
        """Hand files to an upload button: paths, or {"name", "mimeType", "buffer"}."""
        self.button(text).locator("xpath=preceding-sibling::input[@type='file']").set_input_files(list(files))

    # What is seen

    def says(self, text):
        """Wait until the page shows a text anywhere: a notification, a panel."""
        self.page.get_by_text(text).filter(visible=True).first.wait_for()

    def text(self):
        """All text that the page shows."""
        return self.page.locator("body").inner_text()

    def canvas(self):
        """The 3-D picture alone, without panels: (height, width, 3), 0 to 255."""
        return pixels(self.page.screenshot(style=ONLY_CANVAS))

    def picture(self, path=None):
        """The page as it is seen: (height, width, 3), and a PNG file where `path` is given."""
        return pixels(self.page.screenshot(path=path))

    def settled_canvas(self):
        """The 3-D picture once two in a row are equal and not blank."""
        last = [self.canvas()]

        def still():
            before, last[0] = last[0], self.canvas()
            return not is_blank(last[0]) and np.array_equal(before, last[0])

        eventually(still)
        return last[0]


def pixels(png):
    """A PNG as an array: (height, width, 3), 0 to 255."""
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def is_blank(picture):
    """Whether a picture is of one color."""
    return int(np.ptp(picture.reshape(-1, 3), axis=0).max()) < 8


def share_changed(before, after, by=8):
    """The share of pixels that differ between two pictures by more than `by` of 255."""
    return float((np.abs(before.astype(int) - after).max(axis=2) > by).mean())
