"""Pictures of the page as files: PNG, GIF, and MP4 where ffmpeg is there."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ShapeError
from chainrule.plots.video import Picture, write_gif, write_mp4

MAX_FRAMES = 600
"""Frames of one video."""


def kinds() -> tuple[str, ...]:
    """The kinds of videos that can be written here."""
    return ("MP4", "GIF") if shutil.which("ffmpeg") else ("GIF",)


def frame_times(start: float, end: float, fps: float, speed: float = 1.0) -> Array:
    """Times of the frames from start to end, so many in a second of the video, at a speed."""
    count = int(np.floor((end - start) / speed * fps * (1 + 1e-12))) + 1
    if not end > start:
        raise ShapeError("there is no motion to record yet; play one first")
    if count > MAX_FRAMES:
        raise ShapeError(
            f"{count} frames are too many for a video ({MAX_FRAMES} at most); take fewer frames a second, a higher "
            "speed, or a shorter motion"
        )
    return np.asarray(start + speed / fps * np.arange(count, dtype=float))


def encode(frames: Iterable[Picture], fps: float, kind: str) -> bytes:
    """A video of frames of one size, as the content of a .gif or .mp4 file."""
    if kind == "GIF":
        from PIL import Image

        buffer = io.BytesIO()
        write_gif((Image.fromarray(frame) for frame in frames), fps, buffer)
        return buffer.getvalue()
    with tempfile.TemporaryDirectory(prefix="chainrule-video-") as folder:
        target = Path(folder) / "video.mp4"
        write_mp4(frames, fps, target)
        return target.read_bytes()


def png(picture: Picture) -> bytes:
    """An image as the content of a .png file."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG")
    return buffer.getvalue()
