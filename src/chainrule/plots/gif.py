"""GIF files of pictures that follow each other in time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


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
