"""The picture of a page in docs/pages.md: `python docs/page_picture.py`, by Chromium without a window."""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

import chainrule as cr

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from chromium import chromium  # noqa: E402

QUALITY = 85
"""Of WebP."""

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        path = Path(folder) / "panda.html"
        arm = cr.load("panda")
        arm.show([0.4, -0.5, 0.1, -2.1, 0.0, 1.4, 0.8], path=path, dark=False)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(path.as_uri())
        page.locator("html[data-ready]").wait_for()
        page.get_by_label("Draw the ellipsoid of").check()
        page.locator("#panel").evaluate("panel => panel.scrollTo(0, 0)")
        page.wait_for_timeout(500)
        Image.open(io.BytesIO(page.screenshot())).save(ROOT / "docs/pages/panda.webp", quality=QUALITY)
