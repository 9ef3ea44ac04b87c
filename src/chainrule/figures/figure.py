"""Figure: a scene with a caption, and the files that it is written to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from chainrule.arguments import file_path
from chainrule.errors import ChainruleError, MissingPackageError
from chainrule.figures.matplotlib_backend import image
from chainrule.figures.scene import Scene
from chainrule.figures.tikz import PREAMBLE, tikz

HOW_TO_INPUT = "% A picture to \\input into a document whose preamble has\n" + "".join(
    f"%   {line}\n" for line in PREAMBLE.splitlines()
)


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure of a robot, as textbooks draw it: a notebook shows it, and `save` writes it.

    >>> import chainrule as cr
    >>> figure = cr.load("planar_2r").textbook.figure([0.4, 0.6])
    >>> figure
    <Figure: planar_2r, with the symbols of its equations; save(path) writes .svg, .png, .pdf or .tex>
    >>> figure.tikz().splitlines()[0]
    '\\\\begin{tikzpicture}[x=1cm, y=1cm, line cap=round, line join=round]'
    """

    scene: Scene
    """Lines, arrows, discs and labels on paper, in cm."""
    caption: str
    """What it shows, in a sentence."""

    def save(self, path: str | PathLike[str]) -> Path:
        """Write a file: .svg, .png or .pdf by Matplotlib, or .tex, a picture in TikZ for documents in LaTeX."""
        target = file_path(path)
        write = FORMS.get(target.suffix.lower())
        if write is None:
            raise ChainruleError(
                f"{str(path)!r}: figures are written as {', '.join(FORMS)}; give the file such an ending"
            )
        target.write_bytes(write(self))
        return target

    def svg(self) -> str:
        """The figure as SVG."""
        return image(self.scene, "svg").decode()

    def png(self) -> bytes:
        """The figure as PNG."""
        return image(self.scene, "png")

    def tikz(self) -> str:
        """The figure as a tikzpicture, which needs the package tikz and its library arrows.meta."""
        return tikz(self.scene)

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg()
        except MissingPackageError:
            return None

    def __repr__(self) -> str:
        *most, last = FORMS
        return f"<Figure: {self.caption}; save(path) writes {', '.join(most)} or {last}>"


FORMS: dict[str, Callable[[Figure], bytes]] = {
    ".svg": lambda figure: image(figure.scene, "svg"),
    ".png": lambda figure: image(figure.scene, "png"),
    ".pdf": lambda figure: image(figure.scene, "pdf"),
    ".tex": lambda figure: (HOW_TO_INPUT + figure.tikz()).encode(),
}
"""Ending of a file -> the function that makes its content."""
