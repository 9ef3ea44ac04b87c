"""Pictures of the page as files: PNG, GIF, and MP4 where ffmpeg is there."""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array
from chainrule.errors import ShapeError
from chainrule.plots.gif import write_gif

Picture = NDArray[np.uint8]
"""An image (height, width, 3)."""

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
    return _gif(frames, fps) if kind == "GIF" else _mp4(frames, fps)


def png(picture: Picture) -> bytes:
    """An image as the content of a .png file."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG")
    return buffer.getvalue()


def _gif(frames: Iterable[Picture], fps: float) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    write_gif((Image.fromarray(frame) for frame in frames), fps, buffer)
    return buffer.getvalue()


def _mp4(frames: Iterable[Picture], fps: float) -> bytes:
    """Raw frames through ffmpeg. Sizes are made even, as the codec needs them."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise ShapeError("an .mp4 file needs ffmpeg, which is not installed where the studio runs; record a GIF")
    pictures = iter(frames)
    first = _even(next(pictures))
    height, width = first.shape[:2]
    with tempfile.TemporaryDirectory(prefix="chainrule-video-") as folder:
        target = Path(folder) / "video.mp4"
        command = [
            program, "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
            "-r", f"{fps:g}", "-i", "-", "-pix_fmt", "yuv420p", "-y", str(target),
        ]  # fmt: skip
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            said = _feed(process, first, pictures)
        if process.returncode or not target.is_file():
            raise ShapeError(f"ffmpeg could not write the video: {said.strip()[:200] or process.returncode}")
        return target.read_bytes()


def _feed(process: subprocess.Popen[bytes], first: Picture, others: Iterator[Picture]) -> str:
    """Hand the frames to ffmpeg; what it says about errors."""
    assert process.stdin is not None
    assert process.stderr is not None
    try:
        process.stdin.write(first.tobytes())
        for frame in others:
            process.stdin.write(_even(frame).tobytes())
        process.stdin.close()
    except BrokenPipeError:
        pass  # it ended early, and says why
    except BaseException:
        process.kill()
        raise
    return process.stderr.read().decode(errors="replace")


def _even(frame: Picture) -> Picture:
    height, width = frame.shape[:2]
    return np.ascontiguousarray(frame[: height - height % 2, : width - width % 2, :3])
