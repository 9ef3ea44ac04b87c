"""The page as PDF, printed by a browser that is installed: Chromium, Chrome or Edge."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from chainrule.errors import ChainruleError

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)

PATIENCE_S = 120
"""A browser that has not printed by then never will."""


def browser() -> str | None:
    """The path of a browser that can print, if there is one."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def print_pdf(page: Path, path: Path) -> None:
    """Print a page of HTML into a file."""
    program = browser()
    if program is None:
        raise ChainruleError(
            "a PDF is printed by Chromium, Chrome or Edge, and none was found; install one (Debian: apt install "
            "chromium), or open the HTML page and print it"
        )
    with tempfile.TemporaryDirectory() as profile:
        # A page of our own, without network; a sandbox of its own cannot be had by root or inside a container.
        root = sys.platform == "linux"
        command = [
            program, "--headless", "--disable-gpu", *(["--no-sandbox"] if root else []), f"--user-data-dir={profile}",
            "--no-pdf-header-footer", "--virtual-time-budget=30000", f"--print-to-pdf={path.resolve()}",
            page.resolve().as_uri(),
        ]  # fmt: skip
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ChainruleError(f"{program} did not print the page: {error!s:.200}") from error
    if run.returncode or not path.exists():
        raise ChainruleError(f"{program} did not print the page: {run.stderr.strip()[-300:]}")
