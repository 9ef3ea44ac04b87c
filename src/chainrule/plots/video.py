"""Files of pictures that follow each other in time: GIF, and MP4 by ffmpeg."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.errors import ShapeError

Picture = NDArray[np.uint8]
"""An image (height, width, 3)."""


def with_palette(image: Any) -> Any:
    """The image with 128 colors, which makes files a third as large; pictures of robots have few."""
    return image.quantize(colors=128, method=2, dither=0)


def write_gif(images: Iterable[Any], fps: float, target: Any) -> None:
    """Write images of Pillow to a path or an open file, so many in a second, over and over.

    Frames last whole hundredths of a second, so chosen that the animation keeps time.
    """
    pictures = [with_palette(image) for image in images]
    ends = np.round(100 * np.arange(1, len(pictures) + 1) / fps).astype(int)
    lasting = (10 * np.diff(ends, prepend=0)).tolist()
    first, *others = pictures
    first.save(target, "GIF", save_all=True, append_images=others, duration=lasting, loop=0, disposal=1)


def write_mp4(frames: Iterable[Picture], fps: float, target: Path, program: str = "ffmpeg") -> None:
    """Write frames of one size through ffmpeg; sizes are made even, as the codec needs them."""
    ffmpeg = shutil.which(program)
    if ffmpeg is None:
        raise ShapeError(
            "an .mp4 file needs ffmpeg, which is not installed here: install it (apt install ffmpeg, brew install "
            "ffmpeg, conda install ffmpeg), or write a GIF"
        )
    pictures = iter(frames)
    first = _even(next(pictures))
    height, width = first.shape[:2]
    command = [
        ffmpeg, "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
        "-r", f"{fps:g}", "-i", "-", "-pix_fmt", "yuv420p", "-y", str(target),
    ]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        said = _feed(process, first, pictures)
    if process.returncode or not target.is_file():
        raise ShapeError(f"ffmpeg could not write the video: {said.strip()[:200] or process.returncode}")


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
