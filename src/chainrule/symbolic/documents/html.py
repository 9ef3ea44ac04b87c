"""Documents as HTML pages, complete in one file: MathML for formulas, and a style sheet."""

from __future__ import annotations

import re
from base64 import b64encode
from html import escape as escape_html

from chainrule.symbolic.documents.blocks import (
    Block,
    DocumentContent,
    Equation,
    FigureBlock,
    Heading,
    Paragraph,
    TableBlock,
    Text,
    pieces,
)
from chainrule.symbolic.documents.line_breaks import display, math
from chainrule.symbolic.documents.mathml import mathml
from chainrule.symbolic.documents.printing import Style, superscript_powers

CSS = """
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2.5rem auto; padding: 0 1.25rem;
  color: #1b1f24; background: #fff; }
h1 { font-size: 1.7rem; margin-bottom: 1.5rem; }
h2 { font-size: 1.3rem; margin: 2.4rem 0 .8rem; border-bottom: 1px solid #d5dae0; padding-bottom: .25rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .5rem; }
math { font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", math, serif; }
.equation { display: flex; align-items: center; gap: 1.5rem; overflow-x: auto; padding: .55rem .9rem; margin: .5rem 0;
  background: #f6f7f9; border-left: 3px solid #8aa4c8; }
.equation math { font-size: 1.1rem; flex: 0 0 auto; margin: 0; }
.equation .unit { margin-left: auto; color: #5b6673; font-size: .85rem; white-space: nowrap; }
mtable.lines mtd { padding: .2em .1em; }
mtable.bracketed { margin: 0 .15em; padding: .1em .3em; border: solid; border-width: 0 1.3px;
  --tick: linear-gradient(currentColor, currentColor);
  background: var(--tick) 0 0 / .35em 1.3px no-repeat, var(--tick) 0 100% / .35em 1.3px no-repeat,
    var(--tick) 100% 0 / .35em 1.3px no-repeat, var(--tick) 100% 100% / .35em 1.3px no-repeat; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .8rem 0; font-size: .93rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem; border-bottom: 1px solid #dfe3e8; text-align: left; white-space: nowrap; }
th { border-bottom: 2px solid #b9c1cb; font-weight: 600; }
pre { background: #f6f7f9; padding: .8rem; overflow-x: auto; font-size: .88rem; }
figure { margin: 1.4rem 0; text-align: center; break-inside: avoid; }
figure img { max-width: 100%; }
figcaption { color: #5b6673; font-size: .9rem; margin-top: .4rem; }
@media print {
  html { font-size: 12px; }
  body { margin: 0; max-width: none; font-size: 1rem; }
  .equation { break-inside: avoid; overflow: visible; }
  .scroll { overflow: visible; }
  th, td { white-space: normal; padding: .25rem .5rem; }
  pre { white-space: pre-wrap; }
  h2, h3 { break-after: avoid; }
}
"""


SCOPE = "chainrule-document"
"""The class of a document inside another page."""


def page(document: DocumentContent) -> str:
    """The HTML of a whole page."""
    return (
        '<!DOCTYPE html>\n<html lang="en" xmlns="http://www.w3.org/1999/xhtml">\n<head>\n<meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>{_escape(document.title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n{fragment(document)}\n"
        "</body>\n</html>\n"
    )


def fragment(document: DocumentContent) -> str:
    """The body of the page, to be put into another one."""
    blocks = (_block(block, document.style) for block in document.blocks)
    return "\n".join([f"<h1>{_escape(document.title)}</h1>", *blocks])


def part_of_page(document: DocumentContent) -> str:
    """The document as a notebook shows it: with its style sheet, which applies to nothing else on the page."""
    rules = re.sub(r"@media print \{.*\}\s*$", "", CSS, flags=re.DOTALL)
    rules = re.sub(r"color: #1b1f24; background: #fff;", "", rules)
    scoped = re.sub(r"(^|\})([^{}]+)\{", lambda m: f"{m[1]}\n{_scope(m[2])} {{", rules)
    return f'<div class="{SCOPE}"><style>{scoped}</style>\n{fragment(document)}\n</div>'


def _scope(selectors: str) -> str:
    """Selectors that apply inside the document only."""
    inside = (selector.strip() for selector in selectors.split(","))
    return ", ".join(f".{SCOPE}" if selector == "body" else f".{SCOPE} {selector}" for selector in inside)


def _escape(text: str) -> str:
    """Escape text, and replace the control characters that no page may contain."""
    return escape_html("".join(letter if letter.isprintable() else " " for letter in text))


def _text(text: Text, style: Style) -> str:
    return "".join(
        _escape(piece) if isinstance(piece, str) else mathml(math(piece, style), css_brackets=True)
        for piece in pieces(text)
    )


def _block(block: Block, style: Style) -> str:
    if isinstance(block, Heading):
        level = min(block.level + 1, 6)
        return f"<h{level}>{_text(block.text, style)}</h{level}>"
    if isinstance(block, Paragraph):
        return f"<p>{_text(block.text, style)}</p>"
    if isinstance(block, Equation):
        unit = f'<span class="unit">{_escape(superscript_powers(block.unit))}</span>' if block.unit else ""
        return f'<div class="equation">{mathml(display(block, style), display=True, css_brackets=True)}{unit}</div>'
    if isinstance(block, TableBlock):
        return _table(block, style)
    if isinstance(block, FigureBlock):
        data = b64encode(block.picture.svg().encode()).decode()
        caption = _escape(block.picture.caption)
        image = f'<img alt="{caption}" src="data:image/svg+xml;base64,{data}"/>'
        return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"
    lines = "\n".join(_escape(line) for line in block.text.expandtabs(4).split("\n"))
    return f"<pre><code>{lines}</code></pre>"


def _table(table: TableBlock, style: Style) -> str:
    head = "".join(f"<th>{_text(cell, style)}</th>" for cell in table.header)
    rows = "".join("<tr>" + "".join(f"<td>{_text(cell, style)}</td>" for cell in row) + "</tr>\n" for row in table.rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>'
