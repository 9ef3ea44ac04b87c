"""The style sheet of the charts. Colors of text and lines are those of the page, light or dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from chainrule.arguments import Array
from chainrule.display.tables import escape

DUST = 5e-10
"""Numbers smaller than this are shown as 0."""

STYLE = """<style>
.cr{font-size:12px;line-height:1.35;padding:2px 10px 6px;color:var(--mantine-color-text);
font-variant-numeric:tabular-nums}
.cr .dim{color:var(--mantine-color-dimmed)}
.cr .row{display:flex;align-items:center;gap:6px;height:19px}
.cr .name{width:80px;flex:none;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.cr .num{min-width:50px;flex:none;text-align:right;white-space:nowrap}
.cr .pct{width:34px;flex:none;text-align:right;font-size:11px;font-weight:600}
.cr .bar{position:relative;flex:1;height:13px;border-radius:3px;overflow:hidden;
background:color-mix(in srgb,var(--mantine-color-text) 7%,transparent)}
.cr .bar i{position:absolute;top:0;bottom:0}
.cr .bar b{position:absolute;top:0;bottom:0;width:1px;left:50%;background:var(--mantine-color-dimmed)}
.cr .bar u{position:absolute;top:0;bottom:0;width:3px;margin-left:-1.5px;background:var(--mantine-color-text);
box-shadow:0 0 0 1px var(--mantine-color-body)}
.cr .bar s{position:absolute;top:0;bottom:0;width:0;border-left:2px dotted #de302c}
.cr .scale{display:grid;grid-template-columns:1fr auto 1fr;white-space:nowrap;margin:1px 94px 5px 86px;font-size:10.5px}
.cr .scale span:last-child{text-align:right}
.cr .key{display:flex;flex-wrap:wrap;gap:2px 10px;margin:2px 0 6px}
.cr .key i{display:inline-block;width:9px;height:9px;border-radius:2px;margin-right:4px}
.cr .wide{overflow-x:auto}
.cr table{border-collapse:collapse}
.cr .grid td,.cr .grid th{padding:2px 5px;text-align:right;white-space:nowrap}
.cr .grid th{font-weight:500;color:var(--mantine-color-dimmed);text-align:left}
.cr .heat{width:100%;table-layout:fixed}
.cr .heat td{height:26px;padding:0;text-align:center;font-size:9.5px;white-space:nowrap;overflow:hidden;
border:1px solid var(--mantine-color-body)}
.cr .heat th{font-weight:500;font-size:10px;color:var(--mantine-color-dimmed);padding:0;text-align:center}
.cr .heat th:first-child{width:16px}
.cr .note{margin:4px 0;padding:6px 9px;border-radius:5px;border-left:3px solid var(--hue);
background:color-mix(in srgb,var(--hue) 13%,transparent)}
.cr .note p{margin:2px 0}
.cr math{font-size:13px}
.cr .formula{display:flex;align-items:center;gap:8px;margin:3px 0}
.cr .formula .wide{flex:1;padding:3px 0}
.cr .formula .wide>div{padding-left:18px;text-indent:-18px;line-height:1.9}
.cr .formula math{margin:0;display:inline-block;text-indent:0}
.cr .value{flex:none;font-weight:600}
.cr h4{margin:8px 0 2px;font-size:12.5px;font-weight:600}
</style>"""
"""To be put on the page once for each panel, apart from what changes."""


@lru_cache(maxsize=4096)
def safe(name: str) -> str:
    """A name of the robot's for HTML, letter by letter.

    >>> safe("<b>")
    '&lt;b&gt;'
    """
    return escape(name)


def in_frame(content: str) -> str:
    """Content to which the style sheet applies."""
    return f'<div class="cr">{content}</div>'


def number(value: float, digits: int = 4) -> str:
    """A number with a few digits; what is too small to matter is 0.

    >>> number(12.34567), number(-1e-17), number(1234567.0, 3), number(float("inf"))
    ('12.35', '0', '1.23e+06', '∞')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return "0" if abs(value) < DUST else f"{value:.{digits}g}"


def css_color(color: Array) -> str:
    """A color of three numbers from 0 to 255 as CSS writes it."""
    return "#" + "".join(f"{int(x):02x}" for x in color)


def notes(sentences: Sequence[str], hue: str) -> str:
    """Sentences in a box, letter by letter; nothing where there are none."""
    lines = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    return in_frame(f'<div class="note" style="--hue:{hue}">{lines}</div>') if lines else ""


def message(text: str, hue: str = "#8d99aa") -> str:
    """A text in a box, letter by letter; hue: the color of its edge."""
    return notes([text], hue)
