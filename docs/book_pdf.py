"""The book as one PDF: `python docs/book_pdf.py [FILE]`. Sphinx makes one page of it, and a browser prints that.

On paper nothing is folded: solutions and long derivations are open, a live robot is a picture of it, and links to pages
beside the book are plain text.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import notebooks

from chainrule.symbolic.documents.pdf import print_pdf

BUILD = notebooks.DOCS.parent / "build"
BOOK = notebooks.DOCS / "book"
STYLE = """
@page { size: A4; margin: 16mm }
body { font: 10.5pt/1.45 Georgia, "DejaVu Serif", serif; margin: 0 }
section > h2 { break-before: page; font-size: 20pt }
section > h3 { font-size: 13pt }
h2, h3, h4 { break-after: avoid }
pre, code { font-size: 8pt; white-space: pre-wrap; overflow-wrap: anywhere }
pre, table, figure, .output_png { break-inside: avoid }
pre { background: #f5f5f5; padding: 4pt; border-radius: 3pt }
img { max-width: 100%; max-height: 18cm }
table { border-collapse: collapse; font-size: 9pt }
td, th { padding: 2pt 4pt; border-bottom: 0.5pt solid #bbb; text-align: left; overflow-wrap: anywhere }
.cell_output, .equation { overflow: hidden }
.cell_output table { font-size: 7.5pt }
mjx-container svg { max-width: 100%; height: auto }
.chainrule-document { font: 9.5pt/1.4 Georgia, "DejaVu Serif", serif !important; margin: 0 !important; zoom: 0.75 }
.chainrule-document h1, .chainrule-document h2, .chainrule-document h3 { font-size: 11pt !important }
.chainrule-document .equation math { font-size: 10pt !important; flex: 0 1 auto !important }
.chainrule-document th, .chainrule-document td { white-space: normal !important; padding: 2pt 4pt !important }
div.body, div.document { max-width: none !important; margin: 0; padding: 0 }
a { color: inherit; text-decoration: none }
.headerlink, .sphinxsidebar, .related, .footer { display: none }
"""
SCRIPT = """
addEventListener("load", () => {
  for (const wide of document.querySelectorAll(".equation math, .cell_output table")) {
    const parts = [wide, ...wide.querySelectorAll("mtable")].map(part => part.getBoundingClientRect().width);
    const width = Math.max(...parts);
    if (width > 600) wide.style.zoom = 600 / width;
  }
});
"""
"""Formulas and tables that are wider than the paper become smaller, rather than all pages with them."""
OVERRIDES = {
    "extensions": ["myst_nb", "offline"],
    "root_doc": "index",
    "exclude_patterns": [],
    "nitpicky": False,
    "html_theme": "basic",
    "html_theme_options": {"nosidebar": True},
    "html_css_files": ["book.css"],
    "html_js_files": ["book.js"],
    "html_sidebars": {},
    "html_title": "Kinematics and dynamics of robots",
}


def on_paper(text: str) -> str:
    """A chapter with nothing folded, pictures for live robots, and links within the book only."""
    robot = '```{code-cell} python\n:tags: [remove-input]\n\ncr.load("\\1").plot(size=(5, 4))\n```'
    text = notebooks.ROBOT.sub(robot, text)
    if "```{toctree}" in text:  # chapters are sections of the title, and so of no section before them
        text = re.sub(r"^## (.*)$", r"**\1**", text, flags=re.MULTILINE)
    text = notebooks.FOLDED.sub(r"**\1.**\n\n\2", text)
    text = notebooks.FENCE.sub(_unfolded, text)
    return notebooks.LINK.sub(lambda link: link.group(1) if "/" in link.group(2) else link.group(), text)


def _unfolded(match: re.Match[str]) -> str:
    options, code = notebooks.split_options(match.group(1))
    title = "**Solution.**\n\n" if "code_prompt_show: Solution" in options else ""
    kept = options if "remove-input" in options else ""
    return f"{title}```{{code-cell}} python\n{kept}{code}```"


def make(path: Path) -> None:
    """Write the book's chapters for paper, make one page of them, and print it."""
    source, output = BUILD / "book" / "source", BUILD / "book" / "html"
    (source / "_static").mkdir(parents=True, exist_ok=True)
    (source / "_static" / "book.css").write_text(STYLE, encoding="utf-8")
    (source / "_static" / "book.js").write_text(SCRIPT, encoding="utf-8")
    for chapter in BOOK.glob("*.md"):
        (source / chapter.name).write_text(on_paper(chapter.read_text(encoding="utf-8")), encoding="utf-8")
    options = OVERRIDES | {"html_static_path": [str(source / "_static")]}
    from sphinx.application import Sphinx

    app = Sphinx(source, notebooks.DOCS, output, BUILD / "book" / "doctrees", "singlehtml", options)
    app.build()
    if app.statuscode:
        sys.exit(app.statuscode)
    print_pdf(output / "index.html", path)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else BUILD / "book.pdf"
    make(target)
    print(target)
