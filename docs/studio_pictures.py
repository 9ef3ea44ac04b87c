"""The studio's pictures in README.md and docs/studio.md: `python docs/studio_pictures.py [NAME ...]`.

Debian's Chromium takes them without a window, as it runs the tests of the studio; it draws WebGL in software, so each
takes some seconds.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import chainrule as cr
from chainrule.studio import open_studio

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "studio"
sys.path.insert(0, str(ROOT / "tests"))

from chromium import FLAGS, NAMES  # noqa: E402
from studio.tab import Tab, session_of  # noqa: E402

QUALITY = 85
"""Of WebP: a page takes 50 kB, and its letters stay sharp."""

SETTLING_MS = 6_000
"""Time for a picture to be drawn completely."""

FRAMES, FRAME_MS, SIZE = 28, 120, (880, 495)
"""Of the moving picture: pictures, the time of each, and their width and height."""

STYLE = ".mantine-Notifications-root, [class*=Notification] { display: none !important; }"
"""Notifications are hidden, of which the browser's own warning of slow drawing is one."""


def first_view(tab: Tab) -> None:
    """The page as it opens: what the README shows."""


def dynamics(tab: Tab) -> None:
    """Torques by cause, and the mass matrix."""
    tab.turn_to("Dynamics")
    tab.unfold("Mass matrix")


def presentation(tab: Tab) -> None:
    """The robot alone, in large type."""
    tab.press("m")


def rollouts(tab: Tab) -> None:
    """Several motions of a released robot at once."""
    tab.turn_to("Simulate")
    tab.unfold("Rollouts as ghosts")
    tab.click("Compute")
    tab.page.wait_for_timeout(6000)
    tab.click("Pause")


def equations(tab: Tab) -> None:
    """The equations of a small robot."""
    tab.turn_to("Equations")
    tab.page.locator(".cr .formula").first.wait_for()


def inertia(tab: Tab) -> None:
    """Centers of mass and inertia inside of the links, on a dark page."""
    tab.turn_to("View")
    for switch in ("Dark", "Centers of mass", "Inertia ellipsoids"):
        tab.tick(switch)


PICTURES: dict[str, tuple[str, tuple[int, int], Callable[[Tab], None]]] = {
    "first_view": ("panda", (1280, 720), first_view),
    "dynamics": ("ur5", (1280, 720), dynamics),
    "equations": ("planar_2r", (1280, 720), equations),
    "rollouts": ("double_pendulum", (1280, 720), rollouts),
    "phone": ("panda", (390, 844), first_view),
    "presentation": ("quadruped", (1280, 720), presentation),
    "inertia": ("human_arm", (1024, 768), inertia),
}
"""The robot of each picture, the size of the window, and what is done on the page before."""


MOVING = "hand_dragged"


def draw(names: list[str], folder: Path) -> list[Path]:
    """Take the pictures of these names, all if there are none; the files that were written."""
    chromium = next(filter(None, map(shutil.which, NAMES)))
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=chromium, args=FLAGS) as browser:
        return [
            _draw_moving(browser, folder) if name == MOVING else _draw_one(browser, name, folder)
            for name in names or (*PICTURES, MOVING)
        ]


def _draw_moving(browser: Any, folder: Path) -> Path:
    """The hand of a Panda on a loop, and the torques that hold it: what the README shows."""
    path, robot, pictures = folder / f"{MOVING}.webp", cr.load("panda"), []
    with open_studio(robot, port=0) as studio:
        context = browser.new_context(viewport={"width": 1200, "height": 675})
        tab = Tab(context.new_page()).open(studio.address)
        tab.page.wait_for_timeout(SETTLING_MS)
        tab.turn_to("Dynamics")
        tab.page.wait_for_timeout(SETTLING_MS)
        for q in _loop_of_the_hand(robot):
            session_of(studio).move(q=q)
            tab.page.wait_for_timeout(SETTLING_MS / 2)
            picture = Image.open(io.BytesIO(tab.page.screenshot(style=STYLE))).convert("RGB")
            pictures.append(picture.resize(SIZE, Image.Resampling.LANCZOS))
        context.close()
    first, *others = pictures
    options = {"duration": FRAME_MS, "loop": 0, "quality": 70, "method": 6}
    first.save(path, save_all=True, append_images=others, **options)
    return path


def _loop_of_the_hand(robot: cr.Robot) -> list[np.ndarray]:
    q, loop = robot.home(), []
    start = robot.pose(q)
    for angle in np.linspace(0.0, 2.0 * np.pi, FRAMES, endpoint=False):
        goal, out = start.copy(), 1.0 - np.cos(angle)
        goal[:3, 3] += [0.12 * out, 0.28 * np.sin(angle), -0.14 * out]
        q = robot.inverse_kinematics(goal, q).q
        loop.append(q)
    return loop


def _draw_one(browser: Any, name: str, folder: Path) -> Path:
    robot, (width, height), prepare = PICTURES[name]
    path = folder / f"{name}.webp"
    with open_studio(robot, port=0) as studio:
        context = browser.new_context(viewport={"width": width, "height": height})
        tab = Tab(context.new_page()).open(studio.address)
        tab.page.wait_for_timeout(SETTLING_MS)
        prepare(tab)
        tab.page.wait_for_timeout(SETTLING_MS)
        image = Image.open(io.BytesIO(tab.page.screenshot(style=STYLE)))
        context.close()
    folder.mkdir(parents=True, exist_ok=True)
    image.convert("RGB").save(path, quality=QUALITY, method=6)
    return path


if __name__ == "__main__":
    for written in draw(sys.argv[1:], FOLDER):
        print(f"{written.relative_to(ROOT)}: {written.stat().st_size / 1000:.0f} kB")
