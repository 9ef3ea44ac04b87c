"""The pictures of README.md and docs/, made by the library: `python docs/pictures.py [FOLDER]`."""

from __future__ import annotations

import contextlib
import runpy
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOTS_PER_INCH = 90


def draw(folder: Path) -> list[Path]:
    """Draw all pictures into a folder; the files that were written."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as elsewhere, contextlib.chdir(elsewhere):
        first = runpy.run_path(str(ROOT / "examples" / "first_picture.py"))
    path = folder / "panda.png"
    figure = first["robot"].plot(first["motion"].q[::250], frames=False)
    figure.savefig(path, dpi=DOTS_PER_INCH)
    return [path]


if __name__ == "__main__":
    for picture in draw(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "pictures").resolve()):
        print(picture)
