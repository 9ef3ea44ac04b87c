"""Scenes as TikZ, the language of pictures in LaTeX."""

from __future__ import annotations

from chainrule.arguments import Array
from chainrule.figures.scene import DASHES, Disc, Item, Label, Path, Scene, Stroke
from chainrule.symbolic.documents.blocks import Formula
from chainrule.symbolic.documents.latex import escape

HEADS = {"": "", "arrow": "-{Stealth}", "double": "-{Stealth}{Stealth}", "both": "{Stealth}-{Stealth}"}
PREAMBLE = "\\usepackage{tikz}\n\\usetikzlibrary{arrows.meta}\n"
"""What a document needs that holds such pictures."""

LINE_SKIP = 1.2
"""The distance of lines, as a part of the size of the font."""


def tikz(scene: Scene) -> str:
    """A tikzpicture, with lengths in cm; the document needs `PREAMBLE`."""
    low, high = scene.box
    colors = sorted({color for item in scene.items for color in _colors_of(item)})
    lines = [f"\\definecolor{{{_color(color)}}}{{HTML}}{{{color[1:].upper()}}}" for color in colors]
    lines += [f"\\path[use as bounding box] {_point(low)} rectangle {_point(high)};"]
    lines += [_item(item) for item in scene.items]
    body = "\n".join(f"  {line}" for line in lines)
    return f"\\begin{{tikzpicture}}[x=1cm, y=1cm, line cap=round, line join=round]\n{body}\n\\end{{tikzpicture}}\n"


def _item(item: Item) -> str:
    if isinstance(item, Path):
        way = " -- ".join(_point(point) for point in item.points) + (" -- cycle" if item.closed else "")
        return f"\\path[{_options(item.stroke, item.fill, HEADS[item.head])}] {way};"
    if isinstance(item, Disc):
        return (
            f"\\path[{_options(item.stroke, item.fill)}] {_point(item.center)} circle[radius={_number(item.radius)}];"
        )
    text = f"${item.text.latex}$" if isinstance(item.text, Formula) else escape(item.text)
    font = f"\\fontsize{{{item.size:g}}}{{{LINE_SKIP * item.size:g}}}\\selectfont"
    return f"\\node[inner sep=0pt, text={_color(item.color)}, font={font}] at {_point(item.center)} {{{text}}};"


def _options(stroke: Stroke | None, fill: str | None, head: str = "") -> str:
    """The options of a path."""
    found = [] if fill is None else [f"fill={_color(fill)}"]
    if stroke is not None:
        found += [f"draw={_color(stroke.color)}", f"line width={_number(stroke.width)}pt"]
        dashes = DASHES[stroke.dash]
        if dashes:
            pairs = zip(dashes[::2], dashes[1::2], strict=True)
            found.append("dash pattern=" + " ".join(f"on {_number(on)}pt off {_number(off)}pt" for on, off in pairs))
    return ", ".join([*found, *([head] if head else [])])


def _colors_of(item: Item) -> list[str]:
    if isinstance(item, Label):
        return [item.color]
    return [color for color in (item.fill, item.stroke and item.stroke.color) if color]


def _color(color: str) -> str:
    return f"c{color[1:].upper()}"


def _point(point: Array) -> str:
    return f"({_number(point[0])},{_number(point[1])})"


def _number(x: float) -> str:
    return f"{round(float(x), 3) + 0.0:g}"
